// SPDX-License-Identifier: GPL-3.0-or-later
// engine.h - UCI engines as values: settings, questions, lines of output, answers, and the
// conversation with one process as an automaton that is fed lines and gives bytes to send. Pure:
// the pump owns the processes and the clock.
#pragma once
#include "chess/chess.h"

// ---- limits and scores ----

enum engine_limit_by { ENGINE_BY_DEPTH, ENGINE_BY_NODES, ENGINE_BY_TIME };
struct engine_limit { // how long one search goes on
    enum engine_limit_by by;
    int64_t n; // plies, nodes, milliseconds
};
// "depth=20", "nodes=100000", "movetime=100"; anything else is ERR_USAGE.
MUST_CHECK bool engine_limit_parse(str text, struct engine_limit *out, struct err *err);
str engine_limit_format(struct engine_limit limit, struct arena *a);

enum engine_bound { ENGINE_EXACT, ENGINE_LOWER, ENGINE_UPPER };
struct engine_score { // for the side to move
    bool given, mate; // mate: value counts moves; 0 and below: the side to move gets mated
    int32_t value;    // centipawns otherwise
    enum engine_bound bound;
};
enum { ENGINE_MATE_CP = 100000 }; // what a mate counts (paper-files specification, section 3)
// Worst to best: mate 0, mate -1, mate -5, cp -900, cp 900, mate 5, mate 1. <0, 0, >0.
int engine_score_cmp(struct engine_score a, struct engine_score b);
// Mates as +-ENGINE_MATE_CP, other scores strictly between.
int64_t engine_score_cp(struct engine_score s);
// Expected score 0..1 by the formula of Lichess; being mated is 0, mating 1.
double engine_score_win(struct engine_score s);

// ---- one line of output ----

enum uci_kind {
    UCI_NOISE, // nothing that UCI knows
    UCI_ID_NAME,
    UCI_ID_AUTHOR,
    UCI_OPTION,
    UCI_UCIOK,
    UCI_READYOK,
    UCI_INFO,
    UCI_STRING, // info string; never read for scores
    UCI_BESTMOVE,
};
enum engine_option_kind { OPTION_CHECK, OPTION_SPIN, OPTION_COMBO, OPTION_BUTTON, OPTION_STRING };
struct engine_option { // as announced
    str name;
    enum engine_option_kind kind;
    str fallback;     // the engine's default
    int64_t min, max; // of OPTION_SPIN
    str vars;         // of OPTION_COMBO: "var A var B"
};
struct uci_info {
    int depth, seldepth, multipv; // 0: not told
    int64_t nodes, time_ms;       // -1: not told
    struct engine_score score;
    bool has_wdl;
    int wdl[3]; // per mille: win, draw, loss
    str pv;     // moves as the engine wrote them
};
struct uci_line { // views of the line
    enum uci_kind kind;
    str text;   // name, author, string; of bestmove: the move, "" for (none), 0000 and NULL
    str ponder; // of bestmove
    struct engine_option option;
    struct uci_info info;
};
// Reads any bytes; what makes no sense is noise, or a field that is not told.
void uci_line_read(str line, struct uci_line *out);

// ---- an engine ----

struct engine_setting {
    str name, value;
    bool optional; // left out where the engine has no such option
};
struct engine_settings {
    struct engine_setting *v;
    size_t n, cap;
};
// "Hash=64;Skill Level=3" added to `out`, in `a`; a name given again replaces. ERR_USAGE.
MUST_CHECK bool engine_settings_parse(str text, struct arena *a, struct engine_settings *out,
                                      struct err *err);
void engine_settings_put(struct engine_settings *s, str name, str value, struct arena *a);
// Weaker play by UCI_LimitStrength and UCI_Elo.
void engine_settings_elo(struct engine_settings *s, int64_t elo, struct arena *a);

struct engine_options { // of one engine, as announced
    struct engine_option *v;
    size_t n, cap;
};
// Whether an announced option takes the value; ERR_USAGE names the nearest option, the range.
MUST_CHECK bool engine_setting_check(const struct engine_options *options,
                                     const struct engine_setting *s, struct err *err);

struct engine { // one configured engine; immutable once its handshake is known
    str path;   // of the program, absolute
    const str *args;
    size_t n_args;
    struct engine_settings settings;
    int64_t hello_ms;     // until uciok and readyok [10000]
    int64_t timeout_ms;   // one search; with a time limit: beyond it [300000]
    bool check_positions; // compare the engine's own FEN (`d`) with ours before each search
    // what the handshake told:
    str name, author;
    str identity; // SHA-256 over name, author and all options as set
    bool random;  // plays by chance (weakened, several threads): answers are never reused
};

// ---- question and answer ----

enum { ENGINE_LINES_MAX = 256, ENGINE_PV_MAX = 64, ENGINE_HISTORY_MAX = 2000 };
struct engine_query { // one search
    const struct engine *engine;
    struct position start; // where the game began, and
    const move *moves;     // what was played since
    size_t n_moves;
    const move *search; // only these moves; n_search 0: all
    size_t n_search;
    int lines; // MultiPV [1]
    struct engine_limit limit;
    bool need_score; // an answer without one is a fault
};
// Plays the moves and looks at all else. False (ERR_INPUT): nothing may be sent. `*at` (may be
// NULL) gets the position to search.
MUST_CHECK bool engine_query_check(const struct engine_query *q, struct position *at,
                                   struct err *err);
// SHA-256 over the engine's identity, position, moves and limits.
str engine_query_hash(const struct engine_query *q, struct arena *a);
// The same question gets the same answer again: no chance and no clock in it.
bool engine_query_is_repeatable(const struct engine_query *q);

enum engine_class { // of an answer
    ENGINE_OK,
    ENGINE_CRASHED,  // the process ended; from here on: faults, retried, never a score
    ENGINE_STALLED,  // no answer in time
    ENGINE_PROTOCOL, // an answer that cannot be: an illegal move, less than was asked for
};
str engine_class_name(enum engine_class c); // "ok", "crashed", "stalled", "protocol"
struct engine_pv {                          // one of MultiPV's lines
    struct engine_score score;              // the deepest exact one; only without any: a bound
    struct engine_score bound;              // the last bound
    int depth, seldepth;                    // of score; of the last line
    bool has_wdl;
    int wdl[3];
    move moves[ENGINE_PV_MAX]; // legal ones; a bad tail is cut
    size_t n;
};
struct engine_reply {
    enum engine_class class;
    move best, ponder;   // MOVE_NONE: mated or stalemate; not told
    struct engine_pv *v; // by MultiPV number
    size_t n;            // 0: no score was told
    int64_t nodes;       // -1: not told
    int64_t n_cut;       // illegal tails of variations
    int64_t n_noise;     // lines that are no UCI
    str error;           // of a fault
    int attempts;        // with this one
    int64_t latency_ms;
};
str engine_reply_to_json(const struct engine_reply *r, struct arena *a);
// The inverse for a search of `at`; ERR_INPUT.
MUST_CHECK bool engine_reply_from_json(str text, const struct position *at, struct arena *a,
                                       struct engine_reply *out, struct err *err);

#include "engine/talk.h"
