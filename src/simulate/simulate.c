// SPDX-License-Identifier: GPL-3.0-or-later
// simulate.c - the endpoint: paths, key, counting, and the order in which things can go wrong.
//
// Every request for a completion has a number, in order of arrival, and the number alone decides
// its fault. Each counts once: refused (the client's mistake), a fault, or ok.
#include "simulate/internal.h"

struct simulator {
    struct arena arena; // the simulator itself lies in it
    const struct sim_data *data;
    struct fault_plan plan;
    int64_t latency_ms;
    str key;           // what must be sent; empty: anything
    str authorization; // the same as a bearer
    uint64_t n_requests, n_refused;
    uint64_t n_fault[SIM_FAULT_KINDS]; // [SIM_FAULT_NONE]: ok
};

bool simulator_new(const struct simulate_opts *opts, struct simulator **out, struct err *err)
{
    struct fault_plan plan;
    if (!fault_plan_parse(opts->faults, &plan, err))
        return err_add(err, "--faults");
    struct arena arena = { 0 };
    struct simulator *s = NEW(&arena, struct simulator);
    *s = (struct simulator){ .plan = plan, .latency_ms = opts->latency_ms };
    s->key = arena_str(&arena, opts->require_key);
    if (opts->require_key.len > 0)
        s->authorization = arena_printf(&arena, "Bearer %.*s", STR(opts->require_key));
    s->data = sim_data_builtin(&arena);
    s->arena = arena;
    *out = s;
    return true;
}

void simulator_free(struct simulator *s)
{
    if (!s)
        return;
    struct arena arena = s->arena;
    arena_free(&arena);
}

static bool key_is_right(const struct simulator *s, const struct serve_request *in,
                         const struct wire *w, struct arena *a, struct serve_reply *out)
{
    // Azure has a header of its own for OpenAI's format.
    bool own = (w->has_own_key || w == &wire_openai) && str_eq(in->api_key, s->key);
    bool bearer = !w->has_own_key && str_eq(in->authorization, s->authorization);
    if (s->key.len == 0 || own || bearer)
        return true;
    w->error(&(struct wire_error){ .status = 401,
                                   .message = S("Incorrect API key provided."),
                                   .type = S("invalid_request_error"),
                                   .code = S("invalid_api_key") },
             a, out);
    return false;
}

struct call { // a request for an answer
    const struct serve_request *in;
    const struct wire *wire;
    str model; // of the path
};

// The true reply. False: it refuses the request.
static bool complete(const struct simulator *s, const struct call *c, struct arena *a,
                     struct serve_reply *out)
{
    struct completion q = { .data = s->data, .model = c->model };
    if (!key_is_right(s, c->in, c->wire, a, out) || !wire_parse(c->wire, c->in->body, a, &q, out))
        return false;
    struct reply *answers = NEW_ARRAY(a, struct reply, (size_t)q.n);
    struct model_request request = q.request;
    for (int64_t i = 0; i < q.n; i++) {
        request.sample = q.request.sample + i;
        sim_answer(q.persona, &request, a, &answers[i]);
    }
    if (q.stream)
        c->wire->stream(&q, answers, a, out);
    else
        c->wire->reply(&q, answers, a, out);
    out->delay_ms = s->latency_ms < 0 ? answers[0].latency_ms : s->latency_ms;
    return true;
}

static void handle_call(struct simulator *s, const struct call *c, struct arena *a,
                        struct serve_reply *out)
{
    struct fault_case f = { .wire = c->wire };
    f.fault = fault_draw(&s->plan, s->n_requests++, &f.detail);
    if (!complete(s, c, a, out)) {
        s->n_refused++;
        return;
    }
    s->n_fault[f.fault]++;
    fault_apply(&f, a, out);
}

static void handle_stats(struct simulator *s, const struct serve_request *in, struct arena *a,
                         struct serve_reply *out)
{
    (void)in;
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    json_open(&o, '{');
    json_key_bool(&o, S("simulated"), true);
    json_key_int(&o, S("requests"), (int64_t)s->n_requests);
    json_key_int(&o, S("ok"), (int64_t)s->n_fault[SIM_FAULT_NONE]);
    json_key_int(&o, S("refused"), (int64_t)s->n_refused);
    json_key_open(&o, S("faults"), '{');
    for (int f = SIM_FAULT_NONE + 1; f < SIM_FAULT_KINDS; f++) {
        json_key_int(&o, str_from(fault_names[f]), (int64_t)s->n_fault[f]);
    }
    json_close(&o, '}');
    json_close(&o, '}');
    wire_send(200, &b, out);
}

static void handle_models(struct simulator *s, const struct serve_request *in, struct arena *a,
                          struct serve_reply *out)
{
    if (key_is_right(s, in, &wire_openai, a, out))
        wire_models(s->data, a, out);
}

struct route {
    const char *method, *path;
    void (*handle)(struct simulator *s, const struct serve_request *in, struct arena *a,
                   struct serve_reply *out);
};
static const struct route routes[] = {
    { "GET", "/v1/models", handle_models },
    { "GET", "/stats", handle_stats },
};

static void refuse_method(const struct serve_request *in, const char *method, struct arena *a,
                          struct serve_reply *out)
{
    wire_openai.error(&(struct wire_error){ .status = 405,
                                            .message = arena_printf(a, "%.*s takes %s only.",
                                                                    STR(in->path), method),
                                            .type = S("invalid_request_error") },
                      a, out);
    out->headers[out->n_headers++] = (struct serve_header){ S("Allow"), str_from(method) };
}

static void refuse_path(const struct serve_request *in, struct arena *a, struct serve_reply *out)
{
    wire_openai.error(
        &(struct wire_error){
            .status = 404,
            .message = arena_printf(a,
                                    "There is nothing at %.*s; try /v1/chat/completions, "
                                    "/v1/messages, /v1beta/models/MODEL:generateContent, "
                                    "/api/alpha/decisions, /api/chat, /v1/models or /stats.",
                                    STR(in->path)),
            .type = S("invalid_request_error") },
        a, out);
}

void simulator_handle(void *context, const struct serve_request *in, struct arena *a,
                      struct serve_reply *out)
{
    *out = (struct serve_reply){ 0 };
    struct call call = { .in = in };
    const char *method = NULL;
    call.wire = wire_find(in->path, &call.model);
    if (call.wire && str_eq(in->method, S("POST"))) {
        handle_call(context, &call, a, out);
        return;
    }
    if (call.wire)
        method = "POST";
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        if (!str_eq(in->path, str_from(routes[i].path)))
            continue;
        method = routes[i].method;
        if (str_eq(in->method, str_from(method))) {
            routes[i].handle(context, in, a, out);
            return;
        }
    }
    if (method)
        refuse_method(in, method, a, out);
    else
        refuse_path(in, a, out);
}
