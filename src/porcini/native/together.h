/* Several workers at once, for some time; then what they have put aside is asked for, one state after the other. */

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
            if (BY_WIDTH(distribute)(search, worker, worker->aside[search->settled]) < 0)
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
