// SPDX-License-Identifier: GPL-3.0-or-later
// env.c - requests to episodes: which one, whether there is room, and who still waits.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "env/internal.h"

enum { EPISODES = 256, IDLE_MS = 600 * 1000, SWEEP_MS = 1000 };

bool env_new(const struct env_opts *opts, struct env **out, struct err *err)
{
    struct env *e = mem_must(calloc(1, sizeof *e));
    e->opts = *opts;
    e->opts.max_episodes = opts->max_episodes ? opts->max_episodes : EPISODES;
    e->opts.idle_ms = opts->idle_ms ? opts->idle_ms : IDLE_MS;
    e->opts.now_ms = opts->now_ms ? opts->now_ms : clock_mono_ms;
    e->seats = mem_must(calloc(e->opts.max_episodes, sizeof *e->seats));
    for (size_t i = 0; i < e->opts.max_episodes; i++)
        e->seats[i].env = e;
    e->epoll = epoll_create1(EPOLL_CLOEXEC);
    *out = e;
    if (e->epoll >= 0)
        return true;
    env_free(e);
    return err_set(err, ERR_RUN, "cannot watch children: %s", strerror(errno));
}

void env_free(struct env *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->opts.max_episodes; i++)
        seat_clear(&e->seats[i]);
    if (e->epoll >= 0)
        close(e->epoll);
    free(e->seats);
    free(e);
}

// ---- room ----

// Closes what nobody has asked for; looked for once a second, or now.
static void sweep(struct env *e, bool now)
{
    int64_t time = e->opts.now_ms();
    if (!now && time - e->swept_ms < SWEEP_MS)
        return;
    e->swept_ms = time;
    for (size_t i = 0; i < e->opts.max_episodes && e->n_open > 0; i++) {
        struct seat *s = &e->seats[i];
        bool waits = s->state == SEAT_POLICY || s->state == SEAT_DONE;
        if (waits && time - s->used_ms >= e->opts.idle_ms)
            seat_clear(s);
    }
}

// A free place; where there is none, that of the episode that has been done for longest. NULL: all
// are being played.
static struct seat *find_room(struct env *e)
{
    struct seat *oldest = NULL;
    sweep(e, e->n_open == e->opts.max_episodes);
    for (size_t i = 0; i < e->opts.max_episodes; i++) {
        struct seat *s = &e->seats[i];
        if (s->state == SEAT_FREE)
            return s;
        if (s->state == SEAT_DONE && (!oldest || s->used_ms < oldest->used_ms))
            oldest = s;
    }
    if (oldest)
        seat_clear(oldest);
    return oldest;
}

// ---- requests ----

// The answer at once, or when the child is done.
static void answer(struct seat *s, const struct serve_request *in, struct arena *a,
                   struct serve_reply *out)
{
    s->used_ms = s->env->opts.now_ms();
    s->ticket = s->state == SEAT_WORKING ? in->ticket : NULL;
    if (s->ticket)
        out->later = true;
    else
        seat_reply(s, a, out);
}

static bool puzzle_named(const struct env *e, const json_t *in, size_t *out)
{
    const json_t *index = json_object_get(in, "index"), *id = json_object_get(in, "puzzle");
    if (json_is_integer(index) && !id) {
        json_int_t n = json_integer_value(index);
        *out = (size_t)n;
        return n >= 0 && (size_t)n < e->opts.n_puzzles;
    }
    if (!json_is_string(id) || index)
        return false;
    for (*out = 0; *out < e->opts.n_puzzles; ++*out)
        if (str_eq(e->opts.puzzles[*out].id, json_view(id)))
            return true;
    return false;
}

static void reset(struct env *e, const json_t *body, const struct serve_request *in,
                  struct arena *a, struct serve_reply *out)
{
    size_t index = e->next;
    bool named = json_object_get(body, "index") || json_object_get(body, "puzzle");
    if (named && !puzzle_named(e, body, &index)) {
        refuse(404,
               arena_printf(a, "no such puzzle: give \"index\" below %zu, or \"puzzle\", an id",
                            e->opts.n_puzzles),
               a, out);
        return;
    }
    struct seat *s = find_room(e);
    if (!s) {
        refuse(429,
               arena_printf(a,
                            "%zu episodes are open: close some, or start with more "
                            "--max-episodes",
                            e->n_open),
               a, out);
        return;
    }
    if (!named)
        e->next = (e->next + 1) % e->opts.n_puzzles;
    e->n_resets++;
    seat_begin(s, index);
    answer(s, in, a, out);
}

