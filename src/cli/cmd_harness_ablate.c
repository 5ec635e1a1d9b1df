// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_harness_ablate.c - which of a harness's changes its score hangs on: the harness again, and
// once more with each single change against its start reverted, all on the same puzzles (6.5).
// A part is a top-level statement of the source, known by the name that it binds.
#include "cli/harness_commands.h"
#include "cli/harness_run.h"

enum { PARTS_MAX = 400, VARIANTS_MAX = 16 };

struct part {
    str name; // what it binds; empty: nothing (an import, a docstring)
    str text;
};
struct parts {
    struct part *v;
    size_t n, cap;
};

// What the contract knows by name (2.1): only these are reverted, with their helpers beside them.
static const str mechanisms[] = { T("SYSTEM_PROMPT"),
                                  T("USER_PROMPT"),
                                  T("format_observation"),
                                  T("parse_action"),
                                  T("is_legal_action"),
                                  T("FORMAT_RETRY_BUDGET"),
                                  T("ILLEGAL_MOVE_RETRY_BUDGET"),
                                  T("MAX_TURNS") };

// ---- parts of a source ----

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static str bound_name(str line)
{
    str rest = str_starts(line, S("def ")) ? str_sub(line, 4, line.len) : line;
    size_t n = 0;
    while (n < rest.len && is_name_char(rest.data[n]))
        n++;
    str after = str_trim(str_sub(rest, n, rest.len));
    bool binds = rest.data != line.data ||
                 (str_starts(after, S("=")) && !str_starts(after, S("=="))) ||
                 str_starts(after, S(":"));
    return binds ? str_sub(rest, 0, n) : (str){ 0 };
}

// A statement begins where a line begins with a name; others belong to the one before.
static struct parts split(str source, struct arena *a)
{
    struct parts out = { 0 };
    while (source.len > 0 && out.n < PARTS_MAX) {
        str line = source;
        (void)str_cut(&source, '\n');
        line.len = (size_t)(source.len > 0 ? source.data - line.data : (ptrdiff_t)line.len);
        if (out.n == 0 || is_name_char(line.data[0]))
            *vec_push(a, &out) = (struct part){ .name = bound_name(line), .text = line };
        else
            out.v[out.n - 1].text.len += line.len;
    }
    return out;
}

static const struct part *find_part(const struct parts *p, str name)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->v[i].name, name))
            return &p->v[i];
    return NULL;
}

// The source with one mechanism as the start has it, and the helpers that only the start has.
static str revert(const struct parts *now, const struct parts *start, str name, struct arena *a)
{
    struct buf b = { .arena = a };
    const struct part *old = find_part(start, name);
    bool known;
    for (size_t i = 0; i < now->n; i++)
        if (!str_eq(now->v[i].name, name))
            buf_add(&b, now->v[i].text);
    buf_add_char(&b, '\n');
    for (size_t i = 0; old && i < start->n; i++) {
        str helper = start->v[i].name;
        known = str_among(helper, mechanisms, ARRAY_LEN(mechanisms), NULL) ||
                str_eq(helper, S("propose_action"));
        if (!known &&
            (helper.len > 0 ? !find_part(now, helper) : str_starts(start->v[i].text, S("import"))))
            buf_add(&b, start->v[i].text);
    }
    if (old)
        buf_add(&b, old->text);
    return buf_str(&b);
}

// ---- the command ----

struct ablation {
    struct harness_run harness;
    struct evaluation v[VARIANTS_MAX + 1]; // the harness itself first
    size_t n;
    struct buf report;
};

static bool add_variant(struct ablation *ab, str name, str source)
{
    struct examination e;
    struct arena *a = ab->harness.run->arena;
    if (!harness_judge(&ab->harness, source, (str){ 0 }, &e))
        return false;
    if (e.verdict == VERDICT_REJECT) {
        buf_addf(&ab->report, "  %-28.*s cannot be reverted alone: %.*s\n", STR(name),
                 STR(harness_fault_line(&e, a)));
        return true;
    }
    ab->v[ab->n++] =
        (struct evaluation){ .name = name,
                             .candidate = harness_candidate(&ab->harness, source, &e) };
    return true;
}

