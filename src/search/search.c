// SPDX-License-Identifier: GPL-3.0-or-later
// search.c - iterative deepening alpha-beta over copy-made positions, quiescence behind it.
//
// One function serves both: below depth 0 only captures and promotions are tried, at depth 0 also
// checks, and a side in check always tries everything. So a mate in two that begins with a check
// is seen by the first iteration. Root moves far worse than the best one get an upper bound
// instead of an exact score: nobody needs to tell 5 pawns worse from 6, and the exact figure would
// cost most of the nodes. There is no table of positions: with the few nodes this engine is given
// it would pay little, and without it a search depends on nothing but its arguments.
#include <string.h>

#include "search/internal.h"

enum {
    PLY_MAX = 64,                     // captures and evasions end long before
    INFINITE_CP = SEARCH_MATE_CP + 1, // more than any score
    ROOT_MARGIN_CP = 300,             // root moves worse than the best by more are only bounded
    DELTA_CP = 150,                   // a capture that leaves us this far below alpha is skipped
    HALFMOVES_DRAWN = 100,            // fifty-move rule
};
enum { RANK_CAPTURE = 1000, RANK_KILLER = 2 };

struct search {
    uint64_t nodes, limit;
    bool stopped;             // out of nodes: every score on the way up is void
    move killers[PLY_MAX][2]; // quiet moves that refuted something at this ply, newest first
};
struct window {
    int alpha, beta;
};
struct node { // one position in the tree, and how it is to be searched
    const struct position *pos;
    int depth, ply;
    bool in_check;
    int stand_cp; // the score of moving nothing, in quiescence
};
struct ranked { // moves to try, the most promising picked first
    size_t n;
    move m[MAX_LEGAL_MOVES];
    int rank[MAX_LEGAL_MOVES];
};

// What a move takes and what it gains by promotion.
static int gain_cp(const struct position *pos, move m)
{
    enum move_kind kind = move_kind(m);
    if (kind == MOVE_CASTLING)
        return 0;
    int gain = piece_value_cp(kind == MOVE_EN_PASSANT ? PAWN : position_piece_at(pos, move_to(m)));
    enum piece promoted = move_promotion(m);
    return promoted == PIECE_NONE ? gain : gain + piece_value_cp(promoted) - piece_value_cp(PAWN);
}

// The most valuable victim by the least valuable attacker, then moves that refuted siblings.
static int rank_of(const struct search *s, const struct node *n, move m)
{
    int gain = gain_cp(n->pos, m);
    if (gain > 0)
        return RANK_CAPTURE + 10 * gain - piece_value_cp(position_piece_at(n->pos, move_from(m)));
    const move *killers = s->killers[n->ply];
    if (m == killers[0])
        return RANK_KILLER;
    return m == killers[1] ? RANK_KILLER - 1 : 0;
}

static bool is_tried(const struct node *n, move m, int alpha)
{
    if (n->depth > 0 || n->in_check)
        return true;
    int gain = gain_cp(n->pos, m);
    if (gain > 0 && n->stand_cp + gain + DELTA_CP > alpha)
        return true;
    return n->depth == 0 && move_gives_check(n->pos, m);
}

static void rank_moves(const struct search *s, const struct node *n, const struct move_list *legal,
                       int alpha, struct ranked *out)
{
    out->n = 0;
    for (size_t i = 0; i < legal->n; i++) {
        move m = legal->v[i];
        if (!is_tried(n, m, alpha))
            continue;
        out->m[out->n] = m;
        out->rank[out->n++] = rank_of(s, n, m);
    }
}

// Moves the best of what is left to place `from`; ties keep the order of the generator.
static move rank_pick(struct ranked *r, size_t from)
{
    size_t best = from;
    for (size_t i = from + 1; i < r->n; i++)
        if (r->rank[i] > r->rank[best])
            best = i;
    move m = r->m[best];
    int rank = r->rank[best];
    memmove(r->m + from + 1, r->m + from, (best - from) * sizeof r->m[0]);
    memmove(r->rank + from + 1, r->rank + from, (best - from) * sizeof r->rank[0]);
    r->m[from] = m;
    r->rank[from] = rank;
    return m;
}

static void remember_killer(struct search *s, const struct node *n, move m)
{
    move *killers = s->killers[n->ply];
    if (killers[0] == m || gain_cp(n->pos, m) > 0)
        return;
    killers[1] = killers[0];
    killers[0] = m;
}

static int search_position(struct search *s, const struct position *pos, struct window w, int depth,
                           int ply);

