// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the types of plain scalars, and the tables of keys.
#pragma once
#include "config/config.h"

// ---- scalars ----

enum scalar_note { SCALAR_USUAL, SCALAR_MERGE, SCALAR_VALUE }; // `<<` and `=` are keys only

// Gives `n` (text and line are set) the type and value of a plain scalar. False with `err` for a
// number that cannot be held.
MUST_CHECK bool scalar_resolve(struct yaml_node *n, enum scalar_note *note, struct err *err);
// The same for an explicit tag of YAML 1.1, given without its prefix: "int". False with `err` for
// an unknown tag and for a text that is none of its values.
MUST_CHECK bool scalar_tagged(struct yaml_node *n, str tag, struct err *err);

// ---- keys ----

enum rule_type {
    RULE_TEXT,      // str; a plain date is one too
    RULE_WORD,      // str, one of `words`
    RULE_INT,       // int64_t; null: 0
    RULE_COUNT,     // uint64_t
    RULE_REAL,      // double; null: 0
    RULE_BOOL,      // bool
    RULE_AUTO,      // int64_t; the word "auto": 0
    RULE_METHOD,    // enum method
    RULE_MODEL,     // struct model_config
    RULE_EXTRA,     // json_t *, an object
    RULE_OPTIMIZER, // kept as it is; checked when the method is known
    RULE_ROOKERY,   // struct rookery_config
};
struct rule { // one key of a mapping
    const char *name;
    enum rule_type type;
    int64_t min, max;
    bool above;         // the number must be greater than min
    bool nullable;      // null is a value
    const char *words;  // of RULE_WORD, separated by ", "
    size_t at;          // where in the target it goes, or NOWHERE
    const char *preset; // optimizer keys that go NOWHERE: the default, as JSON
};
enum { NOWHERE = 1 << 30 };
struct rules {
    const struct rule *v;
    size_t n;
};
extern const struct rules run_rules, model_rules, rookery_rules;
const struct rules *optimizer_rules(enum method m);

// The rule of a key, or NULL.
const struct rule *rule_find(const struct rules *rules, str name);
struct where { // a mapping stands, for messages
    str path;
    str prefix; // put before its keys: "task_model."
};
// Checks every pair of a mapping and puts its value into `target`.
MUST_CHECK bool rules_read(const struct rules *rules, const struct yaml_node *map,
                           const struct where *where, void *target, struct err *err);
// Checks the optimizer mapping against the method; bootstrap values go into `o`.
MUST_CHECK bool optimizer_read(struct optimizer_config *o, enum method m, str path,
                               struct err *err);
