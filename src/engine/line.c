// SPDX-License-Identifier: GPL-3.0-or-later
// line.c - one line of an engine's output. Engines differ in what they leave out and in which order
// they tell it, so fields are read by name, and what is not understood is skipped.
#include "engine/engine.h"

// The next word; empty at the end.
static str cut_word(str *rest)
{
    *rest = str_trim(*rest);
    size_t n = 0;
    while (n < rest->len && !ascii_is_blank(rest->data[n]))
        n++;
    str word = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->len);
    return word;
}

// The word that would come next.
static str peek_word(str rest)
{
    return cut_word(&rest);
}

static bool cut_int(str *rest, int64_t min, int64_t max, int64_t *out)
{
    str word = peek_word(*rest);
    if (!str_to_int(str_starts(word, S("+")) ? str_sub(word, 1, word.len) : word, min, max, out))
        return false;
    cut_word(rest);
    return true;
}

static void read_small(str *rest, int *out)
{
    int64_t n;
    if (cut_int(rest, 0, 100000, &n))
        *out = (int)n;
}

static void read_large(str *rest, int64_t *out)
{
    int64_t n;
    if (cut_int(rest, 0, INT64_MAX, &n))
        *out = n;
}

// "cp 34 lowerbound", "mate -3"; bound and value in any order.
static void read_score(str *rest, struct engine_score *out)
{
    for (;;) {
        str word = peek_word(*rest);
        bool mate = str_eq(word, S("mate"));
        int64_t n;
        if (mate || str_eq(word, S("cp"))) {
            cut_word(rest);
            if (cut_int(rest, -10000000, 10000000, &n))
                *out = (struct engine_score){
                    .given = true, .mate = mate, .value = (int32_t)n, .bound = out->bound
                };
        } else if (str_eq(word, S("lowerbound")) || str_eq(word, S("upperbound"))) {
            cut_word(rest);
            out->bound = str_starts(word, S("l")) ? ENGINE_LOWER : ENGINE_UPPER;
        } else {
            return;
        }
    }
}

static void read_wdl(str *rest, struct uci_info *out)
{
    int64_t n[3];
    for (int i = 0; i < 3; i++)
        if (!cut_int(rest, 0, 1000, &n[i]))
            return;
    out->has_wdl = true;
    for (int i = 0; i < 3; i++)
        out->wdl[i] = (int)n[i];
}

// "info ..." behind its first word.
static void read_info(str rest, struct uci_line *out)
{
    struct uci_info *info = &out->info;
    out->kind = UCI_INFO;
    info->nodes = info->time_ms = -1;
    for (str word; (word = cut_word(&rest)).len > 0;) {
        if (str_eq(word, S("string"))) { // free text to the end of the line
            if (!info->score.given && info->depth == 0)
                *out = (struct uci_line){ .kind = UCI_STRING, .text = str_trim(rest) };
            return;
        }
        if (str_eq(word, S("depth")))
            read_small(&rest, &info->depth);
        else if (str_eq(word, S("seldepth")))
            read_small(&rest, &info->seldepth);
        else if (str_eq(word, S("multipv")))
            read_small(&rest, &info->multipv);
        else if (str_eq(word, S("nodes")))
            read_large(&rest, &info->nodes);
        else if (str_eq(word, S("time")))
            read_large(&rest, &info->time_ms);
        else if (str_eq(word, S("score")))
            read_score(&rest, &info->score);
        else if (str_eq(word, S("wdl")))
            read_wdl(&rest, info);
        else if (str_eq(word, S("pv"))) {
            info->pv = str_trim(rest); // moves to the end of the line
            return;
        }
    }
}

static void read_bestmove(str rest, struct uci_line *out)
{
    static const str none[] = { T("(none)"), T("none"), T("0000"), T("NULL") };
    out->kind = UCI_BESTMOVE;
    out->text = cut_word(&rest);
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        if (str_eq_nocase(out->text, none[i]))
            out->text = (str){ 0 };
    if (str_eq(cut_word(&rest), S("ponder")))
        out->ponder = cut_word(&rest);
}

static bool option_kind(str word, enum engine_option_kind *out)
{
    static const str names[] = { [OPTION_CHECK] = T("check"),
                                 [OPTION_SPIN] = T("spin"),
                                 [OPTION_COMBO] = T("combo"),
                                 [OPTION_BUTTON] = T("button"),
                                 [OPTION_STRING] = T("string") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(word, names[i])) {
            *out = (enum engine_option_kind)i;
            return true;
        }
    return false;
}

// Cuts words up to one of the names of fields; a value may have blanks inside.
static str cut_value(str *rest)
{
    static const str fields[] = { T("type"), T("default"), T("min"), T("max"), T("var") };
    str start = str_trim(*rest);
    const char *end = start.data;
    *rest = start;
    for (str word; (word = peek_word(*rest)).len > 0;) {
        for (size_t i = 0; i < ARRAY_LEN(fields); i++)
            if (str_eq(word, fields[i]))
                return (str){ start.data, (size_t)(end - start.data) };
        cut_word(rest);
        end = word.data + word.len;
    }
    return (str){ start.data, start.len > 0 ? (size_t)(end - start.data) : 0 };
}

// "option name N type T ..." behind its first word.
static void read_option(str rest, struct uci_line *out)
{
    struct engine_option *o = &out->option;
    bool typed = false;
    const char *end = rest.data + rest.len; // `rest` points nowhere once it is used up
    if (!str_eq(cut_word(&rest), S("name")))
        return;
    o->name = cut_value(&rest);
    o->min = INT64_MIN;
    o->max = INT64_MAX;
    for (str word; (word = cut_word(&rest)).len > 0;) {
        if (str_eq(word, S("type")))
            typed = option_kind(cut_word(&rest), &o->kind);
        else if (str_eq(word, S("default")))
            o->fallback = cut_value(&rest);
        else if (str_eq(word, S("min")))
            (void)!cut_int(&rest, INT64_MIN, INT64_MAX, &o->min);
        else if (str_eq(word, S("max")))
            (void)!cut_int(&rest, INT64_MIN, INT64_MAX, &o->max);
        else if (str_eq(word, S("var"))) {
            o->vars = (str){ word.data, (size_t)(end - word.data) };
            break;
        }
    }
    if (typed && o->name.len > 0)
        out->kind = UCI_OPTION;
}

static void read_id(str rest, struct uci_line *out)
{
    str what = cut_word(&rest);
    out->text = str_trim(rest);
    if (str_eq(what, S("name")))
        out->kind = UCI_ID_NAME;
    else if (str_eq(what, S("author")))
        out->kind = UCI_ID_AUTHOR;
}

void uci_line_read(str line, struct uci_line *out)
{
    *out = (struct uci_line){ 0 };
    str rest = str_trim(line);
    str first = cut_word(&rest);
    if (str_eq(first, S("info")))
        read_info(rest, out);
    else if (str_eq(first, S("bestmove")))
        read_bestmove(rest, out);
    else if (str_eq(first, S("option")) && rest.len > 0)
        read_option(rest, out);
    else if (str_eq(first, S("id")))
        read_id(rest, out);
    else if (str_eq(first, S("uciok")))
        out->kind = UCI_UCIOK;
    else if (str_eq(first, S("readyok")))
        out->kind = UCI_READYOK;
}
