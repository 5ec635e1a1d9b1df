// SPDX-License-Identifier: GPL-3.0-or-later
// plan.c - what a run would do and cost, without a call.
#include "cli/run.h"

enum { SHORT_ANSWER_TOK = 12, LONGEST_ANSWER_TOK = 32768 }; // {"move": "e2e4"}; no limit set

// Estimated tokens of one prompt of this program, the mean over some test positions.
static int64_t prompt_tokens(const struct run *r, const struct program *p)
{
    enum { SAMPLED = 200 };
    struct arena scratch = { 0 };
    size_t n = r->test.n < SAMPLED ? r->test.n : SAMPLED;
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        struct messages m = { 0 };
        program_render(p, r->test.v[i * r->test.n / n].inputs, &scratch, &m);
        for (size_t k = 0; k < m.n; k++)
            total += tokens_estimate(m.v[k].text);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    return n ? total / (int64_t)n : 0;
}

// The program whose prompts are asked: bootstrapping shows its labelled demonstrations, and the
// compiled program has as many.
static const struct program *planned_program(const struct run *r)
{
    size_t k = (size_t)r->config.optimizer.max_labeled_demos;
    size_t n = r->train.n;
    if (r->config.method == METHOD_BASELINE || k == 0 || n == 0)
        return r->program;
    const struct demo **pool = NEW_ARRAY(r->arena, const struct demo *, n);
    for (size_t i = 0; i < n; i++)
        pool[i] = demo_labeled(&r->train.v[i], r->arena);
    return labeled_few_shot(r->program, pool, n, k, r->arena);
}

struct part { // some calls of the plan
    const char *name;
    int64_t least, most; // calls
};

static double cost_usd(const struct run *r, int64_t n_calls, int64_t input_tok, int64_t output_tok)
{
    struct usage u = { .input_tok = n_calls * input_tok, .output_tok = n_calls * output_tok };
    return (double)price_cost_nusd(&r->task_model.price, &u) / 1e9;
}

static void add_part(const struct run *r, const struct part *part, int64_t input_tok,
                     struct buf *out)
{
    buf_addf(out, "  %s: %lld", part->name, (long long)part->least);
    if (part->most > part->least)
        buf_addf(out, " to %lld", (long long)part->most);
    buf_addf(out, " calls of about %lld prompt tokens", (long long)input_tok);
    if (r->task_model.price.known) {
        int64_t longest = r->task_model.max_tokens ? r->task_model.max_tokens : LONGEST_ANSWER_TOK;
        buf_addf(out, ", %.4f US$ (short answers) to %.4f US$ (as long as allowed)",
                 cost_usd(r, part->least, input_tok, SHORT_ANSWER_TOK),
                 cost_usd(r, part->most, input_tok, longest));
    }
    buf_add_char(out, '\n');
}

static void add_planned(const struct run *r, const struct opt_plan *plan, int64_t input_tok,
                        struct buf *out)
{
    struct part search = { "optimising", plan->least_task, plan->most_task };
    add_part(r, &search, input_tok, out);
    if (plan->most_prompt > 0)
        buf_addf(out, "  prompt model: %lld to %lld calls\n", (long long)plan->least_prompt,
                 (long long)plan->most_prompt);
}

// The calls of the optimizer, as the method plans them.
static bool add_optimizer(const struct run *r, int64_t input_tok, struct buf *out)
{
    const struct run_config *c = &r->config;
    const struct optimizer *optimizer = optimizer_find(method_name(c->method));
    int64_t n_train = (int64_t)r->train.n;
    int64_t wanted = c->optimizer.max_bootstrapped_demos;
    struct part bootstrap = { "bootstrapping", wanted < n_train ? wanted : n_train,
                              wanted > 0 ? n_train * c->optimizer.max_rounds : 0 };
    struct opt_plan plan = { 0 };
    struct opt_task task = { .train = &r->train,
                             .validation = &r->validation,
                             .max_metric_calls = c->max_metric_calls,
                             .config = &c->optimizer };
    if (!optimizer || !optimizer->plan) {
        add_part(r, &bootstrap, input_tok, out);
        return true;
    }
    if (!optimizer->plan(&task, &plan, r->err))
        return err_add(r->err, "%.*s", STR(optimizer->name));
    add_planned(r, &plan, input_tok, out);
    return true;
}

static bool add_parts(const struct run *r, struct buf *out)
{
    const struct run_config *c = &r->config;
    struct part evaluation = { "evaluation", (int64_t)r->test.n * r->samples,
                               (int64_t)r->test.n * r->samples };
    int64_t input_tok = prompt_tokens(r, planned_program(r));
    if (c->method != METHOD_BASELINE && !add_optimizer(r, input_tok, out))
        return false;
    add_part(r, &evaluation, input_tok, out);
    if (!r->task_model.price.known)
        buf_addf(out, "  cost: unknown, there is no price for this model\n");
    return true;
}

bool run_print_plan(struct run *r)
{
    const struct run_config *c = &r->config;
    struct buf out = { .arena = r->arena };
    buf_addf(&out,
             "plan (nothing is called)\n  %.*s%s%s%.*s\n  %.*s, seed %llu, %zu test positions\n",
             STR(r->task_model.name), r->task_model.simulated ? " (SIMULATED)" : "",
             r->task_model.base_url.len ? " at " : "", STR(r->task_model.base_url),
             STR(method_name(c->method)), (unsigned long long)c->seed, r->test.n);
    if (!add_parts(r, &out))
        return false;
    buf_addf(&out, "  token counts are estimates; --max-cost bounds what is really spent\n");
    if (r->task_model.price.date.len > 0)
        buf_addf(&out, "  prices as of %.*s; --prices FILE has others\n",
                 STR(r->task_model.price.date));
    return print_str(buf_str(&out), r->err);
}
