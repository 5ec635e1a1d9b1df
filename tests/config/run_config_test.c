// SPDX-License-Identifier: GPL-3.0-or-later
// The run configuration: complete files of every method, every default, every refusal.
#include <unistd.h>

#include "test.h"
#include "config/config.h"

static struct arena arena;
static char dir[64];

#define HEAD "benchmark: independent_positions\n"
#define TASK "task_model: {name: sim/strong}\n"
#define FOR(method) HEAD "method: " method "\n" TASK
#define DECISION HEAD "task_model: {name: typesafe/jev-1.13-20260917}\n"
#define META "prompt_model: {name: sim/meta}\n"

static str save(str text)
{
    struct err err = { 0 };
    str path = path_join(str_from(dir), S("c.yaml"), &arena);
    if (!file_save(path, text, &err))
        fail_msg("%s", err.text);
    return path;
}

static bool load(str text, struct run_config *c, struct err *err)
{
    config_defaults(c);
    return config_load(save(text), &arena, c, err) && config_finish(c, err);
}

// "FILE" in front of a message is replaced by the path.
static str with_path(const char *message)
{
    assert_true(strncmp(message, "FILE", 4) == 0);
    return arena_printf(&arena, "%s/c.yaml%s", dir, message + 4);
}

static void refused(const char *text, const char *message)
{
    struct run_config c;
    struct err err = { 0 };
    assert_false(load(str_from(text), &c, &err));
    config_free(&c);
    assert_str(str_from(err.text), with_path(message));
    assert_int_equal(err.code, ERR_INPUT);
}

static struct run_config loaded(const char *text)
{
    struct run_config c;
    struct err err = { 0 };
    if (!load(str_from(text), &c, &err))
        fail_msg("%s\n%s", text, err.text);
    return c;
}

// The resolved configuration, compact.
static str resolved(const char *text)
{
    struct run_config c = loaded(text);
    struct buf b = { .arena = &arena };
    struct json_out o = { .b = &b };
    config_to_json(&c, &o);
    config_free(&c);
    return buf_str(&b);
}

// The value of the member `optimizer` of the resolved configuration.
static str optimizer(const char *text)
{
    str json = resolved(text), key = S("\"optimizer\":");
    str from = str_sub(json, (size_t)str_find(json, key) + key.len, json.len);
    return str_sub(from, 0, (size_t)str_find_char(from, '}') + 1);
}

static void the_defaults_are_those_of_the_specification(void **state)
{
    (void)state;
    assert_str(
        resolved(HEAD TASK),
        S("{\"benchmark\":\"independent_positions\",\"method\":\"baseline\","
          "\"train_path\":\"builtin:train\",\"test_path\":\"builtin:test\","
          "\"output_dir\":\"runs/example\",\"task_model\":{\"name\":\"sim/strong\","
          "\"temperature\":0.0,\"max_tokens\":1024,\"retries\":3,\"timeout_seconds\":null,"
          "\"extra\":{}},\"prompt_model\":null,\"seed\":42,\"train_limit\":0,"
          "\"validation_size\":140,\"test_limit\":0,\"max_metric_calls\":2000,\"optimizer\":{},"
          "\"use_analysis\":false,\"include_ground_truth_feedback\":false,"
          "\"continue_on_error\":false}"));
    struct run_config c = loaded(HEAD TASK);
    assert_str(c.rookery.preset, S("paper"));
    assert_true(c.rookery.max_cost_usd == 0);
    assert_int_equal(c.rookery.concurrency, 0);
    assert_false(c.has_prompt_model);
    config_free(&c);
}

