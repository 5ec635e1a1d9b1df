// SPDX-License-Identifier: GPL-3.0-or-later
// san.c - fuzzes reading a move in SAN: the first line is a FEN, the rest the move. What is read
// as legal must be a legal move, and the SAN of each legal move must be read as that move.
#include "fuzz.h"

#include "chess/chess.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    struct position pos;
    str fen = str_cut(&text, '\n');
    enum variant variant = size % 2 ? VARIANT_CHESS960 : VARIANT_STANDARD;
    if (position_parse_as(fen, variant, &pos, NULL, NULL) != FAULT_NONE)
        return 0;
    struct move_list legal;
    moves_legal(&pos, &legal);
    move read = MOVE_NONE, m = MOVE_NONE;
    enum san_verdict verdict = san_parse(&pos, text, &read);
    bool found = false;
    for (size_t i = 0; i < legal.n; i++) {
        found = found || legal.v[i] == read;
        struct move_text san = san_format(&pos, legal.v[i]);
        assert(san_parse(&pos, str_from(san.data), &m) == SAN_LEGAL && m == legal.v[i]);
    }
    assert(verdict != SAN_LEGAL || found);
    return 0;
}
