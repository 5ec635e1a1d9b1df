// SPDX-License-Identifier: GPL-3.0-or-later
// judge.c - who may be evaluated: slots, doubles, the static check, loading, the audit (5.2 step
// 4). A bad candidate is a row with a reason; the loop goes on.
#include "evolve/internal.h"

static bool reject(struct entrant *e, enum entrant_status status, str reason)
{
    e->status = status;
    e->reason = reason;
    return true;
}

// The gravest findings in one line.
static str findings_line(const struct entrant *e, enum level level, struct arena *a)
{
    enum { SHOWN = 3 };
    struct buf b = { .arena = a };
    int n = 0;
    for (size_t i = 0; i < e->exam.findings.n; i++) {
        const struct violation *v = &e->exam.findings.v[i];
        if (v->level == level && n++ < SHOWN)
            buf_addf(&b, "%sline %lld: %.*s: %.*s", n > 1 ? "; " : "", (long long)v->line,
                     STR(v->rule), STR(v->message));
    }
    if (n > SHOWN)
        buf_addf(&b, "; and %d more", n - SHOWN);
    return buf_str(&b);
}

static const struct entrant *find_entrant(const struct search *s, str name)
{
    for (size_t i = 0; i < s->all.n; i++)
        if (str_eq(s->all.v[i].proposal.name, name))
            return &s->all.v[i];
    return NULL;
}

// An earlier harness that is the same: in its bytes, or in what its tree does.
static const struct entrant *double_of(const struct search *s, const struct entrant *e)
{
    for (size_t i = 0; i < s->all.n && &s->all.v[i] != e; i++) {
        const struct entrant *old = &s->all.v[i];
        if (str_eq(old->candidate.sha256, e->candidate.sha256) ||
            (e->exam.shape.len > 0 && str_eq(old->exam.shape, e->exam.shape)))
            return old;
    }
    return NULL;
}

static bool examine(struct search *s, struct entrant *e, struct err *err)
{
    const struct entrant *parent = find_entrant(s, e->proposal.parent);
    struct audit_opts audit = { .source = e->proposal.source,
                                .parent =
                                    parent && parent != e ? parent->proposal.source : (str){ 0 },
                                .index = s->o->index };
    if (!sandbox_examine(s->o->sandbox, e->proposal.source, s->a, &e->exam, err))
        return false;
    if (e->exam.verdict == VERDICT_REJECT)
        return reject(e, ENTRANT_UNSAFE, findings_line(e, LEVEL_REJECT, s->a));
    if (!sandbox_audit(s->o->sandbox, &audit, s->a, &e->exam, err))
        return false;
    return !e->exam.unscored ||
           err_set(err, ERR_RUN,
                   "%.*s was not judged: the machine was too busy; give the same "
                   "command again",
                   STR(e->proposal.name));
}

static bool judge(struct search *s, struct entrant *e, struct err *err)
{
    e->candidate.source = e->proposal.source;
    e->candidate.sha256 = sha256_of(e->proposal.source, s->a);
    const struct entrant *same = double_of(s, e);
    if (same)
        return reject(e, ENTRANT_DUPLICATE,
                      arena_printf(s->a, "the same as %.*s", STR(same->proposal.name)));
    if (!examine(s, e, err))
        return false;
    if (e->status == ENTRANT_UNSAFE)
        return true;
    if ((same = double_of(s, e)))
        return reject(e, ENTRANT_DUPLICATE,
                      arena_printf(s->a, "does the same as %.*s", STR(same->proposal.name)));
    if (s->o->prompt_only && s->all.n > 1 && !str_eq(e->exam.frame, s->all.v[0].exam.frame))
        return reject(e, ENTRANT_NOT_PROMPT_ONLY, S("more than the two prompts differs from h0"));
    if (e->exam.verdict == VERDICT_REJECT)
        return reject(e, ENTRANT_AUDIT, findings_line(e, LEVEL_REJECT, s->a));
    if (e->exam.verdict == VERDICT_QUARANTINE)
        reject(e, ENTRANT_QUARANTINED, findings_line(e, LEVEL_QUARANTINE, s->a));
    e->candidate.contract = e->exam.contract;
    e->judged = true;
    return true;
}

// A number behind the h, or -1.
static int64_t slot_number(str name)
{
    int64_t n;
    return name.len > 1 && name.data[0] == 'h' &&
                   str_to_int(str_sub(name, 1, name.len), 0, 1000000000, &n)
               ? n
               : -1;
}

static bool is_slot(const struct search *s, str name, int64_t first)
{
    int64_t n = slot_number(name);
    return n >= first && n < first + s->o->candidates &&
           str_eq(name, arena_printf(s->a, "h%lld", (long long)n));
}

// What a repaired file replaces is judged anew.
static struct entrant *place_for(struct search *s, const struct proposal *p)
{
    for (size_t i = s->first; i < s->all.n; i++)
        if (str_eq(s->all.v[i].proposal.name, p->name)) {
            s->all.v[i] = (struct entrant){ 0 };
            return &s->all.v[i];
        }
    return vec_push(s->a, &s->all);
}

static void ask_for_repair(const struct entrant *e, struct buf *repair)
{
    if (e->status != ENTRANT_UNSAFE && e->status != ENTRANT_AUDIT)
        return;
    buf_addf(repair, "%.*s:\n", STR(e->proposal.name));
    for (size_t i = 0; i < e->exam.findings.n; i++) {
        const struct violation *v = &e->exam.findings.v[i];
        if (v->level != LEVEL_WARN)
            buf_addf(repair, "- line %lld, %.*s: %.*s\n", (long long)v->line, STR(v->rule),
                     STR(v->message));
    }
}

bool search_admit(struct search *s, const struct proposals *p, struct buf *repair, struct err *err)
{
    int64_t first = s->last_slot + 1;
    for (size_t i = 0; i < p->n; i++) {
        const struct proposal *one = &p->v[i];
        if (!is_slot(s, one->name, first) || one->source.data == NULL) {
            log_line(LOG_WARN,
                     "iteration %lld: \"%s\" is no file of this iteration's slots; left out",
                     (long long)s->iteration, str_show(one->name, SHOWN_MAX_BYTES).text);
            search_note(s, "ignored", (str){ 0 }, one->name);
            continue;
        }
        struct entrant *e = place_for(s, one);
        e->proposal = *one;
        e->iteration = s->iteration;
        e->p_value = 1;
        if (e->proposal.parent.len == 0)
            e->proposal.parent = s->all.v[s->accepted].proposal.name;
        if (!judge(s, e, err))
            return false;
        search_note(s, e->judged ? "admitted" : "rejected", one->name, e->reason);
        ask_for_repair(e, repair);
        if (!search_save_harness(s, e, err))
            return false;
    }
    return true;
}

bool search_admit_start(struct search *s, struct err *err)
{
    struct entrant *e = vec_push(s->a, &s->all);
    *e = (struct entrant){ .proposal = { .name = S("h0"),
                                         .axis = S("other"),
                                         .hypothesis = S("the start"),
                                         .source = s->o->start },
                           .p_value = 1 };
    if (!judge(s, e, err))
        return false;
    if (!e->judged || e->status != ENTRANT_EVALUATED)
        return err_set(err, ERR_INPUT, "the harness to start from is %s: %.*s",
                       e->judged ? "quarantined" : "rejected", STR(e->reason));
    search_note(s, "admitted", S("h0"), (str){ 0 });
    return search_save_harness(s, e, err);
}
