// SPDX-License-Identifier: GPL-3.0-or-later
// shared.c - anonymous shared memory with a robust mutex, made before fork().
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "pump/shared.h"

void *shared_new(size_t bytes, const char *what, struct err *err)
{
    pthread_mutexattr_t attributes;
    struct shared *s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) {
        err_set(err, ERR_RUN, "no shared memory for %s: %s", what, strerror(errno));
        return NULL;
    }
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&s->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    s->bytes = bytes;
    return s;
}

void shared_free(struct shared *s)
{
    if (s)
        munmap(s, s->bytes);
}

void shared_lock(struct shared *s)
{
    if (pthread_mutex_lock(&s->mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&s->mutex);
}

void shared_unlock(struct shared *s)
{
    pthread_mutex_unlock(&s->mutex);
}
