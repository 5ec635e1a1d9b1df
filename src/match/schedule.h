// SPDX-License-Identifier: GPL-3.0-or-later
// schedule.h - who meets whom in a tournament, and where its games begin. Pure but for reading.
#pragma once
#include "chess/chess.h"

struct match_format {
    size_t n_players;
    bool gauntlet; // the first against each other one; else each against each
    bool single;   // one game an encounter, colours in turn; else two, both colours
    int64_t n_rounds;
    size_t n_openings; // one a round, in order, from the first again
};
struct match_pairing {
    size_t white, black; // players
    size_t opening;
    int64_t round; // from 0
};
size_t match_encounters(const struct match_format *f); // of a round
size_t match_round_games(const struct match_format *f);
// The game of this number, from 0; round after round, the two of an encounter side by side.
struct match_pairing match_pairing_at(const struct match_format *f, size_t game);

enum { MATCH_OPENINGS_MAX = 100000 };
struct match_openings {
    struct match_opening {
        struct position at;
        str name;      // of EPD's id, or PGN's Opening or ECO tag; empty: none
        size_t lineno; // where it stands
    } * v;
    size_t n, cap;
    str sha256; // of the positions, in order
};
// Reads the lines of an EPD or FEN file (.epd, .fen, .txt), or the games of a PGN file, up to
// `plies` half-moves of each. Positions in which nobody can move, and broken games, are ERR_INPUT
// with file and line.
MUST_CHECK bool match_openings_load(str path, int plies, struct arena *a,
                                    struct match_openings *out, struct err *err);
// Shuffles them by the stream "tournament/openings" of the seed.
void match_openings_shuffle(struct match_openings *o, uint64_t seed);