static void every_key_can_be_set(void **state)
{
    (void)state;
    assert_str(
        resolved("benchmark: independent_positions\n"
                 "method: gepa\n"
                 "train_path: data/a.csv\n"
                 "test_path: 'data/b.csv'\n"
                 "output_dir: 2026-12-01\n" // a date where a text is wanted
                 "task_model:\n"
                 "  name: openrouter/google/gemini-2.5-flash-lite\n"
                 "  temperature: 1\n"
                 "  max_tokens: null\n"
                 "  retries: 0\n"
                 "  timeout_seconds: 30\n"
                 "  extra: {drop_params: true, reasoning_effort: low, top: [1, 0.5, null]}\n"
                 "prompt_model:\n"
                 "  name: openai/gpt-x\n"
                 "  temperature: 0.7\n"
                 "  max_tokens: 32_000\n"
                 "seed: 0x10\n"
                 "train_limit: 1\n"
                 "validation_size: 2\n"
                 "test_limit: 3\n"
                 "max_metric_calls: 4\n"
                 "optimizer: {auto: ~}\n"
                 "use_analysis: yes\n"
                 "include_ground_truth_feedback: On\n"
                 "continue_on_error: TRUE\n"),
        S("{\"benchmark\":\"independent_positions\",\"method\":\"gepa\","
          "\"train_path\":\"data/a.csv\",\"test_path\":\"data/b.csv\","
          "\"output_dir\":\"2026-12-01\","
          "\"task_model\":{\"name\":\"openrouter/google/gemini-2.5-flash-lite\","
          "\"temperature\":1.0,\"max_tokens\":null,\"retries\":0,\"timeout_seconds\":30.0,"
          "\"extra\":{\"drop_params\":true,\"reasoning_effort\":\"low\",\"top\":[1,0.5,null]}},"
          "\"prompt_model\":{\"name\":\"openai/gpt-x\",\"temperature\":0.7,\"max_tokens\":32000,"
          "\"retries\":3,\"timeout_seconds\":null,\"extra\":{}},\"seed\":16,\"train_limit\":1,"
          "\"validation_size\":2,\"test_limit\":3,\"max_metric_calls\":4,"
          "\"optimizer\":{\"auto\":null,\"reflection_minibatch_size\":3,"
          "\"candidate_selection_strategy\":\"pareto\",\"skip_perfect_score\":true,"
          "\"use_merge\":true,\"num_threads\":16,\"track_stats\":true},"
          "\"use_analysis\":true,\"include_ground_truth_feedback\":true,"
          "\"continue_on_error\":true}"));
}

static void optimizer_defaults_are_resolved_for_each_method(void **state)
{
    (void)state;
    assert_str(optimizer(FOR("bootstrap_few_shot")),
               S("{\"max_bootstrapped_demos\":4,\"max_labeled_demos\":16,\"max_rounds\":1,"
                 "\"max_errors\":5}"));
    assert_str(optimizer(FOR("bootstrap_random_search")),
               S("{\"max_bootstrapped_demos\":4,\"max_labeled_demos\":16,\"max_rounds\":1,"
                 "\"max_errors\":5,\"num_candidate_programs\":16,\"num_threads\":16}"));
    assert_str(optimizer(FOR("copro")),
               S("{\"breadth\":10,\"depth\":3,\"track_stats\":true,\"eval_num_threads\":16,"
                 "\"eval_display_progress\":false,\"eval_display_table\":false}"));
    assert_str(optimizer(FOR("gepa")),
               S("{\"auto\":\"heavy\",\"reflection_minibatch_size\":3,"
                 "\"candidate_selection_strategy\":\"pareto\",\"skip_perfect_score\":true,"
                 "\"use_merge\":true,\"num_threads\":16,\"track_stats\":true}"));
    assert_str(optimizer(FOR("mipro_v2")),
               S("{\"auto\":\"heavy\",\"max_bootstrapped_demos\":4,\"max_labeled_demos\":4,"
                 "\"num_candidates\":null,\"num_trials\":null,\"num_threads\":16,\"max_errors\":5,"
                 "\"verbose\":false,\"minibatch\":false,\"program_aware_proposer\":true,"
                 "\"data_aware_proposer\":true,\"tip_aware_proposer\":true,"
                 "\"fewshot_aware_proposer\":true,\"requires_permission_to_run\":false}"));
    assert_str(optimizer(FOR("simba")),
               S("{\"bsize\":32,\"num_candidates\":6,\"max_steps\":8,\"max_demos\":4,"
                 "\"num_threads\":16}"));
}