// Tries the moves of a node, fail-soft; `best` is what it has without moving.
static int search_children(struct search *s, const struct node *n, struct ranked *moves,
                           struct window w, int best)
{
    for (size_t i = 0; i < moves->n; i++) {
        move m = rank_pick(moves, i);
        struct position child = position_after(n->pos, m);
        struct window inner = { -w.beta, -(best > w.alpha ? best : w.alpha) };
        int score = -search_position(s, &child, inner, n->depth - 1, n->ply + 1);
        if (s->stopped)
            return 0;
        if (score > best)
            best = score;
        if (best >= w.beta) {
            remember_killer(s, n, m);
            return best;
        }
    }
    return best;
}

// The score for the side to move; void once the search has stopped.
static int search_position(struct search *s, const struct position *pos, struct window w, int depth,
                           int ply)
{
    if (s->nodes >= s->limit) {
        s->stopped = true;
        return 0;
    }
    s->nodes++;
    struct move_list legal;
    moves_legal(pos, &legal);
    struct node n = { pos, depth, ply, position_in_check(pos), 0 };
    if (legal.n == 0)
        return n.in_check ? ply - SEARCH_MATE_CP : 0;
    if (pos->halfmove >= HALFMOVES_DRAWN || position_is_insufficient(pos))
        return 0;
    if (ply >= PLY_MAX - 1)
        return evaluate_cp(pos);
    if (n.in_check && depth >= 0)
        n.depth++; // an answer to a check is no choice and should not cost a ply
    int best = -INFINITE_CP;
    if (n.depth <= 0 && !n.in_check) {
        n.stand_cp = best = evaluate_cp(pos);
        if (best >= w.beta)
            return best;
    }
    struct ranked moves;
    rank_moves(s, &n, &legal, best > w.alpha ? best : w.alpha, &moves);
    return search_children(s, &n, &moves, w, best);
}

// ---- the root ----

// Best first, ties in the order in which they stand; a stable insertion sort, for few items.
static void sort_by_score(struct scored_move *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct scored_move item = v[i];
        size_t at = i;
        for (; at > 0 && v[at - 1].score_cp < item.score_cp; at--)
            v[at] = v[at - 1];
        v[at] = item;
    }
}

// Before any node is spent a move is worth what it takes.
static void root_begin(const struct position *pos, struct search_result *out)
{
    struct move_list legal;
    moves_ordered(pos, &legal);
    if (legal.n == 0)
        BUG("a search needs a legal move");
    *out = (struct search_result){ .n = legal.n };
    int stand = evaluate_cp(pos);
    for (size_t i = 0; i < legal.n; i++)
        out->v[i] = (struct scored_move){ legal.v[i], stand + gain_cp(pos, legal.v[i]) };
    sort_by_score(out->v, out->n);
}

// Searches the root moves in their order into `fresh`; returns how many were finished.
static size_t root_iterate(struct search *s, const struct position *pos, int depth,
                           const struct search_result *last, struct scored_move *fresh)
{
    int best = -INFINITE_CP;
    for (size_t i = 0; i < last->n; i++) {
        int alpha = best > ROOT_MARGIN_CP - INFINITE_CP ? best - ROOT_MARGIN_CP : -INFINITE_CP;
        struct position child = position_after(pos, last->v[i].m);
        struct window w = { -INFINITE_CP, -alpha };
        int score = -search_position(s, &child, w, depth - 1, 1);
        if (s->stopped)
            return i;
        fresh[i] = (struct scored_move){ last->v[i].m, score };
        if (score > best)
            best = score;
    }
    return last->n;
}

// Puts moves of equal score back into the order of moves_ordered, whatever earlier iterations did.
static void root_settle(const struct position *pos, struct search_result *out)
{
    struct move_list legal;
    struct scored_move settled[MAX_LEGAL_MOVES] = { 0 };
    moves_ordered(pos, &legal);
    for (size_t i = 0; i < legal.n; i++)
        for (size_t k = 0; k < out->n; k++)
            if (out->v[k].m == legal.v[i])
                settled[i] = out->v[k];
    memcpy(out->v, settled, out->n * sizeof settled[0]);
    sort_by_score(out->v, out->n);
}

void search_moves(const struct position *pos, const struct search_limits *limits,
                  struct search_result *out)
{
    struct search s = { .limit = limits->nodes };
    struct scored_move fresh[MAX_LEGAL_MOVES];
    root_begin(pos, out);
    for (int depth = 1; depth <= limits->depth && !s.stopped; depth++) {
        size_t done = root_iterate(&s, pos, depth, out, fresh);
        // A broken iteration has looked at the most promising moves first. If it finished the
        // former best move, what it found counts; the rest keep their earlier scores.
        if (done > 0)
            memcpy(out->v, fresh, done * sizeof fresh[0]);
        sort_by_score(out->v, out->n);
        bool mate_found = out->v[0].score_cp >= SEARCH_MATE_CP - depth;
        if (mate_found)
            break; // deeper iterations can only find longer mates
    }
    out->nodes = s.nodes;
    root_settle(pos, out);
}
