// SPDX-License-Identifier: GPL-3.0-or-later
// ring.c - one thread that works ahead: it fills slots in order, the caller empties them in order.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "input/input.h"
#include "base/base.h"

struct ring {
    struct ring_work work;
    size_t n_filled, n_freed; // slots [n_freed, n_filled) are full, the first is with the owner
    bool holding, ended, stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t moved; // one of the five above has changed
};

// Waits for a free slot; false when the caller wants no more.
static bool free_slot(struct ring *r, size_t *slot)
{
    pthread_mutex_lock(&r->lock);
    while (!r->stop && r->n_filled - r->n_freed == r->work.slots)
        pthread_cond_wait(&r->moved, &r->lock);
    bool wanted = !r->stop;
    *slot = r->n_filled % r->work.slots;
    pthread_mutex_unlock(&r->lock);
    return wanted;
}

static void *work(void *argument)
{
    struct ring *r = argument;
    size_t slot;
    bool more = true;
    while (more && free_slot(r, &slot)) {
        more = r->work.fill(r->work.context, slot);
        pthread_mutex_lock(&r->lock);
        r->n_filled += more;
        r->ended = !more;
        pthread_cond_signal(&r->moved);
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

// The thread takes no signals: they belong to the program's main loop.
bool ring_start(struct ring_work what, struct ring **out, struct err *err)
{
    struct ring *r = mem_must(calloc(1, sizeof *r));
    r->work = what;
    r->n_filled = what.n_filled;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->moved, NULL);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failure = pthread_create(&r->thread, NULL, work, r);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failure) {
        free(r);
        return err_set(err, ERR_RUN, "no thread to read with: %s", strerror(failure));
    }
    *out = r;
    return true;
}

bool ring_take(struct ring *r, size_t *slot)
{
    pthread_mutex_lock(&r->lock);
    r->n_freed += r->holding;
    pthread_cond_signal(&r->moved);
    while (r->n_filled == r->n_freed && !r->ended)
        pthread_cond_wait(&r->moved, &r->lock);
    r->holding = r->n_filled > r->n_freed;
    *slot = r->n_freed % r->work.slots;
    pthread_mutex_unlock(&r->lock);
    return r->holding;
}

void ring_stop(struct ring *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_signal(&r->moved);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->moved);
    free(r);
}
