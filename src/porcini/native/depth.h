/* A search in depth for a run that the claim accepts, for states of WORDS words. Included for some widths.

   The same algorithm as that of `engines/product.py`, in the same order: nodes have the same numbers. A strongly
   connected component that has all marks contains an accepted run (Couvreur). Where successors are left out, none of
   the others may be on the way from the first node: else nothing is left out (C3). */

/* The successors of a node into the block, with the marks of the steps to them; -1: see the question. `chosen`: those of
   a stubborn set are enough; afterwards it says whether some were left out. */
static i64 NAME(successors)(Search *search, Worker *worker, u32 number, int *chosen)
{
    Product *p = search->product;
    Moves *moves = &worker->moves;
    Block *block = worker->out[0];
    u64 state[ROOM], low = (1ull << p->claim.bits) - 1;
    const Going *going;
    const u64 *enough = 0;
    u32 set, words = p->words;
    int reduced = *chosen;
    *chosen = 0;
    block->count = 0;
    p->at = number;
    memcpy(state, worker->store.state + (u64)number * W, sizeof(u64) * W);
    if (goings_of(&p->claim, moves, state, &going) < 0)
        return -1;
    if (!going->count)
        return 0;
    i64 count = offers_of(moves, state, &set, worker->store.state, worker->store.states);
    if (count < 0)
        return -1;
    int ended = !count;
    if (ended && p->asks_ends) {
        if (p->end_of != number + 1ull)
            return ask(moves, ASK_END, 0, 0, 0);
        count = p->ends;
    }
    u64 all = (u64)(count ? count : 1) * going->count;
    if (!widen_block(block, search->words, all) || !RESERVE(p, block_marks, all * words))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    if (!ended && reduced && choose(moves, state, set, 0, &enough) < 0)
        return -1;
    *chosen = enough != 0;
    const u32 *there = p->claim.there + going->first;
    const u64 *given = p->claim.marks + (u64)going->first * words;
    u64 *after = block->state, *marks = p->block_marks;
#define STEP(CHANGED, CREW) \
    for (u32 g = 0; g < going->count; g++, after += W, marks += words) { \
        for (u32 w = 0; w < W; w++) \
            after[w] = (CHANGED); \
        after[0] = (after[0] & ~low) | there[g]; \
        mark_step(p, marks, given + (u64)g * words, (CREW)); \
    }
#define CREW_OF(number) (p->fair ? p->crew + (u64)(number) * 2 * words : 0)
    if (p->fair) {
        memset(p->able, 0, words * sizeof(u64));
        for (u32 i = 0; !ended && i < moves->offers; i++)
            for (u32 k = 0; k < moves->offer[i]->count; k++)
                add_marks(p, p->able, CREW_OF(transitions_of(moves->offer[i], W)[k]));
        for (u32 k = 0; ended && k < count; k++)
            add_marks(p, p->able, CREW_OF(p->end_crew[k]));
        add_marks(p, p->everyone, p->able);
    }
    if (!ended)
        for (u32 i = 0; i < moves->offers; i++) {
            const Entry *entry = moves->offer[i];
            const u32 *transition = transitions_of(entry, W);
            for (u32 k = 0; k < entry->count; k++)
                if (!enough || has(enough, transition[k])) {
                    const u64 *change = changes_of(entry) + (u64)k * W, *crew = CREW_OF(transition[k]);
                    STEP(state[w] ^ change[w], crew)
                }
        }
    else if (count)
        for (u32 k = 0; k < count; k++) {
            const u64 *end = p->end + (u64)k * W, *crew = CREW_OF(p->end_crew[k]);
            STEP(end[w], crew)
        }
    else if (p->stutters)
        STEP(state[w], 0)
#undef STEP
#undef CREW_OF
    block->count = (u32)((u64)(after - block->state) / W);
    return 0;
}

/* The numbers of the nodes in the block; those that are new are stored, but not entered. All of them are hashed first, so
   that memory is fetched while there is other work. */
static int NAME(number_nodes)(Search *search, Worker *worker)
{
    Product *p = search->product;
    Store *store = &worker->store;
    Block *block = worker->out[0];
    if (!NAME(make_room)(search, store, block->count))
        return 0;
    if (p->order_room < store->room) {
        u32 *moved = realloc(p->order, store->room * sizeof(u32));
        if (!moved)
            return 0;
        memset(moved + p->order_room, 0, (store->room - p->order_room) * sizeof(u32));
        p->order = moved;
        p->order_room = store->room;
    }
    for (u32 i = 0; i < block->count; i++) {
        block->hash[i] = NAME(hash)(search, block->state + (u64)i * W);
        PREFETCH(store->line + home(store, block->hash[i]) * LINE);
    }
    for (u32 i = 0; i < block->count; i++) {
        u32 likely = block->parent[i] = NAME(likely)(store, block->hash[i]);
        if (likely) {
            PREFETCH(store->state + (likely - 1ull) * W);
            PREFETCH(p->order + (likely - 1));
        }
    }
    for (u32 i = 0; i < block->count; i++) {
        int fresh;
        const u64 *state = block->state + (u64)i * W;
        if (block->parent[i] && NAME(equal)(search, store->state + (block->parent[i] - 1ull) * W, state))
            block->parent[i]--;
        else
            block->parent[i] = (u32)NAME(insert)(search, store, state, block->hash[i], 0, &fresh);
    }
    return 1;
}

