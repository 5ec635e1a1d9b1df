// SPDX-License-Identifier: GPL-3.0-or-later
// plan.c - what a run would do and cost, without a call.
#include "cli/run.h"

// Tokens of the prompts of all test positions, estimated.
static int64_t prompt_tokens(const struct run *r)
{
    struct arena scratch = { 0 };
    int64_t total = 0;
    for (size_t i = 0; i < r->test.n; i++) {
        struct messages m = { 0 };
        program_render(r->program, r->test.v[i].inputs, &scratch, &m);
        for (size_t k = 0; k < m.n; k++)
            total += tokens_estimate(m.v[k].text);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    return total * r->samples;
}

static double cost_usd(const struct price *p, int64_t input_tok, int64_t output_tok)
{
    struct usage u = { .input_tok = input_tok, .output_tok = output_tok };
    return (double)price_cost_nusd(p, &u) / 1e9;
}

static void add_cost(const struct run *r, int64_t n_calls, struct buf *out)
{
    const struct price *p = &r->task_model.price;
    int64_t input = prompt_tokens(r);
    if (!p->known) {
        buf_addf(out, "  cost: unknown, no price for this model; about %lld prompt tokens\n",
                 (long long)input);
        return;
    }
    int64_t longest = r->task_model.max_tokens ? r->task_model.max_tokens : 32768;
    enum { SHORT_ANSWER_TOK = 12 }; // {"move": "e2e4"}
    buf_addf(out,
             "  estimated cost of the evaluation: %.4f US$ (short answers) to %.4f US$ (every "
             "answer as long as allowed)%s\n",
             cost_usd(p, input, n_calls * SHORT_ANSWER_TOK), cost_usd(p, input, n_calls * longest),
             r->task_model.simulated ? ", simulated" : "");
}

bool run_print_plan(struct run *r)
{
    const struct run_config *c = &r->config;
    struct buf out = { .arena = r->arena };
    int64_t n_calls = (int64_t)r->test.n * r->samples;
    buf_addf(&out, "plan (nothing is called):\n  model %.*s%s at %.*s\n  method %.*s, seed %llu\n",
             STR(r->task_model.name), r->task_model.simulated ? " (SIMULATED)" : "",
             STR(r->task_model.base_url.len ? r->task_model.base_url : S("no endpoint")),
             STR(method_name(c->method)), (unsigned long long)c->seed);
    if (c->method == METHOD_BOOTSTRAP_FEW_SHOT)
        buf_addf(&out, "  bootstrapping: %lld to %lld calls on %zu training positions\n",
                 (long long)(c->optimizer.max_bootstrapped_demos < (int64_t)r->train.n
                                 ? c->optimizer.max_bootstrapped_demos
                                 : (int64_t)r->train.n),
                 (long long)((int64_t)r->train.n * c->optimizer.max_rounds), r->train.n);
    buf_addf(&out, "  evaluation: %lld calls (%zu positions x %d)\n", (long long)n_calls, r->test.n,
             r->samples);
    add_cost(r, n_calls, &out);
    buf_addf(&out, "  files would go to %.*s\n", STR(c->output_dir));
    return print_str(buf_str(&out), r->err);
}
