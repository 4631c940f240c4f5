/* What a bitstate search is asked from outside. Those functions that return int return 0 where memory is full. */

/* From its beginning, a search keeps bits instead of states: so many bytes. */
int porcini_use_bits(Search *search, u64 bytes)
{
    Bits *b = search->bitstate = calloc(1, sizeof(Bits));
    if (!b)
        return 0;
    u64 most = 1ull << 32;
    b->lines = bytes / (8 * LINE) < most ? bytes / (8 * LINE) : most;
    b->lines = b->lines ? b->lines : 1;
    b->line = zeroed(b->lines * LINE);
    return b->line != 0;
}

/* How many states are on the way to the one at hand, which is the last of them. */
u64 porcini_depth(const Search *search) { return search->bitstate->frames; }

const u64 *porcini_state_at_depth(const Search *search, u64 depth)
{
    return search->bitstate->state + depth * search->words;
}

/* How many states are expected to have been taken for others. */
double porcini_missed(const Search *search) { return search->bitstate->missed; }

/* The successors of the state at hand, where the tables have none. */
int porcini_answer_end_by_bits(Search *search, const u64 *states, u32 count)
{
    for (u32 i = count; i-- > 0;)
        if (!BY_WIDTH(keep)(search, states + (u64)i * search->words))
            return 0;
    search->worker->transitions += count;
    search->bitstate->unexpanded = 0;
    return 1;
}
