// SPDX-License-Identifier: GPL-3.0-or-later
// azure.c - Azure OpenAI (endpoint specification, section 6): the OpenAI format at a resource of
// the user's own, under one of two routes. The older one names the deployment in the path and needs
// an api-version in the query; the newer one is /openai/v1 and takes the deployment as the model.
// The base URL tells which: with an api-version, the older; without, the newer.
#include "llm/internal.h"

enum { MINUTE_MS = 60000 };
static const str v1 = T("/v1");
static const str deployments = T("/deployments/");
static const str completions = T("/chat/completions");

static bool has_api_version(str query)
{
    query = str_sub(query, 1, query.len); // without its question mark
    while (query.len > 0)
        if (str_starts(str_cut(&query, '&'), S("api-version=")))
            return true;
    return false;
}

// The base may stop at the resource, at /openai, at /openai/v1 or at the deployment.
static str azure_url(const struct model *m, struct arena *a)
{
    str front = url_without_query(m->base_url);
    str query = str_sub(m->base_url, front.len, m->base_url.len);
    if (str_ends(front, completions))
        return m->base_url;
    if (str_ends(front, v1) || str_find(front, deployments) >= 0)
        return arena_printf(a, "%.*s%.*s%.*s", STR(front), STR(completions), STR(query));
    const char *openai = str_ends(front, S("/openai")) ? "" : "/openai";
    if (has_api_version(query))
        return arena_printf(a, "%.*s%s%.*s%.*s%.*s%.*s", STR(front), openai, STR(deployments),
                            STR(m->id), STR(completions), STR(query));
    return arena_printf(a, "%.*s%s%.*s%.*s%.*s", STR(front), openai, STR(v1), STR(completions),
                        STR(query));
}

// A token of Entra is a JWT: three parts in base64, the first of which begins with `{"`.
static bool is_token(str key)
{
    str rest = key;
    (void)str_cut(&rest, '.');
    return str_starts(key, S("eyJ")) && str_find_char(rest, '.') >= 0;
}

static bool azure_build(const struct model *m, const struct model_request *q, struct arena *a,
                        struct http_request *out, struct err *err)
{
    *out = (struct http_request){ .url = azure_url(m, a) };
    if (!openai_build_at(m, q, a, out, err))
        return false;
    if (is_token(m->key))
        request_header(out, S("Authorization"), arena_printf(a, "Bearer %.*s", STR(m->key)));
    else if (m->key.len > 0)
        request_header(out, S("api-key"), m->key);
    return true;
}

// Elsewhere the code of an empty account; here, with a short wait, that of the minute's limit.
static bool azure_first(const struct failure *f, enum reply_class *out)
{
    bool soon = f->retry_after_ms >= 0 && f->retry_after_ms <= MINUTE_MS;
    for (size_t i = 0; i < f->codes.n; i++)
        if (soon && str_eq_nocase(f->codes.v[i], S("insufficient_quota"))) {
            *out = REPLY_RATE_LIMIT;
            return true;
        }
    return false;
}

static str azure_advice(const struct reading *r, const struct failure *f)
{
    if (f->status != 404)
        return (str){ 0 };
    return arena_printf(r->a,
                        "check that %.*s is the name of a deployment, and that %.*s is the "
                        "resource's, with an api-version or with /openai/v1",
                        STR(r->m->id), STR(url_without_query(r->m->base_url)));
}

static const struct dialect dialect = { OPENAI_DIALECT, .first = azure_first,
                                        .advise = azure_advice };

static void azure_parse(const struct model *m, const struct model_request *q,
                        const struct http_response *in, struct arena *a, struct reply *out)
{
    reply_read(&(struct reading){ m, q, in, a, &dialect, out });
}

// Whether the base names another deployment than the model's name does.
static bool names_another(const struct model *m, str front)
{
    ptrdiff_t at = str_find(front, deployments);
    str rest = at < 0 ? (str){ 0 } : str_sub(front, (size_t)at + deployments.len, front.len);
    return at >= 0 && !str_eq(str_cut(&rest, '/'), m->id);
}

static bool azure_open(struct model *m, struct arena *a, struct err *err)
{
    str front = url_without_query(m->base_url);
    str query = str_sub(m->base_url, front.len, m->base_url.len);
    if (names_another(m, front))
        return err_set(err, ERR_USAGE,
                       "%.*s: the base URL names another deployment; let it end before "
                       "/deployments, or give that name as the model's",
                       STR(m->name));
    if (str_find(front, deployments) >= 0 && !has_api_version(query))
        return err_set(err, ERR_USAGE,
                       "%.*s: a base URL with a deployment needs ?api-version=, such as "
                       "?api-version=2024-10-21",
                       STR(m->name));
    return url_id_check(m, err) && openai_open(m, a, err);
}

const struct provider provider_azure = {
    .name = T("azure"),
    .key_env = T("AZURE_OPENAI_API_KEY"),
    .streams = true,
    .version = OPENAI_VERSION,
    .build = azure_build,
    .parse = azure_parse,
    .open = azure_open,
};
