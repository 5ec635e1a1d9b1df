// SPDX-License-Identifier: GPL-3.0-or-later
// game.h - a whole LLM Chess game as an episode: two players of any kind, a fresh dialog for every
// ply of a model. Source: the LLM Chess specification, sections 1 to 3.
#pragma once
#include "engine/engine.h"
#include "episode/episode.h"
#include "search/search.h"

// ---- players ----

enum player_kind { PLAYER_RANDOM, PLAYER_SEARCH, PLAYER_ENGINE, PLAYER_MODEL, PLAYER_PERSON };
struct moa { // a mixture of agents (3.6): models that are asked first, for the player's own
    struct moa_worker {
        const struct model *model;
        struct sampling sampling;
    } * workers;
    size_t n;
};
struct game_player {
    enum player_kind kind;
    str name;                    // as logs name it
    str label;                   // what it is: "random", a model's label, an engine with its level
    const struct model *model;   // of PLAYER_MODEL; of a mixture: the synthesiser
    const struct moa *moa;       // of PLAYER_MODEL: the workers; NULL: it thinks alone
    struct search_limits think;  // of PLAYER_SEARCH: the built-in engine
    double handicap;             // of PLAYER_SEARCH: chance of a uniformly random move instead
    const struct engine *engine; // of PLAYER_ENGINE
    struct engine_limit limit;
    bool forgets; // the engine gets the position alone, not the game
};
struct game_input { // input of episode_game
    struct game_player players[2];
    const struct dialog_rules *rules[2]; // White's say how the game ends
    struct position start;
    uint64_t seed, index; // decide all draws: streams "play/INDEX/white" and ".../black"
    int64_t ply_ms;       // most time of all calls of a ply, and of a side's [0: no limit]
    int64_t game_ms;
    int64_t ply_tok; // most tokens that a model may write in a ply [0: no limit]
};

// ---- how it ends ----

enum game_reason { // the names are those of the logs
    REASON_NONE,
    REASON_CHECKMATE,
    REASON_STALEMATE,
    REASON_INSUFFICIENT_MATERIAL,
    REASON_SEVENTYFIVE_MOVES,
    REASON_FIVEFOLD_REPETITION,
    REASON_FIFTY_MOVES, // these two only by DIALOG_CLAIMS
    REASON_THREEFOLD_REPETITION,
    REASON_RESIGNATION, // of a person
    REASON_MAX_MOVES,
    REASON_WRONG_ACTIONS, // from here on: the game was interrupted
    REASON_MAX_TURNS,
    REASON_UNKNOWN_ISSUE, // only in logs of others
    REASON_ERROR,
};
enum { GAME_REASONS = REASON_ERROR + 1 };
str game_reason_name(enum game_reason r); // "Checkmate", ..., "ERROR OCCURED" (sic)
bool game_reason_interrupts(enum game_reason r);

enum game_class { // what decided: chess, the protocol, the model's endpoint, or nothing of the game
    CLASS_CHESS,
    CLASS_MAX_MOVES,
    CLASS_PROTOCOL_LOSS,
    CLASS_MODEL_ERROR, // refused, filtered, too long for the model: a loss under the strict policy
    CLASS_INFRA_ERROR, // never in statistics, as the next
    CLASS_HARNESS_ERROR,
};
enum { GAME_CLASSES = CLASS_HARNESS_ERROR + 1 };
str game_class_name(enum game_class c); // "chess", "max_moves", "protocol_loss", ...
MUST_CHECK bool game_class_parse(str name, enum game_class *out);

struct game_side { // what is counted of one player
    int wrong_moves, wrong_actions, reflections, reflections_before_board;
    int boards, lists, moves; // requests and attempts, also failed ones
    int lenient;              // replies that only the robust profile could read
    int64_t reply_ms;
    struct usage_total used;
    str served_model;
};
struct game_turn { // a message of ours and the reply
    int ply;       // from 0
    str asked, said, reasoning;
    enum dialog_action action;
    str move;    // of ACTION_MOVE, as it was read
    str outcome; // "board", "list", "reflection", "moved", "wrong_move", "wrong_action: empty", ...
    int64_t latency_ms, input_tok, output_tok;
    str finish;
};
struct game_record { // outcome.record of episode_game; never NULL once done
    enum game_reason reason;
    enum game_class class;
    int winner; // enum color, by the rules or by the protocol; -1: nobody
    int fault;  // enum color whose model or engine made an error; -1: nobody
    int plies;  // number_of_moves: dialogs held, also a failed last one
    struct position start;
    struct game_moves {
        move *v;
        size_t n, cap;
    } moves;
    int material[2]; // after the last dialog; 0 before the first
    struct game_side side[2];
    struct game_turns {
        struct game_turn *v;
        size_t n, cap;
    } turns;          // of models only
    uint64_t n_legal; // legal moves over all plies
    str error;        // of the two error classes
};
// One whole game. Score: White's points. Failed: an infra_error; the record tells how far it came.
extern const struct episode_kind episode_game;
// Pawn 1, knight and bishop 3, rook 5, queen 9.
int game_material(const struct position *pos, enum color c);
