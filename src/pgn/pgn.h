// SPDX-License-Identifier: GPL-3.0-or-later
// pgn.h - games in Portable Game Notation: a streaming reader, and a writer. Standard: the PGN
// specification of 1994 (import format); what real files do beyond it is read too, and said here.
#pragma once
#include "base/base.h"
#include "chess/chess.h"
#include "input/input.h"

enum {
    PGN_GAME_MAX_BYTES = ROW_MAX_BYTES, // text of one game
    PGN_DEPTH_MAX = 64,                 // variations within variations
    PGN_TAGS_MAX = 256,                 // tags of one game
};

struct pgn_tag {
    str name, value; // value unescaped
};

// What stands beside the moves of the main line, in the order of the text.
enum pgn_note_kind {
    PGN_COMMENT,
    PGN_NAG,
    PGN_OPEN, // a variation begins: an alternative to the move before it
    PGN_SIDE_MOVE,
    PGN_CLOSE,
};
struct pgn_note {
    enum pgn_note_kind kind;
    size_t ply; // moves of the main line before it
    str text;   // PGN_COMMENT: without braces and blanks at its ends
    int nag;    // PGN_NAG: 0..255; "!" is 1, "?" 2, "!!" 3, "??" 4, "!?" 5, "?!" 6
    move side;  // PGN_SIDE_MOVE; MOVE_NONE: a null move
};

struct pgn_game {
    size_t line;     // of its first line, from 1
    uint64_t offset; // of its first byte in the unpacked text
    struct pgn_tags {
        struct pgn_tag *v; // each name once: the last value wins
        size_t n, cap;
    } tags;
    struct position start; // by the tags FEN and Variant; "SetUp" is not asked
    struct pgn_moves {
        move *v; // the main line; MOVE_NONE: a null move
        size_t n, cap;
    } moves;
    struct game end; // the position after them, and what is needed to tell repetitions
    struct pgn_notes {
        struct pgn_note *v;
        size_t n, cap;
    } notes;
    str result;            // "1-0", "0-1", "1/2-1/2", "*" as the movetext ends; empty: it says none
    size_t bad_tags;       // lines in brackets that are no tag pair; left out
    size_t bad_variations; // broken off at a move that is not legal, or never closed
    size_t latin1_bytes;   // not UTF-8, read as Latin-1
    // Of a broken game, which keeps what was read before the fault:
    struct err fault; // the sentence, without file and line
    size_t fault_line;
    uint64_t fault_offset;
};

// ---- reading ----

struct pgn_reader; // opaque
// Opens a file, plain or zstd.
MUST_CHECK bool pgn_open(str path, struct pgn_reader **out, struct err *err);
// Opens text in memory as if it were the file `path`; keeps both.
MUST_CHECK bool pgn_open_text(str path, str text, struct pgn_reader **out, struct err *err);
void pgn_close(struct pgn_reader *r); // NULL is fine

enum pgn_read { PGN_GOOD, PGN_BROKEN, PGN_END, PGN_FAIL };
// Reads the next game; every move is checked by the rules, those of variations too. Its texts and
// vectors lie in the reader or in `a`, and hold until the next call. PGN_BROKEN: the main line has
// a fault, `out->fault` says which, and reading goes on with the next game. PGN_FAIL: the file
// cannot be read on (`err`).
//
// A game ends with its result, before a line that begins with a tag, or before a move number 1
// that follows an empty line. So neither results nor empty lines must be there.
enum pgn_read pgn_next(struct pgn_reader *r, struct arena *a, struct pgn_game *out,
                       struct err *err);

// The value of a tag; empty: there is none.
str pgn_tag(const struct pgn_game *game, str name);

// ---- commands in comments: "[%clk 0:05:00]" ----

// What follows the command's name; empty: it is not there.
str pgn_command(str comment, str name);
// "H:MM:SS" with an optional fraction, or only minutes and seconds; for clk, emt, egt.
MUST_CHECK bool pgn_clock(str comment, str name, int64_t *ms);
struct pgn_eval { // from White's view
    bool is_mate;
    int cp;   // centipawns
    int mate; // moves to mate; negative: White is mated
};
// "[%eval -0.61]", "[%eval #-3]", either with ",DEPTH".
MUST_CHECK bool pgn_eval(str comment, struct pgn_eval *out);

// ---- writing ----

// Adds the game in export format: the seven tags first, standard SAN, lines of at most 79
// characters but for comments, which are kept as they are, and an empty line at the end. Reading
// gives the same game again.
void pgn_write(const struct pgn_game *game, struct buf *out);