static void optimizer_values_of_each_method_are_kept(void **state)
{
    (void)state;
    struct run_config c = loaded(FOR(
        "bootstrap_random_search") "optimizer: {max_bootstrapped_demos: 0, max_labeled_demos: 8,"
                                   " max_rounds: 2, max_errors: 0, num_candidate_programs: 3}\n");
    assert_int_equal(c.optimizer.max_bootstrapped_demos, 0);
    assert_int_equal(c.optimizer.max_labeled_demos, 8);
    assert_int_equal(c.optimizer.max_rounds, 2);
    assert_int_equal(c.optimizer.max_errors, 0);
    assert_int_equal(c.optimizer.num_candidate_programs, 3);
    config_free(&c);
    assert_str(optimizer(FOR("copro") "optimizer: {depth: 5, breadth: 2, track_stats: no}\n"),
               S("{\"breadth\":2,\"depth\":5,\"track_stats\":false,\"eval_num_threads\":16,"
                 "\"eval_display_progress\":false,\"eval_display_table\":false}"));
    assert_str(optimizer(FOR("gepa") "optimizer: {auto: light, use_merge: false,"
                                     " candidate_selection_strategy: current_best}\n"),
               S("{\"auto\":\"light\",\"reflection_minibatch_size\":3,"
                 "\"candidate_selection_strategy\":\"current_best\",\"skip_perfect_score\":true,"
                 "\"use_merge\":false,\"num_threads\":16,\"track_stats\":true}"));
    assert_non_null(strstr(optimizer(FOR("mipro_v2") "optimizer: {auto: null, num_candidates: 7,"
                                                     " num_trials: 9}\n")
                               .data,
                           "\"num_candidates\":7,\"num_trials\":9"));
    assert_str(optimizer(FOR("simba") "optimizer: {bsize: 4}\n"),
               S("{\"bsize\":4,\"num_candidates\":6,\"max_steps\":8,\"max_demos\":4,"
                 "\"num_threads\":16}"));
}

static void a_missing_prompt_model_is_the_task_model_at_temperature_one(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD "method: copro\ntask_model: {name: sim/strong, retries: 1, extra: {a: 1}}\n",
        HEAD "method: copro\ntask_model: {name: sim/strong, retries: 1, extra: {a: 1}}\n"
             "prompt_model: null\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct run_config c = loaded(texts[i]);
        assert_true(c.has_prompt_model);
        assert_str(c.prompt_model.name, S("sim/strong"));
        assert_true(c.prompt_model.temperature == 1.0);
        assert_true(c.task_model.temperature == 0.0);
        assert_int_equal(c.prompt_model.retries, 1);
        assert_int_equal(json_get_int(c.prompt_model.extra, "a", 0), 1);
        config_free(&c);
    }
}

static void rookery_settings_are_read(void **state)
{
    (void)state;
    struct run_config c = loaded(HEAD TASK "rookery: {preset: improved, max_cost_usd: 2.5,"
                                           " concurrency: 16}\n");
    assert_str(c.rookery.preset, S("improved"));
    assert_true(c.rookery.max_cost_usd == 2.5);
    assert_int_equal(c.rookery.concurrency, 16);
    config_free(&c);
    c = loaded(HEAD TASK "rookery: {concurrency: auto}\n");
    assert_int_equal(c.rookery.concurrency, 0);
    config_free(&c);
    refused(HEAD TASK "rookery: {copro: {proposals: full}}\n",
            "FILE:3: unknown key 'rookery.copro'; there are preset, max_cost_usd, concurrency, "
            "options");
    refused(HEAD TASK "rookery: {preset: best}\n",
            "FILE:3: rookery.preset must be one of paper, improved, got the text \"best\"");
    refused(HEAD TASK "rookery: {concurrency: 0}\n",
            "FILE:3: rookery.concurrency must be an integer >= 1 and at most 4096 or auto, got the "
            "integer 0");
    refused(HEAD TASK "rookery: {concurrency: many}\n",
            "FILE:3: rookery.concurrency must be an integer >= 1 and at most 4096 or auto, got the "
            "text \"many\"");
    refused(HEAD TASK "rookery: {max_cost_usd: -1}\n",
            "FILE:3: rookery.max_cost_usd must be a number > 0, got the integer -1");
    refused(HEAD TASK "rookery: {max_cost_usd: 0}\n", // not "no cap"
            "FILE:3: rookery.max_cost_usd must be a number > 0, got the integer 0");
    refused(HEAD TASK "rookery:\n  max_cost_usd: 0.0\n",
            "FILE:4: rookery.max_cost_usd must be a number > 0, got the number 0.0");
    refused(HEAD TASK "rookery: {max_cost_usd: 0.0000000001}\n",
            "FILE:3: rookery.max_cost_usd must be at least 0.000001, got the number 0.0000000001");
    refused(HEAD TASK "rookery: {max_cost_usd: null}\n",
            "FILE:3: rookery.max_cost_usd must be a number > 0, got null");
    c = loaded(HEAD TASK "rookery: {max_cost_usd: 0.000001}\n");
    assert_true(c.rookery.max_cost_usd == 1e-6);
    config_free(&c);
}

