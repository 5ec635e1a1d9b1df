// SPDX-License-Identifier: GPL-3.0-or-later
// failure.c - finds the error in a reply body. Servers that call themselves compatible write it in
// a dozen shapes, also under status 200 (field case F-001); here all become one struct failure.
#include "llm/internal.h"

enum {
    TEXT_MAX = 2000,     // of a message; the rest of a long one tells nothing more
    PARKED_MS = 3600000, // longer than a run waits: it stops, and goes on when told so
};

static str text_of(const json_t *value, struct arena *a)
{
    return arena_str(a, text_cut(json_view(value), TEXT_MAX));
}

static void add_code(struct codes *codes, const json_t *value, struct arena *a)
{
    if (json_string_length(value) > 0 && codes->n < FAILURE_CODES_MAX)
        codes->v[codes->n++] = text_of(value, a);
}

// A code that is an HTTP status, as number or as digits; 0: it is not.
static int status_of(const json_t *value)
{
    int64_t status = json_is_integer(value) ? json_integer_value(value) : 0;
    if (json_is_string(value) && !str_to_int(json_view(value), 400, 599, &status))
        return 0;
    return status >= 400 && status <= 599 ? (int)status : 0;
}

static void read_status(const json_t *error, struct failure *out)
{
    static const char *const names[] = { "code", "status", "statusCode" };
    for (size_t i = 0; i < ARRAY_LEN(names) && out->status == 0; i++)
        out->status = status_of(json_object_get(error, names[i]));
}

// Counts and sums that a person wants to see.
static void read_figures(const json_t *from, struct arena *a, struct failure *out)
{
    static const struct {
        const char *name, *words;
    } wanted[] = {
        { "n_prompt_tokens", "prompt tokens" }, { "n_ctx", "window" },
        { "limit_usd", "limit USD" },           { "spend_usd", "spent USD" },
        { "resets_at", "resets at" },
    };
    struct buf b = { .arena = a, .max = TEXT_MAX };
    buf_add(&b, out->figures);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        const json_t *value = json_object_get(from, wanted[i].name);
        if (!json_is_number(value) && !json_is_string(value))
            continue;
        buf_addf(&b, "%s%s ", b.len > 0 ? ", " : "", wanted[i].words);
        if (json_is_string(value))
            buf_add(&b, json_view(value));
        else
            json_put_value(&(struct json_out){ .b = &b }, value);
    }
    out->figures = buf_str(&b);
}

// The error of the provider behind a router: an object, or such an object as text.
static void read_inner(const json_t *raw, struct arena *a, struct failure *out)
{
    json_t *parsed = NULL;
    if (json_is_string(raw)) {
        out->inner_message = text_of(raw, a);
        parsed = json_read_envelope(json_view(raw), NULL, NULL);
        raw = parsed;
    }
    const json_t *error = json_object_get(raw, "error");
    if (!json_is_object(error))
        error = raw;
    if (json_is_object(error)) {
        add_code(&out->inner, json_object_get(error, "code"), a);
        add_code(&out->inner, json_object_get(error, "type"), a);
        if (json_string_length(json_object_get(error, "message")) > 0)
            out->inner_message = text_of(json_object_get(error, "message"), a);
    }
    json_decref(parsed);
}

// OpenRouter's metadata (section 4).
static void read_metadata(const json_t *metadata, struct arena *a, struct failure *out)
{
    read_inner(json_object_get(metadata, "raw"), a, out);
    out->limit_source = text_of(json_object_get(metadata, "limit_source"), a);
    out->moderated = json_array_size(json_object_get(metadata, "reasons")) > 0 ||
                     json_string_length(json_object_get(metadata, "flagged_input")) > 0;
    out->limit_reset =
        text_of(json_object_get(json_object_get(metadata, "headers"), "X-RateLimit-Reset"), a);
    read_figures(metadata, a, out);
}

// Google's list: reasons, a wait, the quotas that are used up. A daily one says no time that can be
// waited for.
static void read_details(const json_t *details, struct arena *a, struct failure *out)
{
    for (size_t i = 0; i < json_array_size(details); i++) {
        const json_t *detail = json_array_get(details, i);
        const json_t *violations = json_object_get(detail, "violations");
        int64_t ms = 0;
        add_code(&out->codes, json_object_get(detail, "reason"), a);
        if (duration_parse(json_get_str(detail, "retryDelay"), &ms) && ms > out->retry_delay_ms)
            out->retry_delay_ms = ms;
        for (size_t v = 0; v < json_array_size(violations); v++)
            if (text_contains(json_get_str(json_array_get(violations, v), "quotaId"), S("PerDay")))
                out->retry_delay_ms = PARKED_MS;
    }
}

static void read_object(const json_t *error, struct arena *a, struct failure *out)
{
    static const char *const messages[] = { "message", "detail", "error" };
    for (size_t i = 0; i < ARRAY_LEN(messages) && out->message.len == 0; i++)
        out->message = text_of(json_object_get(error, messages[i]), a);
    read_status(error, out);
    add_code(&out->codes, json_object_get(error, "code"), a);
    add_code(&out->codes, json_object_get(error, "type"), a);
    add_code(&out->codes, json_object_get(error, "status"), a); // Google's word for it
    add_code(&out->codes, json_object_get(json_object_get(error, "innererror"), "code"), a);
    add_code(&out->codes, json_object_get(json_object_get(error, "details"), "error_code"), a);
    read_details(json_object_get(error, "details"), a, out);
    out->param = text_of(json_object_get(error, "param"), a);
    read_figures(error, a, out);
    read_metadata(json_object_get(error, "metadata"), a, out);
}

// An `error` member that says something: servers also send null, false and "" for "no error".
static const json_t *error_member(const json_t *object)
{
    const json_t *error = json_object_get(object, "error");
    if (json_is_object(error) || json_string_length(error) > 0)
        return error;
    return json_is_array(error) && json_array_size(error) > 0 ? json_array_get(error, 0) : NULL;
}

static const json_t *find_error(const json_t *root)
{
    const json_t *error = error_member(root);
    if (error)
        return error;
    const json_t *choice = json_array_get(json_object_get(root, "choices"), 0);
    static const char *const inside[] = { "message", "delta" };
    error = error_member(choice);
    for (size_t i = 0; i < ARRAY_LEN(inside) && !error; i++)
        error = error_member(json_object_get(choice, inside[i]));
    if (error)
        return error;
    // Flat: {"object":"error","message":..}, a gateway's {"statusCode":401,"message":..}.
    if (str_eq(json_get_str(root, "object"), S("error")) ||
        status_of(json_object_get(root, "statusCode")) != 0)
        return root;
    return NULL;
}

bool failure_read(const json_t *root, struct arena *a, struct failure *out)
{
    *out = (struct failure){ .retry_after_ms = -1, .retry_delay_ms = -1 };
    if (json_is_array(root))
        root = json_array_get(root, 0);
    const json_t *error = find_error(root);
    if (json_is_object(error)) {
        read_object(error, a, out);
        return true;
    }
    // Without an error member: what a refusal by status says of itself, in the usual names.
    static const char *const words[] = { "message", "detail" };
    out->message = text_of(error, a);
    for (size_t i = 0; i < ARRAY_LEN(words) && out->message.len == 0; i++)
        out->message = text_of(json_object_get(root, words[i]), a);
    return error != NULL;
}
