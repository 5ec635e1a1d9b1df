// SPDX-License-Identifier: GPL-3.0-or-later
// progress.c - what a run is doing, on standard error: rate, time left, cost, running score.
#include <unistd.h>

#include "cli/run.h"

enum { BAR_WIDTH = 24, LINE_EVERY_US = 10000000 };

static void format_left(char out[16], double seconds)
{
    int64_t s = (int64_t)seconds;
    if (s >= 3600)
        snprintf(out, 16, "%dh%02dm", (int)(s / 3600) % 10000, (int)(s / 60) % 60);
    else
        snprintf(out, 16, "%dm%02ds", (int)(s / 60), (int)(s % 60));
}

static void print_line(const struct run *r, const struct pump_stats *stats, const char *left)
{
    const struct lab_progress *p = &r->lab.progress;
    double score = p->n_scored ? 100 * p->score_sum / (double)p->n_scored : 0;
    fprintf(stderr, "%s %zu/%zu  left %s  score %.1f %%  in flight %lld  retries %lld  %s%.4f US$",
            r->phase, p->n_done, p->n_jobs, left, score, (long long)stats->n_in_flight,
            (long long)stats->n_retries, r->task_model.simulated ? "simulated " : "",
            (double)stats->spent_nusd / 1e9);
}

static void print_bar(const struct run *r)
{
    const struct lab_progress *p = &r->lab.progress;
    size_t full = p->n_jobs ? BAR_WIDTH * p->n_done / p->n_jobs : 0;
    char bar[BAR_WIDTH + 1];
    for (size_t i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '=' : i == full ? '>' : ' ';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] ", bar);
}

void progress_show(void *run, const struct pump_stats *stats)
{
    struct run *r = run;
    const struct lab_progress *p = &r->lab.progress;
    bool terminal = isatty(STDERR_FILENO);
    int64_t now = clock_mono_us();
    // Batches of one job (bootstrapping) have no bar of their own.
    if (!terminal && now - r->reported_us < LINE_EVERY_US)
        return;
    r->reported_us = now;
    double elapsed = (double)(now - r->started_us) / 1e6;
    char left[16] = "?";
    if (p->n_done > 0)
        format_left(left, elapsed * (double)(p->n_jobs - p->n_done) / (double)p->n_done);
    if (terminal)
        print_bar(r);
    print_line(r, stats, left);
    if (!terminal)
        fputc('\n', stderr);
}

void progress_clear(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}
