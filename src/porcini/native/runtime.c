/* Searches states by tables that somebody else fills: whatever is not in a table yet is asked for. `porcini_run`
   returns, whoever knows the program adds what is missing, and `porcini_run` goes on. So nothing here knows a program,
   and it is compiled once.

   tables.h     from some bits of a state to a number
   moves.h      what can be done in a state: units, sets of them, entries
   stubborn.h   which of that is enough: stubborn sets
   store.h      the states that were found, by hash; for each width of states
   breadth.h    the search in breadth, by one worker or by several; for each width of states */

#define _GNU_SOURCE
#include "tables.h"

#include "moves.h"
#include "stubborn.h"

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

#define BLOCK 256
#define CHUNK_OF_STATES 512
#define THERE (1ull << 63)
#define SMALL_TABLE (1 << 16)
#define GIVE_BACK (1 << 17) /* slots, in steps of which the memory of an old table is given back */
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
    u64 *slot, slots;
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
    u64 transitions;
    Block *out[MOST_WORKERS];
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

static u64 *zeroed(u64 slots)
{
#if defined(__linux__)
    u64 *made = mmap(0, slots * sizeof(u64), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return 0;
#ifdef MADV_HUGEPAGE
    if (slots * sizeof(u64) >= HUGE_BYTES)
        madvise(made, slots * sizeof(u64), MADV_HUGEPAGE);
#endif
    return made;
#else
    return calloc(slots, sizeof(u64));
#endif
}

static void free_zeroed(u64 *array, u64 slots)
{
#if defined(__linux__)
    if (array)
        munmap(array, slots * sizeof(u64));
#else
    (void)slots;
    free(array);
#endif
}

/* These slots are not looked at any more. */
static void give_back(u64 *array, u64 slots)
{
#if defined(__linux__)
    madvise(array, slots * sizeof(u64), MADV_DONTNEED); /* GIVE_BACK slots are whole pages */
#else
    (void)array, (void)slots;
#endif
}

static inline u64 home(const Store *store, u64 hash) { return (hash >> 32) * store->slots >> 32; }

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

static Block *new_block(u32 words)
{
    Block *block = calloc(1, sizeof(Block));
    if (block && widen_block(block, words, 2 * BLOCK))
        return block;
    free_block(block);
    return 0;
}

/* Several workers. `busy` counts those at work, and the blocks that are under way: if it is 0, all is done. */

#if THREADS
static int search_goes_on(Search *search) { return !atomic_load_explicit(&search->failed, memory_order_relaxed); }

static void give_up(Search *search) { atomic_store(&search->failed, 1); }

static int time_is_up(Search *search, const Worker *worker)
{
    struct timespec now;
    if (!worker->number && !atomic_load_explicit(&search->stop, memory_order_relaxed)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > search->until.tv_sec ||
            (now.tv_sec == search->until.tv_sec && now.tv_nsec >= search->until.tv_nsec))
            atomic_store(&search->stop, 1);
    }
    return atomic_load_explicit(&search->stop, memory_order_relaxed);
}

static void leave(Search *search)
{
    if (atomic_fetch_sub(&search->busy, 1) != 1)
        return;
    for (u32 i = 0; i < search->workers; i++) {
        Worker *worker = search->worker + i;
        pthread_mutex_lock(&worker->lock);
        worker->done = 1;
        pthread_cond_signal(&worker->wake);
        pthread_mutex_unlock(&worker->lock);
    }
}

static void push(Search *search, Worker *to, Block *block)
{
    atomic_fetch_add(&search->busy, 1);
    pthread_mutex_lock(&to->lock);
    block->next = to->inbox;
    to->inbox = block;
    pthread_cond_signal(&to->wake);
    pthread_mutex_unlock(&to->lock);
}

static Block *pull(Search *search, Worker *worker)
{
    (void)search;
    pthread_mutex_lock(&worker->lock);
    Block *block = worker->inbox;
    if (block)
        worker->inbox = block->next;
    pthread_mutex_unlock(&worker->lock);
    return block;
}

