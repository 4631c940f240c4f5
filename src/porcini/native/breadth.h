/* A search in breadth, for states of WORDS words. Included once for each width.

   Each worker has a part of all states, by their hashes. It expands those of its own, and sends what comes after
   them to whom it belongs, a block at a time: so no two workers write to the same memory, and nobody waits for a
   level to end. With one worker this is a plain search in breadth. What is not in the tables is asked for at once by
   a worker that is alone; several put the state aside, and go on.

   Successors are hashed when they are made, and their lines of the hash table are fetched while others are made; only
   when a block is full are they looked for. */

/* Who has a state. */
static inline u32 NAME(owner)(const Search *search, u64 hash)
{
    return search->workers == 1 ? 0 : (u32)((hash & 0xFFFFFFFF) * search->workers >> 32);
}

/* Was this successor made lately? Then it need not be made again: it is in a block, or has been. Many are, since the
   successors of neighbouring states have most of theirs in common. Where there is nothing yet, the entry is the first
   state, of which all bits are 0, and which has been stored. */
static inline int NAME(is_recent)(const Search *search, Worker *worker, const u64 *state, u64 hash)
{
    u64 *recent = worker->recent + (hash & (RECENT - 1)) * W;
    if (NAME(equal)(search, recent, state))
        return 1;
    memcpy(recent, state, sizeof(u64) * W);
    return 0;
}

/* Hashes the last successors of a block, and fetches what will be needed of the table; `parent` is before all of them.
   Those that were made lately are left out, if that makes no difference. */
static inline void NAME(announce)(const Search *search, Worker *worker, Block *block, u32 begin, u32 parent, int all)
{
    const Store *store = &worker->store;
    u32 kept = begin;
    for (u32 i = begin; i < block->count; i++) {
        u64 after[ROOM];
        memcpy(after, block->state + (u64)i * W, sizeof(u64) * W);
        u64 hash = NAME(hash)(search, after);
        if (!all && NAME(is_recent)(search, worker, after, hash))
            continue;
        memcpy(block->state + (u64)kept * W, after, sizeof(u64) * W);
        block->hash[kept] = hash;
        block->parent[kept++] = parent;
        PREFETCH(store->line + home(store, hash) * LINE);
    }
    worker->transitions += block->count - begin;
    block->count = kept;
}

/* Stores all successors of a state, at once, and leaves room for some more states. */
static int NAME(store_all)(Search *search, Worker *worker, u32 number, u64 more)
{
    u64 state[ROOM], after[ROOM];
    u32 set;
    Store *store = &worker->store;
    memcpy(state, store->state + (u64)number * W, sizeof(u64) * W);
    i64 count = offers_of(&worker->moves, state, &set, store->state, store->states);
    if (count < 0 || !NAME(make_room)(search, store, (u64)count + more))
        return 0;
    for (u32 i = 0; i < worker->moves.offers; i++) {
        const Entry *entry = worker->moves.offer[i];
        for (u32 k = 0; k < entry->count; k++) {
            int fresh;
            for (u32 w = 0; w < W; w++)
                after[w] = state[w] ^ changes_of(entry)[(u64)k * W + w];
            NAME(insert)(search, store, after, NAME(hash)(search, after), number, &fresh);
        }
    }
    worker->transitions += (u64)count;
    return 1;
}

/* Stores the successors of a block, which are hashed. Where a reduced state leads only to states that are done, all of
   its successors are needed (C3). */
static int NAME(store_block)(Search *search, Worker *worker, Block *block)
{
    Store *store = &worker->store;
    u32 reduced = 0;
    int fresh;
    if (!NAME(make_room)(search, store, block->count))
        return 0;
    u32 fetched = search->workers == 1 ? block->count : !INLINE || block->count < AHEAD ? block->count : AHEAD;
    for (u32 i = 0; search->workers > 1 && i < fetched; i++)
        PREFETCH(store->line + home(store, block->hash[i]) * LINE);
    if (!INLINE)
        for (u32 i = 0; i < block->count; i++) {
            u32 likely = NAME(likely)(store, block->hash[i]);
            if (likely)
                PREFETCH(store->state + (likely - 1ull) * W);
        }
    for (u32 i = 0; i < block->count; i++) {
        if (i + fetched < block->count)
            PREFETCH(store->line + home(store, block->hash[i + fetched]) * LINE);
        u64 number = NAME(insert)(search, store, block->state + (u64)i * W, block->hash[i], block->parent[i], &fresh);
        if (reduced < block->reduced && i >= block->reduction[reduced].begin) {
            Reduction *reduction = block->reduction + reduced;
            reduction->ahead |= number > reduction->state;
            if (i + 1 == reduction->end) {
                reduced++;
                if (!reduction->ahead && !NAME(store_all)(search, worker, reduction->state, block->count))
                    return 0;
            }
        }
    }
    block->count = block->reduced = 0;
    return 1;
}

