// SPDX-License-Identifier: GPL-3.0-or-later
// audit.c - the audit of a candidate that the check has accepted: its text in one cell, what only
// the data set can tell by lookups here, and its behaviour at probes in other cells.
#include "sandbox/audit_run.h"

enum { AUDIT_CPU_MS = 4000, FOREIGN_TOKENS = 100, FAULTS_MAX = 3 };

// ---- the static part ----

struct lookup {
    const char *name;
    enum audit_kind kind;
    const char *rule, *message;
};
static const struct lookup lookups[] = {
    { "ranks", AUDIT_RANKS, "C02", "matches data set content" },
    { "pairs", AUDIT_PAIR, "C03", "matches data set content" },
    { "ids", AUDIT_ID, "C04", "matches data set content" },
};

static void look_up(struct audit_run *run, const struct audit_index *index, const json_t *found)
{
    for (size_t k = 0; index && k < ARRAY_LEN(lookups); k++) {
        const struct lookup *l = &lookups[k];
        size_t i;
        json_t *each;
        json_array_foreach (json_iterable(json_object_get(found, l->name)), i, each) {
            str text = json_view(each);
            str line = str_cut(&text, ' ');
            int64_t n;
            if (!str_to_int(line, 1, INT32_MAX, &n))
                n = 1;
            if (audit_index_has(index, l->kind, text))
                audit_find(run->out, run->a,
                           (struct violation){ str_from(l->rule), n, 1, str_from(l->message),
                                               LEVEL_REJECT });
        }
    }
}

static bool take_report(struct audit_run *run, const struct audit_index *index, str json)
{
    struct violations faults;
    json_t *in = json_read_strict(json, NULL);
    struct buf list = { .arena = run->a };
    struct json_out o = { .b = &list };
    bool ok = json_is_object(in) && json_object_get(in, "faults");
    if (ok)
        json_put_value(&o, json_object_get(in, "faults"));
    ok = ok && violations_read(buf_str(&list), run->a, &faults, NULL);
    for (size_t i = 0; ok && i < faults.n; i++)
        audit_find(run->out, run->a, faults.v[i]);
    if (ok)
        look_up(run, index, json_object_get(in, "lookups"));
    run->shape = arena_str(run->a, json_get_str(in, "shape"));
    run->frame = arena_str(run->a, json_get_str(in, "frame"));
    json_decref(in);
    return ok;
}

// One request to a fresh cell.
static bool ask_fresh(struct audit_run *run, str (*frame)(int64_t, const str *, struct arena *),
                      const str *texts, struct harness_result *r, struct err *err)
{
    struct cell *c;
    if (!cell_new(run->sandbox, &c, err))
        return false;
    cell_send(c, frame(cell_next_id(c), texts, run->a), AUDIT_CPU_MS);
    bool ok = cell_wait(c, run->a, r) == CELL_ANSWERED && r->ok;
    if (!ok)
        audit_run_find(run, "R13", LEVEL_REJECT,
                       arena_printf(run->a, "the audit of the text failed: %.*s %.*s",
                                    STR(cell_end_text(c, run->a)), STR(r->error_message)));
    cell_free(c);
    return true;
}

static bool audit_text(struct audit_run *run, const struct audit_opts *opts, struct err *err)
{
    struct harness_result r = { 0 };
    struct cell *c;
    if (!sandbox_load(run->sandbox, run->source, run->a, &c, err))
        return false;
    cell_send(c, frame_globals(cell_next_id(c), run->a), AUDIT_CPU_MS);
    bool told = cell_wait(c, run->a, &r) == CELL_ANSWERED && r.ok && r.type == RESULT_STR;
    cell_free(c);
    const str texts[] = { run->source, opts->parent, told ? r.text : S("[]") };
    if (!ask_fresh(run, frame_audit, texts, &r, err))
        return false;
    if (r.ok && !take_report(run, opts->index, r.text))
        audit_run_find(run, "R13", LEVEL_REJECT, S("the audit of the text gave no report"));
    return true;
}

// ---- calls ----

