// SPDX-License-Identifier: GPL-3.0-or-later
// load.c - a whole file in memory: filters, duplicate ids, bad rows counted or fatal.
#include "puzzle/internal.h"
#include "base/base.h"

enum {
    BAD_ROWS_LOGGED = 20, // a file that is no puzzle file must not flood the log
    LOADED_MAX = 10000000 // puzzles; twice the public dump
};

static bool has_word(str text, str word)
{
    while (text.len > 0)
        if (str_eq(str_cut(&text, ' '), word))
            return true;
    return false;
}

bool puzzle_matches(const struct puzzle *p, const struct puzzle_filter *filter)
{
    bool bounded = filter->min_rating != 0 || filter->max_rating != 0;
    if (bounded && (!p->has_rating || p->rating < filter->min_rating ||
                    (filter->max_rating != 0 && p->rating > filter->max_rating)))
        return false;
    if (filter->solver_moves != 0 && (size_t)filter->solver_moves != p->n_moves / 2)
        return false;
    return filter->theme.len == 0 || has_word(p->themes, filter->theme);
}

bool puzzle_ids_add(struct puzzle_ids *ids, const struct puzzle *p, struct err *err)
{
    const struct map_entry *first = map_get(&ids->lines, p->id);
    if (first)
        return err_set(err, ERR_INPUT,
                       "%.*s:%zu: %.*s: the id stands at line %lld already; rename or remove the "
                       "row",
                       STR(ids->path), p->lineno, STR(p->id), (long long)first->number);
    if (ids->max == 0 || ids->lines.n < ids->max)
        map_put(&ids->lines, p->id, NULL)->number = (int64_t)p->lineno;
    return true;
}

struct loading {
    const struct puzzle_load_opts *opts;
    struct puzzle_reader *reader;
    struct puzzle_ids ids;
    struct puzzles *out;
    size_t n_good; // before the filter
};

// Counts and logs a bad row; strict: the row's error is the file's.
static bool reject(struct loading *l, const struct err *why, struct err *err)
{
    if (l->opts->strict) {
        if (err)
            *err = *why;
        return false;
    }
    if (l->out->n_rejected++ < BAD_ROWS_LOGGED)
        log_line(LOG_WARN, "%s (skipped)", why->text);
    return true;
}

static bool take(struct loading *l, struct arena *a, const struct puzzle *p, struct err *err)
{
    struct err why = { 0 };
    if (!puzzle_ids_add(&l->ids, p, &why))
        return reject(l, &why, err);
    l->n_good++;
    if (!puzzle_matches(p, &l->opts->filter))
        return true;
    if (l->out->n == LOADED_MAX)
        return err_set(err, ERR_LIMIT, "%.*s: over %d puzzles; sample the file first",
                       STR(l->ids.path), LOADED_MAX);
    struct puzzle *kept = vec_push(a, l->out);
    *kept = *p;
    puzzle_keep(kept, a);
    return true;
}

static bool load_rows(struct loading *l, struct arena *a, struct err *err)
{
    for (;;) {
        struct puzzle p;
        struct err why = { 0 };
        bool ok = true;
        switch (puzzle_reader_next(l->reader, NULL, &p, &why)) {
        case PUZZLE_ROW: ok = take(l, a, &p, err); break;
        case PUZZLE_BAD: ok = reject(l, &why, err); break;
        case PUZZLE_END: return true;
        case PUZZLE_FAIL:
            if (err)
                *err = why;
            return false;
        }
        if (!ok)
            return false;
    }
}

bool puzzles_load(str path, const struct puzzle_load_opts *opts, struct arena *a,
                  struct puzzles *out, struct err *err)
{
    static const struct puzzle_load_opts defaults = { 0 };
    struct arena scratch = { 0 };
    struct loading l = { .opts = opts ? opts : &defaults,
                         .ids = { .path = path, .lines = { .arena = &scratch } },
                         .out = out };
    *out = (struct puzzles){ 0 };
    bool ok = puzzle_reader_open(path, &l.reader, err);
    if (ok) {
        puzzle_reader_variant(l.reader, l.opts->variant);
        ok = load_rows(&l, a, err);
    }
    if (ok) {
        out->sha256 = puzzle_reader_sha256(l.reader, a);
        if (out->n_rejected > BAD_ROWS_LOGGED)
            log_line(LOG_WARN, "%.*s: %zu bad rows skipped in all", STR(path), out->n_rejected);
        if (l.n_good == 0)
            ok =
                err_set(err, ERR_INPUT, "%.*s: no good row among %zu; see `rookery puzzles verify`",
                        STR(path), out->n_rejected);
        else if (out->n == 0)
            ok = err_set(err, ERR_INPUT, "%.*s: none of %zu puzzles passes the filters; widen them",
                         STR(path), l.n_good);
    }
    puzzle_reader_free(l.reader);
    arena_free(&scratch);
    return ok;
}
