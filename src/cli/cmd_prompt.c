// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_prompt.c - prints the exact body of the request for one position, with default settings.
#include "cli/run.h"

static const struct puzzle_position *find_position(const struct puzzle_positions *all, str id,
                                                   int64_t index, struct err *err)
{
    bool known = false;
    for (size_t i = 0; i < all->n; i++) {
        if (!str_eq(all->v[i].puzzle->id, id))
            continue;
        known = true;
        if (all->v[i].index == index)
            return &all->v[i];
    }
    if (known)
        err_set(err, ERR_INPUT, "puzzle %.*s has no solver move with index %lld (from 0)", STR(id),
                (long long)index);
    else
        err_set(err, ERR_INPUT, "no puzzle with the id \"%.*s\" in the file", STR(id));
    return NULL;
}

static bool build_body(const struct model *m, struct job *job, struct arena *a, str *body,
                       struct err *err)
{
    struct episode *ep = episode_new(job, a);
    struct ask ask;
    if (job->kind->step(ep, NULL, &ask) != STEP_ASK)
        BUG("a puzzle position asks first");
    if (m->provider->build) {
        struct http_request request;
        if (!m->provider->build(m, &ask.model, a, &request, err))
            return false;
        *body = request.body;
        return true;
    }
    // In process there is no body: show the messages.
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    messages_write(&ask.model.messages, &o);
    *body = buf_str(&b);
    return true;
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct puzzles puzzles = { 0 };
    struct puzzle_positions positions = { 0 };
    struct model model;
    const struct program *program = program_new(a, &signature_choose_move, instruction_base);
    str path = opt_text(args, "program", S(""));
    if (!opt_get(args, "id")->set)
        return err_set(err, ERR_USAGE, "which puzzle? give its --id");
    struct puzzle_load_opts load = { 0 };
    if (!variant_option(args, &load.variant, err))
        return false;
    if (path.len > 0 && !cli_program_load(path, a, &program, err))
        return false;
    struct model_opts opts = { .max_tokens = 1024,
                               .has_temperature = true,
                               .has_format = true,
                               .format = FORMAT_JSON_OBJECT,
                               .no_key = true, // nothing is sent
                               .base_url = opt_text(args, "base-url", S("")) };
    if (!cli_model_open(opt_text(args, "model", S("openai/MODEL")), &opts, a, &model, err) ||
        !puzzles_load(opt_text(args, "puzzles", S("builtin:test")), &load, a, &puzzles, err))
        return false;
    puzzles_expand(&puzzles, a, &positions);
    const struct puzzle_position *p =
        find_position(&positions, opt_text(args, "id", S("")), opt_int(args, "index", 0), err);
    if (!p)
        return false;
    struct job job = lab_position_job(program, p, &model, a);
    str body;
    return build_body(&model, &job, a, &body, err) && print_str(body, err) &&
           print_str(S("\n"), err);
}

static const struct opt opts[] = {
    { "puzzles", OPT_TEXT, "FILE", "puzzle file [builtin:test]", 0, 0 },
    { "id", OPT_TEXT, "ID", "puzzle id", 0, 0 },
    { "index", OPT_INT, "I", "solver move, from 0 [0]", 0, 1000 },
    { "program", OPT_TEXT, "FILE", "compiled.json or a plain text [the base program]", 0, 0 },
    { "model", OPT_TEXT, "NAME", "model the body is for [openai/MODEL]", 0, 0 },
    { "base-url", OPT_TEXT, "URL", "endpoint; nothing is sent", 0, 0 },
    { "variant", OPT_TEXT, "NAME", "of the puzzles: standard or chess960 [standard]", 0, 0 },
    { 0 },
};

const struct command command_prompt = {
    .name = "prompt",
    .summary = "print the exact request body for one position",
    .usage = "--puzzles FILE --id ID [--index I] [--program P] [--model M]",
    .about = "Prints the body that would be sent; for models that answer in process, the messages."
             "\nExample: rookery prompt --puzzles my.csv --id 00008 --index 1",
    .opts = { opts },
    .run = run,
};