/* Waits for a block; is there nothing left to do for anybody? */
static int rest(Search *search, Worker *worker)
{
    leave(search);
    pthread_mutex_lock(&worker->lock);
    while (!worker->inbox && !worker->done)
        pthread_cond_wait(&worker->wake, &worker->lock);
    int done = !worker->inbox;
    if (!done) /* the block is under way, so that this is not 0 meanwhile */
        atomic_fetch_add(&search->busy, 1);
    pthread_mutex_unlock(&worker->lock);
    return done;
}

static int put_aside(Worker *worker, u32 number)
{
    if (!RESERVE(worker, aside, worker->asides + 1))
        return 0;
    worker->aside[worker->asides++] = number;
    return 1;
}
#else
static void push(Search *search, Worker *to, Block *block) { (void)search, (void)to, free_block(block); }
#endif

#define GLUE_(name, words) name##_##words
#define GLUE(name, words) GLUE_(name, words)
#define NAME(name) GLUE(name, WORDS)

#define WORDS 1
#include "width.h"
#define WORDS 2
#include "width.h"
#define WORDS 3
#include "width.h"
#define WORDS 4
#include "width.h"
#define WORDS 0
#include "width.h"

#define BY_WIDTH(call) \
    (search->words == 1   ? GLUE(call, 1) \
     : search->words == 2 ? GLUE(call, 2) \
     : search->words == 3 ? GLUE(call, 3) \
     : search->words == 4 ? GLUE(call, 4) \
                          : GLUE(call, 0))

static int is_spare(u32 words, u32 bits) { return words <= 2 && bits < words * 64; }

static u32 words_of_slot(const Search *search) { return search->spare && !search->reduces ? search->words : 1; }

/* What is called from outside. Those that return int return 0 where memory is full. */

void porcini_free(Search *search)
{
    if (!search)
        return;
    for (u32 i = 0; search->worker && i < search->workers; i++) {
        Worker *worker = search->worker + i;
        forget_moves(&worker->moves);
        free(worker->store.state);
        free(worker->store.parent);
        free_zeroed(worker->store.slot, worker->store.slots * words_of_slot(search));
        free(worker->aside);
        for (u32 k = 0; k < search->workers; k++)
            free_block(worker->out[k]);
#if THREADS
        pthread_mutex_destroy(&worker->lock);
        pthread_cond_destroy(&worker->wake);
#endif
    }
#if THREADS
    pthread_mutex_destroy(&search->gate);
    pthread_cond_destroy(&search->opens);
#endif
    free_rules(&search->rules);
    free(search->worker);
    free(search);
}

static int make_worker(Search *search, u32 number)
{
    Worker *worker = search->worker + number;
    worker->number = number;
    worker->search = search;
    worker->moves.rules = &search->rules;
    worker->store.room = 1024;
    worker->store.slots = 4096;
    worker->store.state = malloc(worker->store.room * search->words * sizeof(u64));
    worker->store.parent = malloc(worker->store.room * sizeof(u32));
    worker->store.slot = zeroed(worker->store.slots * words_of_slot(search));
#if THREADS
    pthread_mutex_init(&worker->lock, 0);
    pthread_cond_init(&worker->wake, 0);
#endif
    for (u32 k = 0; k < search->workers; k++)
        if (!(worker->out[k] = new_block(search->words)))
            return 0;
    return worker->store.state && worker->store.parent && worker->store.slot;
}

/* Puts a state into the store of its owner. */
static int put_state(Search *search, const u64 *state, u32 parent)
{
    u64 hash = BY_WIDTH(hash)(search, state);
    int fresh;
    Store *store = &search->worker[BY_WIDTH(owner)(search, hash)].store;
    if (!BY_WIDTH(make_room)(search, store, 1))
        return 0;
    BY_WIDTH(insert)(search, store, state, hash, parent, &fresh);
    return 1;
}

