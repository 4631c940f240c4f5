/* What can be done in a state: the tables of all units, and for each worker a cache of several units at once. */

#define GROUP_BITS 12 /* units are looked up together if their moves depend on at most so many bits */

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
    Entry *entry;
    u32 *member;
    u32 sets, units, tables, entries, members;
    u64 set_room, unit_room, table_room, entry_room, member_room;
    Arena arena;
} Rules;

typedef struct { /* Units that are looked up together, or one by itself, without a cache. */
    u32 first, units;
    Table cache;
} Group;

typedef struct { /* The groups of one set of processes. */
    Group *group;
    u32 groups, version;
} Grouping;

typedef struct { /* What one worker has looked up. */
    const Rules *rules;
    Grouping *grouping;
    u64 grouping_room;
    u32 groupings;
    Entry **joined;
    u32 joins;
    u64 joined_room;
    Arena arena;
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

static void free_grouping(Grouping *grouping)
{
    for (u32 i = 0; i < grouping->groups; i++)
        free_table(&grouping->group[i].cache);
    free(grouping->group);
    memset(grouping, 0, sizeof *grouping);
}

static void forget_moves(Moves *moves)
{
    for (u32 i = 0; i < moves->groupings; i++)
        free_grouping(moves->grouping + i);
    free(moves->grouping);
    free(moves->joined);
    free(moves->offer);
    free(moves->scratch);
    free_arena(&moves->arena);
    const Rules *rules = moves->rules;
    memset(moves, 0, sizeof *moves);
    moves->rules = rules;
}

/* The bits of two masks together, if they are few. */
static int join_masks(u64 *mask, const u64 *more, u32 words)
{
    u32 together = 0;
    for (u32 w = 0; w < words; w++)
        together += ones(mask[w] | more[w]);
    if (together > GROUP_BITS)
        return 0;
    for (u32 w = 0; w < words; w++)
        mask[w] |= more[w];
    return 1;
}

/* Neighbouring units are put together as long as they depend on few bits. */
static int make_groups(Moves *moves, u32 number)
{
    const Rules *rules = moves->rules;
    const Set *set = rules->set + number;
    Grouping *grouping = moves->grouping + number;
    u64 mask[MOST_WORDS];
    free_grouping(grouping);
    grouping->version = set->version;
    grouping->group = calloc(set->units + 1, sizeof(Group));
    if (!grouping->group)
        return 0;
    for (u32 i = 0; i < set->units;) {
        Group *group = grouping->group + grouping->groups++;
        group->first = i;
        memset(mask, 0, sizeof mask);
        for (; i < set->units; i++) {
            const u64 *more = rules->unit[rules->member[set->first + i]].mask;
            if (!join_masks(mask, more, rules->words))
                break;
            group->units++;
        }
        if (!group->units) { /* too many bits: it is looked up by itself */
            group->units = 1;
            i++;
        } else if (!make_table(&group->cache, mask, rules->words))
            return 0;
    }
    return RESERVE(moves, offer, grouping->groups + 1);
}

static inline const Entry *entry_of(const Rules *rules, u32 unit, const u64 *state)
{
    u32 at = look_up(&rules->unit[unit].points, state);
    u32 found = at ? look_up(rules->table + (at - 1), state) : 0;
    return found ? rules->entry + (found - 1) : 0;
}

/* Joins what the units of a group can do, and keeps it. */
static i64 join(Moves *moves, const Set *set, Group *group, const u64 *state, const Entry **found)
{
    const Rules *rules = moves->rules;
    u32 count = 0, fails = 0;
    for (u32 i = 0; i < group->units; i++) {
        u32 unit = rules->member[set->first + group->first + i];
        const Entry *entry = entry_of(rules, unit, state);
        if (!entry)
            return ask(moves, ASK_UNIT, unit, 0, 0);
        count += entry->count;
        fails |= entry->fails;
    }
    u64 words = (u64)count * rules->words, numbers = (count + 1) / 2;
    u64 *room = allot(&moves->arena, words + 2 * numbers + (sizeof(Entry) + 7) / 8);
    if (!room || !RESERVE(moves, joined, moves->joins + 1))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    Entry *made = (Entry *)(room + words + 2 * numbers);
    *made = (Entry){0, fails, room, (u32 *)(room + words), (u32 *)(room + words + numbers)};
    for (u32 i = 0; i < group->units; i++) {
        const Entry *entry = entry_of(rules, rules->member[set->first + group->first + i], state);
        if (entry->count) {
            memcpy(made->change + (u64)made->count * rules->words, entry->change,
                   (size_t)entry->count * rules->words * sizeof(u64));
            memcpy(made->transition + made->count, entry->transition, entry->count * sizeof(u32));
            memcpy(made->mover + made->count, entry->mover, entry->count * sizeof(u32));
        }
        made->count += entry->count;
    }
    moves->joined[moves->joins++] = made;
    if (!enter(&group->cache, state, moves->joins))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    *found = made;
    return 0;
}

/* Fills `offer` with all that can be done in a state, and returns how many changes that are; -1: see `question`. */
static inline i64 offers_of(Moves *moves, const u64 *state, u32 *set)
{
    const Rules *rules = moves->rules;
    u32 found = look_up(&rules->presence, state);
    if (!found)
        return ask(moves, ASK_SET, 0, 0, 0);
    *set = found - 1;
    if (found > moves->groupings) {
        if (!RESERVE(moves, grouping, found))
            return ask(moves, ASK_MEMORY, 0, 0, 0);
        memset(moves->grouping + moves->groupings, 0, (found - moves->groupings) * sizeof(Grouping));
        moves->groupings = found;
    }
    const Set *present = rules->set + *set;
    Grouping *grouping = moves->grouping + *set;
    if (grouping->version != present->version && !make_groups(moves, *set))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    i64 count = 0;
    moves->offers = 0;
    for (u32 i = 0; i < grouping->groups; i++) {
        Group *group = grouping->group + i;
        const Entry *entry = 0;
        if (group->cache.value) {
            u32 known = look_up(&group->cache, state);
            if (known)
                entry = moves->joined[known - 1];
            else if (join(moves, present, group, state, &entry) < 0)
                return -1;
        } else {
            u32 unit = rules->member[present->first + group->first];
            entry = entry_of(rules, unit, state);
            if (!entry)
                return ask(moves, ASK_UNIT, unit, 0, 0);
        }
        moves->offer[moves->offers++] = entry;
        count += entry->count;
    }
    return count;
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
        Entry *entry = rules->entry + i;
        u64 size = (u64)entry->count * words, numbers = (entry->count + 1) / 2;
        u64 *room = allot(&rules->arena, size + 2 * numbers + 1);
        if (!room)
            return 0;
        memset(room, 0, size * sizeof(u64));
        for (u32 k = 0; k < entry->count; k++)
            memcpy(room + (u64)k * words, entry->change + (u64)k * old, old * sizeof(u64));
        if (numbers) {
            memcpy(room + size, entry->transition, entry->count * sizeof(u32));
            memcpy(room + size + numbers, entry->mover, entry->count * sizeof(u32));
        }
        entry->change = room;
        entry->transition = (u32 *)(room + size);
        entry->mover = (u32 *)(room + size + numbers);
    }
    free_arena(&before);
    rules->words = words;
    return 1;
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
