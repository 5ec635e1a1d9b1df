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

static bool read_square(const char *text, square *out)
{
    if (text[0] < 'a' || text[0] > 'h' || text[1] < '1' || text[1] > '8')
        return false;
    *out = (square)(8 * (text[1] - '1') + (text[0] - 'a'));
    return true;
}

bool uci_parse(const struct position *pos, str text, move *out)
{
    square from, to;
    if ((text.len != 4 && text.len != 5) || !read_square(text.data, &from) ||
        !read_square(text.data + 2, &to))
        return false;
    struct move_list list;
    moves_legal(pos, &list);
    for (size_t i = 0; i < list.n; i++) {
        move m = list.v[i];
        if (move_from(m) == from && move_to(m) == to &&
            str_eq(text, str_from(uci_format(m).data))) {
            *out = m;
            return true;
        }
    }
    return false;
}
