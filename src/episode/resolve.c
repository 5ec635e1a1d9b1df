// SPDX-License-Identifier: GPL-3.0-or-later
// resolve.c - from an answer's text to one legal move, or a named reason why not. The five steps of
// the few-shot specification, section 2, in their order.
#include <string.h>

#include "episode/internal.h"

// Fragments longer than this cannot be moves; the limit keeps the audit list small.
enum { FRAGMENT_MAX = 64 };

static const char STRIP_SET[] = "`[](){} \t\r\n.,;";
static const char STRIP_SET_COLON[] = "`[](){} \t\r\n.,;:";

// `fragment` (shorter than FRAGMENT_MAX) in lower-case ASCII.
static str lower_case(str fragment, char room[FRAGMENT_MAX])
{
    for (size_t i = 0; i < fragment.len; i++)
        room[i] = ascii_lower(fragment.data[i]);
    return (str){ room, fragment.len };
}

// Step 3: UCI in lower case first, then SAN with every 0 read as O.
static move resolve_fragment(const struct position *pos, str fragment)
{
    char text[FRAGMENT_MAX];
    move m = MOVE_NONE;
    if (fragment.len >= sizeof text)
        return MOVE_NONE;
    if (uci_parse(pos, lower_case(fragment, text), &m))
        return m;
    for (size_t i = 0; i < fragment.len; i++)
        text[i] = fragment.data[i] == '0' ? 'O' : fragment.data[i];
    return san_parse(pos, (str){ text, fragment.len }, &m) == SAN_LEGAL ? m : MOVE_NONE;
}

struct finder {
    const struct position *pos;
    struct arena *arena;
    struct resolve_candidates *list;
    struct map seen; // lower-case fragments of the source at work
};

static void add_candidate(struct finder *f, str fragment, enum resolve_mode source)
{
    if (fragment.len < FRAGMENT_MAX) {
        char lower[FRAGMENT_MAX];
        bool fresh;
        map_put(&f->seen, lower_case(fragment, lower), &fresh);
        if (!fresh)
            return;
    }
    *vec_push(f->arena, f->list) = (struct resolve_candidate){
        .fragment = fragment,
        .source = source,
        .m = resolve_fragment(f->pos, fragment),
    };
}

typedef size_t shape_fn(str text, size_t at);

// Every non-overlapping match of a shape, left to right.
static void add_shapes(struct finder *f, str text, shape_fn *shape, enum resolve_mode source)
{
    f->seen = (struct map){ .arena = f->arena };
    for (size_t at = 0; at < text.len;) {
        size_t n = scan_inside_token(text, at) ? 0 : shape(text, at);
        if (n)
            add_candidate(f, str_sub(text, at, n), source);
        at += n ? n : 1;
    }
}

// Steps 1 and 2; true when a "Final move:" line decided.
static bool find_candidates(struct finder *f, str text)
{
    str payload;
    if (scan_final_move(text, &payload)) {
        payload = str_trim_set(payload, str_from(STRIP_SET));
        if (payload.len > 0)
            add_candidate(f, payload, RESOLVE_FINAL_MOVE);
        return true;
    }
    str whole = str_trim_set(str_strip(text), str_from(STRIP_SET_COLON));
    if (whole.len > 0)
        add_candidate(f, whole, RESOLVE_WHOLE_OUTPUT);
    add_shapes(f, text, scan_uci_shape, RESOLVE_UCI_FROM_TEXT);
    add_shapes(f, text, scan_san_shape, RESOLVE_SAN_FROM_TEXT);
    return false;
}

// Step 4: prose about squares is no answer, unless it announces a move or begins with a legal one.
static bool guard_rejects(str text, const struct resolve_candidates *list)
{
    if (!scan_has_guard_word(text) || scan_announces_move(text))
        return false;
    str trimmed = str_strip(text);
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].m != MOVE_NONE) {
            str fragment = list->v[i].fragment;
            return !str_eq_nocase(str_sub(trimmed, 0, fragment.len), fragment);
        }
    return true;
}

// Step 5.
static void judge(struct resolution *out)
{
    const struct resolve_candidates *list = &out->candidates;
    if (list->n == 0) {
        out->error = RESOLVE_NO_CANDIDATE;
        return;
    }
    out->error = RESOLVE_NO_LEGAL;
    for (size_t i = 0; i < list->n; i++) {
        move m = list->v[i].m;
        if (m == MOVE_NONE || m == out->m)
            continue;
        if (out->m != MOVE_NONE) {
            out->error = RESOLVE_AMBIGUOUS;
            out->m = MOVE_NONE;
            out->mode = RESOLVE_NOTHING;
            return;
        }
        out->error = RESOLVE_OK;
        out->m = m;
        out->mode = list->v[i].source;
    }
}

void move_resolve(const struct position *pos, str answer, struct arena *a, struct resolution *out)
{
    memset(out, 0, sizeof *out);
    struct finder f = { .pos = pos, .arena = a, .list = &out->candidates, .seen = { .arena = a } };
    bool final_line = find_candidates(&f, answer);
    if (!final_line && guard_rejects(answer, &out->candidates))
        out->error = RESOLVE_NO_LEGAL;
    else
        judge(out);
}

str resolve_error_name(enum resolve_error e)
{
    switch (e) {
    case RESOLVE_OK: return S("");
    case RESOLVE_NO_CANDIDATE: return S("no_candidate");
    case RESOLVE_NO_LEGAL: return S("no_legal_candidate");
    case RESOLVE_AMBIGUOUS: return S("ambiguous");
    }
    BUG("no such resolve error");
}

str resolve_mode_name(enum resolve_mode m)
{
    switch (m) {
    case RESOLVE_NOTHING: return S("");
    case RESOLVE_FINAL_MOVE: return S("final_move");
    case RESOLVE_WHOLE_OUTPUT: return S("whole_output");
    case RESOLVE_UCI_FROM_TEXT: return S("uci_from_text");
    case RESOLVE_SAN_FROM_TEXT: return S("san_from_text");
    }
    BUG("no such resolve mode");
}
