// SPDX-License-Identifier: GPL-3.0-or-later
// Merging candidates of several components: the table of the GEPA and SIMBA specification, 7.3.
#include "test.h"

#include "optimize/gepa_pool.h"

struct row { // one candidate
    const char *texts;
    int parents[2]; // -1: none
    const char *scores;
};

struct merging {
    struct arena arena;
    struct gepa_pool pool;
    struct gepa_merges done;
    struct chance c;
};

static void add(struct gepa_pool *p, const struct row *r)
{
    struct gepa_candidate c = { 0 };
    str rest = str_from(r->texts), scores = str_from(r->scores);
    str *texts = NEW_ARRAY(p->arena, str, 8);
    int64_t *v = NEW_ARRAY(p->arena, int64_t, scores.len);
    p->n_validation = scores.len;
    for (p->n_components = 0; rest.len > 0; p->n_components++)
        texts[p->n_components] = str_cut(&rest, ' ');
    for (size_t i = 0; i < scores.len; i++)
        v[i] = scores.data[i] == '1' ? GEPA_ONE : 0;
    for (; c.n_parents < 2 && r->parents[c.n_parents] >= 0; c.n_parents++)
        c.parents[c.n_parents] = (size_t)r->parents[c.n_parents];
    c.texts = texts;
    c.scores = v;
    gepa_pool_add(p, &c);
}

static void merging_new(struct merging *m, const struct row *rows, size_t n)
{
    memset(m, 0, sizeof *m);
    m->pool.arena = &m->arena;
    m->done.arena = &m->arena;
    m->c = chance_new(42, S("gepa"), &m->arena);
    for (size_t i = 0; i < n; i++)
        add(&m->pool, &rows[i]);
}

// The texts and the choice vector of the merge that is found: "a1 b1 (1,2)"; none: "".
static str found(struct merging *m)
{
    struct gepa_merge g;
    struct buf b = { .arena = &m->arena };
    if (!gepa_merge_find(&m->done, &m->pool, &m->c, &g))
        return S("");
    for (size_t k = 0; k < m->pool.n_components; k++)
        buf_addf(&b, "%.*s ", STR(g.texts[k]));
    for (size_t k = 0; k < m->pool.n_components; k++)
        buf_addf(&b, "%c%zu", k ? ',' : '(', g.choice[k]);
    buf_addf(&b, ") of %zu and %zu from %zu", g.i, g.j, g.ancestor);
    return buf_str(&b);
}

#define NO_PARENT                                                                                  \
    {                                                                                              \
        -1, -1                                                                                     \
    }
#define OF(i)                                                                                      \
    {                                                                                              \
        (i), -1                                                                                    \
    }
#define EXPECT(want, ...)                                                                          \
    do {                                                                                           \
        static const struct row rows_[] = { __VA_ARGS__ };                                         \
        struct merging m_;                                                                         \
        merging_new(&m_, rows_, ARRAY_LEN(rows_));                                                 \
        assert_str(found(&m_), S(want));                                                           \
        arena_free(&m_.arena);                                                                     \
    } while (0)

static void two_edits_of_one_ancestor_are_joined(void **s)
{
    (void)s;
    EXPECT("a1 b1 (1,2) of 1 and 2 from 0", { "a0 b0", NO_PARENT, "1111000000" },
           { "a1 b0", OF(0), "1111100000" }, { "a0 b1", OF(0), "1111000011" });
}

static void a_merge_that_a_candidate_already_is_is_none(void **s)
{
    (void)s;
    EXPECT("", { "a0 b0", NO_PARENT, "1111000000" }, { "a1 b0", OF(0), "1111100000" },
           { "a2 b1", OF(0), "1111000011" });
}

static void an_ancestor_better_than_a_descendant_is_none(void **s)
{
    (void)s;
    EXPECT("", { "a0 b0", NO_PARENT, "11111111111000000000" },
           { "a1 b0", OF(0), "11111111100100000000" }, { "a0 b1", OF(0), "11111111110011000000" });
}

static void one_component_can_never_be_merged(void **s)
{
    (void)s;
    EXPECT("", { "a0", NO_PARENT, "1111000000" }, { "a1", OF(0), "1111100000" },
           { "a2", OF(0), "1111000011" });
}

static void a_candidate_is_not_merged_with_its_ancestor(void **s)
{
    (void)s;
    EXPECT("", { "a0 b0", NO_PARENT, "1111000000" }, { "a1 b0", OF(0), "1111100000" },
           { "a1 b1", OF(1), "1111000011" });
}

static void ancestors_are_found_over_several_generations(void **s)
{
    (void)s;
    EXPECT("a1 b2 c1 (3,3,4) of 3 and 4 from 0", { "a0 b0 c0", NO_PARENT, "11111111000000000000" },
           { "a1 b0 c0", OF(0), "11111111110000000000" },
           { "a0 b1 c0", OF(0), "11111111100000000000" },
           { "a1 b2 c0", OF(1), "11111111111100000000" },
           { "a0 b1 c1", OF(2), "11111111100011000000" });
}

