// SPDX-License-Identifier: GPL-3.0-or-later
// epd.h - Extended Position Description: a position and what somebody says of it, in one line.
#pragma once
#include "chess/chess.h"

enum { EPD_OPERATIONS_MAX = 64 };
struct epd { // one line; the texts are views of it
    struct position at;
    unsigned repairs; // set of enum position_repair
    size_t n;
    struct epd_operation {
        str opcode, operands; // "bm", "Qxf7 Qh5"; "D1", "20"
    } v[EPD_OPERATIONS_MAX];
};
// Reads a position, with or without counters, and the operations after it. ERR_INPUT or ERR_LIMIT
// with what is wrong and its column; `out` is then untouched.
MUST_CHECK bool epd_parse(str line, enum variant variant, struct epd *out, struct err *err);
// The first operation of that name, or NULL.
const struct epd_operation *epd_find(const struct epd *epd, str opcode);
// Cuts the next operand off `*rest`, without its quotes; false: there is none left.
bool epd_operand(str *rest, str *out);
// The move that an operand of bm or am means: SAN, long algebraic or UCI; "!" and "?" are ignored.
enum san_verdict epd_move(const struct epd *epd, str operand, move *out);
