// SPDX-License-Identifier: GPL-3.0-or-later
// perft_count.c - perft below each first move, by several threads that may share a hash.
//
// The tree is cut two plies down into thousands of tasks, which the threads take in turn; each adds
// up for itself, so the totals do not depend on who took what.
#include <pthread.h>
#include <stdlib.h>

#include "chess/perft.h"

enum { SPLIT_DEPTH = 4 }; // below it one ply makes enough tasks

struct task {
    struct position at;
    size_t root; // index of the first move
};

struct work {
    struct {
        struct task *v;
        size_t n, cap;
    } tasks;
    int depth; // of each task
    const struct perft_table *table;
    atomic_size_t taken;
};

struct worker {
    pthread_t thread;
    struct work *work;
    uint64_t leaves[MAX_LEGAL_MOVES]; // by first move
};

static void *run_tasks(void *arg)
{
    struct worker *w = (struct worker *)arg;
    struct work *work = w->work;
    perft_walker *walk = perft_best_walker();
    for (size_t i; (i = atomic_fetch_add(&work->taken, 1)) < work->tasks.n;) {
        const struct task *t = &work->tasks.v[i];
        w->leaves[t->root] += work->depth ? walk(&t->at, work->depth, work->table) : 1;
    }
    return NULL;
}

static void add_tasks(struct work *work, const struct position *pos, size_t root, struct arena *a)
{
    struct move_list replies;
    moves_legal(pos, &replies);
    for (size_t i = 0; i < replies.n; i++)
        *vec_push(a, &work->tasks) = (struct task){ position_after(pos, replies.v[i]), root };
}

static void cut(struct work *work, const struct position *pos, int depth,
                const struct move_list *moves, struct arena *a)
{
    bool twice = depth >= SPLIT_DEPTH;
    work->depth = depth - (twice ? 2 : 1);
    for (size_t i = 0; i < moves->n; i++) {
        struct position next = position_after(pos, moves->v[i]);
        if (twice)
            add_tasks(work, &next, i, a);
        else
            *vec_push(a, &work->tasks) = (struct task){ next, i };
    }
}

// Runs all tasks; the calling thread is the first worker.
static bool run_threads(struct worker *workers, int n, struct err *err)
{
    int started = 1;
    while (started < n &&
           pthread_create(&workers[started].thread, NULL, run_tasks, &workers[started]) == 0)
        started++;
    run_tasks(&workers[0]);
    for (int i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    return started == n ||
           err_set(err, ERR_RUN, "only %d of %d threads could be started; ask for fewer", started,
                   n);
}

// The largest power of two of pairs in that many MiB.
static bool table_new(struct perft_table *t, int hash_mb, struct err *err)
{
    uint64_t pairs = ((uint64_t)hash_mb << 20) / (2 * sizeof *t->v);
    while (pairs & (pairs - 1))
        pairs &= pairs - 1;
    t->mask = pairs - 1;
    t->v = calloc(pairs, 2 * sizeof *t->v);
    return t->v || err_set(err, ERR_RUN, "no memory for a hash of %d MB; ask for less", hash_mb);
}

bool perft_count(const struct position *pos, int depth, const struct perft_opts *opts,
                 struct perft_counts *out, struct err *err)
{
    struct arena a = { 0 };
    struct perft_table table = { 0 };
    int n = opts->threads > 1 ? opts->threads : 1;
    if (opts->hash_mb > 0 && !table_new(&table, opts->hash_mb, err))
        return false;
    struct work work = { .table = table.v ? &table : NULL };
    moves_sorted(pos, &out->moves);
    out->total = 0;
    cut(&work, pos, depth, &out->moves, &a);
    struct worker *workers = NEW_ARRAY(&a, struct worker, (size_t)n);
    for (int i = 0; i < n; i++)
        workers[i].work = &work;
    bool ok = run_threads(workers, n, err);
    for (size_t m = 0; m < out->moves.n; m++) {
        out->leaves[m] = 0;
        for (int i = 0; i < n; i++)
            out->leaves[m] += workers[i].leaves[m];
        out->total += out->leaves[m];
    }
    free(table.v);
    arena_free(&a);
    return ok;
}
