// SPDX-License-Identifier: GPL-3.0-or-later
// schedule.c - round robin and gauntlet, with colours and openings.
#include "match/match.h"
#include "base/base.h"

size_t match_encounters(const struct match_format *f)
{
    return f->gauntlet ? f->n_players - 1 : f->n_players * (f->n_players - 1) / 2;
}

size_t match_round_games(const struct match_format *f)
{
    return match_encounters(f) * (f->single ? 1 : 2);
}

// The k-th encounter: (0, 1), (0, 2), ..., (1, 2), ...
static void encounter_at(const struct match_format *f, size_t k, size_t *a, size_t *b)
{
    size_t row = f->n_players - 1;
    for (*a = 0; k >= row; row--, ++*a)
        k -= row;
    *b = *a + 1 + k;
}

struct match_pairing match_pairing_at(const struct match_format *f, size_t game)
{
    size_t a, b, of_round = match_round_games(f), round = game / of_round;
    size_t in_round = game % of_round, encounter = f->single ? in_round : in_round / 2;
    encounter_at(f, encounter, &a, &b);
    // Alone, each has White in every other round, and not all of the first rows begin with it.
    bool turned = f->single ? (round + a + b) % 2 == 0 : in_round % 2 == 1;
    return (struct match_pairing){ .white = turned ? b : a,
                                   .black = turned ? a : b,
                                   .opening = f->n_openings > 0 ? round % f->n_openings : 0,
                                   .round = (int64_t)round };
}
