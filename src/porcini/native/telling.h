/* What whoever knows the program tells: units, what they can do, the relations between transitions. Those functions that
   return int return 0 where memory is full. */

/* The bits that tell which set of processes a state has; `keep`: only bits were added that have been 0 so far. */
int porcini_set_presence(Search *search, const u64 *mask, u32 keep)
{
    return key_again(&search->rules.presence, mask, search->words, (int)keep);
}

/* A unit, a table, a guard, a process: the bits that it looks at are others from now on. */
enum { OF_UNIT, OF_TABLE, OF_GUARD, OF_PROCESS };

int porcini_key_again(Search *search, u32 what, u32 set, u32 number, const u64 *mask, u32 keep)
{
    Rules *rules = &search->rules;
    Relations *r = set < rules->sets ? rules->set[set].relations : 0;
    Table *table = what == OF_UNIT    ? &rules->unit[number].points
                   : what == OF_TABLE ? rules->table + number
                   : what == OF_GUARD ? &r->guard[number].truth
                                      : &r->process[number].here;
    return key_again(table, mask, search->words, (int)keep);
}

/* The moves of a unit depend on more bits than was said: what was looked up together must be looked up again. */
void porcini_look_at(Search *search, u32 number, const u64 *mask)
{
    Unit *unit = search->rules.unit + number;
    for (u32 w = 0; w < search->words; w++)
        unit->mask[w] |= mask[w];
    search->rules.set[unit->set].version++;
}

/* One more unit: the bits that tell where it stands. */
int porcini_add_unit(Search *search, const u64 *mask)
{
    Rules *rules = &search->rules;
    if (!RESERVE(rules, unit, rules->units + 1))
        return 0;
    Unit *unit = rules->unit + rules->units;
    memset(unit, 0, sizeof *unit);
    unit->mask = allot(&rules->arena, rules->words);
    if (!unit->mask || !make_table(&unit->points, mask, rules->words))
        return 0;
    memcpy(unit->mask, mask, rules->words * sizeof(u64));
    rules->units++;
    return 1;
}

/* States that look like this one have a set of processes that is known. */
int porcini_is_of_set(Search *search, const u64 *state, u32 set) { return enter(&search->rules.presence, state, set + 1); }

/* The units of the set of processes that a state has. */
int porcini_add_set(Search *search, const u64 *state, const u32 *units, u32 count)
{
    Rules *rules = &search->rules;
    if (!RESERVE(rules, set, rules->sets + 1) || !RESERVE(rules, member, rules->members + count))
        return 0;
    for (u32 i = 0; i < count; i++) {
        rules->member[rules->members + i] = units[i];
        rules->unit[units[i]].set = rules->sets;
    }
    rules->set[rules->sets++] = (Set){rules->members, count, 1, 0};
    rules->members += count;
    return porcini_is_of_set(search, state, rules->sets - 1);
}

/* The bits that the moves of a unit depend on, where it stands as in this state. */
int porcini_add_table(Search *search, u32 unit, const u64 *state, const u64 *mask)
{
    Rules *rules = &search->rules;
    Unit *of = rules->unit + unit;
    if (!RESERVE(rules, table, rules->tables + 1) || !make_table(rules->table + rules->tables, mask, rules->words))
        return 0;
    for (u32 w = 0; w < rules->words; w++)
        if (mask[w] & ~of->mask[w]) {
            of->mask[w] |= mask[w];
            rules->set[of->set].version++;
        }
    return enter(&of->points, state, ++rules->tables);
}

/* What a unit can do in this state. A change that is no transition is a failure. */
int porcini_add_entry(Search *search, u32 unit, const u64 *state, const u64 *changes, const u32 *transitions, u32 mover,
                      u32 count)
{
    Rules *rules = &search->rules;
    Table *table = rules->table + (look_up(&rules->unit[unit].points, state) - 1);
    Entry *entry = (Entry *)allot(&rules->arena, words_of_entry(count, rules->words));
    if (!entry || !RESERVE(rules, entry, rules->entries + 1))
        return 0;
    rules->entry[rules->entries++] = entry;
    *entry = (Entry){count, 0};
    if (count)
        memcpy(changes_of(entry), changes, (size_t)count * rules->words * sizeof(u64));
    for (u32 i = 0; i < count; i++) {
        transitions_of(entry, rules->words)[i] = transitions[i];
        movers_of(entry, rules->words)[i] = mover;
        entry->fails |= transitions[i] == NO_TRANSITION;
    }
    return enter(table, state, rules->entries);
}

