/* Groups: units that are looked up together. What they can do is joined, once for each value of the bits that their
   moves depend on, and kept in a cache of the worker; so a state costs a few accesses to memory, and not one or two for
   each unit. Nothing else depends on which units are put together: a group whose cache has nothing for a state asks the
   tables of its units.

   Bits alone do not tell how many values they take: those of a process and of a channel have much to do with each other.
   So values are counted in a sample of the states that were found so far, and again whenever there are sixteen times as
   many. Where a group takes more values than its sample promised, its set of processes gets smaller groups.

   make_groups     which units are looked up together, by the sample
   join            what a group can do in a state, for the first time
   entry_of_group  the same, from its cache
   offers_of       what all groups can do */

#define SAMPLE 2048            /* states */
#define OFTEN 6                /* how often each value should be in the sample: then the others are few */
#define MOST_ENTRIES (1 << 15) /* of a group */
#define MOST_OPEN 8            /* groups that one more unit may be put into */
#define MOST_KEY_BITS 256

static void free_grouping(Grouping *grouping)
{
    for (u32 i = 0; i < grouping->groups; i++)
        free_table(&grouping->group[i].cache);
    free(grouping->group);
    free(grouping->member);
    grouping->group = 0;
    grouping->member = 0;
    grouping->groups = 0;
}

static void forget_moves(Moves *moves)
{
    for (u32 i = 0; i < moves->groupings; i++)
        free_grouping(moves->grouping + i);
    free(moves->grouping);
    free(moves->joined);
    free(moves->offer);
    free(moves->scratch);
    *moves = (Moves){.rules = moves->rules, .ordered = moves->ordered};
}

typedef struct { /* States of one set of processes, in order of age, and room for counting values in them. */
    u64 *state, *value;
    u32 states, most; /* values of one group */
} Sample;

static int take_sample(const Moves *moves, u32 set, const u64 *states, u64 count, Sample *sample)
{
    u32 words = moves->rules->words;
    u64 step = count / SAMPLE + 1, room = SAMPLE * (words + 2ull);
    sample->states = 0;
    sample->state = malloc(room * sizeof(u64));
    if (!sample->state)
        return 0;
    sample->value = sample->state + SAMPLE * (u64)words;
    for (u64 first = 0; first < 4 && first < step && sample->states < SAMPLE; first++)
        for (u64 i = first * step / 4; i < count && sample->states < SAMPLE; i += step)
            if (look_up(&moves->rules->presence, states + i * words) == set + 1)
                memcpy(sample->state + sample->states++ * (u64)words, states + i * words, words * sizeof(u64));
    return 1;
}

/* How many values these bits take in the sample; more than `most` need not be counted. */
static u32 count_values(const Sample *sample, const u64 *mask, u32 words, u32 most)
{
    u32 found = 0;
    memset(sample->value, 0, 2 * SAMPLE * sizeof(u64));
    for (u32 i = 0; i < sample->states && found <= most; i++) {
        u64 h = 1;
        for (u32 w = 0; w < words; w++) {
            h = (h ^ (sample->state[i * (u64)words + w] & mask[w])) * 0x9E3779B97F4A7C15ull;
            h ^= h >> 32;
        }
        u64 at = h & (2 * SAMPLE - 1);
        h |= 1;
        while (sample->value[at] && sample->value[at] != h)
            at = (at + 1) & (2 * SAMPLE - 1);
        found += !sample->value[at];
        sample->value[at] = h;
    }
    return found;
}

typedef struct { /* Groups in the making; those of too many values are closed. */
    u32 *group_of; /* of each unit of the set */
    u64 *mask;     /* of each group */
    u32 *values, groups;
} Making;

