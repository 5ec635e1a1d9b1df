// SPDX-License-Identifier: GPL-3.0-or-later
// fen.c - fuzzes reading a FEN; what is accepted must survive writing and reading, and its moves
// must agree between the three orders and with their UCI texts.
#include "fuzz.h"

#include "chess/chess.h"

static void check_moves(const struct position *pos)
{
    struct move_list legal, ordered, sorted;
    moves_legal(pos, &legal);
    moves_ordered(pos, &ordered);
    moves_sorted(pos, &sorted);
    assert(legal.n == ordered.n && legal.n == sorted.n);
    for (size_t i = 0; i < sorted.n; i++) {
        struct move_text text = uci_format(sorted.v[i]);
        move m;
        assert(uci_parse(pos, str_from(text.data), &m) && m == sorted.v[i]);
        struct position after = position_after(pos, m);
        assert(after.turn != pos->turn);
        assert(move_gives_check(pos, m) == position_in_check(&after));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct position pos, again;
    struct err err = { 0 };
    if (position_parse(fuzz_text(data, size), &pos, &err) != FAULT_NONE) {
        assert(err.code == ERR_INPUT && err.text[0]);
        return 0;
    }
    struct arena a = { 0 };
    struct buf first = { .arena = &a }, second = { .arena = &a };
    position_format(&pos, &first);
    enum position_fault fault = position_parse(buf_str(&first), &again, &err);
    assert(fault == FAULT_NONE && again.key == pos.key);
    position_format(&again, &second);
    assert(str_eq(buf_str(&first), buf_str(&second)));
    check_moves(&pos);
    arena_free(&a);
    return 0;
}
