/* Searches states breadth first by tables that somebody else fills.

   A state is a few words. What can be done in it is looked up, unit by unit (a unit is a process, or two that may
   meet): where the unit stands selects a table; the bits that its moves depend on select an entry of the table; an
   entry has a few changes, and each of these, xor the state, is a successor. Whatever is not in a table yet is asked
   for: `porcini_run` returns, whoever knows the program adds what is missing, and `porcini_run` goes on.

   So this file knows no program, and is compiled once. States are compared bit by bit, not only by their hashes. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef int64_t i64;
typedef uint32_t u32;

#define MOST_WORDS 64
#define BUFFER 65536
#define BATCH 256
#define THERE (1ull << 63)
#define DIRECT_BITS 12
#define INDEX ((1ull << 40) - 1)
#if defined(__GNUC__) && !defined(__TINYC__)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define PREFETCH(p) ((void)(p))
#endif

enum { /* What `porcini_run` wants. */
    ASK_DONE = 0,
    ASK_TIME = 1,
    ASK_END = 2, /* what comes after a state that has no successors in the tables */
    ASK_MEMORY = 3,
    ASK_TOO_MANY = -1, /* successors of one state */
    ASK_SET = -2,      /* the units of a state */
    ASK_UNIT = -3      /* what unit n can do in a state, by -3 - n */
};

typedef struct { /* Neighbouring bits of one word of a state, and where they go in a key. */
    u32 word, shift, to_word, to_shift;
    u64 mask;
} Run;

typedef struct { /* From the bits that some runs pick to a number; 0 if there is none yet. */
    Run *run;
    u32 runs, bits, key_words;
    u32 *value;
    u64 *key;
    u64 slots, used;
} Table;

typedef struct {
    u32 first, count;
} Entry;

typedef struct { /* The units of one set of processes, in `member`. */
    u32 first, units;
} Set;

typedef struct { /* Where it stands selects one of the tables. */
    Table points;
} Unit;

typedef struct {
    u32 words;
    u64 *state, states, room, expanded, transitions;
    u32 *parent;
    u64 *slot, slots, hash_mask;
    int spare; /* does a state leave its highest bit alone? */
    Table presence;
    Set *set;
    Unit *unit;
    Table *table;
    Entry *entry;
    u32 *member;
    u64 *change;
    u32 sets, units, tables, entries, members, changes;
    u64 set_room, unit_room, table_room, entry_room, member_room, change_room;
    u64 *buffer, *hashes;
    u32 *origin;
} Search;

/* Tables */

static void free_table(Table *table)
{
    free(table->run);
    free(table->value);
    free(table->key);
    memset(table, 0, sizeof *table);
}

static int make_table(Table *table, const u64 *mask, u32 words)
{
    u32 runs = 0, bits = 0;
    memset(table, 0, sizeof *table);
    table->run = malloc((size_t)words * 64 * sizeof(Run));
    if (!table->run)
        return 0;
    for (u32 w = 0; w < words; w++)
        for (u32 b = 0; b < 64;) {
            if (!(mask[w] >> b & 1)) {
                b++;
                continue;
            }
            Run *run = table->run + runs++;
            *run = (Run){w, b, bits / 64, bits % 64, 0};
            for (; b < 64 && mask[w] >> b & 1 && bits < (run->to_word + 1) * 64; b++, bits++)
                run->mask = run->mask << 1 | 1;
        }
    table->runs = runs;
    table->bits = bits;
    table->key_words = bits ? (bits + 63) / 64 : 1;
    table->slots = bits <= DIRECT_BITS ? 1ull << bits : 1024;
    table->value = calloc(table->slots, sizeof(u32));
    table->key = bits <= DIRECT_BITS ? 0 : malloc(table->slots * table->key_words * sizeof(u64));
    return table->value && (table->key || bits <= DIRECT_BITS);
}

static inline u64 place_of(const Table *table, const u64 *key)
{
    u64 h = key[0] * 0x9E3779B97F4A7C15ull;
    for (u32 i = 1; i < table->key_words; i++)
        h = (h ^ h >> 32 ^ key[i]) * 0x9E3779B97F4A7C15ull;
    return (h ^ h >> 32) & (table->slots - 1);
}

