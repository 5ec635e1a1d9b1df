// SPDX-License-Identifier: GPL-3.0-or-later
// The simulated models: what they may depend on, and how well they play over the built-in puzzles.
// Everything is deterministic, so the bounds on shares cannot flake; they are wide because they
// state the intention, not the figure of today.
#include "test.h"

#include "chess/chess.h"
#include "sim/sim.h"

enum { POSITIONS = 300, DEMOS = 16 };

struct item {
    struct position pos;
    move solution;
    str inputs[3], reference;
};
static struct arena arena;
static struct item items[DEMOS + POSITIONS];
static const struct program *base;

#define GUIDANCE                                                                                   \
    "Look at all forcing moves first: checks, captures, and threats. Calculate the opponent's "    \
    "best reply to each of them, look for checkmate, and count material."
#define STRICT "Answer with a JSON object, only the move, nothing else."
#define LEGAL "Choose only legal moves from the list."

static void item_fill(struct item *it, const struct position *pos, move solution)
{
    struct buf fen = { .arena = &arena };
    struct buf legal = { .arena = &arena };
    struct move_list moves;
    position_format(pos, &fen);
    moves_ordered(pos, &moves);
    for (size_t i = 0; i < moves.n; i++)
        buf_addf(&legal, "%s%s", i ? ", " : "", uci_format(moves.v[i]).data);
    *it = (struct item){ .pos = *pos, .solution = solution };
    it->inputs[0] = buf_str(&fen);
    it->inputs[1] = pos->turn == WHITE ? S("white") : S("black");
    it->inputs[2] = buf_str(&legal);
    it->reference = arena_str(&arena, str_from(uci_format(solution).data));
}

// The solver positions of one row of the Lichess schema, up to `room`.
static size_t read_row(str row, struct item *out, size_t room)
{
    struct position pos;
    size_t n = 0;
    str_cut(&row, ',');
    str fen = str_cut(&row, ',');
    str line = str_cut(&row, ',');
    assert_int_equal(position_parse(fen, &pos, NULL), FAULT_NONE);
    for (bool solver = false; line.len > 0 && n < room; solver = !solver) {
        move m;
        assert_true(uci_parse(&pos, str_cut(&line, ' '), &m));
        if (solver)
            item_fill(&out[n++], &pos, m);
        pos = position_after(&pos, m);
    }
    return n;
}

static int load(void **s)
{
    (void)s;
    str text;
    struct err err = { 0 };
    size_t n = 0;
    if (!file_read(source_path(S("data/puzzles-train.csv"), &arena), 4 << 20, &arena, &text, &err))
        fail_msg("%s", err.text);
    str_cut_line(&text);
    while (text.len > 0 && n < ARRAY_LEN(items))
        n += read_row(str_cut_line(&text), items + n, ARRAY_LEN(items) - n);
    assert_int_equal(n, ARRAY_LEN(items));
    base = program_new(&arena, &signature_choose_move, instruction_base);
    return 0;
}

