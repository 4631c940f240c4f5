/* Stubborn sets from the relations between transitions, which whoever knows the program says. The same as
   `engines/stubborn.py`, which says why, in the same order: the same sets are chosen. Sets of transitions are bits. */

#define DEAR 1000 /* what an enabled transition costs, compared with 1 for a disabled one */
#define UNKNOWN UINT32_MAX

typedef struct {
    u32 process, point;
} Stand;

typedef struct { /* `starters`: it stands for anything that processes do that are not there yet. */
    u32 first_stand, stands, first_guard, guards;
    u32 conflicts, local, starters; /* numbers of sets, or UNKNOWN */
} Transition;

typedef struct { /* `truth`: 1 if it does not hold, 2 if it does. If nothing is told, it counts as false. */
    Table truth;
    u32 enablers, told;
} Guard;

typedef struct { /* Where it stands: `here` gives the number of the point, plus 1. */
    Table here;
    u32 own, points, *at; /* for each point, a set */
} Process;

typedef struct { /* The transitions from one point of a process towards another. */
    u64 key;
    u32 set;
} Leading;

struct Relations {
    u32 words, transitions, guards, processes, sets, leadings;
    Transition *transition;
    Guard *guard;
    Process *process;
    Stand *stand;
    u32 *needs; /* the guards of transitions */
    u64 *set;   /* sets, `words` each; the first one is empty, the second one those that are visible, the third one
                   those that lead back */
    u64 set_room;
    Leading *leading;
    u64 leading_room;
};

static void free_relations(Relations *r)
{
    if (!r)
        return;
    for (u32 i = 0; i < r->guards; i++)
        free_table(&r->guard[i].truth);
    for (u32 i = 0; i < r->processes; i++) {
        free_table(&r->process[i].here);
        free(r->process[i].at);
    }
    free(r->transition);
    free(r->guard);
    free(r->process);
    free(r->stand);
    free(r->needs);
    free(r->set);
    free(r->leading);
    free(r);
}

static inline int has(const u64 *set, u32 number)
{
    return number != NO_TRANSITION && (set[number >> 6] >> (number & 63) & 1);
}

static inline void include(u64 *set, u32 number) { set[number >> 6] |= 1ull << (number & 63); }

static inline const u64 *set_of(const Relations *r, u32 number) { return r->set + (u64)number * r->words; }

typedef struct { /* One choice in progress. */
    Moves *moves;
    const Relations *r;
    const u64 *state, *enabled;
    u64 *found, *todo, *settled, *hopeless; /* sets from `hopeless` transitions were too large */
    u32 *here;
} Choosing;

static inline u64 cost_of(const Choosing *c, const u64 *needed)
{
    u64 cost = 0;
    for (u32 w = 0; w < c->r->words; w++) {
        u64 more = needed[w] & ~c->found[w];
        if (more)
            cost += ones(more) + DEAR * (u64)ones(more & c->enabled[w]);
    }
    return cost;
}

