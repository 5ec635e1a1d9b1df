// SPDX-License-Identifier: GPL-3.0-or-later
// episode.h - the state machines that ask (a position of a puzzle, later a game or a harness
// rollout), and the resolver that turns an answer into a move. Pure: the pump answers.
#pragma once
#include "engine/engine.h"
#include "harness/harness.h"
#include "llm/llm.h"
#include "puzzle/puzzle.h"

// ---- asking and answering ----

enum ask_to { TO_MODEL, TO_ENGINE, TO_HARNESS, TO_PERSON };
struct ask { // one question to the outside; its texts lie in the episode's arena
    enum ask_to to;
    struct model_request model;
    struct engine_query engine;
    struct harness_ask {
        const struct candidate *candidate;
        struct harness_call call;
    } harness;
    str person; // what the person is shown
};
enum harness_ending { HARNESS_ANSWERED, HARNESS_DIED, HARNESS_BUSY }; // busy: never its fault
struct person_answer {
    str line; // without its end
    int64_t latency_ms;
};
struct answer { // of a model, an engine, a candidate's child, a person; valid during one step()
    struct reply model;
    struct engine_reply engine;
    struct harness_answer {
        enum harness_ending ending;
        struct harness_result result; // where it answered; what it had told where it died
        str how;                      // where it died: "deadline", "signal:11", ...
    } harness;
    struct person_answer person;
};

struct usage_total { // of some calls together
    int64_t n_calls;
    int64_t n_with_usage; // reported by the endpoint, not estimated
    int64_t n_with_cost;  // reported or priced
    int64_t n_costless;   // no price is known; the rest is estimated
    int64_t n_simulated;  // answered by a simulated model, whatever its name
    int64_t input_tok, cached_tok, output_tok, reasoning_tok, cost_nusd;
};
void usage_total_note(struct usage_total *total, const struct reply *r);
void usage_total_add(struct usage_total *total, const struct usage_total *more);

enum outcome_status {
    OUTCOME_SCORED,   // the model was judged: score 0..1
    OUTCOME_UNSCORED, // filtered or too long for the model: shown apart, 0 in comparisons
    OUTCOME_FAILED,   // no answer arrived: never a score
};
struct outcome {
    enum outcome_status status;
    double score;
    struct usage_total used; // all its calls, made or replayed
    bool replayed;           // set by the pump: every answer came from the store
    const void *record;      // the kind's own, see the kinds below
    str error;               // why it failed; empty otherwise
};

struct job { // one thing to evaluate; a batch is an array of these
    const struct episode_kind *kind;
    const struct program *program;
    const void *input; // what kind->start expects: a puzzle position, ...
    str input_id;      // names the input in the store: "mWHnu/0"
    const struct model *model;
    const struct sampling *sampling; // NULL: the model's own
};

enum step { STEP_ASK, STEP_DONE };
struct episode {
    struct job *job;     // a game of two models changes job->model: whom its next ask goes to
    struct arena *arena; // lives as long as the episode
    struct outcome outcome;
};
struct episode_kind {
    const char *name;
    size_t size; // of the concrete struct, whose first member is `struct episode`
    // Advances by one stage. `in` is NULL at first, then the answer to the last ask. The episode
    // was zeroed, then given job and arena.
    enum step (*step)(struct episode *ep, const struct answer *in, struct ask *out);
    // Copies the outcome's record into another arena, where it outlives the episode.
    const void *(*copy_record)(const void *record, struct arena *a);
};
// A fresh episode in `a`; keeps the job.
struct episode *episode_new(struct job *job, struct arena *a);

// ---- the resolver: answer text to move (few-shot specification, section 2) ----

enum resolve_error { RESOLVE_OK, RESOLVE_NO_CANDIDATE, RESOLVE_NO_LEGAL, RESOLVE_AMBIGUOUS };
enum resolve_mode { // which source of fragments gave the move
    RESOLVE_NOTHING,
    RESOLVE_FINAL_MOVE,
    RESOLVE_WHOLE_OUTPUT,
    RESOLVE_UCI_FROM_TEXT,
    RESOLVE_SAN_FROM_TEXT,
};
struct resolution {
    enum resolve_error error;
    enum resolve_mode mode; // source of the first candidate that gave the move
    move m;                 // MOVE_NONE on error
    struct resolve_candidates {
        struct resolve_candidate {
            str fragment;
            enum resolve_mode source;
            move m; // MOVE_NONE: not legal
        } * v;
        size_t n, cap;
    } candidates; // the audit list, in order
};
// Fills `out` in arena `a`. `answer` is the text of the move field.
void move_resolve(const struct position *pos, str answer, struct arena *a, struct resolution *out);
str resolve_error_name(enum resolve_error e); // "no_candidate", ...; "" for RESOLVE_OK
str resolve_mode_name(enum resolve_mode m);   // "whole_output", ...; "" for RESOLVE_NOTHING

// ---- kinds ----

// One position of a puzzle: stages RENDER JUDGE (REASK JUDGE). Input: struct puzzle_position.
// The score is 1 for the reference move, else 0; an unparsable answer scores 0.
extern const struct episode_kind episode_puzzle;
enum answer_kind { // how the answer counts; the names are those of the reports
    ANSWER_CORRECT,
    ANSWER_WRONG,      // legal, not the reference
    ANSWER_ILLEGAL,    // a move, but no legal one here
    ANSWER_NO_MOVE,    // nothing that looks like a move
    ANSWER_AMBIGUOUS,  // several different legal moves
    ANSWER_UNPARSABLE, // no JSON answer
    ANSWER_TRUNCATED,  // unparsable because the token limit cut it
    ANSWER_EMPTY,
    ANSWER_REFUSED,
    ANSWER_FILTERED,         // unscored
    ANSWER_CONTEXT_OVERFLOW, // unscored
    ANSWER_FAILED,           // no answer arrived
};
enum { ANSWER_KINDS = ANSWER_FAILED + 1 };
str answer_kind_name(enum answer_kind k);
struct puzzle_record { // outcome.record of episode_puzzle; never NULL once done
    enum answer_kind kind;
    str prediction;    // the move field as the model wrote it; empty where unparsable
    const str *values; // all output fields of the signature; NULL where unparsable
    size_t n_values;
    move played; // MOVE_NONE where not resolved
    enum resolve_mode mode;
    bool forced;        // the only legal move, answered without a call where the model only chooses
    bool any_mate;      // played mates at once though the reference is another move
    str text;           // the whole answer text
    str error;          // "" or "Kind: text" for results.json
    int64_t latency_ms; // of the last call
    str served_model, served_provider, finish;
};

// One question to a model that writes prompts. With a program, `values` are its inputs and the
// answer is read into its outputs; without, `plain` is the whole user message and the answer free
// text. Score 1: usable. Refused, filtered, too long, empty, no JSON: scored 0, `error` says why.
extern const struct episode_kind episode_prompt;
struct prompt_input { // input of episode_prompt
    const str *values;
    str plain, system; // system: empty for none
};
struct prompt_record { // outcome.record of episode_prompt; never NULL once done
    bool usable;
    bool answered;     // a text came, if only an empty one: not refused, filtered or too long
    const str *values; // all output fields; NULL where unusable or free text
    size_t n_values;
    str text;       // the whole answer
    bool truncated; // the token limit cut it
    str error;      // why it is not usable; empty otherwise
};

#include "episode/dialog.h"
#include "episode/engine_kinds.h"
#include "episode/game.h"
#include "episode/rollout.h" // rollouts of a harness