/* Sends a block to its owner. */
static int NAME(send)(Search *search, Worker *worker, u32 owner)
{
    Block *block = worker->out[owner];
    if (!block->count)
        return 1;
    if (owner == worker->number)
        return NAME(store_block)(search, worker, block);
    Block *spare = worker->spare;
    if (spare)
        worker->spare = spare->next;
    else if (!(spare = new_block(search->words)))
        return 0;
    worker->out[owner] = spare;
    push(search, search->worker + owner, block);
    return 1;
}

/* All successors of a state into the block of the only worker; -1: see the question. */
static inline i64 NAME(expand_all)(Search *search, Worker *worker, u64 number)
{
    u64 state[ROOM];
    u32 set;
    Store *store = &worker->store;
    Moves *moves = &worker->moves;
    Block *block = worker->out[0];
    memcpy(state, store->state + number * W, sizeof(u64) * W);
    Grouping *grouping = groups_of(moves, state, &set, store->state, store->states);
    if (!grouping)
        return -1;
    u32 begin = block->count, count = begin;
    for (u32 i = 0; i < grouping->groups; i++) {
        const Entry *entry = entry_of_group(moves, grouping, grouping->group + i, state);
        if (!entry)
            return -1;
        block->count = count;
        int room = widen_block(block, search->words, entry->count);
        block->count = begin;
        if (!room)
            return ask(moves, ASK_MEMORY, 0, 0, 0);
        const u64 *change = changes_of(entry);
        u64 *after = block->state + (u64)count * W;
        for (u32 k = 0; k < entry->count; k++, change += W, after += W)
            for (u32 w = 0; w < W; w++)
                after[w] = state[w] ^ change[w];
        count += entry->count;
    }
    if (count == begin)
        return ask(moves, ASK_END, 0, 0, 0);
    block->count = count;
    NAME(announce)(search, worker, block, begin, (u32)number, 0);
    return 0;
}

/* The successors of a stubborn set into the block of the only worker. */
static i64 NAME(expand_reduced)(Search *search, Worker *worker, u64 number)
{
    u64 state[ROOM];
    u32 set;
    Store *store = &worker->store;
    Moves *moves = &worker->moves;
    Block *block = worker->out[0];
    const u64 *chosen = 0;
    memcpy(state, store->state + number * W, sizeof(u64) * W);
    i64 count = offers_of(moves, state, &set, store->state, store->states);
    if (count < 0)
        return -1;
    if (!count)
        return ask(moves, ASK_END, 0, 0, 0);
    if (choose(moves, state, set, 0, &chosen) < 0)
        return -1;
    if (!widen_block(block, search->words, (u64)count))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    u32 begin = block->count;
    for (u32 i = 0; i < moves->offers; i++) {
        const Entry *entry = moves->offer[i];
        const u32 *transition = transitions_of(entry, W);
        for (u32 k = 0; k < entry->count; k++)
            if (!chosen || has(chosen, transition[k])) {
                u64 *after = block->state + (u64)block->count++ * W;
                for (u32 w = 0; w < W; w++)
                    after[w] = state[w] ^ changes_of(entry)[(u64)k * W + w];
            }
    }
    if (chosen && search->avoids_ignoring)
        block->reduction[block->reduced++] = (Reduction){(u32)number, begin, block->count, 0};
    NAME(announce)(search, worker, block, begin, (u32)number, 1);
    return 0;
}

