// SPDX-License-Identifier: GPL-3.0-or-later
// purse.c - one budget for the pumps of several processes, in memory that they share. Each process
// has an account of its own, so that the parent can settle the account of one that was killed.
//
// A robust mutex guards the sums: a holder that dies while it has the lock leaves figures that are
// each valid, so the next one just goes on.
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "pump/pump.h"

struct purse {
    pthread_mutex_t mutex;
    size_t bytes, n;
    int64_t cap_nusd, before_nusd;
    struct account {
        int64_t spent_nusd, reserved_nusd;
    } accounts[];
};

struct purse *purse_new(int64_t cap_nusd, int64_t before_nusd, size_t n, struct err *err)
{
    pthread_mutexattr_t attributes;
    size_t bytes = sizeof(struct purse) + n * sizeof(struct account);
    struct purse *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        err_set(err, ERR_RUN, "no shared memory for a budget: %s", strerror(errno));
        return NULL;
    }
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&p->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    p->bytes = bytes;
    p->n = n;
    p->cap_nusd = cap_nusd;
    p->before_nusd = before_nusd;
    return p;
}

void purse_free(struct purse *p)
{
    if (p)
        munmap(p, p->bytes);
}

static void lock(struct purse *p)
{
    if (pthread_mutex_lock(&p->mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&p->mutex);
}

static struct account total_of(const struct purse *p)
{
    struct account sum = { .spent_nusd = p->before_nusd };
    for (size_t i = 0; i < p->n; i++) {
        sum.spent_nusd += p->accounts[i].spent_nusd;
        sum.reserved_nusd += p->accounts[i].reserved_nusd;
    }
    return sum;
}

enum purse_answer purse_reserve(struct purse *p, size_t holder, int64_t nusd)
{
    enum purse_answer answer = PURSE_GRANTED;
    lock(p);
    struct account sum = total_of(p);
    if (p->cap_nusd > 0 && sum.spent_nusd + sum.reserved_nusd + nusd > p->cap_nusd)
        answer = sum.reserved_nusd > 0 ? PURSE_LATER : PURSE_EMPTY;
    else
        p->accounts[holder].reserved_nusd += nusd;
    pthread_mutex_unlock(&p->mutex);
    return answer;
}

void purse_settle(struct purse *p, size_t holder, int64_t reserved_nusd, int64_t spent_nusd)
{
    lock(p);
    p->accounts[holder].reserved_nusd -= reserved_nusd;
    p->accounts[holder].spent_nusd += spent_nusd;
    pthread_mutex_unlock(&p->mutex);
}

void purse_forfeit(struct purse *p, size_t holder)
{
    lock(p);
    p->accounts[holder].spent_nusd += p->accounts[holder].reserved_nusd;
    p->accounts[holder].reserved_nusd = 0;
    pthread_mutex_unlock(&p->mutex);
}

int64_t purse_spent_nusd(struct purse *p)
{
    lock(p);
    struct account sum = total_of(p);
    pthread_mutex_unlock(&p->mutex);
    return sum.spent_nusd;
}
