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
    RULE_CHOICE,    // int (an enum): which of `words`, from 1; null: 0
    RULE_INT,       // int64_t; null: 0
    RULE_COUNT,     // uint64_t
    RULE_REAL,      // double; null: 0
    RULE_BOOL,      // bool
    RULE_AUTO,      // int64_t; the word "auto": 0
    RULE_METHOD,    // enum method
    RULE_MODEL,     // struct model_config
    RULE_EXTRA,     // json_t *, an object
    RULE_OPTIMIZER, // kept as it is; checked when the method is known
    RULE_OPTIONS,   // kept as it is; checked with the optimizer's
    RULE_ROOKERY,   // struct rookery_config
};
struct rule { // one key of a mapping
    const char *name;
    enum rule_type type;
    int64_t min, max;
    bool above;                   // the number must be greater than min
    bool nullable;                // null is a value
    const char *words;            // of RULE_WORD, separated by ", "
    size_t at;                    // where in the target it goes, or NOWHERE
    const char *preset;           // of optimizer keys and options: the default, as written in YAML
    const char *improved, *about; // of options: the other preset, and what it decides
};
enum { NOWHERE = 1 << 30, COUNT_MAX = 1000000000 };
enum { SHOWN = 60 }; // bytes of a value in a message
struct rules {
    const struct rule *v;
    size_t n;
};
extern const struct rules run_rules, model_rules, rookery_rules;
const struct rules *optimizer_rules(enum method m);

// The rule of a key, or NULL.
const struct rule *rule_find(const struct rules *rules, str name);
// Of RULE_CHOICE: the number of a word, 0: none of them; and the word of a number.
int rule_choice(const struct rule *r, str word);
str rule_word(const struct rule *r, int choice);
struct where { // a mapping stands, for messages
    str path;
    str prefix; // put before its keys: "task_model."
};
// Checks every pair of a mapping and puts its value into `target`.
MUST_CHECK bool rules_read(const struct rules *rules, const struct yaml_node *map,
                           const struct where *where, void *target, struct err *err);
// Defaults of method and preset, then the mappings of `o` over them: the file's keys and options,
// then --set. `file` names the file.
MUST_CHECK bool optimizer_read(struct optimizer_config *o, enum method m, str preset,
                               const struct where *file, struct err *err);
// The member `optimizer` of run_config.json.
void optimizer_to_json(const struct optimizer_config *c, enum method m, struct json_out *o);
// The members of run_config.json's `config`.
void config_put_members(const struct run_config *c, struct json_out *o);
// The settings of a model that a file does not name.
void config_model_defaults(struct model_config *m);