/* The group to which one more unit adds least; as many as there are groups, if it should have one of its own. */
static u32 best_group(const Moves *moves, const Making *making, const Sample *sample, const u64 *mask)
{
    u32 words = moves->rules->words, best = making->groups, least = UINT32_MAX;
    u32 open = moves->ordered ? 1 : MOST_OPEN, first = making->groups > open ? making->groups - open : 0;
    for (u32 g = first; g < making->groups; g++) {
        u64 together[MOST_WORDS];
        u32 bits = 0;
        for (u32 w = 0; w < words; w++) {
            together[w] = mask[w] | making->mask[g * (u64)words + w];
            bits += ones(together[w]);
        }
        if (bits > MOST_KEY_BITS || making->values[g] > sample->most)
            continue;
        u32 values = count_values(sample, together, words, sample->most);
        if (values <= sample->most && values - making->values[g] < least) {
            least = values - making->values[g];
            best = g;
        }
    }
    return best;
}

/* Puts units into groups. Without a sample each of them is alone. */
static void assign_units(const Moves *moves, u32 number, const Sample *sample, Making *making)
{
    const Rules *rules = moves->rules;
    const Set *set = rules->set + number;
    u32 words = rules->words;
    for (u32 i = 0; i < set->units; i++) {
        const u64 *mask = rules->unit[rules->member[set->first + i]].mask;
        u32 g = sample->states ? best_group(moves, making, sample, mask) : making->groups;
        if (g == making->groups) {
            making->groups++;
            memset(making->mask + g * (u64)words, 0, words * sizeof(u64));
        }
        for (u32 w = 0; w < words; w++)
            making->mask[g * (u64)words + w] |= mask[w];
        making->values[g] = count_values(sample, making->mask + g * (u64)words, words, sample->most);
        making->group_of[i] = g;
    }
}

/* Groups as they were made; those of too many values have no cache. */
static int lay_out_groups(const Rules *rules, u32 number, Grouping *grouping, const Sample *sample, const Making *making)
{
    const Set *set = rules->set + number;
    u32 members = 0;
    for (u32 g = 0; g < making->groups; g++) {
        Group *group = grouping->group + g;
        const u64 *mask = making->mask + g * (u64)rules->words;
        u32 bits = 0;
        group->first = members;
        for (u32 i = 0; i < set->units; i++)
            if (making->group_of[i] == g)
                grouping->member[members++] = rules->member[set->first + i];
        group->units = members - group->first;
        grouping->groups++;
        for (u32 w = 0; w < rules->words; w++)
            bits += ones(mask[w]);
        if (sample->states && bits <= MOST_KEY_BITS && making->values[g] <= sample->most &&
            !make_table(&group->cache, mask, rules->words))
            return 0;
    }
    return 1;
}

static int make_groups(Moves *moves, u32 number, const u64 *states, u64 count)
{
    const Rules *rules = moves->rules;
    Grouping *grouping = moves->grouping + number;
    u64 units = rules->set[number].units + 1ull;
    Sample sample = {0};
    Making making = {0};
    free_grouping(grouping);
    grouping->version = rules->set[number].version;
    if (!grouping->most) {
        grouping->most = SAMPLE / OFTEN;
        grouping->again = SAMPLE / 2;
    } else if (grouping->looked >= grouping->again)
        grouping->again = 16 * grouping->looked;
    grouping->group = calloc(units, sizeof(Group));
    grouping->member = malloc(units * sizeof(u32));
    making.group_of = malloc(2 * units * sizeof(u32));
    making.mask = malloc(units * rules->words * sizeof(u64));
    int made = grouping->group && grouping->member && making.group_of && making.mask && RESERVE(moves, offer, units);
    if (made) {
        making.values = making.group_of + units;
        made = take_sample(moves, number, states, grouping->looked < SAMPLE / 2 ? 0 : count, &sample);
    }
    if (made) {
        sample.most = sample.states / OFTEN < grouping->most ? sample.states / OFTEN : grouping->most;
        assign_units(moves, number, &sample, &making);
        made = lay_out_groups(rules, number, grouping, &sample, &making);
    }
    free(sample.state);
    free(making.group_of);
    free(making.mask);
    return made;
}

