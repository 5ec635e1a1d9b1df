// SPDX-License-Identifier: GPL-3.0-or-later
// line.h - lines of moves, for readers of millions of them.
#pragma once
#include "chess/chess.h"
#include "chess/epd.h"

enum line_verdict { LINE_GOOD, LINE_ILLEGAL, LINE_TOO_LONG };
struct line {
    const char *bad; // of LINE_ILLEGAL: the word, in the text
    size_t bad_len;
    size_t n;             // moves read
    struct position last; // after them; keys and counters are those of the start
};
// Reads UCI moves separated by blanks and plays them from `start`; `moves` has room for `max`.
enum line_verdict uci_line_parse(const struct position *start, str text, move *moves, size_t max,
                                 struct line *out);
// Whether `m` is one of the legal moves of `pos`.
bool move_is_legal(const struct position *pos, move m);
// The null move of annotated games: the other side to move, nothing else changed. False: in check
// (who passes then loses the king). `out` may be `pos`.
MUST_CHECK bool position_pass(const struct position *pos, struct position *out);
