// SPDX-License-Identifier: GPL-3.0-or-later
// talk.h - the conversation with one engine process as an automaton: it is fed lines and gives
// bytes to send. Whoever owns the process watches the clock.
#pragma once
#include "engine/engine.h"

enum talk_state {
    TALK_HELLO,   // waits for uciok
    TALK_READY,   // waits for the first readyok
    TALK_IDLE,    // may be asked
    TALK_PREPARE, // waits for readyok before the search; what comes first is of the last one
    TALK_COMPARE, // waits for the engine's own FEN
    TALK_SEARCH,
    TALK_STOP, // as TALK_SEARCH, after `stop`
};
struct talk {
    const struct engine *engine;
    struct arena *arena; // of the process
    enum talk_state state;
    struct buf out; // to be sent; whoever sends it sets out.len to 0
    // of the handshake
    str name, author;
    struct engine_options options;
    struct talk_strings {
        str *v;
        size_t n, cap;
    } strings;          // the first info string lines
    str errors;         // the last of them that tell an error
    struct err refusal; // code set: the settings do not fit this engine, do not go on
    int lines_;
    bool chess960_;
    const struct engine_query *query_;
    struct arena *arena_; // of the reply
    struct position at_;
    size_t n_legal_;
    struct engine_reply reply; // of the current or last question
};
// Begins with a fresh process; keeps the engine. `a` lives as long as the process.
void talk_start(struct talk *t, const struct engine *engine, struct arena *a);
// Asks in TALK_IDLE; keeps `q`, which engine_query_check let pass. The reply lies in `a`.
void talk_ask(struct talk *t, const struct engine_query *q, struct arena *a);
void talk_stop(struct talk *t); // in TALK_SEARCH: the answer now, please
// Takes one line. True: the answer is complete (t->reply; state TALK_IDLE).
bool talk_line(struct talk *t, str line);
// What it waits for, for people: "uciok", "bestmove", ...
const char *talk_waits_for(const struct talk *t);
// Fills in what the handshake told; texts in `a`.
void talk_identify(const struct talk *t, struct arena *a, struct engine *out);
