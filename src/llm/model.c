// SPDX-License-Identifier: GPL-3.0-or-later
// model.c - from "provider/id", settings and environment to a configured model, and from a model to
// a request. All that can be wrong with a model's configuration is found here, before the first
// call is paid for.
#include <math.h>

#include "llm/internal.h"

// A new provider is one line here.
const struct provider *const llm_providers[] = {
    &provider_openai,    &provider_openrouter, &provider_azure,  &provider_anthropic,
    &provider_gemini,    &provider_decision,   &provider_vllm,   &provider_llamacpp,
    &provider_ollama_v1, &provider_ollama,     &provider_script, NULL,
};

// ---- names ----

static str known_names(const struct provider *const *providers, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; providers[i]; i++)
        buf_addf(&b, "%s%.*s", i > 0 ? ", " : "", STR(providers[i]->name));
    return buf_str(&b);
}

static bool provider_unknown(str name, const struct provider *const *providers, struct arena *a,
                             struct err *err)
{
    struct nearest near = { .word = name };
    for (size_t i = 0; providers[i]; i++)
        nearest_offer(&near, providers[i]->name);
    str known = known_names(providers, a);
    if (near.name.len > 0)
        return err_set(err, ERR_USAGE,
                       "unknown provider \"%.*s\": did you mean %.*s? (known: %.*s)", STR(name),
                       STR(near.name), STR(known));
    return err_set(err, ERR_USAGE, "unknown provider \"%.*s\" (known: %.*s)", STR(name),
                   STR(known));
}

static bool name_is_plain(str name)
{
    enum { NAME_MAX_BYTES = 1024 };
    for (size_t i = 0; i < name.len;) {
        uint32_t code;
        bool valid;
        i += utf8_decode(str_sub(name, i, name.len), &code, &valid);
        if (!valid || utf8_is_obeyed(code))
            return false;
    }
    return name.len <= NAME_MAX_BYTES;
}

static bool set_name(str name, const struct model_source *from, struct arena *a, struct model *out,
                     struct err *err)
{
    if (!name_is_plain(name))
        return err_set(err, ERR_USAGE,
                       "a model name may not hold control characters, broken UTF-8 "
                       "or more than 1,024 bytes");
    str id = name;
    str provider = str_cut(&id, '/');
    if (provider.len == 0 || id.len == 0)
        return err_set(err, ERR_USAGE,
                       "model \"%.*s\": write provider/model, like openai/gpt-4o-mini (known "
                       "providers: %.*s)",
                       STR(name), STR(known_names(from->providers, a)));
    out->name = arena_str(a, name);
    out->id = arena_str(a, id);
    for (size_t i = 0; from->providers[i] && !out->provider; i++)
        if (str_eq(from->providers[i]->name, provider))
            out->provider = from->providers[i];
    return out->provider || provider_unknown(provider, from->providers, a, err);
}

// ---- settings ----

static bool is_local(const struct model *m)
{
    return m->provider->key_optional;
}

static bool set_format(const struct model_opts *o, struct model *out, struct err *err)
{
    const struct provider *p = out->provider;
    out->format = o->has_format ? o->format : FORMAT_NONE;
    if (out->format == FORMAT_NONE ||
        !(p->chooses || (p->no_json_mode && out->format == FORMAT_JSON_OBJECT)))
        return true;
    out->format = FORMAT_NONE;
    return o->format_if_known ||
           err_set(err, ERR_USAGE, "%.*s: this endpoint has no %s: choose %s", STR(out->name),
                   p->chooses ? "answer formats" : "JSON mode without a schema",
                   p->chooses ? "none" : "none or schema");
}

static bool set_options(const struct model_opts *o, struct model *out, struct err *err)
{
    if (o->has_temperature && !(isfinite(o->temperature) && o->temperature >= 0))
        return err_set(err, ERR_USAGE, "%.*s: temperature must be a number from 0", STR(out->name));
    if (o->max_tokens < 0 || o->timeout_ms < 0 || (o->has_retries && o->retries < 0))
        return err_set(err, ERR_USAGE,
                       "%.*s: max_tokens, retries and the time-out must not be "
                       "negative",
                       STR(out->name));
    if (o->extra && !json_is_object(o->extra))
        return err_set(err, ERR_USAGE, "%.*s: extra must be a mapping", STR(out->name));
    out->has_temperature = o->has_temperature;
    out->temperature = o->temperature;
    out->max_tokens = o->max_tokens;
    if (is_local(out) && out->max_tokens == 0)
        out->max_tokens = LOCAL_OUTPUT_TOK;
    out->retries = o->has_retries ? o->retries : RETRIES_DEFAULT;
    out->timeout_ms = o->timeout_ms;
    out->extra = o->extra;
    return set_format(o, out, err);
}

// ---- endpoint ----

// ROOKERY_<PROVIDER>_BASE_URL
static str base_variable(const struct model *m, struct arena *a)
{
    struct buf b = { .arena = a };
    buf_add(&b, S("ROOKERY_"));
    for (size_t i = 0; i < m->provider->name.len; i++)
        buf_add_char(&b, ascii_upper(m->provider->name.data[i]));
    buf_add(&b, S("_BASE_URL"));
    return buf_str(&b);
}