/* The successors of a state into the blocks of those who own them; -1: see the question. */
static i64 NAME(distribute)(Search *search, Worker *worker, u64 number)
{
    u64 state[ROOM], after[ROOM];
    u32 set, parent = (u32)(number * search->workers + worker->number);
    Store *store = &worker->store;
    Moves *moves = &worker->moves;
    const u64 *chosen = 0;
    memcpy(state, store->state + number * W, sizeof(u64) * W);
    i64 count = offers_of(moves, state, &set, store->state, store->states);
    if (count < 0)
        return -1;
    if (!count)
        return ask(moves, ASK_END, 0, 0, 0);
    if (search->reduces && choose(moves, state, set, search->avoids_ignoring, &chosen) < 0)
        return -1;
    for (u32 i = 0; i < moves->offers; i++) {
        const Entry *entry = moves->offer[i];
        const u32 *transition = transitions_of(entry, W);
        for (u32 k = 0; k < entry->count; k++) {
            if (chosen && !has(chosen, transition[k]))
                continue;
            for (u32 w = 0; w < W; w++)
                after[w] = state[w] ^ changes_of(entry)[(u64)k * W + w];
            u64 hash = NAME(hash)(search, after);
            worker->transitions++;
            if (NAME(is_recent)(search, worker, after, hash))
                continue;
            u32 owner = NAME(owner)(search, hash);
            Block *block = worker->out[owner];
            memcpy(block->state + (u64)block->count * W, after, sizeof(u64) * W);
            block->hash[block->count] = hash;
            block->parent[block->count++] = parent;
            u32 most = owner == worker->number ? BLOCK : MESSAGE;
            if (block->count == most && !NAME(send)(search, worker, owner))
                return ask(moves, ASK_MEMORY, 0, 0, 0);
        }
    }
    return 0;
}

/* One worker alone, until something must be asked about the state that comes next. */
static u32 NAME(run_alone)(Search *search, u64 most)
{
    Worker *worker = search->worker;
    Store *store = &worker->store;
    u64 stop = store->expanded + most;
    while (store->expanded < stop) {
        if (store->expanded == store->states) {
            if (!NAME(send)(search, worker, 0))
                return ASK_MEMORY;
            if (store->expanded == store->states)
                return ASK_NOTHING;
        }
        u64 number = store->expanded;
        if ((search->reduces ? NAME(expand_reduced) : NAME(expand_all))(search, worker, number) < 0) {
            u32 kind = worker->moves.question.kind;
            return kind == ASK_MEMORY || NAME(send)(search, worker, 0) ? kind : ASK_MEMORY;
        }
        store->expanded++;
        if (worker->out[0]->count >= BLOCK && !NAME(send)(search, worker, 0))
            return ASK_MEMORY;
    }
    return NAME(send)(search, worker, 0) ? ASK_TIME : ASK_MEMORY;
}

#if THREADS
/* One of several workers, until nobody has anything left to do, or it is time to stop. */
static void NAME(work)(Search *search, Worker *worker)
{
    Store *store = &worker->store;
    for (;;) {
        Block *block = pull(search, worker);
        if (block) {
            int stored = search_goes_on(search) && NAME(store_block)(search, worker, block);
            block->count = block->reduced = 0;
            block->next = worker->spare;
            worker->spare = block;
            if (!stored)
                give_up(search);
            leave(search); /* the block is no longer under way */
            continue;
        }
        if (store->expanded < store->states && search_goes_on(search) && !time_is_up(search, worker)) {
            u64 until = store->expanded + CHUNK_OF_STATES;
            for (; store->expanded < store->states && store->expanded < until; store->expanded++)
                if (NAME(distribute)(search, worker, store->expanded) < 0 &&
                    (worker->moves.question.kind == ASK_MEMORY || !put_aside(worker, (u32)store->expanded))) {
                    give_up(search);
                    break;
                }
            continue;
        }
        int sent = 1;
        u64 before = store->states;
        for (u32 owner = 0; owner < search->workers; owner++)
            sent &= NAME(send)(search, worker, owner);
        if (!sent)
            give_up(search);
        if (store->states != before && search_goes_on(search) && !time_is_up(search, worker))
            continue;
        if (rest(search, worker))
            return;
    }
}
#endif
