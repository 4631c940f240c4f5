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

static inline int NAME(is_free)(const Search *search, const u64 *slot)
{
    (void)search;
    return INLINE ? !slot[W - 1] : !slot[0];
}

static inline void NAME(fill)(const Search *search, u64 *slot, const u64 *state, u64 hash, u64 number)
{
    (void)search;
    if (INLINE) {
        for (u32 w = 0; w < W; w++)
            slot[w] = state[w];
        slot[W - 1] |= THERE;
    } else
        slot[0] = hash >> 32 << 32 | (number + 1);
}

static inline int NAME(is_in)(const Search *search, const Store *store, const u64 *slot, const u64 *state, u64 hash)
{
    if (!INLINE)
        return slot[0] >> 32 == hash >> 32 && NAME(equal)(search, store->state + ((u32)slot[0] - 1) * W, state);
    u64 difference = slot[W - 1] ^ (state[W - 1] | THERE);
    for (u32 w = 0; w + 1 < W; w++)
        difference |= slot[w] ^ state[w];
    return !difference;
}

#define SLOT_WORDS (INLINE ? W : 1)

/* The number of a state, and whether it is new; then it is stored. An INLINE table knows no number of an old one. */
static inline u64 NAME(insert)(const Search *search, Store *store, const u64 *state, u64 hash, u32 parent, int *fresh)
{
    for (u64 i = home(store, hash);; i = i + 1 == store->slots ? 0 : i + 1) {
        u64 *slot = store->slot + i * SLOT_WORDS;
        if (NAME(is_free)(search, slot)) {
            u64 number = store->states++;
            memcpy(store->state + number * W, state, sizeof(u64) * W);
            store->parent[number] = parent;
            NAME(fill)(search, slot, state, hash, number);
            *fresh = 1;
            return number;
        }
        if (NAME(is_in)(search, store, slot, state, hash)) {
            *fresh = 0;
            return INLINE ? 0 : (u32)slot[0] - 1;
        }
    }
}

/* The number of the first state that has as much of this hash as a slot has, plus 1; 0 if there is none: most likely it
   is the one that is looked for, so that its memory may be fetched. A table that is not INLINE. */
static inline u32 NAME(likely)(const Store *store, u64 hash)
{
    for (u64 i = home(store, hash); store->slot[i]; i = i + 1 == store->slots ? 0 : i + 1)
        if (store->slot[i] >> 32 == hash >> 32)
            return (u32)store->slot[i];
    return 0;
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
    for (u64 i = home(store, hash); store->slot[i]; i = i + 1 == store->slots ? 0 : i + 1)
        if (NAME(is_in)(search, store, store->slot + i, state, hash))
            return (u32)store->slot[i] - 1;
    return store->states;
}

/* A larger table. Old slots are read in order, and so are new ones written, nearly. */
static int NAME(rehash)(const Search *search, Store *store, u64 slots)
{
    Store old = *store;
    store->slot = zeroed(slots * SLOT_WORDS);
    if (!store->slot) {
        *store = old;
        return 0;
    }
    store->slots = slots;
    for (u64 i = 0; i < old.slots; i++) {
        const u64 *slot = old.slot + i * SLOT_WORDS;
        if (!NAME(is_free)(search, slot)) {
            u64 bare[ROOM], hash = slot[0];
            if (INLINE) {
                for (u32 w = 0; w < W; w++)
                    bare[w] = slot[w];
                bare[W - 1] &= ~THERE;
                hash = NAME(hash)(search, bare);
            }
            u64 at = home(store, hash);
            while (!NAME(is_free)(search, store->slot + at * SLOT_WORDS))
                at = at + 1 == slots ? 0 : at + 1;
            memcpy(store->slot + at * SLOT_WORDS, slot, SLOT_WORDS * sizeof(u64));
        }
        if (i % GIVE_BACK == GIVE_BACK - 1)
            give_back(old.slot + (i + 1 - GIVE_BACK) * SLOT_WORDS, GIVE_BACK * SLOT_WORDS);
    }
    free_zeroed(old.slot, old.slots * SLOT_WORDS);
    return 1;
}

/* All states again, where slots have another form; `words` is how many they had. */
static int NAME(number_again)(const Search *search, Store *store, u32 words)
{
    free_zeroed(store->slot, store->slots * words);
    store->slot = zeroed(store->slots * SLOT_WORDS);
    if (!store->slot)
        return 0;
    for (u64 n = 0; n < store->states; n++) {
        const u64 *state = store->state + n * W;
        u64 hash = NAME(hash)(search, state), at = home(store, hash);
        while (!NAME(is_free)(search, store->slot + at * SLOT_WORDS))
            at = at + 1 == store->slots ? 0 : at + 1;
        NAME(fill)(search, store->slot + at * SLOT_WORDS, state, hash, n);
    }
    return 1;
}

/* Room for some more states in the arena and in the hash table; 0 where there is none. */
static int NAME(make_room)(const Search *search, Store *store, u64 more)
{
    u64 wanted = store->states + more, slots = store->slots, room = store->room;
    while (wanted > room)
        room += room / 2;
    while (wanted * 5 > slots * 4)
        slots += slots < SMALL_TABLE ? slots : slots / 4;
    if (room == store->room && slots == store->slots)
        return 1;
    if (wanted * search->workers >= UINT32_MAX || slots > UINT32_MAX)
        return 0;
    u64 bytes = wanted * (W * 8 + 4) + slots * SLOT_WORDS * 8 + bytes_of_product(search->product);
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
    return slots == store->slots || NAME(rehash)(search, store, slots);
}
