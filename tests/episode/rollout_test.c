// SPDX-License-Identifier: GPL-3.0-or-later
// The worked rollouts of the Meta-Harness specification, 7.5: a scripted policy, candidates in the
// real sandbox, and every event, message and metric as it is written there.
#include "sandbox/sandboxed.h"

#include "episode/episode.h"
#include "harness/fixtures.h"

#define T0 REQUIRED "SYSTEM_PROMPT = 'SYS'\nUSER_PROMPT = '{observation}\\nAnswer:'\n"
#define NO_MOVE HARNESS_NO_MOVE
#define F5E5 "<move>f5e5</move>"
#define E5E6 "<move>e5e6</move>"
#define T1(p)                                                                                      \
    "The verifier could not parse exactly one UCI move from \"" p "\". Reply with exactly one "    \
    "move, e.g. <move>e2e4</move>, and no explanation."
#define T4(p)                                                                                      \
    "The parsed move \"" p "\" is not legal in the current board. Choose one move from the "       \
    "visible legal moves and reply only as <move>uci</move>."
#define T10_E2F1 "Correct. Opponent replied e2f1 (Kf1). Continue with the next move."
#define T6 "Puzzle failed: the legal move did not match the puzzle continuation."

struct said { // of the scripted policy; the script ends with a NULL text
    const char *text;
    int64_t tokens; // -1: no usage is told
    enum reply_class class;
};
struct play { // what a test wants, and what it gets
    bool p1;  // else P2
    const char *source;
    const struct said *script;
    struct rollout_opts opts;
    const str *line; // another hidden line than the puzzle's
    size_t n_line;
    // results, in `a`
    struct arena a;
    const struct outcome *outcome;
    const struct rollout_record *r;
    str messages[24];
    int64_t max_tokens[24];
    int calls;
};

static const str p1_line[] = { T("b7h1") };
static const str p2_line[] = { T("f5e5"), T("e2f1"), T("e5e6") };

static struct position after(const char *fen, const char *trigger)
{
    struct position pos;
    move m;
    struct err err = { 0 };
    assert_int_equal(position_parse(str_from(fen), &pos, &err), FAULT_NONE);
    assert_true(uci_parse(&pos, str_from(trigger), &m));
    return position_after(&pos, m);
}

static struct rollout_puzzle puzzle_of(const struct play *p)
{
    struct rollout_puzzle out = {
        .at = p->p1 ? after("6k1/1q4p1/p2P2B1/8/5Q1P/6P1/P6K/4r3 w - - 5 36", "f4f2")
                    : after("8/4R3/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 w - - 1 64", "e7f7"),
        .line = p->p1 ? p1_line : p2_line,
        .n = p->p1 ? ARRAY_LEN(p1_line) : ARRAY_LEN(p2_line),
    };
    if (p->line) {
        out.line = p->line;
        out.n = p->n_line;
    }
    return out;
}

static void answer_policy(struct play *p, const struct ask *ask, struct answer *in)
{
    struct buf b = { .arena = &p->a };
    struct json_out o = { .b = &b };
    const struct said *line = &p->script[p->calls];
    if (!line->text)
        fail_msg("asked more often than the script answers");
    messages_write(&ask->model.messages, &o);
    p->messages[p->calls] = buf_str(&b);
    p->max_tokens[p->calls++] = ask->model.max_tokens;
    in->model = (struct reply){ .class = line->class, .text = str_from(line->text) };
    if (line->tokens >= 0)
        in->model.usage = (struct usage){ .source = KNOWN_REPORTED, .output_tok = line->tokens };
}

static void answer_harness(struct play *p, const struct ask *ask, struct cell **cell,
                           struct answer *in)
{
    if (!*cell)
        *cell = loaded(ask->harness.candidate->source, &p->a);
    cell_call(*cell, &ask->harness.call);
    if (cell_wait(*cell, &p->a, &in->harness.result) == CELL_ANSWERED)
        return;
    in->harness.ending = cell_end(*cell) == CELL_WALL ? HARNESS_BUSY : HARNESS_DIED;
    in->harness.how = cell_end_text(*cell, &p->a);
    cell_free(*cell);
    *cell = NULL;
}

