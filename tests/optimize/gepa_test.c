// SPDX-License-Identifier: GPL-3.0-or-later
// GEPA from end to end, on real positions with scripted models: call counts at the size of the
// paper, prompt models that misbehave, what is shown to them, replay after a kill, saved calls.
#include "test.h"

#include "optimize/gepa.h"

enum { PUZZLES = 559, POSITIONS = 1439, TRUTHS_MAX = 2000 };

struct world {
    struct arena *arena;
    struct puzzles all;
    struct puzzle_positions train, validation;
    struct map by_fen; // struct puzzle_position
    struct optimizer_config config;
    int64_t max_metric_calls;
    bool show_solution, continue_on_error;
    int slots;
    double temperature;
    struct store *db; // kept from run to run
    // The models. `said` is what the prompt model answers; NULL: a fenced "skill=N", N drawn from
    // the request.
    bool all_right, all_wrong, unreadable, refuses;
    const char *said;
    size_t said_len; // 0: strlen
    enum reply_class said_class;
    int64_t dies_at; // task or prompt call that ends the run as a kill does; 0: none
    int64_t n_task, n_prompt;
    str requests;          // the last one to the prompt model
    int64_t max_tokens[4]; // of the first requests
    struct buf log;        // of all events
};

// ---- the models ----

static str word_after(str text, str mark)
{
    ptrdiff_t at = str_find(text, mark);
    if (at < 0)
        return S("");
    str rest = str_sub(text, (size_t)at + mark.len, text.len);
    size_t n = 0;
    while (n < rest.len && ascii_is_digit(rest.data[n]))
        n++;
    return str_sub(rest, 0, n);
}

// Right with the probability (in thousandths) of the tag "skill=N" in the instruction.
static str answer_to(const struct world *w, const struct messages *m, struct arena *a)
{
    str user = m->v[m->n - 1].text;
    str_cut(&user, '\n');
    str fen = str_cut(&user, '\n');
    const struct map_entry *e = map_get(&w->by_fen, fen);
    assert_non_null(e);
    const struct puzzle_position *p = e->pointer;
    int64_t skill;
    str tag = word_after(m->v[0].text, S("skill="));
    if (!str_to_int(tag, 0, 1000, &skill))
        skill = 350;
    bool right = hash64(arena_printf(a, "%.*s %.*s", STR(tag), STR(fen))) % 1000 < (uint64_t)skill;
    str other = p->inputs[2];
    str chosen = str_trim(str_cut(&other, ','));
    if (str_eq(chosen, p->reference))
        chosen = other.len > 0 ? str_trim(str_cut(&other, ',')) : S("a1a1");
    if (w->all_right || (right && !w->all_wrong))
        chosen = p->reference;
    return arena_printf(a, "{\"move\": \"%.*s\"}", STR(chosen));
}

static bool is_killed(struct world *w, struct err *err)
{
    bool killed = w->dies_at > 0 && w->n_task + w->n_prompt >= w->dies_at;
    if (killed)
        err_set(err, ERR_RUN, "killed");
    return killed;
}

static bool answer_task(const struct model *m, const struct model_request *q, struct arena *a,
                        struct reply *out, struct err *err)
{
    struct world *w = m->context;
    if (is_killed(w, err))
        return false;
    w->n_task++;
    out->class = w->refuses ? REPLY_REFUSED : REPLY_OK;
    out->text =
        w->unreadable ? arena_str(a, S("I play my best move.")) : answer_to(w, &q->messages, a);
    return true;
}

static bool answer_prompt(const struct model *m, const struct model_request *q, struct arena *a,
                          struct reply *out, struct err *err)
{
    struct world *w = m->context;
    if (is_killed(w, err))
        return false;
    if (w->n_prompt < (int64_t)ARRAY_LEN(w->max_tokens))
        w->max_tokens[w->n_prompt] = q->max_tokens;
    w->n_prompt++;
    assert_int_equal(q->messages.n, 1);
    w->requests = arena_str(w->arena, q->messages.v[0].text);
    uint64_t draw = hash64(arena_printf(a, "%.*s%lld", STR(w->requests), (long long)q->sample));
    out->class = w->said ? w->said_class : REPLY_OK;
    out->text = arena_printf(a, "```\nskill=%d\n```", (int)(draw % 700));
    if (w->said)
        out->text = arena_str(a, (str){ w->said, w->said_len > 0 ? w->said_len : strlen(w->said) });
    return true;
}