static int unload(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

// ---- asking ----

static const struct persona *persona(const char *name)
{
    const struct persona *p = sim_persona(sim_data_builtin(&arena), str_from(name));
    assert_non_null(p);
    return p;
}

static const struct program *with_instruction(str text)
{
    return program_with_instruction(&arena, base, text);
}

static const struct program *with_demos(const struct program *p, size_t n)
{
    const struct demo **demos = NEW_ARRAY(&arena, const struct demo *, n);
    for (size_t i = 0; i < n; i++) {
        struct demo *d = NEW(&arena, struct demo);
        d->inputs = items[i].inputs;
        d->outputs = &items[i].reference;
        demos[i] = d;
    }
    return program_with_demos(&arena, p, demos, n);
}

struct setting {
    double temperature;
    int64_t sample;
};
static struct reply ask(const char *who, const struct program *p, const struct item *it,
                        struct setting set, struct arena *a)
{
    struct model_request q = { .has_temperature = true,
                               .temperature = set.temperature,
                               .sample = set.sample };
    struct reply r;
    program_render(p, it->inputs, a, &q.messages);
    sim_answer(persona(who), &q, a, &r);
    return r;
}

struct tally {
    int right, malformed, illegal; // of POSITIONS
};
static struct map tallies = { .arena = &arena }; // by persona and prompt: each is played once
static struct tally play(const char *who, const struct program *p)
{
    struct arena a = { 0 };
    bool fresh;
    struct map_entry *known = map_put(
        &tallies, arena_printf(&arena, "%s %.*s", who, STR(program_hash(p, &arena))), &fresh);
    if (!fresh)
        return *(const struct tally *)known->pointer;
    struct tally *kept = NEW(&arena, struct tally);
    known->pointer = kept;
    struct tally t = { 0 };
    for (size_t i = DEMOS; i < DEMOS + POSITIONS; i++) {
        str value;
        move m;
        arena_reset(&a);
        struct reply r = ask(who, p, &items[i], (struct setting){ 0 }, &a);
        if (answer_read(&signature_choose_move, r.text, &a, &value) != READ_OK)
            t.malformed++;
        else if (!uci_parse(&items[i].pos, value, &m) &&
                 san_parse(&items[i].pos, value, &m) != SAN_LEGAL)
            t.illegal++;
        else
            t.right += m == items[i].solution;
    }
    arena_free(&a);
    print_message("%-10s right %3d malformed %3d illegal %3d of %d\n", who, t.right, t.malformed,
                  t.illegal, POSITIONS);
    *kept = t;
    return t;
}

static void assert_between(int value, int low_percent, int high_percent)
{
    if (value * 100 < low_percent * POSITIONS || value * 100 > high_percent * POSITIONS)
        fail_msg("%d of %d is not between %d %% and %d %%", value, POSITIONS, low_percent,
                 high_percent);
}

// ---- the same request, the same reply ----

static void the_same_request_has_the_same_reply(void **s)
{
    (void)s;
    const struct program *p = with_demos(with_instruction(S(GUIDANCE)), 4);
    for (size_t i = 0; i < 50; i++) {
        struct reply a =
            ask("responsive", p, &items[DEMOS + i], (struct setting){ 0.7, 3 }, &arena);
        struct reply b =
            ask("responsive", p, &items[DEMOS + i], (struct setting){ 0.7, 3 }, &arena);
        assert_str(a.text, b.text);
        assert_str(a.request_id, b.request_id);
        assert_int_equal(a.latency_ms, b.latency_ms);
        assert_int_equal(a.cost_nusd, b.cost_nusd);
    }
}

static void samples_differ_only_above_temperature_zero(void **s)
{
    (void)s;
    int differ = 0;
    for (size_t i = DEMOS; i < DEMOS + 100; i++) {
        struct reply cold = ask("responsive", base, &items[i], (struct setting){ 0, 1 }, &arena);
        struct reply cold2 = ask("responsive", base, &items[i], (struct setting){ 0, 2 }, &arena);
        struct reply warm = ask("responsive", base, &items[i], (struct setting){ 1, 1 }, &arena);
        struct reply warm2 = ask("responsive", base, &items[i], (struct setting){ 1, 2 }, &arena);
        assert_str(cold.text, cold2.text);
        differ += !str_eq(warm.text, warm2.text);
    }
    assert_true(differ > 30 && differ < 95);
}

static void a_missing_temperature_is_one(void **s)
{
    (void)s;
    struct model_request q = { .sample = 4 };
    program_render(base, items[DEMOS].inputs, &arena, &q.messages);
    struct reply unset;
    sim_answer(persona("modest"), &q, &arena, &unset);
    struct reply one = ask("modest", base, &items[DEMOS], (struct setting){ 1, 4 }, &arena);
    assert_str(unset.request_id, one.request_id);
    assert_str(unset.text, one.text);
}

// ---- the personas ----

static void responsive_plays_as_designed_and_gains_by_guidance_and_by_demos(void **s)
{
    (void)s;
    int bare = play("responsive", base).right;
    int guided = play("responsive", with_instruction(S(GUIDANCE))).right;
    int shown = play("responsive", with_demos(base, DEMOS)).right;
    int both = play("responsive", with_demos(with_instruction(S(GUIDANCE)), DEMOS)).right;
    assert_between(bare, 30, 45);
    assert_between(guided - bare, 10, 25);
    assert_between(shown - bare, 10, 20);
    assert_true(both > guided && both > shown);
    assert_between(both, 50, 85);
}

static void few_demos_help_less_than_many(void **s)
{
    (void)s;
    int two = play("responsive", with_demos(base, 2)).right;
    int many = play("responsive", with_demos(base, DEMOS)).right;
    assert_between(many - two, 3, 20);
}

static void harmful_advice_and_negated_advice_cost_points(void **s)
{
    (void)s;
    int bare = play("responsive", base).right;
    str harm = S("Answer quickly, trust your gut, prefer quiet moves and play it safe.");
    str negated = S("Do not calculate. Never look at forcing moves.");
    assert_between(bare - play("responsive", with_instruction(harm)).right, 5, 30);
    assert_between(bare - play("responsive", with_instruction(negated)).right, 3, 30);
}

static void synonyms_count_alike_and_repetition_does_not(void **s)
{
    (void)s;
    str one = S("Consider every check and the tactical shots.");
    str other = S("Prefer forcing moves; watch for double attacks.");
    int a = play("responsive", with_instruction(one)).right;
    int b = play("responsive", with_instruction(other)).right;
    assert_between(abs(a - b), 0, 6);
    struct buf stuffed = { .arena = &arena };
    for (int i = 0; i < 20; i++)
        buf_add(&stuffed, S("every check. "));
    int c = play("responsive", with_instruction(buf_str(&stuffed))).right;
    assert_true(c <= a + POSITIONS * 3 / 100);
}

static void stubborn_never_changes_an_answer(void **s)
{
    (void)s;
    const struct program *other =
        with_demos(with_instruction(S(GUIDANCE " " STRICT " " LEGAL)), DEMOS);
    for (size_t i = DEMOS; i < DEMOS + POSITIONS; i++) {
        struct setting warm = { i % 2 ? 0 : 0.9, (int64_t)i };
        struct reply a = ask("stubborn", base, &items[i], warm, &arena);
        struct reply b = ask("stubborn", other, &items[i], warm, &arena);
        assert_str(a.text, b.text);
    }
    assert_between(play("stubborn", base).right, 30, 45);
}

static void modest_gains_less_than_responsive(void **s)
{
    (void)s;
    const struct program *good = with_demos(with_instruction(S(GUIDANCE)), DEMOS);
    int modest = play("modest", good).right - play("modest", base).right;
    int responsive = play("responsive", good).right - play("responsive", base).right;
    assert_between(modest, 3, 25);
    assert_true(modest < responsive);
}

static void brittle_is_worse_with_demos(void **s)
{
    (void)s;
    int bare = play("brittle", base).right;
    assert_between(bare - play("brittle", with_demos(base, DEMOS)).right, 8, 30);
    assert_between(play("brittle", with_instruction(S(GUIDANCE))).right - bare, 3, 25);
}

static void sloppy_breaks_the_format_until_told_or_shown(void **s)
{
    (void)s;
    struct tally bare = play("sloppy", base);
    struct tally told = play("sloppy", with_instruction(S(STRICT " " LEGAL)));
    struct tally shown = play("sloppy", with_demos(base, DEMOS));
    assert_between(bare.malformed, 35, 60);
    assert_between(told.malformed, 0, 6);
    assert_between(shown.malformed, 2, 20);
    assert_true(told.illegal < bare.illegal);
    assert_true(told.right > bare.right + POSITIONS / 10);
}

static void strong_is_strong(void **s)
{
    (void)s;
    struct tally t = play("strong", base);
    assert_between(t.right, 65, 85);
    assert_between(t.malformed + t.illegal, 0, 4);
}

static void long_instructions_tire(void **s)
{
    (void)s;
    struct buf b = { .arena = &arena };
    for (int i = 0; i < 200; i++)
        buf_add(&b, S("The board has sixty-four squares of two colours. "));
    int tired = play("brittle", with_instruction(buf_str(&b))).right;
    assert_between(play("brittle", base).right - tired, 8, 45);
}

static void hidden_moves_are_found_less_often(void **s)
{
    (void)s;
    int n[2] = { 0 };
    int right[2] = { 0 };
    struct arena a = { 0 };
    for (size_t i = DEMOS; i < DEMOS + POSITIONS; i++) {
        const struct item *it = &items[i];
        // The rules alone decide here: mate at once, or a move that neither checks nor captures.
        int kind =
            move_gives_mate(&it->pos, it->solution) ? 0
            : move_gives_check(&it->pos, it->solution) || move_is_capture(&it->pos, it->solution)
                ? -1
                : 1;
        str value;
        move m;
        arena_reset(&a);
        struct reply r = ask("responsive", base, it, (struct setting){ 0 }, &a);
        if (kind < 0)
            continue;
        n[kind]++;
        if (answer_read(&signature_choose_move, r.text, &a, &value) == READ_OK &&
            (uci_parse(&it->pos, value, &m) || san_parse(&it->pos, value, &m) == SAN_LEGAL))
            right[kind] += m == it->solution;
    }
    arena_free(&a);
    print_message("mates %d of %d, quiet moves %d of %d\n", right[0], n[0], right[1], n[1]);
    assert_true(n[0] > 20 && n[1] > 20);
    assert_true(right[0] * n[1] * 10 > right[1] * n[0] * 13); // more often by a third at least
}

// ---- what a reply holds ----

static void usage_price_and_latency_are_modelled(void **s)
{
    (void)s;
    struct reply r = ask("strong", base, &items[DEMOS], (struct setting){ 0 }, &arena);
    struct messages m = { 0 };
    program_render(base, items[DEMOS].inputs, &arena, &m);
    assert_int_equal(r.class, REPLY_OK);
    assert_int_equal(r.finish, FINISH_STOP);
    assert_int_equal(r.usage.input_tok,
                     tokens_estimate(m.v[0].text) + tokens_estimate(m.v[1].text));
    assert_int_equal(r.usage.output_tok, tokens_estimate(r.text));
    assert_int_equal(r.cost_nusd, r.usage.input_tok * 150 + r.usage.output_tok * 600);
    assert_true(r.latency_ms >= 200 && r.latency_ms < 900);
    assert_str(r.served_provider, S("simulated"));
}

static void a_token_limit_cuts_the_answer(void **s)
{
    (void)s;
    struct model_request q = { .has_temperature = true, .max_tokens = 2 };
    struct reply r;
    program_render(base, items[DEMOS].inputs, &arena, &q.messages);
    sim_answer(persona("strong"), &q, &arena, &r);
    assert_int_equal(r.class, REPLY_TRUNCATED);
    assert_int_equal(r.finish, FINISH_LENGTH);
    assert_int_equal(r.usage.output_tok, 2);
    assert_int_equal(r.text.len, 8);
}

static str answer_to(str question)
{
    struct message one = { ROLE_USER, question };
    struct model_request q = { .messages = { &one, 1, 1 }, .has_temperature = true };
    struct reply r;
    sim_answer(persona("strong"), &q, &arena, &r);
    return r.text;
}

static void any_prompt_gets_an_answer(void **s)
{
    (void)s;
    assert_str(answer_to(S("")), S("{\"move\":\"none\"}"));
    assert_str(answer_to(S("Hello?")), S("{\"move\":\"none\"}"));
    // Only one legal move, found without a list, in a prompt of another shape.
    str only = answer_to(S("Position \"7k/8/6K1/8/8/8/8/R7 b - - 0 1\", your move?"));
    assert_true(str_eq(only, S("{\"move\":\"h8g8\"}")) || str_eq(only, S("{\"move\":\"Kg8\"}")));
    // Mate: nothing can be played. Nonsense: what is listed is taken.
    assert_str(answer_to(S("[[ ## position_fen ## ]]\n6kR/5pp1/6K1/8/8/8/8/8 b - - 0 1\n")),
               S("{\"move\":\"none\"}"));
    assert_str(answer_to(S("[[ ## position_fen ## ]]\nno board\n\n"
                           "[[ ## legal_moves_uci ## ]]\ne2e4\n\nRespond")),
               S("{\"move\":\"e2e4\"}"));
    // No chat at all.
    struct model_request q = { .has_temperature = true };
    struct reply r;
    sim_answer(persona("strong"), &q, &arena, &r);
    assert_int_equal(r.class, REPLY_OK);
}

static void all_asked_fields_are_given_in_order(void **s)
{
    (void)s;
    const struct program *p = program_new(&arena, &signature_choose_move_analysis, S("Play."));
    struct reply r = ask("strong", p, &items[DEMOS], (struct setting){ 0 }, &arena);
    str values[2];
    assert_int_equal(answer_read(&signature_choose_move_analysis, r.text, &arena, values), READ_OK);
    assert_true(values[0].len > 0 && values[1].len > 0);
    assert_true(str_find(r.text, S("\"analysis\"")) < str_find(r.text, S("\"move\"")));
}

static void only_listed_moves_are_played(void **s)
{
    (void)s;
    const struct item *it = &items[DEMOS];
    struct move_list moves;
    moves_sorted(&it->pos, &moves);
    for (size_t i = 0; i < moves.n; i++) {
        str uci = arena_str(&arena, str_from(uci_format(moves.v[i]).data));
        struct item narrowed = *it;
        narrowed.inputs[2] = uci;
        struct reply r = ask("stubborn", base, &narrowed, (struct setting){ 0 }, &arena);
        str value;
        move m;
        if (answer_read(&signature_choose_move, r.text, &arena, &value) == READ_OK &&
            uci_parse(&it->pos, value, &m))
            assert_str(value, uci);
    }
}

// ---- the provider, the list, the explanation ----

static const char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}
static const struct provider *const providers[] = { &provider_sim, NULL };
static const struct model_source source = { providers, no_environment };