static bool key_is_plain(str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (key.data[i] <= 0x20 || key.data[i] >= 0x7f)
            return false;
    return true;
}

static bool set_key(const struct model_opts *opts, struct arena *a, struct model *out,
                    struct err *err)
{
    str variable = out->provider->key_env;
    if (variable.len == 0)
        return true;
    str key = str_trim(str_from(opts->from->getenv_fn(arena_str(a, variable).data)));
    if (!key_is_plain(key))
        return err_set(err, ERR_ENDPOINT,
                       "%.*s holds a blank, a line break or another character "
                       "that no key has; set it again",
                       STR(variable));
    bool needed = !opts->no_key && !is_local(out) && !url_is_loopback(out->base_url);
    if (key.len == 0 && needed)
        return err_set(err, ERR_ENDPOINT, "%.*s needs a key: set %.*s in the environment",
                       STR(out->name), STR(variable));
    out->key = arena_str(a, key);
    return true;
}

static bool set_endpoint(const struct model_opts *opts, struct arena *a, struct model *out,
                         struct err *err)
{
    const struct model_source *from = opts->from;
    bool in_process = out->provider->answer != NULL;
    if (in_process && opts->base_url.len > 0)
        return err_set(err, ERR_USAGE,
                       "%.*s answers inside this program: a base URL does not apply",
                       STR(out->name));
    if (in_process)
        return true;
    str variable = base_variable(out, a);
    str base = opts->base_url.len > 0 ? opts->base_url : str_from(from->getenv_fn(variable.data));
    if (base.len == 0)
        base = out->provider->default_base_url;
    if (base.len == 0)
        return err_set(err, ERR_USAGE,
                       "%.*s: this provider has no URL that serves everybody: give --base-url, or "
                       "set %.*s",
                       STR(out->name), STR(variable));
    if (!url_base(base, a, &out->base_url, err))
        return err_add(err, "%.*s", STR(out->name));
    if (!set_key(opts, a, out, err))
        return false;
    if (out->key.len > 0 && !url_is_https(out->base_url) && !url_is_loopback(out->base_url) &&
        !opts->allow_plain_http)
        return err_set(err, ERR_USAGE,
                       "%.*s: the key would travel unencrypted to %.*s; use https://, or give "
                       "--allow-http",
                       STR(out->name), STR(url_without_query(out->base_url)));
    return true;
}

// Pieces come over the wire only, and where the provider can be asked for them.
static bool stream_is_possible(const struct model *m, struct err *err)
{
    const json_t *stream = json_object_get(m->extra, "stream");
    if (stream && !json_is_boolean(stream))
        return err_set(err, ERR_USAGE, "%.*s: extra.stream must be true or false", STR(m->name));
    return !json_is_true(stream) || m->provider->streams ||
           err_set(err, ERR_USAGE,
                   "%.*s: replies of this provider are read whole: leave stream out", STR(m->name));
}

static bool extra_is_clean(const struct model *m, struct err *err)
{
    if (!stream_is_possible(m, err))
        return false;
    return extra_has_no_secret(m->extra, m->key, err) || err_add(err, "%.*s", STR(m->name));
}

// A local server costs nothing, unless the table has a price for it.
static bool set_price(const struct prices *prices, struct arena *a, struct model *m,
                      struct err *err)
{
    struct prices builtin = { 0 };
    str priced_as = json_get_str(m->extra, "priced_as");
    if (!prices)
        prices_builtin(a, &builtin);
    m->price = price_of(prices ? prices : &builtin, priced_as.len > 0 ? priced_as : m->name);
    m->price.known |= is_local(m);
    return priced_as.len == 0 || m->price.known ||
           err_set(err, ERR_USAGE, "%.*s: priced_as names %s, whose price is not known",
                   STR(m->name), str_show(priced_as, 60).text);
}

bool model_open(str name, const struct model_opts *opts, struct arena *a, struct model *out,
                struct err *err)
{
    *out = (struct model){ 0 };
    if (!set_name(name, opts->from, a, out, err) || !set_options(opts, out, err) ||
        !set_endpoint(opts, a, out, err) || !extra_is_clean(out, err))
        return false;
    return set_price(opts->prices, a, out, err) &&
           (!out->provider->open || out->provider->open(out, a, err));
}

struct model_request model_request_new(const struct model *m, const struct sampling *override,
                                       const struct messages *messages,
                                       const struct signature *signature)
{
    struct model_request q = {
        .messages = *messages,
        .format = signature ? m->format : FORMAT_NONE,
        .signature = signature,
        .temperature = m->temperature,
        .has_temperature = m->has_temperature,
        .max_tokens = m->max_tokens,
    };
    if (override) {
        q.sample = override->sample;
        if (override->has_temperature) {
            q.has_temperature = true;
            q.temperature = override->temperature;
        }
    }
    return q;
}
