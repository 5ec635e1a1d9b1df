// SPDX-License-Identifier: GPL-3.0-or-later
// env.h - rollouts as an environment over HTTP (reset, step, close), for trainers in any language:
// the same episode, verifier and locked children as the rollouts of an evaluation; only the policy
// is whoever calls.
#pragma once
#include "episode/episode.h"
#include "sandbox/sandbox.h"
#include "serve/serve.h"

struct env_opts { // zero means the default in brackets; what is pointed to must outlive the env
    struct sandbox *sandbox;
    const struct candidate *candidate;
    const struct rollout_opts *rollout;
    const struct puzzle *puzzles;
    size_t n_puzzles;
    size_t max_episodes;     // open at once [256]
    int64_t idle_ms;         // an episode that nobody has asked for so long is closed [600000]
    int64_t (*now_ms)(void); // monotonic [clock_mono_ms]
};
struct env; // opaque
MUST_CHECK bool env_new(const struct env_opts *opts, struct env **out, struct err *err);
void env_free(struct env *e); // after its server; NULL is fine
// For a server: handler (with the env as its context) and what to watch beside it.
//   POST /reset {"index": N or "puzzle": ID; neither: the next one}
//   POST /step  {"episode": ID, "text": TEXT, "completion_tokens": N, "finish_reason": TEXT}
//   POST /close {"episode": ID}        GET /  limits, and how many episodes are open
serve_handler env_handle;
struct serve_watch env_watch(struct env *e);

// ---- rollouts played again with recorded answers: what the policy was shown, what was judged ----

struct recorded { // one rollout as its file has it
    const struct reply *replies;
    size_t n;
};
struct rerun_input {
    struct sandbox *sandbox;
    const struct rollout_input *rollout;
    const struct recorded *answers;
};
struct rerun {
    struct messages *shown; // before each answer
    size_t n;               // answers that were taken
    const struct rollout_record *record;
    double score;
};
// Plays the rollout with the answers; texts in `a`. Without an answer (n = 0) it stops at the first
// question, and there is no record. False: ERR_INPUT where the answers do not fit (too few, too
// many), ERR_RUN where the sandbox or the machine failed.
MUST_CHECK bool rerun(const struct rerun_input *in, struct arena *a, struct rerun *out,
                      struct err *err);
