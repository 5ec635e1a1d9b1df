// SPDX-License-Identifier: GPL-3.0-or-later
// The endpoint of simulated models: requests in, replies, errors and faults out, through the
// handler; and once through a real socket.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

#include "simulate/simulate.h"

static struct arena arena;
static struct simulator *plain; // without faults

#define QUESTION                                                                                   \
    "[[ ## position_fen ## ]]\\n6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1\\n\\n"                           \
    "[[ ## legal_moves_uci ## ]]\\nd1d8, d1d7, a1b2\\n\\nRespond with a JSON object in the "       \
    "following order of fields: `move`."
#define CHAT "\"messages\":[{\"role\":\"user\",\"content\":\"" QUESTION "\"}]"
#define ASK "{\"model\":\"sim-strong\",\"temperature\":0," CHAT "}"

static struct simulator *simulator(const char *faults)
{
    struct simulator *s = NULL;
    struct err err = { 0 };
    struct simulate_opts opts = { .faults = str_from(faults) };
    if (!simulator_new(&opts, &s, &err))
        fail_msg("%s", err.text);
    return s;
}

static int setup(void **s)
{
    (void)s;
    plain = simulator("");
    return 0;
}

static int teardown(void **s)
{
    (void)s;
    simulator_free(plain);
    simulator_free(NULL);
    arena_free(&arena);
    return 0;
}

static struct serve_reply call(struct simulator *s, const char *method, const char *path, str body)
{
    struct serve_request in = { .method = str_from(method), .path = str_from(path), .body = body };
    struct serve_reply out;
    simulator_handle(s, &in, &arena, &out);
    return out;
}

static struct serve_reply post(struct simulator *s, str body)
{
    return call(s, "POST", "/v1/chat/completions", body);
}

static json_t *parse(str body)
{
    struct err err = { 0 };
    json_t *value = json_read_strict(body, &err);
    if (!value)
        fail_msg("%s: %.*s", err.text, STR(body));
    return value;
}

// The text of the path "a.0.b" as JSON text; empty: there is no such member.
static str at(str body, const char *path)
{
    json_t *root = parse(body);
    const json_t *value = root;
    str rest = str_from(path);
    while (rest.len > 0 && value) {
        str key = arena_str(&arena, str_cut(&rest, '.'));
        int64_t index;
        value = str_to_int(key, 0, 1000, &index) ? json_array_get(value, (size_t)index)
                                                 : json_object_get(value, key.data);
    }
    struct buf b = { .arena = &arena };
    struct json_out o = { .b = &b };
    if (value)
        json_put_value(&o, value);
    json_decref(root);
    return buf_str(&b);
}

static str header(const struct serve_reply *r, const char *name)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eq_nocase(r->headers[i].name, str_from(name)))
            return r->headers[i].value;
    return (str){ 0 };
}

// ---- replies ----

static void a_completion_has_the_members_of_the_wire_format(void **s)
{
    (void)s;
    struct serve_reply r = post(plain, S(ASK));
    assert_int_equal(r.status, 200);
    assert_str(r.content_type, S("application/json"));
    assert_str(at(r.body, "object"), S("\"chat.completion\""));
    assert_str(at(r.body, "model"), S("\"sim-strong\""));
    assert_str(at(r.body, "simulated"), S("true"));
    assert_str(at(r.body, "choices.0.index"), S("0"));
    assert_str(at(r.body, "choices.0.message.role"), S("\"assistant\""));
    assert_str(at(r.body, "choices.0.message.refusal"), S("null"));
    assert_str(at(r.body, "choices.0.finish_reason"), S("\"stop\""));
    assert_true(str_find(at(r.body, "choices.0.message.content"), S("move")) >= 0);
    assert_true(str_starts(at(r.body, "id"), S("\"chatcmpl-")));
    int64_t in = 0;
    int64_t out = 0;
    int64_t all = 0;
    assert_true(str_to_int(at(r.body, "usage.prompt_tokens"), 20, 200, &in));
    assert_true(str_to_int(at(r.body, "usage.completion_tokens"), 1, 50, &out));
    assert_true(str_to_int(at(r.body, "usage.total_tokens"), 1, 300, &all));
    assert_int_equal(in + out, all);
}

