// SPDX-License-Identifier: GPL-3.0-or-later
// helpers.h - what the chess tests share: short ways to positions and lists, and reading the
// records of the shared data pack.
#pragma once
#include "test.h"

#include "chess/chess.h"

// The position of a FEN that must be accepted.
static inline struct position pos_of(const char *fen)
{
    struct position pos;
    struct err err = { 0 };
    if (position_parse(str_from(fen), &pos, &err) != FAULT_NONE)
        fail_msg("%s: %s", fen, err.text);
    return pos;
}

// The same in chess960.
static inline struct position pos960_of(const char *fen)
{
    struct position pos;
    struct err err = { 0 };
    if (position_parse_as(str_from(fen), VARIANT_CHESS960, &pos, NULL, &err) != FAULT_NONE)
        fail_msg("%s: %s", fen, err.text);
    return pos;
}

// Initial position N of chess960 (0 to 959), numbered as Scharnagl does: 518 is that of chess.
static inline struct position start960(int n, struct arena *a)
{
    char back[] = "........";
    back[2 * (n % 4) + 1] = 'B';
    back[2 * (n / 4 % 4)] = 'B';
    int rest = n / 16, queen = rest % 6, knights = rest / 6;
    static const char pairs[10][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 }, { 1, 2 },
                                       { 1, 3 }, { 1, 4 }, { 2, 3 }, { 2, 4 }, { 3, 4 } };
    for (int i = 0, free = 0; i < 8; i++) {
        if (back[i] == '.' && free++ == queen)
            back[i] = 'Q';
    }
    for (int i = 0, free = 0; i < 8; i++) {
        if (back[i] != '.')
            continue;
        back[i] = free == pairs[knights][0] || free == pairs[knights][1] ? 'N' : '.';
        free++;
    }
    for (int i = 0, free = 0; i < 8; i++) {
        if (back[i] == '.')
            back[i] = "RKR"[free++];
    }
    char black[sizeof back] = "";
    for (int i = 0; i < 8; i++)
        black[i] = ascii_lower(back[i]);
    return pos960_of(
        arena_printf(a, "%s/pppppppp/8/8/8/8/PPPPPPPP/%s w KQkq - 0 1", black, back).data);
}

static inline str fen_of(const struct position *pos, struct arena *a)
{
    struct buf b = { .arena = a };
    position_format(pos, &b);
    return buf_str(&b);
}

// The move of a UCI text that must be legal.
static inline move move_of(const struct position *pos, str uci)
{
    move m = MOVE_NONE;
    if (!uci_parse(pos, uci, &m))
        fail_msg("%.*s is not legal here", STR(uci));
    return m;
}

static inline struct position after(const struct position *pos, const char *uci)
{
    return position_after(pos, move_of(pos, str_from(uci)));
}

// The moves of a list in UCI, with one blank between.
static inline str uci_list(const struct move_list *list, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < list->n; i++) {
        struct move_text text = uci_format(list->v[i]);
        buf_addf(&b, i ? " %s" : "%s", text.data);
    }
    return buf_str(&b);
}

// A JSON array of texts, with one blank between.
static inline str joined(const json_t *array, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < json_array_size(array); i++) {
        buf_add(&b, i ? S(" ") : S(""));
        buf_add(&b, json_view(json_array_get(array, i)));
    }
    return buf_str(&b);
}

// Calls `each` for every JSON line of a shared file, compressed or not; returns how many.
static inline int records_each(str name, void (*each)(const json_t *row, struct arena *a))
{
    struct arena path_arena = { 0 }, a = { 0 };
    str path = shared_path(name, &path_arena);
    str command = arena_printf(&path_arena, "zcat -f -- '%.*s'", STR(path));
    FILE *in = popen(command.data, "r");
    assert_non_null(in);
    char *line = NULL;
    size_t cap = 0;
    int rows = 0;
    for (ssize_t n; (n = getline(&line, &cap, in)) > 0; rows++) {
        json_t *row = json_loadb(line, (size_t)n, 0, NULL);
        assert_non_null(row);
        each(row, &a);
        json_decref(row);
        arena_reset(&a);
    }
    free(line);
    assert_int_equal(pclose(in), 0);
    arena_free(&a);
    arena_free(&path_arena);
    return rows;
}