static void models_open_by_name_and_say_that_they_are_simulated(void **s)
{
    (void)s;
    const struct sim_data *data = sim_data_builtin(&arena);
    assert_int_equal(sim_persona_count(data), 7);
    for (size_t i = 0; i < sim_persona_count(data); i++) {
        const struct persona *p = sim_persona_at(data, i);
        struct model m = { 0 };
        struct err err = { 0 };
        str name = arena_printf(&arena, "sim/%.*s", STR(sim_persona_name(p)));
        if (!model_open(name, &(struct model_opts){ .from = &source }, &arena, &m, &err))
            fail_msg("%s", err.text);
        assert_true(m.simulated);
        assert_true(m.price.known);
        assert_true(sim_persona_summary(p).len > 10);
        struct messages chat = { 0 };
        struct reply r;
        program_render(base, items[DEMOS].inputs, &arena, &chat);
        struct model_request q = { .messages = chat, .has_temperature = true };
        struct reply again;
        struct reply direct;
        assert_true(provider_sim.answer(&m, &q, &arena, &r, &err));
        assert_true(provider_sim.answer(&m, &q, &arena, &again, &err)); // now it knows the position
        sim_answer(p, &q, &arena, &direct);
        assert_str(r.served_model, name);
        assert_str(r.text, direct.text);
        assert_str(again.text, direct.text);
    }
}

