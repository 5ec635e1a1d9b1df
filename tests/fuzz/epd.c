// SPDX-License-Identifier: GPL-3.0-or-later
// epd.c - fuzzes reading a line of EPD. Texts are views of the line, operands end, and what is read
// as a move is a legal one; any operand is also tried as UCI alone.
#include "fuzz.h"

#include "chess/chess.h"

static void check_view(str part, str line)
{
    assert(part.len == 0 ||
           (part.data >= line.data && part.data + part.len <= line.data + line.len));
}

static void check_move(const struct epd *epd, str operand)
{
    move m = MOVE_NONE, again = MOVE_NONE;
    if (epd_move(epd, operand, &m) != SAN_LEGAL) {
        assert(!uci_parse(&epd->at, operand, &again));
        return;
    }
    assert(move_is_legal(&epd->at, m));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str line = fuzz_text(data, size), operand;
    struct epd epd;
    struct err err = { 0 };
    if (!epd_parse(line, size % 2 ? VARIANT_CHESS960 : VARIANT_STANDARD, &epd, &err)) {
        assert((err.code == ERR_INPUT || err.code == ERR_LIMIT) && err.text[0]);
        return 0;
    }
    for (size_t i = 0; i < epd.n; i++) {
        assert(epd.v[i].opcode.len > 0 && epd_find(&epd, epd.v[i].opcode));
        check_view(epd.v[i].opcode, line);
        check_view(epd.v[i].operands, line);
        size_t n = 0;
        for (str rest = epd.v[i].operands; epd_operand(&rest, &operand); n++) {
            check_view(operand, line);
            check_move(&epd, operand);
        }
        assert(n <= size);
    }
    return 0;
}