static const struct provider provider_task = { .answer = answer_task };
static const struct provider provider_prompt = { .answer = answer_prompt };

// ---- the data ----

// Puzzles of two and of three positions over and over, so that there are as many positions as the
// paper has.
static void make_puzzles(struct world *w)
{
    struct err err = { 0 };
    struct puzzles few = { 0 };
    size_t n_long = POSITIONS - 2 * PUZZLES, n_made[2] = { 0 };
    assert_true(puzzles_load(source_path(S("tests/golden/train-80.csv"), w->arena),
                             &(struct puzzle_load_opts){ .strict = true }, w->arena, &few, &err));
    for (size_t i = 0; w->all.n < PUZZLES; i = (i + 1) % few.n) {
        size_t length = few.v[i].n_moves / 2;
        if (length < 2 || length > 3 ||
            n_made[length - 2] == (length == 3 ? n_long : PUZZLES - n_long))
            continue;
        n_made[length - 2]++;
        struct puzzle *p = vec_push(w->arena, &w->all);
        *p = few.v[i];
        p->id = arena_printf(w->arena, "p%zu", w->all.n);
    }
}

static void split(struct world *w, uint64_t seed)
{
    struct err err = { 0 };
    struct puzzle_split sets = { 0 };
    struct puzzle_split_opts how = { .seed = seed, .validation_size = 140 };
    assert_true(puzzles_split(&w->all, &how, w->arena, &sets, &err));
    w->train = w->validation = (struct puzzle_positions){ 0 };
    puzzles_expand(&sets.train, w->arena, &w->train);
    puzzles_expand(&sets.validation, w->arena, &w->validation);
    assert_int_equal(w->train.n + w->validation.n, POSITIONS);
    w->by_fen = (struct map){ .arena = w->arena };
    for (size_t i = 0; i < w->train.n; i++)
        map_put(&w->by_fen, w->train.v[i].inputs[0], NULL)->pointer = &w->train.v[i];
    for (size_t i = 0; i < w->validation.n; i++)
        map_put(&w->by_fen, w->validation.v[i].inputs[0], NULL)->pointer = &w->validation.v[i];
}

static struct world *world_new(struct arena *a, const char *preset)
{
    struct world *w = NEW(a, struct world);
    w->arena = a;
    w->log.arena = a;
    w->max_metric_calls = 200;
    make_puzzles(w);
    split(w, 42);
    optimizer_defaults(&w->config, METHOD_GEPA, str_from(preset));
    w->config.budget = BUDGET_NONE;
    return w;
}

// A few positions only, for quick runs.
static struct world *small_world(struct arena *a, const char *preset)
{
    struct world *w = world_new(a, preset);
    w->train.n = 40;
    w->validation.n = 20;
    return w;
}

static void note(void *ctx, const struct opt_event *e)
{
    struct world *w = ctx;
    buf_addf(&w->log, "%s %lld %.6f of %zu: %.*s %.*s\n", e->what, (long long)e->candidate,
             e->score, e->n_positions, STR(e->reason), STR(e->details));
}

static bool run(struct world *w, struct opt_result *out, struct err *err)
{
    struct store_run row = { .key = S("k"), .command = S("test"), .config = S("{}") };
    if (!w->db)
        assert_true(store_open(S(":memory:"), &(struct store_opts){ 0 }, &w->db, err));
    assert_true(
        store_run_begin(w->db, &(struct store_begin){ .now_unix_ms = 0 }, w->arena, &row, err));
    struct pump_opts pump = { .run = row.id, .slots = w->slots };
    struct lab lab = { .arena = w->arena,
                       .pump = pump_new(&pump, w->db, err),
                       .continue_on_error = w->continue_on_error };
    struct model task_model = { .name = S("toy/task"),
                                .provider = &provider_task,
                                .context = w,
                                .format = FORMAT_JSON_OBJECT,
                                .has_temperature = true,
                                .temperature = w->temperature };
    struct model prompt_model = { .name = S("toy/prompt"),
                                  .provider = &provider_prompt,
                                  .context = w,
                                  .format = FORMAT_JSON_OBJECT,
                                  .has_temperature = true,
                                  .temperature = 1,
                                  .max_tokens = 1000 };
    struct opt_watch watch = { .note = note, .ctx = w };
    struct opt_task task = { .lab = &lab,
                             .seed =
                                 program_new(w->arena, &signature_choose_move, instruction_base),
                             .train = &w->train,
                             .validation = &w->validation,
                             .model = &task_model,
                             .prompt_model = &prompt_model,
                             .run_seed = 42,
                             .show_solution = w->show_solution,
                             .max_metric_calls = w->max_metric_calls,
                             .config = &w->config,
                             .watch = &watch };
    w->n_task = w->n_prompt = 0;
    w->log.len = 0;
    bool ok = optimizer_find(S("gepa"))->run(&task, out, err);
    pump_free(lab.pump);
    return ok;
}

