// SPDX-License-Identifier: GPL-3.0-or-later
// score.c - limits, and the order and size of scores.
#include <math.h>

#include "engine/engine.h"

// Depth as engines cap it; nodes and time far beyond any use.
static const struct {
    str name;
    int64_t max;
} limits[] = {
    [ENGINE_BY_DEPTH] = { T("depth"), 245 },
    [ENGINE_BY_NODES] = { T("nodes"), 1000000000000 },
    [ENGINE_BY_TIME] = { T("movetime"), 86400000 },
};

bool engine_limit_parse(str text, struct engine_limit *out, struct err *err)
{
    str value = text;
    str name = str_trim(str_cut(&value, '='));
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (str_eq(name, limits[i].name) &&
            str_to_int(str_trim(value), 1, limits[i].max, &out->n)) {
            out->by = (enum engine_limit_by)i;
            return true;
        }
    return err_set(err, ERR_USAGE,
                   "a limit is depth=N (1 to %lld), nodes=N or movetime=MS, got \"%s\"",
                   (long long)limits[ENGINE_BY_DEPTH].max, str_show(text, 40).text);
}

str engine_limit_format(struct engine_limit limit, struct arena *a)
{
    return arena_printf(a, "%.*s=%lld", STR(limits[limit.by].name), (long long)limit.n);
}

// A number in the order of scores: mates beyond all centipawns, near ones furthest out.
static int64_t rank(struct engine_score s)
{
    enum { BEYOND = 1 << 30 };
    const int64_t top = 4 * (int64_t)BEYOND;
    if (!s.mate)
        return s.value;
    return s.value > 0 ? top - s.value : -top - s.value;
}

int engine_score_cmp(struct engine_score a, struct engine_score b)
{
    return (rank(a) > rank(b)) - (rank(a) < rank(b));
}

int64_t engine_score_cp(struct engine_score s)
{
    if (s.mate)
        return s.value > 0 ? ENGINE_MATE_CP : -ENGINE_MATE_CP;
    if (s.value >= ENGINE_MATE_CP)
        return ENGINE_MATE_CP - 1;
    return s.value <= -ENGINE_MATE_CP ? -ENGINE_MATE_CP + 1 : s.value;
}

double engine_score_win(struct engine_score s)
{
    if (s.mate)
        return s.value > 0;
    return 1 / (1 + exp(-0.00368208 * s.value)); // lila, WinPercent
}
