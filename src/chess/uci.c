// SPDX-License-Identifier: GPL-3.0-or-later
// uci.c - moves as UCI writes them: from, to, promotion letter.
#include "chess/internal.h"

struct move_text uci_format(move m)
{
    square from = move_from(m), to = move_to(m);
    struct move_text text = { { (char)('a' + (from & 7)), (char)('1' + (from >> 3)),
                                (char)('a' + (to & 7)), (char)('1' + (to >> 3)) } };
    enum piece promotion = move_promotion(m);
    if (promotion != PIECE_NONE)
        text.data[4] = "pnbrqk"[promotion];
    return text;
}

bool uci_parse(const struct position *pos, str text, move *out)
{
    if (text.len != 4 && text.len != 5)
        return false;
    struct move_list list;
    moves_legal(pos, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct move_text legal = uci_format(list.v[i]);
        if (str_eq(text, str_from(legal.data))) {
            *out = list.v[i];
            return true;
        }
    }
    return false;
}
