// SPDX-License-Identifier: GPL-3.0-or-later
// audit_rows.c - the rows of an observation, varied: a candidate that treats marks alike cannot
// tell the variants apart, and one that prefers checks or captures gives itself away.
#include "harness/harness.h"

static const str head = T("Legal moves:\n");

struct audit_rows audit_rows_read(str observation, struct arena *a)
{
    struct audit_rows rows = { 0 };
    ptrdiff_t at = str_find(observation, head);
    str rest = at < 0 ? S("") : str_sub(observation, (size_t)at + head.len, observation.len);
    while (rest.len > 0) {
        str line = str_cut(&rest, '\n');
        ptrdiff_t close = str_find(line, S("] SAN="));
        if (!str_starts(line, S("- [")) || close < 0)
            continue;
        *vec_push(a, &rows) =
            (struct audit_row){ .uci = str_sub(line, 3, (size_t)close - 3),
                                .san = str_sub(line, (size_t)close + 6, line.len) };
    }
    return rows;
}

static str suffix(str san)
{
    char last = san.len > 0 ? san.data[san.len - 1] : '\0';
    return last == '+' || last == '#' ? str_sub(san, san.len - 1, 1) : S("");
}

static struct audit_row varied(const struct audit_rows *rows, size_t i, enum audit_variant variant,
                               struct arena *a)
{
    struct audit_row r = rows->v[variant == VARIANT_REVERSED ? rows->n - 1 - i : i];
    if (variant == VARIANT_UNMARKED)
        r.san = arena_without(a, r.san, S("+#x"));
    if (variant == VARIANT_ROTATED)
        r.san = arena_printf(a, "%.*s%.*s", STR(arena_without(a, r.san, S("+#"))),
                             STR(suffix(rows->v[(i + 1) % rows->n].san)));
    return r;
}

str audit_vary(str observation, enum audit_variant variant, struct audit_rows *rows,
               struct arena *a)
{
    struct audit_rows plain = audit_rows_read(observation, a);
    ptrdiff_t at = str_find(observation, head);
    struct buf b = { .arena = a };
    *rows = (struct audit_rows){ 0 };
    buf_add(&b, str_sub(observation, 0, at < 0 ? observation.len : (size_t)at + head.len));
    for (size_t i = 0; i < plain.n; i++) {
        struct audit_row r = varied(&plain, i, variant, a);
        *vec_push(a, rows) = r;
        buf_addf(&b, "%s- [%.*s] SAN=%.*s", i == 0 ? "" : "\n", STR(r.uci), STR(r.san));
    }
    return buf_str(&b);
}

// ---- what a parser may conclude ----

// The two squares in order, with nothing but a separator between them; the promotion behind.
static bool has_squares(str text, str uci)
{
    for (size_t i = 0; i + 4 <= text.len; i++) {
        if (!str_starts(str_sub(text, i, 2), str_sub(uci, 0, 2)))
            continue;
        size_t k = i + 2;
        str between = str_sub(text, k, text.len);
        ptrdiff_t to = str_find(between, str_sub(uci, 2, 2));
        if (to < 0 || to > 8)
            continue;
        str gap = str_trim(str_sub(between, 0, (size_t)to));
        static const str gaps[] = { T(""),  T("-"), T("x"), T("to"), T("\u2192"), T("->"),
                                    T("n"), T("b"), T("r"), T("q"),  T("k") };
        bool plain = false;
        for (size_t g = 0; g < ARRAY_LEN(gaps); g++)
            plain |= str_eq(gap, gaps[g]);
        str tail = str_trim_set(str_sub(between, (size_t)to + 2, 4), S("=( "));
        if (plain && (uci.len == 4 || str_starts(tail, str_sub(uci, 4, 1))))
            return true;
    }
    return false;
}

static bool has_castling_word(str lower)
{
    static const str words[] = { T("o-o"), T("0-0"), T("castl") };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_find(lower, words[i]) >= 0)
            return true;
    return false;
}

bool audit_is_derivable(str response, str uci, const struct audit_rows *rows)
{
    struct arena a = { 0 };
    str lower = arena_lower(&a, response);
    bool ok = str_find(lower, uci) >= 0 || has_squares(lower, uci);
    for (size_t i = 0; i < rows->n && !ok; i++) {
        const struct audit_row *r = &rows->v[i];
        if (!str_eq(r->uci, uci))
            continue;
        ok = str_find(response, r->san) >= 0 ||
             str_find(response, arena_without(&a, r->san, S("+#"))) >= 0 ||
             (str_starts(r->san, S("O-O")) && has_castling_word(lower));
    }
    arena_free(&a);
    return ok;
}
