// SPDX-License-Identifier: GPL-3.0-or-later
// Every task request of the recorded reference runs, rendered here from its program and position,
// must hash to what the reference sent (data/golden/README.md, section 4). And the paper's own
// published demonstrations, as far as a program without a chess board can check them.
#include <dirent.h>

#include "test.h"

#include "prompt/prompt.h"

static struct arena arena;

// A training or validation position.
struct position {
    str inputs[3];
};

struct trace {
    struct map positions; // "puzzle/index" to struct position
    struct {
        const struct program **v;
        size_t n, cap;
    } programs;
    int calls;
};

static void load_positions(struct trace *t)
{
    t->positions.arena = &arena;
    str lines = read_gz(shared_path(S("data/golden/split.jsonl.gz"), &arena), &arena);
    json_t *row;
    while ((row = next_row(&lines))) {
        struct position *p = NEW(&arena, struct position);
        p->inputs[0] = arena_str(&arena, json_get_str(row, "position_fen"));
        p->inputs[1] = arena_str(&arena, json_get_str(row, "side_to_move"));
        p->inputs[2] = arena_str(&arena, json_get_str(row, "legal_moves_uci"));
        map_put(&t->positions, json_get_str(row, "pos"), NULL)->pointer = p;
        json_decref(row);
    }
    assert_int_equal(t->positions.n, 140);
}

static const struct position *position_of(const struct trace *t, str name)
{
    const struct map_entry *entry = map_get(&t->positions, name);
    assert_non_null(entry);
    return entry->pointer;
}

static const struct demo *make_demo(const struct trace *t, const json_t *json)
{
    str *answer = NEW(&arena, str);
    *answer = arena_str(&arena, json_get_str(json, "move"));
    struct demo *d = NEW(&arena, struct demo);
    d->inputs = position_of(t, json_get_str(json, "id"))->inputs;
    d->outputs = answer;
    return d;
}

static void take_program(struct trace *t, const json_t *row)
{
    const json_t *list = json_object_get(row, "demos");
    size_t n = json_array_size(list);
    const struct demo **demos = NEW_ARRAY(&arena, const struct demo *, n);
    for (size_t i = 0; i < n; i++)
        demos[i] = make_demo(t, json_array_get(list, i));
    const struct program *p =
        program_new(&arena, &signature_choose_move, json_get_str(row, "instruction"));
    assert_str(p->instruction, json_get_str(row, "instruction"));
    assert_int_equal(json_get_int(row, "program", -1), t->programs.n);
    *vec_push(&arena, &t->programs) = program_with_demos(&arena, p, demos, n);
}

static void check_call(struct trace *t, const json_t *row)
{
    struct arena scratch = { 0 };
    size_t number = (size_t)json_get_int(row, "program", -1);
    assert_true(number < t->programs.n);
    const struct program *p = t->programs.v[number];
    assert_int_equal(json_get_int(row, "demos", -1), p->n_demos);
    struct messages m;
    program_render(p, position_of(t, json_get_str(row, "pos"))->inputs, &scratch, &m);
    struct buf b = { .arena = &scratch };
    messages_write(&m, &(struct json_out){ .b = &b });
    str hash = sha256_of(buf_str(&b), &scratch);
    if (!str_eq(hash, json_get_str(row, "messages_sha256")))
        fail_msg("call %d: other messages", (int)json_get_int(row, "n", -1));
    arena_free(&scratch);
    t->calls++;
}

static void check_trace(struct trace *t, str path)
{
    t->programs.n = 0;
    struct arena text = { 0 };
    str lines = read_gz(path, &text);
    json_t *row;
    while ((row = next_row(&lines))) {
        str type = json_get_str(row, "type");
        if (str_eq(type, S("program")))
            take_program(t, row);
        else if (str_eq(type, S("call")))
            check_call(t, row);
        json_decref(row);
    }
    arena_free(&text);
}

static void recorded_requests_are_rendered_byte_for_byte(void **s)
{
    (void)s;
    str folder = shared_path(S("data/golden"), &arena);
    struct trace t = { 0 };
    load_positions(&t);
    DIR *dir = opendir(folder.data);
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        str name = str_from(entry->d_name);
        if (str_ends(name, S(".jsonl.gz")) && !str_starts(name, S("split")))
            check_trace(&t, path_join(folder, name, &arena));
    }
    closedir(dir);
    assert_int_equal(t.calls, 28786);
}

// ---- the paper's published prompt ----

// "name: value" lines of a demo, as the paper prints them.
static void add_lines(struct buf *b, const struct signature *s, const struct demo *d)
{
    for (size_t i = 0; i < s->n_inputs; i++)
        buf_addf(b, "%.*s: %.*s\n", STR(s->inputs[i].name), STR(d->inputs[i]));
    buf_addf(b, "%.*s: %.*s", STR(s->outputs[0].name), STR(d->outputs[0]));
}

// The excerpt's demos as a saved program: each line is a demo with one unknown member more.
static const struct program *excerpt_program(void)
{
    str lines;
    struct err err = { 0 };
    assert_true(file_read(shared_path(S("data/paper/prompt_demos_excerpt.jsonl"), &arena), 1 << 20,
                          &arena, &lines, &err));
    struct buf b = { .arena = &arena };
    buf_add(&b, S("{\"choose_move\":{\"demos\":["));
    for (int i = 0; lines.len > 0; i++) {
        buf_add(&b, i ? S(",") : S(""));
        buf_add(&b, str_cut_line(&lines));
    }
    buf_addf(&b, "],\"signature\":{\"instructions\":\"%.*s\"}}}", STR(instruction_base));
    const struct program *p;
    if (!program_from_text(buf_str(&b), &arena, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

static void published_demos_are_loaded_and_sized(void **s)
{
    (void)s;
    const struct program *p = excerpt_program();
    assert_int_equal(p->n_demos, 5);
    struct buf b = { .arena = &arena };
    buf_add(&b, p->instruction);
    for (size_t i = 0; i < p->n_demos; i++) {
        buf_add(&b, S("\n\n"));
        add_lines(&b, p->signature, p->demos[i]);
    }
    assert_int_equal(program_size(p), b.len); // all ASCII

    str excerpt;
    struct err err = { 0 };
    assert_true(file_read(shared_path(S("data/paper/prompt_excerpt.txt"), &arena), 1 << 20, &arena,
                          &excerpt, &err));
    assert_true(str_starts(buf_str(&b), str_trim(excerpt)));
}

static int teardown(void **s)
{
    (void)s;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_requests_are_rendered_byte_for_byte),
        cmocka_unit_test(published_demos_are_loaded_and_sized),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