static struct opt_result done(struct world *w)
{
    struct err err = { 0 };
    struct opt_result out;
    if (!run(w, &out, &err))
        fail_msg("%s", err.text);
    return out;
}

static void close_world(struct world *w, struct arena *a)
{
    store_close(w->db);
    arena_free(a);
}

static size_t count(str text, str part)
{
    size_t n = 0;
    for (ptrdiff_t at; (at = str_find(text, part)) >= 0; n++)
        text = str_sub(text, (size_t)at + part.len, text.len);
    return n;
}

static size_t logged(struct world *w, const char *part)
{
    return count(buf_str(&w->log), str_from(part));
}

// ---- call counts ----

static void calls_at_paper_size_are_those_of_the_formulas(void **s)
{
    (void)s;
    for (uint64_t seed = 42; seed <= 44; seed++) {
        struct arena a = { 0 };
        struct world *w = world_new(&a, "paper");
        split(w, seed);
        w->config.budget = BUDGET_HEAVY;
        struct opt_result out = done(w);
        int64_t v = (int64_t)w->validation.n, budget = 7 * v + 1035;
        int64_t n_accepted = (int64_t)logged(w, "\naccepted "),
                n_perfect = (int64_t)logged(w, "\nskipped ");
        int64_t n_rejected = (int64_t)logged(w, "\nrejected ");
        assert_int_equal(w->n_task,
                         v * (1 + n_accepted) + 6 * (n_accepted + n_rejected) + 3 * n_perfect);
        assert_in_range(w->n_task, budget, budget + 6 + v - 1);
        assert_int_equal(w->n_prompt, n_accepted + n_rejected);
        assert_int_equal(out.n_proposals, w->n_prompt);
        assert_true(n_accepted <= (budget - v + v + 5) / (v + 6));
        assert_string_equal(out.finish, "budget");
        close_world(w, &a);
    }
}

// What a run would do, from data and options alone.
static struct opt_plan planned(const struct world *w)
{
    struct err err = { 0 };
    struct opt_plan plan;
    struct opt_task task = { .train = &w->train,
                             .validation = &w->validation,
                             .max_metric_calls = w->max_metric_calls,
                             .config = &w->config };
    if (!optimizer_find(S("gepa"))->plan(&task, &plan, &err))
        fail_msg("%s", err.text);
    return plan;
}

static void the_plan_bounds_what_the_run_does(void **s)
{
    (void)s;
    static const int64_t budgets[] = { 1, 20, 21, 60, 200, 555 };
    for (size_t i = 0; i < ARRAY_LEN(budgets); i++)
        for (int improved = 0; improved <= 1; improved++) {
            struct arena a = { 0 };
            struct world *w = small_world(&a, improved ? "improved" : "paper");
            w->max_metric_calls = budgets[i];
            if (improved && budgets[i] < 20)
                w->max_metric_calls = 20;
            struct opt_plan plan = planned(w);
            done(w);
            assert_in_range(w->n_task, plan.least_task, plan.most_task);
            assert_in_range(w->n_prompt, plan.least_prompt, plan.most_prompt);
            close_world(w, &a);
        }
}

static void the_plan_at_paper_size_is_that_of_the_specification(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = world_new(&a, "paper");
    w->config.budget = BUDGET_HEAVY;
    w->validation.n = 338;
    struct opt_plan plan = planned(w);
    assert_int_equal(plan.least_task, 3401);
    assert_int_equal(plan.most_task, 3744);
    assert_int_equal(plan.most_prompt, 511);
    close_world(w, &a);
}