static bool make_variants(struct ablation *ab)
{
    struct run *r = ab->harness.run;
    str path = opt_text(r->args, "harness", S("")), now, start;
    if (path.len == 0)
        return err_set(r->err, ERR_USAGE, "--harness FILE is needed");
    if (!candidate_read(path, r->arena, &now, r->err) ||
        !candidate_read(opt_text(r->args, "start", S("builtin:h0")), r->arena, &start, r->err) ||
        !add_variant(ab, S("as it is"), now))
        return false;
    if (ab->n == 0)
        return err_set(r->err, ERR_RUN, "%.*s is rejected", STR(path));
    struct parts x = split(now, r->arena), y = split(start, r->arena);
    for (size_t i = 0; i < ARRAY_LEN(mechanisms); i++) {
        const struct part *new = find_part(&x, mechanisms[i]), *old = find_part(&y, mechanisms[i]);
        bool same = !new && !old;
        if (new &&old)
            same = str_eq(str_trim(new->text), str_trim(old->text));
        if (!same && !add_variant(ab, arena_printf(r->arena, "without %.*s", STR(mechanisms[i])),
                                  revert(&x, &y, mechanisms[i], r->arena)))
            return false;
    }
    return true;
}

static str key_of(const struct ablation *ab)
{
    struct buf b = { .arena = ab->harness.run->arena };
    buf_addf(&b, "%.*s", STR(harness_run_key(&ab->harness)));
    for (size_t i = 0; i < ab->n; i++)
        buf_addf(&b, " %.*s", STR(ab->v[i].candidate->sha256));
    return buf_str(&b);
}

static bool finish(struct ablation *ab)
{
    struct run *r = ab->harness.run;
    struct buf json = { .arena = r->arena };
    struct json_out o = { .b = &json, .indent = 2 };
    json_open(&o, '{');
    json_key_open(&o, S("variants"), '[');
    for (size_t i = 0; i < ab->n; i++) {
        struct paired p = eval_compare(&ab->v[0].result, &ab->v[i].result);
        buf_addf(&ab->report, "  %-34.*s %6.2f %%  gained %lld, lost %lld, p %.4f\n",
                 STR(ab->v[i].name), 100 * ab->v[i].result.success, (long long)p.gained,
                 (long long)p.lost, stats_mcnemar_exact(p.lost, p.gained));
        json_open(&o, '{');
        json_key_str(&o, S("name"), ab->v[i].name);
        json_key_double(&o, S("success_rate"), ab->v[i].result.success);
        json_key_int(&o, S("gained"), p.gained);
        json_key_int(&o, S("lost"), p.lost);
        json_close(&o, '}');
    }
    json_close(&o, ']');
    json_close(&o, '}');
    buf_add_char(&json, '\n');
    r->facts.simulated |= r->lab.used.n_simulated > 0;
    progress_clear();
    str text = buf_str(&json);
    return file_save(path_join(r->config.output_dir, S("ablation.json"), r->arena), text, r->err) &&
           run_close(r, text) &&
           print_str(opt_flag(r->args, "json") ? text : buf_str(&ab->report), r->err);
}

static bool ablate(struct run *r)
{
    struct ablation *ab = NEW(r->arena, struct ablation);
    ab->harness.run = r;
    ab->report.arena = r->arena;
    if (!harness_run_setup(&ab->harness, PUZZLES_FOR_SEARCH) || !make_variants(ab))
        return false;
    r->key_extra = key_of(ab);
    r->phase = "ablating";
    struct eval_batch batch = { .v = ab->v, .n = ab->n };
    if (!run_load_program(r) || !run_begin(r))
        return false;
    return evaluate_all(&r->lab, &ab->harness.setup, &batch, r->err) && finish(ab);
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    return run_command(args, a, ablate, err);
}

static const struct opt opts[] = {
    { "harness", OPT_TEXT, "FILE", "the harness", 0, 0 },
    { "start", OPT_TEXT, "FILE", "what it was made from [builtin:h0]", 0, 0 },
    { 0 },
};
const struct command command_harness_ablate = {
    .name = "harness ablate",
    .summary = "a harness again with each single change reverted",
    .usage = "[CONFIG.yaml] --harness FILE [OPTIONS]",
    .about = "Example: rookery harness ablate --harness runs/mine/harnesses/h4/harness.py "
             "--model sim/sloppy",
    .opts = { opts, opts_rollout, opts_model, opts_run },
    .max_positionals = 1,
    .run = run,
};
