/* What a bitstate search keeps (`bitstate.h`; Holzmann's idea): of each state that was found only three bits of a table.
   Where all three are there, a state is taken for one that was found before, which it need not be: so such a search
   finds errors, and cannot show that there are none.

   The three bits of a state are in one line, so that one access to memory is enough. How full that line is says how
   likely it is that a state is taken for another one: if a new state is recognised as new with probability 1 - p, then
   p / (1 - p) others have been missed for each that has been recognised. `missed` is their sum. What only missed states
   lead to is missed as well, and nobody knows how much that is. */

typedef struct Bits {
    u64 *line, lines;
    u64 *state, state_room; /* the states on the way to the one at hand, the first one first */
    u64 *begin, begin_room; /* of each of them: where its successors begin that are left */
    u64 *next, next_room;   /* successors that are left, the next one last */
    u64 frames, nexts, found;
    int unexpanded; /* are the successors of the last state still to be found? */
    double missed;
} Bits;

static void free_bits(Bits *b)
{
    if (!b)
        return;
    free_zeroed(b->line, b->lines * LINE);
    free(b->state);
    free(b->begin);
    free(b->next);
    free(b);
}

static u64 bytes_of_bits(const Bits *b) { return 8 * (b->lines * LINE + b->state_room + b->begin_room + b->next_room); }

/* The share of states that have three bits in such a line by chance. */
static double chance_of(const u64 *line)
{
    u32 set = 0;
    for (u32 i = 0; i < LINE; i++)
        set += ones(line[i]);
    double share = set / (64.0 * LINE);
    return share * share * share;
}

/* Sets the bits of a state; were some of them missing, so that it is new? */
static int set_bits(Bits *b, u64 hash)
{
    u64 *line = b->line + ((hash >> 32) * b->lines >> 32) * LINE, missing = 0;
    double chance = chance_of(line);
    for (u32 shift = 0; shift < 27; shift += 9) {
        u64 place = hash >> shift & (64 * LINE - 1), bit = 1ull << (place & 63);
        missing |= bit & ~line[place >> 6];
        line[place >> 6] |= bit;
    }
    if (!missing)
        return 0;
    b->found++;
    b->missed += chance / (1 - chance);
    return 1;
}

/* States of another width. */
static int widen_states(u64 **states, u64 *room, u64 count, u32 before, u32 words)
{
    u64 *made = calloc(count + 1, words * sizeof(u64));
    if (!made)
        return 0;
    for (u64 n = 0; n < count; n++)
        memcpy(made + n * words, *states + n * before, before * sizeof(u64));
    free(*states);
    *states = made;
    *room = (count + 1) * words;
    return 1;
}

static int widen_bits(Bits *b, u32 before, u32 words)
{
    return !b || (widen_states(&b->state, &b->state_room, b->frames, before, words) &&
                  widen_states(&b->next, &b->next_room, b->nexts, before, words));
}