static void an_ancestor_that_scores_nothing_is_drawn_all_the_same(void **s)
{
    (void)s;
    EXPECT("a1 b1 (1,2) of 1 and 2 from 0", { "a0 b0", NO_PARENT, "0000000000" },
           { "a1 b0", OF(0), "1111100000" }, { "a0 b1", OF(0), "1111000011" });
}

static void fewer_than_five_examples_are_too_few(void **s)
{
    (void)s;
    EXPECT("", { "a0 b0", NO_PARENT, "0000" }, { "a1 b0", OF(0), "1100" },
           { "a0 b1", OF(0), "0011" });
}

static void two_candidates_are_too_few(void **s)
{
    (void)s;
    EXPECT("", { "a0 b0", NO_PARENT, "100000" }, { "a1 b0", OF(0), "011111" });
}

static void of_two_rewritten_texts_the_better_parents_is_taken(void **s)
{
    (void)s;
    EXPECT("a2 b1 c1 (2,1,2) of 1 and 2 from 0", { "a0 b0 c0", NO_PARENT, "1111000000" },
           { "a1 b1 c0", OF(0), "1111100000" }, { "a2 b0 c1", OF(0), "1111000011" });
}

static void the_same_merge_is_found_only_once(void **s)
{
    (void)s;
    static const struct row rows[] = { { "a0 b0", NO_PARENT, "1111000000" },
                                       { "a1 b0", OF(0), "1111100000" },
                                       { "a0 b1", OF(0), "1111000011" } };
    struct merging m;
    merging_new(&m, rows, ARRAY_LEN(rows));
    assert_true(found(&m).len > 0);
    for (int i = 0; i < 20; i++)
        assert_str(found(&m), S(""));
    arena_free(&m.arena);
}

// ---- the examples it is tried on ----

// Parents 0 and 1 with so many examples where the first is better, the second, neither.
static void two_parents(struct merging *m, const int sizes[3])
{
    memset(m, 0, sizeof *m);
    m->pool.arena = &m->arena;
    struct buf x = { .arena = &m->arena }, y = { .arena = &m->arena };
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < sizes[g]; i++) {
            buf_add_char(&x, g == 0 ? '1' : '0');
            buf_add_char(&y, g == 1 ? '1' : '0');
        }
    add(&m->pool, &(struct row){ "a", NO_PARENT, buf_str(&x).data });
    add(&m->pool, &(struct row){ "b", NO_PARENT, buf_str(&y).data });
}

static void expect_taken(const int sizes[3], const int taken[3])
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct merging m;
        two_parents(&m, sizes);
        struct chance c = chance_new(seed, S("gepa"), &m.arena);
        size_t ids[GEPA_MERGE_EXAMPLES];
        int counts[3] = { 0 }, n = sizes[0] + sizes[1] + sizes[2];
        gepa_merge_examples(&m.pool, &(struct gepa_merge){ .i = 0, .j = 1 }, &c, ids);
        for (size_t i = 0; i < GEPA_MERGE_EXAMPLES; i++) {
            int id = (int)ids[i];
            assert_in_range(id, 0, n - 1);
            counts[id < sizes[0] ? 0 : id < sizes[0] + sizes[1] ? 1 : 2]++;
            for (size_t k = 0; k < i && n >= GEPA_MERGE_EXAMPLES; k++)
                assert_int_not_equal(ids[k], ids[i]);
        }
        assert_memory_equal(counts, taken, sizeof counts);
        arena_free(&m.arena);
    }
}

static void examples_are_taken_from_all_three_groups(void **s)
{
    (void)s;
    static const int cases[][2][3] = {
        { { 5, 5, 5 }, { 2, 2, 1 } }, { { 1, 3, 10 }, { 1, 2, 2 } }, { { 0, 0, 10 }, { 0, 0, 5 } },
        { { 7, 0, 0 }, { 5, 0, 0 } }, { { 0, 9, 1 }, { 0, 4, 1 } },  { { 0, 0, 3 }, { 0, 0, 5 } },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect_taken(cases[i][0], cases[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_edits_of_one_ancestor_are_joined),
        cmocka_unit_test(a_merge_that_a_candidate_already_is_is_none),
        cmocka_unit_test(an_ancestor_better_than_a_descendant_is_none),
        cmocka_unit_test(one_component_can_never_be_merged),
        cmocka_unit_test(a_candidate_is_not_merged_with_its_ancestor),
        cmocka_unit_test(ancestors_are_found_over_several_generations),
        cmocka_unit_test(an_ancestor_that_scores_nothing_is_drawn_all_the_same),
        cmocka_unit_test(fewer_than_five_examples_are_too_few),
        cmocka_unit_test(two_candidates_are_too_few),
        cmocka_unit_test(of_two_rewritten_texts_the_better_parents_is_taken),
        cmocka_unit_test(the_same_merge_is_found_only_once),
        cmocka_unit_test(examples_are_taken_from_all_three_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
