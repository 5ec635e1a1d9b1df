// SPDX-License-Identifier: GPL-3.0-or-later
// person.c - the life of one ask to a person: looked up in the store, else shown; a line is read
// from a descriptor, stored, and only then shown to its episode. One is asked at a time; what was
// typed ahead answers the next ask.
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pump/internal.h"

static bool find_line(struct pump *p, struct slot *s, struct person_answer *out, bool *found,
                      struct err *err)
{
    struct found_call stored;
    if (!slot_find_stored(p, s, (str){ 0 }, &stored, err))
        return false;
    *found = stored.call.found;
    if (!*found)
        return true;
    json_t *o = json_read_strict(stored.call.reply, err);
    if (!o)
        return err_add(err, "a stored answer of a person");
    *out = (struct person_answer){ .line = arena_str(&s->arena, json_get_str(o, "line")),
                                   .latency_ms = stored.call.latency_ms };
    json_decref(o);
    return true;
}

static bool store_line(struct pump *p, struct slot *s, const struct person_answer *in,
                       struct err *err)
{
    struct buf b = { .arena = &s->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("line"), in->line);
    json_close(&o, '}');
    struct stored_call call = { .request_hash = s->request_hash,
                                .input_id = s->job.input_id,
                                .model = S("person"),
                                .class = S("ok"),
                                .phase = p->feed->phase,
                                .cost_source = S("none"),
                                .latency_ms = in->latency_ms,
                                .reply = buf_str(&b) };
    struct call_place at = slot_place(p, s);
    return store_call_put(p->db, &at, &call, err);
}

// A file cannot be watched: it is read at once.
static void watch(struct pump *p)
{
    struct epoll_event e = { .events = EPOLLIN, .data.u64 = PERSON_EVENT };
    p->person.at_hand = epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->opts.person->fd, &e) != 0;
}

bool slot_open_person(struct pump *p, struct slot *s, struct person_answer *out, bool *answered,
                      struct err *err)
{
    s->request_hash =
        sha256_of(arena_printf(&s->arena, "person\n%.*s", STR(s->ask.person)), &s->arena);
    if (!find_line(p, s, out, answered, err))
        return false;
    if (*answered)
        return true;
    if (!p->opts.person)
        return err_set(err, ERR_USAGE, "nobody is there to be asked");
    s->state = SLOT_ASKED;
    s->asked_ms = clock_mono_ms();
    p->opts.person->show(p->opts.person->ctx, s->ask.person);
    watch(p);
    return true;
}

// The next whole line of what was typed; at the end of the input also one without its end.
static bool take_line(const struct typed *t, str *out)
{
    const char *lf = memchr(t->text, '\n', t->n);
    size_t n = lf ? (size_t)(lf - t->text) : t->n;
    if (!lf && !(t->n > 0 && (t->ended || t->n == sizeof t->text)))
        return false;
    *out = (str){ t->text, n };
    return true;
}

static void drop_line(struct typed *t, size_t n)
{
    n += n < t->n; // its line feed
    memmove(t->text, t->text + n, t->n - n);
    t->n -= n;
}

static void read_more(struct pump *p)
{
    struct typed *t = &p->person;
    ssize_t n = read(p->opts.person->fd, t->text + t->n, sizeof t->text - t->n);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    t->ended = n <= 0;
    t->n += n > 0 ? (size_t)n : 0;
}

void person_event(struct pump *p)
{
    p->person.at_hand = true;
}

static struct slot *asked_slot(const struct pump *p)
{
    for (size_t i = 0; p->opts.person && i < p->n_slots; i++)
        if (p->slots[i].state == SLOT_ASKED)
            return &p->slots[i];
    return NULL;
}

int64_t person_due_ms(const struct pump *p)
{
    str line;
    const struct typed *t = &p->person;
    return asked_slot(p) && (t->at_hand || t->ended || take_line(t, &line)) ? 0 : -1;
}

void slot_end_person(struct pump *p)
{
    if (p->opts.person)
        epoll_ctl(p->epoll, EPOLL_CTL_DEL, p->opts.person->fd, NULL);
}

bool slots_receive_person(struct pump *p, struct err *err)
{
    struct slot *s;
    str line;
    while (p->stop == STOP_NOT && (s = asked_slot(p))) {
        if (!take_line(&p->person, &line) && p->person.at_hand && !p->person.ended) {
            p->person.at_hand = false;
            read_more(p);
        }
        if (!take_line(&p->person, &line)) {
            if (p->person.ended)
                p->stop = STOP_LEFT;
            return true;
        }
        struct answer answer = { .person = { .line = arena_str(&s->arena, line),
                                             .latency_ms = clock_mono_ms() - s->asked_ms } };
        drop_line(&p->person, line.len);
        slot_end_person(p);
        if (!store_line(p, s, &answer.person, err) || !slot_advance(p, s, &answer, err))
            return false;
    }
    return true;
}
