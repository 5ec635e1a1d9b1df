// SPDX-License-Identifier: GPL-3.0-or-later
// fill.c - the observation put into a user prompt (2.5). A format language here would evaluate what
// a candidate wrote in the trusted process; so this is a scan that knows one name.
#include <string.h>

#include "harness/harness.h"

const str harness_default_system =
    T("You solve chess puzzles one move at a time. Pick exactly one of the legal moves shown and "
      "answer with it in UCI inside <move></move>.");
const str harness_default_user =
    T("Current puzzle position:\n\n{observation}\n\nAnswer with exactly one move, written as "
      "<move>uci</move>.");

// Writes the filled template into `out` (NULL: only reads it) and counts its places. False: it is
// malformed.
static bool fill(str template, str observation, struct buf *out, size_t *places)
{
    static const str place = T("{observation}");
    *places = 0;
    for (size_t i = 0; i < template.len; i++) {
        str rest = str_sub(template, i, template.len);
        str add = str_sub(rest, 0, 1);
        if (str_starts(rest, S("{{")) || str_starts(rest, S("}}"))) {
            i++;
        } else if (str_starts(rest, place)) {
            i += place.len - 1;
            add = observation;
            (*places)++;
        } else if (rest.data[0] == '{' || rest.data[0] == '}') {
            return false;
        }
        if (out)
            buf_add(out, add);
    }
    return true;
}

str harness_fill(str template, str observation, bool reference, struct arena *a)
{
    struct buf b = { .arena = a };
    size_t places;
    bool well_formed = fill(template, observation, &b, &places);
    if (!well_formed) {
        b.len = 0;
        buf_add(&b, template);
    }
    if (!well_formed || (places == 0 && !reference)) {
        buf_add(&b, S("\n\n"));
        buf_add(&b, observation);
    }
    return buf_str(&b);
}

bool harness_shows_observation(str template)
{
    size_t places;
    return fill(template, S(""), NULL, &places) && places > 0;
}

enum { BLOCK = 64 };

// Controls but LF and TAB in a block; its fixed length lets the compiler look at many at once.
static bool has_control(const char *block)
{
    unsigned found = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        unsigned char c = (unsigned char)block[i];
        found |= (unsigned)(c < 0x20) & (unsigned)(c != '\n') & (unsigned)(c != '\t');
    }
    return found != 0;
}

str harness_clean(str text, struct arena *a)
{
    size_t plain = 0;
    char block[BLOCK];
    for (; plain < text.len; plain += BLOCK) {
        str part = str_sub(text, plain, BLOCK);
        memset(block, ' ', BLOCK);
        memcpy(block, part.data, part.len);
        if (has_control(block))
            break;
    }
    if (plain >= text.len)
        return arena_str(a, text);
    struct buf b = { .arena = a };
    buf_add(&b, str_sub(text, 0, plain));
    for (size_t i = plain; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= 0x20 || c == '\n' || c == '\t')
            buf_add_char(&b, (char)c);
    }
    return buf_str(&b);
}