static void run(struct play *p)
{
    str source = str_from(p->source ? p->source : T0);
    struct examination e = examined(source, &p->a);
    if (e.verdict != VERDICT_PASS)
        fail_msg("%.*s", STR(findings_text(&e, &p->a)));
    struct candidate *candidate = NEW(&p->a, struct candidate);
    *candidate = (struct candidate){ .source = source, .contract = e.contract };
    struct rollout_input *input = NEW(&p->a, struct rollout_input);
    *input = (struct rollout_input){ &p->opts, candidate, puzzle_of(p), 3 };
    struct model *model = NEW(&p->a, struct model);
    struct job *job = NEW(&p->a, struct job);
    *job = (struct job){ .kind = &episode_rollout, .input = input, .model = model };
    struct episode *ep = episode_new(job, &p->a);
    struct cell *cell = NULL;
    struct ask ask;
    struct answer in;
    bool first = true;
    while (job->kind->step(ep, first ? NULL : &in, &ask) == STEP_ASK) {
        first = false;
        in = (struct answer){ 0 };
        if (ask.to == TO_MODEL)
            answer_policy(p, &ask, &in);
        else
            answer_harness(p, &ask, &cell, &in);
    }
    cell_free(cell);
    p->outcome = &ep->outcome;
    p->r = job->kind->copy_record(ep->outcome.record, &p->a);
}

