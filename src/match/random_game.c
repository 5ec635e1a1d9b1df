// SPDX-License-Identifier: GPL-3.0-or-later
// random_game.c - games of two players who choose uniformly among the legal moves.
//
// The automatic rules are tested in the order of the specification (2.2): mate and stalemate,
// insufficient material, seventy-five moves, fivefold repetition; then the cap on plies. Repetition
// is looked for only where it can be: four earlier occurrences need sixteen plies without a capture
// or pawn move.
#include "match/match.h"

enum { FIVEFOLD = 5, FIVEFOLD_PLIES = 16, SEVENTYFIVE_PLIES = 150, PLIES_MAX = 1000 };

str match_end_name(enum match_end e)
{
    static const char *const names[MATCH_ENDS] = {
        [MATCH_ONGOING] = "",
        [MATCH_CHECKMATE] = "Checkmate",
        [MATCH_STALEMATE] = "Stalemate",
        [MATCH_INSUFFICIENT_MATERIAL] = "Insufficient material",
        [MATCH_SEVENTYFIVE_MOVES] = "Seventy-five moves rule",
        [MATCH_FIVEFOLD_REPETITION] = "Fivefold repetition",
        [MATCH_MAX_MOVES] = "Max moves reached",
    };
    return str_from(names[e]);
}

struct board { // a game at work
    struct position now;
    struct move_list legal;
    uint64_t keys[PLIES_MAX + 1]; // of all positions so far
    int plies;
};

static bool is_fivefold(const struct board *b)
{
    int seen = 1, reach = b->now.halfmove < b->plies ? b->now.halfmove : b->plies;
    for (int back = 4; back <= reach; back += 2)
        seen += b->keys[b->plies - back] == b->now.key;
    return seen >= FIVEFOLD;
}

static enum match_end end_of(const struct board *b, int max_plies)
{
    const struct position *p = &b->now;
    if (b->legal.n == 0)
        return position_in_check(p) ? MATCH_CHECKMATE : MATCH_STALEMATE;
    bool could_mate = p->piece[PAWN] | p->piece[ROOK] | p->piece[QUEEN];
    if (!could_mate && position_is_insufficient(p))
        return MATCH_INSUFFICIENT_MATERIAL;
    if (p->halfmove >= SEVENTYFIVE_PLIES)
        return MATCH_SEVENTYFIVE_MOVES;
    if (p->halfmove >= FIVEFOLD_PLIES && is_fivefold(b))
        return MATCH_FIVEFOLD_REPETITION;
    return b->plies >= max_plies ? MATCH_MAX_MOVES : MATCH_ONGOING;
}

static int material(const struct position *p, enum color c)
{
    static const int worth[] = { [PAWN] = 1, [KNIGHT] = 3, [BISHOP] = 3, [ROOK] = 5, [QUEEN] = 9 };
    int sum = 0;
    for (int piece = PAWN; piece <= QUEEN; piece++)
        sum += worth[piece] * __builtin_popcountll(p->piece[piece] & p->side[c]);
    return sum;
}

void match_random_game(uint64_t seed, uint64_t game, int max_plies, struct match_game *out)
{
    static const char *const sides[] = { [WHITE] = "white", [BLACK] = "black" };
    struct rng streams[2];
    struct board b = { .now = position_start() };
    char name[40];
    max_plies = max_plies < PLIES_MAX ? max_plies : PLIES_MAX;
    for (int c = WHITE; c <= BLACK; c++) {
        snprintf(name, sizeof name, "play/%llu/%s", (unsigned long long)game, sides[c]);
        rng_seed(&streams[c], seed, str_from(name));
    }
    *out = (struct match_game){ .winner = -1 };
    for (;;) {
        b.keys[b.plies] = b.now.key;
        moves_legal(&b.now, &b.legal);
        out->end = end_of(&b, max_plies);
        if (out->end != MATCH_ONGOING)
            break;
        out->n_legal += b.legal.n;
        move m = b.legal.v[rng_below(&streams[b.now.turn], b.legal.n)];
        b.now = position_after(&b.now, m);
        b.plies++;
    }
    out->plies = b.plies;
    if (out->end == MATCH_CHECKMATE)
        out->winner = b.now.turn ^ 1;
    for (int c = WHITE; c <= BLACK; c++)
        out->material[c] = material(&b.now, (enum color)c);
}