void audit_run_find(struct audit_run *run, const char *rule, enum level level, str message)
{
    audit_find(run->out, run->a, (struct violation){ str_from(rule), 1, 1, message, level });
}

bool audit_call(struct audit_run *run, const struct harness_call *call, struct harness_result *r)
{
    *r = (struct harness_result){ 0 };
    if (run->faults >= FAULTS_MAX ||
        (!run->cell && !sandbox_load(run->sandbox, run->source, run->a, &run->cell, NULL)))
        return false;
    cell_call(run->cell, call);
    if (cell_wait(run->cell, run->a, r) == CELL_ANSWERED)
        return r->ok;
    run->faults++;
    str name = harness_function_name(call->function);
    audit_run_find(
        run, "R13", LEVEL_REJECT,
        arena_printf(run->a, "%.*s: %.*s", STR(name), STR(cell_end_text(run->cell, run->a))));
    cell_free(run->cell);
    run->cell = NULL;
    return false;
}

// A life has ten seconds of CPU time; the audit asks more of a candidate than a rollout does.
static void refresh(struct audit_run *run)
{
    cell_free(run->cell);
    run->cell = NULL;
}

str audit_format(struct audit_run *run, const struct audit_probe *p, str observation)
{
    struct harness_result r;
    if (!run->contract->formats)
        return observation;
    struct harness_call call = { .function = HARNESS_FORMAT, .text = observation };
    call.turn_count = p->turn_count;
    call.max_turns = run->contract->max_turns;
    call.side_to_move = p->at.turn == WHITE ? S("white") : S("black");
    call.last_reply = p->last_reply;
    if (!audit_call(run, &call, &r) || r.type != RESULT_STR) {
        audit_run_find(run, "R13", LEVEL_WARN, S("format_observation gives no text"));
        return observation;
    }
    if (r.text.len > HARNESS_VIEW_MAX_BYTES || r.text.len > 4 * observation.len + 4096)
        audit_run_find(run, "R13", LEVEL_REJECT, S("format_observation gives too long a text"));
    return r.text;
}

str audit_parse(struct audit_run *run, str response, str *said)
{
    struct harness_result r;
    struct harness_call call = { .function = HARNESS_PARSE, .text = response };
    *said = S("");
    if (!run->contract->parses || !audit_call(run, &call, &r) || r.type != RESULT_STR)
        return harness_parse(response, run->a);
    *said = r.text;
    return harness_normalise(r.text, false, run->a);
}

// ---- R01, R06, R07 to R11 ----

static void check_propose(struct audit_run *run, const struct audit_probe *p)
{
    struct harness_result r;
    struct harness_call call = { .function = HARNESS_PROPOSE, .text = p->raw };
    if (!audit_call(run, &call, &r) || r.type != RESULT_STR || r.text.len > 0)
        audit_run_find(run, "R01", LEVEL_REJECT, S("propose_action must return \"\""));
}

static bool calls_legal(struct audit_run *run, const struct audit_probe *p, str action)
{
    struct harness_result r;
    struct harness_call call = { .function = HARNESS_LEGAL, .text = p->raw, .action = action };
    return audit_call(run, &call, &r) && r.truth;
}

static void check_legality(struct audit_run *run, const struct audit_probe *p)
{
    struct rng g;
    for (size_t i = 0; i < p->rows.n; i++)
        if (!calls_legal(run, p, p->rows.v[i].uci))
            audit_run_find(run, "R06", LEVEL_REJECT, S("harness_veto: a legal move is refused"));
    rng_seed(&g, p->rows.n, S("foreign tokens"));
    for (int i = 0; i < FOREIGN_TOKENS / 10; i++) {
        str token = arena_printf(run->a, "%c%c%c%c", (char)('a' + rng_below(&g, 8)),
                                 (char)('1' + rng_below(&g, 8)), (char)('a' + rng_below(&g, 8)),
                                 (char)('1' + rng_below(&g, 8)));
        move m;
        if (!uci_parse(&p->at, token, &m) && str_find(p->raw, token) < 0 &&
            calls_legal(run, p, token))
            audit_run_find(run, "R06", LEVEL_WARN, S("a move that is not listed is called legal"));
    }
    if (calls_legal(run, p, S("Re5+")) || calls_legal(run, p, S("")))
        audit_run_find(run, "R06", LEVEL_WARN, S("what is no move is called legal"));
}

