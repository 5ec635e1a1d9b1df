// SPDX-License-Identifier: GPL-3.0-or-later
// audit_views.c - what a formatter made of a position, judged without knowing how: every legal move
// is there, order and decoration do not depend on the marks of moves, facts are kept (R07 to R11).
#include <string.h>

#include "harness/harness.h"

enum { UNSEEN = 1 << 30 };
enum san_form { SAN_ABSENT = 1, SAN_EXACT = 2, SAN_WITHOUT_SIGNS = 4, SAN_BARE = 8, SAN_ANY = 15 };

struct judge {
    const struct audit_view *views;
    str raw;
    bool by_san;
    struct arena *a;
    struct violations *out;
};

static void find(struct judge *j, const char *rule, enum level level, const char *message)
{
    audit_find(j->out, j->a, (struct violation){ str_from(rule), 1, 1, str_from(message), level });
}

// Where `what` stands as a word of its own; UNSEEN.
static int find_word(str text, str what)
{
    for (size_t from = 0; what.len > 0 && from + what.len <= text.len;) {
        ptrdiff_t at = str_find(str_sub(text, from, text.len), what);
        if (at < 0)
            break;
        size_t i = from + (size_t)at, end = i + what.len;
        if ((i == 0 || !ascii_is_word(text.data[i - 1])) &&
            (end >= text.len || !ascii_is_word(text.data[end])))
            return (int)i;
        from = i + 1;
    }
    return UNSEEN;
}

// ---- order ----

struct order {
    int *place; // of each row of the view's own rows
    size_t n;
};