static char warned[500];

static void keep_warning(enum log_level level, str line)
{
    if (level == LOG_WARN)
        snprintf(warned, sizeof warned, "%.*s", STR(line));
}

// Six positions, minibatches of three: three proposals take 33 calls at the least, 42 by the
// reckoning of the reference.
static void a_budget_for_fewer_than_three_proposals_is_warned_of(void **s)
{
    (void)s;
    static const struct {
        const char *preset;
        int64_t budget;
        bool warns;
    } cases[] = { { "paper", 8, true },    { "paper", 41, true },    { "paper", 42, false },
                  { "improved", 8, true }, { "improved", 32, true }, { "improved", 33, false } };
    log_to(keep_warning);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct world *w = small_world(&a, cases[i].preset);
        w->validation.n = 6;
        w->max_metric_calls = cases[i].budget;
        warned[0] = '\0';
        struct opt_result out = done(w);
        assert_int_equal(strstr(warned, "hardly enough") != NULL, cases[i].warns);
        if (i == 3) { // and then the budget holds, and nothing was tried
            assert_int_equal(w->n_task, 6);
            assert_int_equal(logged(w, "0 fully evaluated"), 1);
            assert_string_equal(out.finish, "budget");
        }
        close_world(w, &a);
    }
    log_to(NULL);
}

static void a_budget_in_full_evaluations_counts_all_positions(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "paper");
    w->config.gepa_max_full_evals = 4;
    done(w);
    assert_in_range(w->n_task, 4 * 60, 4 * 60 + 25);
    close_world(w, &a);
}

static void two_budgets_at_once_are_refused(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct world *w = small_world(&a, "paper");
    w->config.budget = BUDGET_LIGHT;
    w->config.gepa_max_full_evals = 4;
    assert_false(run(w, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.text, "auto"));
    close_world(w, &a);
}

static void a_hard_budget_is_not_exceeded(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct world *w = small_world(&a, "improved");
    done(w);
    assert_true(w->n_task <= 200);
    w->max_metric_calls = 19; // less than the validation set
    assert_false(run(w, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    close_world(w, &a);
}

// ---- what the prompt model sees ----

// The request without the parts in which the solution may stand: legal moves and answers.
static str without_moves(struct arena *a, str request)
{
    struct buf b = { .arena = a };
    while (request.len > 0) {
        str line = str_cut_line(&request);
        if (str_eq(line, S("### legal_moves_uci")) || str_eq(line, S("### move")))
            str_cut_line(&request);
        else
            buf_addf(&b, "%.*s\n", STR(line));
    }
    return buf_str(&b);
}

static void the_solution_is_shown_only_where_it_is_wanted(void **s)
{
    (void)s;
    for (int show = 0; show <= 1; show++) {
        struct arena a = { 0 };
        struct world *w = small_world(&a, "paper");
        w->all_wrong = true;
        w->show_solution = show == 1;
        done(w);
        assert_int_equal(count(w->requests, S("# Example ")), 3);
        str rest = without_moves(&a, w->requests);
        size_t n = 0;
        for (size_t i = 0; i < w->train.n; i++)
            n += str_find(w->requests, w->train.v[i].inputs[0]) >= 0 &&
                 str_find(rest, w->train.v[i].reference) >= 0;
        assert_true(show ? n >= 3 : n == 0);
        close_world(w, &a);
    }
}

static void the_request_holds_inputs_answers_and_critiques(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "paper");
    w->all_wrong = true;
    done(w);
    for (size_t i = 1; i <= 3; i++)
        assert_true(str_find(w->requests, arena_printf(&a, "# Example %zu\n", i)) > 0);
    assert_int_equal(count(w->requests, S("### position_fen\n")), 3);
    assert_int_equal(count(w->requests, S("### side_to_move\n")), 3);
    assert_int_equal(count(w->requests, S("### legal_moves_uci\n")), 3);
    assert_int_equal(count(w->requests, S("### move\n")), 3);
    assert_int_equal(count(w->requests, S("is legal but does not solve")), 3);
    assert_int_equal(count(w->requests, instruction_base), 1);
    close_world(w, &a);
}

static void unreadable_answers_are_dropped_or_shown(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "paper");
    w->unreadable = true;
    struct opt_result out = done(w);
    assert_int_equal(w->n_prompt, 0); // nothing is left to show
    assert_int_equal(logged(w, "\nskipped "), 60);
    assert_str(out.program->instruction, instruction_base);
    assert_int_equal(w->n_task, 200);

    w->config.gepa_format_failures = FORMAT_FAILURES_SHOW;
    store_close(w->db);
    w->db = NULL;
    done(w);
    assert_int_equal(count(w->requests, S("I play my best move.")), 3);
    assert_int_equal(count(w->requests, S("one JSON object with \"move\"")), 3);
    close_world(w, &a);
}