static inline u32 find(const Table *table, const u64 *key)
{
    if (!table->value)
        return 0; /* not made yet */
    if (table->bits <= DIRECT_BITS)
        return table->value[key[0]];
    for (u64 i = place_of(table, key); table->value[i]; i = (i + 1) & (table->slots - 1)) {
        const u64 *there = table->key + i * table->key_words;
        u64 difference = 0;
        for (u32 k = 0; k < table->key_words; k++)
            difference |= there[k] ^ key[k];
        if (!difference)
            return table->value[i];
    }
    return 0;
}

static void put(Table *table, const u64 *key, u32 value)
{
    if (table->bits <= DIRECT_BITS) {
        table->value[key[0]] = value;
        return;
    }
    u64 i = place_of(table, key);
    while (table->value[i])
        i = (i + 1) & (table->slots - 1);
    memcpy(table->key + i * table->key_words, key, table->key_words * sizeof(u64));
    table->value[i] = value;
    table->used++;
}

static int add(Table *table, const u64 *key, u32 value)
{
    if (table->bits > DIRECT_BITS && (table->used + 1) * 2 > table->slots) {
        Table grown = *table;
        grown.slots *= 2;
        grown.used = 0;
        grown.value = calloc(grown.slots, sizeof(u32));
        grown.key = malloc(grown.slots * grown.key_words * sizeof(u64));
        if (!grown.value || !grown.key) {
            free(grown.value);
            free(grown.key);
            return 0;
        }
        for (u64 i = 0; i < table->slots; i++)
            if (table->value[i])
                put(&grown, table->key + i * table->key_words, table->value[i]);
        free(table->value);
        free(table->key);
        *table = grown;
    }
    put(table, key, value);
    return 1;
}

#define WORDS 1
#include "search.h"
#define WORDS 2
#include "search.h"
#define WORDS 3
#include "search.h"
#define WORDS 4
#include "search.h"
#define WORDS 0
#include "search.h"

static int rehash(Search *search)
{
    return search->words == 1 ? rehash_1(search, search->slots) : rehash_0(search, search->slots);
}

/* What is called from outside. Those that return int return 0 where memory is full. */

static void forget_tables(Search *search)
{
    for (u32 i = 0; i < search->tables; i++)
        free_table(search->table + i);
    for (u32 i = 0; i < search->units; i++)
        free_table(&search->unit[i].points);
    free_table(&search->presence);
    search->tables = search->units = search->sets = search->entries = search->members = search->changes = 0;
}

void porcini_free(Search *search)
{
    if (!search)
        return;
    forget_tables(search);
    free(search->set);
    free(search->unit);
    free(search->table);
    free(search->entry);
    free(search->member);
    free(search->change);
    free(search->state);
    free(search->parent);
    free(search->slot);
    free(search->buffer);
    free(search->hashes);
    free(search->origin);
    free(search);
}

/* A search that begins with the state of which all bits are 0. */
Search *porcini_new(u32 words, u32 bits, u64 hash_mask)
{
    Search *search = calloc(1, sizeof(Search));
    if (!search)
        return 0;
    search->words = words;
    search->hash_mask = hash_mask;
    search->spare = bits < 64;
    search->room = 1024;
    search->slots = 4096;
    search->state = calloc(search->room * words, sizeof(u64));
    search->parent = calloc(search->room, sizeof(u32));
    search->slot = calloc(search->slots, sizeof(u64));
    search->buffer = malloc((size_t)BUFFER * words * sizeof(u64));
    search->hashes = malloc((size_t)BUFFER * sizeof(u64));
    search->origin = malloc((size_t)BUFFER * sizeof(u32));
    search->states = 1;
    if (search->state && search->parent && search->slot && search->buffer && search->hashes && search->origin &&
        rehash(search))
        return search;
    porcini_free(search);
    return 0;
}

/* The same search with wider states; tables are forgotten in any case. */
int porcini_widen(Search *search, u32 words, u32 bits)
{
    int spare = bits < 64;
    forget_tables(search);
    if (words == search->words) {
        int same = spare == search->spare;
        search->spare = spare;
        return same || rehash(search);
    }
    u64 *state = calloc(search->room * words, sizeof(u64));
    u64 *buffer = malloc((size_t)BUFFER * words * sizeof(u64));
    if (!state || !buffer) {
        free(state);
        free(buffer);
        return 0;
    }
    for (u64 n = 0; n < search->states; n++)
        memcpy(state + n * words, search->state + n * search->words, search->words * sizeof(u64));
    free(search->state);
    free(search->buffer);
    search->state = state;
    search->buffer = buffer;
    search->words = words;
    search->spare = spare;
    return rehash(search);
}

