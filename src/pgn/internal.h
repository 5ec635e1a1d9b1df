// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the parser's state, shared by the files of this module.
//
// The parser works on what has been read so far. Where it meets the end of that, and the file goes
// on, it is `hungry`: the attempt is given up and made again with more text. So no part of it has
// to be able to stop in the middle, and a game is parsed twice only where a block ends.
#pragma once
#include "pgn/pgn.h"

struct pgn_line { // the main line, or a variation
    struct position before, now;
    bool moved;  // there is a position before
    bool dead;   // a variation with a bad move: the rest of it is not read
    bool opened; // its beginning has been noted
};

struct pgn_parse {
    const char *begin, *p, *end;
    bool complete; // nothing follows `end`
    bool hungry;
    struct pgn_game *game;
    struct arena *a;
    struct pgn_line lines[PGN_DEPTH_MAX + 1];
    size_t depth;
};

// Parses the game at the start of the text and returns how many bytes it takes; `out->line` and
// offsets count from the start of the text. 0: hungry, or, in a complete text, no more games.
size_t pgn_parse_game(str text, bool complete, struct arena *a, struct pgn_game *out);

// Whether there is a character to look at; if not, the parser may become hungry.
static inline bool pgn_has(struct pgn_parse *x)
{
    if (x->p < x->end)
        return true;
    x->hungry = !x->complete;
    return false;
}

// Notes a fault at `at`; only the first one counts.
void pgn_fault(struct pgn_parse *x, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);

// tags.c: reads the tag pair at "[", in a line that is whole. A malformed one is counted.
void pgn_read_tag(struct pgn_parse *x);
// The start position that the tags ask for; false: they name none that is read (a fault at `at`).
bool pgn_set_up(struct pgn_parse *x, const char *at);
// `text` as UTF-8: a view, or where it is none, a copy read as Latin-1, and counted.
str pgn_utf8(struct pgn_parse *x, str text);

// move.c: plays a word of the movetext, or finds that it means nothing or cannot be played.
void pgn_read_word(struct pgn_parse *x, str word);
// The result that a word spells, also with other dashes and one half as one character; or empty.
str pgn_result(str word);
