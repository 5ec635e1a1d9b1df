// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the scanners behind the resolver: shapes of moves and words in free text; the parts
// of the reader of dialogs.
#pragma once
#include "episode/episode.h"

// Length of the UCI-shaped (file rank file rank, optional promotion letter) or SAN-shaped text
// that begins exactly at `at` and is bounded by something that is no ASCII letter or digit behind
// it; 0: none. Letters of either case. (Few-shot specification 2.2.)
size_t scan_uci_shape(str text, size_t at);
size_t scan_san_shape(str text, size_t at);
// Whether an ASCII letter or digit stands just before `at`.
bool scan_inside_token(str text, size_t at);

// Length of the white-space character at `at`, 0: none.
size_t scan_space(str text, size_t at);
// Length of `word` (lower-case ASCII) at `at` under Unicode case folding as Python's re.IGNORECASE
// does it (also dotless i, long s, Kelvin sign); 0: another text stands there.
size_t scan_word(str text, size_t at, str word);
// Whether \b of Python's re (Unicode) matches at `at`.
bool scan_boundary(str text, size_t at);
// Whether the text holds a guard word, and whether it plainly announces a move (2.4).
bool scan_has_guard_word(str text);
bool scan_announces_move(str text);
// The payload of the last "Final move:" line (2.1), trimmed but not stripped; false: no such line.
bool scan_final_move(str text, str *payload);

// ---- dialogs ----

// Reads a text as profile compat or v0 does; fills action, move and why.
void dialog_read_compat(const struct dialog_rules *r, bool after_reflection, str text,
                        struct arena *a, struct dialog_reading *out);
// The same as profile robust, and lenient. `text`: the reply without reasoning.
void dialog_read_robust(const struct dialog_rules *r, const struct dialog_said *said, str text,
                        struct arena *a, struct dialog_reading *out);
struct dialog_try dialog_move_robust(const struct dialog_rules *r, const struct position *pos,
                                     str text, struct arena *a);
// The legal move of a UCI text, castling also as king takes own rook; MOVE_NONE: none.
move dialog_uci_move(const struct dialog_rules *r, const struct position *pos, str text);
// Ends the sentence in `b` with the position, unless the rules keep it back.
str dialog_refusal(const struct dialog_rules *r, const struct position *pos, struct buf *b);

// ---- data ----

// data/openings.json, put into the program when it is built.
extern const unsigned char episode_openings_data[];
extern const size_t episode_openings_size;
