// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of this module share: URLs, the meaning of failures, and the OpenAI
// adapter that compatible endpoints reuse. A new provider is one file and one line in model.c.
#pragma once
#include "llm/llm.h"
#include "llm/reading.h"

enum {
    REQUEST_MAX_BYTES = 32 << 20, // a request body; far above any context window
    UNLIMITED_OUTPUT_TOK = 32768, // taken as the longest answer where no limit is set
    LOCAL_OUTPUT_TOK = 4096,      // a local server without a limit never ends (sections 9, 10)
    RETRIES_DEFAULT = 5,          // section 13: six attempts
};

// ---- url.c ----

// Checks a base URL and writes it as struct model keeps it. ERR_USAGE, which never shows the URL
// where it may hold a secret.
MUST_CHECK bool url_base(str text, struct arena *a, str *out, struct err *err);
// `base` + `version` ("/v1"), unless its path has a version or a deployment, + `path`; the query
// stays last. A base that ends with `path` already is kept.
str url_join(str base, str version, str path, struct arena *a);
// Whether `id` may stand in a path as it is: letters, digits, '-', '.', '_'. ERR_USAGE.
MUST_CHECK bool url_id_check(const struct model *m, struct err *err);
bool url_is_https(str base);
str url_without_query(str url); // for people and logs

// ---- hint.c ----

// How long the server asks us to wait, from all its headers; -1: no usable hint (section 13).
int64_t retry_hint_ms(const struct http_response_headers *h);
// "6m0s", "1s", "120ms", "17.4s", rounded up.
bool duration_parse(str text, int64_t *ms);

// ---- body.c: parts of request bodies ----

bool model_streams(const struct model *m); // extra.stream: true

// The JSON schema of an answer: every object closed, every property required.
void schema_write(struct json_out *o, const struct signature *s, str name, struct arena *a);
// The members of `extra` that are sent, in an object that the caller releases; the same, written.
json_t *extra_sent(const json_t *extra);
void extra_write(struct json_out *o, const json_t *extra);
struct refused { // a member that `extra` may not hold, and what to do instead
    const char *key, *instead;
};
// ERR_USAGE when `extra` holds one of the n members.
MUST_CHECK bool extra_check(const struct model *m, const struct refused *rows, size_t n,
                            struct err *err);
// Puts the finished body and its content type into `out`. ERR_LIMIT: it is too large.
MUST_CHECK bool request_make(const struct model *m, struct buf *body, struct http_request *out,
                             struct err *err);
void request_header(struct http_request *out, str name, str value);

// ---- openai.c, openai_reply.c ----

enum { OPENAI_VERSION = 1 }; // of the adapter, for every compatible endpoint
bool openai_build(const struct model *m, const struct model_request *q, struct arena *a,
                  struct http_request *out, struct err *err);
// The same, to the URL that `out` holds and without a key.
bool openai_build_at(const struct model *m, const struct model_request *q, struct arena *a,
                     struct http_request *out, struct err *err);
void openai_parse(const struct model *m, const struct model_request *q,
                  const struct http_response *in, struct arena *a, struct reply *out);
void openai_content(const struct reading *r, const json_t *root);
enum finish openai_finish(str native);
void openai_counts(const json_t *usage, struct counts *out);
void openai_stream_add(struct pieces *p, const json_t *event);
void openai_stream_end(struct pieces *p);
#define OPENAI_DIALECT                                                                             \
    .content = openai_content, .finish = openai_finish, .usage = "usage", .counts = openai_counts, \
    .stream_add = openai_stream_add, .stream_end = openai_stream_end
bool openai_open(struct model *m, struct arena *a, struct err *err);
extern const struct provider provider_openrouter, provider_azure, provider_anthropic,
    provider_gemini, provider_decision, provider_vllm, provider_llamacpp, provider_ollama,
    provider_ollama_v1;

// ---- the rest ----

// key_forms.c
#define KEY_MASK "[key]"
enum { KEY_FORMS_MAX = 7 };
struct key_forms { // what to look for in texts
    str v[KEY_FORMS_MAX];
    size_t n;
    // Bits of the forms that have a byte first, or second, and one for escapes: where the two of
    // neighbours have no bit in common, no form begins.
    unsigned char first[256], second[256];
};
// Of a key shorter than 4 bytes there are none: it would be found everywhere. Texts in `a`.
void key_forms_of(str key, struct arena *a, struct key_forms *out);
// Bytes that the key takes at the begin of `rest`: plain, with any of its characters as JSON or
// URLs escape them, or in base64; 0: it is not there.
size_t key_length(const struct key_forms *f, str rest);
// `text` with KEY_MASK for every occurrence; `text` itself, the same pointer, where there is none.
str key_mask(str text, const struct key_forms *f, struct arena *a);
// False: a placeholder like "EMPTY" or "anything", short or one word. What a model says may hold
// that by chance, and must not be changed.
bool key_is_secret(str key);
// redact.c: something looks like a key: sk-..., AIza..., Bearer ...
bool text_has_key_shape(str text);
// redact.c: at most `max` bytes of `text`, cut at a blank, so that no half of a secret is left
// which nothing would find any more.
str text_cut(str text, size_t max);
// `text` fit for an error sentence: valid UTF-8, one line, cut, without secrets.
str error_text(str text, str key, struct arena *a);
// reply_json.c
// Takes the model's key, if it is secret, out of every text of a reply, and notes that.
void reply_mask_key(struct reply *r, str key, struct arena *a);
// Adds a remark to the reply's note.
void reply_add_note(struct reply *r, str what, struct arena *a);
MUST_CHECK bool reply_from_value(const json_t *value, struct arena *a, struct reply *out,
                                 struct err *err);
// The limit on answer tokens that a request sends, 0: none.
int64_t request_output_limit(const struct model *m, const struct model_request *q);

// ---- price_table.c: the embedded file, generated from data/ ----

extern const unsigned char llm_prices_data[];
extern const size_t llm_prices_size;
