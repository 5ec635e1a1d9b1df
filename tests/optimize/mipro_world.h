// SPDX-License-Identifier: GPL-3.0-or-later
// mipro_world.h - a world for tests of MIPROv2 from end to end: numbered items instead of
// positions, a task model that is right where the test says so, and a prompt model that says what
// the test wants.
#pragma once
#include "test.h"

#include "optimize/optimize.h"

enum { VALIDATION = 100000 }; // added to the number of a validation item
enum { ASKED_MAX = 20000, META_MAX = 200 };

struct toy {
    struct arena *arena;
    struct puzzle_positions train, validation;
    struct optimizer_config config; // starts with the preset `paper`
    struct chance *chance;          // NULL: the run's own
    uint64_t seed;
    str base;                        // instruction of the start
    const struct demo *const *demos; // of the start
    size_t n_demos;
    bool continue_on_error;
    int slots;
    double temperature;
    struct store *db; // kept from run to run
    // Whether the task model is right; NULL: always. `demos`: the demonstrations' item numbers.
    bool (*right)(const struct toy *t, str instruction, str demos, int item);
    void *ctx;
    bool task_lost;
    // What the prompt model answers; NULL: {"FIELD": "Variant N."}, N counting the answers in the
    // store.
    const char *said;
    size_t said_len; // 0: strlen
    enum reply_class said_class;
    int64_t dies_at;   // task or prompt call that ends the run as a kill does; 0: none
    int64_t n_answers; // of the prompt model that are in the store
    // Of the last run.
    int64_t n_task, n_prompt;
    int asked[ASKED_MAX]; // item of each task call
    struct meta {
        str field; // of the answer
        str request;
        int64_t sample;
        double temperature;
    } meta[META_MAX];
    struct opt_event_list {
        struct opt_event *v;
        size_t n, cap;
    } events;
    struct buf log; // of all events, a line each: WHAT CANDIDATE PERCENT of N: REASON
};

// Numbered items, each a puzzle of its own; seed 42, `auto: heavy`.
struct toy *toy_new(struct arena *a, size_t n_train, size_t n_validation);
// Runs MIPROv2 over the world's store; counts and log begin anew.
bool toy_run(struct toy *t, struct opt_result *out, struct err *err);
// The same; a failure fails the test.
struct opt_result toy_done(struct toy *t);
// Forgets all replies, so that the next run asks again.
void toy_forget(struct toy *t);
void toy_close(struct toy *t, struct arena *a);
// How often a part stands in the log of the last run.
size_t toy_logged(struct toy *t, const char *part);
// How many questions wanted that field.
int64_t toy_questions(const struct toy *t, const char *field);
// A number in [0, 1) that follows from the text.
double toy_noise(str text);
