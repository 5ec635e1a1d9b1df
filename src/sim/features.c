// SPDX-License-Identifier: GPL-3.0-or-later
// features.c - what a simulated model notices in a prompt: phrases of the data file, length, and
// demonstrations.
//
// A phrase counts once however often it is repeated, and against its feature where it is negated
// ("do not calculate"), except where the negation is the advice ("no illegal moves").
#include <math.h>

#include "sim/internal.h"

enum {
    LENGTH_FREE_CHARS = 1500,  // instructions up to here tire nobody
    LENGTH_FULL_CHARS = 6000,  // from here on the strength is 1
    NEGATION_REACH_CHARS = 24, // how far before a phrase a negation is looked for
};
static const double HIT_LEFT = 0.4;      // what one phrase leaves of the way to full strength
static const double DEMOS_SCALE = 6;     // demonstrations for 63 % of their effect
static const double TURN_SHARE = 0.4;    // parts of the likeness of two positions:
static const double MATE_SHARE = 0.4;    // same side to move, both mates or both not,
static const double FORCING_SHARE = 0.2; // both forcing or both quiet

// Length of `phrase` at the start of `text`, a blank of it standing for any white space and case
// ignored; 0: it is not there as whole words.
static size_t phrase_at(str text, str phrase)
{
    size_t at = 0;
    for (size_t i = 0; i < phrase.len; i++) {
        if (at >= text.len)
            return 0;
        if (phrase.data[i] == ' ') {
            if (!ascii_is_blank(text.data[at]))
                return 0;
            while (at < text.len && ascii_is_blank(text.data[at]))
                at++;
        } else if (ascii_lower(text.data[at++]) != phrase.data[i]) {
            return 0;
        }
    }
    return at < text.len && ascii_is_word(text.data[at]) ? 0 : at;
}

static bool is_negation(str word)
{
    static const char *const words[] = { "not",    "no",      "never",   "don't",  "avoid",
                                         "ignore", "without", "neither", "forget", "skip" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_nocase(word, str_from(words[i])))
            return true;
    return str_eq_nocase(word, S("don\xE2\x80\x99t"));
}

// Is there a negation shortly before `at`, in the same sentence?
static bool is_negated(str text, size_t at)
{
    size_t from = at > NEGATION_REACH_CHARS ? at - NEGATION_REACH_CHARS : 0;
    for (size_t i = at; i > from; i--)
        if (text.data[i - 1] == '.' || text.data[i - 1] == ';' || text.data[i - 1] == '!') {
            from = i;
            break;
        }
    str before = str_sub(text, from, at - from);
    while (before.len > 0)
        if (is_negation(str_trim_set(str_cut(&before, ' '), S(",:\n\t\"'()"))))
            return true;
    return false;
}

static bool negation_counts(enum feature f)
{
    return f != FEATURE_LEGALITY && f != FEATURE_FORMAT;
}

// The phrases by their first letter, so that each word of the text meets only a few.
struct phrase_index {
    uint16_t first[256]; // phrase + 1; 0: none
    uint16_t next[PHRASES_MAX];
};

static void index_phrases(const struct phrases *phrases, struct phrase_index *index)
{
    *index = (struct phrase_index){ 0 };
    for (size_t i = 0; i < phrases->n; i++) {
        unsigned char c = (unsigned char)phrases->v[i].text.data[0];
        index->next[i] = index->first[c];
        index->first[c] = (uint16_t)(i + 1);
    }
}

static void find_phrases(const struct phrases *phrases, str text, struct features *out)
{
    struct phrase_index index;
    bool seen[PHRASES_MAX] = { 0 };
    index_phrases(phrases, &index);
    for (size_t at = 0; at < text.len; at++) {
        if (at > 0 && ascii_is_word(text.data[at - 1]))
            continue;
        unsigned char c = (unsigned char)ascii_lower(text.data[at]);
        for (unsigned i = index.first[c]; i > 0; i = index.next[i - 1]) {
            const struct phrase *p = &phrases->v[i - 1];
            if (seen[i - 1] || !phrase_at(str_sub(text, at, text.len), p->text))
                continue;
            seen[i - 1] = true;
            bool against = negation_counts(p->feature) && is_negated(text, at);
            out->hits[p->feature] += against ? -1 : 1;
        }
    }
}

void features_find(const struct sim_data *data, const struct view *v, struct features *out)
{
    *out = (struct features){ 0 };
    find_phrases(&data->phrases, v->instruction, out);
    for (int f = 0; f < FEATURE_LENGTH; f++) {
        double strength = 1 - pow(HIT_LEFT, abs(out->hits[f]));
        out->strength[f] = out->hits[f] < 0 ? -strength : strength;
    }
    double excess = (double)utf8_length(v->instruction) - LENGTH_FREE_CHARS;
    double full = LENGTH_FULL_CHARS - LENGTH_FREE_CHARS;
    out->strength[FEATURE_LENGTH] = fmin(fmax(excess / full, 0), 1);
    int good = 0;
    for (size_t i = 0; i < v->n_demos; i++)
        good += v->demos[i].good ? 1 : -1;
    out->hits[FEATURE_DEMOS] = (int)v->n_demos;
    out->strength[FEATURE_DEMOS] = good > 0 ? 1 - exp(-good / DEMOS_SCALE) : 0;
}

double demo_relevance(const struct view *v, enum color turn, bool mates, bool forces)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < v->n_demos; i++) {
        const struct sim_demo *d = &v->demos[i];
        if (!d->good)
            continue;
        n++;
        sum += TURN_SHARE * (d->turn == turn) + MATE_SHARE * (d->mates == mates) +
               FORCING_SHARE * (d->forces == forces);
    }
    return n ? sum / (double)n : 0;
}
