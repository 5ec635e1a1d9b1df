// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_puzzles_sample.c - draws puzzles from a dump of any size, with a record of where they are
// from.
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "puzzle/puzzle.h"
#include "version.h"

enum { REASONS_SHOWN = 20 };

struct sampling_run {
    const struct args *args;
    struct arena *arena;
    struct err *err;
    struct puzzle_sample_opts opts;
    struct puzzle_sampler *sampler;
    struct puzzle_reader *reader;
    str source, out, head, sha256;
    size_t n_faults[PUZZLE_FAULTS]; // bad rows by what is wrong
    size_t n_rows, n_bad;
    struct {
        str *v;
        size_t n, cap;
    } bad; // the first rejects
    struct puzzle_sample sample;
};

static bool note_bad(struct sampling_run *r, enum puzzle_fault fault, const struct err *why)
{
    r->n_faults[fault]++;
    if (r->n_bad++ < REASONS_SHOWN)
        *vec_push(r->arena, &r->bad) = arena_str(r->arena, str_from(why->text));
    return !opt_flag(r->args, "strict") || err_set(r->err, ERR_INPUT, "%s", why->text);
}

static bool read_all(struct sampling_run *r)
{
    bool ok = true, more = true;
    while (ok && more) {
        struct puzzle p;
        struct err why = { 0 };
        if (signals_seen) {
            ok = err_set(r->err, ERR_INTERRUPTED, "interrupted");
            break;
        }
        switch (puzzle_reader_next(r->reader, NULL, &p, &why)) {
        case PUZZLE_ROW:
            puzzle_sampler_offer(r->sampler, &p, r->reader);
            r->n_rows++;
            break;
        case PUZZLE_BAD: ok = note_bad(r, p.fault, &why); break;
        case PUZZLE_END: more = false; break;
        case PUZZLE_FAIL: ok = err_set(r->err, why.code, "%s", why.text); break;
        }
    }
    return ok;
}

// ---- writing ----

static bool save_rows(struct sampling_run *r, str path, const struct puzzle_sample_rows *rows)
{
    struct buf b = { .arena = r->arena, .max = SIZE_MAX / 2 };
    buf_add(&b, r->head);
    for (size_t i = 0; i < rows->n; i++)
        buf_add(&b, rows->v[i]);
    return file_save(path, buf_str(&b), r->err);
}

static void put_stratum(struct json_out *o, const struct puzzle_sample_stratum *s, struct arena *a)
{
    json_open(o, '{');
    if (s->bin > 0) {
        json_key_str(o, S("rating"), arena_printf(a, "(%d, %d]", (s->bin - 1) * 100, s->bin * 100));
        json_key_int(o, S("solver_moves"), s->length);
        json_key_int(o, S("offered_mates"), (int64_t)s->n_mates);
        json_key_int(o, S("drawn_mates"), (int64_t)s->drawn_mates);
    }
    json_key_int(o, S("offered"), (int64_t)(s->n_plain + s->n_mates));
    json_key_int(o, S("wanted"), (int64_t)s->wanted);
    json_key_int(o, S("drawn"), (int64_t)s->drawn);
    json_close(o, '}');
}

static void put_filter(struct json_out *o, const struct puzzle_filter *f)
{
    json_key_open(o, S("filter"), '{');
    json_key_maybe(o, S("theme"), f->theme);
    json_key_int(o, S("min_rating"), f->min_rating);
    json_key_int(o, S("max_rating"), f->max_rating);
    json_key_int(o, S("solver_moves"), f->solver_moves);
    json_close(o, '}');
}

