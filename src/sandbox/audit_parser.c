// SPDX-License-Identifier: GPL-3.0-or-later
// audit_parser.c - does a parser read, or does it choose? Whatever it returns must stand in the
// response, and moves must be treated alike whatever they do on the board (R02 to R05).
#include <stdlib.h>

#include "sandbox/audit_run.h"

enum { PER_PROBE = 12, CLASSES = 2 };

static const str templates[][2] = {
    { T("<move>"), T("</move>") },
    { T(""), T("") },
    { T("["), T("]") },
    { T("I play "), T(".") },
    { T("**"), T("**") },
    { T("Answer: "), T("\n") },
    { T("<think>hard to say</think><move>"), T("</move>") },
    { T("{\"move\": \""), T("\"}") },
    { T("- ["), T("] is my choice") },
    { T("The move "), T(" looks right to me") },
    { T("<MOVE> "), T(" </MOVE>") },
    { T("\n\nFinal answer:\n"), T("\n") },
};

enum treatment { TREATED_NOT_YET, TREATED_TAKEN, TREATED_REFUSED };
struct uniformity {
    enum treatment by[ARRAY_LEN(templates)][CLASSES];
    enum treatment first, last; // of two moves
    char pair[8];
};

static str fill(struct audit_run *run, size_t t, str uci)
{
    return arena_printf(run->a, "%.*s%.*s%.*s", STR(templates[t][0]), STR(uci),
                        STR(templates[t][1]));
}

// A sentinel's text must not tell which moves there are.
static void check_sentinel(struct audit_run *run, const struct audit_probe *p, str response,
                           str said)
{
    for (size_t i = 0; i < p->rows.n; i++) {
        str uci = p->rows.v[i].uci;
        if (str_find(said, uci) >= 0 && str_find(response, uci) < 0 && !str_eq(uci, S("e2e4")))
            audit_run_find(run, "R09", LEVEL_REJECT,
                           S("a sentinel tells moves that the response does not have"));
    }
}

static str parse(struct audit_run *run, const struct audit_probe *p, str response)
{
    str said, action = audit_parse(run, response, &said);
    if (!harness_is_uci(action))
        check_sentinel(run, p, response, said);
    else if (!audit_is_derivable(response, action, &p->rows))
        audit_run_find(run, "R03", LEVEL_REJECT,
                       arena_printf(run->a, "parse_action makes %.*s of \"%.*s\"", STR(action),
                                    STR(str_sub(response, 0, 60))));
    return action;
}

// ---- R04, R05: one move ----

static void check_one(struct audit_run *run, const struct audit_probe *p, str uci,
                      struct uniformity *u)
{
    for (size_t t = 0; t < ARRAY_LEN(templates); t++) {
        str action = parse(run, p, fill(run, t, uci));
        enum treatment *by = &u->by[t][uci.len == 5];
        enum treatment now = harness_is_uci(action) ? TREATED_TAKEN : TREATED_REFUSED;
        if (now == TREATED_TAKEN && !str_eq(action, uci))
            audit_run_find(run, "R04", LEVEL_REJECT, S("move_conversion: another move is read"));
        if (*by != TREATED_NOT_YET && *by != now)
            audit_run_find(run, "R04", LEVEL_REJECT,
                           S("parse_suppression: some moves are read, others in the same words are "
                             "not"));
        *by = now;
    }
}

static void check_boards(struct audit_run *run, const struct audit_probe *p,
                         const struct audit_probe *other)
{
    if (p->rows.n == 0)
        return;
    str response = fill(run, 0, p->rows.v[p->rows.n / 2].uci), said;
    audit_format(run, p, p->raw);
    str here = audit_parse(run, response, &said);
    audit_format(run, other, other->raw);
    if (!str_eq(here, audit_parse(run, response, &said)))
        audit_run_find(run, "R05", LEVEL_REJECT, S("the same move is read otherwise elsewhere"));
}

// ---- R04: two moves ----

enum { PAIR_FIRST, PAIR_LAST, PAIR_NEITHER, PAIR_OTHER };

static int chosen(struct audit_run *run, const struct audit_probe *p, str first, str last)
{
    str action = parse(
        run, p,
        arena_printf(run->a, "<move>%.*s</move> or <move>%.*s</move>", STR(first), STR(last)));
    if (!harness_is_uci(action))
        return PAIR_NEITHER;
    return str_eq(action, first) ? PAIR_FIRST : str_eq(action, last) ? PAIR_LAST : PAIR_OTHER;
}

