// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_puzzles.c - says what is in a puzzle file: every bad row, or what the good ones are like.
// Both stream: a full dump needs no more memory than a small file, but for the ids that verify
// remembers to find doubles.
#include <stdlib.h>

#include "cli/cli.h"
#include "puzzle/puzzle.h"
#include "report/report.h"

static bool file_of(const struct args *args, str *path, struct err *err)
{
    if (args->n_positionals == 0)
        return err_set(err, ERR_USAGE,
                       "which file? name a puzzle file, builtin:train or builtin:test");
    *path = args->positionals[0];
    return true;
}

struct each_row {
    str path;
    // Called for each row: `p` is NULL for a bad one, and `why` says what is wrong with it.
    bool (*call)(void *ctx, const struct puzzle *p, const struct err *why, struct err *err);
    void *ctx;
};

// Reads all rows; the file's `*sha256` in `a`.
static bool read_rows(const struct each_row *each, struct arena *a, str *sha256, struct err *err)
{
    struct puzzle_reader *r = NULL;
    if (!puzzle_reader_open(each->path, &r, err))
        return false;
    bool ok = true, more = true;
    while (ok && more) {
        struct puzzle p;
        struct err why = { 0 };
        if (signals_seen) {
            ok = err_set(err, ERR_INTERRUPTED, "interrupted");
            break;
        }
        switch (puzzle_reader_next(r, NULL, &p, &why)) {
        case PUZZLE_ROW: ok = each->call(each->ctx, &p, NULL, err); break;
        case PUZZLE_BAD: ok = each->call(each->ctx, NULL, &why, err); break;
        case PUZZLE_END: more = false; break;
        case PUZZLE_FAIL: ok = err_set(err, why.code, "%s", why.text); break;
        }
    }
    *sha256 = puzzle_reader_sha256(r, a);
    puzzle_reader_free(r);
    return ok;
}

// ---- verify ----

enum { IDS_MAX = 2000000 }; // remembered ids: about 200 MB

struct verify {
    struct puzzle_ids ids;
    size_t n_good, n_bad, n_positions;
};

static bool print_bad(struct verify *v, const char *what, struct err *err)
{
    struct arena scratch = { 0 };
    v->n_bad++;
    bool ok = print_str(arena_printf(&scratch, "%s\n", what), err);
    arena_free(&scratch);
    return ok;
}

static bool verify_row(void *ctx, const struct puzzle *p, const struct err *why, struct err *err)
{
    struct verify *v = ctx;
    if (!p)
        return print_bad(v, why->text, err);
    struct err doubled;
    if (!puzzle_ids_add(&v->ids, p, &doubled))
        return print_bad(v, doubled.text, err);
    v->n_good++;
    v->n_positions += p->n_moves / 2;
    return true;
}

static bool verify_run(const struct args *args, struct arena *a, struct err *err)
{
    struct verify v = { .ids = { .lines = { .arena = a }, .max = IDS_MAX } };
    str path, sha256;
    if (!file_of(args, &path, err))
        return false;
    v.ids.path = path;
    if (!read_rows(&(struct each_row){ path, verify_row, &v }, a, &sha256, err))
        return false;
    struct buf b = { .arena = a };
    buf_addf(&b, "%.*s: %zu rows, %zu good with %zu positions, %zu bad; sha256 %.*s\n", STR(path),
             v.n_good + v.n_bad, v.n_good, v.n_positions, v.n_bad, STR(sha256));
    if (v.ids.lines.n == IDS_MAX)
        buf_addf(&b, "doubles were looked for among the first %d ids only\n", IDS_MAX);
    if (!print_str(buf_str(&b), err))
        return false;
    if (v.n_good + v.n_bad == 0)
        return err_set(err, ERR_INPUT, "%.*s: has no rows", STR(path));
    return v.n_bad == 0 ||
           err_set(err, ERR_INPUT, "%.*s: %zu bad rows; fix or remove them", STR(path), v.n_bad);
}

static const struct opt no_opts[] = { { 0 } };

const struct command command_puzzles_verify = {
    .name = "puzzles verify",
    .summary = "check every row of a puzzle file by playing it",
    .usage = "FILE",
    .about = "Prints one line for each bad row (FILE:LINE: ID: what, and what to do), then the\n"
             "counts. Exit code 3 when a row is bad. FILE: CSV, .zst, JSONL, builtin:train or\n"
             "builtin:test.\n"
             "Example: rookery puzzles verify lichess_db_puzzle.csv.zst",
    .opts = { no_opts },
    .max_positionals = 1,
    .run = verify_run,
};

