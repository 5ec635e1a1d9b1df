// SPDX-License-Identifier: GPL-3.0-or-later
// contract.c - what the child says of a candidate it has checked or loaded: faults, prompts,
// budgets. The child is not trusted: every member is read with its type and clamped.
#include "harness/harness.h"

enum { VIOLATIONS_MAX = 1000 };

// Told by the audit; of the check, what begins with W is a warning.
static enum level read_level(const json_t *in)
{
    str level = json_get_str(in, "level");
    if (str_eq(level, S("quarantine")))
        return LEVEL_QUARANTINE;
    bool warns = str_eq(level, S("warn")) ||
                 (level.len == 0 && str_starts(json_get_str(in, "rule"), S("W")));
    return warns ? LEVEL_WARN : LEVEL_REJECT;
}

static bool read_violation(const json_t *in, struct arena *a, struct violations *out)
{
    if (!json_is_string(json_object_get(in, "rule")) ||
        !json_is_string(json_object_get(in, "message")) || out->n >= VIOLATIONS_MAX)
        return false;
    *vec_push(a, out) = (struct violation){
        .rule = harness_clean(json_get_str(in, "rule"), a),
        .line = json_get_int(in, "line", 0),
        .col = json_get_int(in, "col", 0),
        .message = harness_clean(json_get_str(in, "message"), a),
        .level = read_level(in),
    };
    return true;
}

static bool read_violations(const json_t *list, struct arena *a, struct violations *out)
{
    size_t i;
    json_t *each;
    *out = (struct violations){ 0 };
    json_array_foreach (json_iterable(list), i, each) {
        if (!read_violation(each, a, out))
            return false;
    }
    return json_is_array(list);
}

static bool bad_form(struct err *err)
{
    return err_set(err, ERR_RUN, "the child's report has another form");
}

bool violations_read(str json, struct arena *a, struct violations *out, struct err *err)
{
    json_t *list = json_read_strict(json, err);
    bool ok = list && read_violations(list, a, out);
    json_decref(list);
    return ok || bad_form(err);
}

// At most so many characters of a prompt; empty counts as absent.
static str read_prompt(const json_t *in, const char *name, str fallback, struct arena *a)
{
    str text = json_get_str(in, name);
    return text.len > 0 ? harness_clean(text, a) : fallback;
}

static int64_t read_budget(const json_t *in, const char *name)
{
    int64_t n = json_get_int(in, name, 1);
    return n < 0 ? 0 : n > HARNESS_BUDGET_MAX ? HARNESS_BUDGET_MAX : n;
}

static bool is_hex(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.data[i] >= '0' && s.data[i] <= '9') || (s.data[i] >= 'a' && s.data[i] <= 'f')))
            return false;
    return true;
}

static bool read_contract(const json_t *in, struct arena *a, struct harness_contract *out,
                          struct violations *faults)
{
    if (!json_is_object(in) || !read_violations(json_object_get(in, "faults"), a, faults))
        return false;
    int64_t turns = json_get_int(in, "max_turns", HARNESS_TURNS);
    *out = (struct harness_contract){
        .system = read_prompt(in, "system", harness_default_system, a),
        .user = read_prompt(in, "user", harness_default_user, a),
        .formats = json_is_true(json_object_get(in, "formats")),
        .parses = json_is_true(json_object_get(in, "parses")),
        .format_retries = read_budget(in, "format_retries"),
        .illegal_retries = read_budget(in, "illegal_retries"),
        .max_turns = turns < 1 ? 1 : turns,
        .has_turns = json_is_integer(json_object_get(in, "max_turns")),
        .code = arena_str(a, json_get_str(in, "code")),
        .unchanged = json_is_true(json_object_get(in, "unchanged")),
    };
    return is_hex(out->code) && utf8_length(out->system) <= HARNESS_PROMPT_MAX_CHARS &&
           utf8_length(out->user) <= HARNESS_PROMPT_MAX_CHARS;
}

bool harness_contract_read(str json, struct arena *a, struct harness_contract *out,
                           struct violations *faults, struct err *err)
{
    json_t *in = json_read_strict(json, err);
    bool ok = in && read_contract(in, a, out, faults);
    json_decref(in);
    return ok || bad_form(err);
}