static void step(struct seat *s, const json_t *body, const struct serve_request *in,
                 struct arena *a, struct serve_reply *out)
{
    struct reply reply;
    str why;
    if (s->state == SEAT_WORKING) {
        refuse(409, S("this episode is still at its last step"), a, out);
    } else if (s->state == SEAT_DONE) {
        refuse(409, S("this episode is done: reset begins another"), a, out);
    } else if (!read_policy(body, &reply, &why)) {
        refuse(400, why, a, out);
    } else {
        s->env->n_steps++;
        seat_step(s, &reply);
        answer(s, in, a, out);
    }
}

static void close_episode(struct seat *s, struct arena *a, struct serve_reply *out)
{
    if (s->state == SEAT_WORKING) {
        refuse(409, S("this episode is still at its last step"), a, out);
        return;
    }
    seat_clear(s);
    *out = (struct serve_reply){ .status = 200, .content_type = S("application/json") };
    out->body = S("{\"closed\":true}\n");
}

static void tell_state(const struct env *e, struct arena *a, struct serve_reply *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_int(&o, S("episodes"), (int64_t)e->n_open);
    json_key_int(&o, S("max_episodes"), (int64_t)e->opts.max_episodes);
    json_key_int(&o, S("idle_ms"), e->opts.idle_ms);
    json_key_int(&o, S("puzzles"), (int64_t)e->opts.n_puzzles);
    json_key_int(&o, S("resets"), (int64_t)e->n_resets);
    json_key_int(&o, S("steps"), (int64_t)e->n_steps);
    json_key_str(&o, S("harness_sha256"), e->opts.candidate->sha256);
    json_key_int(&o, S("rollout_version"), ROLLOUT_VERSION);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    *out = (struct serve_reply){ .status = 200, .content_type = S("application/json") };
    out->body = buf_str(&b);
}

static void dispatch(struct env *e, const json_t *body, const struct serve_request *in,
                     struct arena *a, struct serve_reply *out)
{
    if (str_eq(in->path, S("/reset"))) {
        reset(e, body, in, a, out);
        return;
    }
    struct seat *s = seat_find(e, json_get_str(body, "episode"));
    if (!s)
        refuse(404, S("no such episode: it was closed, has been idle for too long, or never was"),
               a, out);
    else if (str_eq(in->path, S("/step")))
        step(s, body, in, a, out);
    else
        close_episode(s, a, out);
}

void env_handle(void *context, const struct serve_request *in, struct arena *a,
                struct serve_reply *out)
{
    static const str paths[] = { T("/reset"), T("/step"), T("/close") };
    struct env *e = context;
    struct err err = { 0 };
    sweep(e, false);
    if (str_eq(in->path, S("/")) && str_eq(in->method, S("GET"))) {
        tell_state(e, a, out);
        return;
    }
    if (!str_among(in->path, paths, ARRAY_LEN(paths), NULL)) {
        refuse(404, S("there are /reset, /step, /close and /"), a, out);
        return;
    }
    if (!str_eq(in->method, S("POST"))) {
        refuse(405, S("POST a JSON object"), a, out);
        return;
    }
    json_t *body = json_read_strict(in->body.len > 0 ? in->body : S("{}"), &err);
    if (json_is_object(body))
        dispatch(e, body, in, a, out);
    else
        refuse(400, body ? S("the body must be a JSON object") : str_from(err.text), a, out);
    json_decref(body);
}

// ---- children ----

static void ready(void *context)
{
    struct env *e = context;
    struct epoll_event events[64];
    while (epoll_wait(e->epoll, events, ARRAY_LEN(events), 0) == ARRAY_LEN(events))
        ; // they only wake: every child at work is looked at
    sweep(e, false);
    for (size_t i = 0; i < e->opts.max_episodes && e->n_working > 0; i++) {
        struct seat *s = &e->seats[i];
        if (s->state != SEAT_WORKING)
            continue;
        seat_look(s);
        if (s->state == SEAT_WORKING)
            continue;
        struct arena scratch = { 0 };
        struct serve_reply reply = { 0 };
        seat_reply(s, &scratch, &reply);
        serve_answer(s->ticket, &reply);
        s->ticket = NULL;
        arena_free(&scratch);
    }
}

static int64_t due_ms(void *context)
{
    struct env *e = context;
    int64_t due = e->n_open > 0 ? clock_mono_ms() + SWEEP_MS : -1;
    for (size_t i = 0; i < e->opts.max_episodes && e->n_working > 0; i++) {
        struct seat *s = &e->seats[i];
        int64_t at = s->state == SEAT_WORKING ? cell_due_ms(s->cell) : -1;
        if (at >= 0 && (due < 0 || at < due))
            due = at;
    }
    return due;
}

struct serve_watch env_watch(struct env *e)
{
    return (struct serve_watch){ e->epoll, ready, due_ms };
}
