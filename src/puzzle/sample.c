// SPDX-License-Identifier: GPL-3.0-or-later
// sample.c - draws puzzles from a stream of any length: uniformly, or composed as the paper's set.
//
// Every row gets a pseudo-random key from the seed and its number in the file; a stratum keeps the
// rows with the smallest keys. That is a uniform sample without replacement, whatever is read
// later, and independent of how the file was packed or cut. More rows are kept than are wanted, so
// that those which share an id, a position or a line with a chosen one can be passed over.
#include <stdlib.h>
#include <string.h>

#include "puzzle/internal.h"
#include "base/base.h"

enum { BIN = 100, FIRST_BIN = 5, LAST_BIN = 28, SPLIT_BIN = 20 }; // (400, 500] .. (2700, 2800]
enum { BELOW = 10, SPARE = 64 };                                  // wanted a length, in each half
enum { LENGTHS = 5, HALVES = 2 };

struct kept { // a row of the source
    uint64_t key;
    size_t row, lineno;
    char *memory;       // all that follows
    str text, id, line; // text: as CSV, with its line feed
    struct position start;
    move *moves;
    size_t n_moves;
};
struct stratum { // a heap, the largest key first
    struct kept *v;
    size_t n, cap;
    size_t n_seen;
    uint64_t limit; // the key of v[0] once it is full: what is above is not looked at further
};
struct puzzle_sampler {
    struct puzzle_sample_opts opts;
    struct stratum *strata;
    size_t n_strata;
    size_t n_filtered;
    struct arena scratch;
};

// ---- strata ----

// Of the paper's set: rating bin, solver moves, mate or not.
static size_t paper_index(int bin, int length, bool mate)
{
    return ((size_t)(bin - FIRST_BIN) * LENGTHS + (size_t)(length - 1)) * 2 + (mate ? 1 : 0);
}

static int bin_of(int rating)
{
    return (rating + BIN - 1) / BIN;
}

// One and two solver moves up to 2000, three to five above.
static bool length_fits(int bin, int length)
{
    return bin <= SPLIT_BIN ? length <= 2 : length >= 3 && length <= LENGTHS;
}

// The stratum of a puzzle; NULL: it is of none.
static struct stratum *stratum_of(struct puzzle_sampler *s, const struct puzzle *p)
{
    if (!s->opts.paper)
        return &s->strata[0];
    int bin = bin_of(p->rating), length = (int)(p->n_moves / 2);
    if (!p->has_rating || bin < FIRST_BIN || bin > LAST_BIN || length > LENGTHS ||
        !length_fits(bin, length))
        return NULL;
    return &s->strata[paper_index(bin, length, p->mates)];
}

struct puzzle_sampler *puzzle_sampler_new(const struct puzzle_sample_opts *opts)
{
    struct puzzle_sampler *s = mem_must(calloc(1, sizeof *s));
    s->opts = *opts;
    s->n_strata = opts->paper ? paper_index(LAST_BIN, LENGTHS, true) + 1 : 1;
    s->strata = mem_must(calloc(s->n_strata, sizeof *s->strata));
    size_t cap = opts->paper ? 2 * HALVES * BELOW + SPARE : opts->count + opts->count / 8 + SPARE;
    for (size_t i = 0; i < s->n_strata; i++)
        s->strata[i].cap = cap;
    return s;
}

void puzzle_sampler_free(struct puzzle_sampler *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_strata; i++) {
        for (size_t k = 0; k < s->strata[i].n; k++)
            free(s->strata[i].v[k].memory);
        free(s->strata[i].v);
    }
    free(s->strata);
    arena_free(&s->scratch);
    free(s);
}

// ---- keeping the smallest keys ----

// SplitMix64 (Steele, Lea and Flood 2014) over seed and row.
static uint64_t row_key(uint64_t seed, size_t row)
{
    uint64_t z = seed * 0xD1B54A32D192ED03U + (uint64_t)row * 0x9E3779B97F4A7C15U;
    for (int i = 0; i < 2; i++) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        z ^= z >> 31;
    }
    return z;
}