/* A search that begins with the state of which all bits are 0. */
Search *porcini_new(u32 words, u32 bits, u32 workers, u32 reduces, u64 hash_mask, u64 most_bytes)
{
    u64 start[MOST_WORDS] = {0};
    Search *search = calloc(1, sizeof(Search));
    if (!search)
        return 0;
    search->words = search->rules.words = words;
    search->bits = bits;
    search->workers = THREADS ? workers : 1;
    search->hash_mask = hash_mask;
    search->most_bytes = most_bytes;
    search->reduces = reduces != 0;
    search->avoids_ignoring = reduces > 1;
    search->spare = is_spare(words, bits);
#if THREADS
    pthread_mutex_init(&search->gate, 0);
    pthread_cond_init(&search->opens, 0);
#endif
    search->worker = calloc(search->workers, sizeof(Worker));
    int made = search->worker != 0;
    for (u32 i = 0; made && i < search->workers; i++)
        made = make_worker(search, i);
    if (made && put_state(search, start, 0))
        return search;
    porcini_free(search);
    return 0;
}

/* States have more bits, which are 0 in those that are there. Tables that should look at them must be told so. */
int porcini_widen(Search *search, u32 words, u32 bits)
{
    u32 before = search->words, slot_words = words_of_slot(search);
    int other = words != before || search->spare != is_spare(words, bits); /* slots have another form */
    search->spare = is_spare(words, bits);
    search->bits = bits;
    if (words != before && !restride(&search->rules, words))
        return 0;
    search->words = words;
    for (u32 i = 0; i < search->workers; i++) {
        Worker *worker = search->worker + i;
        Store *store = &worker->store;
        forget_moves(&worker->moves);
        if (words != before) {
            u64 *state = calloc(store->room * words, sizeof(u64));
            if (!state)
                return 0;
            for (u64 n = 0; n < store->states; n++)
                memcpy(state + n * words, store->state + n * before, before * sizeof(u64));
            free(store->state);
            store->state = state;
            for (u32 k = 0; k < search->workers; k++) {
                free_block(worker->out[k]);
                if (!(worker->out[k] = new_block(words)))
                    return 0;
            }
        }
        if (other && !BY_WIDTH(number_again)(search, store, slot_words))
            return 0;
    }
    return 1;
}

/* The bits that tell which set of processes a state has; `keep`: only bits were added that have been 0 so far. */
int porcini_set_presence(Search *search, const u64 *mask, u32 keep)
{
    return key_again(&search->rules.presence, mask, search->words, (int)keep);
}

/* A unit, a table, a guard, a process: the bits that it looks at are others from now on. */
enum { OF_UNIT, OF_TABLE, OF_GUARD, OF_PROCESS };

int porcini_key_again(Search *search, u32 what, u32 set, u32 number, const u64 *mask, u32 keep)
{
    Rules *rules = &search->rules;
    Relations *r = set < rules->sets ? rules->set[set].relations : 0;
    Table *table = what == OF_UNIT    ? &rules->unit[number].points
                   : what == OF_TABLE ? rules->table + number
                   : what == OF_GUARD ? &r->guard[number].truth
                                      : &r->process[number].here;
    return key_again(table, mask, search->words, (int)keep);
}

/* The moves of a unit depend on more bits than was said: what was looked up together must be looked up again. */
void porcini_look_at(Search *search, u32 number, const u64 *mask)
{
    Unit *unit = search->rules.unit + number;
    for (u32 w = 0; w < search->words; w++)
        unit->mask[w] |= mask[w];
    search->rules.set[unit->set].version++;
}

/* One more unit: the bits that tell where it stands. */
int porcini_add_unit(Search *search, const u64 *mask)
{
    Rules *rules = &search->rules;
    if (!RESERVE(rules, unit, rules->units + 1))
        return 0;
    Unit *unit = rules->unit + rules->units;
    memset(unit, 0, sizeof *unit);
    unit->mask = allot(&rules->arena, rules->words);
    if (!unit->mask || !make_table(&unit->points, mask, rules->words))
        return 0;
    memcpy(unit->mask, mask, rules->words * sizeof(u64));
    rules->units++;
    return 1;
}

/* States that look like this one have a set of processes that is known. */
int porcini_is_of_set(Search *search, const u64 *state, u32 set) { return enter(&search->rules.presence, state, set + 1); }

