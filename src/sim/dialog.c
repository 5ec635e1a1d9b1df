// SPDX-License-Identifier: GPL-3.0-or-later
// dialog.c - how a simulated model holds the dialog of an LLM Chess game: it asks for the board and
// for the legal moves where they are offered and not yet shown, then moves. It knows nothing but
// what the messages show; from a drawn board it guesses castling rights, and the list corrects it.
#include <string.h>

#include "sim/internal.h"

enum { RANKS = 8, BOARD_FEN_MAX = 80 };

// The letter of a square as a board draws it; 0: no square.
static char letter_of(str text, size_t *len)
{
    static const str glyphs[] = { T("♔"), T("♕"), T("♖"), T("♗"), T("♘"), T("♙"), T("♚"),
                                  T("♛"), T("♜"), T("♝"), T("♞"), T("♟"), T("⭘") };
    static const char letters[] = "KQRBNPkqrbnp.";
    for (size_t i = 0; i < ARRAY_LEN(glyphs); i++)
        if (str_starts(text, glyphs[i])) {
            *len = glyphs[i].len;
            return letters[i];
        }
    *len = 1;
    return text.len > 0 && strchr(letters, text.data[0]) ? text.data[0] : '\0';
}

// One rank of eight squares, with or without blanks between them, as FEN writes it.
static bool read_rank(str line, struct buf *fen)
{
    int squares = 0, empty = 0;
    while (line.len > 0) {
        size_t len;
        if (line.data[0] == ' ') {
            line = str_sub(line, 1, line.len);
            continue;
        }
        char c = letter_of(line, &len);
        if (c == '\0')
            return false;
        line = str_sub(line, len, line.len);
        squares++;
        if (c == '.') {
            empty++;
            continue;
        }
        if (empty > 0)
            buf_addf(fen, "%d", empty);
        buf_add_char(fen, c);
        empty = 0;
    }
    if (empty > 0)
        buf_addf(fen, "%d", empty);
    return squares == RANKS;
}

// A drawn board anywhere in the text.
static bool read_board(str text, enum color side, struct arena *a, struct position *out)
{
    struct buf fen = { .arena = a, .max = BOARD_FEN_MAX };
    int ranks = 0;
    while (text.len > 0 && ranks < RANKS) {
        size_t before = fen.len;
        if (ranks > 0)
            buf_add_char(&fen, '/');
        if (read_rank(str_cut_line(&text), &fen)) {
            ranks++;
            continue;
        }
        fen.len = ranks > 0 ? 0 : before;
        ranks = 0;
    }
    if (ranks < RANKS)
        return false;
    buf_addf(&fen, " %c KQkq - 0 1", side == WHITE ? 'w' : 'b');
    return position_parse(buf_str(&fen), out, NULL) == FAULT_NONE;
}

static bool is_uci(str word)
{
    square from, to;
    return (word.len == 4 || word.len == 5) && square_parse(str_sub(word, 0, 2), &from) &&
           square_parse(str_sub(word, 2, 2), &to);
}

// A line that is nothing but moves in UCI, separated by commas.
static str find_list(str text)
{
    while (text.len > 0) {
        str line = str_trim(str_cut_line(&text)), rest = line;
        bool good = line.len > 0;
        while (good && rest.len > 0)
            good = is_uci(str_cut(&rest, ','));
        if (good)
            return line;
    }
    return (str){ 0 };
}

// The message that opens the dialog; empty: these are no dialog.
static str find_kickoff(const struct messages *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].role == ROLE_USER)
            return str_find(m->v[i].text, S("'make_move <UCI formatted move>'")) >= 0 ? m->v[i].text
                                                                                      : (str){ 0 };
    return (str){ 0 };
}

bool dialog_view(const struct messages *m, struct arena *a, struct dialog_wish *out)
{
    str kickoff = find_kickoff(m);
    *out = (struct dialog_wish){ 0 };
    if (kickoff.len == 0)
        return false;
    enum color side = str_find(kickoff, S("play as white")) >= 0 ? WHITE : BLACK;
    for (size_t i = 0; i < m->n; i++) {
        str text = m->v[i].text;
        if (m->v[i].role != ROLE_USER)
            continue;
        out->has_position |= read_board(text, side, a, &out->pos) || scan_position(text, &out->pos);
        str list = find_list(text);
        out->legal = list.len > 0 ? list : out->legal;
    }
    if (!out->has_position && str_find(kickoff, S("get_current_board")) >= 0)
        out->action = S("get_current_board");
    else if (out->legal.len == 0 && str_find(kickoff, S("get_legal_moves")) >= 0)
        out->action = S("get_legal_moves");
    return true;
}
