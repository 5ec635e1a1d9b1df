// SPDX-License-Identifier: GPL-3.0-or-later
// view.c - reads a chat the way a simulated model does: the instruction, the demonstrations, the
// question. Nothing comes from anywhere but the rendered messages (few-shot specification 1.4-1.6
// says how they look); what does not look so is read as far as it goes.
#include "sim/internal.h"

enum { FEN_SLASHES = 7, FEN_FIELDS = 6 };

// What stands in the slot `[[ ## NAME ## ]]`, up to the next slot or empty line.
static str slot(str text, str mark)
{
    ptrdiff_t at = str_find(text, mark);
    if (at < 0)
        return (str){ 0 };
    str rest = str_sub(text, (size_t)at + mark.len, text.len);
    str_cut_line(&rest);
    ptrdiff_t end = str_find(rest, S("\n\n"));
    if (end >= 0)
        rest = str_sub(rest, 0, (size_t)end);
    end = str_find(rest, S("[[ ## "));
    return str_trim(end >= 0 ? str_sub(rest, 0, (size_t)end) : rest);
}

static bool parse_position(str fen, struct position *out)
{
    return position_parse(fen, out, NULL) == FAULT_NONE;
}

static size_t count_char(str s, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += s.data[i] == c;
    return n;
}

// The first field of six that has the shape of a board, with what follows on its line: prompts of
// other origin write the FEN somewhere in a sentence.
bool scan_position(str text, struct position *out)
{
    while (text.len > 0) {
        str line = str_cut_line(&text);
        for (str rest = line; rest.len > 0;) {
            str from = rest;
            str word = str_cut(&rest, ' ');
            if (count_char(word, '/') != FEN_SLASHES)
                continue;
            size_t len = 0;
            str fields = from;
            for (int i = 0; i < FEN_FIELDS && fields.len > 0; i++)
                len += str_cut(&fields, ' ').len + 1;
            str fen = str_trim_set(str_sub(from, 0, len - 1), S(" \"'`.,;"));
            if (parse_position(fen, out))
                return true;
        }
    }
    return false;
}

static bool find_position(str text, struct position *out)
{
    str fen = slot(text, S("[[ ## position_fen ## ]]"));
    return fen.len > 0 ? parse_position(fen, out) : scan_position(text, out);
}

static str instruction_of(str system)
{
    str mark = S("your objective is:");
    ptrdiff_t at = str_find(system, mark);
    return str_trim(at < 0 ? system : str_sub(system, (size_t)at + mark.len, system.len));
}

// The move of an assistant's message: its JSON member `move`, else the message itself.
static str answered_move(str text, struct arena *a)
{
    struct json_members members = { 0 };
    size_t used;
    ptrdiff_t at = str_find_char(text, '{');
    if (at < 0 || !json_read_lenient(str_sub(text, (size_t)at, text.len), a, &members, &used))
        return str_trim(text);
    for (size_t i = 0; i < members.n; i++)
        if (str_eq(members.v[i].key, S("move")))
            return str_trim(members.v[i].text);
    return (str){ 0 };
}

static struct sim_demo read_demo(str question, str reply, struct arena *a)
{
    struct position pos;
    move m;
    if (!find_position(question, &pos))
        return (struct sim_demo){ 0 };
    str text = answered_move(reply, a);
    if (!uci_parse(&pos, text, &m) && san_parse(&pos, text, &m) != SAN_LEGAL)
        return (struct sim_demo){ 0 };
    bool check = move_gives_check(&pos, m);
    return (struct sim_demo){ .good = true,
                              .turn = (enum color)pos.turn,
                              .mates = check && move_gives_mate(&pos, m),
                              .forces = check || move_is_capture(&pos, m) };
}

// User and assistant pairs in a row, before the question.
static void read_demos(const struct messages *m, size_t n, struct arena *a, struct view *out)
{
    struct sim_demo *demos = NEW_ARRAY(a, struct sim_demo, n / 2 + 1);
    for (size_t i = 0; i + 1 < n; i++) {
        if (m->v[i].role != ROLE_USER || m->v[i + 1].role != ROLE_ASSISTANT)
            continue;
        demos[out->n_demos++] = read_demo(m->v[i].text, m->v[i + 1].text, a);
    }
    out->demos = demos;
}

void view_read(const struct messages *m, struct arena *a, struct view *out)
{
    *out = (struct view){ 0 };
    size_t asked = m->n;
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].role == ROLE_USER)
            asked = i;
    for (size_t i = 0; i < m->n && out->instruction.len == 0; i++)
        if (m->v[i].role == ROLE_SYSTEM)
            out->instruction = instruction_of(m->v[i].text);
    if (asked == m->n)
        return; // nobody asks anything
    read_demos(m, asked, a, out);
    out->question = m->v[asked].text;
    out->has_position = find_position(out->question, &out->pos);
    out->legal = slot(out->question, S("[[ ## legal_moves_uci ## ]]"));
    str mark = S("order of fields:");
    ptrdiff_t at = str_find(out->question, mark);
    if (at >= 0)
        out->fields = str_sub(out->question, (size_t)at + mark.len, out->question.len);
}