/* The units of the set of processes that a state has. */
int porcini_add_set(Search *search, const u64 *state, const u32 *units, u32 count)
{
    Rules *rules = &search->rules;
    if (!RESERVE(rules, set, rules->sets + 1) || !RESERVE(rules, member, rules->members + count))
        return 0;
    for (u32 i = 0; i < count; i++) {
        rules->member[rules->members + i] = units[i];
        rules->unit[units[i]].set = rules->sets;
    }
    rules->set[rules->sets++] = (Set){rules->members, count, 1, 0};
    rules->members += count;
    return porcini_is_of_set(search, state, rules->sets - 1);
}

/* The bits that the moves of a unit depend on, where it stands as in this state. */
int porcini_add_table(Search *search, u32 unit, const u64 *state, const u64 *mask)
{
    Rules *rules = &search->rules;
    Unit *of = rules->unit + unit;
    if (!RESERVE(rules, table, rules->tables + 1) || !make_table(rules->table + rules->tables, mask, rules->words))
        return 0;
    for (u32 w = 0; w < rules->words; w++)
        if (mask[w] & ~of->mask[w]) {
            of->mask[w] |= mask[w];
            rules->set[of->set].version++;
        }
    return enter(&of->points, state, ++rules->tables);
}

/* What a unit can do in this state. A change that is no transition is a failure. */
int porcini_add_entry(Search *search, u32 unit, const u64 *state, const u64 *changes, const u32 *transitions, u32 mover,
                      u32 count)
{
    Rules *rules = &search->rules;
    Table *table = rules->table + (look_up(&rules->unit[unit].points, state) - 1);
    u64 words = (u64)count * rules->words, numbers = (count + 1) / 2;
    u64 *room = allot(&rules->arena, words + 2 * numbers + 1);
    if (!room || !RESERVE(rules, entry, rules->entries + 1))
        return 0;
    Entry *entry = rules->entry + rules->entries++;
    *entry = (Entry){count, 0, room, (u32 *)(room + words), (u32 *)(room + words + numbers)};
    if (words)
        memcpy(entry->change, changes, words * sizeof(u64));
    for (u32 i = 0; i < count; i++) {
        entry->transition[i] = transitions[i];
        entry->mover[i] = mover;
        entry->fails |= transitions[i] == NO_TRANSITION;
    }
    return enter(table, state, rules->entries);
}

u64 porcini_states(const Search *search)
{
    u64 states = 0;
    for (u32 i = 0; i < search->workers; i++)
        states += search->worker[i].store.states;
    return states;
}

u64 porcini_transitions(const Search *search)
{
    u64 transitions = 0;
    for (u32 i = 0; i < search->workers; i++)
        transitions += search->worker[i].transitions;
    return transitions;
}

/* States have numbers: number n of worker w of k is n * k + w. */
const u64 *porcini_state(const Search *search, u64 number)
{
    return search->worker[number % search->workers].store.state + number / search->workers * search->words;
}

u64 porcini_parent(const Search *search, u64 number)
{
    return search->worker[number % search->workers].store.parent[number / search->workers];
}

u64 porcini_states_of(const Search *search, u32 worker) { return search->worker[worker].store.states; }
u32 porcini_workers(const Search *search) { return search->workers; }

/* The number of a state; UINT64_MAX if it is not there. */
u64 porcini_find(const Search *search, const u64 *state)
{
    u32 owner = BY_WIDTH(owner)(search, BY_WIDTH(hash)(search, state));
    const Store *store = &search->worker[owner].store;
    u64 number = BY_WIDTH(find)(search, store, state);
    return number == store->states ? UINT64_MAX : number * search->workers + owner;
}

u64 porcini_start(const Search *search)
{
    u64 start[MOST_WORDS] = {0};
    return porcini_find(search, start);
}

/* The state about which `porcini_run` asks, and what. */
u64 porcini_at_hand(const Search *search)
{
    const Worker *worker = search->worker + search->at_worker;
    u64 number = search->settling ? worker->aside[search->settled] : worker->store.expanded;
    return number * search->workers + search->at_worker;
}

const Question *porcini_question(const Search *search) { return &search->worker[search->at_worker].moves.question; }

