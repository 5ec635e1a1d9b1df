// SPDX-License-Identifier: GPL-3.0-or-later
// scalar.c - what a plain scalar is: text, number, boolean, null or date.
//
// The rules are those of YAML 1.1 in the form that PyYAML's safe loader has them, with its quirks:
// 1e3 and 1.0e3 are texts (an exponent needs a sign), 010 is eight, 1:30 is ninety, .5 is a number
// but -.5 is not, and `y` and `n` are texts. Patterns are matched by hand: the regular expressions
// they come from are short, and a scalar is seen once.
#include <math.h>

#include "config/internal.h"

// ---- patterns ----

// Cuts the longest beginning made of bytes in `set`, at most `max`; returns its length.
static size_t cut_set(str *s, str set, size_t max)
{
    size_t n = 0;
    while (n < s->len && n < max && str_find_char(set, s->data[n]) >= 0)
        n++;
    *s = str_sub(*s, n, s->len);
    return n;
}

static const str digits = T("0123456789"), digits_ = T("0123456789_");

static bool cut_char(str *s, str set)
{
    return cut_set(s, set, 1) == 1;
}

// Cuts (:[0-5]?[0-9])+ and tells whether there was one.
static bool cut_sixties(str *s)
{
    bool any = false;
    while (s->len >= 2 && s->data[0] == ':' && ascii_is_digit(s->data[1])) {
        bool two = s->len >= 3 && s->data[1] <= '5' && ascii_is_digit(s->data[2]);
        *s = str_sub(*s, two ? 3 : 2, s->len);
        any = true;
    }
    return any;
}

static bool is_integer(str s)
{
    cut_char(&s, S("+-"));
    if (s.len == 0 || !ascii_is_digit(s.data[0]))
        return false;
    str rest = str_sub(s, 1, s.len);
    if (s.data[0] != '0') {
        cut_set(&rest, digits_, SIZE_MAX);
        cut_sixties(&rest);
        return rest.len == 0;
    }
    str octal = rest;
    cut_set(&octal, S("01234567_"), SIZE_MAX);
    if (octal.len == 0) // "0" itself, too
        return true;
    str set = rest.data[0] == 'b'   ? S("01_")
              : rest.data[0] == 'x' ? S("0123456789abcdefABCDEF_")
                                    : (str){ 0 };
    rest = str_sub(rest, 1, rest.len);
    return cut_set(&rest, set, SIZE_MAX) > 0 && rest.len == 0;
}

// ([eE][-+][0-9]+)? and then the end.
static bool ends_with_exponent(str s)
{
    if (!cut_char(&s, S("eE")))
        return s.len == 0;
    return cut_char(&s, S("+-")) && cut_set(&s, digits, SIZE_MAX) > 0 && s.len == 0;
}

static bool is_one_of(str s, const char *const *words)
{
    for (; *words; words++)
        if (str_eq(s, str_from(*words)))
            return true;
    return false;
}

static bool is_real(str s)
{
    static const char *const infinities[] = { ".inf", ".Inf", ".INF", NULL };
    static const char *const nans[] = { ".nan", ".NaN", ".NAN", NULL };
    str unsigned_part = s;
    bool sign = cut_char(&unsigned_part, S("+-"));
    if (is_one_of(unsigned_part, infinities) || is_one_of(s, nans))
        return true;
    str rest = unsigned_part;
    if (!cut_char(&rest, digits)) { // .5: no sign, and a digit behind the point
        bool point = !sign && cut_char(&rest, S(".")) && cut_char(&rest, digits);
        cut_set(&rest, digits_, SIZE_MAX);
        return point && ends_with_exponent(rest);
    }
    cut_set(&rest, digits_, SIZE_MAX);
    bool sixties = cut_sixties(&rest);
    if (!cut_char(&rest, S(".")))
        return false;
    cut_set(&rest, digits_, SIZE_MAX);
    return sixties ? rest.len == 0 : ends_with_exponent(rest);
}

