// SPDX-License-Identifier: GPL-3.0-or-later
// tables_gen.c - writes the constant tables of module chess as C source to standard output.
//
// Runs on the build machine. Sliding attacks are found by "magic" multiplication: the occupied
// squares that matter to a slider, times a factor, shifted down, give an index into its attacks.
// The factors are searched here, by trial, with a fixed generator, so that every build makes the
// same tables. Only the geometry of the board goes in.
#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLIDES_MAX = 107648, SUBSETS_MAX = 4096 }; // sum and maximum of 2^(bits of the masks)

struct magic {
    uint64_t mask, factor;
    uint32_t offset, shift;
};
struct step {
    int file, rank;
};

static const struct step bishop_steps[4] = { { 1, 1 }, { 1, -1 }, { -1, 1 }, { -1, -1 } };
static const struct step rook_steps[4] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
static const struct step king_steps[8] = { { 1, 1 }, { 1, -1 }, { -1, 1 }, { -1, -1 },
                                           { 1, 0 }, { -1, 0 }, { 0, 1 },  { 0, -1 } };
static const struct step knight_steps[8] = { { 1, 2 },  { 2, 1 },   { 2, -1 }, { 1, -2 },
                                             { -1, 2 }, { -2, -1 }, { -2, 1 }, { -1, -2 } };
static const struct step pawn_steps[2][2] = { { { 1, 1 }, { -1, 1 } }, { { 1, -1 }, { -1, -1 } } };

// splitmix64 (Steele, Lea, Flood 2014)
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Few bits are set: as factors such numbers succeed more often.
static uint64_t sparse_random(uint64_t *state)
{
    uint64_t b = next_random(state);
    b &= next_random(state);
    b &= next_random(state);
    return b;
}

// The square `step` leads to from `s`, or -1 off the board.
static int stepped(int s, struct step step)
{
    int file = s % 8 + step.file, rank = s / 8 + step.rank;
    return file < 0 || file > 7 || rank < 0 || rank > 7 ? -1 : 8 * rank + file;
}

static uint64_t steps_from(int s, const struct step *steps, int n)
{
    uint64_t b = 0;
    for (int i = 0; i < n; i++) {
        int to = stepped(s, steps[i]);
        if (to >= 0)
            b |= UINT64_C(1) << to;
    }
    return b;
}

static uint64_t ray(int s, struct step step, uint64_t occupied)
{
    uint64_t b = 0;
    for (int to = stepped(s, step); to >= 0; to = stepped(to, step)) {
        b |= UINT64_C(1) << to;
        if (occupied >> to & 1)
            break;
    }
    return b;
}

static uint64_t rays(int s, const struct step steps[4], uint64_t occupied)
{
    uint64_t b = 0;
    for (int i = 0; i < 4; i++)
        b |= ray(s, steps[i], occupied);
    return b;
}

// What matters to a slider on `s`: its rays without the last square of each, which stops it anyway.
static uint64_t relevant(int s, const struct step steps[4])
{
    uint64_t b = 0;
    for (int i = 0; i < 4; i++) {
        for (int to = stepped(s, steps[i]); to >= 0; to = stepped(to, steps[i])) {
            if (stepped(to, steps[i]) >= 0)
                b |= UINT64_C(1) << to;
        }
    }
    return b;
}

// Fills `table` for one factor; false when two subsets with different attacks collide.
static bool try_factor(const struct magic *m, const uint64_t *subsets, const uint64_t *attacks,
                       uint64_t *table)
{
    uint32_t n = UINT32_C(1) << (64 - m->shift);
    memset(table, 0, n * sizeof *table); // no slider attacks nothing: 0 marks a free entry
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *entry = &table[subsets[i] * m->factor >> m->shift];
        if (*entry && *entry != attacks[i])
            return false;
        *entry = attacks[i];
    }
    return true;
}

static void find_magic(int s, const struct step steps[4], struct magic *m, uint64_t *table)
{
    static uint64_t subsets[SUBSETS_MAX], attacks[SUBSETS_MAX];
    m->mask = relevant(s, steps);
    m->shift = 64;
    for (uint64_t b = m->mask; b; b &= b - 1)
        m->shift--;
    assert(m->shift < 64);
    uint64_t subset = 0;
    for (uint32_t i = 0; i < UINT32_C(1) << (64 - m->shift); i++) {
        subsets[i] = subset;
        attacks[i] = rays(s, steps, subset);
        subset = (subset - m->mask) & m->mask; // the next subset of the mask, counting upwards
    }
    uint64_t state = (uint64_t)s + (steps == rook_steps ? 64 : 0);
    do
        m->factor = sparse_random(&state);
    while (!try_factor(m, subsets, attacks, table));
}

