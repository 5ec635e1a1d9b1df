// SPDX-License-Identifier: GPL-3.0-or-later
// breakdown.c - accuracy by rating, theme, puzzle length and move index, of one run or of one
// before and one after.
#include <stdlib.h>

#include "report/report.h"

enum { RATING_BIN = 200 };

struct share {          // of one group of positions
    int64_t k[2], n[2]; // before, after
};

static void count(struct map *groups, str name, size_t side, bool correct)
{
    struct map_entry *e = map_put(groups, name, NULL);
    if (!e->pointer)
        e->pointer = NEW(groups->arena, struct share);
    struct share *s = e->pointer;
    s->n[side]++;
    s->k[side] += correct;
}

// The groups of a position along one axis; a position has several themes.
static void count_position(struct map *groups, enum report_axis axis,
                           const struct report_position *p, size_t side)
{
    struct arena *a = groups->arena;
    str rest = p->themes;
    int low = p->rating / RATING_BIN * RATING_BIN;
    switch (axis) {
    case REPORT_BY_RATING:
        count(groups,
              p->rating < 0 ? S("unrated") : arena_printf(a, "%4d-%d", low, low + RATING_BIN - 1),
              side, p->correct);
        break;
    case REPORT_BY_LENGTH:
        count(groups, arena_printf(a, "%2d moves", p->length), side, p->correct);
        break;
    case REPORT_BY_MOVE_INDEX:
        count(groups, arena_printf(a, "%2d", p->index + 1), side, p->correct);
        break;
    case REPORT_BY_THEME:
        while (rest.len > 0)
            count(groups, str_cut(&rest, ' '), side, p->correct);
        break;
    }
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct map_entry *)a)->key, ((const struct map_entry *)b)->key);
}

static str rate_text(int64_t k, int64_t n, struct arena *a)
{
    struct interval i = stats_wilson(k, n);
    return n == 0 ? S("-")
                  : arena_printf(a, "%.1f [%.1f, %.1f]", 100 * (double)k / (double)n, 100 * i.low,
                                 100 * i.high);
}

static void add_row(const char *axis, const struct map_entry *e, bool both, struct arena *a,
                    struct report_grid *out)
{
    const struct share *s = e->pointer;
    report_grid_add(out, str_from(axis), a);
    report_grid_add(out, str_trim(e->key), a);
    report_grid_add(out, arena_printf(a, "%lld", (long long)s->n[both ? 1 : 0]), a);
    report_grid_add(out, rate_text(s->k[0], s->n[0], a), a);
    if (!both)
        return;
    report_grid_add(out, rate_text(s->k[1], s->n[1], a), a);
    report_grid_add(out,
                    s->n[0] && s->n[1] ? arena_printf(a, "%+.1f",
                                                      100 * ((double)s->k[1] / (double)s->n[1] -
                                                             (double)s->k[0] / (double)s->n[0]))
                                       : S("-"),
                    a);
}

void report_breakdown(const struct report_positions *before, const struct report_positions *after,
                      struct arena *a, struct report_grid *out)
{
    static const char *const axes[] = { [REPORT_BY_RATING] = "rating",
                                        [REPORT_BY_LENGTH] = "puzzle length",
                                        [REPORT_BY_MOVE_INDEX] = "move of the puzzle",
                                        [REPORT_BY_THEME] = "theme" };
    static const char *const headings[] = { "by",      "group",   "positions",
                                            "right %", "after %", "difference" };
    *out = (struct report_grid){ .n_columns = after ? 6 : 4 };
    for (size_t i = 0; i < out->n_columns; i++)
        report_grid_add(out, i == 3 && after ? S("before %") : str_from(headings[i]), a);
    for (size_t axis = 0; axis < ARRAY_LEN(axes); axis++) {
        struct map groups = { .arena = a };
        for (size_t i = 0; i < before->n; i++)
            count_position(&groups, (enum report_axis)axis, &before->v[i], 0);
        for (size_t i = 0; after && i < after->n; i++)
            count_position(&groups, (enum report_axis)axis, &after->v[i], 1);
        if (groups.n > 0)
            qsort(groups.v, groups.n, sizeof *groups.v, by_name);
        for (size_t i = 0; i < groups.n; i++)
            add_row(axes[axis], &groups.v[i], after != NULL, a, out);
    }
    out->note = S("positions, with 95 % Wilson intervals");
}