/* Finds the successors of the last frame; -1: see the question. Nodes that are done need not be looked at again. */
static i64 NAME(expand_node)(Search *search, Worker *worker)
{
    Product *p = search->product;
    Block *block = worker->out[0];
    u32 node = p->frame[p->frames - 1].node;
    u64 words = p->words;
    int chosen = search->reduces;
    if (NAME(successors)(search, worker, node, &chosen) < 0)
        return -1;
    if (!NAME(number_nodes)(search, worker))
        return ask(&worker->moves, ASK_MEMORY, 0, 0, 0);
    for (u32 i = 0; chosen && i < block->count; i++)
        if (p->order[block->parent[i]] & ON_THE_WAY) {
            chosen = 0;
            if (NAME(successors)(search, worker, node, &chosen) < 0)
                return -1;
            if (!NAME(number_nodes)(search, worker))
                return ask(&worker->moves, ASK_MEMORY, 0, 0, 0);
            break;
        }
    if (!RESERVE(p, next, p->nexts + block->count) || !RESERVE(p, next_marks, (p->nexts + block->count) * words))
        return ask(&worker->moves, ASK_MEMORY, 0, 0, 0);
    for (u32 i = block->count; i-- > 0;)
        if (p->order[block->parent[i]] != DONE) {
            p->next[p->nexts] = block->parent[i];
            memcpy(p->next_marks + p->nexts++ * words, p->block_marks + i * words, words * sizeof(u64));
        }
    worker->transitions += block->count;
    p->unexpanded = 0;
    return 0;
}

/* Goes on until so many more nodes have been entered, or something must be asked. */
static u32 NAME(run_in_depth)(Search *search, u64 most)
{
    Product *p = search->product;
    Worker *worker = search->worker;
    u64 stop = p->entered + most, nothing[MARK_WORDS] = {0};
    if (!p->entered && !(NAME(number_nodes)(search, worker) && enter_node(p, 0, nothing)))
        return ASK_MEMORY;
    while (p->frames) {
        if (p->unexpanded) {
            if (NAME(expand_node)(search, worker) < 0)
                return worker->moves.question.kind;
            if (p->entered >= stop)
                return ASK_TIME;
        }
        if (p->nexts == p->frame[p->frames - 1].begin) {
            leave_node(p);
            continue;
        }
        u32 node = p->next[--p->nexts], order = p->order[node] & ~ON_THE_WAY;
        const u64 *marks = p->next_marks + p->nexts * p->words;
        if (!order) {
            if (p->entered >= MOST_NODES || !enter_node(p, node, marks))
                return ASK_MEMORY;
        } else if (order != DONE && merge_components(p, order, marks))
            return ASK_LASSO;
    }
    return ASK_NOTHING;
}

#if WORDS == 0
/* The shortest way from a node, through nodes that were entered, to one of the component that was found; or within the
   component by a step that has some of the marks, by any step if there are none, or to a node. */
static u32 NAME(find_path)(Search *search, u32 from, u32 kind, u32 to, const u64 *wanted, u64 most)
{
    Product *p = search->product;
    Path *path = &p->path;
    Worker *worker = search->worker;
    Store *store = &worker->store;
    if (!path->going_on) {
        if (!path->queue && !(path->queue = malloc((store->states + 1) * sizeof(u32))))
            return ASK_MEMORY;
        memset(store->parent, 0xFF, store->states * sizeof(u32));
        store->parent[from] = from;
        path->queue[0] = from;
        path->head = 0;
        path->tail = path->going_on = 1;
    }
    for (; path->head < path->tail; path->head++) {
        u32 node = path->queue[path->head];
        int chosen = 0;
        if (!most--)
            return ASK_TIME;
        if (NAME(successors)(search, worker, node, &chosen) < 0)
            return worker->moves.question.kind;
        const Block *block = worker->out[0];
        for (u32 i = 0; i < block->count; i++) {
            u64 found = NAME(find)(search, store, block->state + (u64)i * W);
            if (found == store->states || !p->order[found] || (kind != TO_COMPONENT && !in_component(p, (u32)found)))
                continue;
            const u64 *marks = p->block_marks + (u64)i * p->words;
            u64 some = 0, any = 0;
            for (u32 w = 0; kind == BY_MARKS && w < p->words; w++) {
                some |= marks[w] & wanted[w];
                any |= wanted[w];
            }
            if (kind == TO_COMPONENT ? in_component(p, (u32)found) : kind == TO_NODE ? found == to : some || !any) {
                path->last = node;
                path->end = (u32)found;
                path->going_on = 0;
                memcpy(path->marks, marks, p->words * sizeof(u64));
                return ASK_LASSO;
            }
            if (store->parent[found] == UINT32_MAX) {
                store->parent[found] = node;
                path->queue[path->tail++] = (u32)found;
            }
        }
    }
    path->going_on = 0;
    return ASK_NOTHING;
}
#endif