/* Room for some elements of an array; 0 where memory is full. */
static int reserve(void **array, u64 *room, u64 wanted, size_t size)
{
    if (wanted <= *room)
        return 1;
    u64 larger = *room ? *room : 16;
    while (larger < wanted)
        larger *= 2;
    void *moved = realloc(*array, larger * size);
    if (!moved)
        return 0;
    *array = moved;
    *room = larger;
    return 1;
}

#define RESERVE(array, wanted) reserve((void **)&search->array, &search->array##_room, (wanted), sizeof *search->array)

/* The bits that tell which set of processes a state has. */
int porcini_set_presence(Search *search, const u64 *mask)
{
    free_table(&search->presence);
    return make_table(&search->presence, mask, search->words);
}

/* One more unit: the bits that tell where it stands. */
int porcini_add_unit(Search *search, const u64 *mask)
{
    if (!RESERVE(unit, search->units + 1) || !make_table(&search->unit[search->units].points, mask, search->words))
        return 0;
    search->units++;
    return 1;
}

/* The units of the set of processes that a state has. */
int porcini_add_set(Search *search, const u64 *state, const u32 *units, u32 count)
{
    u64 key[MOST_WORDS];
    if (!RESERVE(set, search->sets + 1) || !RESERVE(member, search->members + count))
        return 0;
    memcpy(search->member + search->members, units, count * sizeof(u32));
    search->set[search->sets++] = (Set){search->members, count};
    search->members += count;
    extract_0(&search->presence, state, key);
    return add(&search->presence, key, search->sets);
}

/* The bits that the moves of a unit depend on, where it stands as in this state. */
int porcini_add_table(Search *search, u32 unit, const u64 *state, const u64 *mask)
{
    u64 key[MOST_WORDS];
    if (!RESERVE(table, search->tables + 1) || !make_table(search->table + search->tables, mask, search->words))
        return 0;
    extract_0(&search->unit[unit].points, state, key);
    return add(&search->unit[unit].points, key, ++search->tables);
}

/* What a unit can do in this state. */
int porcini_add_entry(Search *search, u32 unit, const u64 *state, const u64 *changes, u32 count)
{
    u64 key[MOST_WORDS];
    Table *table = search->table + (look_up_0(&search->unit[unit].points, state) - 1);
    u64 words = (u64)count * search->words, before = (u64)search->changes * search->words;
    if (!RESERVE(entry, search->entries + 1) || !RESERVE(change, before + words))
        return 0;
    if (words)
        memcpy(search->change + before, changes, words * sizeof(u64));
    search->entry[search->entries++] = (Entry){search->changes, count};
    search->changes += count;
    extract_0(table, state, key);
    return add(table, key, search->entries);
}

/* The successors of the state at hand, where the tables have none. */
int porcini_answer_end(Search *search, const u64 *states, u32 count)
{
    if (count > BUFFER)
        return 0;
    if (count)
        memcpy(search->buffer, states, (size_t)count * search->words * sizeof(u64));
    for (u32 i = 0; i < count; i++)
        search->origin[i] = (u32)search->expanded;
    search->expanded++;
    return search->words == 1 ? store_1(search, count) : store_0(search, count);
}

i64 porcini_run(Search *search, u64 most)
{
    switch (search->words) {
    case 1:
        return run_1(search, most);
    case 2:
        return run_2(search, most);
    case 3:
        return run_3(search, most);
    case 4:
        return run_4(search, most);
    default:
        return run_0(search, most);
    }
}

u64 porcini_states(const Search *search) { return search->states; }
u64 porcini_expanded(const Search *search) { return search->expanded; }
u64 porcini_transitions(const Search *search) { return search->transitions; }
u64 porcini_parent(const Search *search, u64 number) { return search->parent[number]; }
const u64 *porcini_state(const Search *search, u64 number) { return search->state + number * search->words; }

/* The number of a state that is there; as many as there are states, if it is not. It goes through all of them. */
u64 porcini_find(const Search *search, const u64 *state)
{
    u64 number = 0;
    while (number < search->states && !equal_0(search, search->state + number * search->words, state))
        number++;
    return number;
}