static void print_board(uint64_t b)
{
    printf("0x%" PRIx64 ",\n", b);
}

static void print_leaps(const char *name, const struct step *steps, int n)
{
    printf(".%s = {\n", name);
    for (int s = 0; s < 64; s++)
        print_board(steps_from(s, steps, n));
    printf("},\n");
}

static void print_pawns(void)
{
    printf(".pawn = {\n");
    for (int color = 0; color < 2; color++) {
        printf("{\n");
        for (int s = 0; s < 64; s++)
            print_board(steps_from(s, pawn_steps[color], 2));
        printf("},\n");
    }
    printf("},\n");
}

// The direction from a to b among the king's eight, or -1 when no ray from a meets b.
static int direction(int a, int b)
{
    for (int i = 0; i < 8; i++) {
        if (ray(a, king_steps[i], 0) >> b & 1)
            return i;
    }
    return -1;
}

static uint64_t between(int a, int b)
{
    int d = direction(a, b);
    return d < 0 ? 0 : ray(a, king_steps[d], UINT64_C(1) << b) & ~(UINT64_C(1) << b);
}

static uint64_t line(int a, int b)
{
    int there = direction(a, b), back = direction(b, a);
    return there < 0 ? 0 : ray(a, king_steps[there], 0) | ray(b, king_steps[back], 0);
}

static void print_pairs(const char *name, uint64_t (*of)(int a, int b))
{
    printf(".%s = {\n", name);
    for (int a = 0; a < 64; a++) {
        printf("{\n");
        for (int b = 0; b < 64; b++)
            print_board(of(a, b));
        printf("},\n");
    }
    printf("},\n");
}

static void print_rays(const char *name, const struct step steps[4])
{
    printf(".%s = {\n", name);
    for (int s = 0; s < 64; s++)
        print_board(rays(s, steps, 0));
    printf("},\n");
}

static void print_magics(const char *name, const struct step steps[4], uint64_t *slides,
                         uint32_t *used)
{
    printf(".%s = {\n", name);
    for (int s = 0; s < 64; s++) {
        struct magic m = { .offset = *used };
        find_magic(s, steps, &m, slides + *used);
        *used += UINT32_C(1) << (64 - m.shift);
        printf("{ 0x%" PRIx64 ", 0x%" PRIx64 ", %" PRIu32 ", %" PRIu32 " },\n", m.mask, m.factor,
               m.offset, m.shift);
    }
    printf("},\n");
}

static void print_zobrist(void)
{
    uint64_t state = 0x526F6F6B657279; // "Rookery"
    printf(".zobrist_piece = {\n");
    for (int color = 0; color < 2; color++) {
        printf("{\n");
        for (int piece = 0; piece < 6; piece++) {
            printf("{\n");
            for (int s = 0; s < 64; s++)
                print_board(next_random(&state));
            printf("},\n");
        }
        printf("},\n");
    }
    printf("},\n.zobrist_castling = {\n");
    for (int s = 0; s < 64; s++)
        print_board(next_random(&state));
    printf("},\n.zobrist_en_passant = {\n");
    for (int file = 0; file < 8; file++)
        print_board(next_random(&state));
    printf("},\n.zobrist_turn = 0x%" PRIx64 ",\n", next_random(&state));
}

int main(void)
{
    static uint64_t slides[SLIDES_MAX];
    uint32_t used = 0;
    printf("// Made by tables_gen.c; see there.\n#include \"chess/internal.h\"\n\n"
           "const struct chess_tables chess_tables = {\n");
    print_leaps("knight", knight_steps, 8);
    print_leaps("king", king_steps, 8);
    print_pawns();
    print_rays("diagonals", bishop_steps);
    print_rays("straights", rook_steps);
    print_pairs("between", between);
    print_pairs("line", line);
    print_magics("bishop", bishop_steps, slides, &used);
    print_magics("rook", rook_steps, slides, &used);
    print_zobrist();
    printf(".slides = {\n");
    for (uint32_t i = 0; i < SLIDES_MAX; i++)
        print_board(slides[i]);
    printf("},\n};\n");
    return used == SLIDES_MAX && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}
