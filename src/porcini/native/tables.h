/* Tables: what can be done in a state, as whoever knows the program has said. Nothing here knows a program.

   Where a unit stands (a process, or two that may meet) selects a table; the bits that its moves depend on select an
   entry of the table; an entry has a few changes, and each of these, xor the state, is a successor. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__BMI2__) && !defined(PORCINI_NO_BMI)
#include <immintrin.h>
#define PICK(word, pick) _pext_u64((word), (pick)->mask)
#define GATHERS 1
#else
#define PICK(word, pick) ((word) >> (pick)->shift & (pick)->mask)
#define GATHERS 0
#endif

typedef uint64_t u64;
typedef int64_t i64;
typedef uint32_t u32;
typedef uint8_t u8;

#if defined(__GNUC__) && !defined(__TINYC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

#define MOST_WORDS 64
#define DIRECT_BITS 14 /* a table of so many bits is an array */
#define NO_TRANSITION UINT32_MAX

static inline u32 ones(u64 word)
{
#if defined(__GNUC__) && !defined(__TINYC__)
    return (u32)__builtin_popcountll(word);
#else
    u32 count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
#endif
}

typedef struct { /* Bits of one word of a state, and where they go in a key. */
    u32 word, shift, to;
    u64 mask;
} Pick;

typedef struct { /* From the bits that are picked to a number; 0 if there is none yet. Few bits are an index of `value`;
                    else a slot has a key and its number, side by side, so that they are fetched together. */
    Pick *pick;
    u32 picks, bits, key_words;
    u32 *value;
    u64 *slot;
    u64 slots, used;
} Table;

typedef struct { /* What one unit can do, or several. After it in memory are its changes; for each of them, which
                    transition it is; and for each of them, who moves. */
    u32 count, fails;
} Entry;

static inline u64 *changes_of(const Entry *entry) { return (u64 *)(entry + 1); }

static inline u32 *transitions_of(const Entry *entry, u32 words)
{
    return (u32 *)(changes_of(entry) + (u64)entry->count * words);
}

static inline u32 *movers_of(const Entry *entry, u32 words) { return transitions_of(entry, words) + entry->count; }

/* The entry, its changes, and two numbers of 32 bits for each of them. */
static inline u64 words_of_entry(u64 count, u32 words) { return 1 + count * words + count; }

typedef struct { /* Memory that is freed all at once, and does not move. */
    u64 *chunk, *all;
    u64 left;
} Arena;

/* Room in an array that grows; 0 where memory is full. */
static int reserve(void *array, u64 *room, u64 wanted, size_t size)
{
    void *moved, **place = array;
    u64 larger = *room ? *room : 16;
    if (wanted <= *room)
        return 1;
    while (larger < wanted)
        larger *= 2;
    moved = realloc(*place, larger * size);
    if (!moved)
        return 0;
    *place = moved;
    *room = larger;
    return 1;
}

