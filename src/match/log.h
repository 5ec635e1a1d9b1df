// SPDX-License-Identifier: GPL-3.0-or-later
// log.h - the log of one game, ours or the original's, as values; and the files that hold it.
// Source: the LLM Chess specification, sections 4.1 to 4.3. Where a name and a colour disagree the
// colour counts: two players may have one name (6.3).
#pragma once
#include "episode/episode.h"

enum { LOG_MAX_BYTES = 16 << 20, LOG_UNKNOWN = -1 };

struct log_side {    // of one player; counts may be LOG_UNKNOWN in old logs
    str name, model; // as the log has them: "Player_Black"; "N/A": no language model
    str label;       // for tables: the model with its effort and budget; "random", an engine's name
    int64_t wrong_moves, wrong_actions, reflections, reflections_before_board;
    int64_t boards, lists, moves, lenient;
    double seconds; // 0: unknown
    int64_t material;
    bool has_usage;
    int64_t prompt_tok, completion_tok, reasoning_tok, cached_tok;
    double cost_usd;
    bool cost_known;
};
// Why parts of an old log do not count (by its date, specification 8.2, D11 to D14).
enum log_doubt {
    DOUBT_MISTAKES = 1,  // before 2025-03-16: mistakes are under-reported; blanked
    DOUBT_PROMOTION = 2, // October 2024: the parser could not promote
    DOUBT_PER_GAME = 4,  // before 2024-11-05: failed attempts were counted per game
    DOUBT_REASON = 8,    // before 2024-10-16: "unknown issue" may be a loss by max turns
    DOUBT_WINNER = 16,   // equal names and nothing else that tells the winner
};
struct game_log {
    str file;         // where it was read; empty: our own
    str time_started; // "YYYY.MM.DD_HH:MM"
    str reason_text;
    enum game_reason reason;
    enum game_class class;
    int winner; // enum color by rules or protocol; -1: nobody
    int fault;  // enum color of who made a model error; -1
    int64_t plies;
    struct log_side side[2];
    unsigned doubts;
    str error, pgn;
    // of our own logs; empty or 0 elsewhere
    int64_t index;
    uint64_t seed;
    str run, profile, prompts;
};
struct game_logs {
    struct game_log *v;
    size_t n, cap;
};
struct log_source { // what a record does not know
    str time_started, run, profile, prompts;
    const struct game_input *input;
};
// The log of a game of ours; texts in `a`.
void game_log_make(const struct game_record *r, const struct log_source *from, struct arena *a,
                   struct game_log *out);
// The per-game JSON: the original's keys in their order, then ours.
str game_log_json(const struct game_log *log, struct arena *a);
// Reads a per-game JSON of any age: counts, time and PGN may be absent, unknown keys are fine. What
// is no game log is ERR_INPUT. `file` names it in messages.
MUST_CHECK bool game_log_read(str file, str text, struct arena *a, struct game_log *out,
                              struct err *err);
str log_doubts_text(unsigned doubts, struct arena *a); // for people; "" for none
// The winner that counts: where a model error ended the game, by the strict policy the other side.
enum error_policy { POLICY_STRICT, POLICY_LENIENT };
int game_log_winner(const struct game_log *log, enum error_policy policy);
// Whether statistics may use it: no infrastructure or harness error, and no unknown winner.
bool game_log_counts(const struct game_log *log, enum error_policy policy);
// "1-0", "0-1", "1/2-1/2", "*" by the rules of chess alone; "ok" or who lost by what; "ok" or what
// broke: the three columns.
str game_log_chess(const struct game_log *log);
str game_log_protocol(const struct game_log *log, struct arena *a);
str game_log_infra(const struct game_log *log, struct arena *a);

// The game as PGN, with mistakes, tokens and time in comments.
str game_pgn(const struct game_record *r, const struct game_log *log, const struct game_input *in,
             struct arena *a);
// What was said, JSON Lines: one message and its reply a line.
str game_turns_jsonl(const struct game_record *r, struct arena *a);

// The aggregate object of section 4.3 over logs; `metadata`: raw JSON of run_metadata, or empty.
// Errors are counted as the original does, as draws; the member "rookery" has them apart.
str game_logs_aggregate(const struct game_logs *logs, str metadata, struct arena *a);