/* Joins what the units of a group can do, and keeps it; 0: see the question. Entries may move. */
static const Entry *join(Moves *moves, Grouping *grouping, Group *group, const u64 *state)
{
    const Rules *rules = moves->rules;
    const u32 *unit = grouping->member + group->first;
    u32 count = 0, done = 0;
    for (u32 i = 0; i < group->units; i++) {
        const Entry *entry = entry_of(rules, unit[i], state);
        if (!entry) {
            ask(moves, ASK_UNIT, unit[i], 0, 0);
            return 0;
        }
        count += entry->count;
    }
    u64 at = moves->joins, size = words_of_entry(count, rules->words);
    if (at + size >= UINT32_MAX || !RESERVE(moves, joined, at + size) || !enter(&group->cache, state, (u32)at + 1)) {
        ask(moves, ASK_MEMORY, 0, 0, 0);
        return 0;
    }
    moves->joins += size;
    Entry *made = (Entry *)(moves->joined + at);
    *made = (Entry){count, 0};
    for (u32 i = 0; i < group->units; i++) {
        const Entry *entry = entry_of(rules, unit[i], state);
        u64 changes = (u64)entry->count * rules->words;
        memcpy(changes_of(made) + (u64)done * rules->words, changes_of(entry), changes * sizeof(u64));
        memcpy(transitions_of(made, rules->words) + done, transitions_of(entry, rules->words), entry->count * sizeof(u32));
        memcpy(movers_of(made, rules->words) + done, movers_of(entry, rules->words), entry->count * sizeof(u32));
        made->fails |= entry->fails;
        done += entry->count;
    }
    if (++group->entries == MOST_ENTRIES) { /* more than the sample promised */
        grouping->most = grouping->most / 2 + 1;
        grouping->again = grouping->looked;
    }
    return made;
}

/* What a group can do in a state; 0: see the question. It may move when the next one is looked up. */
static inline const Entry *entry_of_group(Moves *moves, Grouping *grouping, Group *group, const u64 *state)
{
    if (is_made(&group->cache)) {
        u32 known = look_up(&group->cache, state);
        return known ? (const Entry *)(moves->joined + (known - 1)) : join(moves, grouping, group, state);
    }
    u32 unit = grouping->member[group->first];
    const Entry *entry = entry_of(moves->rules, unit, state);
    if (!entry)
        ask(moves, ASK_UNIT, unit, 0, 0);
    return entry;
}

/* The groups of the set of processes of a state; 0: see the question. `states` are those that were found so far. */
static inline Grouping *groups_of(Moves *moves, const u64 *state, u32 *set, const u64 *states, u64 count)
{
    const Rules *rules = moves->rules;
    u32 found = look_up(&rules->presence, state);
    if (!found) {
        ask(moves, ASK_SET, 0, 0, 0);
        return 0;
    }
    *set = found - 1;
    if (found > moves->groupings) {
        if (!RESERVE(moves, grouping, found)) {
            ask(moves, ASK_MEMORY, 0, 0, 0);
            return 0;
        }
        memset(moves->grouping + moves->groupings, 0, (found - moves->groupings) * sizeof(Grouping));
        moves->groupings = found;
    }
    Grouping *grouping = moves->grouping + *set;
    if ((grouping->version != rules->set[*set].version || grouping->looked == grouping->again) &&
        !make_groups(moves, *set, states, count)) {
        ask(moves, ASK_MEMORY, 0, 0, 0);
        return 0;
    }
    grouping->looked++;
    return grouping;
}

/* Fills `offer` with all that can be done in a state, and returns how many changes that are; -1: see `question`. */
static inline i64 offers_of(Moves *moves, const u64 *state, u32 *set, const u64 *states, u64 known)
{
    Grouping *grouping = groups_of(moves, state, set, states, known);
    if (!grouping)
        return -1;
    i64 count = 0;
    const u64 *joined = moves->joined;
    moves->offers = 0;
    while (moves->offers < grouping->groups) {
        const Entry *entry = entry_of_group(moves, grouping, grouping->group + moves->offers, state);
        if (!entry)
            return -1;
        moves->offer[moves->offers++] = entry;
        count += entry->count;
        if (joined != moves->joined) { /* entries have moved */
            joined = moves->joined;
            moves->offers = 0;
            count = 0;
        }
    }
    return count;
}
