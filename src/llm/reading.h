// SPDX-License-Identifier: GPL-3.0-or-later
// reading.h - reading replies, inside this module: what a failure means, what all replies have in
// common, and the dialect in which an endpoint writes its own.
#pragma once
#include "llm/llm.h"

// ---- failure.c, classify.c ----

struct dialect; // below
struct reading;
enum { FAILURE_CODES_MAX = 4 };
struct codes {
    str v[FAILURE_CODES_MAX];
    size_t n;
};
struct failure {        // what an error says, whatever its shape; texts in the reader's arena
    int status;         // the body's own code where that is an HTTP status, else the response's
    struct codes codes; // code, type, inner code: words, in that order
    struct codes inner; // of the error of another provider that this one only passes on
    str message, inner_message, param;
    str limit_source;       // OpenRouter: which limit was hit
    str limit_reset;        // OpenRouter: the header of that name, as told in the body
    str figures;            // counts worth showing: tokens, window, money
    bool moderated;         // OpenRouter: reasons or the flagged text are given
    int64_t retry_after_ms; // the wait that the server asks for, from headers and body; -1: none
    int64_t retry_delay_ms; // of these, what the body says; -1: nothing
    bool by_status;         // set by classify_failure: nothing but the status decided
};
// Finds the error in a reply: at top level, flat, in a choice, in an array. False: there is none.
bool failure_read(const json_t *root, struct arena *a, struct failure *out);

struct code_rule {
    str word;
    enum reply_class class;
};
// Section 12: codes, then status, then (last resort) words of the message.
enum reply_class classify_failure(struct failure *f, const struct dialect *own);
bool failure_has_code(const struct failure *f, str word); // in any case of letters
// Whether `part` stands in `text`, in any case of letters.
bool text_contains(str text, str part);
// The class of a bare HTTP status (not 2xx).
enum reply_class classify_status(int status);

// ---- reading.c, prices.c: what all replies have in common ----

struct counts { // of tokens, as section 14 wants them; -1: not told
    int64_t input, output, cached, cache_write, reasoning;
};
struct texts { // of a message, still in pieces
    struct buf answer, reasoning, refusal;
};
struct pieces {    // of a streamed reply
    json_t *whole; // the reply as it would have come in one
    struct texts texts;
    bool ended; // its end was there
};
struct dialect { // how an endpoint writes its replies, where it differs from others
    // Reads a body that holds no error: texts, finish, usage, class.
    void (*content)(const struct reading *r, const json_t *root);
    enum finish (*finish)(str native);
    const char *usage; // the member that holds the counts; NULL: the body itself
    void (*counts)(const json_t *usage, struct counts *out); // sets what it finds
    // The meaning of a failure before all tables, or NULL; false: the tables decide.
    bool (*first)(const struct failure *f, enum reply_class *out);
    str (*advise)(const struct reading *r, const struct failure *f); // of REPLY_CONFIG, or NULL
    // A stream's event added, and the texts put into the whole at its end; NULL: never streamed.
    void (*stream_add)(struct pieces *p, const json_t *event);
    void (*stream_end)(struct pieces *p);
    bool zero_tokens_fail;   // no token and no text is a failure of the route, not an answer
    bool errors_are_private; // bodies of errors may echo secrets: only status and class are kept
};
struct reading { // one reply being read
    const struct model *m;
    const struct model_request *q;
    const struct http_response *in;
    struct arena *a;
    const struct dialect *dialect;
    struct reply *out;
};
void reply_read(const struct reading *r);
struct finish_row {
    const char *native;
    enum finish finish;
};
enum finish finish_find(const struct finish_row *rows, size_t n, str native);
void reply_fail(const struct reading *r, enum reply_class class, str error);
// The class of a reply whose texts, finish and usage are set. `refusal`: the model's words, if any.
void reply_settle_class(const struct reading *r, str refusal);
// Thoughts that a server left in the content, <think>...</think> at its begin, go to `reasoning`;
// the rest is returned. Without an end all of it is thought: the limit cut it.
str think_split(str content, struct buf *reasoning);
// A text member, in the reader's arena.
str member_text(const struct reading *r, const json_t *object, const char *name);
// Usage and cost of a reply whose text is set; what is not told is estimated.
void usage_settle(const struct reading *r, const json_t *root);
// A count of tokens; -1: not told.
int64_t count_of(const json_t *object, const char *name);

// ---- stream.c ----

bool stream_is(const struct http_response *in);
// A streamed body as the reply it adds up to, or its error; NULL: it failed as the reply now tells.
json_t *stream_fold(const struct reading *r);
// Keeps a member of an event, the last one that says something.
void pieces_keep(struct pieces *p, const json_t *event, const char *name);
json_t *text_new(struct buf *text);