#define PLAY(name, ...)                                                                            \
    static const struct said name##_script[] = { __VA_ARGS__, { 0 } };                             \
    struct play name = { .script = name##_script }

// The trace without what the specification's listing leaves out.
static void assert_trace(const struct play *p, const char *const *want, size_t n)
{
    static const char *const left_out[] = { "raw_response",  "tool_response",
                                            "default_parse", "token_source",
                                            "finish_reason", "truncated",
                                            "example_index", "seq" };
    struct arena a = { 0 };
    assert_int_equal(p->r->events.n, n);
    for (size_t i = 0; i < n; i++) {
        struct buf b = { .arena = &a };
        struct json_out o = { .b = &b };
        struct err err = { 0 };
        rollout_event_write(&p->r->events.v[i], 3, i, &o);
        json_t *got = json_read_strict(buf_str(&b), &err);
        json_t *wanted = json_read_strict(str_from(want[i]), &err);
        assert_non_null(got);
        assert_non_null(wanted);
        for (size_t k = 0; k < ARRAY_LEN(left_out); k++)
            json_object_del(got, left_out[k]);
        if (!json_equal(got, wanted))
            fail_msg("event %zu: %.*s\nwant %s", i, STR(buf_str(&b)), want[i]);
        json_decref(got);
        json_decref(wanted);
    }
    arena_free(&a);
}

static void assert_end(const struct play *p, enum rollout_stop stop, int64_t calls, int64_t tokens)
{
    if (p->r->stop != stop)
        fail_msg("stopped by %.*s, want %.*s", STR(rollout_stop_name(p->r->stop)),
                 STR(rollout_stop_name(stop)));
    assert_int_equal(p->r->calls, calls);
    if (tokens >= 0)
        assert_int_equal(p->r->tokens, tokens);
    assert_true(p->outcome->score == (stop == STOPPED_SOLVED ? 1 : 0));
}

static const struct rollout_event *last(const struct play *p)
{
    return &p->r->events.v[p->r->events.n - 1];
}

static size_t events_from(const struct play *p, const char *source)
{
    size_t n = 0;
    for (size_t i = 0; i < p->r->events.n; i++)
        n += p->r->events.v[i].actor == ACTOR_HARNESS &&
             str_eq(p->r->events.v[i].source, str_from(source));
    return n;
}

static void ra_a_solved_puzzle(void **s)
{
    (void)s;
    PLAY(p, { "<move>b7h1</move>", 9, 0 });
    p.p1 = true;
    run(&p);
    assert_end(&p, STOPPED_SOLVED, 1, 9);
    assert_int_equal(p.r->correct_moves, 1);
    assert_str(last(&p)->tool, S("Correct. Puzzle solved."));
    arena_free(&p.a);
}

static const struct said rb_script[] = { { "I think the rook should move.", 12, 0 },
                                         { F5E5, 9, 0 },
                                         { "<move>e5e8</move>", 9, 0 },
                                         { "[e5e6]", 5, 0 },
                                         { 0 } };

static void rb_the_trace_with_both_retries(void **s)
{
    (void)s;
    static const char *const trace[] = {
        "{\"actor\":\"assistant\",\"policy_call\":1,\"parsed_action\":\"__no_move__\","
        "\"completion_tokens\":12,\"assistant_tokens_used\":12}",
        "{\"actor\":\"verifier\",\"policy_call\":1,\"terminal\":false,\"outcome\":\"retry_format\","
        "\"stop_condition\":\"format_retry\",\"info\":{\"parsed_action\":\"__no_move__\","
        "\"format_retries_used\":1}}",
        "{\"actor\":\"assistant\",\"policy_call\":2,\"parsed_action\":\"f5e5\","
        "\"completion_tokens\":9,\"assistant_tokens_used\":21}",
        "{\"actor\":\"verifier\",\"policy_call\":2,\"terminal\":false,"
        "\"outcome\":\"correct_continue\",\"stop_condition\":\"continue\","
        "\"info\":{\"parsed_action\":\"f5e5\",\"opponent_reply\":\"e2f1\",\"correct_moves\":1}}",
        "{\"actor\":\"assistant\",\"policy_call\":3,\"parsed_action\":\"e5e8\","
        "\"completion_tokens\":9,\"assistant_tokens_used\":30}",
        "{\"actor\":\"verifier\",\"policy_call\":3,\"terminal\":false,"
        "\"outcome\":\"retry_illegal\",\"stop_condition\":\"illegal_retry\","
        "\"info\":{\"parsed_action\":\"e5e8\",\"legal_by_board\":false,"
        "\"legal_by_harness\":false,\"illegal_retries_used\":1}}",
        "{\"actor\":\"assistant\",\"policy_call\":4,\"parsed_action\":\"e5e6\","
        "\"completion_tokens\":5,\"assistant_tokens_used\":35}",
        "{\"actor\":\"verifier\",\"policy_call\":4,\"terminal\":true,\"outcome\":\"solved\","
        "\"stop_condition\":\"solved\",\"info\":{\"parsed_action\":\"e5e6\","
        "\"correct_moves\":2}}",
    };
    struct play p = { .script = rb_script };
    run(&p);
    assert_trace(&p, trace, ARRAY_LEN(trace));
    assert_end(&p, STOPPED_SOLVED, 4, 35);
    assert_int_equal(p.r->correct_moves, 2);
    assert_int_equal(p.r->format_used, 1);
    assert_int_equal(p.r->illegal_used, 1);
    struct buf b = { .arena = &p.a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    rollout_metrics_write(p.r, &o);
    json_close(&o, '}');
    assert_true(str_find(buf_str(&b), S("\"legal_rate\":1.0")) > 0);
    assert_true(str_find(buf_str(&b), S("\"max_turns_cap\":18")) > 0);
    arena_free(&p.a);
}

// A chat as JSON, of roles (s, u, a) and texts; NULL ends it.
static str chat(struct arena *a, const char *const *parts)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    struct messages m = { 0 };
    for (; *parts; parts += 2) {
        enum role role = **parts == 's' ? ROLE_SYSTEM : **parts == 'u' ? ROLE_USER : ROLE_ASSISTANT;
        *vec_push(a, &m) = (struct message){ .role = role, .text = str_from(parts[1]) };
    }
    messages_write(&m, &o);
    return buf_str(&b);
}
#define CHAT(p, ...) chat(&(p)->a, (const char *const[]){ __VA_ARGS__, NULL })
#define FEEDBACK(t) "\n\nFeedback from verifier:\n" t
#define R1 "I think the rook should move."
#define R3 "<move>e5e8</move>"

static void rb_messages_of_the_reference_mode(void **s)
{
    (void)s;
    struct play p = { .script = rb_script };
    run(&p);
    assert_str(p.messages[0], CHAT(&p, "s", "SYS", "u", OBS_A "\nAnswer:"));
    assert_str(p.messages[1], CHAT(&p, "s", "SYS", "a", R1, "u", T1(NO_MOVE), "u",
                                   OBS_A FEEDBACK(T1(NO_MOVE)) "\nAnswer:"));
    assert_str(p.messages[2], CHAT(&p, "s", "SYS", "a", R1, "u", T1(NO_MOVE), "a", F5E5, "u",
                                   T10_E2F1, "u", OBS_B "\nAnswer:"));
    assert_str(p.messages[3],
               CHAT(&p, "s", "SYS", "a", R1, "u", T1(NO_MOVE), "a", F5E5, "u", T10_E2F1, "a", R3,
                    "u", T4("e5e8"), "u", OBS_B FEEDBACK(T4("e5e8")) "\nAnswer:"));
    arena_free(&p.a);
}

static void rb_messages_of_the_other_modes(void **s)
{
    (void)s;
    struct play p = { .script = rb_script,
                      .opts = { .messages = MESSAGES_DIALOGUE, .merge = MERGE_NEVER } };
    run(&p);
    assert_str(p.messages[2], CHAT(&p, "s", "SYS", "u", OBS_A "\nAnswer:", "a", R1, "u",
                                   T1(NO_MOVE), "u", OBS_A FEEDBACK(T1(NO_MOVE)) "\nAnswer:", "a",
                                   F5E5, "u", T10_E2F1, "u", OBS_B "\nAnswer:"));
    arena_free(&p.a);
    struct play q = { .script = rb_script, .opts = { .messages = MESSAGES_DIALOGUE } };
    run(&q);
    assert_str(q.messages[2], CHAT(&q, "s", "SYS", "u", OBS_A "\nAnswer:", "a", R1, "u",
                                   T1(NO_MOVE) "\n\n" OBS_A FEEDBACK(T1(NO_MOVE)) "\nAnswer:", "a",
                                   F5E5, "u", T10_E2F1 "\n\n" OBS_B "\nAnswer:"));
    arena_free(&q.a);
    struct play c = { .script = rb_script, .opts = { .messages = MESSAGES_COMPACT } };
    run(&c);
    assert_str(c.messages[3], CHAT(&c, "s", "SYS", "u", OBS_B FEEDBACK(T4("e5e8")) "\nAnswer:"));
    arena_free(&c.a);
}

static void rc_a_second_malformed_answer_loses(void **s)
{
    (void)s;
    PLAY(p, { "hmm", 2, 0 }, { "still thinking", 3, 0 });
    run(&p);
    assert_end(&p, STOPPED_MALFORMED, 2, 5);
    assert_str(last(&p)->tool,
               S("Puzzle failed: the response did not contain exactly one parseable UCI move."));
    arena_free(&p.a);
}

static void rd_a_wrong_move_loses(void **s)
{
    (void)s;
    PLAY(p, { "<move>f5f3</move>", 9, 0 });
    run(&p);
    assert_end(&p, STOPPED_WRONG_MOVE, 1, 9);
    assert_str(last(&p)->tool, S(T6));
    assert_true(last(&p)->has_legal && last(&p)->legal_by_board && last(&p)->legal_by_harness);
    arena_free(&p.a);
}

static void re_another_mate_is_told_by_both_rules(void **s)
{
    (void)s;
    PLAY(p, { "<move>e1h1</move>", 9, 0 });
    p.p1 = true;
    run(&p);
    assert_end(&p, STOPPED_WRONG_MOVE, 1, 9);
    assert_true(p.r->alternative_mate && last(&p)->alternative_mate);
    assert_str(last(&p)->tool, S(T6));
    struct play q = { .p1 = true, .script = p_script, .opts = { .lichess = true } };
    run(&q);
    assert_end(&q, STOPPED_SOLVED, 1, 9);
    assert_true(q.r->alternative_mate && last(&q)->alternative_mate);
    assert_str(last(&q)->tool, S("Correct. Puzzle solved."));
    arena_free(&p.a);
    arena_free(&q.a);
}

static void rf_the_token_budget_is_looked_at_before_a_call(void **s)
{
    (void)s;
    PLAY(p, { "no move here", 25, 0 });
    p.opts.token_budget = 20;
    run(&p);
    assert_end(&p, STOPPED_TOKEN_BUDGET, 1, 25);
    assert_int_equal(p.r->format_used, 1);
    arena_free(&p.a);
}

static void rg_turns_end(void **s)
{
    (void)s;
    PLAY(p, { F5E5, 9, 0 });
    p.source = T0 "MAX_TURNS = 1\n";
    run(&p);
    assert_end(&p, STOPPED_MAX_CALLS, 1, 9);
    assert_int_equal(p.r->correct_moves, 1);
    arena_free(&p.a);
}

#define ONLY_F5F3                                                                                  \
    "def propose_action(board):\n    return ''\n"                                                  \
    "def is_legal_action(board, action):\n    return action == 'f5f3'\n"

static void rh_a_veto_buys_nothing_unless_compatible(void **s)
{
    (void)s;
    PLAY(p, { F5E5, 9, 0 }, { E5E6, 9, 0 });
    p.source = ONLY_F5F3;
    run(&p);
    assert_end(&p, STOPPED_SOLVED, 2, 18);
    assert_int_equal(p.r->n_vetoes, 2);
    assert_int_equal(events_from(&p, "harness_veto"), 2);
    PLAY(q, { F5E5, 9, 0 }, { "<move>f5f3</move>", 9, 0 });
    q.source = ONLY_F5F3;
    q.opts.compat = true;
    run(&q);
    assert_end(&q, STOPPED_WRONG_MOVE, 2, 18);
    assert_int_equal(q.r->illegal_used, 1);
    const struct rollout_event *retry = &q.r->events.v[2]; // behind the response and the veto
    assert_int_equal(retry->result, ROLLOUT_RETRY_ILLEGAL);
    assert_true(retry->legal_by_board && !retry->legal_by_harness);
    arena_free(&p.a);
    arena_free(&q.a);
}

static void ri_a_move_to_its_own_square_is_malformed(void **s)
{
    (void)s;
    PLAY(p, { "e2e2", 2, 0 }, { "e2e2", 2, 0 });
    run(&p);
    assert_end(&p, STOPPED_MALFORMED, 2, 4);
    assert_str(p.r->events.v[1].tool, S(T1("e2e2")));
    assert_str(last(&p)->tool,
               S("Puzzle failed: the response did not contain exactly one valid UCI move."));
    arena_free(&p.a);
}

#define BUDGETS(f, i) T0 "FORMAT_RETRY_BUDGET = " #f "\nILLEGAL_MOVE_RETRY_BUDGET = " #i "\n"

static void rj_without_budgets_the_first_fault_loses(void **s)
{
    (void)s;
    PLAY(p, { "nothing", 2, 0 });
    p.source = BUDGETS(0, 0);
    run(&p);
    assert_end(&p, STOPPED_MALFORMED, 1, 2);
    PLAY(q, { "<move>a1a2</move>", 9, 0 });
    q.source = BUDGETS(0, 0);
    run(&q);
    assert_end(&q, STOPPED_ILLEGAL, 1, 9);
    assert_str(last(&q)->tool, S("Puzzle failed: the move was illegal in the current board."));
    arena_free(&p.a);
    arena_free(&q.a);
}

static void rk_budgets_are_not_filled_up_again(void **s)
{
    (void)s;
    PLAY(p, { "x", 1, 0 }, { "y", 1, 0 }, { F5E5, 9, 0 }, { "z", 1, 0 }, { E5E6, 9, 0 });
    p.source = BUDGETS(3, 0);
    run(&p);
    assert_end(&p, STOPPED_SOLVED, 5, 21);
    assert_int_equal(p.r->format_used, 3);
    arena_free(&p.a);
}

static void rl_rm_a_formatter_without_a_text_is_passed_over(void **s)
{
    (void)s;
    static const char *const sources[] = {
        T0 "def format_observation(observation, **kwargs):\n    return {}['x']\n",
        T0 "def format_observation(observation, **kwargs):\n    return None\n",
        T0 "def format_observation(observation, **kwargs):\n    return observation * 11\n",
    };
    PLAY(p, { F5E5, 9, 0 }, { E5E6, 9, 0 });
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct play q = p;
        q.source = sources[i];
        run(&q);
        assert_end(&q, STOPPED_SOLVED, 2, 18);
        assert_str(q.messages[0], CHAT(&q, "s", "SYS", "u", OBS_A "\nAnswer:"));
        assert_int_equal(events_from(&q, "harness_error"), 2);
        assert_int_equal(q.r->n_harness_errors, 2);
        arena_free(&q.a);
    }
    struct play q = p; // the reference sends the word
    q.source = sources[1];
    q.opts.compat = true;
    run(&q);
    assert_str(q.messages[0], CHAT(&q, "s", "SYS", "u", "None\nAnswer:"));
    arena_free(&q.a);
}

