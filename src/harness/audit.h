// SPDX-License-Identifier: GPL-3.0-or-later
// audit.h - part of harness.h: what the audit knows without running anything: the index of the data
// set, and how views of a position are compared (Meta-Harness specification, section 4).
#pragma once
#include "chess/chess.h"

// ---- the data set, as salted hashes only; never shown to whoever writes candidates ----

enum audit_kind { AUDIT_RANKS, AUDIT_PAIR, AUDIT_ID }; // of what is looked up
struct audit_index {                                   // set the arena of `seen`, and the salt
    struct map seen;
    uint64_t salt;
};
struct audit_item { // one puzzle
    str id;
    const struct position *at; // also the one after the trigger, as another item
    const str *moves;          // UCI, trigger first
    size_t n_moves;
};
void audit_index_add(struct audit_index *index, const struct audit_item *item);
bool audit_index_has(const struct audit_index *index, enum audit_kind kind, str text);

// ---- rows of an observation ----

struct audit_row {
    str uci, san;
};
struct audit_rows {
    struct audit_row *v;
    size_t n, cap;
};
enum audit_variant { // of the same observation; a candidate must not tell the first three apart
    VARIANT_PLAIN,
    VARIANT_UNMARKED, // no + # x in any SAN
    VARIANT_ROTATED,  // + and # stand in other rows
    VARIANT_REVERSED, // rows from the last to the first
    AUDIT_VARIANTS,
};
// The rows of a raw observation.
struct audit_rows audit_rows_read(str observation, struct arena *a);
// The observation as a variant; `rows` becomes its rows.
str audit_vary(str observation, enum audit_variant variant, struct audit_rows *rows,
               struct arena *a);

// ---- views ----

struct audit_view { // what a formatter made of a variant
    struct audit_rows rows;
    str text;
};
// Judges the views of one probe (R07 to R11; AUDIT_VARIANTS of them): adds what is wrong. `raw` is
// the plain observation. `by_san`: moves may be shown in SAN alone.
void audit_views(const struct audit_view *views, str raw, bool by_san, struct arena *a,
                 struct violations *out);
// Whether a parser may make this move of that response (R03), the rows being visible.
bool audit_is_derivable(str response, str uci, const struct audit_rows *rows);
// Adds a finding, once per rule and line; the gravest level is kept.
void audit_find(struct violations *out, struct arena *a, struct violation v);
