// SPDX-License-Identifier: GPL-3.0-or-later
// prompt.h - a program is an instruction and an ordered list of demonstrations over a signature of
// fields; this module renders it to chat messages, reads the answers, and saves it. Pure.
//
// Source of layout and grammar: few-shot specification, section 1.
#pragma once
#include "base/base.h"

struct field {
    str name;        // "legal_moves_uci"
    str description; // may be empty
};
enum { SIGNATURE_FIELDS_MAX = 16 }; // inputs and outputs together
struct signature {
    const struct field *inputs, *outputs;
    size_t n_inputs, n_outputs;
};
// position_fen, side_to_move, legal_moves_uci -> move; the second with `analysis` before `move`.
extern const struct signature signature_choose_move, signature_choose_move_analysis;
extern const str instruction_base; // the paper's base instruction, 55 characters

// Where a labelled demonstration comes from; saved, never sent.
struct demo_source {
    str puzzle_id;
    bool has_rating;
    int rating;
    str themes; // separated by blanks
    int position_index, position_count;
};
struct demo {
    const str *inputs, *outputs;      // one per field of the signature, in its order
    const struct demo_source *source; // NULL: augmented (the answer is the model's own, accepted)
};

// Immutable; shared by pointer.
struct program {
    const struct signature *signature;
    str instruction; // normalised
    const struct demo *const *demos;
    size_t n_demos;
};

// The name as a title: "Legal Moves Uci".
str field_title(str name, struct arena *a);
// A program in `a`; copies the instruction, normalised. Keeps signature and demos.
const struct program *program_new(struct arena *a, const struct signature *signature,
                                  str instruction);
const struct program *program_with_instruction(struct arena *a, const struct program *p,
                                               str instruction);
// Keeps the demos; copies the pointer array.
const struct program *program_with_demos(struct arena *a, const struct program *p,
                                         const struct demo *const *demos, size_t n_demos);
// Section 1.3 without its rule 5: an empty text stays empty (callers refuse it).
str instruction_normalise(str text, struct arena *a);
// What rule 5 puts in place of an empty text: "Given the fields `a`, `b`, produce the fields `c`.".
str instruction_default(const struct signature *s, struct arena *a);
// Size as the paper counts it, in code points (1.2).
size_t program_size(const struct program *p);
// SHA-256 over signature, instruction and demos as rendered; equal for equal prompts.
str program_hash(const struct program *p, struct arena *a);

// ---- messages ----

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT };
struct message { // one turn of a chat; text is valid UTF-8 where its program's texts are
    enum role role;
    str text;
};
struct messages { // a chat: the system's turn first, the user's question last
    struct message *v;
    size_t n, cap;
};
str role_name(enum role role); // "system", "user", "assistant"
// The chat of one call, byte for byte as sections 1.4-1.7: texts in `a`. `inputs`: one per input
// field.
void program_render(const struct program *p, const str *inputs, struct arena *a,
                    struct messages *out);
// The messages as compact JSON [{"role":..,"content":..},...]; what request hashes are made of.
void messages_write(const struct messages *m, struct json_out *out);

// ---- answers ----

enum read_error {
    READ_OK,
    READ_EMPTY,         // nothing but white space
    READ_NOT_AN_OBJECT, // "not a JSON object"
    READ_MISSING_FIELD, // an object, but not all output fields
};
// Reads a model's answer (1.10): fills values[n_outputs] in `a`. White space as Python's
// str.strip. Other keys are ignored.
enum read_error answer_read(const struct signature *s, str text, struct arena *a, str *values);
str read_error_text(enum read_error e); // "" for READ_OK

// ---- files ----

// compiled.json of section 2 of the paper-files specification; `extra` (may be empty) is the raw
// JSON of the member "rookery" put at the end.
str program_to_json(const struct program *p, str extra, struct arena *a);
// Reads compiled.json text, or (no `{` first) a plain text as the instruction of the base
// signature. Unknown demo members are ignored; incomplete demos, a missing choose_move or a
// missing signature are ERR_INPUT. Programs with the field `analysis` get that signature.
MUST_CHECK bool program_from_text(str text, struct arena *a, const struct program **out,
                                  struct err *err);
