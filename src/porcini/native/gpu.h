/* A search in breadth on a GPU, for states of WORDS words: the kernels. Compiled by NVRTC; or by a C compiler with
   EMULATED, where threads of the processor stand for those of the grid.

   As in moves.h, what can be done in a state is looked up in tables that somebody else fills: nothing here knows a
   program. A state for which something is missing is put on a list, and expanded again later. States are compared bit
   by bit. They stand in `queue`, in the order in which they were found; a hash table holds them again.

   Where there is no room for both, the queue is a ring, for two levels, and each state in the hash table has a tag: the
   level in which it was found, in bits of its last word that no state uses (`gpu.py` has the arguments). */

#ifdef EMULATED
#include <stdatomic.h>
#include <stdint.h>
typedef uint64_t u64;
typedef uint32_t u32;
#define DEVICE static inline
#define KERNEL
static _Thread_local u64 emulated_thread, emulated_threads;
#define THREAD emulated_thread
#define ALL_THREADS emulated_threads
#define LANE 0
#define ANY(some) (some)
#define MEET() ((void)0)
static u64 swap_if(u64 *place, u64 expected, u64 wanted)
{
    atomic_compare_exchange_strong((_Atomic u64 *)place, &expected, wanted);
    return expected;
}
static u64 add(u64 *place, u64 more) { return atomic_fetch_add((_Atomic u64 *)place, more); }
static u64 next_place(u64 *counter) { return add(counter, 1); }
static u64 load(const u64 *place) { return atomic_load((const _Atomic u64 *)place); }
static void store(u64 *place, u64 value) { atomic_store_explicit((_Atomic u64 *)place, value, memory_order_relaxed); }
static void publish(u64 *place, u64 value) { atomic_store((_Atomic u64 *)place, value); }
static u64 upper_half(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
#else
typedef unsigned long long u64;
typedef unsigned int u32;
#define DEVICE __device__ __forceinline__ static
#define KERNEL extern "C" __global__
#define THREAD ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define ALL_THREADS ((u64)gridDim.x * blockDim.x)
#define LANE (threadIdx.x & 31)
#define ANY(some) __any_sync(0xFFFFFFFFu, (some))
#define MEET() __syncwarp()
DEVICE u64 swap_if(u64 *place, u64 expected, u64 wanted) { return atomicCAS(place, expected, wanted); }
DEVICE u64 add(u64 *place, u64 more) { return atomicAdd(place, more); }
DEVICE u64 next_place(u64 *counter) /* one atomic operation for all threads of a warp that are here together */
{
    unsigned active = __activemask(), lane = threadIdx.x & 31, leader = __ffs(active) - 1;
    u64 base = 0;
    if (lane == leader)
        base = atomicAdd(counter, (u64)__popc(active));
    return __shfl_sync(active, base, leader) + __popc(active & ((1u << lane) - 1));
}
DEVICE u64 load(const u64 *place) { return *(const volatile u64 *)place; }
DEVICE void store(u64 *place, u64 value) { *(volatile u64 *)place = value; }
DEVICE void publish(u64 *place, u64 value)
{
    __threadfence();
    *(volatile u64 *)place = value;
}
DEVICE u64 upper_half(u64 a, u64 b) { return __umul64hi(a, b); }
#endif

#define THERE (1ull << 63)
#define BUSY (1ull << 62) /* a slot that somebody is about to fill */
#define MOST_PROBES 4096
#define PER_LINE (WORDS == 1 ? 4 : WORDS == 2 ? 2 : 1) /* slots that are fetched from memory together */

enum { FOUND, TRANSITIONS, MISSED, ENDED, FULL }; /* what is counted */

/* A table: first pick, picks, bits, first value, slots if it is no array, first word of its keys, words of a key. */
enum { FIRST_PICK, PICKS, BITS, FIRST_VALUE, SLOTS, FIRST_KEY, KEY_WORDS, TABLE_SIZE };
/* A pick: word, shift, where to, and a mask of neighbouring bits. */
enum { WORD, SHIFT, TO, MASK_LOW, MASK_HIGH, PICK_SIZE };

typedef struct { /* Where the tables are. */
    const u32 *table, *pick, *value, *set, *member, *unit, *entry;
    const u64 *key, *change;
} Rules;

DEVICE u64 picked(const u32 *pick, const u64 *state)
{
    return state[pick[WORD]] >> pick[SHIFT] & (pick[MASK_LOW] | (u64)pick[MASK_HIGH] << 32);
}

DEVICE u64 mix(u64 h)
{
    h = (h ^ h >> 32) * 0x9E3779B97F4A7C15ull;
    return (h ^ h >> 29) * 0xBF58476D1CE4E5B9ull;
}

/* The number for a state; 0 if there is none yet. */
DEVICE u32 look_up(const Rules *rules, u32 number, const u64 *state)
{
    const u32 *table = rules->table + (u64)number * TABLE_SIZE, *pick = rules->pick + table[FIRST_PICK] * PICK_SIZE;
    u32 picks = table[PICKS], words = table[KEY_WORDS];
    if (!table[SLOTS]) {
        u64 key = 0;
        for (u32 i = 0; i < picks; i++, pick += PICK_SIZE)
            key |= picked(pick, state) << pick[TO];
        return rules->value[table[FIRST_VALUE] + key];
    }
    u64 key[WORDS], h = 0;
    for (u32 i = 0; i < WORDS; i++)
        key[i] = 0;
    for (u32 i = 0; i < picks; i++, pick += PICK_SIZE)
        key[pick[TO] >> 6] |= picked(pick, state) << (pick[TO] & 63);
    for (u32 i = 0; i < words; i++)
        h = mix(h ^ key[i]);
    for (u32 at = (u32)(h >> 32) & (table[SLOTS] - 1);; at = (at + 1) & (table[SLOTS] - 1)) {
        u32 value = rules->value[table[FIRST_VALUE] + at];
        if (!value)
            return 0;
        u64 difference = 0;
        for (u32 i = 0; i < words; i++)
            difference |= rules->key[table[FIRST_KEY] + (u64)at * words + i] ^ key[i];
        if (!difference)
            return value;
    }
}

typedef struct { /* Where states are kept. */
    u64 *queue, room, base; /* Number `base` stands first in the queue, which goes round. */
    u64 *slot, slots, hash_mask;
    u64 own; /* the bits of the last word that are a state's own */
} Store;

DEVICE u64 *row(const Store *store, u64 number)
{
    u64 at = number - store->base;
    return store->queue + (at < store->room ? at : at - store->room) * WORDS;
}

/* Is a state new? Then it is in the table from now on. 2: there is no room. */
DEVICE int insert(const Store *table, const u64 *state, u64 tag)
{
    u64 h = 0, last = state[WORDS - 1] | THERE | tag, compared = table->own | THERE;
    for (int w = 0; w < WORDS; w++)
        h = mix(h ^ state[w]);
    h = (h ^ h >> 32) & table->hash_mask;
    u64 first = upper_half(h, table->slots), line = first / PER_LINE * PER_LINE;
    for (int probes = 0; probes < MOST_PROBES; probes += PER_LINE) {
        for (u32 n = 0; n < PER_LINE; n++) {
            u64 *place = table->slot + (line + (first + n) % PER_LINE) * WORDS, there = load(place + WORDS - 1);
            if (!there) {
                there = swap_if(place + WORDS - 1, 0, WORDS == 1 ? last : BUSY);
                if (!there) {
                    if (WORDS > 1) {
                        for (int w = 0; w < WORDS - 1; w++)
                            store(place + w, state[w]);
                        publish(place + WORDS - 1, last);
                    }
                    return 1;
                }
            }
            while (there == BUSY)
                there = load(place + WORDS - 1);
            if (!((there ^ last) & compared)) {
                u64 difference = 0;
                for (int w = 0; w < WORDS - 1; w++)
                    difference |= load(place + w) ^ state[w];
                if (!difference)
                    return 0;
            }
        }
        line = line + PER_LINE == table->slots ? 0 : line + PER_LINE;
    }
    return 2;
}

/* Expands the states number `first` up to `last`; or, if there are some `chosen`, those of these numbers behind
   `first`. The queue has room for numbers below `limit`. */
KERNEL void expand(const u32 *table, const u32 *pick, const u32 *value, const u32 *set, const u32 *member, const u32 *unit,
                   const u32 *entry, const u64 *key, const u64 *change, u64 *queue, u64 room, u64 base, u64 *slot,
                   u64 slots, u64 hash_mask, u64 own, u64 tag, u64 limit, u64 first, u64 last, const u32 *chosen,
                   u64 *count, u32 *missed, u32 *ended, u64 most)
{
    const Rules rules = {table, pick, value, set, member, unit, entry, key, change};
    const Store store = {queue, room, base, slot, slots, hash_mask, own};
    u64 transitions = 0, size = last - first;
    /* The threads of a warp go through this together, each for a state of its own, and meet before each insertion:
       most of the time is spent there, waiting for memory. */
    for (u64 i = THREAD; i - LANE < size; i += ALL_THREADS) {
        u64 number = i < size && chosen ? chosen[i] : i, state[WORDS], after[WORDS], taken = 0;
        u32 begin = 0, units = 0, u = 0, from = 0, many = 0, k = 0;
        int misses = 0;
        if (i < size) {
            const u64 *from_here = row(&store, first + number);
            for (int w = 0; w < WORDS; w++)
                state[w] = from_here[w];
            u32 present = look_up(&rules, 0, state);
            misses = !present;
            begin = present ? set[2 * present - 2] : 0;
            units = present ? set[2 * present - 1] : 0;
        }
        for (;;) {
            while (k == many && u < units) {
                /* What a unit can do is in one table; or where it stands says in which one. */
                const u32 *of = unit + 2 * member[begin + u++];
                u32 at = of[1] ? look_up(&rules, of[0], state) : of[0] + 1;
                u32 found = at ? look_up(&rules, at - 1, state) : 0;
                misses |= !found;
                units = found ? units : 0;
                from = found ? entry[2 * found - 2] : 0;
                many = found ? entry[2 * found - 1] : 0;
                taken += many;
                k = 0;
            }
            int more = k < many;
            if (!ANY(more))
                break;
            if (more) {
                for (int w = 0; w < WORDS; w++)
                    after[w] = state[w] ^ change[(u64)(from + k) * WORDS + w];
                k++;
            }
            int fresh = more ? insert(&store, after, tag) : 0;
            MEET();
            if (fresh == 1) {
                u64 place = next_place(count + FOUND);
                if (place < limit)
                    for (int w = 0; w < WORDS; w++)
                        row(&store, place)[w] = after[w];
                else
                    fresh = 2;
            }
            if (fresh == 2)
                publish(count + FULL, 1);
        }
        if (i < size) {
            if (misses) {
                u64 place = next_place(count + MISSED);
                if (place < most)
                    missed[place] = (u32)number;
            } else {
                transitions += taken;
                if (!taken) {
                    u64 place = next_place(count + ENDED);
                    if (place < most)
                        ended[place] = (u32)number;
                }
            }
        }
    }
    if (transitions)
        add(count + TRANSITIONS, transitions);
}

/* Puts some states into the table, with one tag; counts those that were new. */
KERNEL void fill(const u64 *rows, u64 states, u64 *slot, u64 slots, u64 hash_mask, u64 own, u64 tag, u64 *count)
{
    const Store store = {0, 0, 0, slot, slots, hash_mask, own};
    for (u64 i = THREAD; i < states; i += ALL_THREADS) {
        u64 state[WORDS];
        for (int w = 0; w < WORDS; w++)
            state[w] = rows[i * WORDS + w];
        int fresh = insert(&store, state, tag);
        if (fresh == 1)
            add(count + FOUND, 1);
        if (fresh == 2)
            publish(count + FULL, 1);
    }
}

/* Where among some rows does a state stand? The smallest number of them, of which the last word has this `tag` among
   these bits. */
KERNEL void find(const u64 *rows, u64 first, u64 last, u64 own, u64 tag_bits, u64 tag, const u64 *wanted, u64 *found)
{
    for (u64 i = first + THREAD; i < last; i += ALL_THREADS) {
        u64 word = rows[i * WORDS + WORDS - 1];
        if ((word & tag_bits) != tag)
            continue;
        u64 difference = (word & own) ^ wanted[WORDS - 1];
        for (int w = 0; w < WORDS - 1; w++)
            difference |= rows[i * WORDS + w] ^ wanted[w];
        for (u64 best = load(found); !difference && i < best; best = load(found))
            swap_if(found, best, i);
    }
}

/* The same for a state that leads to a given one. States of which not all is known are put on a list. */
KERNEL void find_before(const u32 *table, const u32 *pick, const u32 *value, const u32 *set, const u32 *member,
                        const u32 *unit, const u32 *entry, const u64 *key, const u64 *change, const u64 *rows, u64 first,
                        u64 last, u64 own, u64 tag_bits, u64 tag, const u64 *wanted, u64 *found, u64 *count,
                        u64 *missed, u64 most)
{
    const Rules rules = {table, pick, value, set, member, unit, entry, key, change};
    for (u64 i = first + THREAD; i < last; i += ALL_THREADS) {
        u64 state[WORDS];
        for (int w = 0; w < WORDS; w++)
            state[w] = rows[i * WORDS + w];
        if ((state[WORDS - 1] & tag_bits) != tag)
            continue;
        state[WORDS - 1] &= own;
        u32 present = look_up(&rules, 0, state);
        u32 begin = present ? set[2 * present - 2] : 0, units = present ? set[2 * present - 1] : 0;
        int misses = !present;
        for (u32 u = 0; u < units; u++) {
            const u32 *of = unit + 2 * member[begin + u];
            u32 at = of[1] ? look_up(&rules, of[0], state) : of[0] + 1;
            u32 there = at ? look_up(&rules, at - 1, state) : 0;
            misses |= !there;
            for (u32 k = 0; there && k < entry[2 * there - 1]; k++) {
                u64 difference = 0;
                for (int w = 0; w < WORDS; w++)
                    difference |= state[w] ^ change[(u64)(entry[2 * there - 2] + k) * WORDS + w] ^ wanted[w];
                for (u64 best = load(found); !difference && i < best; best = load(found))
                    swap_if(found, best, i);
            }
        }
        if (misses) {
            u64 place = next_place(count + MISSED);
            if (place < most)
                missed[place] = i;
        }
    }
}

#ifdef EMULATED
/* Runs a kernel on some threads: `part` calls it. */
#include <pthread.h>
#include <stdlib.h>
typedef struct {
    u64 thread, threads;
    u64 *given;
    int kernel;
} Part;

static void *run_part(void *part_)
{
    const Part *part = part_;
    u64 *a = part->given;
    emulated_thread = part->thread;
    emulated_threads = part->threads;
#define P32(n) ((u32 *)(uintptr_t)a[n])
#define P64(n) ((u64 *)(uintptr_t)a[n])
    if (part->kernel == 0)
        expand(P32(0), P32(1), P32(2), P32(3), P32(4), P32(5), P32(6), P64(7), P64(8), P64(9), a[10], a[11], P64(12), a[13],
               a[14], a[15], a[16], a[17], a[18], a[19], P32(20), P64(21), P32(22), P32(23), a[24]);
    else if (part->kernel == 1)
        fill(P64(0), a[1], P64(2), a[3], a[4], a[5], a[6], P64(7));
    else if (part->kernel == 2)
        find(P64(0), a[1], a[2], a[3], a[4], a[5], P64(6), P64(7));
    else
        find_before(P32(0), P32(1), P32(2), P32(3), P32(4), P32(5), P32(6), P64(7), P64(8), P64(9), a[10], a[11], a[12],
                    a[13], a[14], P64(15), P64(16), P64(17), P64(18), a[19]);
    return 0;
}

int porcini_emulate(int kernel, u64 *given, u32 threads)
{
    pthread_t *thread = calloc(threads, sizeof *thread);
    Part *part = calloc(threads, sizeof *part);
    u32 started = 0;
    if (thread && part)
        for (; started < threads; started++) {
            part[started] = (Part){started, threads, given, kernel};
            if (pthread_create(thread + started, 0, run_part, part + started))
                break;
        }
    for (u32 i = 0; i < started; i++)
        pthread_join(thread[i], 0);
    free(thread);
    free(part);
    return started == threads;
}
#endif
