// SPDX-License-Identifier: GPL-3.0-or-later
// columns.c - which field of a CSV row is which: by the header's names, in any order, or, in the
// headerless files that circulate, by what the first row looks like.
#include "puzzle/internal.h"
#include "base/base.h"

enum { THEMES_BEHIND_FEN = 6 }; // in the ten columns of the Lichess dump

static const char *const column_names[COLUMNS] = { "PuzzleId", "FEN", "Moves", "Rating", "Themes" };

// Has the form of a line of UCI moves, legal or not.
static bool looks_like_moves(str s)
{
    s = str_trim(s);
    if (s.len == 0)
        return false;
    while (s.len > 0) {
        str word = str_cut(&s, ' ');
        bool promotes = word.len == 5 && str_find_char(S("qrbn"), word.data[4]) >= 0;
        square from, to;
        if (!(word.len == 4 || promotes) || !square_parse(str_sub(word, 0, 2), &from) ||
            !square_parse(str_sub(word, 2, 2), &to))
            return false;
    }
    return true;
}

// Has the form of a list of themes: words such as mateIn2, no numbers, addresses or names.
static bool looks_like_themes(str s)
{
    s = str_trim(s);
    if (s.len == 0 || looks_like_moves(s))
        return false;
    while (s.len > 0) {
        str word = str_cut(&s, ' ');
        if (word.len == 0 || !ascii_is_lower(word.data[0]))
            return false;
        for (size_t i = 0; i < word.len; i++)
            if (!ascii_is_alnum(word.data[i]))
                return false;
    }
    return true;
}

// A headerless row: a FEN and a line behind it; the id before, rating and themes after.
static bool find_by_content(const struct csv_row *row, struct columns *out)
{
    struct position pos;
    size_t n = row->n, fen = 0;
    while (fen + 1 < n && !(looks_like_moves(row->fields[fen + 1]) &&
                            position_parse(row->fields[fen], &pos, NULL) == FAULT_NONE))
        fen++;
    if (fen + 1 >= n)
        return false;
    size_t after = fen + 2, official = fen + THEMES_BEHIND_FEN, themes = n;
    int64_t number;
    for (size_t i = n; i-- > after;)
        if (looks_like_themes(row->fields[i]))
            themes = i;
    if (official < n && looks_like_themes(row->fields[official]))
        themes = official;
    bool rated = after < n && str_to_int(row->fields[after], 0, INT32_MAX, &number);
    *out = (struct columns){ .at = { [COLUMN_ID] = (int)fen - 1,
                                     [COLUMN_FEN] = (int)fen,
                                     [COLUMN_MOVES] = (int)fen + 1,
                                     [COLUMN_RATING] = rated ? (int)after : -1,
                                     [COLUMN_THEMES] = themes < n ? (int)themes : -1 },
                             .headerless = true };
    return true;
}

static bool find_by_name(const struct csv_row *row, struct columns *out, struct err *err)
{
    for (int c = 0; c < COLUMNS; c++) {
        out->at[c] = -1;
        for (size_t i = 0; i < row->n; i++) {
            if (!str_eq_nocase(str_trim(row->fields[i]), str_from(column_names[c])))
                continue;
            if (out->at[c] >= 0)
                return err_set(err, ERR_INPUT, "column %s stands twice in the header; rename one",
                               column_names[c]);
            out->at[c] = (int)i;
        }
    }
    return true;
}

static bool missing(const struct csv_row *row, const struct columns *columns, struct err *err)
{
    struct arena scratch = { 0 };
    struct buf lack = { .arena = &scratch }, found = { .arena = &scratch, .max = 600 };
    for (int c = COLUMN_ID; c <= COLUMN_MOVES; c++)
        if (columns->at[c] < 0)
            buf_addf(&lack, "%s%s", lack.len > 0 ? ", " : "", column_names[c]);
    for (size_t i = 0; i < row->n; i++)
        buf_addf(&found, "%s%s", i > 0 ? ", " : "", str_show(row->fields[i], SHOWN_MAX_BYTES).text);
    str l = buf_str(&lack), f = buf_str(&found);
    err_set(err, ERR_INPUT,
            "missing column %.*s; the first row has: %.*s; name them in a header, or begin with a "
            "puzzle (id, FEN, moves)",
            STR(l), STR(f));
    arena_free(&scratch);
    return false;
}

bool columns_find(const struct csv_row *first, struct columns *out, struct err *err)
{
    *out = (struct columns){ 0 };
    if (find_by_content(first, out))
        return true;
    if (!find_by_name(first, out, err))
        return false;
    bool complete =
        out->at[COLUMN_ID] >= 0 && out->at[COLUMN_FEN] >= 0 && out->at[COLUMN_MOVES] >= 0;
    return complete || missing(first, out, err);
}
