// SPDX-License-Identifier: GPL-3.0-or-later
// The process alone: sources loaded without the check and without the reduced interpreter, with the
// whole library at hand. Whatever they try is denied, or ends them, and touches nothing outside.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "hostile.h"
#include "sandboxed.h"

// Loads `source` raw and calls parse_action, if it comes to that. The state, and what it said.
static enum cell_state run_raw(str source, struct arena *a, struct harness_result *r, str *end)
{
    struct cell *c;
    struct err err = { 0 };
    if (!cell_new(box, &c, &err))
        fail_msg("%s", err.text);
    cell_send(c, frame_source(cell_next_id(c), S("raw"), source, a), LOAD_CPU_MS);
    enum cell_state state = cell_wait(c, a, r);
    if (state == CELL_ANSWERED && r->ok)
        state = parse_with(c, S("x"), a, r);
    *end = cell_end_text(c, a);
    cell_free(c);
    return state;
}

static const struct attempt {
    const char *body;
    bool dies; // killed by the filter; else an OSError inside
} attempts[] = {
    { "open('/etc/passwd').read()", false },
    { "os.open('/tmp/canary', os.O_CREAT | os.O_WRONLY)", false },
    { "os.listdir('/')", false },
    { "os.stat('/')", false },
    { "open('/proc/self/environ').read()", false },
    { "socket.socket()", true },
    { "socket.socketpair()", true },
    { "os.fork()", true },
    { "os.execv('/bin/true', ['true'])", true },
    { "os.posix_spawn('/bin/true', ['true'], {})", true },
    { "os.kill(os.getppid() or 1, 9)", true },
    { "os.kill(PARENT, 9)", true },
    { "need(ctypes.CDLL(None, use_errno=True).ptrace(16, PARENT, 0, 0) == 0)", true },
    { "need(any(writes(fd) for fd in (0, 1, 2, *range(4, 1024))))", false },
    { "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)", false },
    { "resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000))", false },
    { "os.memfd_create('x')", false },
    { "os.pipe()", false },
    { "os.dup(3)", false },
    { "os.setuid(0)", false },
    { "os.chdir('/')", false },
    { "os.urandom(4)", false },
    { "random.SystemRandom().random()", false },
    { "need(libc().syscall(101, 0, 0, 0, 0) == 0)", true }, // ptrace on x86-64
};

static const char prelude[] =
    "import ctypes, mmap, os, resource, signal, socket\n"
    "def need(ok):\n    if not ok: raise PermissionError('denied')\n"
    "def libc():\n    return ctypes.CDLL(None, use_errno=True)\n"
    "def writes(fd):\n"
    "    try:\n        return os.write(fd, b'x') > 0\n    except OSError:\n        return False\n"
    "def propose_action(b):\n    return ''\n"
    "def is_legal_action(b, a):\n    return True\n";

static void every_way_out_is_closed(void **s)
{
    (void)s;
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(attempts); i++) {
        struct harness_result r = { 0 };
        str end;
        str source =
            arena_printf(&a, "%sPARENT = %d\ndef parse_action(r):\n    %s\n    return 'escaped'\n",
                         prelude, (int)getpid(), attempts[i].body);
        enum cell_state state = run_raw(source, &a, &r, &end);
        bool held = attempts[i].dies ? state == CELL_FAULT && str_eq(end, S("signal:31"))
                                     : state == CELL_ANSWERED && !r.ok;
        if (!held)
            fail_msg("%s: state %d, end \"%.*s\", %.*s %.*s, \"%.*s\"", attempts[i].body, state,
                     STR(end), STR(r.error_class), STR(r.error_message), STR(r.text));
    }
    assert_true(access("/tmp/canary", F_OK) != 0);
    arena_free(&a);
}