#define RESERVE(owner, array, wanted) \
    reserve(&(owner)->array, &(owner)->array##_room, (wanted), sizeof *(owner)->array)

static inline u32 lowest(u64 word)
{
#if defined(__GNUC__) && !defined(__TINYC__)
    return (u32)__builtin_ctzll(word);
#else
    u32 n = 0;
    for (; !(word & 1); word >>= 1)
        n++;
    return n;
#endif
}

#define CHUNK 8192

/* The first word of each chunk leads to the chunk before it. */
static u64 *allot(Arena *arena, u64 words)
{
    if (words > arena->left) {
        u64 size = words > CHUNK ? words : CHUNK;
        u64 *chunk = malloc((size + 1) * sizeof(u64));
        if (!chunk)
            return 0;
        memcpy(chunk, &arena->all, sizeof arena->all);
        arena->all = chunk;
        arena->chunk = chunk + 1;
        arena->left = size;
    }
    arena->left -= words;
    arena->chunk += words;
    return arena->chunk - words;
}

static void free_arena(Arena *arena)
{
    while (arena->all) {
        u64 *before;
        memcpy(&before, arena->all, sizeof before);
        free(arena->all);
        arena->all = before;
    }
    memset(arena, 0, sizeof *arena);
}

static void free_table(Table *table)
{
    free(table->pick);
    free(table->value);
    free(table->slot);
    memset(table, 0, sizeof *table);
}

/* How the bits of a mask are brought close together. Bits of one pick are in one word of the state and of the key;
   where a processor cannot gather bits, they are also neighbours. */
static u32 make_picks(const u64 *mask, u32 words, Pick *pick, u32 *bits)
{
    u32 picks = 0, to = 0;
    for (u32 w = 0; w < words; w++)
        for (u32 b = 0; b < 64;) {
            Pick *made = pick + picks;
            u64 span = 0;
            u32 first = b, many = 0, room = 64 - to % 64;
            if (!(mask[w] >> b & 1)) {
                b++;
                continue;
            }
            for (; b < 64 && many < room && (GATHERS || mask[w] >> b & 1); b++)
                if (mask[w] >> b & 1) {
                    span |= 1ull << b;
                    many++;
                }
            *made = (Pick){w, first, to, GATHERS ? span : span >> first};
            to += many;
            picks++;
        }
    *bits = to;
    return picks;
}

static int make_table(Table *table, const u64 *mask, u32 words)
{
    memset(table, 0, sizeof *table);
    table->pick = malloc(((size_t)words * 64 + 1) * sizeof(Pick));
    if (!table->pick)
        return 0;
    table->picks = make_picks(mask, words, table->pick, &table->bits);
    table->key_words = table->bits ? (table->bits + 63) / 64 : 1;
    table->slots = table->bits <= DIRECT_BITS ? 1ull << table->bits : 1024;
    if (table->bits <= DIRECT_BITS)
        table->value = calloc(table->slots, sizeof(u32));
    else
        table->slot = calloc(table->slots * (table->key_words + 1ull), sizeof(u64));
    return table->value || table->slot;
}

static inline int is_made(const Table *table) { return table->slots != 0; }

static inline u64 place_of(const Table *table, const u64 *key)
{
    u64 h = key[0] * 0x9E3779B97F4A7C15ull;
    for (u32 i = 1; i < table->key_words; i++)
        h = (h ^ h >> 32 ^ key[i]) * 0x9E3779B97F4A7C15ull;
    return (h ^ h >> 32) & (table->slots - 1);
}

static inline u32 find_long(const Table *table, const u64 *key)
{
    u64 words = table->key_words;
    for (u64 i = place_of(table, key);; i = (i + 1) & (table->slots - 1)) {
        const u64 *there = table->slot + i * (words + 1);
        u64 difference = there[0] ^ key[0];
        for (u32 k = 1; k < words; k++)
            difference |= there[k] ^ key[k];
        if (!difference || !there[words]) /* an empty slot has a 0 for its number */
            return (u32)there[words];
    }
}

/* The bits of a state that a table looks at, close together. */
static inline void gather(const Table *table, const u64 *state, u64 *key)
{
    key[0] = 0;
    for (u32 k = 1; k < table->key_words; k++)
        key[k] = 0;
    for (u32 i = 0; i < table->picks; i++) {
        const Pick *pick = table->pick + i;
        key[pick->to >> 6] |= PICK(state[pick->word], pick) << (pick->to & 63);
    }
}

/* The number for a state; 0 if there is none yet, or no table. */
static inline u32 look_up(const Table *table, const u64 *state)
{
    if (table->bits <= DIRECT_BITS) {
        u64 key = 0;
        if (!is_made(table))
            return 0;
        for (u32 i = 0; i < table->picks; i++)
            key |= PICK(state[table->pick[i].word], table->pick + i) << table->pick[i].to;
        return table->value[key];
    }
    u64 key[MOST_WORDS];
    gather(table, state, key);
    return find_long(table, key);
}

static void put(Table *table, const u64 *key, u32 value)
{
    u64 words = table->key_words;
    if (table->bits <= DIRECT_BITS) {
        table->value[key[0]] = value;
        return;
    }
    u64 i = place_of(table, key);
    while (table->slot[i * (words + 1) + words])
        i = (i + 1) & (table->slots - 1);
    memcpy(table->slot + i * (words + 1), key, words * sizeof(u64));
    table->slot[i * (words + 1) + words] = value;
    table->used++;
}

static int enlarge(Table *table)
{
    u64 words = table->key_words;
    Table grown = *table;
    grown.slots *= 2;
    grown.used = 0;
    grown.slot = calloc(grown.slots * (words + 1), sizeof(u64));
    if (!grown.slot)
        return 0;
    for (u64 i = 0; i < table->slots; i++) {
        const u64 *there = table->slot + i * (words + 1);
        if (there[words])
            put(&grown, there, (u32)there[words]);
    }
    free(table->slot);
    *table = grown;
    return 1;
}

/* From now on there is a number for all states that look like this one. */
static int enter(Table *table, const u64 *state, u32 value)
{
    u64 key[MOST_WORDS];
    gather(table, state, key);
    if (table->bits > DIRECT_BITS && (table->used + 1) * 2 > table->slots && !enlarge(table))
        return 0;
    put(table, key, value);
    return 1;
}

/* The same table by other bits. Either those that are new are 0 in all that was entered; or it is empty again. */
static int key_again(Table *table, const u64 *mask, u32 words, int keep)
{
    Table made;
    int done = make_table(&made, mask, words);
    for (u64 i = 0; done && keep && i < table->slots; i++) {
        const u64 *key = table->slot ? table->slot + i * (table->key_words + 1ull) : &i;
        u32 value = table->slot ? (u32)key[table->key_words] : table->value[i];
        if (value) {
            u64 state[MOST_WORDS] = {0};
            for (u32 k = 0; k < table->picks; k++) {
                const Pick *pick = table->pick + k;
                u64 left = key[pick->to >> 6] >> (pick->to & 63), all = GATHERS ? pick->mask : pick->mask << pick->shift;
                for (; all; all &= all - 1, left >>= 1)
                    if (left & 1)
                        state[pick->word] |= all & (0 - all);
            }
            done = enter(&made, state, value);
        }
    }
    if (!done) {
        free_table(&made);
        return 0;
    }
    free_table(table);
    *table = made;
    return 1;
}
