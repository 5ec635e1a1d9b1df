// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of module search share.
#pragma once
#include "search/search.h"

// Material and placement in centipawns, for the side to move.
int evaluate_cp(const struct position *pos);
// Material alone; the king and PIECE_NONE count 0.
int piece_value_cp(enum piece p);