static void an_unknown_persona_is_an_error_that_lists_the_known(void **s)
{
    (void)s;
    struct model m = { 0 };
    struct err err = { 0 };
    assert_false(
        model_open(S("sim/metal"), &(struct model_opts){ .from = &source }, &arena, &m, &err));
    assert_int_equal(err.code, ERR_USAGE);
    static const char *const names[] = { "metal",   "sim/responsive", "sim/modest", "sim/stubborn",
                                         "brittle", "sim/sloppy",     "sim/strong" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_find(str_from(err.text), str_from(names[i])) < 0)
            fail_msg("%s is not in: %s", names[i], err.text);
}

static void the_explanation_names_what_it_sees(void **s)
{
    (void)s;
    str bare = sim_explain(persona("responsive"), base, &arena);
    str good = sim_explain(persona("responsive"),
                           with_demos(with_instruction(S(GUIDANCE " " LEGAL)), DEMOS), &arena);
    assert_true(str_find(bare, S("SIMULATED")) >= 0);
    assert_true(str_find(bare, S("nothing it reacts to")) >= 0);
    static const char *const parts[] = { "forcing moves",    "looking ahead", "looking for mate",
                                         "legality",         "material",      "demonstrations",
                                         "expected accuracy" };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        assert_true(str_find(good, str_from(parts[i])) >= 0);
}