/* The successors of the state at hand, where the tables have none. */
int porcini_answer_end(Search *search, const u64 *states, u32 count)
{
    Worker *worker = search->worker + search->at_worker;
    u32 parent = (u32)porcini_at_hand(search);
    for (u32 i = 0; i < count; i++)
        if (!put_state(search, states + (u64)i * search->words, parent))
            return 0;
    worker->transitions += count;
    if (search->settling)
        search->settled++;
    else
        worker->store.expanded++;
    return 1;
}

#if THREADS
#define NANOSECONDS 1000000000L

static void *start_work(void *given)
{
    Worker *worker = given;
    Search *search = worker->search;
    pthread_mutex_lock(&search->gate);
    while (!search->open)
        pthread_cond_wait(&search->opens, &search->gate);
    int open = search->open;
    pthread_mutex_unlock(&search->gate);
    if (open > 0)
        BY_WIDTH(work)(search, worker);
    return 0;
}

static void open_gate(Search *search, int open)
{
    pthread_mutex_lock(&search->gate);
    search->open = open;
    pthread_cond_broadcast(&search->opens);
    pthread_mutex_unlock(&search->gate);
}

/* All workers at once, for some time; 0 where that cannot be done. */
static int work_together(Search *search, u64 nanoseconds)
{
    u32 started = 1;
    int busy = (int)search->workers;
    for (u32 i = 0; i < search->workers; i++) {
        search->worker[i].done = 0;
        for (Block *block = search->worker[i].inbox; block; block = block->next)
            busy++;
    }
    atomic_store(&search->busy, busy);
    atomic_store(&search->stop, 0);
    clock_gettime(CLOCK_MONOTONIC, &search->until);
    search->until.tv_nsec += (long)(nanoseconds % NANOSECONDS);
    search->until.tv_sec += (time_t)(nanoseconds / NANOSECONDS) + search->until.tv_nsec / NANOSECONDS;
    search->until.tv_nsec %= NANOSECONDS;
    search->open = 0;
    while (started < search->workers &&
           !pthread_create(&search->worker[started].thread, 0, start_work, search->worker + started))
        started++;
    int all = started == search->workers;
    open_gate(search, all ? 1 : -1);
    if (all)
        BY_WIDTH(work)(search, search->worker);
    for (u32 i = 1; i < started; i++)
        pthread_join(search->worker[i].thread, 0);
    return all && !atomic_load(&search->failed);
}

/* The states that were put aside, until something must be asked. */
static u32 settle(Search *search)
{
    for (; search->at_worker < search->workers; search->at_worker++, search->settled = 0) {
        Worker *worker = search->worker + search->at_worker;
        for (; search->settled < worker->asides; search->settled++) {
            if (BY_WIDTH(expand)(search, worker, worker->aside[search->settled]) < 0)
                return worker->moves.question.kind;
            for (u32 owner = 0; owner < search->workers; owner++)
                if (!BY_WIDTH(store_block)(search, search->worker + owner, worker->out[owner]))
                    return ASK_MEMORY;
        }
        worker->asides = 0;
    }
    search->settling = 0;
    search->at_worker = 0;
    return ASK_NOTHING;
}

static u32 run_together(Search *search, u64 nanoseconds)
{
    if (!search->settling) {
        if (!work_together(search, nanoseconds))
            return ASK_MEMORY;
        search->settling = 1;
    }
    u32 asked = settle(search);
    for (u32 i = 0; asked == ASK_NOTHING && i < search->workers; i++)
        if (search->worker[i].inbox || search->worker[i].store.expanded < search->worker[i].store.states)
            asked = ASK_TIME;
    return asked;
}
#else
static u32 run_together(Search *search, u64 nanoseconds) { (void)search, (void)nanoseconds; return ASK_MEMORY; }
#endif

/* Goes on, for so many states or, together, for so many nanoseconds, until something must be asked: the answer says
   what. */
u32 porcini_run(Search *search, u64 most)
{
    return search->workers == 1 ? BY_WIDTH(run_alone)(search, most) : run_together(search, most);
}

/* The relations between the transitions of a set of processes. */

