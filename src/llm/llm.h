// SPDX-License-Identifier: GPL-3.0-or-later
// llm.h - requests, replies, providers, prices. Pure: bytes in and out; the pump sends them.
#pragma once
#include "llm/reply.h"
#include "prompt/prompt.h"

// ---- a request ----

enum reply_format {     // capability mode of a model (few-shot specification 1.9)
    FORMAT_NONE,        // no response_format
    FORMAT_JSON_OBJECT, // {"type":"json_object"}
    FORMAT_SCHEMA,      // {"type":"json_schema",...}, re-asked once as json_object
};
struct sampling { // zero: all of the model's configuration
    bool has_temperature;
    double temperature;
    int64_t sample; // rollout id: tells repeated calls apart, part of hashes, never sent
};
struct model_request {
    struct messages messages;
    const struct program *program; // what the messages render, for endpoints that read no chat;
    const str *inputs;             // with its inputs. NULL: a question of another making
    enum reply_format format;
    const struct signature *signature; // of the answer, for FORMAT_SCHEMA; NULL: free text
    double temperature;
    bool has_temperature;
    int64_t max_tokens; // 0: not limited by us
    int64_t sample;
};

// ---- prices ----

struct price { // US dollars per million tokens
    bool known;
    double input, cached, cache_write, output;
    str date; // of the table it is from; empty: of none
};
struct prices { // by full model name; the first that fits holds
    struct priced_model {
        str name;
        struct price price;
    } * v;
    size_t n, cap;
};
enum { PRICES_MAX_BYTES = 1 << 20 };
// Adds the models of a price file as data/prices.json is one. ERR_INPUT names model and member.
MUST_CHECK bool prices_read(str text, struct arena *a, struct prices *out, struct err *err);
void prices_builtin(struct arena *a, struct prices *out); // adds those
// Dated names, and those behind a router, cost what the plain ones do.
struct price price_of(const struct prices *p, str model);
// Section 14: (total - cached - write) x in + ..., each term clamped at 0, in nano-dollars.
int64_t price_cost_nusd(const struct price *p, const struct usage *u);
int64_t tokens_estimate(str text); // max(characters / 4, words x 1.3), rounded up

// ---- models and providers ----

struct model {    // one configured model; immutable during a run
    str name, id; // "openai/gpt-4o-mini" and what the endpoint is told: the part behind the slash
    const struct provider *provider;
    str base_url; // no slash at the end, a query kept; never holds credentials
    str identity; // what else tells this endpoint apart in reuse keys: the hash of a script
    str key;      // secret; never stored, logged or printed
    double temperature;
    bool has_temperature; // false: not sent, the provider's default
    int64_t max_tokens;   // 0: not sent (a local server, which would not end: set to 4096)
    enum reply_format format;
    int retries;        // after the first attempt
    int64_t timeout_ms; // one attempt; 0: the default of section 2
    // Members added to the body; borrowed; NULL: none. Two of them are ours: `priced_as` names the
    // model of the price table that is behind this one; `stream: true` lets replies come in pieces.
    const json_t *extra;
    struct price price;
    bool simulated; // everything printed from it says so
    void *context;  // of an in-process provider: its own data
};
enum { HTTP_HEADERS_MAX = 8, RESPONSE_MAX_BYTES = 64 << 20 }; // section 2
struct http_request {
    str url, body;
    struct http_header {
        str name, value;
    } headers[HTTP_HEADERS_MAX];
    size_t n_headers;
    bool streamed; // the reply comes in pieces: a long silence ends it, not its length
};
struct http_response_headers { // values as they came; empty: absent
    str retry_after, retry_after_ms, should_retry, date, request_id;
    str ratelimit_reset; // OpenRouter: milliseconds since 1970
    str remaining_requests, remaining_tokens, reset_requests, reset_tokens; // x-ratelimit-..., and
    // Anthropic's, whose resets are dates
};
// Retry-After as milliseconds: seconds, or an HTTP date measured against the response's own Date
// (past: 0). False: garbage, negative, or a date without a Date.
bool retry_after_parse(str value, str date_header, int64_t *ms);
bool http_date_parse(str text, int64_t *unix_ms); // the three forms of RFC 9110 5.6.7
// How long until the longer of the resets whose remaining requests or tokens do not suffice for
// another call of `tok` tokens; -1: they do, or nothing is said of it.
int64_t rate_pause_ms(const struct http_response_headers *h, int64_t tok);
struct http_response {
    int status;    // 0: none arrived
    bool complete; // the body came whole
    str content_type, body;
    struct http_response_headers headers;
};
struct provider {         // one file and one line in providers[]; builds and parses bytes only
    str name;             // the first part of model names
    str default_base_url; // empty: in process, or to be configured
    str key_env;          // "OPENAI_API_KEY"; empty: no key needed
    bool key_optional;    // a local server: no key needed, sent where set; costs nothing
    bool no_json_mode;    // knows no JSON mode without a schema
    bool streams;         // takes `stream`
    bool chooses;         // writes no text: chooses one of 2 to 255 legal moves, without sampling
    int version;          // of the adapter: raise it when build or parse change; in reuse keys
    // Exactly one of the two ways:
    bool (*build)(const struct model *m, const struct model_request *q, struct arena *a,
                  struct http_request *out, struct err *err);
    // Always gives a class, never the caller's: attempts, latency_ms. `q` serves estimates. No
    // text holds the key, but for a placeholder: under 8 bytes, or a word of under 16.
    void (*parse)(const struct model *m, const struct model_request *q,
                  const struct http_response *in, struct arena *a, struct reply *out);
    // In process: answers at once. False: the run cannot go on.
    bool (*answer)(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err);
    // Called last by model_open, or NULL. Checks id, extra; in process: sets context, price, ...
    bool (*open)(struct model *m, struct arena *a, struct err *err);
};
// script/FILE: JSON Lines {"match":{"input":TEXT,"call":N,"sample":N},"reply":{..} or "text":".."};
// the first line whose conditions hold answers, none is ERR_INPUT. `input` stands in the last user
// message ("*" or absent: any), `call` is 1 for the re-ask of a model set to schema, else 0.
extern const struct provider provider_openai, provider_script;
extern const struct provider *const llm_providers[]; // HTTP and script/; then NULL