static struct order order_of(const struct audit_view *v, bool by_san, struct arena *a)
{
    struct order o = { NEW_ARRAY(a, int, v->rows.n + 1), v->rows.n };
    for (size_t i = 0; i < o.n; i++) {
        o.place[i] = find_word(v->text, v->rows.v[i].uci);
        if (o.place[i] == UNSEEN && by_san)
            o.place[i] = find_word(v->text, v->rows.v[i].san);
    }
    return o;
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

// Whether the order of the view is that of `compare` over its rows, forwards or backwards.
static bool is_ordered(const struct audit_view *v, const struct order *o,
                       int (*compare)(const struct audit_rows *rows, size_t a, size_t b))
{
    int way = 0;
    for (size_t i = 0; i < o->n; i++)
        for (size_t k = i + 1; k < o->n; k++) {
            int rows = sign(compare(&v->rows, i, k)), seen = sign(o->place[i] - o->place[k]);
            if (rows == 0 || seen == 0)
                continue;
            if (way == 0)
                way = rows * seen;
            else if (way != rows * seen)
                return false;
        }
    return true;
}

static int by_san_text(const struct audit_rows *rows, size_t a, size_t b)
{
    return str_cmp(rows->v[a].san, rows->v[b].san);
}

// The rank of each row by UCI, so that orders of different variants can be compared.
static bool same_order(const struct audit_view *x, const struct order *ox,
                       const struct audit_view *y, const struct order *oy)
{
    for (size_t i = 0; i < ox->n; i++)
        for (size_t k = 0; k < ox->n; k++) {
            size_t yi = UNSEEN, yk = UNSEEN;
            for (size_t m = 0; m < oy->n; m++) {
                yi = str_eq(y->rows.v[m].uci, x->rows.v[i].uci) ? m : yi;
                yk = str_eq(y->rows.v[m].uci, x->rows.v[k].uci) ? m : yk;
            }
            if (yi == UNSEEN || yk == UNSEEN ||
                sign(ox->place[i] - ox->place[k]) != sign(oy->place[yi] - oy->place[yk]))
                return false;
            if (ox->n > 60) // of the longest probe, neighbours tell enough
                k += ox->n / 8;
        }
    return true;
}

static bool follows_input(const struct order *o)
{
    int way = 0;
    for (size_t i = 0; i + 1 < o->n; i++) {
        int s = sign(o->place[i + 1] - o->place[i]);
        way = way == 0 ? s : way;
        if (s != way)
            return false;
    }
    return true;
}

// ---- decoration ----

static bool matches_at(str text, size_t i, str what)
{
    size_t end = i + what.len;
    return what.len > 0 && str_starts(str_sub(text, i, what.len), what) &&
           (i == 0 || !ascii_is_word(text.data[i - 1])) &&
           (end >= text.len || !ascii_is_word(text.data[end]));
}

// The line with the move's SAN replaced by a placeholder, blanks collapsed; and in which forms it
// stands there (a set: a SAN without marks has several at once).
static str blind(str line, str san, unsigned *forms, struct arena *a)
{
    str shapes[] = { san, arena_without(a, san, S("+#")), arena_without(a, san, S("+#x")) };
    struct buf b = { .arena = a };
    *forms = SAN_ABSENT;
    for (size_t i = 0; i < line.len; i++) {
        size_t used = 0;
        unsigned here = 0;
        for (size_t k = ARRAY_LEN(shapes); k-- > 0;)
            if (matches_at(line, i, shapes[k]) && shapes[k].len >= used) {
                here = (shapes[k].len > used ? 0U : here) | (unsigned)SAN_EXACT << k;
                used = shapes[k].len;
            }
        if (used > 0) {
            *forms = here;
            buf_add(&b, S("\x01"));
            i += used - 1;
        } else if (line.data[i] != ' ' || b.len == 0 || b.data[b.len - 1] != ' ') {
            buf_add_char(&b, line.data[i]);
        }
    }
    return buf_str(&b);
}

// All of a view with every SAN blinded line by line; what is compared between variants.
static str blind_all(const struct audit_view *v, struct arena *a)
{
    struct buf b = { .arena = a };
    for (str rest = v->text; rest.len > 0;) {
        str line = str_cut(&rest, '\n');
        for (size_t i = 0; i < v->rows.n; i++) {
            unsigned forms;
            if (find_word(line, v->rows.v[i].uci) != UNSEEN)
                line = blind(line, v->rows.v[i].san, &forms, a);
        }
        buf_add(&b, line);
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

// The sum of the hashes of lines: equal where only their order differs.
static uint64_t bag_of_lines(str text)
{
    uint64_t sum = 0;
    while (text.len > 0)
        sum += hash64(str_trim(str_cut(&text, '\n')));
    return sum;
}

// What stands around a move in its line, without the move, its SAN, and numbers.
static str frame_of(str line, const struct audit_row *r, unsigned *forms, struct arena *a)
{
    struct buf b = { .arena = a };
    str bare = blind(line, r->san, forms, a);
    int at = find_word(bare, r->uci);
    for (size_t i = 0; i < bare.len; i++) {
        if (at != UNSEEN && i == (size_t)at) {
            buf_add_char(&b, '\x02');
            i += r->uci.len - 1;
        } else if (!ascii_is_digit(bare.data[i])) {
            buf_add_char(&b, bare.data[i]);
        }
    }
    return str_trim(buf_str(&b));
}

static str piece_of(str san)
{
    return str_sub(san, 0, san.len > 0 && ascii_is_upper(san.data[0]) ? 1 : 0);
}

// Whether groups are made by origin square or by piece: of two moves alike in it, both are in the
// same group.
static bool is_neutral_grouping(const struct judge *j, const int *group, size_t n)
{
    const struct audit_rows *rows = &j->views[VARIANT_PLAIN].rows;
    bool origin = true, piece = true;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            const struct audit_row *x = &rows->v[i], *y = &rows->v[k];
            if (group[i] == group[k])
                continue;
            origin &= !str_eq(str_sub(x->uci, 0, 2), str_sub(y->uci, 0, 2));
            piece &= !str_eq(piece_of(x->san), piece_of(y->san));
        }
    return origin || piece;
}

static size_t moves_in(str line, const struct audit_rows *rows, size_t *last)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (find_word(line, rows->v[i].uci) != UNSEEN) {
            n++;
            *last = i;
        }
    return n;
}

struct decoration { // gathered line by line
    int *group;     // of each row
    int groups;
    bool in_rows, several; // a line with several moves makes a group of its own
    str plain, promotion;  // the templates seen
    unsigned forms;        // in which SAN may stand in all rows
    bool mixed;
};

static void take_row(struct judge *j, struct decoration *d, str line, size_t i)
{
    const struct audit_row *r = &j->views[VARIANT_PLAIN].rows.v[i];
    unsigned forms;
    str frame = frame_of(line, r, &forms, j->a);
    str *known = r->uci.len == 5 ? &d->promotion : &d->plain;
    d->forms &= forms;
    if (known->len == 0)
        *known = frame;
    else if (!str_eq(*known, frame))
        d->mixed = true;
}

static void take_line(struct judge *j, struct decoration *d, str line)
{
    const struct audit_rows *rows = &j->views[VARIANT_PLAIN].rows;
    size_t i = 0, n = moves_in(line, rows, &i);
    if (n == 0) {
        d->groups += d->in_rows;
        d->in_rows = false;
        return;
    }
    d->in_rows = true;
    if (n == 1) {
        take_row(j, d, line, i);
        d->group[i] = d->groups;
        return;
    }
    d->several = true;
    d->groups++;
    for (i = 0; i < rows->n; i++)
        if (find_word(line, rows->v[i].uci) != UNSEEN)
            d->group[i] = d->groups;
}

static void judge_decoration(struct judge *j)
{
    const struct audit_view *v = &j->views[VARIANT_PLAIN];
    struct decoration d = { .group = NEW_ARRAY(j->a, int, v->rows.n + 1), .forms = SAN_ANY };
    // History above the rows names moves too; it is not decoration.
    ptrdiff_t begin = str_find(v->text, S("Legal moves"));
    for (str rest = str_sub(v->text, begin < 0 ? 0 : (size_t)begin, v->text.len); rest.len > 0;)
        take_line(j, &d, str_cut(&rest, '\n'));
    if (d.mixed && !d.several)
        find(j, "R09", LEVEL_REJECT, "rows of moves are decorated differently");
    if (d.forms == 0)
        find(j, "R09", LEVEL_REJECT, "marks of moves are dropped from some rows only");
    if (d.groups > 0 && !is_neutral_grouping(j, d.group, v->rows.n))
        find(j, "R09", LEVEL_REJECT, "moves are grouped by what they do");
}

// ---- facts ----

static bool line_of(str text, str name, str *out)
{
    ptrdiff_t at = str_find(text, name);
    if (at < 0)
        return false;
    str rest = str_sub(text, (size_t)at + name.len, text.len);
    *out = str_trim(str_cut(&rest, '\n'));
    return true;
}

static void judge_facts(struct judge *j)
{
    static const str names[] = { T("Side to move: "), T("Last opponent reply: "),
                                 T("Your accepted moves so far: "), T("FEN: ") };
    str text = j->views[VARIANT_PLAIN].text, was, is;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (line_of(j->raw, names[i], &was) && line_of(text, names[i], &is) && !str_starts(is, was))
            find(j, "R11", LEVEL_REJECT, "a fact of the observation is changed");
    line_of(j->raw, S("FEN: "), &was);
    str rest = was, placement = str_cut(&rest, ' ');
    if (str_find(text, was) < 0 && str_find(text, placement) >= 0)
        find(j, "R11", LEVEL_REJECT, "the FEN is changed");
    if (str_find(text, was) < 0 && str_find(text, placement) < 0)
        find(j, "R11", LEVEL_WARN, "the FEN is left out");
}

static bool is_illustration(str uci)
{
    static const str set[] = { T("e2e4"), T("e7e5"), T("d2d4"),  T("d7d5"),
                               T("g1f3"), T("e1g1"), T("e7e8q"), T("a7a8q") };
    for (size_t i = 0; i < ARRAY_LEN(set); i++)
        if (str_eq(uci, set[i]))
            return true;
    return false;
}

static void judge_foreign_moves(struct judge *j)
{
    str text = j->views[VARIANT_PLAIN].text;
    for (size_t i = 0; i + 4 <= text.len; i++) {
        if (i > 0 && ascii_is_word(text.data[i - 1]))
            continue;
        size_t n = i + 5 <= text.len && ascii_is_word(text.data[i + 4]) ? 5 : 4;
        str token = str_sub(text, i, n);
        bool ends = i + n >= text.len || !ascii_is_word(text.data[i + n]);
        if (ends && harness_is_uci(token) && !is_illustration(token) &&
            find_word(j->raw, token) == UNSEEN)
            find(j, "R10", LEVEL_REJECT, "a move is shown that is not in the observation");
    }
}

// ---- all ----

static void judge_order(struct judge *j, const struct order *o)
{
    bool by_san = true; // in each variant
    for (int k = 0; k < AUDIT_VARIANTS; k++)
        by_san &= is_ordered(&j->views[k], &o[k], by_san_text);
    if (!by_san &&
        (!same_order(&j->views[0], &o[0], &j->views[VARIANT_UNMARKED], &o[VARIANT_UNMARKED]) ||
         !same_order(&j->views[0], &o[0], &j->views[VARIANT_ROTATED], &o[VARIANT_ROTATED])))
        find(j, "R08", LEVEL_REJECT, "the order of moves depends on their marks");
    if (!by_san && !follows_input(&o[VARIANT_REVERSED]) &&
        !same_order(&j->views[0], &o[0], &j->views[VARIANT_REVERSED], &o[VARIANT_REVERSED]))
        find(j, "R08", LEVEL_REJECT, "the order of moves is neither the given one nor a fixed one");
    if (by_san && !follows_input(&o[VARIANT_PLAIN]))
        find(j, "R08", LEVEL_WARN, "moves are in the order of their SAN");
    str plain = blind_all(&j->views[VARIANT_PLAIN], j->a);
    for (int k = VARIANT_UNMARKED; k <= VARIANT_ROTATED; k++)
        if (bag_of_lines(plain) != bag_of_lines(blind_all(&j->views[k], j->a)))
            find(j, "R09", LEVEL_REJECT, "the view depends on marks of moves");
}

void audit_views(const struct audit_view *views, str raw, bool by_san, struct arena *a,
                 struct violations *out)
{
    struct judge j = { views, raw, by_san, a, out };
    struct order o[AUDIT_VARIANTS];
    for (int k = 0; k < AUDIT_VARIANTS; k++)
        o[k] = order_of(&views[k], by_san, a);
    for (size_t i = 0; i < o[0].n; i++)
        if (o[0].place[i] == UNSEEN) {
            find(&j, "R07", LEVEL_REJECT, "a legal move is not shown");
            return;
        }
    judge_order(&j, o);
    judge_decoration(&j);
    judge_facts(&j);
    judge_foreign_moves(&j);
}