static void unknown_keys_are_named_with_their_line_and_the_nearest(void **state)
{
    (void)state;
    refused(HEAD TASK "sed: 1\n", "FILE:3: unknown key 'sed'; did you mean 'seed'?");
    refused(HEAD TASK "optimiser: {}\n",
            "FILE:3: unknown key 'optimiser'; did you mean 'optimizer'?");
    refused(HEAD "task_model:\n  name: a/b\n  temprature: 1\n",
            "FILE:4: unknown key 'task_model.temprature'; did you mean 'temperature'?");
    refused(HEAD TASK "prompt_model: {name: a/b, max_token: 1}\n",
            "FILE:3: unknown key 'prompt_model.max_token'; did you mean 'max_tokens'?");
    refused(FOR("copro") "optimizer:\n  bredth: 2\n",
            "FILE:5: unknown key 'optimizer.bredth'; did you mean 'breadth'?");
}

static void keys_of_another_method_are_refused(void **state)
{
    (void)state;
    refused(FOR("gepa") "optimizer:\n  breadth: 10\n",
            "FILE:5: optimizer.breadth is a key of copro, not of method gepa");
    refused(FOR("bootstrap_few_shot") "optimizer: {num_threads: 4}\n",
            "FILE:4: optimizer.num_threads is a key of bootstrap_random_search, gepa, mipro_v2, "
            "simba, not of method bootstrap_few_shot");
    refused(HEAD TASK "optimizer: {seeds: 1}\n",
            "FILE:3: unknown key 'optimizer.seeds'; method baseline has no optimizer keys");
    refused(HEAD TASK "optimizer: {depth: 1}\n",
            "FILE:3: optimizer.depth is a key of copro, not of method baseline");
    assert_str(optimizer(HEAD TASK "optimizer: {}\n"), S("{}"));
}

static void wrong_types_are_told_with_the_value(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "seed: abc", "seed must be an integer >= 0, got the text \"abc\"" },
        { "seed: -1", "seed must be an integer >= 0, got the integer -1" },
        { "seed: 1.5", "seed must be an integer >= 0, got the number 1.5" },
        { "seed: null", "seed must be an integer >= 0, got null" },
        { "seed: yes", "seed must be an integer >= 0, got the boolean yes" },
        { "seed: [1]", "seed must be an integer >= 0, got a list" },
        { "seed: {}", "seed must be an integer >= 0, got a mapping" },
        { "seed: 2026-12-01", "seed must be an integer >= 0, got the date 2026-12-01" },
        { "seed: '42'", "seed must be an integer >= 0, got the text \"42\" (YAML 1.1 takes 42 for "
                        "a text: write it without quotes)" },
        { "train_limit: 1e3",
          "train_limit must be an integer >= 0, got the text \"1e3\" (YAML 1.1 takes 1e3 for a "
          "text: write it without an exponent, and without quotes)" },
        { "train_limit: -1", "train_limit must be an integer >= 0, got the integer -1" },
        { "validation_size: 0", "validation_size must be an integer >= 1, got the integer 0" },
        { "test_limit: -5", "test_limit must be an integer >= 0, got the integer -5" },
        { "max_metric_calls: 0", "max_metric_calls must be an integer >= 1, got the integer 0" },
        { "test_limit: 1_000_000_001",
          "test_limit must be an integer >= 0, got the integer 1_000_000_001" },
        { "train_path: 12", "train_path must be a text, got the integer 12: put it in quotes" },
        { "test_path: ''", "test_path must be a text, got the text \"\"" },
        { "output_dir: ~", "output_dir must be a text, got null" },
        { "output_dir: \"a\\0b\"", "output_dir has a NUL character in it" },
        { "use_analysis: 1", "use_analysis must be true or false, got the integer 1" },
        { "use_analysis: y", "use_analysis must be true or false, got the text \"y\"" },
        { "continue_on_error: 'true'",
          "continue_on_error must be true or false, got the text \"true\"" },
        { "include_ground_truth_feedback: null",
          "include_ground_truth_feedback must be true or false, got null" },
        { "method: gepaa", "method must be one of baseline, bootstrap_few_shot, "
                           "bootstrap_random_search, copro, gepa, mipro_v2, simba, got the text "
                           "\"gepaa\"" },
        { "optimizer: []", "optimizer must be a mapping, got a list" },
        { "optimizer:", "optimizer must be a mapping, got null" },
        { "prompt_model: x", "prompt_model must be a mapping or null, got the text \"x\"" },
        { "rookery: 1", "rookery must be a mapping, got the integer 1" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        refused(arena_printf(&arena, HEAD TASK "%s\n", rows[i][0]).data,
                arena_printf(&arena, "FILE:3: %s", rows[i][1]).data);
}