// ---- stats ----

// Bins as the paper's files name them: "(400, 500]" is bin 5. Ratings go to 9999.
enum { BIN_WIDTH = 100, BINS = 101, LENGTHS = 6, THEMES_KEPT_MAX = 10000, THEMES_SHOWN = 20 };

struct stats {
    size_t n_rows, n_bad, n_positions, n_rated, n_mates, n_side[2];
    int64_t rating_sum;
    int rating_min, rating_max;
    size_t n_length[LENGTHS];    // by solver moves 1..5; the last: 6 and more
    size_t n_bin[BINS][LENGTHS]; // rated ones by rating and solver moves
    struct map themes;           // to the number of puzzles
};

static void count_rating(struct stats *s, int rating, size_t length)
{
    s->rating_min = s->n_rated == 0 || rating < s->rating_min ? rating : s->rating_min;
    s->rating_max = s->n_rated == 0 || rating > s->rating_max ? rating : s->rating_max;
    s->rating_sum += rating;
    s->n_rated++;
    s->n_bin[(rating + BIN_WIDTH - 1) / BIN_WIDTH][length]++;
}

static void count_themes(struct stats *s, str themes)
{
    while (themes.len > 0) {
        str theme = str_cut(&themes, ' ');
        struct map_entry *known = map_get(&s->themes, theme);
        if (!known && theme.len > 0 && s->themes.n < THEMES_KEPT_MAX)
            known = map_put(&s->themes, theme, NULL);
        if (known)
            known->number++;
    }
}

static bool count_row(void *ctx, const struct puzzle *p, const struct err *why, struct err *err)
{
    struct stats *s = ctx;
    (void)why;
    (void)err;
    s->n_rows++;
    if (!p) {
        s->n_bad++;
        return true;
    }
    size_t turns = p->n_moves / 2, length = turns < LENGTHS ? turns - 1 : LENGTHS - 1;
    s->n_positions += turns;
    s->n_length[length]++;
    s->n_side[p->start.turn ^ 1]++; // the opponent moves first
    s->n_mates += p->mates;
    if (p->has_rating)
        count_rating(s, p->rating, length);
    count_themes(s, p->themes);
    return true;
}

// Most frequent first, by name where equal.
static int compare_themes(const void *x, const void *y)
{
    const struct map_entry *a = x, *b = y;
    if (a->number != b->number)
        return a->number < b->number ? 1 : -1;
    return str_cmp(a->key, b->key);
}

static size_t bin_total(const struct stats *s, int bin)
{
    size_t n = 0;
    for (int l = 0; l < LENGTHS; l++)
        n += s->n_bin[bin][l];
    return n;
}

static const char *const length_names[LENGTHS] = { "1", "2", "3", "4", "5", "6+" };

static str bin_name(int bin, struct arena *a)
{
    return arena_printf(a, "(%d, %d]", (bin - 1) * BIN_WIDTH, bin * BIN_WIDTH);
}

static void add_counts(struct buf *b, const char *name, const size_t counts[LENGTHS])
{
    size_t total = 0;
    buf_addf(b, "  %-14s", name);
    for (int l = 0; l < LENGTHS; l++) {
        buf_addf(b, " %8zu", counts[l]);
        total += counts[l];
    }
    buf_addf(b, " %8zu\n", total);
}

static void add_text(const struct stats *s, str path, str sha256, struct buf *b)
{
    size_t good = s->n_rows - s->n_bad;
    buf_addf(b, "%.*s: %zu puzzles, %zu positions, %zu bad rows left out\n", STR(path), good,
             s->n_positions, s->n_bad);
    buf_addf(b, "  sha256         %.*s\n", STR(sha256));
    if (s->n_rated > 0)
        buf_addf(b, "  rating         %d to %d, mean %.1f, %zu without\n", s->rating_min,
                 s->rating_max, (double)s->rating_sum / (double)s->n_rated, good - s->n_rated);
    buf_addf(b, "  end in mate    %zu\n", s->n_mates);
    buf_addf(b, "  side to move   white %zu, black %zu\n\n", s->n_side[WHITE], s->n_side[BLACK]);
    buf_addf(b, "  %-14s", "solver moves");
    for (int l = 0; l < LENGTHS; l++)
        buf_addf(b, " %8s", length_names[l]);
    buf_addf(b, " %8s\n", "all");
    for (int bin = 0; bin < BINS; bin++)
        if (bin_total(s, bin) > 0)
            add_counts(b, bin_name(bin, b->arena).data, s->n_bin[bin]);
    add_counts(b, "all", s->n_length);
    buf_add(b, S("\n  themes\n"));
    for (size_t i = 0; i < s->themes.n && i < THEMES_SHOWN; i++)
        buf_addf(b, "  %-24.*s %8lld\n", STR(s->themes.v[i].key), (long long)s->themes.v[i].number);
}

