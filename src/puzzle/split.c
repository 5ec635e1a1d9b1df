// SPDX-License-Identifier: GPL-3.0-or-later
// split.c - order, split and expansion (few-shot specification 3.1 and 3.2).
//
// Published results depend on which puzzle falls on which side, so the shuffles are CPython's,
// and the training file is shuffled twice, each time by a fresh generator of the same seed: once
// as the reference's loader does, once as its splitter does.
#include "puzzle/internal.h"
#include "base/base.h"

static size_t *shuffled(size_t n, uint64_t seed, struct arena *scratch)
{
    size_t *order = NEW_ARRAY(scratch, size_t, n);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    struct mt g;
    mt_seed(&g, seed);
    mt_shuffle(&g, order, n);
    return order;
}

void puzzles_shuffle(struct puzzles *p, uint64_t seed)
{
    if (p->n == 0)
        return;
    struct arena scratch = { 0 };
    const size_t *order = shuffled(p->n, seed, &scratch);
    struct puzzle *copy = NEW_ARRAY(&scratch, struct puzzle, p->n);
    for (size_t i = 0; i < p->n; i++)
        copy[i] = p->v[order[i]];
    for (size_t i = 0; i < p->n; i++)
        p->v[i] = copy[i];
    arena_free(&scratch);
}

// The puzzles from `from` up to `to`, of the same file.
static struct puzzles part(const struct puzzles *p, size_t from, size_t to, struct arena *a)
{
    struct puzzles out = {
        .n = to - from, .cap = to - from, .sha256 = p->sha256, .n_rejected = p->n_rejected
    };
    out.v = NEW_ARRAY(a, struct puzzle, out.n);
    for (size_t i = 0; i < out.n; i++)
        out.v[i] = p->v[from + i];
    return out;
}

bool puzzles_split(const struct puzzles *all, const struct puzzle_split_opts *opts, struct arena *a,
                   struct puzzle_split *out, struct err *err)
{
    if (opts->validation_size >= all->n)
        return err_set(
            err, ERR_INPUT,
            "validation_size %zu leaves nothing to train on: there are %zu puzzles; make "
            "it smaller",
            opts->validation_size, all->n);
    struct arena scratch = { 0 };
    struct puzzles order = part(all, 0, all->n, &scratch);
    puzzles_shuffle(&order, opts->seed);
    puzzles_shuffle(&order, opts->seed);
    size_t n_train = order.n - opts->validation_size;
    if (opts->train_limit > 0 && opts->train_limit < n_train)
        n_train = opts->train_limit;
    out->validation = part(&order, 0, opts->validation_size, a);
    out->train = part(&order, opts->validation_size, opts->validation_size + n_train, a);
    arena_free(&scratch);
    return true;
}

// ---- expansion ----

enum { LEGAL_TEXT_MAX = MAX_LEGAL_MOVES * (MOVE_TEXT_MAX + 2), FEN_TEXT_MAX = 128 };

static str fen_text(const struct position *pos, struct arena *a)
{
    struct buf b = { .arena = a, .max = FEN_TEXT_MAX };
    position_format(pos, &b);
    return buf_str(&b);
}

// Legal moves in the order that published prompts show (1.8).
static str legal_text(const struct position *pos, struct arena *a)
{
    struct buf b = { .arena = a, .max = LEGAL_TEXT_MAX };
    struct move_list list;
    moves_ordered(pos, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct move_text text = uci_format(list.v[i]);
        buf_addf(&b, "%s%s", i > 0 ? ", " : "", text.data);
    }
    return buf_str(&b);
}

void puzzle_inputs(const struct position *pos, struct arena *a, str out[3])
{
    out[0] = fen_text(pos, a);
    out[1] = pos->turn == WHITE ? S("white") : S("black");
    out[2] = legal_text(pos, a);
}

static void expand(const struct puzzle *p, struct arena *a, struct puzzle_positions *out)
{
    struct position pos = p->start;
    int count = (int)(p->n_moves / 2);
    for (int i = 0; i < count; i++) {
        const move *turn = &p->moves[2 * (size_t)i]; // the opponent's move, then the solution
        pos = position_after(&pos, turn[0]);
        struct puzzle_position *at = vec_push(a, out);
        *at = (struct puzzle_position){
            .puzzle = p, .index = i, .count = count, .at = pos, .solution = turn[1]
        };
        puzzle_inputs(&pos, a, at->inputs);
        struct move_text solution = uci_format(turn[1]);
        at->reference = arena_str(a, str_from(solution.data));
        pos = position_after(&pos, turn[1]);
    }
}

void puzzles_expand(const struct puzzles *p, struct arena *a, struct puzzle_positions *out)
{
    *out = (struct puzzle_positions){ 0 };
    for (size_t i = 0; i < p->n; i++)
        expand(&p->v[i], a, out);
}
