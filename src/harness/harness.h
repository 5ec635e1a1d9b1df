// SPDX-License-Identifier: GPL-3.0-or-later
// harness.h - candidate harness.py files seen from outside: the texts of the contract, the parser
// of answers, the frames to and from the sandboxed child, and what is checked before a child sees a
// source. Pure (Meta-Harness specification; numbers in comments are its sections).
#pragma once
#include "chess/chess.h"

// ---- limits (2.8) ----

enum {
    HARNESS_SOURCE_MAX_BYTES = 65536,
    HARNESS_SOURCE_MAX_LINES = 2000,
    HARNESS_LINE_MAX_CHARS = 2000,
    HARNESS_VIEW_MAX_BYTES = 65536, // of a formatted observation
    HARNESS_ACTION_MAX_BYTES = 4096,
    HARNESS_PROMPT_MAX_CHARS = 16384,
    HARNESS_REQUEST_MAX_BYTES = 1 << 20,
    HARNESS_REPLY_MAX_BYTES = 256 << 10,
    HARNESS_RESPONSE_MAX_BYTES = 170 << 10, // fits a request, whatever must be escaped
    HARNESS_BUDGET_MAX = 10,                // retries
    HARNESS_TURNS = 9,                      // default of MAX_TURNS
};

// ---- texts (1.6, 2.4, 2.5) ----

struct observed { // what the policy may know of a rollout
    const struct position *at;
    str last_reply; // UCI; empty: none yet
    const str *accepted;
    size_t n_accepted;
};
// The raw observation.
str harness_observation(const struct observed *o, struct arena *a);

#define HARNESS_NO_MOVE "__no_move__"
#define HARNESS_AMBIGUOUS "__ambiguous_multiple_moves__"
// The built-in parser: a move in UCI, or one of the two sentinels.
str harness_parse(str response, struct arena *a);
enum harness_tier { TIER_NONE, TIER_TAG, TIER_BRACKET, TIER_BARE };
// Which tier of the built-in parser decided.
enum harness_tier harness_parse_tier(str response);
// The result of a harness parser, normalised: lower case, trimmed, the one move in it if there is
// exactly one. `reference`: the first of several, as the reference takes it (D11).
str harness_normalise(str result, bool reference, struct arena *a);
// Square, square, perhaps one of q r b n, and nothing else.
bool harness_is_uci(str action);
// Such an action whose squares differ.
bool harness_goes_somewhere(str action);
// A user prompt with the observation filled in; never a general format function (D12).
// `reference`: a template without a place for it stays without (D13).
str harness_fill(str template, str observation, bool reference, struct arena *a);
// Whether a well-formed template has a place for the observation.
bool harness_shows_observation(str template);
// What came from a child, without controls other than LF and TAB.
str harness_clean(str text, struct arena *a);
extern const str harness_default_system, harness_default_user; // prompts of candidates without

// ---- tokens (1.8) ----

// The completion tokens of a usage object; false: it has none.
bool harness_usage_tokens(const json_t *usage, int64_t *out);
int64_t harness_approximate_tokens(size_t n_characters); // where there is no usage

// ---- sources (3.2) ----

enum level { LEVEL_REJECT, LEVEL_QUARANTINE, LEVEL_WARN }; // the gravest is the least
struct violation {                                         // of the static check or the audit
    str rule;                                              // "S40", "W-bidi", "C03", "R08"
    int64_t line, col;
    str message; // names what is allowed instead
    enum level level;
};
str level_name(enum level l);
struct violations { // sorted by line, column, rule
    struct violation *v;
    size_t n, cap;
};
// The rules that need no parser: size, encoding, lines (S01, S02, S04). True: none is broken, a
// child may parse it.
bool harness_source_check(str source, struct arena *a, struct violations *out);
// Whether a violation of this rule is among them.
bool violations_have(const struct violations *list, str rule);

// ---- frames (3.4) ----

enum harness_function { HARNESS_FORMAT, HARNESS_PARSE, HARNESS_LEGAL, HARNESS_PROPOSE };
struct harness_call { // one call of a candidate's function
    enum harness_function function;
    str text;                      // observation; HARNESS_PARSE: the response
    str action;                    // HARNESS_LEGAL
    int64_t turn_count, max_turns; // the rest: HARNESS_FORMAT
    str side_to_move, last_reply;
    uint64_t seed; // of the candidate's random numbers, under 2^53
    bool as_text;  // any result as str() writes it, as the reference takes it (D10)
    // HARNESS_PARSE: is_legal_action is then asked in the same go, about the action that follows
    bool judges;
    str board; // its observation
    uint64_t legal_seed;
};
str harness_function_name(enum harness_function f); // "format_observation", ...
// The seed of a call: the same for the same place in the same evaluation.
uint64_t harness_call_seed(uint64_t evaluation_seed, uint64_t example, uint64_t call,
                           enum harness_function f);

enum { FRAME_HEAD_BYTES = 4 }; // length, little endian, before the JSON
// Requests as whole frames in `a`; `id` is the caller's, never used twice with one child. A source
// is to be checked ("check"), loaded ("load"), or loaded without protection ("raw"). Calls travel
// otherwise: harness/calls.h.
// To be loaded from the code that the check has made of the source, if it has.
str frame_load(int64_t id, str source, str code, struct arena *a);
str frame_source(int64_t id, str op, str source, struct arena *a);
// For the audit: the values of a loaded candidate's globals; the audit of three texts: source, its
// parent's source or nothing, and those values.
str frame_globals(int64_t id, struct arena *a);
str frame_audit(int64_t id, const str texts[3], struct arena *a);
// The length that a head announces.
uint32_t frame_length(const unsigned char head[FRAME_HEAD_BYTES]);

enum harness_type { RESULT_STR, RESULT_BOOL, RESULT_INT, RESULT_NONE, RESULT_OTHER };
struct harness_result { // of a request that the child answered
    bool ok;            // false: the candidate raised an exception
    enum harness_type type;
    str text; // RESULT_STR: cleaned; RESULT_OTHER: JSON
    bool truth;
    int64_t integer;
    str error_class, error_message; // cleaned
    int64_t error_line;
    // of a call
    bool told;                             // there is a result, even if the child then died
    str action;                            // where it judges: what follows from the result
    const struct harness_result *legality; // NULL: not asked, or not answered
};
// The action that follows from the result of a parser: normalised; where it is of no use, what the
// built-in parser says.
str harness_action(const struct harness_call *call, const struct harness_result *r,
                   struct arena *a);
// Reads the JSON of a reply, believing nothing. False: the child broke the protocol; ERR_RUN.
MUST_CHECK bool frame_read(str json, int64_t id, struct arena *a, struct harness_result *out,
                           struct err *err);

struct harness_contract { // what a loaded candidate offers
    str system, user;     // prompts; the defaults where it has none
    bool formats, parses; // it has functions of its own; formats: one that changes something
    int64_t format_retries, illegal_retries, max_turns; // clamped (1.9, 1.10)
    bool has_turns;                                     // else max_turns is the default
    // of the check, which executes nothing
    str code;       // compiled, in hexadecimal digits; empty: it is to be compiled when loaded
    bool unchanged; // format_observation returns its argument
};
// Reads the value of a load or a check; ERR_RUN where it is not of that form.
MUST_CHECK bool harness_contract_read(str json, struct arena *a, struct harness_contract *out,
                                      struct violations *faults, struct err *err);
MUST_CHECK bool violations_read(str json, struct arena *a, struct violations *out, struct err *err);

#include "harness/audit.h" // the audit
#include "harness/calls.h" // calls in memory shared with a child
