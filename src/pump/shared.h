// SPDX-License-Identifier: GPL-3.0-or-later
// shared.h - memory that a process and its children share, behind one lock. A holder that dies
// while it has the lock leaves figures that are each valid, so the next one just goes on: what is
// kept in such memory must be so.
#pragma once
#include <pthread.h>

#include "base/base.h"

struct shared { // the first member of what is shared
    pthread_mutex_t mutex;
    size_t bytes;
};
// `bytes` of zeroed memory that begin with a struct shared. NULL and ERR_RUN: there is none for
// `what`.
void *shared_new(size_t bytes, const char *what, struct err *err);
void shared_free(struct shared *s); // NULL is fine
void shared_lock(struct shared *s);
void shared_unlock(struct shared *s);
