// SPDX-License-Identifier: GPL-3.0-or-later
// dialog_think.c - reasoning sections in the text of a reply (LLM Chess specification 1.8). What is
// removed is removed from the stored dialog too; all other bytes stay.
#include "episode/dialog.h"

static const str openers[] = { T("<think>"), T("<reasoning>"), T("◁think▷") };
static const str closers[] = { T("</think>"), T("</reasoning>"), T("◁/think▷") };
enum { KINDS = ARRAY_LEN(openers) };

static ptrdiff_t find(str text, str mark, bool any_case)
{
    if (!any_case)
        return str_find(text, mark);
    for (size_t i = 0; i + mark.len <= text.len; i++)
        if (str_eq_nocase(str_sub(text, i, mark.len), mark))
            return (ptrdiff_t)i;
    return -1;
}

// The first of the marks: where it is (-1: none), and which.
static ptrdiff_t find_first(str text, const str *marks, bool any_case, int *which)
{
    ptrdiff_t best = -1;
    for (int k = 0; k < KINDS; k++) {
        ptrdiff_t at = find(text, marks[k], any_case);
        if (at >= 0 && (best < 0 || at < best)) {
            best = at;
            *which = k;
        }
    }
    return best;
}

static str from(str text, size_t at)
{
    return str_sub(text, at, text.len);
}

static str without_pairs(str text, struct arena *a)
{
    struct buf b = { .arena = a };
    while (text.len > 0) {
        int kind = 0;
        ptrdiff_t open = find_first(text, openers, false, &kind);
        if (open < 0)
            break;
        size_t inside = (size_t)open + openers[kind].len;
        ptrdiff_t close = find(from(text, inside), closers[kind], false);
        if (close < 0) { // nothing is removed; the other kinds may still have pairs behind it
            buf_add(&b, str_sub(text, 0, inside));
            text = from(text, inside);
            continue;
        }
        buf_add(&b, str_sub(text, 0, (size_t)open));
        text = from(text, inside + (size_t)close + closers[kind].len);
    }
    buf_add(&b, text);
    return buf_str(&b);
}

static str without_leading(str text)
{
    int kind = 0;
    ptrdiff_t close = find_first(text, closers, false, &kind);
    if (close < 0)
        return text;
    text = from(text, (size_t)close + closers[kind].len);
    while (text.len > 0 && utf8_blank(text) > 0)
        text = from(text, utf8_blank(text));
    return text;
}

static str without_all(str text, bool *open, struct arena *a)
{
    struct buf b = { .arena = a };
    for (;;) {
        int opener = 0, closer = 0;
        ptrdiff_t start = find_first(text, openers, true, &opener);
        ptrdiff_t end = find_first(text, closers, true, &closer);
        if (end < 0) {
            *open = start >= 0;
            buf_add(&b, *open ? str_sub(text, 0, (size_t)start) : text);
            return buf_str(&b);
        }
        if (start < 0 || end < start)
            b.len = 0; // a section without its opener: all before it is reasoning
        else
            buf_add(&b, str_sub(text, 0, (size_t)start));
        text = from(text, (size_t)end + closers[closer].len);
    }
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
