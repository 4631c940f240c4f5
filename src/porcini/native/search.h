/* A search of states, breadth first, for states of WORDS words. Included by runtime.c once for each width. */

#define GLUE_(name, words) name##_##words
#define GLUE(name, words) GLUE_(name, words)
#define NAME(name) GLUE(name, WORDS)
#if WORDS == 0
#define W (search->words)
#define ROOM MOST_WORDS
#else
#define W WORDS
#define ROOM WORDS
#endif
#if WORDS == 1
#define INLINE search->spare
#else
#define INLINE 0
#endif

static inline u64 NAME(hash)(const Search *search, const u64 *state)
{
    u64 h = 0x243F6A8885A308D3ull;
    (void)search;
    for (u32 i = 0; i < W; i++) {
        h ^= state[i];
        h *= 0x9E3779B97F4A7C15ull;
        h ^= h >> 32;
    }
    h *= 0xBF58476D1CE4E5B9ull;
    return (h ^ h >> 29) & search->hash_mask;
}

static inline int NAME(equal)(const Search *search, const u64 *a, const u64 *b)
{
    u64 difference = 0;
    (void)search;
    for (u32 i = 0; i < W; i++)
        difference |= a[i] ^ b[i];
    return !difference;
}

/* The bits of a state that a table looks at, close together. */
static inline void NAME(extract)(const Table *table, const u64 *state, u64 *key)
{
    for (u32 i = 0; i < table->key_words; i++)
        key[i] = 0;
    for (u32 i = 0; i < table->runs; i++) {
        const Run *run = table->run + i;
        key[run->to_word] |= (state[run->word] >> run->shift & run->mask) << run->to_shift;
    }
}

static inline u32 NAME(look_up)(const Table *table, const u64 *state)
{
    u64 key[ROOM];
    key[0] = 0;
    NAME(extract)(table, state, key);
    return find(table, key);
}

/* Is a state new? Then it is stored. A slot of the hash table holds the state itself, if it has one word with a bit
   to spare; else the number of the state, and some more bits of its hash. */
static inline int NAME(insert)(Search *search, const u64 *state, u64 hash, u32 parent)
{
    u64 mask = search->slots - 1, tag = hash >> 40;
    for (u64 i = hash & mask;; i = (i + 1) & mask) {
        u64 slot = search->slot[i];
        if (!slot) {
            memcpy(search->state + search->states * W, state, sizeof(u64) * W);
            search->parent[search->states++] = parent;
            search->slot[i] = INLINE ? state[0] | THERE : tag << 40 | search->states;
            return 1;
        }
        if (INLINE ? slot == (state[0] | THERE)
                   : slot >> 40 == tag && NAME(equal)(search, search->state + ((slot & INDEX) - 1) * W, state))
            return 0;
    }
}

static int NAME(rehash)(Search *search, u64 slots)
{
    u64 *fresh = calloc(slots, sizeof(u64));
    if (!fresh)
        return 0;
    for (u64 n = 0; n < search->states; n++) {
        const u64 *state = search->state + n * W;
        u64 hash = NAME(hash)(search, state), i = hash & (slots - 1);
        while (fresh[i])
            i = (i + 1) & (slots - 1);
        fresh[i] = INLINE ? state[0] | THERE : hash >> 40 << 40 | (n + 1);
    }
    free(search->slot);
    search->slot = fresh;
    search->slots = slots;
    return 1;
}

/* Room for some more states in the arena and in the hash table. */
static int NAME(make_room)(Search *search, u64 more)
{
    u64 wanted = search->states + more;
    if (wanted > search->room) {
        u64 room = search->room * 2 > wanted ? search->room * 2 : wanted;
        if (room > INDEX || room > UINT32_MAX)
            return 0;
        u64 *state = realloc(search->state, room * W * sizeof(u64));
        if (!state)
            return 0;
        search->state = state;
        u32 *parent = realloc(search->parent, room * sizeof(u32));
        if (!parent)
            return 0;
        search->parent = parent;
        search->room = room;
    }
    u64 slots = search->slots;
    while (wanted * 3 > slots * 2)
        slots *= 2;
    return slots == search->slots || NAME(rehash)(search, slots);
}

/* The successors of a state are added to the buffer, which has `count` already; how many it has then, or a negative
   answer that says what is missing. */
static inline i64 NAME(expand)(Search *search, u64 number, u64 count)
{
    u64 state[ROOM];
    memcpy(state, search->state + number * W, sizeof(u64) * W);
    u32 set = NAME(look_up)(&search->presence, state);
    if (!set)
        return ASK_SET;
    const Set *present = search->set + (set - 1);
    for (u32 i = 0; i < present->units; i++) {
        u32 unit = search->member[present->first + i];
        u32 at = NAME(look_up)(&search->unit[unit].points, state);
        u32 found = at ? NAME(look_up)(search->table + (at - 1), state) : 0;
        if (!found)
            return ASK_UNIT - (i64)unit;
        const Entry *entry = search->entry + (found - 1);
        if (count + entry->count > BUFFER)
            return ASK_TOO_MANY;
        const u64 *change = search->change + (u64)entry->first * W;
        for (u32 k = 0; k < entry->count; k++, count++) {
            u64 *after = search->buffer + count * W;
            for (u32 w = 0; w < W; w++)
                after[w] = state[w] ^ *change++;
            search->origin[count] = (u32)number;
        }
    }
    return (i64)count;
}

/* Stores what is in the buffer. All of it is hashed first, so that memory is fetched while there is other work. */
static int NAME(store)(Search *search, u64 count)
{
    if (!NAME(make_room)(search, count))
        return 0;
    u64 *hash = search->hashes, mask = search->slots - 1;
    for (u64 i = 0; i < count; i++) {
        hash[i] = NAME(hash)(search, search->buffer + i * W);
        PREFETCH(search->slot + (hash[i] & mask));
    }
    if (!INLINE)
        for (u64 i = 0; i < count; i++) {
            u64 slot = search->slot[hash[i] & mask];
            if (slot)
                PREFETCH(search->state + ((slot & INDEX) - 1) * W);
        }
    for (u64 i = 0; i < count; i++)
        NAME(insert)(search, search->buffer + i * W, hash[i], search->origin[i]);
    search->transitions += count;
    return 1;
}

/* Goes on until something must be asked: the answer says what, and `search->expanded` which state it is about. */
static i64 NAME(run)(Search *search, u64 most)
{
    u64 stop = search->expanded + most;
    while (search->expanded < search->states && search->expanded < stop) {
        u64 count = 0;
        i64 asked = ASK_DONE;
        while (count < BATCH && search->expanded < search->states) {
            i64 grown = NAME(expand)(search, search->expanded, count);
            if (grown < 0 || (u64)grown == count) {
                asked = grown < 0 ? grown : ASK_END;
                break;
            }
            count = (u64)grown;
            search->expanded++;
        }
        if (!NAME(store)(search, count))
            return ASK_MEMORY;
        if (asked != ASK_DONE)
            return asked;
    }
    return search->expanded < search->states ? ASK_TIME : ASK_DONE;
}

#undef INLINE
#undef W
#undef ROOM
#undef NAME
#undef GLUE
#undef GLUE_
#undef WORDS
