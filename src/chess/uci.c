// SPDX-License-Identifier: GPL-3.0-or-later
// uci.c - moves as UCI writes them: from, to, promotion letter.
#include "chess/internal.h"

struct move_text uci_format(move m)
{
    square from = move_from(m), to = written_to(m);
    struct move_text text = { { (char)('a' + (from & 7)), (char)('1' + (from >> 3)),
                                (char)('a' + (to & 7)), (char)('1' + (to >> 3)) } };
    enum piece promotion = move_promotion(m);
    if (promotion != PIECE_NONE)
        text.data[4] = "pnbrqk"[promotion];
    return text;
}

bool square_parse(str text, square *out)
{
    if (text.len != 2 || !is_file(text.data[0]) || !is_rank(text.data[1]))
        return false;
    *out = (square)(8 * (text.data[1] - '1') + (text.data[0] - 'a'));
    return true;
}

bool uci_parse(const struct position *pos, str text, move *out)
{
    square from, to;
    if (text.len > 5 || !square_parse(str_sub(text, 0, 2), &from) ||
        !square_parse(str_sub(text, 2, 2), &to))
        return false;
    struct move_list list;
    moves_legal(pos, &list);
    for (size_t i = 0; i < list.n; i++) {
        move m = list.v[i];
        if (move_from(m) == from && written_to(m) == to &&
            str_eq(text, str_from(uci_format(m).data))) {
            *out = m;
            return true;
        }
    }
    return false;
}