// ---- prompt models that misbehave ----

static char huge[50000];

struct misbehaviour {
    const char *said;
    size_t len;
    enum reply_class class;
    // Whether a proposal is tried: with lenient, strict and complete extraction.
    bool tried[3];
    int requests[3]; // an iteration
};
static const struct misbehaviour bad[] = {
    { "", 0, REPLY_EMPTY, { true, false, false }, { 1, 1, 2 } },
    { " \n\t \n", 0, REPLY_OK, { true, false, false }, { 1, 1, 2 } },
    { "I cannot help with that.", 0, REPLY_REFUSED, { false, false, false }, { 2, 2, 2 } },
    { "", 0, REPLY_FILTERED, { false, false, false }, { 2, 2, 2 } },
    { "", 0, REPLY_CONTEXT_OVERFLOW, { false, false, false }, { 2, 2, 2 } },
    // The prompt comes back.
    { "```\nSolve the chess puzzle by finding the single best move.\n```",
      0,
      REPLY_OK,
      { true, false, false },
      { 1, 1, 1 } },
    { huge, sizeof huge, REPLY_OK, { true, false, false }, { 1, 1, 2 } },
    { "```\n\xff\xfe skill=400 \xc3\n```", 0, REPLY_OK, { true, true, true }, { 1, 1, 1 } },
    { "```\nThe instructions should mention for",
      0,
      REPLY_TRUNCATED,
      { true, false, false },
      { 1, 1, 2 } },
    { "```\n[[ ## move ## ]]\n```", 0, REPLY_OK, { true, false, false }, { 1, 1, 2 } },
};

static void prompt_models_that_misbehave_end_no_run(void **s)
{
    (void)s;
    memset(huge, 'x', sizeof huge);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        for (int how = GEPA_EXTRACT_LENIENT; how <= GEPA_EXTRACT_COMPLETE; how++) {
            struct arena a = { 0 };
            struct world *w = small_world(&a, "paper");
            w->all_wrong = true; // so that nothing is accepted
            w->config.gepa_extract = (enum gepa_extract)how;
            w->config.gepa_max_iterations = 3;
            w->said = bad[i].said;
            w->said_len = bad[i].len;
            w->said_class = bad[i].class;
            struct opt_result out = done(w);
            bool tried = bad[i].tried[how - 1];
            // The second try of the same text is known only where it was accepted.
            assert_int_equal(out.n_proposals, tried ? 3 : 0);
            assert_int_equal(w->n_prompt, 3 * bad[i].requests[how - 1]);
            assert_int_equal(w->n_task, 20 + 3 * (tried ? 6 : 3));
            assert_int_equal(
                logged(w, tried ? "\nrejected " : "\nskipped -1 0.000000 of 0: iteration"), 3);
            assert_str(out.program->instruction, instruction_base);
            close_world(w, &a);
        }
}

static void a_reply_that_was_cut_off_gets_twice_the_room(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "improved");
    w->all_wrong = true;
    w->config.gepa_max_iterations = 1;
    w->said = "<think>The instructions should mention forks. Let me";
    w->said_class = REPLY_TRUNCATED;
    done(w);
    assert_int_equal(w->n_prompt, 2);
    assert_int_equal(w->max_tokens[0], 1000);
    assert_int_equal(w->max_tokens[1], 2000);
    close_world(w, &a);
}

