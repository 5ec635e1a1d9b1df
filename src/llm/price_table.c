// SPDX-License-Identifier: GPL-3.0-or-later
// price_table.c - what tokens cost, by model, as files say it: the built-in data/prices.json, and
// one that a person gives. Prices change: what a provider reports with its replies goes first, and
// each figure is stored with where it is from.
#include "llm/internal.h"

static const double price_max = 1e6; // dollars per million tokens; beyond: a mistake

// "2026-08-09": figures at their places; a wrong month is nobody's harm.
static bool is_date(str s)
{
    static const str form = T("dddd-dd-dd");
    bool good = s.len == form.len;
    for (size_t i = 0; good && i < s.len; i++)
        good = form.data[i] == 'd' ? ascii_is_digit(s.data[i]) : s.data[i] == '-';
    return good;
}

// `*out` stays as it is where the member is absent.
static bool read_dollars(const json_t *row, const char *name, double *out, struct err *err)
{
    const json_t *value = json_object_get(row, name);
    if (!value)
        return true;
    *out = json_number_value(value);
    return (json_is_number(value) && *out >= 0 && *out <= price_max) ||
           err_set(err, ERR_INPUT,
                   "\"%s\" must be a number of US dollars per million tokens, from 0 to %.0f", name,
                   price_max);
}

static bool read_row(const json_t *row, struct price *out, struct err *err)
{
    static const char *const known[] = { "input", "output", "cached_input", "cache_write" };
    const char *key;
    json_t *value;
    if (!json_is_object(row))
        return err_set(err, ERR_INPUT, "it must be an object with input and output");
    json_object_foreach (json_iterable(row), key, value) {
        bool found = false;
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            found |= str_eq(str_from(key), str_from(known[i]));
        if (!found)
            return err_set(err, ERR_INPUT,
                           "unknown member \"%s\"; there are input, output, cached_input and "
                           "cache_write",
                           str_show(str_from(key), 60).text);
    }
    if (!json_object_get(row, "input") || !json_object_get(row, "output"))
        return err_set(err, ERR_INPUT, "\"input\" and \"output\" must be there");
    if (!read_dollars(row, "input", &out->input, err))
        return false;
    out->cached = out->cache_write = out->input; // where nothing else is said
    return read_dollars(row, "output", &out->output, err) &&
           read_dollars(row, "cached_input", &out->cached, err) &&
           read_dollars(row, "cache_write", &out->cache_write, err);
}

static bool read_rows(const json_t *root, struct arena *a, struct prices *out, struct err *err)
{
    str date = json_get_str(root, "date");
    const json_t *models = json_object_get(root, "models");
    if (!is_date(date) || !json_is_object(models))
        return err_set(
            err, ERR_INPUT,
            "a price file is an object with \"date\" (\"2026-08-09\": of the prices) and "
            "\"models\" (an object of full model names)");
    date = arena_str(a, date);
    const char *name;
    json_t *row;
    json_object_foreach (json_iterable(models), name, row) {
        struct price price = { .known = true, .date = date };
        if (!read_row(row, &price, err))
            return err_add(err, "%s", str_show(str_from(name), 60).text);
        *vec_push(a, out) =
            (struct priced_model){ .name = arena_str(a, str_from(name)), .price = price };
    }
    return true;
}

bool prices_read(str text, struct arena *a, struct prices *out, struct err *err)
{
    json_t *root = json_read_strict(text, err);
    bool ok = root && read_rows(root, a, out, err);
    json_decref(root);
    return ok;
}

void prices_builtin(struct arena *a, struct prices *out)
{
    struct err err = { 0 };
    str text = { (const char *)llm_prices_data, llm_prices_size };
    if (!prices_read(text, a, out, &err))
        BUG("data/prices.json cannot be read");
}

// "gpt-4o-mini-2024-07-18", "claude-haiku-4-5-20251001" without the date: dated names cost what the
// plain ones do.
static str without_date(str model)
{
    static const str forms[] = { T("-dddd-dd-dd"), T("-dddddddd") };
    for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
        size_t len = forms[f].len;
        size_t good = 0;
        str tail = model.len > len ? str_sub(model, model.len - len, len) : (str){ 0 };
        for (size_t i = 0; i < tail.len; i++)
            good += forms[f].data[i] == 'd' ? ascii_is_digit(tail.data[i]) : tail.data[i] == '-';
        if (good == len)
            return str_sub(model, 0, model.len - len);
    }
    return model;
}

static const struct price *find(const struct prices *p, str model)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(model, p->v[i].name))
            return &p->v[i].price;
    return NULL;
}

struct price price_of(const struct prices *p, str model)
{
    static const str router = T("openrouter/"); // passes the provider's price on
    const struct price *found = find(p, model);
    if (!found && str_starts(model, router)) {
        model = str_sub(model, router.len, model.len);
        if (str_ends(model, S(":free")))
            return (struct price){ .known = true };
        found = find(p, model);
    }
    if (!found)
        found = find(p, without_date(model));
    return found ? *found : (struct price){ 0 };
}
