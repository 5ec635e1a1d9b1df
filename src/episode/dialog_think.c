// SPDX-License-Identifier: GPL-3.0-or-later
// dialog_think.c - reasoning sections in the text of a reply (LLM Chess specification 1.8). What is
// removed is removed from the stored dialog too; all other bytes stay.
#include "episode/dialog.h"

static const str openers[] = { T("<think>"), T("<reasoning>"), T("◁think▷") };
static const str closers[] = { T("</think>"), T("</reasoning>"), T("◁/think▷") };
enum { KINDS = ARRAY_LEN(openers) };

struct mark {
    size_t at, len;
    int kind;
    bool closes;
};

static bool is_here(str text, str mark, bool any_case)
{
    str here = str_sub(text, 0, mark.len);
    return any_case ? str_eq_nocase(here, mark) : str_eq(here, mark);
}

// The first mark in text[from..]; one pass, so that all below is linear in the text.
static bool next_mark(str text, size_t from, bool any_case, struct mark *out)
{
    for (size_t i = from; i < text.len; i++) {
        if (text.data[i] != '<' && text.data[i] != openers[KINDS - 1].data[0])
            continue;
        for (int k = 0; k < 2 * KINDS; k++) {
            str mark = k < KINDS ? openers[k] : closers[k - KINDS];
            if (!is_here(str_sub(text, i, mark.len), mark, any_case))
                continue;
            *out = (struct mark){ i, mark.len, k % KINDS, k >= KINDS };
            return true;
        }
    }
    return false;
}

static str from(str text, size_t at)
{
    return str_sub(text, at, text.len);
}

static str without_pairs(str text, struct arena *a)
{
    struct buf b = { .arena = a };
    struct mark m;
    bool never_closed[KINDS] = { false };
    size_t kept = 0;
    for (size_t at = 0; next_mark(text, at, false, &m);) {
        at = m.at + m.len;
        if (m.closes || never_closed[m.kind])
            continue;
        ptrdiff_t close = str_find(from(text, at), closers[m.kind]);
        if (close < 0) { // the other kinds may still have pairs behind it
            never_closed[m.kind] = true;
            continue;
        }
        buf_add(&b, str_sub(text, kept, m.at - kept));
        kept = at = at + (size_t)close + closers[m.kind].len;
    }
    buf_add(&b, from(text, kept));
    return buf_str(&b);
}

static str without_leading(str text)
{
    struct mark m;
    size_t at = 0;
    do {
        if (!next_mark(text, at, false, &m))
            return text;
        at = m.at + m.len;
    } while (!m.closes);
    text = from(text, at);
    while (text.len > 0 && utf8_blank(text) > 0)
        text = from(text, utf8_blank(text));
    return text;
}

static str without_all(str text, bool *open, struct arena *a)
{
    struct buf b = { .arena = a };
    struct mark m;
    size_t kept = 0;
    *open = false;
    for (size_t at = 0; next_mark(text, at, true, &m);) {
        at = m.at + m.len;
        if (m.closes && !*open)
            b.len = 0; // a section without its opener: all before it is reasoning
        else if (!m.closes && !*open)
            buf_add(&b, str_sub(text, kept, m.at - kept));
        *open = !m.closes;
        kept = at;
    }
    if (!*open)
        buf_add(&b, from(text, kept));
    return buf_str(&b);
}

str dialog_without_reasoning(enum dialog_think think, str text, bool *open, struct arena *a)
{
    *open = false;
    switch (think) {
    case THINK_PAIRS: return without_pairs(text, a);
    case THINK_LEADING: return without_leading(text);
    case THINK_ALL: return without_all(text, open, a);
    case THINK_BY_PROFILE:
    case THINK_KEEP: break;
    }
    return text;
}
