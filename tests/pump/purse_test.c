// SPDX-License-Identifier: GPL-3.0-or-later
// The budget that several processes share: never passed, given back, and settled for the dead.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "pump/pump.h"

static void a_cap_counts_what_is_spent_and_what_is_reserved(void **s)
{
    (void)s;
    struct err err = { 0 };
    struct purse *p = purse_new(100, 10, 2, &err);
    assert_int_equal(purse_reserve(p, 0, 60), PURSE_GRANTED);
    assert_int_equal(purse_reserve(p, 1, 31), PURSE_LATER); // 10 + 60 + 31 is over 100
    assert_int_equal(purse_reserve(p, 1, 30), PURSE_GRANTED);
    purse_settle(p, 0, 60, 5); // cheaper than feared
    assert_int_equal(purse_spent_nusd(p), 15);
    assert_int_equal(purse_reserve(p, 0, 55), PURSE_GRANTED);
    purse_settle(p, 0, 55, 50);
    purse_settle(p, 1, 30, 30);
    assert_int_equal(purse_spent_nusd(p), 95);
    assert_int_equal(purse_reserve(p, 0, 6), PURSE_EMPTY);
    assert_int_equal(purse_reserve(p, 0, 5), PURSE_GRANTED);
    purse_free(p);
}

static void no_cap_grants_everything(void **s)
{
    (void)s;
    struct err err = { 0 };
    struct purse *p = purse_new(0, 0, 1, &err);
    assert_int_equal(purse_reserve(p, 0, INT64_MAX / 4), PURSE_GRANTED);
    purse_free(p);
}

enum { CHILDREN = 4, ROUNDS = 2000, COST = 7 };

static void spend_until_empty(struct purse *p, size_t holder)
{
    for (int i = 0; i < ROUNDS; i++) {
        enum purse_answer answer;
        while ((answer = purse_reserve(p, holder, COST)) == PURSE_LATER)
            usleep(100);
        if (answer == PURSE_EMPTY)
            break;
        purse_settle(p, holder, COST, COST);
    }
    _exit(0);
}

// The cap is a multiple of the cost: together they spend all of it and no more.
static void processes_together_never_pass_the_cap(void **s)
{
    (void)s;
    struct err err = { 0 };
    struct purse *p = purse_new((int64_t)COST * ROUNDS, 0, CHILDREN, &err);
    pid_t pids[CHILDREN];
    for (size_t i = 0; i < CHILDREN; i++)
        if ((pids[i] = fork()) == 0)
            spend_until_empty(p, i);
    for (size_t i = 0; i < CHILDREN; i++)
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    assert_int_equal(purse_spent_nusd(p), (int64_t)COST * ROUNDS);
    purse_free(p);
}

static void what_a_killed_process_held_is_spent(void **s)
{
    (void)s;
    struct err err = { 0 };
    struct purse *p = purse_new(1000, 0, 2, &err);
    pid_t pid = fork();
    if (pid == 0) {
        if (purse_reserve(p, 1, 400) == PURSE_GRANTED)
            raise(SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(purse_reserve(p, 0, 700), PURSE_LATER);
    purse_forfeit(p, 1);
    assert_int_equal(purse_spent_nusd(p), 400);
    assert_int_equal(purse_reserve(p, 0, 601), PURSE_EMPTY);
    assert_int_equal(purse_reserve(p, 0, 600), PURSE_GRANTED);
    purse_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cap_counts_what_is_spent_and_what_is_reserved),
        cmocka_unit_test(no_cap_grants_everything),
        cmocka_unit_test(processes_together_never_pass_the_cap),
        cmocka_unit_test(what_a_killed_process_held_is_spent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