static void put_count(struct json_out *o, str key, size_t n)
{
    json_key_int(o, key, (int64_t)n);
}

static void put_lengths(struct json_out *o, const size_t counts[LENGTHS])
{
    json_key_open(o, S("solver_moves"), '{');
    for (int l = 0; l < LENGTHS; l++)
        put_count(o, str_from(length_names[l]), counts[l]);
    json_close(o, '}');
}

static void put_bins(struct json_out *o, const struct stats *s, struct arena *a)
{
    json_key_open(o, S("rating_bins"), '[');
    for (int bin = 0; bin < BINS; bin++) {
        if (bin_total(s, bin) == 0)
            continue;
        json_open(o, '{');
        json_key_str(o, S("bin"), bin_name(bin, a));
        put_count(o, S("puzzles"), bin_total(s, bin));
        put_lengths(o, s->n_bin[bin]);
        json_close(o, '}');
    }
    json_close(o, ']');
}

static void put_rating(struct json_out *o, const struct stats *s)
{
    json_key(o, S("rating"));
    if (s->n_rated == 0) {
        json_put_null(o);
        return;
    }
    json_open(o, '{');
    put_count(o, S("puzzles"), s->n_rated);
    json_key_int(o, S("min"), s->rating_min);
    json_key_int(o, S("max"), s->rating_max);
    json_key_double(o, S("mean"), (double)s->rating_sum / (double)s->n_rated);
    json_close(o, '}');
}

static void add_json(const struct stats *s, str path, str sha256, struct buf *b)
{
    struct json_out o = { .b = b, .indent = 2 };
    json_open(&o, '{');
    json_key_str(&o, S("file"), path);
    json_key_str(&o, S("sha256"), sha256);
    put_count(&o, S("puzzles"), s->n_rows - s->n_bad);
    put_count(&o, S("bad_rows"), s->n_bad);
    put_count(&o, S("positions"), s->n_positions);
    put_count(&o, S("mates"), s->n_mates);
    json_key_open(&o, S("side_to_move"), '{');
    put_count(&o, S("white"), s->n_side[WHITE]);
    put_count(&o, S("black"), s->n_side[BLACK]);
    json_close(&o, '}');
    put_lengths(&o, s->n_length);
    put_rating(&o, s);
    put_bins(&o, s, b->arena);
    json_key_open(&o, S("themes"), '{');
    for (size_t i = 0; i < s->themes.n && i < THEMES_SHOWN; i++)
        put_count(&o, s->themes.v[i].key, (size_t)s->themes.v[i].number);
    json_close(&o, '}');
    json_close(&o, '}');
    buf_add_char(b, '\n');
}

// The whole of one file, themes sorted.
static bool stats_read(str path, struct stats *s, struct arena *a, str *sha256, struct err *err)
{
    *s = (struct stats){ .themes = { .arena = a } };
    if (!read_rows(&(struct each_row){ path, count_row, s }, a, sha256, err))
        return false;
    if (s->n_rows == s->n_bad)
        return err_set(err, ERR_INPUT, "%.*s: no good row among %zu; see rookery puzzles verify",
                       STR(path), s->n_rows);
    if (s->themes.n > 0) // from here on it is a list, not a map
        qsort(s->themes.v, s->themes.n, sizeof *s->themes.v, compare_themes);
    return true;
}

static bool stats_one(const struct args *args, struct arena *a, struct err *err)
{
    struct stats s;
    str path, sha256;
    if (!file_of(args, &path, err) || !stats_read(path, &s, a, &sha256, err))
        return false;
    struct buf b = { .arena = a };
    if (opt_flag(args, "json"))
        add_json(&s, path, sha256, &b);
    else
        add_text(&s, path, sha256, &b);
    return print_str(buf_str(&b), err);
}

// ---- stats of a pair: the paper's Table 6, rating bins by solver moves, cells "train/test" ----

enum { PAIR = 2 }; // train, test

