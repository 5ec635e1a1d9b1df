// SPDX-License-Identifier: GPL-3.0-or-later
// composition.c - what a prompt is made of: answer format, chess, examples, persona, the rest. The
// labels come from words, so they need no model and are the same everywhere; a model may label the
// same sentences instead.
#include "report/report.h"

static const char *const part_names[PROMPT_PARTS] = {
    [PART_FORMAT] = "format",   [PART_CHESS] = "chess", [PART_EXAMPLES] = "examples",
    [PART_PERSONA] = "persona", [PART_OTHER] = "other",
};

// Beginnings of words (or of several), lower case. The part with most hits wins; equal: the one
// that stands first here.
static const struct {
    enum prompt_part part;
    const char *words[24];
} marks[] = {
    { PART_EXAMPLES, { "for example", "for instance", "e.g.", "example:", "examples:", "fen:" } },
    { PART_PERSONA,
      { "you are", "act as", "imagine you", "as a grandmaster", "as an expert", "your role",
        "pretend", "world champion", "grandmaster", "persona" } },
    { PART_FORMAT, { "json",          "uci",          "notation",       "format",
                     "output",        "respond",      "reply with",     "answer with",
                     "only the move", "exactly one",  "no explanation", "without explanation",
                     "no other text", "nothing else", "field",          "legal_moves",
                     "string",        "label",        "quote",          "commentary" } },
    { PART_CHESS,
      { "check",    "mate",   "capture",  "threat", "fork",   "pin",    "skewer",   "sacrific",
        "material", "king",   "queen",    "rook",   "bishop", "knight", "pawn",     "position",
        "tactic",   "puzzle", "opponent", "attack", "defen",  "board",  "calculat", "move" } },
};

str prompt_part_name(enum prompt_part p)
{
    return str_from(part_names[p]);
}

bool prompt_part_parse(str name, enum prompt_part *out)
{
    for (int p = 0; p < PROMPT_PARTS; p++)
        if (str_eq_nocase(name, str_from(part_names[p]))) {
            *out = (enum prompt_part)p;
            return true;
        }
    return false;
}

// How often one of the words begins at the start of a word of the text.
static int hits(str text, const char *const *words)
{
    int n = 0;
    for (size_t at = 0; at < text.len; at++) {
        if (at > 0 && ascii_is_alnum(text.data[at - 1]))
            continue;
        for (size_t w = 0; w < 24 && words[w]; w++) {
            str word = str_from(words[w]);
            n += str_eq_nocase(str_sub(text, at, word.len), word);
        }
    }
    return n;
}

static enum prompt_part part_of(str sentence)
{
    enum prompt_part best = PART_OTHER;
    int most = 0;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        int n = hits(sentence, marks[i].words);
        if (n > most) {
            most = n;
            best = marks[i].part;
        }
    }
    return best;
}

static bool ends_sentence(str text, size_t at)
{
    char c = text.data[at];
    bool stop = c == '.' || c == '!' || c == '?';
    return c == '\n' || (stop && (at + 1 == text.len || ascii_is_blank(text.data[at + 1])));
}

void prompt_split(str instruction, struct arena *a, struct prompt_sentences *out)
{
    size_t from = 0;
    for (size_t at = 0; at < instruction.len; at++) {
        bool last = at + 1 == instruction.len;
        if (!last && !ends_sentence(instruction, at))
            continue;
        str text = str_trim(str_sub(instruction, from, at + 1 - from));
        from = at + 1;
        if (text.len > 0)
            *vec_push(a, out) = (struct prompt_sentence){ .text = text, .part = part_of(text) };
    }
}

void prompt_composition(const struct prompt_sentences *s, const struct program *p,
                        double share[PROMPT_PARTS])
{
    double total = 0;
    for (int i = 0; i < PROMPT_PARTS; i++)
        share[i] = 0;
    for (size_t i = 0; i < s->n; i++)
        share[s->v[i].part] += (double)utf8_length(s->v[i].text);
    share[PART_EXAMPLES] += (double)(program_size(p) - utf8_length(p->instruction));
    for (int i = 0; i < PROMPT_PARTS; i++)
        total += share[i];
    for (int i = 0; i < PROMPT_PARTS; i++)
        share[i] = total > 0 ? share[i] / total : 0;
}