static void check_views(struct audit_run *run, const struct audit_probe *p)
{
    struct audit_view views[AUDIT_VARIANTS];
    for (int k = 0; k < AUDIT_VARIANTS; k++) {
        str observation = audit_vary(p->raw, (enum audit_variant)k, &views[k].rows, run->a);
        views[k].text = audit_format(run, p, observation);
    }
    audit_views(views, p->raw, run->by_san, run->a, run->out);
}

// Whether the parser makes the UCI of a SAN of the board it has seen last.
static bool resolves_san(struct audit_run *run, const struct audit_probe *p)
{
    str said;
    audit_format(run, p, p->raw);
    for (size_t i = 0; i < p->rows.n; i++)
        if (str_find_char(p->rows.v[i].san, 'R') == 0)
            return str_eq(audit_parse(run, p->rows.v[i].san, &said), p->rows.v[i].uci);
    return false;
}

// ---- R12 ----

static str transcript(struct audit_run *run, const struct audit_probe *probes, size_t n, bool back)
{
    struct sha256 *h = sha256_new();
    str *texts = NEW_ARRAY(run->a, str, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct audit_probe *p = &probes[back ? n - 1 - i : i];
        str said, view, action;
        refresh(run);
        view = audit_format(run, p, p->raw);
        action = audit_parse(run, S("[e2e4] [d2d4] or Nf3, perhaps <move>a7a8q</move>"), &said);
        texts[back ? n - 1 - i : i] = arena_printf(run->a, "%.*s\n%.*s\n", STR(view), STR(action));
    }
    for (size_t i = 0; i < n; i++)
        sha256_add(h, texts[i]);
    return sha256_hex(h, run->a);
}

static bool check_determinism(struct audit_run *run, const struct audit_probe *probes,
                              struct err *err)
{
    struct sandbox *other;
    enum { SOME = 6 };
    str here = transcript(run, probes, SOME, false);
    if (!sandbox_new(&(struct sandbox_opts){ .hash_seed = 1 }, &other, err))
        return false;
    struct audit_run again = *run;
    again.sandbox = other;
    again.cell = NULL;
    if (!str_eq(here, transcript(&again, probes, SOME, true)))
        audit_run_find(run, "R12", LEVEL_QUARANTINE,
                       S("nondeterministic: results depend on order or hashes"));
    cell_free(again.cell);
    sandbox_free(other);
    return true;
}

// ---- all ----

static bool audit_behaviour(struct audit_run *run, struct err *err)
{
    size_t n = audit_probe_count();
    struct audit_probe *probes = NEW_ARRAY(run->a, struct audit_probe, n);
    for (size_t i = 0; i < n; i++)
        probes[i] = audit_probe(i, run->a);
    run->by_san = run->contract->parses && resolves_san(run, &probes[1]);
    for (size_t i = 0; i < n; i++)
        check_propose(run, &probes[i]);
    refresh(run);
    for (size_t i = 0; i < n; i++)
        check_views(run, &probes[i]);
    refresh(run);
    for (size_t i = 0; i < n; i++)
        check_legality(run, &probes[i]);
    refresh(run);
    if (run->contract->parses)
        audit_parser(run, probes, n);
    bool ok = check_determinism(run, probes, err);
    refresh(run);
    return ok;
}

bool sandbox_audit(struct sandbox *s, const struct audit_opts *opts, struct arena *a,
                   struct examination *io, struct err *err)
{
    struct audit_run run = { .sandbox = s,
                             .source = opts->source,
                             .contract = &io->contract,
                             .a = a,
                             .out = &io->findings };
    if (io->verdict == VERDICT_REJECT)
        return true;
    if (!audit_text(&run, opts, err) || !audit_behaviour(&run, err))
        return false;
    io->shape = run.shape;
    io->frame = run.frame;
    examination_judge(io);
    return true;
}
