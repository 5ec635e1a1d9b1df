// SPDX-License-Identifier: GPL-3.0-or-later
// BootstrapFewShot and LabeledFewShot against recorded traces of the reference software, call by
// call: same requests (hashes), order, replies, accepted attempts and final programs.
#include "trace.h"

static void play(const char *name)
{
    struct arena a = { 0 };
    struct trace t;
    struct err err = { 0 };
    struct opt_result out;
    trace_open(&t, name, METHOD_BOOTSTRAP_FEW_SHOT, &a);
    t.config.max_bootstrapped_demos = trace_option(&t, "B", 4);
    t.config.max_labeled_demos = trace_option(&t, "L", 16);
    t.config.max_rounds = trace_option(&t, "R", 1);
    if (!trace_run(&t, &out, &err))
        fail_msg("%s", err.text);
    trace_expect_totals(&t);
    trace_expect_program(&t, out.program, json_get_int(t.records[t.n - 2], "program", -1));
    trace_close(&t);
    arena_free(&a);
}

static void bfs_b0_clean(void **s)
{
    (void)s;
    play("bfs-b0-clean");
}
static void bfs_b16_noisy(void **s)
{
    (void)s;
    play("bfs-b16-noisy");
}
static void bfs_b6l4_clean(void **s)
{
    (void)s;
    play("bfs-b6l4-clean");
}
static void bfs_clean(void **s)
{
    (void)s;
    play("bfs-clean");
}
static void bfs_l0_clean(void **s)
{
    (void)s;
    play("bfs-l0-clean");
}
static void bfs_moves_clean(void **s)
{
    (void)s;
    play("bfs-moves-clean");
}
static void bfs_moves_noisy(void **s)
{
    (void)s;
    play("bfs-moves-noisy");
}
static void bfs_noisy(void **s)
{
    (void)s;
    play("bfs-noisy");
}
static void bfs_noisy_schema(void **s)
{
    (void)s;
    play("bfs-noisy-schema");
}
static void bfs_rounds2_clean(void **s)
{
    (void)s;
    play("bfs-rounds2-clean");
}

static void labeled_clean(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct trace t;
    trace_open(&t, "labeled-clean", METHOD_BOOTSTRAP_FEW_SHOT, &a);
    const struct demo **pool = NEW_ARRAY(&a, const struct demo *, t.train.n);
    for (size_t i = 0; i < t.train.n; i++)
        pool[i] = demo_labeled(&t.train.v[i], &a);
    const struct program *p = program_new(&a, &signature_choose_move, instruction_base);
    trace_expect_program(&t, labeled_few_shot(p, pool, t.train.n, 16, &a), 0);
    trace_close(&t);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labeled_clean),     cmocka_unit_test(bfs_b0_clean),
        cmocka_unit_test(bfs_b16_noisy),     cmocka_unit_test(bfs_b6l4_clean),
        cmocka_unit_test(bfs_clean),         cmocka_unit_test(bfs_l0_clean),
        cmocka_unit_test(bfs_moves_clean),   cmocka_unit_test(bfs_moves_noisy),
        cmocka_unit_test(bfs_noisy),         cmocka_unit_test(bfs_noisy_schema),
        cmocka_unit_test(bfs_rounds2_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