static double expected_percent(const char *who, const struct program *p)
{
    str text = sim_explain(persona(who), p, &arena);
    str mark = S("at temperature 0: ");
    ptrdiff_t at = str_find(text, mark);
    assert_true(at >= 0);
    str rest = str_sub(text, (size_t)at + mark.len, text.len);
    double percent;
    assert_true(str_to_double(str_cut(&rest, ' '), &percent));
    return percent;
}

static void the_expectation_is_near_what_is_played(void **s)
{
    (void)s;
    static const char *const who[] = { "responsive", "modest", "stubborn", "brittle", "strong" };
    const struct program *both = with_demos(with_instruction(S(GUIDANCE)), DEMOS);
    for (size_t i = 0; i < ARRAY_LEN(who); i++) {
        double bare = expected_percent(who[i], base);
        double good = expected_percent(who[i], both);
        assert_between(play(who[i], base).right, (int)bare - 9, (int)bare + 9);
        assert_between(play(who[i], both).right, (int)good - 9, (int)good + 9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_request_has_the_same_reply),
        cmocka_unit_test(samples_differ_only_above_temperature_zero),
        cmocka_unit_test(a_missing_temperature_is_one),
        cmocka_unit_test(responsive_plays_as_designed_and_gains_by_guidance_and_by_demos),
        cmocka_unit_test(few_demos_help_less_than_many),
        cmocka_unit_test(harmful_advice_and_negated_advice_cost_points),
        cmocka_unit_test(synonyms_count_alike_and_repetition_does_not),
        cmocka_unit_test(stubborn_never_changes_an_answer),
        cmocka_unit_test(modest_gains_less_than_responsive),
        cmocka_unit_test(brittle_is_worse_with_demos),
        cmocka_unit_test(sloppy_breaks_the_format_until_told_or_shown),
        cmocka_unit_test(strong_is_strong),
        cmocka_unit_test(long_instructions_tire),
        cmocka_unit_test(hidden_moves_are_found_less_often),
        cmocka_unit_test(usage_price_and_latency_are_modelled),
        cmocka_unit_test(a_token_limit_cuts_the_answer),
        cmocka_unit_test(any_prompt_gets_an_answer),
        cmocka_unit_test(all_asked_fields_are_given_in_order),
        cmocka_unit_test(only_listed_moves_are_played),
        cmocka_unit_test(models_open_by_name_and_say_that_they_are_simulated),
        cmocka_unit_test(an_unknown_persona_is_an_error_that_lists_the_known),
        cmocka_unit_test(the_explanation_names_what_it_sees),
        cmocka_unit_test(the_expectation_is_near_what_is_played),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