static void rn_a_parser_that_raises_is_replaced(void **s)
{
    (void)s;
    PLAY(p, { F5E5, 9, 0 }, { E5E6, 9, 0 });
    p.source = T0 "def parse_action(response):\n    if 'f5e5' in response:\n"
                  "        raise ValueError('no')\n    return 'e5e6'\n";
    run(&p);
    assert_end(&p, STOPPED_SOLVED, 2, 18);
    assert_int_equal(p.r->n_harness_errors, 1);
    arena_free(&p.a);
}

static void ro_a_parser_that_hangs_is_killed(void **s)
{
    (void)s;
    PLAY(p, { F5E5, 9, 0 }, { E5E6, 9, 0 });
    p.source = T0 "def parse_action(response):\n    while True:\n        pass\n";
    run(&p);
    assert_end(&p, STOPPED_SOLVED, 2, 18);
    assert_int_equal(events_from(&p, "child_restarted"), 2);
    PLAY(q, { "hmm", 1, 0 }, { F5E5, 9, 0 }, { E5E6, 9, 0 });
    q.source = p.source;
    run(&q);
    assert_end(&q, STOPPED_FAULT, 3, 19);
    assert_int_equal(q.r->result, ROLLOUT_ERROR);
    assert_int_equal(q.outcome->status, OUTCOME_SCORED);
    arena_free(&p.a);
    arena_free(&q.a);
}