int porcini_add_relations(Search *search, u32 set, u32 transitions, const u32 *stands, const u32 *stand,
                          const u32 *needs, const u32 *need, u32 guards, u32 processes)
{
    Relations *r = calloc(1, sizeof(Relations));
    u64 all_stands = 0, all_needs = 0;
    if (!r)
        return 0;
    for (u32 i = 0; i < transitions; i++) {
        all_stands += stands[i];
        all_needs += needs[i];
    }
    r->words = transitions / 64 + 1;
    r->transition = calloc(transitions + 1, sizeof(Transition));
    r->stand = calloc(all_stands + 1, sizeof(Stand));
    r->needs = calloc(all_needs + 1, sizeof(u32));
    r->guard = calloc(guards + 1, sizeof(Guard));
    r->process = calloc(processes + 1, sizeof(Process));
    free_relations(search->rules.set[set].relations);
    search->rules.set[set].relations = r;
    if (!r->transition || !r->stand || !r->needs || !r->guard || !r->process)
        return 0;
    r->transitions = transitions;
    r->guards = guards;
    r->processes = processes;
    memcpy(r->stand, stand, all_stands * sizeof(Stand));
    memcpy(r->needs, need, all_needs * sizeof(u32));
    for (u32 i = 0, at = 0, on = 0; i < transitions; at += stands[i], on += needs[i], i++)
        r->transition[i] = (Transition){at, stands[i], on, needs[i], UNKNOWN, UNKNOWN, UNKNOWN};
    for (u32 i = 0; i < guards; i++)
        r->guard[i].enablers = UNKNOWN;
    return 1;
}

/* One more set of transitions; its number, plus 1. */
u32 porcini_add_transitions(Search *search, u32 set, const u64 *bits)
{
    Relations *r = search->rules.set[set].relations;
    if (!RESERVE(r, set, (r->sets + 1ull) * r->words))
        return 0;
    memcpy(r->set + (u64)r->sets * r->words, bits, r->words * sizeof(u64));
    return ++r->sets;
}

u32 porcini_words_of_transitions(const Search *search, u32 set) { return search->rules.set[set].relations->words; }

/* A process: the bits that say where it stands, all of its transitions, and those at each of its points. */
int porcini_add_process(Search *search, u32 set, u32 number, const u64 *mask, u32 own, const u32 *at, u32 points)
{
    Process *process = search->rules.set[set].relations->process + number;
    process->own = own;
    process->points = points;
    process->at = malloc((points + 1) * sizeof(u32));
    if (!process->at || !make_table(&process->here, mask, search->words))
        return 0;
    memcpy(process->at, at, points * sizeof(u32));
    return 1;
}

/* The bits that a guard depends on. */
int porcini_add_guard(Search *search, u32 set, u32 number, const u64 *mask)
{
    Guard *guard = search->rules.set[set].relations->guard + number;
    guard->told = 1;
    return make_table(&guard->truth, mask, search->words);
}

static int add_leading(Relations *r, u64 key, u32 value)
{
    u32 at = r->leadings;
    if (!RESERVE(r, leading, r->leadings + 1))
        return 0;
    for (; at && r->leading[at - 1].key > key; at--)
        r->leading[at] = r->leading[at - 1];
    r->leading[at] = (Leading){key, value};
    r->leadings++;
    return 1;
}

/* The answer to a question about the relations of a set of processes; most are numbers of sets of transitions. */
int porcini_answer(Search *search, u32 set, u32 kind, const u32 *about, const u64 *state, u32 value)
{
    Relations *r = search->rules.set[set].relations;
    switch (kind) {
    case ASK_HERE:
        return enter(&r->process[about[0]].here, state, value + 1);
    case ASK_HOLDS:
        return enter(&r->guard[about[0]].truth, state, value + 1);
    case ASK_CONFLICTS:
        r->transition[about[0]].conflicts = value;
        return 1;
    case ASK_LOCAL:
        r->transition[about[0]].local = value;
        return 1;
    case ASK_ENABLERS:
        r->guard[about[0]].enablers = value;
        return 1;
    case ASK_LEADING:
        return add_leading(r, (u64)about[0] << 48 | (u64)about[1] << 24 | about[2], value);
    default: /* what stands for processes that are not there yet */
        r->transition[about[0]].starters = value;
        return 1;
    }
}
