// SPDX-License-Identifier: GPL-3.0-or-later
// digest.c - failures.json: what went wrong, by class, with references into the traces (5.9). It
// points into them and does not replace them; the right move is never told.
#include "evolve/evolve.h"

enum { EXAMPLES = 5, HEAD_CHARS = 500, TAIL_CHARS = 1000 };

struct digest { // of one harness, over all its rollouts
    const struct eval_setup *setup;
    const struct eval_result *result;
    struct arena *a;
    int64_t retries_then_solved, retries_then_failed, promotion, in_san, outside_tags;
    int64_t n_wrong, n_wrong_marked; // legal wrong moves; of these with a mark in their SAN
};

// ---- what moved the classes ----

// The SAN of any legal move stands in the response.
static bool names_san(const struct position *at, str response)
{
    struct move_list list;
    moves_legal(at, &list);
    for (size_t i = 0; i < (size_t)list.n; i++) {
        struct move_text san = san_format(at, list.v[i]);
        str bare = str_trim_set(str_from(san.data), S("+#"));
        if (bare.len > 2 && str_find(response, bare) >= 0)
            return true;
    }
    return false;
}

static void look_at(struct digest *d, const struct position *at, const struct rollout_event *e,
                    const struct rollout_event *judged)
{
    move m;
    bool is_move = harness_is_uci(e->action);
    d->in_san += !harness_is_uci(e->default_action) && names_san(at, e->response);
    d->outside_tags +=
        harness_parse_tier(e->response) == TIER_BARE && uci_parse(at, e->default_action, &m);
    if (is_move && e->action.len == 4 && !uci_parse(at, e->action, &m))
        d->promotion += uci_parse(at, arena_printf(d->a, "%.*sq", STR(e->action)), &m);
    if (judged && judged->stop == STOPPED_WRONG_MOVE && uci_parse(at, e->action, &m)) {
        struct move_text san = san_format(at, m);
        str text = str_from(san.data);
        d->n_wrong++;
        d->n_wrong_marked += str_find_char(text, '+') >= 0 || str_find_char(text, '#') >= 0 ||
                             str_find_char(text, 'x') >= 0;
    }
}

static void look_at_all(struct digest *d)
{
    size_t repeats = (size_t)d->result->repeats;
    for (size_t set = 0; set < d->result->n_sets; set++)
        for (size_t i = 0; i < d->result->sets[set].n_puzzles * repeats; i++) {
            const struct rollout_record *r = d->result->sets[set].out[i].record;
            struct rollout_walk w = { .record = r,
                                      .puzzle = &d->setup->sets[set].v[i / repeats].puzzle };
            const struct rollout_event *e = NULL, *judged = NULL;
            int64_t retries = r->format_used + r->illegal_used;
            *(r->result == ROLLOUT_SOLVED ? &d->retries_then_solved : &d->retries_then_failed) +=
                retries;
            while (rollout_walk_next(&w, &e, &judged))
                look_at(d, &w.at, e, judged);
        }
}

// ---- examples ----

// Whole characters from the start, or up to the end.
static str first_chars(str text, size_t n)
{
    size_t at = 0;
    uint32_t code;
    bool valid;
    for (; n > 0 && at < text.len; n--)
        at += utf8_decode(str_sub(text, at, text.len), &code, &valid);
    return str_sub(text, 0, at);
}

static str cut_middle(str text, struct arena *a)
{
    size_t n = utf8_length(text);
    if (n <= HEAD_CHARS + TAIL_CHARS)
        return text;
    str head = first_chars(text, HEAD_CHARS);
    size_t skip = first_chars(text, n - TAIL_CHARS).len;
    return arena_printf(a, "%.*s\n[...]\n%.*s", STR(head), STR(str_sub(text, skip, text.len)));
}

static str last_text(const struct rollout_record *r)
{
    for (size_t i = r->events.n; i-- > 0;)
        if (r->events.v[i].actor == ACTOR_ASSISTANT)
            return r->events.v[i].response;
    return (str){ 0 };
}

static void write_example(const struct digest *d, size_t set, size_t i, size_t line,
                          struct json_out *o)
{
    const struct rollout_record *r = d->result->sets[set].out[i].record;
    json_open(o, '{');
    json_key_int(o, S("seed"), (int64_t)d->setup->sets[set].seed);
    json_key_int(o, S("example_index"), (int64_t)(i / (size_t)d->result->repeats));
    json_key_open(o, S("trace_lines"), '[');
    json_put_int(o, (int64_t)line + 1);
    json_put_int(o, (int64_t)(line + r->events.n));
    json_close(o, ']');
    json_key_str(o, S("last_response"), cut_middle(last_text(r), d->a));
    json_close(o, '}');
}

static void write_class(const struct digest *d, enum failure f, struct json_out *o)
{
    size_t shown = 0;
    json_key_open(o, failure_name(f), '{');
    json_key_int(o, S("count"), d->result->all.failures[f]);
    json_key_open(o, S("examples"), '[');
    for (size_t set = 0; set < d->result->n_sets; set++) {
        size_t line = 0, n = d->result->sets[set].n_puzzles * (size_t)d->result->repeats;
        for (size_t i = 0; i < n && shown < EXAMPLES; i++) {
            const struct rollout_record *r = d->result->sets[set].out[i].record;
            if (r->result != ROLLOUT_SOLVED && failure_of(r) == f) {
                write_example(d, set, i, line, o);
                shown++;
            }
            line += r->events.n;
        }
    }
    json_close(o, ']');
    json_close(o, '}');
}

static void write_counters(const struct digest *d, struct json_out *o)
{
    json_key_int(o, S("retries_followed_by_success"), d->retries_then_solved);
    json_key_int(o, S("retries_followed_by_failure"), d->retries_then_failed);
    json_key_int(o, S("moves_lost_to_promotion_notation"), d->promotion);
    json_key_int(o, S("responses_in_san"), d->in_san);
    json_key_int(o, S("responses_with_a_legal_move_outside_tags"), d->outside_tags);
    json_key_double(o, S("share_of_wrong_moves_with_a_mark"),
                    d->n_wrong > 0 ? (double)d->n_wrong_marked / (double)d->n_wrong : 0);
}

str eval_failures(const struct eval_setup *s, const struct evaluation *e, struct arena *a)
{
    struct digest d = { .setup = s, .result = &e->result, .a = a };
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b, .indent = 2 };
    look_at_all(&d);
    json_open(&o, '{');
    json_key_str(&o, S("harness"), e->name);
    json_key_int(&o, S("rollouts"), e->result.all.n);
    json_key_int(&o, S("solved"), e->result.all.n_solved);
    write_counters(&d, &o);
    json_key_open(&o, S("classes"), '{');
    for (int f = 0; f < FAILURES; f++)
        if (e->result.all.failures[f] > 0)
            write_class(&d, (enum failure)f, &o);
    json_close(&o, '}');
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}
