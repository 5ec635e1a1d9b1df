// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the scanners behind the resolver: shapes of moves and words in free text.
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
