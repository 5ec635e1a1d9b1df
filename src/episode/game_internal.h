// SPDX-License-Identifier: GPL-3.0-or-later
// game_internal.h - a game at work, for the files of the game's episode.
#pragma once
#include "episode/episode.h"

struct game_episode {
    struct episode base;
    struct game_record record;
    struct game now;
    struct rng streams[2];
    bool over;
    // of the dialog at work
    struct messages messages;
    int n_sent, failed;
    bool knows_board, after_reflection;
    int64_t ply_ms, ply_tok;
    // of a mixture of agents: what its workers have answered to the last message
    bool worker_asked; // the ask outstanding is to a worker
    str *worker_texts;
    size_t n_worker_texts;
};

enum ply_end { PLY_MOVED, PLY_WRONG, PLY_TURNS };

enum color game_ep_turn(const struct game_episode *ep);
const struct game_player *game_ep_player(const struct game_episode *ep); // to move
const struct dialog_rules *game_ep_rules(const struct game_episode *ep); // its own
struct game_side *game_ep_side(struct game_episode *ep);
struct dialog_scene game_ep_scene(const struct game_episode *ep);
void game_ep_play(struct game_episode *ep, move m);
void game_ep_end_ply(struct game_episode *ep, enum ply_end end);
void game_ep_end(struct game_episode *ep, enum game_reason reason, enum game_class class,
                 int winner);
void game_ep_error(struct game_episode *ep, enum game_class class, str error);

// ---- a person ----

// Shows the note, and asks for a move.
enum step person_ask(struct game_episode *ep, str note, struct ask *out);
// Takes what was typed. True: another ask.
bool person_take(struct game_episode *ep, const struct person_answer *in, struct ask *out);

// ---- a mixture of agents ----

void moa_open(struct game_episode *ep, struct ask *out); // asks the first worker
// Takes a worker's answer and asks the next worker or the synthesiser. False: what came is nobody's
// answer.
bool moa_take(struct game_episode *ep, const struct reply *r, struct ask *out);
