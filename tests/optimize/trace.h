// SPDX-License-Identifier: GPL-3.0-or-later
// trace.h - plays an optimizer against a recorded trace of the reference software: scripted task
// and prompt models as the traces' documentation defines them, every request compared with the
// recorded one. Records are taken per type, each type in its order.
#pragma once
#include "test.h"

#include "optimize/optimize.h"

struct trace { // one trace file and where its playing stands
    struct arena *arena;
    const json_t **records;
    size_t n;
    struct map next;   // by type: where to look for the next record
    struct map by_fen; // FEN to position: training ones from 0, then validation
    struct puzzle_positions train, validation;
    str base; // instruction of the start
    bool demo_moves;
    int64_t noise_modulus;
    int n_calls, n_meta;
    size_t n_completions; // given of the current meta record
    const json_t *meta;
    // The prompt model's answer to a recorded meta request, completion by completion. Tests of
    // optimizers with such a model set it.
    str (*meta_reply)(struct trace *t, const json_t *meta, size_t completion,
                      const struct model_request *q);
    // What runs the optimizer.
    struct model model, prompt_model;
    struct store *db;
    struct lab lab;
    struct opt_task task;
    enum method method;
    struct optimizer_config config;
};

// Opens a trace in `a`. `name` as "bfs-clean": from the tree, else from the shared data (skips the
// test where that is absent). `t->config` gets the defaults of `method`; set its options then.
void trace_open(struct trace *t, const char *name, enum method method, struct arena *a);
void trace_close(struct trace *t);
// An integer of the trace's own options.
int64_t trace_option(const struct trace *t, const char *key, int64_t fallback);
// Runs the optimizer of that method (and t->task.chance and watch, if set); false: the compile
// failed.
bool trace_run(struct trace *t, struct opt_result *out, struct err *err);
// The next record of a type, the next draw of a stream; NULL: there is none.
const json_t *trace_next(struct trace *t, const char *type);
const json_t *trace_draw(struct trace *t, const char *stream);
// Position i: training positions, then validation.
const struct puzzle_position *trace_position(const struct trace *t, size_t i);
// Every recorded request was made, and no other.
void trace_expect_totals(const struct trace *t);
// `p` is the trace's program of that number.
void trace_expect_program(const struct trace *t, const struct program *p, int64_t number);