// d{least,most}
static bool cut_digits(str *s, size_t least, size_t most)
{
    return cut_set(s, digits, most) >= least;
}

// (Z|[-+]d{1,2}(:dd)?)? and then the end.
static bool ends_with_zone(str s)
{
    cut_set(&s, S(" \t"), SIZE_MAX);
    if (cut_char(&s, S("Z")))
        return s.len == 0;
    if (!cut_char(&s, S("+-")) || !cut_digits(&s, 1, 2))
        return false;
    return s.len == 0 || (cut_char(&s, S(":")) && cut_digits(&s, 2, 2) && s.len == 0);
}

static bool is_timestamp(str s)
{
    str whole = s;
    if (!cut_digits(&s, 4, 4) || !cut_char(&s, S("-")) || !cut_digits(&s, 1, 2) ||
        !cut_char(&s, S("-")) || !cut_digits(&s, 1, 2))
        return false;
    if (s.len == 0)
        return whole.len == sizeof "2026-01-31" - 1; // a date alone has two digits each
    if (!cut_char(&s, S("Tt")) && cut_set(&s, S(" \t"), SIZE_MAX) == 0)
        return false;
    if (!cut_digits(&s, 1, 2) || !cut_char(&s, S(":")) || !cut_digits(&s, 2, 2) ||
        !cut_char(&s, S(":")) || !cut_digits(&s, 2, 2))
        return false;
    if (cut_char(&s, S(".")))
        cut_set(&s, digits, SIZE_MAX);
    return s.len == 0 || ends_with_zone(s);
}

static const char *const nulls[] = { "~", "null", "Null", "NULL", "", NULL };
static const char *const trues[] = { "yes",  "Yes", "YES", "true", "True",
                                     "TRUE", "on",  "On",  "ON",   NULL };
static const char *const falses[] = { "no",    "No",  "NO",  "false", "False",
                                      "FALSE", "off", "Off", "OFF",   NULL };

// ---- values ----

static int digit_value(char c)
{
    return ascii_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

// sum = sum * factor + more, unless that does not fit.
static bool fold(int64_t *sum, int64_t factor, int64_t more)
{
    return !__builtin_mul_overflow(*sum, factor, sum) && !__builtin_add_overflow(*sum, more, sum);
}

// One number of `base`, or several of ten joined by ':' in steps of sixty.
static bool fold_digits(str s, int base, bool negative, int64_t *out)
{
    int64_t whole = 0, part = 0; // counted downwards where negative: -2^63 has no positive
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        int digit = digit_value(c);
        if (c == '_')
            continue;
        if (!(c == ':' ? fold(&whole, 60, part) : fold(&part, base, negative ? -digit : digit)))
            return false;
        if (c == ':')
            part = 0;
        n += c != ':';
    }
    *out = whole;
    return n > 0 && fold(out, 60, part);
}

static bool to_integer(struct yaml_node *n, struct err *err)
{
    str s = n->text;
    bool negative = str_starts(s, S("-"));
    cut_char(&s, S("+-"));
    int base = 10;
    if (str_starts(s, S("0b")) || str_starts(s, S("0x"))) {
        base = s.data[1] == 'b' ? 2 : 16;
        s = str_sub(s, 2, s.len);
    } else if (s.len > 0 && s.data[0] == '0') {
        base = 8;
    }
    if (!fold_digits(s, base, negative, &n->integer))
        return err_set(err, ERR_INPUT, "the integer %.*s does not fit in 64 bits",
                       STR(str_sub(n->text, 0, 60)));
    n->kind = YAML_INT;
    n->real = (double)n->integer;
    return true;
}

// Parts joined by ':', added from the last one on, as the order decides the rounding.
static bool fold_sixties(str s, double *out)
{
    double value = 0, base = 1;
    while (s.len > 0) {
        size_t from = s.len;
        while (from > 0 && s.data[from - 1] != ':')
            from--;
        double part;
        if (!str_to_double(str_sub(s, from, s.len), &part))
            return false;
        value += part * base;
        base *= 60;
        s = str_sub(s, 0, from > 0 ? from - 1 : 0);
    }
    *out = value;
    return true;
}

