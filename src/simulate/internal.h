// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - what the files of module simulate share: faults, and the wire formats seen from the
// endpoint. A wire format is one file and one line a path in wire.c.
#pragma once
#include "chess/chess.h"
#include "simulate/simulate.h"

struct wire; // below

// ---- faults.c ----

enum fault {
    SIM_FAULT_NONE,
    SIM_FAULT_429,
    SIM_FAULT_429RA,
    SIM_FAULT_500,
    SIM_FAULT_503,
    SIM_FAULT_BODY502,
    SIM_FAULT_CUT,
    SIM_FAULT_RESET,
    SIM_FAULT_STALL,
    SIM_FAULT_SLOW,
    SIM_FAULT_HTML,
    SIM_FAULT_EMPTY,
    SIM_FAULT_BADUTF8,
    SIM_FAULT_GZIP,
    SIM_FAULT_SSE_COMMENTS, // harms nothing but readers of streams
    SIM_FAULT_KINDS,
};
struct fault_plan {
    double chance[SIM_FAULT_KINDS];
    uint64_t seed;
};
extern const char *const fault_names[SIM_FAULT_KINDS]; // "429", ...; the first is "ok"

MUST_CHECK bool fault_plan_parse(str spec, struct fault_plan *out, struct err *err);
// What happens to the request of this number, and `detail`, a number for whatever the fault leaves
// open. The same plan and number always give the same.
enum fault fault_draw(const struct fault_plan *plan, uint64_t number, uint64_t *detail);
// Turns the true reply into what the fault makes of it.
struct fault_case {
    enum fault fault;
    uint64_t detail;
    const struct wire *wire; // of the reply
};
void fault_apply(const struct fault_case *f, struct arena *a, struct serve_reply *out);

// ---- wire.c: what all formats have in common ----

struct completion {              // one answer asked for, in any format
    const struct sim_data *data; // set by the caller
    str model;
    const struct persona *persona;
    struct model_request request;
    int64_t n;                  // answers
    bool stream, stream_usage;  // in pieces; with the counts (OpenAI)
    struct completion_options { // of a decision
        str *v;
        size_t n, cap;
    } options;
    bool has_position; // of a decision
    struct position position;
};
struct wire_error { // in any format; param and code: empty for null
    int status;
    str message, type, param, code;
};
struct reader { // of one request: where it goes and what was wrong with it
    const struct wire *wire;
    struct arena *a;
    struct completion *q;
    struct serve_reply *out;
};
struct wire {
    bool (*read)(const struct reader *r, const json_t *body); // false: refused, r->out says why
    void (*reply)(const struct completion *q, const struct reply *answers, struct arena *a,
                  struct serve_reply *out);
    // The same in pieces, of one answer; NULL: it is never asked for.
    void (*stream)(const struct completion *q, const struct reply *answer, struct arena *a,
                   struct serve_reply *out);
    void (*error)(const struct wire_error *e, struct arena *a, struct serve_reply *out);
    bool has_own_key;      // in a header of its own, not as a bearer
    const char *text_mark; // what stands before the answer's text in a reply
};
extern const struct wire wire_openai, wire_anthropic, wire_gemini, wire_gemini_stream,
    wire_decision, wire_ollama;
// The format that is spoken at a path, NULL: none. `model`: its name, where the path holds it.
const struct wire *wire_find(str path, str *model);
// Reads a request. False: `out` is the error reply. q->model is set where the path holds it.
MUST_CHECK bool wire_parse(const struct wire *w, str body, struct arena *a, struct completion *q,
                           struct serve_reply *out);

// Parts of readers: false, an error reply made.
bool wire_refuse(const struct reader *r, str param, str message);
bool wire_read_model(const struct reader *r, str name);
// A content is a text, or text parts in an array.
bool wire_read_content(const json_t *content, struct arena *a, str *out);
// An array of {"role","content"}.
bool wire_read_messages(const struct reader *r, const json_t *list);
bool wire_read_temperature(const struct reader *r, const json_t *value, double max);
// An integer member from `min`; absent or null leaves `*out` alone.
bool wire_read_int(const struct reader *r, const json_t *body, const char *key, int64_t min,
                   int64_t *out);
void wire_add_message(const struct reader *r, enum role role, str text);
// A finished reply.
void wire_send(int status, struct buf *body, struct serve_reply *out);
// Parts of streams: the next few characters of a text; an event (`name` may be NULL); the end.
str wire_piece(str *rest);
void wire_event(struct buf *stream, const char *name, struct buf *json);
void wire_send_stream(struct buf *stream, struct serve_reply *out);
void wire_models(const struct sim_data *data, struct arena *a, struct serve_reply *out);