static void the_environment_and_the_line_are_not_in_the_process(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r = { 0 };
    str end;
    setenv("ROOKERY_CANARY", "hidden-line-e2e4", 1);
    sandbox_free(box); // so that a template of this environment is asked
    open_box(true);
    // All of its memory that can be read through Python's own objects, and the C environment.
    str source = arena_printf(
        &a,
        "%simport gc\ndef parse_action(r):\n"
        "    env = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')\n"
        "    return repr(dict(os.environ)) + repr(env[0] if env else None)\n",
        prelude);
    assert_int_equal(run_raw(source, &a, &r, &end), CELL_ANSWERED);
    assert_true(r.ok);
    assert_true(str_find(r.text, S("hidden-line")) < 0);
    assert_str(r.text, S("{}None"));
    arena_free(&a);
}

static void forged_frames_are_a_broken_protocol(void **s)
{
    (void)s;
    static const char *const forgeries[] = {
        "os.write(3, b'\\xff\\xff\\xff\\xff')",       // length
        "os.write(3, b'\\x02\\x00\\x00\\x00{}')",     // no reply
        "os.write(3, b'\\x02\\x00\\x00\\x00{}' * 2)", // two
        "os.write(3, b'\\x01\\x00\\x00\\x00\\xff')",  // UTF-8
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(forgeries); i++) {
        struct harness_result r = { 0 };
        str end;
        // While it loads: its reply travels on the socket.
        str source = arena_printf(&a, "%s%s\n", prelude, forgeries[i]);
        assert_int_equal(run_raw(source, &a, &r, &end), CELL_FAULT);
        assert_str(end, S("protocol"));
    }
    arena_free(&a);
}

static void bytes_on_the_socket_break_a_call(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r = { 0 };
    str end;
    // Long enough that the socket is looked at: shorter calls do not read from it at all.
    str source = arena_printf(&a,
                              "%sdef parse_action(r):\n    os.write(3, b'\\x02\\x00\\x00\\x00{}')\n"
                              "    return str(sum(range(10**6)))\n",
                              prelude);
    assert_int_equal(run_raw(source, &a, &r, &end), CELL_FAULT);
    assert_str(end, S("protocol"));
    arena_free(&a);
}

static void a_cell_that_exits_is_a_fault(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r = { 0 };
    str end;
    str source = arena_printf(&a, "%sdef parse_action(r):\n    os._exit(3)\n", prelude);
    assert_int_equal(run_raw(source, &a, &r, &end), CELL_FAULT);
    assert_str(end, S("exit:3"));
    source = arena_printf(&a, "%sraise SystemExit(0)\n", prelude); // H57
    assert_int_equal(run_raw(source, &a, &r, &end), CELL_FAULT);
    assert_true(str_starts(end, S("exit:")));
    source = arena_printf(&a, "%sdef parse_action(r):\n    os.close(3)\n", prelude);
    assert_int_equal(run_raw(source, &a, &r, &end), CELL_ANSWERED); // close is denied, too
    assert_false(r.ok);
    arena_free(&a);
}

static void every_snippet_is_held_by_the_process_alone(void **s)
{
    (void)s;
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
        struct harness_result r = { 0 };
        str end;
        run_raw(arena_printf(&a, "%s%s\n", REQUIRED, hostile[i].snippet), &a, &r, &end);
        if (strcmp(hostile[i].id, "H16") == 0)
            assert_str(end, S("signal:31"));
        if (strcmp(hostile[i].id, "H40") == 0 || strcmp(hostile[i].id, "H56") == 0)
            assert_false(r.ok);
    }
    arena_free(&a);
}

static void raw_sources_need_a_raw_template(void **s)
{
    (void)s;
    struct arena a = { 0 };
    struct harness_result r = { 0 };
    str end;
    sandbox_free(box);
    open_box(false);
    assert_int_equal(run_raw(S("x = 1\n"), &a, &r, &end), CELL_ANSWERED);
    assert_false(r.ok);
    arena_free(&a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(true);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_out_is_closed),
        cmocka_unit_test(the_environment_and_the_line_are_not_in_the_process),
        cmocka_unit_test(forged_frames_are_a_broken_protocol),
        cmocka_unit_test(bytes_on_the_socket_break_a_call),
        cmocka_unit_test(a_cell_that_exits_is_a_fault),
        cmocka_unit_test(every_snippet_is_held_by_the_process_alone),
        cmocka_unit_test(raw_sources_need_a_raw_template),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}
