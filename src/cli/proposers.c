// SPDX-License-Identifier: GPL-3.0-or-later
// proposers.c - candidates from a directory, from a person, from a program. What the last two
// propose depends on more than the run, so it is stored at its place like any answer, and a replay
// finds it there.
#include <poll.h>

#include "cli/proposers.h"

enum { SLOTS_HASHED = 1000, META_MAX_BYTES = 1 << 20, POLL_MS = 300 };

struct proposal *proposals_entry(struct proposals *p, str slot, struct arena *a)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->v[i].name, slot))
            return &p->v[i];
    struct proposal *fresh = vec_push(a, p);
    *fresh = (struct proposal){ .name = slot, .axis = S("recovered") };
    return fresh;
}

// ---- scripted ----

// The file of a slot in a directory, or false.
static bool find_source(str dir, str slot, struct arena *a, str *path)
{
    *path = arena_printf(a, "%.*s/%.*s.py", STR(dir), STR(slot));
    if (file_exists(*path))
        return true;
    *path = arena_printf(a, "%.*s/%.*s/harness.py", STR(dir), STR(slot));
    return file_exists(*path);
}

bool scripted_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                      struct err *err)
{
    const struct proposers *p = ctx;
    struct arena *a = p->run->arena;
    for (size_t i = 0; i < q->n_slots; i++) {
        str path, source, meta, slot = q->slots[i];
        if (!find_source(p->directory, slot, a, &path))
            continue;
        if (!candidate_read(path, a, &source, err))
            return false;
        path = arena_printf(a, "%.*s/%.*s.json", STR(p->directory), STR(slot));
        if (file_exists(path) &&
            (!file_read(path, META_MAX_BYTES, a, &meta, err) || !proposals_read(meta, a, out, err)))
            return false;
        proposals_entry(out, slot, a)->source = source;
    }
    out->calls = 1;
    return true;
}

str scripted_hash(const struct proposers *p)
{
    struct sha256 *h = sha256_new();
    for (int i = 1; i < SLOTS_HASHED; i++) {
        str path, source;
        str slot = arena_printf(p->run->arena, "h%d", i);
        if (find_source(p->directory, slot, p->run->arena, &path) &&
            candidate_read(path, p->run->arena, &source, NULL)) {
            sha256_add(h, slot);
            sha256_add(h, source);
        }
    }
    return sha256_hex(h, p->run->arena);
}

// ---- what is stored ----

// Sources may be no UTF-8: such bytes are written as a list of numbers.
static void put_source(str source, struct json_out *o)
{
    if (source.data && utf8_valid(source)) {
        json_key_str(o, S("source"), source);
        return;
    }
    json_key_open(o, S("bytes"), '[');
    for (size_t i = 0; i < source.len; i++)
        json_put_int(o, (unsigned char)source.data[i]);
    json_close(o, ']');
}

static str proposals_json(const struct proposals *p, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("pending"), p->pending);
    json_key_str(&o, S("log"), p->log);
    json_key_int(&o, S("calls"), p->calls);
    json_key_open(&o, S("candidates"), '[');
    for (size_t i = 0; i < p->n; i++) {
        const struct proposal *one = &p->v[i];
        json_open(&o, '{');
        json_key_str(&o, S("name"), one->name);
        json_key_str(&o, S("axis"), one->axis);
        json_key_str(&o, S("hypothesis"), one->hypothesis);
        json_key_str(&o, S("changes"), one->changes);
        json_key_str(&o, S("parent"), one->parent);
        if (one->source.data)
            put_source(one->source, &o);
        json_close(&o, '}');
    }
    json_close(&o, ']');
    json_close(&o, '}');
    return buf_str(&b);
}

static void take_bytes(const json_t *in, struct arena *a, struct proposal *out)
{
    const json_t *list = json_object_get(in, "bytes");
    if (!json_is_array(list))
        return;
    size_t n = json_array_size(list);
    char *data = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        data[i] = (char)json_integer_value(json_array_get(list, i));
    out->source = (str){ data, n };
}

static bool proposals_restore(str json, struct arena *a, struct proposals *out, struct err *err)
{
    json_t *in = json_read_strict(json, err);
    if (!in || !proposals_read(json, a, out, err)) {
        json_decref(in);
        return false;
    }
    const json_t *list = json_object_get(in, "candidates");
    for (size_t i = 0; i < out->n && i < json_array_size(list); i++)
        take_bytes(json_array_get(list, i), a, &out->v[i]);
    out->pending = arena_str(a, json_get_str(in, "pending"));
    out->log = arena_str(a, json_get_str(in, "log"));
    out->calls = json_get_int(in, "calls", 1);
    json_decref(in);
    return true;
}

typedef bool propose_now(const struct proposers *p, const struct proposal_request *q,
                         struct proposals *out, struct err *err);

// Answers from the store, or asks and stores.
static bool propose_once(const struct proposers *p, const struct proposal_request *q,
                         propose_now *now, struct proposals *out, struct err *err)
{
    struct run *r = p->run;
    struct call_place at = { .run = r->row.id, .batch = r->lab.n_batches };
    struct stored_call call;
    str hash =
        sha256_of(arena_printf(r->arena, "%.*s\n%.*s", STR(q->task), STR(q->skill)), r->arena);
    if (!store_call_get(r->store, &at, r->arena, &call, err))
        return false;
    if (call.found && !str_eq(call.request_hash, hash))
        return err_set(err, ERR_RUN, "replay diverged at iteration %lld: another task was given",
                       (long long)q->iteration);
    r->lab.n_batches++;
    if (call.found)
        return proposals_restore(call.reply, r->arena, out, err);
    if (!now(p, q, out, err))
        return false;
    call = (struct stored_call){ .request_hash = hash,
                                 .input_id = S("proposal"),
                                 .model = S("proposer"),
                                 .class = S("ok"),
                                 .reply = proposals_json(out, r->arena) };
    return store_call_put(r->store, &at, &call, err) && store_flush(r->store, clock_mono_ms(), err);
}

bool command_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                     struct err *err)
{
    return propose_once(ctx, q, command_propose_now, out, err);
}

// ---- manual ----

static bool all_there(const struct proposers *p, const struct proposal_request *q)
{
    struct arena *a = p->run->arena;
    str dir = p->run->config.output_dir;
    bool all = true;
    for (size_t i = 0; i < q->n_slots; i++)
        all = all && file_exists(arena_printf(a, "%.*s/harnesses/%.*s/harness.py", STR(dir),
                                              STR(q->slots[i])));
    return all || file_exists(path_join(dir, S("pending_eval.json"), a));
}

static bool wait_for_files(const struct proposers *p, const struct proposal_request *q,
                           struct proposals *out, struct err *err)
{
    str dir = p->run->config.output_dir;
    if (!p->eval_only && !all_there(p, q))
        log_line(LOG_WARN,
                 "waiting for %.*s/harnesses/%.*s/harness.py and the others, or for "
                 "%.*s/pending_eval.json",
                 STR(dir), STR(q->slots[0]), STR(dir));
    while (!p->eval_only && !all_there(p, q)) {
        (void)poll(NULL, 0, POLL_MS);
        if (signals_seen > 0)
            return err_set(err, ERR_INTERRUPTED, "interrupted; give the same command again");
    }
    take_files(p, q, dir, out);
    out->calls = 1;
    return true;
}

bool manual_propose(void *ctx, const struct proposal_request *q, struct proposals *out,
                    struct err *err)
{
    return propose_once(ctx, q, wait_for_files, out, err);
}