static u32 leading(const Relations *r, u32 process, u32 here, u32 there)
{
    u64 key = (u64)process << 48 | (u64)here << 24 | there;
    u32 low = 0, high = r->leadings;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (r->leading[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->leadings && r->leading[low].key == key ? r->leading[low].set : UNKNOWN;
}

#define NOWHERE 0xFFFFFF /* in place of a point: wherever the process comes from */

/* D2: of the necessary enabling sets of a disabled transition, the one that adds least. 0: there is none. */
static i64 necessary(Choosing *c, u32 number, u32 *best)
{
    const Relations *r = c->r;
    const Transition *transition = r->transition + number;
    u64 least = 0;
    int any = 0;
    *best = transition->starters;
    if (transition->starters != UNKNOWN)
        return 1;
#define CONSIDER(candidate) \
    do { \
        u32 candidate_ = (candidate); \
        u64 cost = cost_of(c, set_of(r, candidate_)); \
        if (!any || cost < least) { \
            *best = candidate_; \
            least = cost; \
            any = 1; \
        } \
        if (!cost) { \
            *best = candidate_; \
            return 1; \
        } \
    } while (0)
    for (u32 i = 0; i < transition->stands; i++) {
        const Stand *stand = r->stand + transition->first_stand + i;
        u32 here = c->here[stand->process];
        if (here != stand->point) {
            u32 from[2] = {here, NOWHERE};
            for (u32 k = 0; k < 2; k++) {
                u32 set = leading(r, stand->process, from[k], stand->point);
                if (set == UNKNOWN)
                    return ask(c->moves, ASK_LEADING, stand->process, from[k], stand->point);
                CONSIDER(set);
            }
        }
    }
    int elsewhere = any;
    for (u32 i = 0; i < transition->guards; i++) {
        u32 needed = r->needs[transition->first_guard + i];
        const Guard *guard = r->guard + needed;
        if (guard->told) {
            u32 truth = look_up(&guard->truth, c->state);
            if (!truth)
                return ask(c->moves, ASK_HOLDS, needed, 0, 0);
            if (truth == 2)
                continue;
        } else if (elsewhere)
            continue; /* it is known to be false only where the process stands at its point */
        if (guard->enablers == UNKNOWN)
            return ask(c->moves, ASK_ENABLERS, needed, 0, 0);
        CONSIDER(guard->enablers);
    }
#undef CONSIDER
    return any;
}

static inline u32 next_of(const Choosing *c)
{
    u32 words = c->r->words, first = UNKNOWN;
    for (u32 w = 0; w < words; w++) {
        if (c->todo[w] & c->enabled[w])
            return w * 64 + lowest(c->todo[w] & c->enabled[w]);
        if (first == UNKNOWN && c->todo[w])
            first = w * 64 + lowest(c->todo[w]);
    }
    return first;
}

/* The stubborn set from one transition, in `found`: how many of it are enabled; 0 if there are not fewer than `most`. */
static i64 grow_stubborn(Choosing *c, u32 seed, u64 most)
{
    const Relations *r = c->r;
    u32 words = r->words, number;
    memset(c->found, 0, words * sizeof(u64));
    memset(c->todo, 0, words * sizeof(u64));
    memset(c->settled, 0, words * sizeof(u64));
    include(c->found, seed);
    include(c->todo, seed);
    u64 taken = 1;
    while ((number = next_of(c)) != UNKNOWN) {
        u32 more;
        c->todo[number >> 6] &= ~(1ull << (number & 63));
        if (has(c->enabled, number)) {
            more = r->transition[number].conflicts;
            if (more == UNKNOWN)
                return ask(c->moves, ASK_CONFLICTS, number, 0, 0);
        } else {
            i64 any = necessary(c, number, &more);
            if (any <= 0)
                return any;
        }
        const u64 *set = set_of(r, more);
        u64 added = 0, hopeless = 0;
        for (u32 w = 0; w < words; w++) {
            u64 fresh = set[w] & ~c->found[w];
            added |= fresh;
            hopeless |= fresh & c->hopeless[w];
            c->found[w] |= fresh;
            c->todo[w] |= fresh;
            taken += ones(fresh & c->enabled[w]);
        }
        if (!added)
            continue;
        if (hopeless || taken >= most)
            return 0;
        for (u32 p = 0; p < r->processes; p++) {
            const u64 *now = set_of(r, r->process[p].at[c->here[p]]), *own = set_of(r, r->process[p].own);
            u64 any = 0, left = 0;
            for (u32 w = 0; w < words; w++) {
                any |= now[w];
                left |= now[w] & ~c->found[w];
            }
            if (any && !left)
                for (u32 w = 0; w < words; w++)
                    c->settled[w] |= own[w] & ~now[w];
        }
        for (u32 w = 0; w < words; w++)
            c->todo[w] &= ~c->settled[w];
    }
    return (i64)taken;
}

static int meets(const u64 *a, const u64 *b, const u64 *c, u32 words)
{
    u64 common = 0;
    for (u32 w = 0; w < words; w++)
        common |= a[w] & b[w] & (c ? c[w] : ~0ull);
    return common != 0;
}

/* The transitions that are enough in a state whose offers are known: `chosen`, or 0 for all of them. If `forward`,
   none of those may lead back: every cycle has one that does, so that nothing is left out on a whole cycle. */
static i64 choose(Moves *moves, const u64 *state, u32 set, int forward, const u64 **chosen)
{
    const Relations *r = moves->rules->set[set].relations;
    *chosen = 0;
    if (!r)
        return ask(moves, ASK_RELATIONS, set, 0, 0);
    u32 words = r->words, seeds = 0;
    u64 need = 6ull * words + r->processes * 2ull + 2;
    if (!RESERVE(moves, scratch, need))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    u64 *enabled = moves->scratch, *best = enabled + words;
    u64 *hopeless = best + 4 * words;
    u32 *here = (u32 *)(hopeless + words), *seed = here + r->processes;
    Choosing c = {moves, r, state, enabled, best + words, best + 2 * words, best + 3 * words, hopeless, here};
    memset(hopeless, 0, words * sizeof(u64));
    memset(enabled, 0, words * sizeof(u64));
    memset(seed, 0xFF, r->processes * sizeof(u32));
    for (u32 i = 0; i < moves->offers; i++) {
        const Entry *entry = moves->offer[i];
        if (entry->fails)
            return 0;
        const u32 *transition = transitions_of(entry, moves->rules->words), *movers = transition + entry->count;
        for (u32 k = 0; k < entry->count; k++) {
            u32 number = transition[k], mover = movers[k];
            include(enabled, number);
            if (seed[mover] == UNKNOWN) {
                seed[mover] = number;
                seeds++;
            }
        }
    }
    if (seeds < 2)
        return 0;
    for (u32 i = 0; i < moves->offers; i++) { /* a process that nobody else depends on, at its point */
        const Entry *entry = moves->offer[i];
        const u32 *transition = transitions_of(entry, moves->rules->words), *mover = transition + entry->count;
        for (u32 k = 0; k < entry->count; k++) {
            u32 number = transition[k];
            if (k && mover[k] == mover[k - 1])
                continue;
            if (r->transition[number].local == UNKNOWN)
                return ask(moves, ASK_LOCAL, number, 0, 0);
            if (r->transition[number].local) {
                *chosen = set_of(r, r->transition[number].local);
                if (forward && meets(*chosen, set_of(r, 2), enabled, words))
                    *chosen = 0;
                return 0;
            }
        }
    }
    for (u32 p = 0; p < r->processes; p++) {
        u32 at = look_up(&r->process[p].here, state);
        if (!at)
            return ask(moves, ASK_HERE, p, 0, 0);
        here[p] = at - 1;
    }
    u64 least = 0;
    for (u32 w = 0; w < words; w++)
        least += ones(enabled[w]);
    for (u32 p = 0; p < r->processes; p++) {
        if (seed[p] == UNKNOWN)
            continue;
        i64 taken = grow_stubborn(&c, seed[p], least);
        if (taken < 0)
            return -1;
        if (!taken)
            include(hopeless, seed[p]);
        if (!taken || (u64)taken >= least || meets(c.found, enabled, set_of(r, 1), words))
            continue;
        if (forward && meets(c.found, enabled, set_of(r, 2), words))
            continue;
        memcpy(best, c.found, words * sizeof(u64));
        *chosen = best;
        least = (u64)taken;
        if (least == 1)
            break;
    }
    return 0;
}