static bool before(const struct kept *a, const struct kept *b)
{
    return a->key != b->key ? a->key < b->key : a->row < b->row;
}

static void swap(struct kept *a, struct kept *b)
{
    struct kept t = *a;
    *a = *b;
    *b = t;
}

static void sift_up(struct stratum *s, size_t i)
{
    for (; i > 0 && before(&s->v[(i - 1) / 2], &s->v[i]); i = (i - 1) / 2)
        swap(&s->v[(i - 1) / 2], &s->v[i]);
}

static void sift_down(struct stratum *s)
{
    for (size_t i = 0;;) {
        size_t largest = i;
        for (size_t c = 2 * i + 1; c <= 2 * i + 2 && c < s->n; c++)
            if (before(&s->v[largest], &s->v[c]))
                largest = c;
        if (largest == i)
            return;
        swap(&s->v[i], &s->v[largest]);
        i = largest;
    }
}

static str put(char **to, str s)
{
    str copy = { *to, s.len };
    if (s.len > 0)
        memcpy(*to, s.data, s.len);
    *to += s.len;
    return copy;
}

// Copies what the choice and the output need: of a dump many more rows are kept for a while than
// are chosen in the end.
static struct kept keep(struct puzzle_sampler *s, const struct puzzle *p,
                        const struct puzzle_reader *r, uint64_t key)
{
    arena_reset(&s->scratch);
    struct buf b = { .arena = &s->scratch };
    puzzle_reader_row(r, p, &b);
    str row = buf_str(&b);
    struct kept k = {
        .key = key, .row = p->row, .lineno = p->lineno, .start = p->start, .n_moves = p->n_moves
    };
    k.memory = mem_must(malloc(p->n_moves * sizeof *k.moves + row.len + p->id.len + p->line.len));
    k.moves = (move *)(void *)k.memory; // first, for its alignment
    memcpy(k.moves, p->moves, p->n_moves * sizeof *k.moves);
    char *to = k.memory + p->n_moves * sizeof *k.moves;
    k.text = put(&to, row);
    k.id = put(&to, p->id);
    k.line = put(&to, p->line);
    return k;
}

void puzzle_sampler_offer(struct puzzle_sampler *s, const struct puzzle *p,
                          const struct puzzle_reader *r)
{
    struct stratum *to = puzzle_matches(p, &s->opts.filter) ? stratum_of(s, p) : NULL;
    if (!to) {
        s->n_filtered++;
        return;
    }
    struct kept probe = { .key = row_key(s->opts.seed, p->row), .row = p->row };
    to->n_seen++;
    if (to->n < to->cap) {
        if (to->n % 1024 == 0)
            to->v = mem_must(realloc(to->v, (to->n + 1024) * sizeof *to->v));
        to->v[to->n] = keep(s, p, r, probe.key);
        sift_up(to, to->n++);
        to->limit = to->v[0].key;
    } else if (probe.key <= to->limit && before(&probe, &to->v[0])) {
        free(to->v[0].memory);
        to->v[0] = keep(s, p, r, probe.key);
        sift_down(to);
        to->limit = to->v[0].key;
    }
}

// ---- choosing ----

struct choice {
    struct arena *arena;
    struct map taken; // ids, lines and positions of chosen rows
    struct puzzle_sample *out;
};

static int by_key(const void *a, const void *b)
{
    return before(a, b) ? -1 : 1;
}

static str position_name(uint64_t key, char buffer[20])
{
    int n = snprintf(buffer, 20, "@%016llx", (unsigned long long)key);
    return (str){ buffer, (size_t)n };
}

struct keys {
    uint64_t *v;
    size_t n, cap;
};

// Keys of the positions in which the solver moves.
static struct keys solver_positions(const struct kept *k, struct arena *a)
{
    struct keys keys = { 0 };
    struct position pos = k->start;
    for (size_t i = 0; i < k->n_moves; i++) {
        if (i % 2 == 1)
            *vec_push(a, &keys) = pos.key;
        pos = position_after(&pos, k->moves[i]);
    }
    return keys;
}