static str provenance(const struct sampling_run *r)
{
    struct buf b = { .arena = r->arena };
    struct json_out o = { .b = &b, .indent = 2 };
    const struct puzzle_sample *s = &r->sample;
    json_open(&o, '{');
    json_key_str(&o, S("made_by"), S("rookery " ROOKERY_VERSION));
    json_key_str(&o, S("source"), r->source);
    json_key_str(&o, S("source_sha256"), r->sha256);
    json_key_int(&o, S("seed"), (int64_t)r->opts.seed);
    json_key_str(&o, S("composition"), r->opts.paper ? S("paper") : S("uniform"));
    put_filter(&o, &r->opts.filter);
    json_key_int(&o, S("rows_read"), (int64_t)(r->n_rows + r->n_bad));
    json_key_int(&o, S("rows_rejected"), (int64_t)r->n_bad);
    json_key_open(&o, S("rejects_by_reason"), '{');
    for (int i = PUZZLE_FAULT_NONE + 1; i < PUZZLE_FAULTS; i++)
        json_key_int(&o, puzzle_fault_name((enum puzzle_fault)i), (int64_t)r->n_faults[i]);
    json_close(&o, '}');
    json_key_open(&o, S("first_rejects"), '[');
    for (size_t i = 0; i < r->bad.n; i++)
        json_put_str(&o, r->bad.v[i]);
    json_close(&o, ']');
    json_key_int(&o, S("rows_of_no_stratum"), (int64_t)s->n_filtered);
    json_key_int(&o, S("passed_over_as_shared"), (int64_t)s->n_clashes);
    json_key_open(&o, S("strata"), '[');
    for (size_t i = 0; i < s->strata.n; i++)
        put_stratum(&o, &s->strata.v[i], r->arena);
    json_close(&o, ']');
    json_key_int(&o, r->opts.paper ? S("train") : S("rows"), (int64_t)s->train.n);
    if (r->opts.paper)
        json_key_int(&o, S("test"), (int64_t)s->test.n);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

// What was asked for and is not there; with --strict that fails.
static bool tell_shortage(struct sampling_run *r, struct buf *b)
{
    size_t wanted = 0, drawn = 0, short_of = 0;
    for (size_t i = 0; i < r->sample.strata.n; i++) {
        const struct puzzle_sample_stratum *s = &r->sample.strata.v[i];
        wanted += s->wanted;
        drawn += s->drawn;
        short_of += s->drawn < s->wanted;
    }
    buf_addf(b, "%zu of %zu wanted puzzles", drawn, wanted);
    if (short_of > 0)
        buf_addf(b, "; %zu of %zu strata are not full, see %.*s.json", short_of, r->sample.strata.n,
                 STR(r->out));
    buf_add_char(b, '\n');
    return short_of == 0 || !opt_flag(r->args, "strict") ||
           err_set(r->err, ERR_INPUT, "%.*s: %zu of %zu wanted puzzles only", STR(r->source), drawn,
                   wanted);
}

static bool is_free(const struct sampling_run *r, str path)
{
    struct stat s;
    return opt_flag(r->args, "force") || stat(path.data, &s) != 0 ||
           err_set(r->err, ERR_USAGE, "%.*s is there already; name another --out, or --force",
                   STR(path));
}

static bool save_all(struct sampling_run *r)
{
    struct arena *a = r->arena;
    struct buf b = { .arena = a };
    str train = arena_printf(a, "%.*s%s", STR(r->out), r->opts.paper ? "-train.csv" : ".csv");
    str test = arena_printf(a, "%.*s-test.csv", STR(r->out));
    str facts = arena_printf(a, "%.*s.json", STR(r->out));
    if (!save_rows(r, train, &r->sample.train) ||
        (r->opts.paper && !save_rows(r, test, &r->sample.test)) ||
        !file_save(facts, provenance(r), r->err))
        return false;
    buf_addf(&b, "%.*s: %zu rows read, %zu bad\n%.*s%s%.*s, %.*s: ", STR(r->source),
             r->n_rows + r->n_bad, r->n_bad, STR(train), r->opts.paper ? ", " : "",
             STR(r->opts.paper ? test : S("")), STR(facts));
    bool full = tell_shortage(r, &b);
    return print_str(buf_str(&b), r->err) && full;
}

static bool work(struct sampling_run *r)
{
    struct arena *a = r->arena;
    struct buf head = { .arena = a };
    if (!is_free(r,
                 arena_printf(a, "%.*s%s", STR(r->out), r->opts.paper ? "-train.csv" : ".csv")) ||
        !puzzle_reader_open(r->source, &r->reader, r->err))
        return false;
    signals_install();
    r->sampler = puzzle_sampler_new(&r->opts);
    puzzle_reader_head(r->reader, &head);
    r->head = buf_str(&head);
    if (!read_all(r))
        return false;
    r->sha256 = puzzle_reader_sha256(r->reader, a);
    puzzle_sampler_draw(r->sampler, a, &r->sample);
    if (r->sample.train.n == 0)
        return err_set(r->err, ERR_INPUT, "%.*s: no puzzle that fits among %zu good rows",
                       STR(r->source), r->n_rows);
    return save_all(r);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct sampling_run r = {
        .args = args,
        .arena = a,
        .err = err,
        .source = opt_text(args, "source", S("")),
        .out = opt_text(args, "out", S("puzzles")),
        .opts = { .seed = (uint64_t)opt_int(args, "seed", 42),
                  .paper = !opt_get(args, "count")->set,
                  .count = (size_t)opt_int(args, "count", 0),
                  .filter = { .theme = opt_text(args, "theme", S("")),
                              .min_rating = (int)opt_int(args, "min-rating", 0),
                              .max_rating = (int)opt_int(args, "max-rating", 0),
                              .solver_moves = (int)opt_int(args, "solver-moves", 0) } },
    };
    if (r.source.len == 0)
        return err_set(err, ERR_USAGE, "--source is missing: name the dump to draw from");
    bool ok = work(&r);
    puzzle_sampler_free(r.sampler);
    puzzle_reader_free(r.reader);
    return ok;
}

static const struct opt opts[] = {
    { "source", OPT_TEXT, "FILE", "the dump: CSV (.zst) or JSONL", 0, 0 },
    { "out", OPT_TEXT, "PREFIX", "PREFIX-train.csv, PREFIX-test.csv, PREFIX.json [puzzles]", 0, 0 },
    { "count", OPT_INT, "N", "draw N uniformly into PREFIX.csv [the paper's composition]", 1,
      2000000 },
    { "seed", OPT_INT, "N", "decides the draw [42]", 0, 9e18 },
    { "theme", OPT_TEXT, "NAME", "only puzzles with this theme", 0, 0 },
    { "min-rating", OPT_INT, "N", "only puzzles rated N or more", 0, 10000 },
    { "max-rating", OPT_INT, "N", "only puzzles rated N or less", 0, 10000 },
    { "solver-moves", OPT_INT, "N", "only puzzles with exactly N solver moves", 0, 100 },
    { "strict", OPT_FLAG, NULL, "a bad row, or too few puzzles, is an error", 0, 0 },
    { "force", OPT_FLAG, NULL, "replace files that are there", 0, 0 },
    { 0 },
};

const struct command command_puzzles_sample = {
    .name = "puzzles sample",
    .summary = "draw puzzles from a full dump",
    .usage = "--source FILE [--count N]",
    .about =
        "Without --count two halves of 560 as the paper's set was composed: for each 100 rating\n"
        "points 20 up to 2000 (one and two solver moves) and 30 up to 2800 (three to five),\n"
        "half of them mates where there are enough. No two puzzles share an id, a position\n"
        "or a line. Every row is played. PREFIX.json tells source, counts and rejects.\n"
        "Example: rookery puzzles sample --source lichess_db_puzzle.csv.zst --seed 7",
    .opts = { opts },
    .run = run,
};
