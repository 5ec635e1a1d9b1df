// SPDX-License-Identifier: GPL-3.0-or-later
// candidates.c - the life of one ask to a candidate harness: a child of its own for each rollout,
// started at the first ask and after each fault. Answers are recomputed in a replay, since they
// follow from the request; faults depend on the machine too, so they are stored and replayed.
#include <stdio.h>
#include <sys/epoll.h>

#include "pump/internal.h"

void slot_end_child(struct slot *s)
{
    cell_free(s->child);
    s->child = NULL;
    s->loading = false;
}

static bool start_child(struct pump *p, struct slot *s, struct err *err)
{
    if (!cell_new(p->opts.sandbox, &s->child, err))
        return false;
    struct epoll_event watch = { .events = EPOLLIN | EPOLLET, .data.u64 = CELL_EVENT };
    if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, cell_fd(s->child), &watch) != 0)
        return err_set(err, ERR_RUN, "cannot watch a candidate's child");
    s->loading = true;
    const struct candidate *c = s->ask.harness.candidate;
    cell_send(s->child, frame_load(cell_next_id(s->child), c->source, c->contract.code, &s->arena),
              LOAD_CPU_MS);
    return true;
}

static void send_call(struct slot *s)
{
    cell_call(s->child, &s->ask.harness.call);
}

// ---- the store ----

// What a parser had said before its child died over the legality.
static void put_told(struct json_out *o, const struct harness_result *r)
{
    if (!r->told)
        return;
    json_key_open(o, S("told"), '{');
    json_key_bool(o, S("ok"), r->ok);
    json_key_int(o, S("type"), r->type);
    json_key_str(o, S("text"), r->text);
    json_key_str(o, S("class"), r->error_class);
    json_key_str(o, S("message"), r->error_message);
    json_key_int(o, S("line"), r->error_line);
    json_close(o, '}');
}

static bool store_fault(struct pump *p, struct slot *s, const struct harness_answer *in,
                        struct err *err)
{
    struct buf b = { .arena = &s->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("how"), in->how);
    put_told(&o, &in->result);
    json_close(&o, '}');
    struct stored_call call = { .request_hash = s->request_hash,
                                .input_id = s->job.input_id,
                                .model = S("harness"),
                                .class = S("fault"),
                                .phase = p->feed->phase,
                                .cost_source = S("none"),
                                .reply = buf_str(&b) };
    struct call_place at = slot_place(p, s);
    return store_call_put(p->db, &at, &call, err);
}

static struct harness_answer stored_fault(str reply, struct arena *a)
{
    json_t *in = json_read_strict(reply, NULL);
    const json_t *told = json_object_get(in, "told");
    struct harness_answer out = { .ending = HARNESS_DIED };
    out.how = arena_str(a, json_get_str(in, "how"));
    out.result.told = told != NULL;
    out.result.ok = json_is_true(json_object_get(told, "ok"));
    out.result.type = (enum harness_type)json_get_int(told, "type", RESULT_OTHER);
    out.result.text = arena_str(a, json_get_str(told, "text"));
    out.result.error_class = arena_str(a, json_get_str(told, "class"));
    out.result.error_message = arena_str(a, json_get_str(told, "message"));
    out.result.error_line = json_get_int(told, "line", 0);
    json_decref(in);
    return out;
}

// ---- asking ----

static str hash_call(const struct harness_ask *ask, struct arena *a)
{
    struct sha256 *h = sha256_new();
    sha256_add(h, ask->candidate->sha256.len > 0 ? ask->candidate->sha256 : ask->candidate->source);
    sha256_add(h, call_bytes(&ask->call, a));
    return sha256_hex(h, a);
}

bool slot_open_call(struct pump *p, struct slot *s, struct harness_answer *out, bool *answered,
                    struct err *err)
{
    struct found_call stored;
    const struct harness_ask *ask = &s->ask.harness;
    if (!p->opts.sandbox)
        return err_set(err, ERR_RUN, "%.*s: this run has no sandbox for candidates",
                       STR(s->job.input_id));
    s->request_hash = hash_call(ask, &s->arena);
    if (!slot_find_stored(p, s, S(""), &stored, err))
        return false;
    *answered = stored.call.found;
    if (*answered) {
        slot_end_child(s);
        *out = stored_fault(stored.call.reply, &s->arena);
        return true;
    }
    s->state = SLOT_COMPUTING;
    if (!s->child)
        return start_child(p, s, err);
    send_call(s);
    return true;
}

// ---- receiving ----

static bool take_answer(struct pump *p, struct slot *s, const struct harness_answer *in,
                        struct err *err)
{
    struct answer answer = { .harness = *in };
    s->n_replayed++; // computed again in every replay, so it is no news
    return slot_advance(p, s, &answer, err);
}

static bool take_fault(struct pump *p, struct slot *s, const struct harness_result *told,
                       struct err *err)
{
    bool busy = cell_end(s->child) == CELL_WALL;
    struct harness_answer in = { .ending = busy ? HARNESS_BUSY : HARNESS_DIED,
                                 .how = cell_end_text(s->child, &s->arena) };
    if (!s->loading)
        in.result = *told;
    slot_end_child(s);
    return (busy || store_fault(p, s, &in, err)) && take_answer(p, s, &in, err);
}

// One look at a child at work.
static bool receive(struct pump *p, struct slot *s, struct err *err)
{
    struct harness_answer in = { .ending = HARNESS_ANSWERED };
    switch (cell_step(s->child, &s->arena, &in.result)) {
    case CELL_IDLE:
    case CELL_BUSY: return true;
    case CELL_FAULT: return take_fault(p, s, &in.result, err);
    case CELL_ANSWERED: break;
    }
    if (!s->loading)
        return take_answer(p, s, &in, err);
    if (!in.result.ok)
        return err_set(err, ERR_RUN, "%.*s: the candidate cannot be loaded again: %.*s",
                       STR(s->job.input_id), STR(in.result.error_message));
    s->loading = false;
    send_call(s);
    return true;
}

bool slots_receive_calls(struct pump *p, struct err *err)
{
    for (size_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].state == SLOT_COMPUTING && !receive(p, &p->slots[i], err))
            return false;
    return true;
}

int64_t slots_calls_due_ms(const struct pump *p)
{
    int64_t due = -1;
    for (size_t i = 0; i < p->n_slots; i++) {
        int64_t at = p->slots[i].state == SLOT_COMPUTING ? cell_due_ms(p->slots[i].child) : -1;
        if (at >= 0 && (due < 0 || at < due))
            due = at;
    }
    return due;
}