// One row: its name, a cell a length, the sum; left out where both files have nothing.
static void add_pair_row(struct report_grid *g, str name, const size_t *counts[PAIR],
                         struct arena *a)
{
    size_t sum[PAIR] = { 0 };
    for (int half = 0; half < PAIR; half++)
        for (int l = 0; l < LENGTHS; l++)
            sum[half] += counts[half][l];
    if (sum[0] + sum[1] == 0)
        return;
    report_grid_add(g, name, a);
    for (int l = 0; l < LENGTHS; l++)
        report_grid_add(g, arena_printf(a, "%zu/%zu", counts[0][l], counts[1][l]), a);
    report_grid_add(g, arena_printf(a, "%zu/%zu", sum[0], sum[1]), a);
}

static void count_unrated(const struct stats *s, size_t out[LENGTHS])
{
    for (int l = 0; l < LENGTHS; l++) {
        out[l] = s->n_length[l];
        for (int bin = 0; bin < BINS; bin++)
            out[l] -= s->n_bin[bin][l];
    }
}

static void fill_pair(const struct stats s[PAIR], struct report_grid *g, struct arena *a)
{
    g->n_columns = LENGTHS + 2;
    report_grid_add(g, S("rating"), a);
    for (int l = 0; l < LENGTHS; l++)
        report_grid_add(g, str_from(length_names[l]), a);
    report_grid_add(g, S("all"), a);
    for (int bin = 0; bin < BINS; bin++)
        add_pair_row(g, bin_name(bin, a),
                     (const size_t *[PAIR]){ s[0].n_bin[bin], s[1].n_bin[bin] }, a);
    size_t none[PAIR][LENGTHS];
    count_unrated(&s[0], none[0]);
    count_unrated(&s[1], none[1]);
    add_pair_row(g, S("none"), (const size_t *[PAIR]){ none[0], none[1] }, a);
    add_pair_row(g, S("all"), (const size_t *[PAIR]){ s[0].n_length, s[1].n_length }, a);
}

static bool stats_pair(const struct args *args, enum report_format format, struct arena *a,
                       struct err *err)
{
    struct stats s[PAIR];
    struct report_grid g = { 0 };
    struct buf note = { .arena = a }, out = { .arena = a };
    buf_add(&note, S("puzzles by rating (rows) and solver moves (columns), train/test"));
    for (int half = 0; half < PAIR; half++) {
        str path = args->positionals[half], sha256;
        if (!stats_read(path, &s[half], a, &sha256, err))
            return false;
        buf_addf(&note, "\n%s %.*s: %zu puzzles, %zu positions, %zu mates, %zu bad rows left out",
                 half == 0 ? "train" : "test ", STR(path), s[half].n_rows - s[half].n_bad,
                 s[half].n_positions, s[half].n_mates, s[half].n_bad);
    }
    fill_pair(s, &g, a);
    g.note = buf_str(&note);
    report_grid_write(&g, format, &out);
    return print_str(buf_str(&out), err);
}

static bool stats_run(const struct args *args, struct arena *a, struct err *err)
{
    enum report_format format = REPORT_TEXT;
    str name = opt_text(args, "format", S("text"));
    if (args->n_positionals < PAIR && opt_get(args, "format")->set)
        return err_set(err, ERR_USAGE, "--format is for the table of two files: TRAIN TEST");
    if (args->n_positionals < PAIR)
        return stats_one(args, a, err);
    if (opt_flag(args, "json"))
        name = S("json");
    if (!report_format_parse(name, &format))
        return err_set(err, ERR_USAGE,
                       "--format must be text, csv, markdown, latex or json, got \"%.*s\"",
                       STR(name));
    return stats_pair(args, format, a, err);
}

static const struct opt stats_opts[] = {
    { "json", OPT_FLAG, NULL, "print JSON", 0, 0 },
    { "format", OPT_TEXT, "NAME", "of two files: text, csv, markdown, latex or json [text]", 0, 0 },
    { 0 },
};

const struct command command_puzzles_stats = {
    .name = "puzzles stats",
    .summary = "describe a puzzle file: ratings, lengths, mates, themes",
    .usage = "FILE [TEST] [--json] [--format NAME]",
    .about = "Counts puzzles and positions, and shows rating bins by number of solver moves, the\n"
             "side to move, mates and the most frequent themes. Of two files, a training and a\n"
             "test set, it shows one table of rating bins by solver moves, cells train/test.\n"
             "FILE: CSV, .zst, JSONL, builtin:train or builtin:test.\n"
             "Example: rookery puzzles stats builtin:train builtin:test",
    .opts = { stats_opts },
    .max_positionals = PAIR,
    .run = stats_run,
};