// Takes the row unless a chosen one has its id, its line or one of its positions.
static bool take(struct choice *c, const struct kept *k)
{
    char buffer[20];
    struct keys keys = solver_positions(k, c->arena);
    bool clash = map_get(&c->taken, arena_printf(c->arena, "#%.*s", STR(k->id))) ||
                 map_get(&c->taken, k->line);
    for (size_t i = 0; i < keys.n && !clash; i++)
        clash = map_get(&c->taken, position_name(keys.v[i], buffer)) != NULL;
    if (clash) {
        c->out->n_clashes++;
        return false;
    }
    map_put(&c->taken, arena_printf(c->arena, "#%.*s", STR(k->id)), NULL);
    map_put(&c->taken, k->line, NULL);
    for (size_t i = 0; i < keys.n; i++)
        map_put(&c->taken, position_name(keys.v[i], buffer), NULL);
    return true;
}

// Up to `n` rows of a stratum from where the last call stopped.
static size_t draw(struct choice *c, const struct stratum *s, size_t *from, size_t n,
                   const struct kept **rows)
{
    size_t got = 0;
    for (; got < n && *from < s->n; ++*from)
        if (take(c, &s->v[*from]))
            rows[got++] = &s->v[*from];
    return got;
}

static void add_rows(struct choice *c, const struct kept *const *rows, size_t n)
{
    for (size_t i = 0; i < n / HALVES * HALVES; i++) {
        struct puzzle_sample_rows *half = i % HALVES == 0 ? &c->out->train : &c->out->test;
        *vec_push(c->arena, half) = arena_str(c->arena, rows[i]->text);
    }
}

// Ten puzzles for each half, five of them mates; where one kind is short, the other fills up.
static void choose_length(struct puzzle_sampler *s, struct choice *c, int bin, int length)
{
    const struct kept *rows[2 * HALVES * BELOW];
    struct stratum *plain = &s->strata[paper_index(bin, length, false)];
    struct stratum *mates = &s->strata[paper_index(bin, length, true)];
    size_t from[2] = { 0, 0 }, wanted = HALVES * BELOW;
    size_t n_mates = draw(c, mates, &from[1], wanted / 2, rows);
    size_t n = n_mates + draw(c, plain, &from[0], wanted - n_mates, rows + n_mates);
    size_t more = draw(c, mates, &from[1], wanted - n, rows + n);
    add_rows(c, rows, n + more);
    *vec_push(c->arena, &c->out->strata) = (struct puzzle_sample_stratum){
        .bin = bin,
        .length = length,
        .n_plain = plain->n_seen,
        .n_mates = mates->n_seen,
        .wanted = wanted,
        .drawn = (n + more) / HALVES * HALVES,
        .drawn_mates = n_mates + more,
    };
}

static void choose_uniform(struct puzzle_sampler *s, struct choice *c)
{
    struct stratum *all = &s->strata[0];
    size_t from = 0, n = 0;
    for (; from < all->n && n < s->opts.count; from++)
        if (take(c, &all->v[from])) {
            *vec_push(c->arena, &c->out->train) = arena_str(c->arena, all->v[from].text);
            n++;
        }
    *vec_push(c->arena, &c->out->strata) = (struct puzzle_sample_stratum){ .n_plain = all->n_seen,
                                                                           .wanted = s->opts.count,
                                                                           .drawn = n };
}

void puzzle_sampler_draw(struct puzzle_sampler *s, struct arena *a, struct puzzle_sample *out)
{
    struct choice c = { .arena = a, .taken = { .arena = a }, .out = out };
    *out = (struct puzzle_sample){ .n_filtered = s->n_filtered };
    for (size_t i = 0; i < s->n_strata; i++)
        if (s->strata[i].n > 0)
            qsort(s->strata[i].v, s->strata[i].n, sizeof *s->strata[i].v, by_key);
    if (!s->opts.paper) {
        choose_uniform(s, &c);
        return;
    }
    for (int bin = FIRST_BIN; bin <= LAST_BIN; bin++)
        for (int length = 1; length <= LENGTHS; length++)
            if (length_fits(bin, length))
                choose_length(s, &c, bin, length);
}