enum { NUMBER_MAX = 63 }; // characters of a number without its underscores

static bool to_real(struct yaml_node *n, struct err *err)
{
    char kept[NUMBER_MAX + 1];
    size_t len = 0;
    for (size_t i = 0; i < n->text.len; i++) {
        if (n->text.data[i] == '_')
            continue;
        if (len == NUMBER_MAX)
            return err_set(err, ERR_INPUT, "a number of more than %d characters", NUMBER_MAX);
        kept[len++] = n->text.data[i];
    }
    str s = { kept, len };
    double sign = str_starts(s, S("-")) ? -1 : 1;
    cut_char(&s, S("+-"));
    double value = HUGE_VAL;
    if (str_eq_nocase(s, S(".nan")))
        value = (double)NAN;
    else if (!str_eq_nocase(s, S(".inf")) && !fold_sixties(s, &value))
        value = HUGE_VAL; // its form is right, so it is too large
    n->kind = YAML_FLOAT;
    n->real = sign * value;
    return true;
}

static bool to_boolean(struct yaml_node *n, bool value)
{
    n->kind = YAML_BOOL;
    n->boolean = value;
    return true;
}

bool scalar_resolve(struct yaml_node *n, enum scalar_note *note, struct err *err)
{
    str s = n->text;
    *note = SCALAR_USUAL;
    n->kind = YAML_STR;
    if (is_one_of(s, nulls))
        n->kind = YAML_NULL;
    else if (is_one_of(s, trues) || is_one_of(s, falses))
        return to_boolean(n, is_one_of(s, trues));
    else if (is_real(s))
        return to_real(n, err);
    else if (is_integer(s))
        return to_integer(n, err);
    else if (is_timestamp(s))
        n->kind = YAML_TIMESTAMP;
    else if (str_eq(s, S("<<")))
        *note = SCALAR_MERGE;
    else if (str_eq(s, S("=")))
        *note = SCALAR_VALUE;
    return true;
}

static bool tagged_boolean(struct yaml_node *n)
{
    static const char *const yes[] = { "yes", "true", "on", NULL };
    static const char *const no[] = { "no", "false", "off", NULL };
    for (int i = 0; i < 3; i++)
        if (str_eq_nocase(n->text, str_from(yes[i])) || str_eq_nocase(n->text, str_from(no[i])))
            return to_boolean(n, str_eq_nocase(n->text, str_from(yes[i])));
    return false;
}

static bool tagged_real(struct yaml_node *n, struct err *err)
{
    double value;
    bool decimal =
        is_integer(n->text) && str_find_char(n->text, 'x') < 0 && str_find_char(n->text, 'b') < 0;
    if (!is_real(n->text) && !decimal && !str_to_double(n->text, &value))
        return false;
    return to_real(n, err);
}

bool scalar_tagged(struct yaml_node *n, str tag, struct err *err)
{
    bool ok;
    err->code = ERR_NONE;
    if (str_eq(tag, S("str"))) {
        n->kind = YAML_STR;
        return true;
    }
    if (str_eq(tag, S("null"))) { // whatever stands behind it
        n->kind = YAML_NULL;
        return true;
    }
    if (str_eq(tag, S("bool"))) {
        ok = tagged_boolean(n);
    } else if (str_eq(tag, S("int"))) {
        ok = is_integer(n->text) && to_integer(n, err);
    } else if (str_eq(tag, S("float"))) {
        ok = tagged_real(n, err);
    } else if (str_eq(tag, S("timestamp"))) {
        ok = is_timestamp(n->text);
        n->kind = YAML_TIMESTAMP;
    } else {
        return err_set(err, ERR_INPUT, "the tag !!%.*s has no value here: remove it", STR(tag));
    }
    if (!ok && err->code == ERR_NONE)
        err_set(err, ERR_INPUT, "\"%.*s\" is no value of the tag !!%.*s",
                STR(str_sub(n->text, 0, 60)), STR(tag));
    return ok;
}