static void an_empty_text_is_run_as_the_default_sentence(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "paper");
    w->all_wrong = true;
    w->config.gepa_acceptance = GEPA_ACCEPT_EQUAL;
    w->config.gepa_max_iterations = 1;
    w->said = "```\n```";
    struct opt_result out = done(w);
    assert_int_equal(out.candidates.n, 2);
    assert_str(out.candidates.v[1].program->instruction,
               S("Given the fields `position_fen`, `side_to_move`, `legal_moves_uci`, produce the "
                 "fields `move`."));
    close_world(w, &a);
}

// ---- data at the edges ----

static void all_wrong_and_all_right_leave_the_start(void **s)
{
    (void)s;
    for (int right = 0; right <= 1; right++)
        for (int improved = 0; improved <= 1; improved++) {
            struct arena a = { 0 };
            struct world *w = small_world(&a, improved ? "improved" : "paper");
            w->all_right = right == 1;
            w->all_wrong = right == 0;
            struct opt_result out = done(w);
            assert_str(out.program->instruction, instruction_base);
            assert_int_equal(w->n_prompt > 0, right == 0);
            assert_string_equal(out.finish, right && improved ? "perfect_baseline" : "budget");
            close_world(w, &a);
        }
}

static void a_prompt_model_without_ideas_ends_as_stalled(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "improved");
    w->all_wrong = true;
    w->said = "";
    struct opt_result out = done(w);
    assert_string_equal(out.finish, "stalled");
    assert_int_equal(logged(w, ": iteration "), 20);
    close_world(w, &a);
}

static void one_position_of_each_set_is_enough(void **s)
{
    (void)s;
    for (int improved = 0; improved <= 1; improved++) {
        struct arena a = { 0 };
        struct world *w = small_world(&a, improved ? "improved" : "paper");
        w->train.n = w->validation.n = 1;
        done(w);
        assert_in_range(w->n_task, 1, 200 + 6);
        close_world(w, &a);
    }
}

static void without_data_it_is_refused(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct err err = { 0 };
    struct opt_result out;
    struct world *w = small_world(&a, "paper");
    w->validation.n = 0;
    assert_false(run(w, &out, &err));
    assert_int_equal(err.code, ERR_INPUT);
    close_world(w, &a);
}

static void refused_positions_score_nothing_and_end_nothing(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "improved");
    w->refuses = true;
    done(w);
    assert_true(str_find(w->requests, S("# Example 3")) >= 0);
    close_world(w, &a);
}

// ---- whole puzzles ----

static void whole_puzzles_are_the_examples_where_they_count(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "paper");
    w->config.objective = OBJECTIVE_PUZZLE;
    w->config.gepa_max_iterations = 1;
    w->all_right = true;
    struct opt_result out = done(w);
    assert_true(out.candidates.v[0].score == 1);
    w->all_right = false;
    store_close(w->db);
    w->db = NULL;
    out = done(w);
    // By hand: a puzzle counts where all its positions (in the set) are right.
    size_t n = 0, solved = 0;
    for (size_t i = 0; i < w->validation.n; n++) {
        const struct puzzle *puzzle = w->validation.v[i].puzzle;
        bool all = true;
        for (; i < w->validation.n && w->validation.v[i].puzzle == puzzle; i++)
            all &=
                hash64(arena_printf(&a, " %.*s", STR(w->validation.v[i].inputs[0]))) % 1000 < 350;
        solved += all;
    }
    assert_true(n < w->validation.n);
    assert_true(out.candidates.v[0].score == (double)solved / (double)n);
    close_world(w, &a);
}

// ---- replay, order, saving ----

static str story(struct world *w, struct opt_result *out)
{
    *out = done(w);
    return arena_str(w->arena, buf_str(&w->log));
}

static void a_killed_run_repeated_ends_as_if_it_had_not_been(void **s)
{
    (void)s;
    for (int improved = 0; improved <= 1; improved++) {
        struct arena a = { 0 };
        struct world *w = small_world(&a, improved ? "improved" : "paper");
        struct opt_result out, again;
        struct err err = { 0 };
        str want = story(w, &out);
        int64_t n_task = w->n_task, n_prompt = w->n_prompt;
        for (int64_t at = 1; at < n_task + n_prompt; at += 17) {
            store_close(w->db);
            w->db = NULL;
            w->dies_at = at;
            assert_false(run(w, &again, &err));
            int64_t made = w->n_task + w->n_prompt;
            w->dies_at = 0;
            assert_str(story(w, &again), want);
            assert_int_equal(made + w->n_task + w->n_prompt, n_task + n_prompt);
            assert_str(again.program->instruction, out.program->instruction);
        }
        assert_str(story(w, &again), want); // and a finished one asks nothing
        assert_int_equal(w->n_task + w->n_prompt, 0);
        close_world(w, &a);
    }
}

