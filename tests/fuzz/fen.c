// SPDX-License-Identifier: GPL-3.0-or-later
// fen.c - fuzzes reading a FEN; what is accepted must survive writing and reading, and its moves
// must agree between the three orders and with their UCI texts, in either variant.
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

static void check_form(const struct position *pos, str fen)
{
    struct position again;
    unsigned repairs = 0;
    enum position_fault fault =
        position_parse_as(fen, (enum variant)pos->variant, &again, &repairs, NULL);
    assert(fault == FAULT_NONE && repairs == 0 && again.key == pos->key);
}

static void check_variant(str text, enum variant variant)
{
    struct position pos;
    struct err err = { 0 };
    if (position_parse_as(text, variant, &pos, NULL, &err) != FAULT_NONE) {
        assert(err.code == ERR_INPUT && err.text[0]);
        return;
    }
    struct arena a = { 0 };
    struct buf xfen = { .arena = &a }, shredder = { .arena = &a };
    position_format(&pos, &xfen);
    position_format_shredder(&pos, &shredder);
    check_form(&pos, buf_str(&xfen));
    check_form(&pos, buf_str(&shredder));
    check_moves(&pos);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_variant(fuzz_text(data, size), VARIANT_STANDARD);
    check_variant(fuzz_text(data, size), VARIANT_CHESS960);
    return 0;
}
