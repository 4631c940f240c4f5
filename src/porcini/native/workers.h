/* Several workers: what they send to each other. `busy` counts those at work, and the blocks that are under way: if it is
   0, all is done. */

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