static void model_values_are_checked(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "temperature: -0.1", "temperature must be a number >= 0, got the number -0.1" },
        { "temperature: .nan", "temperature must be a number >= 0, got the number .nan" },
        { "temperature: .inf", "temperature must be a number >= 0, got the number .inf" },
        { "temperature: null", "temperature must be a number >= 0, got null" },
        { "temperature: hot", "temperature must be a number >= 0, got the text \"hot\"" },
        { "max_tokens: 0", "max_tokens must be an integer >= 1 or null, got the integer 0" },
        { "max_tokens: 1.0", "max_tokens must be an integer >= 1 or null, got the number 1.0" },
        { "retries: -1", "retries must be an integer >= 0, got the integer -1" },
        { "timeout_seconds: 0", "timeout_seconds must be a number > 0 or null, got the integer 0" },
        { "timeout_seconds: no",
          "timeout_seconds must be a number > 0 or null, got the boolean no" },
        { "extra: null", "extra must be a mapping, got null" },
        { "extra: [1]", "extra must be a mapping, got a list" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        refused(arena_printf(&arena, HEAD "task_model:\n  name: a/b\n  %s\n", rows[i][0]).data,
                arena_printf(&arena, "FILE:4: task_model.%s", rows[i][1]).data);
    refused(HEAD "task_model:\n  name: a/b\n  extra:\n    a: .inf\n",
            "FILE:5: .inf is not a finite number, which JSON does not have: put it in quotes");
    static const char *const names[] = { "gpt-4o", "/x", "x/" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        refused(arena_printf(&arena, HEAD "task_model: {name: %s}\n", names[i]).data,
                arena_printf(&arena,
                             "FILE:2: task_model.name must be provider/model, such as "
                             "openai/gpt-4o, got \"%s\"",
                             names[i])
                    .data);
}

static void optimizer_values_are_checked(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        { "bootstrap_few_shot", "max_rounds: 0",
          "max_rounds must be an integer >= 1, got the integer 0" },
        { "bootstrap_few_shot", "max_labeled_demos: -1",
          "max_labeled_demos must be an integer >= 0, got the integer -1" },
        { "copro", "breadth: 1", "breadth must be an integer >= 2, got the integer 1" },
        { "copro", "track_stats: 1", "track_stats must be true or false, got the integer 1" },
        { "gepa", "auto: huge",
          "auto must be one of light, medium, heavy or null, got the text \"huge\"" },
        { "gepa", "candidate_selection_strategy: best",
          "candidate_selection_strategy must be one of pareto, current_best, epsilon_greedy, "
          "top_k_pareto, unpruned_pareto, got the text \"best\"" },
        { "mipro_v2", "auto: huge",
          "auto must be one of light, medium, heavy or null, got the text \"huge\"" },
        { "mipro_v2", "num_trials: 0",
          "num_trials must be an integer >= 1 or null, got the integer 0" },
        { "simba", "bsize: '32'",
          "bsize must be an integer >= 1, got the text \"32\" (YAML 1.1 takes 32 for a text: write "
          "it without quotes)" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        refused(arena_printf(&arena, HEAD "method: %s\n" TASK "optimizer:\n  %s\n", rows[i][0],
                             rows[i][1])
                    .data,
                arena_printf(&arena, "FILE:5: optimizer.%s", rows[i][2]).data);
}

static void required_keys_are_asked_for(void **state)
{
    (void)state;
    refused(TASK, "FILE: the key 'benchmark' is missing: add `benchmark: independent_positions`");
    refused("benchmark: games\n" TASK,
            "FILE:1: benchmark must be independent_positions, got the text \"games\"");
    refused(HEAD, "FILE: no model: write `task_model: {name: provider/model}` in the "
                  "configuration, or give --model");
    refused(HEAD "task_model: {temperature: 1}\n",
            "FILE:2: task_model has no name: add `name: provider/model`");
    refused(HEAD TASK "prompt_model: {}\n",
            "FILE:3: prompt_model has no name: add `name: provider/model`");
    refused("- 1\n", "FILE:1: a configuration is a mapping of keys to values, such as `benchmark: "
                     "independent_positions`");
    refused("~\n", "FILE:1: a configuration is a mapping of keys to values, such as "
                   "`benchmark: independent_positions`");
    refused("", "FILE: there is nothing in this file");
    struct run_config c;
    struct err err = { 0 };
    config_defaults(&c); // without a file the flags are to blame
    assert_false(config_finish(&c, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_int_equal(strncmp(err.text, "no model: ", 10), 0);
    config_free(&c);
}

static void a_decision_model_has_rules_of_its_own(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { HEAD "task_model: {name: typesafe/jev-1.13-20260917, temperature: 0.5}\n",
          "task_model.temperature must be 0 for a decision model" },
        { HEAD "task_model: {name: typesafe/jev-1.13-20260917, max_tokens: 1024}\n",
          "task_model.max_tokens must be absent or null for a decision model" },
        { HEAD "task_model: {name: typesafe/jev-1.13-20260917, extra: {a: 1}}\n",
          "task_model.extra must be empty for a decision model" },
        { HEAD TASK "prompt_model: {name: typesafe/jev-1.13-20260917}\n",
          "prompt_model cannot be a decision model: it writes no text; name another" },
        { DECISION META "method: simba\n",
          "method simba cannot use a decision model: it learns from the better and the worse of "
          "several answers to one position, and that model has no sampling; choose another of "
          "both" },
        { DECISION "use_analysis: true\n",
          "use_analysis must be false for a decision model: it writes no text" },
        { DECISION "method: copro\n", "a decision model needs an explicit prompt_model with every "
                                      "method but baseline: add one" },
        { DECISION "method: gepa\nprompt_model: null\n",
          "a decision model needs an explicit prompt_model with every method but baseline: add "
          "one" },
        { DECISION META "method: bootstrap_few_shot\noptimizer: {max_rounds: 2}\n",
          "optimizer.max_rounds must be 1 for a decision model" },
        { DECISION META "method: bootstrap_random_search\noptimizer: {max_rounds: 3}\n",
          "optimizer.max_rounds must be 1 for a decision model" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        refused(rows[i][0], arena_printf(&arena, "FILE: %s", rows[i][1]).data);
    static const char *const good[] = {
        DECISION,
        HEAD "task_model: {name: typesafe/jev-1.13-20260917, temperature: 0, max_tokens: null,"
             " extra: {}}\n",
        DECISION META "method: copro\n",
        DECISION META "method: bootstrap_few_shot\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct run_config c = loaded(good[i]);
        assert_int_equal(c.task_model.max_tokens, 0);
        config_free(&c);
    }
}

static void mipro_takes_a_named_budget_or_two_numbers(void **state)
{
    (void)state;
    const char *only = "FILE: optimizer.num_candidates and optimizer.num_trials are allowed only "
                       "with `auto: null`";
    const char *both = "FILE: optimizer.num_candidates and optimizer.num_trials are both needed "
                       "with `auto: null`";
    refused(FOR("mipro_v2") "optimizer: {num_candidates: 5}\n", only);
    refused(FOR("mipro_v2") "optimizer: {auto: heavy, num_trials: 5}\n", only);
    refused(FOR("mipro_v2") "optimizer: {auto: null}\n", both);
    refused(FOR("mipro_v2") "optimizer: {auto: null, num_trials: 5}\n", both);
    struct run_config c = loaded(FOR("mipro_v2") "optimizer: {auto: heavy, num_trials: null}\n");
    config_free(&c);
}

static void a_method_given_by_flag_is_checked_against_the_file(void **state)
{
    (void)state;
    struct run_config c;
    struct err err = { 0 };
    config_defaults(&c);
    assert_true(config_load(save(S(FOR("copro") "optimizer: {depth: 1}\n")), &arena, &c, &err));
    c.method = METHOD_GEPA;
    assert_false(config_finish(&c, &err));
    assert_str(str_from(err.text),
               with_path("FILE:4: optimizer.depth is a key of copro, not of method gepa"));
    config_free(&c);
}

static void flags_over_the_file_stay(void **state)
{
    (void)state;
    struct run_config c;
    struct err err = { 0 };
    config_defaults(&c);
    assert_true(config_load(save(S(FOR("bootstrap_few_shot") "optimizer: {max_rounds: 3}\n")),
                            &arena, &c, &err));
    assert_true(config_set(&c, S("max_rounds=7,objective=puzzle"), &arena, &err));
    c.task_model.name = S("sim/modest");
    c.seed = 5;
    assert_true(config_finish(&c, &err));
    assert_int_equal(c.optimizer.max_rounds, 7);
    assert_int_equal(c.optimizer.objective, OBJECTIVE_PUZZLE);
    assert_str(c.prompt_model.name, S("sim/modest"));
    assert_int_equal(c.seed, 5);
    config_free(&c);
}

static void default_data_is_built_in_only_where_the_files_are_missing(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct run_config c;
    assert_true(dir_make(S("data"), &err) && file_save(S("data/puzzle_train.csv"), S("x"), &err));
    config_defaults(&c);
    assert_str(c.train_path, S("data/puzzle_train.csv"));
    assert_str(c.test_path, S("builtin:test"));
    config_free(&c);
    c = loaded(HEAD TASK "test_path: data/puzzle_test.csv\n"); // named, so it must be there later
    assert_str(c.test_path, S("data/puzzle_test.csv"));
    config_free(&c);
}

static void methods_have_their_names(void **state)
{
    (void)state;
    static const char *const names[] = {
        "baseline", "bootstrap_few_shot", "bootstrap_random_search", "copro", "gepa", "mipro_v2",
        "simba"
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        enum method m = METHOD_BASELINE;
        assert_true(method_parse(str_from(names[i]), &m));
        assert_int_equal(m, i);
        assert_str(method_name(m), str_from(names[i]));
    }
    enum method m;
    assert_false(method_parse(S("GEPA"), &m));
    assert_false(method_parse(S(""), &m));
}

static void anchors_and_merges_work_in_a_configuration(void **state)
{
    (void)state;
    struct run_config c = loaded(HEAD "method: gepa\n"
                                      "task_model: &m {name: sim/strong, retries: 7}\n"
                                      "prompt_model: {<<: *m, temperature: 0.5}\n");
    assert_str(c.prompt_model.name, S("sim/strong"));
    assert_int_equal(c.prompt_model.retries, 7);
    assert_true(c.prompt_model.temperature == 0.5);
    config_free(&c);
}

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/rookery-config-XXXXXX");
    return mkdtemp(dir) ? chdir(dir) : -1; // default paths are looked for there
}

static int remove_dir(void **state)
{
    (void)state;
    int status = system(arena_printf(&arena, "rm -r '%s'", dir).data);
    arena_free(&arena);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_the_specification),
        cmocka_unit_test(every_key_can_be_set),
        cmocka_unit_test(optimizer_defaults_are_resolved_for_each_method),
        cmocka_unit_test(optimizer_values_of_each_method_are_kept),
        cmocka_unit_test(a_missing_prompt_model_is_the_task_model_at_temperature_one),
        cmocka_unit_test(rookery_settings_are_read),
        cmocka_unit_test(unknown_keys_are_named_with_their_line_and_the_nearest),
        cmocka_unit_test(keys_of_another_method_are_refused),
        cmocka_unit_test(wrong_types_are_told_with_the_value),
        cmocka_unit_test(model_values_are_checked),
        cmocka_unit_test(optimizer_values_are_checked),
        cmocka_unit_test(required_keys_are_asked_for),
        cmocka_unit_test(a_decision_model_has_rules_of_its_own),
        cmocka_unit_test(mipro_takes_a_named_budget_or_two_numbers),
        cmocka_unit_test(a_method_given_by_flag_is_checked_against_the_file),
        cmocka_unit_test(flags_over_the_file_stay),
        cmocka_unit_test(default_data_is_built_in_only_where_the_files_are_missing),
        cmocka_unit_test(methods_have_their_names),
        cmocka_unit_test(anchors_and_merges_work_in_a_configuration),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
