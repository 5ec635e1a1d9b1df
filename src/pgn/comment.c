// SPDX-License-Identifier: GPL-3.0-or-later
// comment.c - what programs write into comments: clocks and evaluations.
#include "pgn/pgn.h"

enum { HOURS_MAX = 9999, PAWNS_MAX = 10000, MATE_MAX = 10000 };

str pgn_command(str comment, str name)
{
    for (;;) {
        ptrdiff_t at = str_find(comment, S("[%"));
        if (at < 0)
            return (str){ 0 };
        comment = str_sub(comment, (size_t)at + 2, comment.len);
        str rest = comment, inside = str_cut(&rest, ']');
        if (inside.len == comment.len)
            return (str){ 0 }; // not closed
        if (str_starts(inside, name) && inside.len > name.len && inside.data[name.len] == ' ')
            return str_trim(str_sub(inside, name.len, inside.len));
    }
}

bool pgn_clock(str comment, str name, int64_t *ms)
{
    str value = pgn_command(comment, name);
    int64_t total = 0, part = 0;
    double seconds = 0;
    if (value.len == 0)
        return false;
    while (str_find_char(value, ':') >= 0) {
        if (!str_to_int(str_cut(&value, ':'), 0, HOURS_MAX, &part) || total > HOURS_MAX * 60)
            return false;
        total = 60 * (total + part);
    }
    if (!str_to_double(value, &seconds) || seconds < 0 || seconds > HOURS_MAX * 3600.0)
        return false;
    *ms = 1000 * total + (int64_t)(1000 * seconds + 0.5);
    return true;
}

bool pgn_eval(str comment, struct pgn_eval *out)
{
    str rest = pgn_command(comment, S("eval"));
    str value = str_trim(str_cut(&rest, ','));
    int64_t mate = 0;
    double pawns = 0;
    *out = (struct pgn_eval){ 0 };
    if (str_starts(value, S("#"))) {
        value = str_sub(value, 1, value.len);
        if (str_starts(value, S("+")))
            value = str_sub(value, 1, value.len);
        out->is_mate = str_to_int(value, -MATE_MAX, MATE_MAX, &mate);
        out->mate = (int)mate;
        return out->is_mate;
    }
    if (str_starts(value, S("+")))
        value = str_sub(value, 1, value.len);
    if (!str_to_double(value, &pawns) || pawns > PAWNS_MAX || pawns < -PAWNS_MAX)
        return false;
    out->cp = (int)(100 * pawns + (pawns < 0 ? -0.5 : 0.5)); // to the nearest
    return true;
}
