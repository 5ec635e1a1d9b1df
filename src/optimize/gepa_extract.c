// SPDX-License-Identifier: GPL-3.0-or-later
// gepa_extract.c - the new instruction inside a prompt model's reply (GEPA and SIMBA specification,
// 2.8). `lenient` is the reference's rule, which takes something from any reply, so also an
// unfinished monologue; `strict` takes only what stands between fences; `complete` takes the last
// complete block or, without fences, a whole text, and nothing that was cut off.
#include "optimize/gepa.h"

#define FENCE "```"

static ptrdiff_t find_last(str s, str what)
{
    for (size_t i = s.len; i-- > 0;)
        if (str_starts(str_sub(s, i, s.len), what))
            return (ptrdiff_t)i;
    return -1;
}

static size_t word_length(str s)
{
    size_t n = 0;
    while (n < s.len && utf8_blank(str_sub(s, n, s.len)) == 0)
        n++;
    return n;
}

// Without the language word in front, where a line break follows it directly.
static str without_tag(str body)
{
    size_t n = word_length(body);
    str rest = str_sub(body, n, body.len);
    size_t line_break = str_starts(rest, S("\r\n")) ? 2 : str_starts(rest, S("\n")) ? 1 : 0;
    return line_break > 0 ? str_sub(rest, line_break, rest.len) : body;
}

// What stands between the first and the last fence; inner fences stay.
static bool between_fences(str s, str *out)
{
    ptrdiff_t first = str_find(s, S(FENCE)), last = find_last(s, S(FENCE));
    size_t from = (size_t)first + sizeof FENCE - 1;
    if (first < 0 || (size_t)last <= from)
        return false;
    *out = str_strip(without_tag(str_sub(s, from, (size_t)last - from)));
    return true;
}

static str without_lone_fence(str s)
{
    size_t n = sizeof FENCE - 1;
    if (str_starts(s, S(FENCE))) {
        s = str_sub(s, n, s.len);
        return str_strip(str_sub(s, word_length(s), s.len));
    }
    return str_ends(s, S(FENCE)) ? str_strip(str_sub(s, 0, s.len - n)) : s;
}

// ---- complete ----

enum { NESTED_MAX = 16 };
struct blocks { // the state while lines are read
    size_t ticks[NESTED_MAX];
    size_t depth, opened_at, body_at;
    str last; // complete block
    bool any;
};

// The backticks that a line begins with, 0: it is no fence; `*named`: a word follows.
static size_t fence_of(str line, bool *named)
{
    str s = str_strip(line);
    size_t n = 0;
    while (n < s.len && s.data[n] == '`')
        n++;
    str rest = str_strip(str_sub(s, n, s.len));
    *named = rest.len > 0;
    return n >= sizeof FENCE - 1 && str_find_char(rest, '`') < 0 ? n : 0;
}

struct fence {       // a line of the text that is one
    size_t at, next; // where it begins and ends
    size_t ticks;
    bool named;
};

// A named fence opens a block; a bare one closes what is open, if it is long enough.
static void read_fence(struct blocks *b, str text, const struct fence *f)
{
    if (b->depth > 0 && !f->named) {
        b->depth -= f->ticks >= b->ticks[b->depth - 1];
        if (b->depth == 0) {
            b->last = str_strip(str_sub(text, b->body_at, f->at - b->body_at));
            b->any = true;
        }
        return;
    }
    if (b->depth == 0) {
        b->opened_at = f->at;
        b->body_at = f->next;
    }
    if (b->depth < NESTED_MAX)
        b->ticks[b->depth++] = f->ticks;
}

static void read_blocks(str s, struct blocks *b)
{
    struct fence f = { 0 };
    for (; f.at < s.len; f.at = f.next) {
        str rest = str_sub(s, f.at, s.len);
        str line = str_cut(&rest, '\n');
        f.next = s.len - rest.len;
        f.ticks = fence_of(line, &f.named);
        if (f.ticks > 0)
            read_fence(b, s, &f);
    }
}

static const char *complete(str s, str *out)
{
    struct blocks b = { 0 };
    ptrdiff_t thought = find_last(s, S("</think>"));
    if (thought >= 0)
        s = str_strip(str_sub(s, (size_t)thought + sizeof "</think>" - 1, s.len));
    else if (str_starts(s, S("<think")))
        return "it is an unfinished thought";
    read_blocks(s, &b);
    bool stray = b.depth == 1 && str_strip(str_sub(s, b.body_at, s.len)).len == 0;
    if (b.depth > 0 && !stray)
        return "its block has no end: it was cut off";
    if (b.any)
        *out = b.last;
    else if (stray)
        *out = str_strip(str_sub(s, 0, b.opened_at));
    else if (!between_fences(s, out))
        *out = s;
    return NULL;
}

const char *gepa_extract(str reply, enum gepa_extract how, str *out)
{
    str s = str_strip(reply);
    const char *why = NULL;
    *out = S("");
    switch (how) {
    case GEPA_EXTRACT_LENIENT:
        if (!between_fences(s, out))
            *out = without_lone_fence(s);
        return NULL;
    case GEPA_EXTRACT_STRICT:
        if (!between_fences(s, out))
            why = "it has no fenced block";
        break;
    case GEPA_EXTRACT_COMPLETE: why = complete(s, out); break;
    }
    return why ? why : out->len == 0 ? "it is empty" : NULL;
}