static void the_endpoint_answers_as_the_model_in_process(void **s)
{
    (void)s;
    struct message m = { ROLE_USER, S("[[ ## position_fen ## ]]\n"
                                      "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1\n\n"
                                      "[[ ## legal_moves_uci ## ]]\nd1d8, d1d7, a1b2\n\n"
                                      "Respond with a JSON object in the following order of "
                                      "fields: `move`.") };
    struct model_request q = { .messages = { &m, 1, 1 }, .has_temperature = true };
    struct reply direct;
    sim_answer(sim_persona(sim_data_builtin(&arena), S("strong")), &q, &arena, &direct);
    struct buf want = { .arena = &arena };
    buf_add_json(&want, direct.text);
    assert_str(at(post(plain, S(ASK)).body, "choices.0.message.content"), buf_str(&want));
}

static void the_same_request_has_the_same_bytes(void **s)
{
    (void)s;
    assert_str(post(plain, S(ASK)).body, post(plain, S(ASK)).body);
}

static void unknown_members_null_and_text_parts_are_fine(void **s)
{
    (void)s;
    str parts =
        S("{\"model\":\"sim-strong\",\"temperature\":0,\"x\":{\"y\":[1]},\"stop\":null,"
          "\"max_tokens\":null,\"stream\":false,\"tools\":[],\"messages\":[{\"role\":"
          "\"user\",\"name\":\"n\",\"content\":[{\"type\":\"text\",\"text\":\"" QUESTION "\"}]}]}");
    assert_str(at(post(plain, parts).body, "choices.0.message.content"),
               at(post(plain, S(ASK)).body, "choices.0.message.content"));
    str developer = S("{\"model\":\"sim-strong\",\"messages\":[{\"role\":\"developer\",\"content\":"
                      "\"Play.\"},{\"role\":\"user\",\"content\":\"hi\"}]}");
    assert_int_equal(post(plain, developer).status, 200);
}

static void several_choices_are_several_samples(void **s)
{
    (void)s;
    struct serve_reply r =
        post(plain, S("{\"model\":\"sim-sloppy\",\"n\":16,\"temperature\":1.5," CHAT "}"));
    bool differ = false;
    for (int i = 1; i < 16; i++) {
        const char *path = arena_printf(&arena, "choices.%d.message.content", i).data;
        assert_true(at(r.body, path).len > 0);
        differ |= !str_eq(at(r.body, path), at(r.body, "choices.0.message.content"));
    }
    assert_true(differ);
    assert_int_equal(at(r.body, "choices.16").len, 0);
}

static void a_token_limit_ends_with_length(void **s)
{
    (void)s;
    struct serve_reply r =
        post(plain, S("{\"model\":\"sim-strong\",\"max_completion_tokens\":1," CHAT "}"));
    assert_str(at(r.body, "choices.0.finish_reason"), S("\"length\""));
    assert_str(at(r.body, "usage.completion_tokens"), S("1"));
}

static void models_are_listed_as_simulated(void **s)
{
    (void)s;
    struct serve_reply r = call(plain, "GET", "/v1/models", S(""));
    assert_int_equal(r.status, 200);
    assert_str(at(r.body, "data.0.id"), S("\"sim-responsive\""));
    assert_str(at(r.body, "data.0.simulated"), S("true"));
    assert_str(at(r.body, "data.5.id"), S("\"sim-strong\""));
}

// ---- errors ----

