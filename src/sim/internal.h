// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of module sim share: how a prompt is read, what is noticed in it,
// how hard a position is, and the data that make a persona.
#pragma once
#include "chess/chess.h"
#include "search/search.h"
#include "sim/sim.h"

// ---- data.c: the data ----

enum feature { // what a persona may notice in a prompt; strengths run 0..1
    FEATURE_FORCING,
    FEATURE_LOOKAHEAD,
    FEATURE_MATE,
    FEATURE_MATERIAL,
    FEATURE_LEGALITY,
    FEATURE_FORMAT,
    FEATURE_PERSONA,
    FEATURE_HASTE,
    FEATURE_PROSE,
    FEATURE_LENGTH,
    FEATURE_DEMOS,
    FEATURE_RELEVANCE,
    FEATURE_COUNT,
};
enum { PHRASES_MAX = 400, ADVICE_MAX = 200, SIM_TEXT_MAX_BYTES = 400 };
const char *feature_title(enum feature f);
// The bytes of data/personas.json, from the build.
extern const unsigned char sim_personas_data[];
extern const size_t sim_personas_size;

struct response { // a chance as a logistic function: base + sum of weight x strength x factor
    double base;
    double weight[FEATURE_COUNT];
};
struct persona {
    const struct sim_data *data; // the file that it is of
    str name, summary;
    bool writes;          // answers with prompts instead of moves; the rest is then not set
    struct response best; // of playing the best move that the search finds
    double slope;         // what a unit of difficulty takes off
    struct response malformed, illegal;
    // The share of its draws that depends on the question alone, so that a changed prompt moves
    // only the answers it has a reason to move. The rest is drawn anew for every prompt.
    double consistency;
    double heat;      // what a unit of temperature takes off
    double san_share; // of moves written in SAN
};
struct sim_data {
    struct phrases {
        struct phrase { // lower case, words separated by one blank
            enum feature feature;
            str text;
        } * v;
        size_t n, cap;
    } phrases;
    struct advice { // sentences that a prompt may take up
        str *v;
        size_t n, cap;
    } advice;
    struct persona *personas;
    size_t n_personas;
};

// ---- view.c: reading the messages ----

struct sim_demo {
    bool good;          // a position with a legal move of it
    enum color turn;    // of a good one, as the following
    bool mates, forces; // what its move does
};
struct view {
    str instruction; // what follows "your objective is:", else the whole system text
    const struct sim_demo *demos;
    size_t n_demos;
    str question; // the last user message
    str legal;    // its list of moves; empty: none
    bool has_position;
    struct position pos;
    str fields; // what it says about the fields of the answer; empty: nothing
};
// Reads what the messages hold; texts are views of them or in `a`.
void view_read(const struct messages *m, struct arena *a, struct view *out);

// The first position in FEN that stands anywhere in a text.
bool scan_position(str text, struct position *out);

// ---- dialog.c: games by dialog ----

struct dialog_wish {
    str action; // to be asked for first; empty: it is time to move
    bool has_position;
    struct position pos; // as far as a drawn board tells
    str legal;           // empty: not shown
};
// Reads the dialog of one ply; false: the messages are none.
bool dialog_view(const struct messages *m, struct arena *a, struct dialog_wish *out);

// ---- features.c: what is noticed ----

struct features {
    double strength[FEATURE_COUNT]; // RELEVANCE is left 0: it depends on the position
    int hits[FEATURE_COUNT];        // phrases found, minus those found negated
};
// Everything that does not depend on the position.
void features_find(const struct sim_data *data, const struct view *v, struct features *out);
// Mean likeness, 0..1, of the good demonstrations to such a position.
double demo_relevance(const struct view *v, enum color turn, bool mates, bool forces);

// ---- think.c: what a position holds ----

struct thought {
    size_t n;                              // moves that may be played; 0: none
    struct scored_move v[MAX_LEGAL_MOVES]; // by a shallow look, in its order
    size_t best;                           // index into v of the best by the deeper look
    bool mates, forces;                    // what the best move does
    double difficulty;                     // 0: obvious; about 3: deep
    double factor[FEATURE_COUNT];          // how much each feature matters here
};
enum { LOOKS_KEPT = 4096 };
struct look_cache { // what an opened model saw of the latest positions
    struct arena *arena;
    struct look {
        uint64_t key;
        size_t n, cap; // n 0: free
        struct scored_move *quick, *deep;
    } slots[LOOKS_KEPT];
};
// Thinks about the position of the question, with at most 2,000 nodes; `cache` may be NULL.
void think(const struct view *v, struct look_cache *cache, struct thought *out);
// Fills the factors from what else is known of the position and from the demonstrations.
void thought_weigh(const struct view *v, struct thought *t);
// The chance itself; `factor` NULL: all 1; `extra` is added to the base.
double response_chance(const struct response *r, const double *strength, const double *factor,
                       double extra);

// ---- meta.c: writing prompts ----

// The answer of the model that writes prompts; its draws come from `hash`.
str meta_reply(const struct sim_data *data, const struct view *view, const struct messages *m,
               uint64_t hash, struct arena *a);
