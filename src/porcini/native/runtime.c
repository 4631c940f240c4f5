/* Searches states by tables that somebody else fills: whatever is not in a table yet is asked for. `porcini_run`
   returns, whoever knows the program adds what is missing, and `porcini_run` goes on. So nothing here knows a program,
   and it is compiled once.

   tables.h     from some bits of a state to a number
   moves.h      what can be done in a state: units, sets of them, entries
   groups.h     units that are looked up together
   stubborn.h   which of that is enough: stubborn sets
   lines.h      lines of its hash table
   store.h      the states that were found, by hash; for each width of states
   breadth.h    the search in breadth, by one worker or by several; for each width of states
   claim.h      where a claim goes: letters, and the tables for them
   product.h    what a search for a run that the claim accepts keeps
   depth.h      this search, in depth; for each width of states
   search.h     what a search consists of
   workers.h    what several workers send to each other
   together.h   several workers at once
   bits.h       what a bitstate search keeps
   bitstate.h   this search; for each width of states
   telling.h    what fills the tables
   product_calls.h    what fills those of a claim, and what a product is asked
   bitstate_calls.h   what a bitstate search is asked */

#define _GNU_SOURCE
#include "tables.h"

#include "moves.h"

#include "groups.h"

#include "stubborn.h"

#include "claim.h"

#include "product.h"

#include "lines.h"

#include "search.h"

#include "workers.h"

#include "bits.h"

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

/* What is called from outside. Those that return int return 0 where memory is full. */

void porcini_free(Search *search)
{
    if (!search)
        return;
    for (u32 i = 0; search->worker && i < search->workers; i++) {
        Worker *worker = search->worker + i;
        forget_moves(&worker->moves);
        free(worker->recent);
        free(worker->store.state);
        free(worker->store.parent);
        free_zeroed(worker->store.line, worker->store.lines * LINE);
        free(worker->aside);
        for (u32 k = 0; k < search->workers; k++)
            free_block(worker->out[k]);
        free_blocks(&worker->spare);
#if THREADS
        pthread_mutex_destroy(&worker->lock);
        pthread_cond_destroy(&worker->wake);
#endif
    }
#if THREADS
    pthread_mutex_destroy(&search->gate);
    pthread_cond_destroy(&search->opens);
#endif
    free_product(search->product);
    free_bits(search->bitstate);
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
    worker->moves.ordered = search->numbered;
    worker->recent = calloc(RECENT * (u64)search->words, sizeof(u64));
    worker->store.room = 1024;
    worker->store.lines = 1024;
    worker->store.state = malloc(worker->store.room * search->words * sizeof(u64));
    worker->store.parent = malloc(worker->store.room * sizeof(u32));
    worker->store.line = zeroed(worker->store.lines * LINE);
#if THREADS
    pthread_mutex_init(&worker->lock, 0);
    pthread_cond_init(&worker->wake, 0);
#endif
    for (u32 k = 0; k < search->workers; k++)
        if (!(worker->out[k] = new_block(search->words)))
            return 0;
    return worker->recent && worker->store.state && worker->store.parent && worker->store.line;
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

/* A search that begins with the state of which all bits are 0. `numbered`: a state must be found by its number. */
Search *porcini_new(u32 words, u32 bits, u32 workers, u32 reduces, u32 numbered, u64 hash_mask, u64 most_bytes)
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
    search->numbered = reduces || numbered;
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
    u32 before = search->words;
    int other = words != before || search->spare != is_spare(words, bits); /* slots have another form */
    search->spare = is_spare(words, bits);
    search->bits = bits;
    if (words != before && !(restride(&search->rules, words) && widen_product(search->product, before, words) &&
                             widen_bits(search->bitstate, before, words)))
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
            free(worker->recent);
            if (!(worker->recent = calloc(RECENT * (u64)words, sizeof(u64))))
                return 0;
            free_blocks(&worker->spare);
            for (u32 k = 0; k < search->workers; k++) {
                free_block(worker->out[k]);
                if (!(worker->out[k] = new_block(words)))
                    return 0;
            }
        }
        if (other && !BY_WIDTH(number_again)(search, store))
            return 0;
    }
    return 1;
}

u64 porcini_states(const Search *search)
{
    if (search->product)
        return search->product->entered;
    if (search->bitstate)
        return search->bitstate->found;
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
    if (search->product)
        return search->product->at;
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

#include "together.h"

/* Goes on, for so many states or, together, for so many nanoseconds, until something must be asked: the answer says
   what. */
u32 porcini_run(Search *search, u64 most)
{
    if (search->bitstate)
        return BY_WIDTH(run_by_bits)(search, most);
    if (search->product)
        return search->words == 1   ? run_in_depth_1(search, most)
               : search->words == 2 ? run_in_depth_2(search, most)
                                    : run_in_depth_0(search, most);
    return search->workers == 1 ? BY_WIDTH(run_alone)(search, most) : run_together(search, most);
}

#include "telling.h"

#include "product_calls.h"

#include "bitstate_calls.h"
