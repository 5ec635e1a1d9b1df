// SPDX-License-Identifier: GPL-3.0-or-later
// llm.h - requests, replies, providers, prices. Pure: bytes in and out; the pump sends them.
#pragma once
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
    enum reply_format format;
    const struct signature *signature; // of the answer, for FORMAT_SCHEMA
    double temperature;
    bool has_temperature;
    int64_t max_tokens; // 0: not limited by us
    int64_t sample;
};

// ---- a reply ----

enum reply_class { // endpoint specification section 12; the order is stored nowhere, names are
    REPLY_OK,
    REPLY_TRUNCATED, // scored, with the two above and below
    REPLY_REFUSED,
    REPLY_EMPTY,            // scored after one retry
    REPLY_FILTERED,         // unscored, shown
    REPLY_CONTEXT_OVERFLOW, // unscored, shown
    REPLY_CONFIG,           // our request or settings are wrong: stops the run
    REPLY_ACCOUNT,          // key, permission, money: stops the run
    REPLY_RATE_LIMIT,       // from here on: retried
    REPLY_OVERLOAD,
    REPLY_UPSTREAM,
    REPLY_PROTOCOL,
    REPLY_TRANSPORT,
    REPLY_TIMEOUT,
    REPLY_CANCELLED, // unscored
};
bool reply_is_scored(enum reply_class c);
bool reply_is_retried(enum reply_class c);
str reply_class_name(enum reply_class c); // "ok", "truncated", ... "cancelled"
MUST_CHECK bool reply_class_parse(str name, enum reply_class *out);

enum finish {
    FINISH_UNKNOWN,
    FINISH_STOP,
    FINISH_LENGTH,
    FINISH_FILTERED,
    FINISH_REFUSED,
    FINISH_TOOL,
    FINISH_ERROR
};
enum known { KNOWN_NOT, KNOWN_REPORTED, KNOWN_PRICED, KNOWN_ESTIMATED }; // where a figure is from
struct usage {
    enum known source; // reported or estimated
    int64_t input_tok, cached_tok, cache_write_tok, output_tok, reasoning_tok;
};
struct reply {
    enum reply_class class;
    str text, reasoning; // the answer, and thoughts kept apart (think tags stripped)
    enum finish finish;
    str native_finish, served_model, served_provider, request_id, fingerprint;
    struct usage usage;
    int64_t cost_nusd; // of this call, all its attempts
    enum known cost_source;
    int http_status; // of the last attempt, 0: none or in process
    int attempts;
    int64_t latency_ms;     // of the last attempt
    int64_t retry_after_ms; // the server's hint, -1: none
    str error;              // a sentence without secrets, for classes that are not ok
};
// A reply as one JSON object for the store, and back (texts in `a`).
str reply_to_json(const struct reply *r, struct arena *a);
MUST_CHECK bool reply_from_json(str text, struct arena *a, struct reply *out, struct err *err);

// ---- prices ----

struct price { // US dollars per million tokens
    bool known;
    double input, cached, cache_write, output;
};
// Built-in dated table, by full model name ("openai/gpt-4o-mini"); `.known` false: none.
struct price price_of(str model);
extern const str price_table_date; // "2026-12-01"
// Section 14: (total - cached - write) x in + ..., each term clamped at 0, in nano-dollars.
int64_t price_cost_nusd(const struct price *p, const struct usage *u);
// Tokens without a tokenizer: max(characters / 4, words x 1.3).
int64_t tokens_estimate(str text);

// ---- models and providers ----

struct provider;
struct model { // one configured model; immutable during a run
    str name;  // "openai/gpt-4o-mini"
    str id;    // what the endpoint is told: the part behind the provider
    const struct provider *provider;
    str base_url; // without credentials
    str key;      // secret; never stored, logged or printed
    double temperature;
    bool has_temperature; // false: not sent, the provider's default
    int64_t max_tokens;   // 0: not sent
    enum reply_format format;
    int retries;         // after the first attempt
    int64_t timeout_ms;  // one attempt; 0: the default of section 2
    const json_t *extra; // members added to the body; borrowed; NULL: none
    struct price price;
    bool simulated; // everything printed from it says so
    void *context;  // of an in-process provider: its own data
};
struct http_header {
    str name, value;
};
enum { HTTP_HEADERS_MAX = 8 };
struct http_request {
    str url, body;
    struct http_header headers[HTTP_HEADERS_MAX];
    size_t n_headers;
};
struct http_response {
    int status;    // 0: none arrived
    bool complete; // the body came whole
    str content_type;
    str body;
    int64_t retry_after_ms; // from the headers, -1: none or unusable
    str request_id;
};
struct provider {         // one file and one line in providers[]; builds and parses bytes only
    str name;             // the first part of model names
    str default_base_url; // empty: in process
    str key_env;          // "OPENAI_API_KEY"; empty: no key needed
    bool key_optional;    // a local server: sent where set
    // Exactly one of the two ways:
    bool (*build)(const struct model *m, const struct model_request *q, struct arena *a,
                  struct http_request *out, struct err *err);
    void (*parse)(const struct model *m, const struct http_response *in, struct arena *a,
                  struct reply *out); // always gives a class
    // In process: answers at once and may not wait. False: the run cannot go on.
    bool (*answer)(const struct model *m, const struct model_request *q, struct arena *a,
                   struct reply *out, struct err *err);
    // Called by model_open for in-process providers: checks the id, sets context, price, simulated.
    bool (*open)(struct model *m, struct arena *a, struct err *err);
};
extern const struct provider provider_openai, provider_script;
// HTTP providers and script/; sim is injected by the caller behind them. NULL-terminated.
extern const struct provider *const llm_providers[];

struct model_opts { // zero: nothing set; see the fields of struct model
    str base_url;
    bool has_temperature;
    double temperature;
    int64_t max_tokens;
    bool has_retries;
    int retries;
    int64_t timeout_ms;
    bool has_format;
    enum reply_format format;
    const json_t *extra;
    bool allow_plain_http; // send a key over http to another host than loopback
};
// Finds the provider of "provider/id" in `providers`, the key and ROOKERY_<PROVIDER>_BASE_URL in
// the environment (`getenv_fn`, so that tests pass their own). Unknown provider: ERR_USAGE with
// the nearest known; no key: ERR_ENDPOINT naming the variable.
struct model_source {
    const struct provider *const *providers; // NULL-terminated
    const char *(*getenv_fn)(const char *name);
};
MUST_CHECK bool model_open(str name, const struct model_opts *opts, const struct model_source *from,
                           struct arena *a, struct model *out, struct err *err);
// The request a job makes of a model: its configuration under the job's overrides.
struct model_request model_request_new(const struct model *m, const struct sampling *override,
                                       const struct messages *messages,
                                       const struct signature *signature);
// SHA-256 of the normalised request (model name, messages, sampling, format); no endpoint, no key.
str model_request_hash(const struct model *m, const struct model_request *q, struct arena *a);
// The reuse key of decisions 1.2: request hash, endpoint identity, adapter version, sample.
str model_reuse_key(const struct model *m, const struct model_request *q, struct arena *a);
// Highest cost one attempt of this request can have; 0 when the price is unknown.
int64_t model_request_worst_nusd(const struct model *m, const struct model_request *q);
// Replaces every occurrence of the key (plain, JSON-escaped, percent-encoded, base64) and of
// known key shapes (sk-, AIza, Bearer) in `text` by "[key]".
str secrets_redact(str text, str key, struct arena *a);
