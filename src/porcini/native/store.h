/* The states that were found, for states of WORDS words. Included once for each width.

   States are compared bit by bit, not only by their hashes. A slot of the hash table holds the state itself, if it
   has at most two words with a bit to spare and nobody asks for its number (INLINE); else the upper half of its hash
   and its number. The upper half of the hash also says where a state belongs in the table, so that a table is copied
   into a larger one from its beginning to its end, and its memory is given back on the way. */

/* Words that are 0 do not count, so that states may become wider. */
static inline u64 NAME(hash)(const Search *search, const u64 *state)
{
    u64 h = 0;
    (void)search;
    for (u32 i = 0; i < W; i++)
        h ^= (state[i] ^ state[i] >> 32) * (0x9E3779B97F4A7C15ull + 2 * 0xD1B54A32D192ED03ull * i);
    h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9ull;
    return (h ^ h >> 32) & search->hash_mask;
}

static inline int NAME(equal)(const Search *search, const u64 *a, const u64 *b)
{
    u64 difference = 0;
    (void)search;
    for (u32 i = 0; i < W; i++)
        difference |= a[i] ^ b[i];
    return !difference;
}

/* Slots of a line that may have this state, as bits; if they are INLINE, those that have it. Of states of two words a
   line has the lower words of four, and then their upper words. */
static inline u32 NAME(candidates)(const u64 *line, const u64 *state, u64 hash, int in_line)
{
    if (!in_line)
        return equal_halves(line, hash);
    u32 upper = equal_words(line, state[W_INLINE - 1] | THERE);
    return W_INLINE == 1 ? upper : upper >> 4 & equal_words(line, state[0]);
}

static inline u32 NAME(empty_slots)(const u64 *line, int in_line)
{
    u32 empty = equal_words(line, 0);
    return in_line && W_INLINE == 2 ? empty >> 4 : empty;
}

static inline void NAME(fill)(u64 *line, u32 slot, const u64 *state, u64 hash, u64 number, int in_line)
{
    if (!in_line) {
        line[slot] = hash >> 32 << 32 | (number + 1);
        return;
    }
    line[slot] = state[0];
    line[slot + (W_INLINE - 1) * 4] = state[W_INLINE - 1] | THERE;
}

/* The number of a state, and whether it is new; then it is stored. An INLINE table knows no number of an old one. */
static ALWAYS_INLINE u64 NAME(insert)(const Search *search, Store *store, const u64 *state, u64 hash, u32 parent, int *fresh)
{
    for (u64 at = home(store, hash);; at = at + 1 == store->lines ? 0 : at + 1) {
        u64 *line = store->line + at * LINE;
        u32 empty = NAME(empty_slots)(line, INLINE);
        u32 found = NAME(candidates)(line, state, hash, INLINE) & (INLINE ? ~0u : ~empty);
        *fresh = 0;
        if (INLINE && found)
            return 0;
        for (; found; found &= found - 1) {
            u32 number = (u32)line[lowest(found)] - 1;
            if (NAME(equal)(search, store->state + (u64)number * W, state))
                return number;
        }
        if (empty) {
            u64 number = store->states++;
            memcpy(store->state + number * W, state, sizeof(u64) * W);
            store->parent[number] = parent;
            NAME(fill)(line, lowest(empty), state, hash, number, INLINE);
            *fresh = 1;
            return number;
        }
    }
}

/* The number of the first state that has as much of this hash as a slot of its home line has, plus 1; 0 if there is
   none: most likely it is the one that is looked for, so that its memory may be fetched. A table that is not INLINE. */
static inline u32 NAME(likely)(const Store *store, u64 hash)
{
    const u64 *line = store->line + home(store, hash) * LINE;
    u32 found = equal_halves(line, hash);
    return found ? (u32)line[lowest(found)] : 0;
}

