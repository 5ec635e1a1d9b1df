// SPDX-License-Identifier: GPL-3.0-or-later
// mipro_text.c - what becomes of a text that the prompt model of MIPROv2 wrote: labels and
// quotation marks round it go, and some texts are no instruction (few-shot specification 1.3, 6.3
// step 6).
#include "optimize/mipro.h"

// ---- length ----

str mipro_cut(str s, size_t max)
{
    if (s.len <= max)
        return s;
    while (max > 0 && ((unsigned char)s.data[max] & 0xc0) == 0x80)
        max--;
    return str_sub(s, 0, max);
}

// ---- labels and quotation marks round a text ----

static bool is_label_char(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '\'' || c == '-' || (unsigned char)c >= 0x80;
}

static size_t skip_blanks(str s, size_t i, char also)
{
    while (i < s.len && (ascii_is_blank(s.data[i]) || s.data[i] == also))
        i++;
    return i;
}

// Bytes of a label in front, `Here is the new instruction: `, and its last word; 0: there is none.
static size_t label_length(str s, str *last_word)
{
    enum { LABEL_WORDS_MAX = 5 };
    size_t i = skip_blanks(s, 0, '*');
    for (int word = 0; word < LABEL_WORDS_MAX; word++) {
        size_t from = i;
        while (i < s.len && is_label_char(s.data[i]))
            i++;
        *last_word = str_sub(s, from, i - from);
        if (i > from && i < s.len && s.data[i] == ':')
            return skip_blanks(s, i + 1, ' ');
        size_t end = i;
        i = skip_blanks(s, i, ' ');
        if (end == from || i == end)
            return 0;
    }
    return 0;
}

static str strip_as_reference(str s)
{
    str word;
    return str_trim_set(str_sub(s, label_length(s, &word), s.len), S("\""));
}

static bool is_label_word(str word)
{
    static const str words[] = { T("instruction"), T("instructions"), T("prompt"),
                                 T("task"),        T("answer"),       T("output") };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_nocase(word, words[i]))
            return true;
    return false;
}

// Only what is a label beyond doubt, one pair of quotation marks, and never all of the text.
static str strip_with_care(str s)
{
    str word = { 0 };
    s = str_strip(s);
    size_t n = label_length(s, &word);
    str rest =
        str_strip(str_sub(s, skip_blanks(s, n, s.data && s.data[0] == '*' ? '*' : ' '), s.len));
    if (n > 0 && rest.len > 0 && is_label_word(word))
        s = rest;
    if (s.len > 2 && str_starts(s, S("\"")) &&
        str_find_char(str_sub(s, 1, s.len), '"') == (ptrdiff_t)s.len - 2)
        s = str_strip(str_sub(s, 1, s.len - 2));
    return s;
}

str mipro_strip(const struct mipro *m, str s)
{
    if (m->task->config->mipro_proposals == MIPRO_PROPOSALS_REFERENCE)
        return strip_as_reference(strip_as_reference(s));
    return strip_with_care(strip_with_care(s));
}

// ---- what is no instruction ----

enum { INSTRUCTION_MAX_BYTES = 20000 };

// Why a text cannot be an instruction; NULL: it can.
const char *mipro_fault_of(str text)
{
    if (text.len == 0)
        return "it is empty";
    if (text.len > INSTRUCTION_MAX_BYTES)
        return "it is longer than 20,000 bytes";
    if (str_find(text, S("[[ ## ")) >= 0)
        return "it holds the field marks of a request, which would break those it stands in";
    return NULL;
}

// The reference keeps an empty text, which then becomes this one (1.3 rule 5).
str mipro_default_instruction(const struct mipro *m)
{
    const struct signature *s = m->start->signature;
    struct buf b = { .arena = m->arena };
    buf_addf(&b, "Given the fields ");
    for (size_t i = 0; i < s->n_inputs; i++)
        buf_addf(&b, "%s`%.*s`", i ? ", " : "", STR(s->inputs[i].name));
    buf_addf(&b, ", produce the fields ");
    for (size_t i = 0; i < s->n_outputs; i++)
        buf_addf(&b, "%s`%.*s`", i ? ", " : "", STR(s->outputs[i].name));
    buf_add_char(&b, '.');
    return buf_str(&b);
}