static void the_number_of_slots_changes_nothing(void **s)
{
    (void)s;
    static const int slots[] = { 1, 4, 16 };
    struct arena a = { 0 };
    str want = S("");
    for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
        struct world *w = small_world(&a, "paper");
        struct opt_result out;
        w->slots = slots[i];
        str got = story(w, &out);
        if (i > 0)
            assert_str(got, want);
        want = got;
        store_close(w->db);
    }
    arena_free(&a);
}

static void saved_calls_change_no_decision(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct opt_result out[2];
    int64_t n_task[2];
    for (int save = 0; save <= 1; save++) {
        struct world *w = small_world(&a, "paper");
        w->train.n = 12; // so that minibatches come again
        w->max_metric_calls = 600;
        w->config.gepa_save_calls = save == 1;
        out[save] = done(w);
        n_task[save] = w->n_task;
        assert_int_equal(logged(w, save ? " 0 saved" : "(0 saved"), 0);
        store_close(w->db);
    }
    assert_true(n_task[1] < n_task[0]);
    assert_str(out[1].program->instruction, out[0].program->instruction);
    assert_int_equal(out[0].candidates.n, out[1].candidates.n);
    for (size_t i = 0; i + 1 < out[0].candidates.n; i++) {
        assert_str(out[1].candidates.v[i].program->instruction,
                   out[0].candidates.v[i].program->instruction);
        if (out[0].candidates.v[i].n_positions == 20)
            assert_true(out[0].candidates.v[i].score == out[1].candidates.v[i].score);
    }
    arena_free(&a);
}

static void nothing_is_remembered_at_a_temperature(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct world *w = small_world(&a, "paper");
    w->temperature = 0.7;
    w->config.gepa_save_calls = true;
    w->all_wrong = true;
    w->config.gepa_max_iterations = 14; // beyond an epoch
    done(w);
    // 14 iterations run all 3 of the parent; the child loses at once only with all of them run.
    assert_int_equal(w->n_task, 20 + 14 * 6);
    close_world(w, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_at_paper_size_are_those_of_the_formulas),
        cmocka_unit_test(the_plan_bounds_what_the_run_does),
        cmocka_unit_test(the_plan_at_paper_size_is_that_of_the_specification),
        cmocka_unit_test(a_budget_for_fewer_than_three_proposals_is_warned_of),
        cmocka_unit_test(a_budget_in_full_evaluations_counts_all_positions),
        cmocka_unit_test(two_budgets_at_once_are_refused),
        cmocka_unit_test(a_hard_budget_is_not_exceeded),
        cmocka_unit_test(the_solution_is_shown_only_where_it_is_wanted),
        cmocka_unit_test(the_request_holds_inputs_answers_and_critiques),
        cmocka_unit_test(unreadable_answers_are_dropped_or_shown),
        cmocka_unit_test(prompt_models_that_misbehave_end_no_run),
        cmocka_unit_test(a_reply_that_was_cut_off_gets_twice_the_room),
        cmocka_unit_test(an_empty_text_is_run_as_the_default_sentence),
        cmocka_unit_test(all_wrong_and_all_right_leave_the_start),
        cmocka_unit_test(a_prompt_model_without_ideas_ends_as_stalled),
        cmocka_unit_test(one_position_of_each_set_is_enough),
        cmocka_unit_test(without_data_it_is_refused),
        cmocka_unit_test(refused_positions_score_nothing_and_end_nothing),
        cmocka_unit_test(whole_puzzles_are_the_examples_where_they_count),
        cmocka_unit_test(a_killed_run_repeated_ends_as_if_it_had_not_been),
        cmocka_unit_test(the_number_of_slots_changes_nothing),
        cmocka_unit_test(saved_calls_change_no_decision),
        cmocka_unit_test(nothing_is_remembered_at_a_temperature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
