// SPDX-License-Identifier: GPL-3.0-or-later
// progress.c - what a run is doing, on standard error: a bar on a terminal, else a line every ten
// seconds.
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/run.h"

enum { BAR_WIDTH = 20, LINE_EVERY_US = 10000000, WIDTH_DEFAULT = 80, WIDTH_MAX = 200 };

static void format_left(char out[16], double seconds)
{
    int64_t s = (int64_t)seconds;
    if (s >= 3600)
        snprintf(out, 16, "%dh%02dm", (int)(s / 3600) % 10000, (int)(s / 60) % 60);
    else
        snprintf(out, 16, "%dm%02ds", (int)(s / 60), (int)(s % 60));
}

static void add_bar(const struct lab_progress *p, struct buf *out)
{
    size_t full = p->n_jobs ? BAR_WIDTH * p->n_done / p->n_jobs : 0;
    buf_add_char(out, '[');
    for (size_t i = 0; i < BAR_WIDTH; i++)
        buf_add_char(out, i < full ? '=' : i == full ? '>' : ' ');
    buf_add(out, S("] "));
}

// The most useful first: a narrow terminal cuts the end.
static void add_state(const struct run *r, const struct pump_stats *stats, struct buf *out)
{
    const struct lab_progress *p = &r->lab.progress;
    double elapsed_s = (double)(clock_mono_us() - r->started_us) / 1e6;
    char left[16] = "?";
    if (p->n_done > 0)
        format_left(left, elapsed_s * (double)(p->n_jobs - p->n_done) / (double)p->n_done);
    buf_addf(out, "%s %zu/%zu, %s left", r->phase, p->n_done, p->n_jobs, left);
    if (p->n_scored > 0 && !r->no_rate)
        buf_addf(out, ", %.1f %% right", 100 * p->score_sum / (double)p->n_scored);
    if (r->task_model.price.known)
        buf_addf(out, ", %.4f US$%s", (double)stats->spent_nusd / 1e9,
                 r->task_model.simulated ? " (simulated)" : "");
    if (elapsed_s > 0)
        buf_addf(out, ", %.1f/s", (double)p->n_done / elapsed_s);
    if (stats->parked_ms > 0)
        buf_addf(out, ", endpoint left alone for %lld s", (long long)(stats->parked_ms / 1000 + 1));
    if (stats->n_retries > 0)
        buf_addf(out, ", %lld retries", (long long)stats->n_retries);
}

static size_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH_DEFAULT;
    return size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
}

void progress_show(void *run, const struct pump_stats *stats)
{
    struct run *r = run;
    bool terminal = isatty(STDERR_FILENO);
    int64_t now = clock_mono_us();
    if (!terminal && now - r->reported_us < LINE_EVERY_US)
        return;
    r->reported_us = now;
    struct arena scratch = { 0 };
    struct buf line = { .arena = &scratch };
    if (terminal)
        add_bar(&r->lab.progress, &line);
    add_state(r, stats, &line);
    str text = buf_str(&line);
    if (terminal)
        fprintf(stderr, "\r\033[K%.*s", STR(str_sub(text, 0, terminal_width() - 1)));
    else
        fprintf(stderr, "rookery: %.*s\n", STR(text));
    arena_free(&scratch);
}

void progress_clear(void)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}
