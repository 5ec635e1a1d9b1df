// SPDX-License-Identifier: GPL-3.0-or-later
// classify.c - what a failure means (endpoint specification, sections 3, 4 and 12). Codes decide
// before the status, the status before words: codes are a contract, messages are prose that
// changes. A provider that differs brings its own struct dialect.
#include "llm/internal.h"

// Codes and types that say more than the status. The first row that occurs among the codes of a
// failure decides, so that an empty account is not taken for a rate limit (field case F-056).
static const struct code_rule codes[] = {
    { T("insufficient_quota"), REPLY_ACCOUNT },
    { T("billing_hard_limit_reached"), REPLY_ACCOUNT },
    { T("usage_limit_reached"), REPLY_ACCOUNT },
    { T("credit_balance_exhausted"), REPLY_ACCOUNT },
    { T("invalid_api_key"), REPLY_ACCOUNT },
    { T("context_length_exceeded"), REPLY_CONTEXT_OVERFLOW },
    { T("exceed_context_size_error"), REPLY_CONTEXT_OVERFLOW },
    { T("content_policy_violation"), REPLY_FILTERED },
    { T("content_filter"), REPLY_FILTERED },
    { T("ResponsibleAIPolicyViolation"), REPLY_FILTERED },
    { T("model_not_found"), REPLY_CONFIG },
    { T("DeploymentNotFound"), REPLY_CONFIG },
    { T("unsupported_parameter"), REPLY_CONFIG },
    { T("unsupported_value"), REPLY_CONFIG },
    { T("rate_limit_exceeded"), REPLY_RATE_LIMIT },
    { T("overloaded_error"), REPLY_OVERLOAD },
};

// General types: they decide only where no status does, under a 200.
static const struct code_rule types[] = {
    { T("rate_limit_error"), REPLY_RATE_LIMIT },  { T("authentication_error"), REPLY_ACCOUNT },
    { T("permission_error"), REPLY_ACCOUNT },     { T("billing_error"), REPLY_ACCOUNT },
    { T("invalid_request_error"), REPLY_CONFIG }, { T("not_found_error"), REPLY_CONFIG },
    { T("BadRequestError"), REPLY_CONFIG },       { T("NotFoundError"), REPLY_CONFIG },
    { T("unavailable_error"), REPLY_OVERLOAD },
};

static const struct status_rule {
    int from, to;
    enum reply_class class;
} statuses[] = {
    { 401, 403, REPLY_ACCOUNT }, // key, money, permission
    { 407, 407, REPLY_ACCOUNT }, // of a proxy
    { 408, 409, REPLY_UPSTREAM }, { 425, 425, REPLY_UPSTREAM }, { 429, 429, REPLY_RATE_LIMIT },
    { 503, 503, REPLY_OVERLOAD }, { 529, 529, REPLY_OVERLOAD }, { 300, 499, REPLY_CONFIG },
    { 500, 599, REPLY_UPSTREAM },
};

// Words for "the prompt does not fit" and "filtered" of servers that give no code (F-021).
static const struct code_rule words[] = {
    { T("maximum context length"), REPLY_CONTEXT_OVERFLOW },
    { T("context size has been exceeded"), REPLY_CONTEXT_OVERFLOW },
    { T("exceeds the available context size"), REPLY_CONTEXT_OVERFLOW },
    { T("context_length_exceeded"), REPLY_CONTEXT_OVERFLOW },
    { T("prompt is too long"), REPLY_CONTEXT_OVERFLOW },
    { T("exceeds the maximum number of tokens allowed"), REPLY_CONTEXT_OVERFLOW },
    { T("content management policy"), REPLY_FILTERED },
};

static const struct code_rule *find_code(const struct code_rule *rules, size_t n,
                                         const struct codes *among)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < among->n; j++)
            if (str_eq_nocase(rules[i].word, among->v[j]))
                return &rules[i];
    return NULL;
}

bool failure_has_code(const struct failure *f, str word)
{
    const struct code_rule rule = { word, REPLY_OK };
    return find_code(&rule, 1, &f->codes) != NULL;
}

bool text_contains(str text, str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++)
        if (str_eq_nocase(str_sub(text, i, part.len), part))
            return true;
    return false;
}

enum reply_class classify_status(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (status >= statuses[i].from && status <= statuses[i].to)
            return statuses[i].class;
    return status == 0 ? REPLY_TRANSPORT : REPLY_PROTOCOL;
}

// Only what concerns our request counts in an error that a router passes on: the account and the
// speed in it are the router's, not ours.
static bool classify_inner(const struct failure *f, enum reply_class *out)
{
    const struct code_rule *rule = find_code(codes, ARRAY_LEN(codes), &f->inner);
    if (!rule || (rule->class != REPLY_CONTEXT_OVERFLOW && rule->class != REPLY_FILTERED))
        return false;
    *out = rule->class;
    return true;
}

static enum reply_class classify_words(const struct failure *f, enum reply_class otherwise)
{
    if (otherwise != REPLY_CONFIG && otherwise != REPLY_UPSTREAM)
        return otherwise;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (text_contains(f->message, words[i].word) ||
            text_contains(f->inner_message, words[i].word))
            return words[i].class;
    return otherwise;
}

enum reply_class classify_failure(struct failure *f, const struct dialect *own)
{
    enum reply_class class;
    if (own->first && own->first(f, &class))
        return class;
    const struct code_rule *rule = find_code(codes, ARRAY_LEN(codes), &f->codes);
    if (rule)
        return rule->class;
    if (classify_inner(f, &class))
        return class;
    if (f->status >= 300) {
        class = classify_status(f->status);
    } else {
        rule = find_code(types, ARRAY_LEN(types), &f->codes);
        class = rule ? rule->class : REPLY_UPSTREAM; // an error without a status is theirs
    }
    enum reply_class refined = classify_words(f, class);
    f->by_status = refined == class && f->status >= 300;
    return refined;
}
