// SPDX-License-Identifier: GPL-3.0-or-later
// examine.c - the way of a candidate into use: first looked at without a parser, then checked in a
// cell that executes nothing of it, then loaded in another. Both get the same bytes.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/internal.h"

enum { FILE_MAX_BYTES = 64 << 20 }; // far over what the check allows: it says so itself

// All of an open file. False: errno tells.
static bool read_open(int fd, size_t size, struct arena *a, str *out)
{
    char *data = arena_alloc(a, size + 1);
    size_t n = 0;
    ssize_t got = 1;
    while (n < size && (got = read(fd, data + n, size - n)) != 0) {
        if (got < 0 && errno != EINTR)
            return false;
        n += got > 0 ? (size_t)got : 0;
    }
    *out = (str){ data, n };
    return true;
}

bool candidate_read(str path, struct arena *a, str *out, struct err *err)
{
    struct stat st;
    if (str_eq(path, S("builtin:h0"))) {
        *out = (str){ (const char *)sandbox_h0_data, sandbox_h0_size };
        return true;
    }
    int fd = open(arena_str(a, path).data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_INPUT, "%.*s: %s", STR(path),
                       errno == ELOOP ? "a link, must be a file itself" : strerror(errno));
    bool ok = false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        err_set(err, ERR_INPUT, "%.*s: not a regular file", STR(path));
    else if (st.st_size > FILE_MAX_BYTES)
        err_set(err, ERR_LIMIT, "%.*s: over %d bytes", STR(path), FILE_MAX_BYTES);
    else if (!read_open(fd, (size_t)st.st_size, a, out))
        err_set(err, ERR_INPUT, "%.*s: %s", STR(path), strerror(errno));
    else
        ok = true;
    close(fd);
    return ok;
}

struct exam {
    struct sandbox *sandbox;
    str source;
    struct arena *arena;
    struct examination *out;
};

static void find(struct exam *e, str rule, int64_t line, str message)
{
    enum level level = str_starts(rule, S("W")) ? LEVEL_WARN : LEVEL_REJECT;
    *vec_push(e->arena, &e->out->findings) = (struct violation){ rule, line, 1, message, level };
}

static bool is_rejected(const struct exam *e)
{
    for (size_t i = 0; i < e->out->findings.n; i++)
        if (e->out->findings.v[i].level == LEVEL_REJECT)
            return true;
    return false;
}

// A cell that did not answer.
static void note_fault(struct exam *e, const struct cell *c, bool loading)
{
    str how = cell_end_text(c, e->arena);
    if (cell_end(c) == CELL_WALL) {
        e->out->unscored = true;
        find(e, S("unscored"), 1, S("the machine was too busy to tell: try again"));
    } else if (!loading) {
        find(e, S("S03"), 1, arena_printf(e->arena, "parser failure (%.*s)", STR(how)));
    } else if (cell_end(c) == CELL_DEADLINE) {
        find(e, S("load_timeout"), 1, S("loading takes over 2 s: do less at the top level"));
    } else {
        find(e, S("load_fault"), 1,
             arena_printf(e->arena, "loading ended the child (%.*s)", STR(how)));
    }
}

static bool take_report(struct exam *e, const struct harness_result *r, bool loading)
{
    struct harness_contract contract = { 0 };
    struct violations faults;
    if (!r->ok) {
        find(e, loading ? S("load_error") : S("S03"), r->error_line,
             arena_printf(e->arena, "%.*s: %.*s", STR(r->error_class), STR(r->error_message)));
        return true;
    }
    if (!harness_contract_read(r->text, e->arena, &contract, &faults, NULL))
        return false;
    for (size_t i = 0; i < faults.n; i++)
        *vec_push(e->arena, &e->out->findings) = faults.v[i];
    if (loading) { // which knows all but what the check has told
        contract.code = e->out->contract.code;
        contract.formats = contract.formats && !e->out->contract.unchanged;
    }
    e->out->contract = contract;
    return true;
}

// One request with the source to a cell of its own.
static bool run(struct exam *e, bool loading, struct err *err)
{
    struct cell *c;
    struct harness_result r;
    if (!cell_new(e->sandbox, &c, err))
        return false;
    int64_t id = cell_next_id(c);
    cell_send(c,
              loading ? frame_load(id, e->source, e->out->contract.code, e->arena)
                      : frame_source(id, S("check"), e->source, e->arena),
              LOAD_CPU_MS);
    if (cell_wait(c, e->arena, &r) != CELL_ANSWERED)
        note_fault(e, c, loading);
    else if (!take_report(e, &r, loading))
        find(e, S("load_fault"), 1, S("the child gave no proper report"));
    cell_free(c);
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct violation *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->col != y->col)
        return x->col < y->col ? -1 : 1;
    return str_cmp(x->rule, y->rule);
}

void examination_judge(struct examination *e)
{
    enum level gravest = LEVEL_WARN;
    for (size_t i = 0; i < e->findings.n; i++)
        gravest = e->findings.v[i].level < gravest ? e->findings.v[i].level : gravest;
    e->verdict = gravest == LEVEL_REJECT       ? VERDICT_REJECT
                 : gravest == LEVEL_QUARANTINE ? VERDICT_QUARANTINE
                                               : VERDICT_PASS;
    if (e->findings.n > 0)
        qsort(e->findings.v, e->findings.n, sizeof *e->findings.v, by_place);
}

bool sandbox_examine(struct sandbox *s, str source, struct arena *a, struct examination *out,
                     struct err *err)
{
    struct exam e = { s, source, a, out };
    *out = (struct examination){ 0 };
    if (harness_source_check(source, a, &out->findings)) {
        if (!run(&e, false, err) || (!is_rejected(&e) && !run(&e, true, err)))
            return false;
        if (!is_rejected(&e) && !harness_shows_observation(out->contract.user))
            find(&e, S("W-no-observation"), 1,
                 S("USER_PROMPT has no {observation}: it is appended behind the text"));
    }
    examination_judge(out);
    return true;
}

bool sandbox_load(struct sandbox *s, str source, struct arena *a, struct cell **out,
                  struct err *err)
{
    struct harness_result r;
    if (!cell_new(s, out, err))
        return false;
    cell_send(*out, frame_source(cell_next_id(*out), S("load"), source, a), LOAD_CPU_MS);
    enum cell_state state = cell_wait(*out, a, &r);
    if (state == CELL_ANSWERED && r.ok)
        return true;
    str how = state == CELL_ANSWERED ? r.error_message : cell_end_text(*out, a);
    cell_free(*out);
    *out = NULL;
    return err_set(err, ERR_INPUT, "the harness cannot be loaded: %.*s", STR(how));
}
