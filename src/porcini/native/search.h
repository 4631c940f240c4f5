/* One search: its states, its workers, and the memory that they are in. */

#if defined(__TINYC__) || defined(__STDC_NO_ATOMICS__) || defined(PORCINI_NO_THREADS)
#define THREADS 0
#else
#define THREADS 1
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define BLOCK 128   /* successors that are stored at once */
#define MESSAGE 512 /* successors that are sent to another worker at once */
#define AHEAD 32    /* so many successors before it is stored, the line of one is fetched */
#define RECENT (1 << 14) /* successors, of those that were made lately */
#define CHUNK_OF_STATES 512
#define THERE (1ull << 63)
#define SMALL_TABLE (1 << 17) /* lines: up to here, a table that grows is doubled */
#define GIVE_BACK (1 << 15)   /* lines, in steps of which the memory of an old table is given back */
#define HUGE_BYTES (8u << 20)
#define MOST_WORKERS 256
#if defined(__GNUC__) && !defined(__TINYC__)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define PREFETCH(p) ((void)(p))
#endif

typedef struct { /* States in the order in which they were found, each with the number of the one before it. */
    u64 *state, states, room, expanded;
    u32 *parent;
    u64 *line, lines; /* the hash table */
} Store;

typedef struct { /* A state of which some successors were left out: are those in the block new, or not yet done? */
    u32 state, begin, end, ahead;
} Reduction;

typedef struct Block { /* Successors for one owner. */
    struct Block *next;
    u32 count, room, reduced;
    u64 *state, *hash;
    u32 *parent;
    Reduction *reduction;
} Block;

typedef struct {
    u32 number;
    Moves moves;
    Store store;
    u64 *recent; /* by their hashes, successors that were made lately */
    u64 transitions;
    Block *out[MOST_WORKERS], *spare; /* blocks that were received, and are used again */
    u32 *aside; /* states about which something must be asked */
    u32 asides;
    u64 aside_room;
    struct Search *search;
#if THREADS
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Block *inbox;
    int done;
#endif
} Worker;

typedef struct Search {
    u32 words, bits, workers;
    int spare;   /* has a state at most two words, and leaves its highest bit alone? */
    int reduces; /* are stubborn sets enough? */
    int avoids_ignoring;
    int numbered; /* must the number of a state be found by its hash? */
    Product *product;      /* of a search for runs that a claim accepts */
    struct Bits *bitstate; /* of a search that keeps bits instead of states */
    u64 hash_mask, most_bytes;
    Rules rules;
    Worker *worker;
    u32 at_worker, settled; /* of several workers: which of the states put aside is at hand */
    int settling;
#if THREADS
    atomic_int busy, failed, stop;
    struct timespec until;
    pthread_mutex_t gate;
    pthread_cond_t opens;
    int open; /* 1: go on; -1: go home */
#endif
} Search;

/* Memory */

static u64 *zeroed(u64 words)
{
#if defined(__linux__)
    u64 *made = mmap(0, words * sizeof(u64), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return 0;
#ifdef MADV_HUGEPAGE
    if (words * sizeof(u64) >= HUGE_BYTES)
        madvise(made, words * sizeof(u64), MADV_HUGEPAGE);
#endif
    return made;
#else
    return calloc(words, sizeof(u64));
#endif
}

static void free_zeroed(u64 *array, u64 words)
{
#if defined(__linux__)
    if (array)
        munmap(array, words * sizeof(u64));
#else
    (void)words;
    free(array);
#endif
}

/* These words are not looked at any more. */
static void give_back(u64 *array, u64 words)
{
#if defined(__linux__)
    madvise(array, words * sizeof(u64), MADV_DONTNEED); /* GIVE_BACK lines are whole pages */
#else
    (void)array, (void)words;
#endif
}

static inline u64 home(const Store *store, u64 hash) { return (hash >> 32) * store->lines >> 32; }

static void free_block(Block *block)
{
    if (!block)
        return;
    free(block->state);
    free(block->hash);
    free(block->parent);
    free(block->reduction);
    free(block);
}

static int widen_block(Block *block, u32 words, u64 more)
{
    u64 room = block->count + more;
    if (room <= block->room)
        return 1;
    if (room > UINT32_MAX / 2)
        return 0;
    room = room < 2 * BLOCK ? 2 * BLOCK : room;
    u64 *state = realloc(block->state, room * words * sizeof(u64));
    if (state)
        block->state = state;
    u64 *hash = realloc(block->hash, room * sizeof(u64));
    if (hash)
        block->hash = hash;
    u32 *parent = realloc(block->parent, room * sizeof(u32));
    if (parent)
        block->parent = parent;
    Reduction *reduction = realloc(block->reduction, (room + 1) * sizeof(Reduction));
    if (reduction)
        block->reduction = reduction;
    if (!state || !hash || !parent || !reduction)
        return 0;
    block->room = (u32)room;
    return 1;
}

static void free_blocks(Block **list)
{
    while (*list) {
        Block *block = *list;
        *list = block->next;
        free_block(block);
    }
}

static Block *new_block(u32 words)
{
    Block *block = calloc(1, sizeof(Block));
    if (block && widen_block(block, words, MESSAGE))
        return block;
    free_block(block);
    return 0;
}