/* The number of a state; as many as there are states, if it is not there. */
static u64 NAME(find)(const Search *search, const Store *store, const u64 *state)
{
    u64 number = 0, hash = NAME(hash)(search, state);
    if (INLINE) {
        while (number < store->states && !NAME(equal)(search, store->state + number * W, state))
            number++;
        return number;
    }
    for (u64 at = home(store, hash);; at = at + 1 == store->lines ? 0 : at + 1) {
        const u64 *line = store->line + at * LINE;
        u32 empty = equal_words(line, 0);
        for (u32 found = equal_halves(line, hash) & ~empty; found; found &= found - 1) {
            number = (u32)line[lowest(found)] - 1;
            if (NAME(equal)(search, store->state + number * W, state))
                return number;
        }
        if (empty)
            return store->states;
    }
}

/* Puts a state that is not there yet into the table. */
static inline void NAME(place)(const Search *search, Store *store, const u64 *state, u64 hash, u64 number)
{
    u64 at = home(store, hash);
    u32 empty;
    (void)search;
    while (!(empty = NAME(empty_slots)(store->line + at * LINE, INLINE)))
        at = at + 1 == store->lines ? 0 : at + 1;
    NAME(fill)(store->line + at * LINE, lowest(empty), state, hash, number, INLINE);
}

/* A larger table. Old lines are read in order, and so are new ones written, nearly. */
static int NAME(rehash)(const Search *search, Store *store, u64 lines)
{
    u64 *old = store->line, before = store->lines, *made = zeroed(lines * LINE);
    if (!made)
        return 0;
    store->line = made;
    store->lines = lines;
    for (u64 i = 0; i < before; i++) {
        const u64 *line = old + i * LINE;
        for (u32 left = ~NAME(empty_slots)(line, INLINE) & ((1u << SLOTS) - 1); left; left &= left - 1) {
            u32 slot = lowest(left);
            if (INLINE) {
                u64 state[2] = {line[slot]};
                state[W_INLINE - 1] = line[slot + (W_INLINE - 1) * 4] & ~THERE;
                NAME(place)(search, store, state, NAME(hash)(search, state), 0);
            } else
                NAME(place)(search, store, 0, line[slot], (u32)line[slot] - 1);
        }
        if (i % GIVE_BACK == GIVE_BACK - 1)
            give_back(old + (i + 1 - GIVE_BACK) * LINE, GIVE_BACK * LINE);
    }
    free_zeroed(old, before * LINE);
    return 1;
}

/* All states again, where slots have another form. */
static int NAME(number_again)(const Search *search, Store *store)
{
    free_zeroed(store->line, store->lines * LINE);
    while (store->states * 20 > store->lines * SLOTS * MOST_FULL)
        store->lines *= 2;
    store->line = zeroed(store->lines * LINE);
    if (!store->line)
        return 0;
    for (u64 n = 0; n < store->states; n++) {
        const u64 *state = store->state + n * W;
        NAME(place)(search, store, state, NAME(hash)(search, state), n);
    }
    return 1;
}

/* Room for some more states in the arena and in the hash table; 0 where there is none. */
static int NAME(make_room)(const Search *search, Store *store, u64 more)
{
    u64 wanted = store->states + more, lines = store->lines, room = store->room;
    while (wanted > room)
        room += room / 2;
    while (wanted * 20 > lines * SLOTS * MOST_FULL)
        lines += lines < SMALL_TABLE ? lines : lines / 20 * GROWTH;
    if (room == store->room && lines == store->lines)
        return 1;
    if (wanted * search->workers >= UINT32_MAX)
        return 0;
    u64 bytes = wanted * (W * 8 + 4) + lines * LINE * 8 + bytes_of_product(search->product);
    if (search->most_bytes && bytes > search->most_bytes / search->workers)
        return 0;
    if (room > store->room) {
        u64 *state = realloc(store->state, room * W * sizeof(u64));
        if (!state)
            return 0;
        store->state = state;
        u32 *parent = realloc(store->parent, room * sizeof(u32));
        if (!parent)
            return 0;
        store->parent = parent;
        store->room = room;
    }
    return lines == store->lines || NAME(rehash)(search, store, lines);
}