static void bad_requests_are_400_and_say_which_member(void **s)
{
    (void)s;
    static const struct {
        const char *body, *param;
    } rows[] = {
        { "", "null" },
        { "{", "null" },
        { "[]", "null" },
        { "{\"model\":\"sim-strong\"} x", "null" },
        { "{\"model\":5," CHAT "}", "\"model\"" },
        { "{\"model\":\"sim-strong\"}", "\"messages\"" },
        { "{\"model\":\"sim-strong\",\"messages\":[]}", "\"messages\"" },
        { "{\"model\":\"sim-strong\",\"messages\":\"hi\"}", "\"messages\"" },
        { "{\"model\":\"sim-strong\",\"messages\":[7]}", "\"messages[0].role\"" },
        { "{\"model\":\"sim-strong\",\"messages\":[{\"role\":\"tool\",\"content\":\"\"}]}",
          "\"messages[0].role\"" },
        { "{\"model\":\"sim-strong\",\"messages\":[{\"role\":\"user\"}]}",
          "\"messages[0].content\"" },
        { "{\"model\":\"sim-strong\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
          "\"image_url\"}]}]}",
          "\"messages[0].content\"" },
        { "{\"model\":\"sim-strong\",\"temperature\":\"0\"," CHAT "}", "\"temperature\"" },
        { "{\"model\":\"sim-strong\",\"temperature\":2.1," CHAT "}", "\"temperature\"" },
        { "{\"model\":\"sim-strong\",\"temperature\":-1," CHAT "}", "\"temperature\"" },
        { "{\"model\":\"sim-strong\",\"max_tokens\":0," CHAT "}", "\"max_tokens\"" },
        { "{\"model\":\"sim-strong\",\"max_tokens\":1.5," CHAT "}", "\"max_tokens\"" },
        { "{\"model\":\"sim-strong\",\"n\":17," CHAT "}", "\"n\"" },
        { "{\"model\":\"sim-strong\",\"seed\":\"a\"," CHAT "}", "\"seed\"" },
        { "{\"model\":\"sim-strong\",\"stream\":true,\"n\":2," CHAT "}", "\"n\"" },
        { "{\"model\":\"sim-strong\",\"tools\":[{}]," CHAT "}", "\"tools\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct serve_reply r = post(plain, str_from(rows[i].body));
        if (r.status != 400 || !str_eq(at(r.body, "error.param"), str_from(rows[i].param)))
            fail_msg("row %zu: %d %.*s", i, r.status, STR(r.body));
        assert_str(at(r.body, "error.type"), S("\"invalid_request_error\""));
        assert_true(at(r.body, "error.message").len > 10);
    }
}

static void an_unknown_model_is_404_model_not_found(void **s)
{
    (void)s;
    static const char *const names[] = { "gpt-4o-mini", "sim-", "sim-nobody", "responsive", "" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct serve_reply r =
            post(plain, arena_printf(&arena, "{\"model\":\"%s\"," CHAT "}", names[i]));
        assert_int_equal(r.status, 404);
        assert_str(at(r.body, "error.code"), S("\"model_not_found\""));
    }
}

static void a_wrong_key_is_401(void **s)
{
    (void)s;
    struct simulator *locked = NULL;
    struct err err = { 0 };
    assert_true(simulator_new(&(struct simulate_opts){ .require_key = S("k1") }, &locked, &err));
    static const struct {
        const char *authorization;
        int status;
    } rows[] = { { "", 401 },
                 { "Bearer k2", 401 },
                 { "k1", 401 },
                 { "Bearer k1 ", 401 },
                 { "Bearer k1", 200 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct serve_request in = { .method = S("POST"),
                                    .path = S("/v1/chat/completions"),
                                    .body = S(ASK),
                                    .authorization = str_from(rows[i].authorization) };
        struct serve_reply out;
        simulator_handle(locked, &in, &arena, &out);
        assert_int_equal(out.status, rows[i].status);
        if (out.status == 401)
            assert_str(at(out.body, "error.code"), S("\"invalid_api_key\""));
    }
    simulator_free(locked);
}

static void other_paths_and_methods_are_refused(void **s)
{
    (void)s;
    assert_int_equal(call(plain, "GET", "/", S("")).status, 404);
    assert_int_equal(call(plain, "POST", "/v1/chat/completions/", S(ASK)).status, 404);
    struct serve_reply r = call(plain, "GET", "/v1/chat/completions", S(""));
    assert_int_equal(r.status, 405);
    assert_str(header(&r, "Allow"), S("POST"));
    assert_int_equal(call(plain, "DELETE", "/stats", S("")).status, 405);
}

// ---- the other formats ----

#define TURN "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" QUESTION "\"}]}]"
#define PARTS "[{\"role\":\"user\",\"parts\":[{\"text\":\"" QUESTION "\"}]}]"
#define STATE                                                                                      \
    "\"state\":{\"position_fen\":\"6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1\",\"legal_moves_uci\":"       \
    "\"d1d8, d1d7, a1b2\"}"
#define CHOICE(criteria_)                                                                          \
    "\"questions\":{\"move\":{\"type\":\"choice\",\"instructions\":\"Play.\",\"criteria\":"        \
    "{" criteria_ "}}}"
#define GEMINI "/v1beta/models/sim-strong:generateContent"

static void every_format_brings_the_same_answer(void **s)
{
    (void)s;
    static const struct {
        const char *path, *body, *where;
    } rows[] = {
        { "/openai/v1/chat/completions", ASK, "choices.0.message.content" },
        { "/openai/deployments/sim-strong/chat/completions", "{\"temperature\":0," CHAT "}",
          "choices.0.message.content" },
        { "/v1/messages",
          "{\"model\":\"sim-strong\",\"max_tokens\":99,\"temperature\":0,\"messages\":" TURN "}",
          "content.0.text" },
        { GEMINI, "{\"contents\":" PARTS ",\"generationConfig\":{\"temperature\":0}}",
          "candidates.0.content.parts.0.text" },
        { "/v1/models/sim-strong:generateContent",
          "{\"contents\":" PARTS ",\"generationConfig\":{\"temperature\":0}}",
          "candidates.0.content.parts.0.text" },
        { "/api/chat",
          "{\"model\":\"sim-strong\",\"stream\":false,\"options\":{\"temperature\":0}," CHAT "}",
          "message.content" },
    };
    str want = at(post(plain, S(ASK)).body, "choices.0.message.content");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct serve_reply r = call(plain, "POST", rows[i].path, str_from(rows[i].body));
        assert_int_equal(r.status, 200);
        assert_str(at(r.body, rows[i].where), want);
        assert_str(at(r.body, "simulated"), S("true"));
    }
}

static void a_decision_is_one_of_the_options_with_shares(void **s)
{
    (void)s;
    struct serve_reply r = call(plain, "POST", "/api/alpha/decisions",
                                S("{\"model\":\"typesafe/jev-sim-strong\"," STATE
                                  "," CHOICE("\"d1d8\":null,\"d1d7\":null,\"a1b2\":null") "}"));
    assert_int_equal(r.status, 200);
    assert_str(at(r.body, "model"), S("\"typesafe/jev-sim-strong\""));
    assert_str(at(r.body, "answers.move.choice"), S("\"d1d8\"")); // the mate
    assert_str(at(r.body, "answers.move.probabilities.d1d8"), S("0.6"));
    assert_str(at(r.body, "answers.move.probabilities.a1b2"), S("0.2"));
    assert_int_equal(at(r.body, "answers.move.probabilities.h7h8").len, 0);
}

static void each_format_refuses_in_its_own_words(void **s)
{
    (void)s;
    static const struct {
        const char *path, *body;
        int status;
        const char *where, *what;
    } rows[] = {
        { "/v1/messages", "{", 400, "error.type", "\"invalid_request_error\"" },
        { "/v1/messages", "{\"model\":\"sim-strong\",\"messages\":" TURN "}", 400, "error.message",
          "\"max_tokens: Field required\"" },
        { "/v1/messages", "{\"model\":\"x\",\"max_tokens\":9,\"messages\":" TURN "}", 404,
          "error.type", "\"not_found_error\"" },
        { "/v1/messages",
          "{\"model\":\"sim-strong\",\"max_tokens\":9,\"messages\":[{\"role\":"
          "\"assistant\",\"content\":\"x\"}]}",
          400, "type", "\"error\"" },
        { "/v1/messages",
          "{\"model\":\"sim-strong\",\"max_tokens\":9,\"messages\":[{\"role\":"
          "\"user\",\"content\":\" \"}]}",
          400, "type", "\"error\"" },
        { "/v1/messages",
          "{\"model\":\"sim-strong\",\"max_tokens\":9,\"temperature\":1.5,"
          "\"messages\":" TURN "}",
          400, "type", "\"error\"" },
        { GEMINI, "{}", 400, "error.status", "\"INVALID_ARGUMENT\"" },
        { GEMINI, "{\"contents\":[{\"role\":\"assistant\",\"parts\":[{\"text\":\"x\"}]}]}", 400,
          "error.code", "400" },
        { GEMINI,
          "{\"contents\":" PARTS ",\"generationConfig\":{\"thinkingConfig\":{"
          "\"thinkingBudget\":1,\"thinkingLevel\":\"low\"}}}",
          400, "error.code", "400" },
        { "/v1beta/models/x:generateContent", "{\"contents\":" PARTS "}", 404, "error.status",
          "\"NOT_FOUND\"" },
        { "/api/chat", "{\"model\":\"x\",\"stream\":false," CHAT "}", 404, "error",
          "\"The model `x` does not exist; see /v1/models.\"" },
        { "/api/alpha/decisions",
          "{\"model\":\"typesafe/jev-sim-strong\"," STATE "," CHOICE("\"d1d8\":null") "}", 400,
          "error.param", "\"questions.move.criteria\"" },
        { "/api/alpha/decisions", "{\"model\":\"typesafe/jev-sim-strong\"," CHOICE("") "}", 400,
          "error.param", "\"state\"" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct serve_reply r = call(plain, "POST", rows[i].path, str_from(rows[i].body));
        if (r.status != rows[i].status ||
            !str_eq(at(r.body, rows[i].where), str_from(rows[i].what)))
            fail_msg("row %zu: %d %.*s", i, r.status, STR(r.body));
    }
    assert_int_equal(call(plain, "GET", "/v1/messages", S("")).status, 405);
    assert_int_equal(call(plain, "POST", "/v1beta/models/:generateContent", S("{}")).status, 404);
}

static void a_stream_adds_up_to_the_whole_reply(void **s)
{
    (void)s;
    struct serve_reply r =
        post(plain, S("{\"model\":\"sim-strong\",\"temperature\":0,\"stream\":"
                      "true,\"stream_options\":{\"include_usage\":true}," CHAT "}"));
    assert_str(r.content_type, S("text/event-stream"));
    assert_true(str_ends(r.body, S("data: [DONE]\n\n")));
    struct buf text = { .arena = &arena };
    struct buf want = { .arena = &arena };
    str usage = { 0 };
    for (str rest = r.body; rest.len > 0;) {
        str line = str_cut_line(&rest);
        if (!str_starts(line, S("data: {")))
            continue;
        json_t *event = parse(str_sub(line, 6, line.len));
        const json_t *choice = json_array_get(json_object_get(event, "choices"), 0);
        buf_add(&text, json_get_str(json_object_get(choice, "delta"), "content"));
        json_decref(event);
        usage = str_sub(line, 6, line.len);
    }
    buf_add_json(&want, buf_str(&text));
    assert_str(at(post(plain, S(ASK)).body, "choices.0.message.content"), buf_str(&want));
    assert_str(at(usage, "usage"), at(post(plain, S(ASK)).body, "usage"));
}

// ---- faults ----

static struct serve_reply with_fault(const char *kind)
{
    struct simulator *s = simulator(arena_printf(&arena, "%s:1", kind).data);
    struct serve_reply r = post(s, S(ASK));
    str stats = call(s, "GET", "/stats", S("")).body;
    assert_str(at(stats, "requests"), S("1"));
    assert_str(at(stats, "ok"), S("0"));
    assert_str(at(stats, arena_printf(&arena, "faults.%s", kind).data), S("1"));
    simulator_free(s);
    return r;
}

// The path reader takes "429" for an index; the whole text is searched instead.
static struct serve_reply with_numeric_fault(const char *kind)
{
    struct simulator *s = simulator(arena_printf(&arena, "%s:1", kind).data);
    struct serve_reply r = post(s, S(ASK));
    str stats = call(s, "GET", "/stats", S("")).body;
    assert_true(str_find(stats, arena_printf(&arena, "\"%s\": 1", kind)) >= 0);
    simulator_free(s);
    return r;
}

static void refusing_faults_have_their_status_and_error_object(void **s)
{
    (void)s;
    struct serve_reply r = with_numeric_fault("429");
    assert_int_equal(r.status, 429);
    assert_str(at(r.body, "error.code"), S("\"rate_limit_exceeded\""));
    assert_int_equal(r.n_headers, 0);
    r = with_fault("429ra");
    assert_int_equal(r.status, 429);
    str wait = header(&r, "Retry-After");
    assert_true(str_eq(wait, S("0")) || str_eq(wait, S("1")));
    assert_int_equal(with_numeric_fault("500").status, 500);
    assert_int_equal(with_numeric_fault("503").status, 503);
    r = with_fault("body502");
    assert_int_equal(r.status, 200);
    assert_str(at(r.body, "error.code"), S("502"));
}

static void transport_faults_set_how_the_reply_ends(void **s)
{
    (void)s;
    assert_int_equal(with_fault("cut").end, SERVE_CUT);
    assert_int_equal(with_fault("reset").end, SERVE_RESET);
    assert_int_equal(with_fault("stall").end, SERVE_STALL);
    struct serve_reply slow = with_fault("slow");
    assert_int_equal(slow.end, SERVE_WHOLE);
    assert_in_range(slow.delay_ms, 200, 900);
    assert_str(slow.body, post(plain, S(ASK)).body);
}

static void spoilt_bodies_are_spoilt(void **s)
{
    (void)s;
    struct serve_reply r = with_fault("html");
    assert_int_equal(r.status, 200);
    assert_true(str_starts(r.content_type, S("text/html")));
    assert_true(str_starts(r.body, S("<!DOCTYPE html>")));
    r = with_fault("empty");
    assert_int_equal(r.status, 200);
    assert_int_equal(r.body.len, 0);
    r = with_fault("badutf8");
    assert_int_equal(r.status, 200);
    assert_false(utf8_valid(r.body));
    assert_true(str_find(r.body, S("\"content\":\"\xFF\xC3")) > 0);
}

static void a_gzip_body_unpacks_to_the_reply(void **s)
{
    (void)s;
    struct serve_reply r = with_fault("gzip");
    assert_str(header(&r, "Content-Encoding"), S("gzip"));
    char name[] = "/tmp/rookery-gzip-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, r.body.data, r.body.len), (ssize_t)r.body.len);
    close(fd);
    str unpacked = read_gz(str_from(name), &arena);
    unlink(name);
    assert_str(unpacked, post(plain, S(ASK)).body);
}

static void faults_follow_the_seed_and_the_number_of_the_request(void **s)
{
    (void)s;
    struct simulator *a = simulator("429:0.3,500:0.2,seed=7");
    struct simulator *b = simulator("429:0.3,500:0.2,seed=7");
    struct simulator *c = simulator("429:0.3,500:0.2,seed=8");
    int n[3] = { 0 };
    int differ = 0;
    for (int i = 0; i < 1000; i++) {
        int status = post(a, S(ASK)).status;
        assert_int_equal(status, post(b, S(ASK)).status);
        differ += status != post(c, S(ASK)).status;
        n[status == 429 ? 0 : status == 500 ? 1 : 2]++;
    }
    assert_in_range(n[0], 250, 350);
    assert_in_range(n[1], 150, 250);
    assert_in_range(n[2], 450, 550);
    assert_true(differ > 300);
    str stats = call(a, "GET", "/stats", S("")).body;
    assert_str(at(stats, "requests"), S("1000"));
    assert_str(at(stats, "ok"), arena_printf(&arena, "%d", n[2]));
    assert_true(str_find(stats, arena_printf(&arena, "\"429\": %d", n[0])) > 0);
    simulator_free(a);
    simulator_free(b);
    simulator_free(c);
}

static void refused_requests_are_counted_as_refused(void **s)
{
    (void)s;
    struct simulator *sim = simulator("reset:1");
    assert_int_equal(post(sim, S("{")).status, 400);
    assert_int_equal(post(sim, S(ASK)).end, SERVE_RESET);
    str stats = call(sim, "GET", "/stats", S("")).body;
    assert_str(at(stats, "requests"), S("2"));
    assert_str(at(stats, "refused"), S("1"));
    assert_str(at(stats, "faults.reset"), S("1"));
    simulator_free(sim);
}

static void bad_fault_lists_are_usage_errors(void **s)
{
    (void)s;
    static const struct {
        const char *faults, *says;
    } rows[] = {
        { "teapot:0.1", "badutf8" },        { "429", "429:PROBABILITY" },
        { "429:x", "429:PROBABILITY" },     { "429:-0.1", "429:PROBABILITY" },
        { "429:1.1", "429:PROBABILITY" },   { "429:0.6,500:0.6", "more than 1" },
        { "429:0.1,429:0.1", "twice" },     { "seed=x", "whole number" },
        { "429:0.1,,500:0.1", "no fault" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct simulator *sim = NULL;
        struct err err = { 0 };
        struct simulate_opts opts = { .faults = str_from(rows[i].faults) };
        assert_false(simulator_new(&opts, &sim, &err));
        assert_int_equal(err.code, ERR_USAGE);
        if (str_find(str_from(err.text), str_from(rows[i].says)) < 0)
            fail_msg("row %zu: %s", i, err.text);
    }
    simulator_free(simulator("429:0.7, 500:0.2, reset:0.1, seed=3"));
}

static void the_latency_is_given_or_modelled(void **s)
{
    (void)s;
    static const struct {
        int64_t given, low, high;
    } rows[] = { { 0, 0, 0 }, { 25, 25, 25 }, { -1, 200, 899 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct simulator *sim = NULL;
        struct err err = { 0 };
        struct simulate_opts opts = { .latency_ms = rows[i].given };
        assert_true(simulator_new(&opts, &sim, &err));
        assert_in_range(post(sim, S(ASK)).delay_ms, rows[i].low, rows[i].high);
        simulator_free(sim);
    }
}

static void a_client_on_a_socket_gets_its_completion(void **s)
{
    (void)s;
    struct server *server = NULL;
    struct err err = { 0 };
    int port = 0;
    struct serve_opts opts = { .handler = simulator_handle, .context = plain };
    assert_true(server_start(&opts, &server, &port, &err));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    str request = arena_printf(&arena,
                               "POST /v1/chat/completions HTTP/1.1\r\nHost: t\r\n"
                               "Connection: close\r\nContent-Length: %zu\r\n\r\n" ASK,
                               sizeof ASK - 1);
    assert_int_equal(send(fd, request.data, request.len, MSG_NOSIGNAL), (ssize_t)request.len);
    struct buf answer = { .arena = &arena };
    char piece[4096];
    for (ssize_t n; (n = recv(fd, piece, sizeof piece, 0)) > 0;)
        buf_add(&answer, (str){ piece, (size_t)n });
    close(fd);
    server_stop(server);
    str text = buf_str(&answer);
    ptrdiff_t end = str_find(text, S("\r\n\r\n"));
    assert_true(str_starts(text, S("HTTP/1.1 200 ")) && end > 0);
    assert_str(str_sub(text, (size_t)end + 4, text.len), post(plain, S(ASK)).body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_completion_has_the_members_of_the_wire_format),
        cmocka_unit_test(the_endpoint_answers_as_the_model_in_process),
        cmocka_unit_test(the_same_request_has_the_same_bytes),
        cmocka_unit_test(unknown_members_null_and_text_parts_are_fine),
        cmocka_unit_test(several_choices_are_several_samples),
        cmocka_unit_test(a_token_limit_ends_with_length),
        cmocka_unit_test(models_are_listed_as_simulated),
        cmocka_unit_test(bad_requests_are_400_and_say_which_member),
        cmocka_unit_test(an_unknown_model_is_404_model_not_found),
        cmocka_unit_test(a_wrong_key_is_401),
        cmocka_unit_test(other_paths_and_methods_are_refused),
        cmocka_unit_test(refusing_faults_have_their_status_and_error_object),
        cmocka_unit_test(transport_faults_set_how_the_reply_ends),
        cmocka_unit_test(spoilt_bodies_are_spoilt),
        cmocka_unit_test(a_gzip_body_unpacks_to_the_reply),
        cmocka_unit_test(faults_follow_the_seed_and_the_number_of_the_request),
        cmocka_unit_test(refused_requests_are_counted_as_refused),
        cmocka_unit_test(bad_fault_lists_are_usage_errors),
        cmocka_unit_test(the_latency_is_given_or_modelled),
        cmocka_unit_test(a_client_on_a_socket_gets_its_completion),
        cmocka_unit_test(every_format_brings_the_same_answer),
        cmocka_unit_test(a_decision_is_one_of_the_options_with_shares),
        cmocka_unit_test(each_format_refuses_in_its_own_words),
        cmocka_unit_test(a_stream_adds_up_to_the_whole_reply),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
