// SPDX-License-Identifier: GPL-3.0-or-later
// play.h - what the files of `rookery play` share.
#pragma once
#include "cli/cli.h"
#include "match/match.h"
#include "pump/pump.h"

// One line of `play --parse-reply`: {"profile", "fen", "reply"} and options of the rules.
jsonl_fn parse_reply;

extern const struct opt opts_dialog[], opts_players[], opts_models[];

struct play { // games of two players
    const struct args *args;
    struct arena *arena; // of the process
    struct err *err;
    struct game_player players[2];
    struct game_player exchanged[2]; // the same with the other colours
    bool swaps;                      // colours are exchanged in every second game
    bool has_person;
    struct model models[2];
    struct prices prices; // of models
    struct engine engines[2];
    bool asks; // somebody outside the process is asked
    struct dialog_rules rules;
    struct dialog_rules own_rules[2]; // of each player, as in `players`
    struct prompt_set prompts;
    struct game_input game; // all games' but for the index
    // The players and start of one game; NULL: those of `game`.
    void (*fill)(const struct play *p, size_t index, struct game_input *in);
    const void *schedule; // of `fill`
    int64_t n_games;
    str key, dir, stamp; // run id; where logs go; what their names begin with
    struct store *store;
    struct store_run row;
    struct pump *pump;
    bool simulated; // some reply came from a simulated model, whatever its name
    int64_t n_done; // for the progress line
    int64_t reported_us;
    struct game_log *logs; // by index
    bool *played;          // its log is there
    str *pgns;
    size_t n_started, n_valid, cap;
};
// A player as --white names one, as the side `c` of `p`; what of it a failure concerns is told
// under the option of that side. Rules of all games. Both. ERR_USAGE.
MUST_CHECK bool play_open_player(struct play *p, int c, str spec);
// What logs call the player as that colour, beside the other player of `p`.
str play_player_name(const struct play *p, const struct game_player *g, int c);
MUST_CHECK bool play_read_rules(struct play *p);
MUST_CHECK bool play_configure(struct play *p);
const char *play_side_name(int c); // "white", "black"
// "provider/model,NAME=VALUE,..." and "SYNTHESISER;WORKER;..." as players. ERR_USAGE.
MUST_CHECK bool play_open_model(struct play *p, int c, str spec);
MUST_CHECK bool play_open_moa(struct play *p, int c, str spec);
// Writes a model, its own rules and its workers as members of the open object.
void play_put_model(const struct play *p, struct json_out *o, int c);
// think, board or view of the rules; false: no such name or value.
MUST_CHECK bool play_dialog_setting(struct dialog_rules *r, str name, str value);
// The configuration of section 4.2 as JSON, and what makes the run's id of it.
str play_run_json(const struct play *p);
str play_key(const struct play *p);
void play_put_config(const struct play *p, struct json_out *o); // the member "config"
void play_put_player(const struct play *p, struct json_out *o, int c);
// Opens store and pump for the run p->key; `row` says what it is. Logs go to --out, or `out`.
MUST_CHECK bool play_begin(struct play *p, const struct store_run *row, str out);
void play_end(struct play *p);
// Room for the logs of so many games, and of as many that are played in the place of broken ones.
enum { ATTEMPTS_FACTOR = 2 };
void play_make_room(struct play *p, size_t n_games);
// Plays these games (the list is used up); goes on once more with what was broken off.
MUST_CHECK bool play_twice(struct play *p, size_t *todo, size_t n);
// The logs so far, in order of their games; they and their PGN in the run's directory.
struct game_logs play_logs(const struct play *p);
MUST_CHECK bool play_save(const struct play *p, const char *name, str text);
MUST_CHECK bool play_save_pgn(const struct play *p, const struct game_logs *logs);
// Keeps the aggregate as the run's result.
MUST_CHECK bool play_keep(struct play *p, str aggregate);
// Plays, writes the logs and the run's files, prints the report.
MUST_CHECK bool play_games(struct play *p);