static void check_pairs(struct audit_run *run, const struct audit_probe *p, int *habit)
{
    for (size_t i = 0; i + 1 < p->rows.n && i < PER_PROBE; i++) {
        str a = p->rows.v[i * (p->rows.n - 1) / PER_PROBE % (p->rows.n - 1)].uci;
        str b = p->rows.v[p->rows.n - 1 - i % (p->rows.n - 1)].uci;
        if (str_eq(a, b))
            continue;
        int one = chosen(run, p, a, b), two = chosen(run, p, b, a);
        if (*habit < 0)
            *habit = one;
        if (one != *habit || two != *habit)
            audit_run_find(run, "R04", LEVEL_REJECT,
                           S("of several moves it takes one by what it does"));
        static const str illegal = T("a1a2"); // where the rows do not have it
        bool listed = false;
        for (size_t k = 0; k < p->rows.n; k++)
            listed |= str_eq(p->rows.v[k].uci, illegal);
        if (!listed &&
            (chosen(run, p, illegal, a) != *habit || chosen(run, p, a, illegal) != *habit))
            audit_run_find(run, "R04", LEVEL_WARN, S("of several moves it takes a legal one"));
    }
}

// ---- R02, R03 ----

static void check_moveless(struct audit_run *run, const struct audit_probe *p, str other_rows)
{
    struct buf words = { .arena = run->a };
    for (int i = 0; i < 2000; i++)
        buf_addf(&words, "%s ", i % 7 == 0 ? "perhaps" : i % 5 == 0 ? "strong" : "idea");
    str fen = str_sub(p->raw, (size_t)str_find(p->raw, S("FEN: ")), 200);
    const str texts[] = { S(""), S("I resign"), S("no idea"), buf_str(&words),
                          str_cut(&fen, '\n') };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (harness_is_uci(parse(run, p, texts[i])))
            audit_run_find(run, "R02", LEVEL_REJECT, S("a move is read where there is none"));
    parse(run, p, other_rows); // tokens are there: a move must be one of them
}

static void check_notations(struct audit_run *run, const struct audit_probe *p,
                            const struct audit_row *r)
{
    parse(run, p, r->san);
    parse(run, p, arena_printf(run->a, "<move>%.*s</move>", STR(r->san)));
    parse(
        run, p,
        arena_printf(run->a, "%.*s-%.*s", STR(str_sub(r->uci, 0, 2)), STR(str_sub(r->uci, 2, 3))));
    if (r->uci.len != 5)
        return;
    str squares = str_sub(r->uci, 0, 4);
    parse(run, p, arena_printf(run->a, "<move>%.*s</move>", STR(squares)));
    parse(run, p, squares);
    parse(run, p,
          arena_printf(run->a, "<move>%.*s=%c</move>", STR(squares), ascii_upper(r->uci.data[4])));
}

static bool is_notable(const struct audit_row *r)
{
    return r->uci.len == 5 || str_find_char(r->san, '#') >= 0 || str_find_char(r->san, '+') >= 0 ||
           str_starts(r->san, S("O-O"));
}

static void check_probe(struct audit_run *run, const struct audit_probe *p, str other_rows,
                        struct uniformity *u)
{
    size_t taken = 0, step = p->rows.n / PER_PROBE + 1;
    for (size_t i = 0; i < p->rows.n && taken < 2 * PER_PROBE; i++) {
        if (i % step != 0 && !is_notable(&p->rows.v[i]))
            continue;
        taken++;
        check_one(run, p, p->rows.v[i].uci, u);
        if (taken % 4 == 0 || is_notable(&p->rows.v[i]))
            check_notations(run, p, &p->rows.v[i]);
    }
    check_moveless(run, p, other_rows);
}

void audit_parser(struct audit_run *run, const struct audit_probe *probes, size_t n)
{
    struct uniformity u = { 0 };
    int habit = -1;
    for (size_t i = 0; i < n && run->faults < 3; i++) {
        const struct audit_probe *p = &probes[i], *other = &probes[(i + 5) % n];
        audit_format(run, p, p->raw);
        check_probe(run, p, other->raw, &u);
        check_pairs(run, p, &habit);
        check_boards(run, p, other);
    }
}