struct model_source {
    const struct provider *const *providers;    // NULL-terminated
    const char *(*getenv_fn)(const char *name); // tests pass their own
};
struct model_opts { // zero: nothing set, but for `from`; see the fields of struct model
    const struct model_source *from;
    str base_url;
    bool has_temperature, has_retries, has_format;
    bool format_if_known; // `format` is a default: FORMAT_NONE where the endpoint has no such mode
    double temperature;
    int64_t max_tokens, timeout_ms;
    int retries;
    enum reply_format format;
    const json_t *extra;         // borrowed
    const struct prices *prices; // NULL: the built-in ones
    bool allow_plain_http;       // send a key over http to another host than loopback
    bool no_key;                 // nothing will be sent: a missing key is no error
};
// Finds provider, key and (unless opts name one) ROOKERY_<PROVIDER>_BASE_URL. ERR_USAGE: unknown
// provider (the nearest is named), secrets in base URL or `extra`, a key over plain http;
// ERR_ENDPOINT: no key. The last two: unless the host is loopback.
MUST_CHECK bool model_open(str name, const struct model_opts *opts, struct arena *a,
                           struct model *out, struct err *err);
// Whether no member's name or value is a secret's (section 16); ERR_USAGE names it, not its value.
MUST_CHECK bool extra_has_no_secret(const json_t *extra, str key, struct err *err);
bool url_is_loopback(str url); // by name or number, without asking a resolver
// The request a job makes of a model: its configuration under the job's overrides (NULL: none).
// Without a signature the answer is free text: no response_format. Borrows all.
struct model_request model_request_new(const struct model *m, const struct sampling *override,
                                       const struct messages *messages,
                                       const struct signature *signature);
// SHA-256 of the normalised request: model, messages, sampling, format, extra; not of the endpoint.
str model_request_hash(const struct model *m, const struct model_request *q, struct arena *a);
// The reuse key of decisions 1.2: request hash, endpoint identity, adapter version, sample.
str model_reuse_key(const struct model *m, str request_hash, struct arena *a);
// Highest cost of one attempt (a token is a byte or more; no limit: 32,768); 0: price unknown.
int64_t model_request_worst_nusd(const struct model *m, const struct model_request *q);
// `text` with "[key]" for the key (4 bytes and more; any form of section 16) and for key shapes.
str secrets_redact(str text, str key, struct arena *a);
