/* What can be done in a state: the tables of all units (`groups.h` looks up several of them at once). */

enum { /* What is missing. */
    ASK_NOTHING = 0,
    ASK_TIME,       /* nothing: it is time to look up */
    ASK_MEMORY,     /* there is no more */
    ASK_SET,        /* the units of the state */
    ASK_UNIT,       /* what a unit can do in it */
    ASK_END,        /* what comes after it: there is nothing in the tables */
    ASK_RELATIONS,  /* the transitions of its processes */
    ASK_HERE,       /* where a process stands */
    ASK_CONFLICTS,  /* of a transition */
    ASK_LOCAL,      /* the transitions of a process alone, at the point of a transition */
    ASK_HOLDS,      /* whether a guard holds */
    ASK_ENABLERS,   /* of a guard */
    ASK_LEADING,    /* the transitions from a point of a process towards another */
    ASK_CLAIM,      /* where the claim goes from one of its states, on a letter */
    ASK_STARTERS,   /* never: what stands for processes that are not there yet is told at once */
    ASK_LETTER,     /* whether a part of the letter holds */
    ASK_LASSO       /* nothing: there is a run that the claim accepts */
};

typedef struct {
    u32 kind, a, b, c;
} Question;

typedef struct Relations Relations;

typedef struct { /* The units of one set of processes, in `member`; `version` changes whenever their tables do. */
    u32 first, units, version;
    Relations *relations;
} Set;

typedef struct { /* Where it stands selects one of the tables; `mask` has all bits that it may depend on. */
    Table points;
    u64 *mask;
    u32 set;
} Unit;

typedef struct {
    u32 words;
    Table presence;
    Set *set;
    Unit *unit;
    Table *table;
    Entry **entry;
    u32 *member;
    u32 sets, units, tables, entries, members;
    u64 set_room, unit_room, table_room, entry_room, member_room;
    Arena arena;
} Rules;

typedef struct { /* Units that are looked up together, or one by itself, without a cache. */
    u32 first, units, entries;
    Table cache;
} Group;

typedef struct { /* The groups of one set of processes; `member` has their units. */
    Group *group;
    u32 *member;
    u32 groups, version;
    u64 looked, again; /* how often; and when groups are to be made again, since more states are known by then */
    u32 most;          /* values that a group may take in the sample; less where that was too many */
} Grouping;

typedef struct { /* What one worker has looked up. */
    const Rules *rules;
    int ordered; /* must moves come in the order of the units? */
    Grouping *grouping;
    u64 grouping_room;
    u32 groupings;
    u64 *joined; /* the entries of all groups, one after the other */
    u64 joins, joined_room;
    const Entry **offer; /* for the state at hand, one for each group */
    u32 offers;
    u64 offer_room;
    u64 *scratch; /* for choosing among them */
    u64 scratch_room;
    Question question;
} Moves;

static i64 ask(Moves *moves, u32 kind, u32 a, u32 b, u32 c)
{
    moves->question = (Question){kind, a, b, c};
    return -1;
}

/* Changes of wider states. */
static int restride(Rules *rules, u32 words)
{
    Arena before = rules->arena;
    u32 old = rules->words;
    memset(&rules->arena, 0, sizeof rules->arena);
    for (u32 i = 0; i < rules->units; i++) {
        u64 *mask = allot(&rules->arena, words);
        if (!mask)
            return 0;
        memset(mask, 0, words * sizeof(u64));
        memcpy(mask, rules->unit[i].mask, old * sizeof(u64));
        rules->unit[i].mask = mask;
    }
    for (u32 i = 0; i < rules->entries; i++) {
        const Entry *narrow = rules->entry[i];
        Entry *entry = (Entry *)allot(&rules->arena, words_of_entry(narrow->count, words));
        if (!entry)
            return 0;
        *entry = *narrow;
        memset(changes_of(entry), 0, (size_t)entry->count * words * sizeof(u64));
        for (u32 k = 0; k < entry->count; k++)
            memcpy(changes_of(entry) + (u64)k * words, changes_of(narrow) + (u64)k * old, old * sizeof(u64));
        memcpy(transitions_of(entry, words), transitions_of(narrow, old), 2 * entry->count * sizeof(u32));
        rules->entry[i] = entry;
    }
    free_arena(&before);
    rules->words = words;
    return 1;
}

/* What a unit by itself can do; 0 if the tables do not have it. */
static inline const Entry *entry_of(const Rules *rules, u32 unit, const u64 *state)
{
    u32 at = look_up(&rules->unit[unit].points, state);
    u32 found = at ? look_up(rules->table + (at - 1), state) : 0;
    return found ? rules->entry[found - 1] : 0;
}

static void free_relations(Relations *relations);

static void free_rules(Rules *rules)
{
    for (u32 i = 0; i < rules->sets; i++)
        free_relations(rules->set[i].relations);
    for (u32 i = 0; i < rules->tables; i++)
        free_table(rules->table + i);
    for (u32 i = 0; i < rules->units; i++)
        free_table(&rules->unit[i].points);
    free_table(&rules->presence);
    free_arena(&rules->arena);
    free(rules->set);
    free(rules->unit);
    free(rules->table);
    free(rules->entry);
    free(rules->member);
}
