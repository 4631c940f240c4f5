/* A bitstate search, for states of WORDS words. Included once for each width.

   It goes in depth, since that keeps least: the states on the way to the one at hand, and their successors that are
   left. A successor counts as found as soon as it is made. It does not know which states are done; so no stubborn set may
   be used that leads back, as with several workers (`Transition.forward`). */

/* Keeps a state for later, if it is new; 0 where memory is full. */
static int NAME(keep)(Search *search, const u64 *state)
{
    Bits *b = search->bitstate;
    if (!set_bits(b, NAME(hash)(search, state)))
        return 1;
    if (!RESERVE(b, next, (b->nexts + 1) * W))
        return 0;
    memcpy(b->next + b->nexts++ * W, state, W * sizeof(u64));
    return 1;
}

/* Goes on to the next state that is left. */
static int NAME(advance)(Search *search)
{
    Bits *b = search->bitstate;
    if (search->most_bytes && bytes_of_bits(b) > search->most_bytes)
        return 0;
    if (!RESERVE(b, state, (b->frames + 1) * W) || !RESERVE(b, begin, b->frames + 1))
        return 0;
    b->nexts--;
    memcpy(b->state + b->frames * W, b->next + b->nexts * W, W * sizeof(u64));
    b->begin[b->frames++] = b->nexts;
    b->unexpanded = 1;
    return 1;
}

/* The successors of the state at hand, the last one first; -1: see the question. */
static i64 NAME(expand_by_bits)(Search *search, Worker *worker)
{
    Bits *b = search->bitstate;
    Moves *moves = &worker->moves;
    Block *block = worker->out[0];
    u64 state[ROOM];
    u32 set;
    const u64 *chosen = 0;
    memcpy(state, b->state + (b->frames - 1) * W, sizeof(u64) * W);
    i64 count = offers_of(moves, state, &set, b->state, b->frames);
    if (count < 0)
        return -1;
    if (!count)
        return ask(moves, ASK_END, 0, 0, 0);
    if (search->reduces && choose(moves, state, set, search->avoids_ignoring, &chosen) < 0)
        return -1;
    block->count = 0;
    if (!widen_block(block, search->words, (u64)count))
        return ask(moves, ASK_MEMORY, 0, 0, 0);
    for (u32 i = 0; i < moves->offers; i++) {
        const Entry *entry = moves->offer[i];
        const u32 *transition = transitions_of(entry, W);
        for (u32 k = 0; k < entry->count; k++)
            if (!chosen || has(chosen, transition[k])) {
                u64 *after = block->state + (u64)block->count++ * W;
                for (u32 w = 0; w < W; w++)
                    after[w] = state[w] ^ changes_of(entry)[(u64)k * W + w];
                PREFETCH(b->line + ((NAME(hash)(search, after) >> 32) * b->lines >> 32) * LINE);
            }
    }
    for (u32 i = block->count; i-- > 0;)
        if (!NAME(keep)(search, block->state + (u64)i * W))
            return ask(moves, ASK_MEMORY, 0, 0, 0);
    worker->transitions += block->count;
    return 0;
}

/* Goes on for so many states, until something must be asked. */
static u32 NAME(run_by_bits)(Search *search, u64 most)
{
    Bits *b = search->bitstate;
    Worker *worker = search->worker;
    u64 start[ROOM] = {0};
    if (!b->found && !(NAME(keep)(search, start) && NAME(advance)(search)))
        return ASK_MEMORY;
    while (b->frames) {
        if (b->unexpanded) {
            if (!most--)
                return ASK_TIME;
            if (NAME(expand_by_bits)(search, worker) < 0)
                return worker->moves.question.kind;
            b->unexpanded = 0;
        }
        if (b->nexts == b->begin[b->frames - 1])
            b->frames--;
        else if (!NAME(advance)(search))
            return ASK_MEMORY;
    }
    return ASK_NOTHING;
}
