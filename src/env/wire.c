// SPDX-License-Identifier: GPL-3.0-or-later
// wire.c - the JSON of the environment.
#include "env/internal.h"

str seat_name(const struct seat *s, struct arena *a)
{
    return arena_printf(a, "%zu-%llu", (size_t)(s - s->env->seats), (unsigned long long)s->serial);
}

struct seat *seat_find(struct env *e, str name)
{
    int64_t place, serial;
    str rest = name, first = str_cut(&rest, '-');
    if (!str_to_int(first, 0, (int64_t)e->opts.max_episodes - 1, &place) ||
        !str_to_int(rest, 1, INT64_MAX, &serial))
        return NULL;
    struct seat *s = &e->seats[place];
    return s->state != SEAT_FREE && s->serial == (uint64_t)serial ? s : NULL;
}

static void finish(struct json_out *o, int status, struct serve_reply *out)
{
    json_close(o, '}');
    buf_add_char(o->b, '\n');
    out->status = status;
    out->content_type = S("application/json");
    out->body = buf_str(o->b);
}

void refuse(int status, str why, struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("error"), why);
    finish(&o, status, out);
}

static void put_verdict(const struct rollout_event *v, struct json_out *o)
{
    json_key_str(o, S("parsed_action"), v->action);
    json_key_str(o, S("outcome"), rollout_result_name(v->result));
    json_key_str(o, S("stop_condition"), rollout_stop_name(v->stop));
    json_key_str(o, S("tool"), v->tool);
}

static void put_end(const struct seat *s, struct json_out *o)
{
    const struct rollout_record *r = s->episode->outcome.record;
    json_key_double(o, S("reward"), s->episode->outcome.score);
    if (s->verdict.call > 0)
        json_key_str(o, S("tool"), s->verdict.tool);
    json_key_str(o, S("outcome"), rollout_result_name(r->result));
    json_key_str(o, S("stop_condition"), rollout_stop_name(r->stop));
    json_key_open(o, S("metrics"), '{');
    rollout_metrics_write(r, o);
    json_close(o, '}');
}

static void put_ask(const struct seat *s, struct json_out *o)
{
    json_key_double(o, S("reward"), 0);
    if (s->verdict.call > 0)
        put_verdict(&s->verdict, o);
    json_key(o, S("messages"));
    messages_write(&s->ask.model.messages, o);
    json_key_int(o, S("max_tokens"), s->ask.model.max_tokens);
}

void seat_reply(const struct seat *s, struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    if (s->failed) {
        refuse(503,
               S("the machine was too busy for the candidate's child: nothing is scored, "
                 "reset again"),
               a, out);
        return;
    }
    json_open(&o, '{');
    json_key_str(&o, S("episode"), seat_name(s, a));
    json_key_int(&o, S("index"), (int64_t)s->input.example);
    json_key_str(&o, S("puzzle"), s->job.input_id);
    json_key_bool(&o, S("done"), s->state == SEAT_DONE);
    if (s->state == SEAT_DONE)
        put_end(s, &o);
    else
        put_ask(s, &o);
    finish(&o, 200, out);
}

bool read_policy(const json_t *in, struct reply *out, str *why)
{
    const json_t *text = json_object_get(in, "text");
    const json_t *tokens = json_object_get(in, "completion_tokens");
    const json_t *usage = json_object_get(in, "usage");
    *out = (struct reply){ .class = REPLY_OK, .finish = FINISH_STOP };
    if (!json_is_string(text)) {
        *why = S("no text: a step is {\"episode\": ID, \"text\": TEXT}");
        return false;
    }
    out->text = json_view(text);
    out->reasoning = json_get_str(in, "reasoning");
    out->native_finish = json_get_str(in, "finish_reason");
    if (str_eq(out->native_finish, S("length")))
        out->finish = FINISH_LENGTH;
    int64_t n = 0;
    if (json_is_integer(tokens))
        n = json_integer_value(tokens);
    else if (tokens && !json_is_null(tokens)) {
        *why = S("completion_tokens is no integer");
        return false;
    } else if (!usage || !harness_usage_tokens(usage, &n)) {
        return true; // counted by length, as specified
    }
    out->usage = (struct usage){ .source = KNOWN_REPORTED, .output_tok = n < 0 ? 0 : n };
    return true;
}