/* The relations between the transitions of a set of processes. */

int porcini_add_relations(Search *search, u32 set, u32 transitions, const u32 *stands, const u32 *stand,
                          const u32 *needs, const u32 *need, u32 guards, u32 processes)
{
    Relations *r = calloc(1, sizeof(Relations));
    u64 all_stands = 0, all_needs = 0;
    if (!r)
        return 0;
    for (u32 i = 0; i < transitions; i++) {
        all_stands += stands[i];
        all_needs += needs[i];
    }
    r->words = transitions / 64 + 1;
    r->transition = calloc(transitions + 1, sizeof(Transition));
    r->stand = calloc(all_stands + 1, sizeof(Stand));
    r->needs = calloc(all_needs + 1, sizeof(u32));
    r->guard = calloc(guards + 1, sizeof(Guard));
    r->process = calloc(processes + 1, sizeof(Process));
    free_relations(search->rules.set[set].relations);
    search->rules.set[set].relations = r;
    if (!r->transition || !r->stand || !r->needs || !r->guard || !r->process)
        return 0;
    r->transitions = transitions;
    r->guards = guards;
    r->processes = processes;
    memcpy(r->stand, stand, all_stands * sizeof(Stand));
    memcpy(r->needs, need, all_needs * sizeof(u32));
    for (u32 i = 0, at = 0, on = 0; i < transitions; at += stands[i], on += needs[i], i++)
        r->transition[i] = (Transition){at, stands[i], on, needs[i], UNKNOWN, UNKNOWN, UNKNOWN};
    for (u32 i = 0; i < guards; i++)
        r->guard[i].enablers = UNKNOWN;
    return 1;
}

/* One more set of transitions; its number, plus 1. */
u32 porcini_add_transitions(Search *search, u32 set, const u64 *bits)
{
    Relations *r = search->rules.set[set].relations;
    if (!RESERVE(r, set, (r->sets + 1ull) * r->words))
        return 0;
    memcpy(r->set + (u64)r->sets * r->words, bits, r->words * sizeof(u64));
    return ++r->sets;
}

u32 porcini_words_of_transitions(const Search *search, u32 set) { return search->rules.set[set].relations->words; }

/* A process: the bits that say where it stands, all of its transitions, and those at each of its points. */
int porcini_add_process(Search *search, u32 set, u32 number, const u64 *mask, u32 own, const u32 *at, u32 points)
{
    Process *process = search->rules.set[set].relations->process + number;
    process->own = own;
    process->points = points;
    process->at = malloc((points + 1) * sizeof(u32));
    if (!process->at || !make_table(&process->here, mask, search->words))
        return 0;
    memcpy(process->at, at, points * sizeof(u32));
    return 1;
}

/* The bits that a guard depends on. */
int porcini_add_guard(Search *search, u32 set, u32 number, const u64 *mask)
{
    Guard *guard = search->rules.set[set].relations->guard + number;
    guard->told = 1;
    return make_table(&guard->truth, mask, search->words);
}

static int add_leading(Relations *r, u64 key, u32 value)
{
    u32 at = r->leadings;
    if (!RESERVE(r, leading, r->leadings + 1))
        return 0;
    for (; at && r->leading[at - 1].key > key; at--)
        r->leading[at] = r->leading[at - 1];
    r->leading[at] = (Leading){key, value};
    r->leadings++;
    return 1;
}

/* The answer to a question about the relations of a set of processes; most are numbers of sets of transitions. */
int porcini_answer(Search *search, u32 set, u32 kind, const u32 *about, const u64 *state, u32 value)
{
    Relations *r = search->rules.set[set].relations;
    switch (kind) {
    case ASK_HERE:
        return enter(&r->process[about[0]].here, state, value + 1);
    case ASK_HOLDS:
        return enter(&r->guard[about[0]].truth, state, value + 1);
    case ASK_CONFLICTS:
        r->transition[about[0]].conflicts = value;
        return 1;
    case ASK_LOCAL:
        r->transition[about[0]].local = value;
        return 1;
    case ASK_ENABLERS:
        r->guard[about[0]].enablers = value;
        return 1;
    case ASK_LEADING:
        return add_leading(r, (u64)about[0] << 48 | (u64)about[1] << 24 | about[2], value);
    default: /* what stands for processes that are not there yet */
        r->transition[about[0]].starters = value;
        return 1;
    }
}