static void rp_a_prompt_is_no_format_string(void **s)
{
    (void)s;
    PLAY(p, { F5E5, 9, 0 }, { E5E6, 9, 0 });
    p.source = REQUIRED "SYSTEM_PROMPT = 'SYS'\n"
                        "USER_PROMPT = '{observation.__class__} {observation}'\n";
    run(&p);
    assert_str(p.messages[0],
               CHAT(&p, "s", "SYS", "u", "{observation.__class__} {observation}\n\n" OBS_A));
    arena_free(&p.a);
}

static void rq_tokens_are_guessed_without_usage(void **s)
{
    (void)s;
    PLAY(p, { F5E5, -1, 0 }, { "", -1, 0 }, { "\xc3\xa9", -1, 0 });
    p.source = BUDGETS(1, 0);
    run(&p);
    assert_end(&p, STOPPED_MALFORMED, 3, 6 + 0 + 1);
    assert_true(p.r->events.v[0].approximate);
    assert_int_equal(p.r->events.v[0].tokens, 6);
    arena_free(&p.a);
}

static void rr_usage_comes_under_many_names(void **s)
{
    (void)s;
    static const struct {
        const char *usage;
        int64_t tokens;
    } rows[] = {
        { "{\"output_tokens\": 7}", 7 },
        { "{\"usage_metadata\": {\"candidatesTokenCount\": 8}}", 8 },
        { "{\"completion_tokens\": \"9\"}", 9 },
        { "{\"completion_tokens\": null, \"generated_tokens\": 3}", 3 },
        { "{\"completion_tokens\": -4}", 0 },
        { "{\"prompt_tokens\": 4}", -1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = { 0 };
        int64_t n = -1;
        json_t *usage = json_read_strict(str_from(rows[i].usage), &err);
        assert_int_equal(harness_usage_tokens(usage, &n), rows[i].tokens >= 0);
        assert_int_equal(n, rows[i].tokens);
        json_decref(usage);
    }
}

static void rs_turns_have_a_cap(void **s)
{
    (void)s;
    struct said script[19] = { 0 };
    for (int i = 0; i < 18; i++)
        script[i] = (struct said){ "hm", 1, 0 };
    struct play p = { .script = script, .source = BUDGETS(10, 10) "MAX_TURNS = 99\n" };
    run(&p);
    assert_end(&p, STOPPED_MALFORMED, 11, 11);
    assert_int_equal(p.r->format_used, 10);
    assert_int_equal(p.r->max_calls, 18);
    arena_free(&p.a);
}

static void rt_what_did_not_arrive_is_no_score(void **s)
{
    (void)s;
    PLAY(p, { F5E5, 9, 0 }, { "", 0, REPLY_TRANSPORT });
    run(&p);
    assert_int_equal(p.outcome->status, OUTCOME_FAILED);
    assert_int_equal(p.r->stop, STOPPED_INFRA);
    PLAY(q, { F5E5, 9, 0 }, { "", 0, REPLY_CONTEXT_OVERFLOW });
    run(&q);
    assert_int_equal(q.outcome->status, OUTCOME_SCORED);
    assert_int_equal(q.r->stop, STOPPED_CONTEXT);
    arena_free(&p.a);
    arena_free(&q.a);
}

static void ru_an_empty_answer_leaves_no_message(void **s)
{
    (void)s;
    PLAY(p, { "", 4, 0 }, { F5E5, 9, 0 }, { E5E6, 9, 0 });
    run(&p);
    assert_str(p.r->events.v[0].action, S(NO_MOVE));
    assert_str(p.messages[1], CHAT(&p, "s", "SYS", "u", T1(NO_MOVE), "u",
                                   OBS_A FEEDBACK(T1(NO_MOVE)) "\nAnswer:"));
    arena_free(&p.a);
}

static void rv_each_request_has_what_is_left(void **s)
{
    (void)s;
    struct play p = { .script = rb_script,
                      .opts = { .token_budget = 40, .policy_max_tokens = 30 } };
    static const int64_t want[] = { 30, 28, 19, 10 };
    run(&p);
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        assert_int_equal(p.max_tokens[i], want[i]);
    arena_free(&p.a);
}

static void lines_of_even_length_and_broken_ones_end(void **s)
{
    (void)s;
    static const str even[] = { T("f5e5"), T("e2f1") }, broken[] = { T("f5e5"), T("e2e5") };
    PLAY(p, { F5E5, 9, 0 });
    struct play q = p;
    p.line = even;
    q.line = broken;
    p.n_line = q.n_line = 2;
    run(&p);
    assert_end(&p, STOPPED_SOLVED, 1, 9);
    assert_str(last(&p)->tool, S("Correct. Opponent replied e2f1 (Kf1). Puzzle solved."));
    run(&q);
    assert_end(&q, STOPPED_BAD_LINE, 1, 9);
    assert_int_equal(q.r->result, ROLLOUT_ERROR);
    arena_free(&p.a);
    arena_free(&q.a);
}

static void quoted_actions_are_short_and_clean(void **s)
{
    (void)s;
    PLAY(p, { "a", 1, 0 }, { "b", 1, 0 });
    p.source = T0 "def parse_action(response):\n    return 'x\\n' + 'y' * 300\n";
    run(&p);
    struct buf want = { .arena = &p.a };
    buf_add(&want, S("from \"x "));
    for (int i = 0; i < 198; i++)
        buf_add_char(&want, 'y');
    buf_add(&want, S("\". Reply"));
    assert_true(str_find(p.r->events.v[1].tool, buf_str(&want)) > 0);
    arena_free(&p.a);
}

static void a_hidden_answer_is_counted(void **s)
{
    (void)s;
    PLAY(p, { F5E5, 9, 0 }, { "no", 1, 0 });
    p.source = T0 "def parse_action(response):\n    return '__no_move__'\n";
    run(&p);
    assert_int_equal(p.r->n_suppressed, 1);
    assert_int_equal(events_from(&p, "parse_suppression"), 1);
    arena_free(&p.a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ra_a_solved_puzzle),
        cmocka_unit_test(rb_the_trace_with_both_retries),
        cmocka_unit_test(rb_messages_of_the_reference_mode),
        cmocka_unit_test(rb_messages_of_the_other_modes),
        cmocka_unit_test(rc_a_second_malformed_answer_loses),
        cmocka_unit_test(rd_a_wrong_move_loses),
        cmocka_unit_test(re_another_mate_is_told_by_both_rules),
        cmocka_unit_test(rf_the_token_budget_is_looked_at_before_a_call),
        cmocka_unit_test(rg_turns_end),
        cmocka_unit_test(rh_a_veto_buys_nothing_unless_compatible),
        cmocka_unit_test(ri_a_move_to_its_own_square_is_malformed),
        cmocka_unit_test(rj_without_budgets_the_first_fault_loses),
        cmocka_unit_test(rk_budgets_are_not_filled_up_again),
        cmocka_unit_test(rl_rm_a_formatter_without_a_text_is_passed_over),
        cmocka_unit_test(rn_a_parser_that_raises_is_replaced),
        cmocka_unit_test(ro_a_parser_that_hangs_is_killed),
        cmocka_unit_test(rp_a_prompt_is_no_format_string),
        cmocka_unit_test(rq_tokens_are_guessed_without_usage),
        cmocka_unit_test(rr_usage_comes_under_many_names),
        cmocka_unit_test(rs_turns_have_a_cap),
        cmocka_unit_test(rt_what_did_not_arrive_is_no_score),
        cmocka_unit_test(ru_an_empty_answer_leaves_no_message),
        cmocka_unit_test(rv_each_request_has_what_is_left),
        cmocka_unit_test(lines_of_even_length_and_broken_ones_end),
        cmocka_unit_test(quoted_actions_are_short_and_clean),
        cmocka_unit_test(a_hidden_answer_is_counted),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}
