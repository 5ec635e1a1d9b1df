// SPDX-License-Identifier: GPL-3.0-or-later
// write.c - the model x method table: as it is read, or as numbers.
#include <math.h>

#include "report/report.h"

// "33.87 ±1.03*"; one run has no spread.
static str cell_text(const struct report_cell *c, struct arena *a)
{
    if (c->percent.n == 0)
        return S("N.A.");
    if (c->unchanged)
        return S("N.U.");
    const char *star = c->star ? "*" : "";
    return c->percent.n > 1
               ? arena_printf(a, "%.2f \xC2\xB1%.2f%s", c->percent.mean, c->percent.sd, star)
               : arena_printf(a, "%.2f", c->percent.mean);
}

static void fill_grid(const struct report_table *t, struct arena *a, struct report_grid *g)
{
    g->n_columns = t->n_methods + 1;
    report_grid_add(g, S("model"), a);
    for (size_t m = 0; m < t->n_methods; m++)
        report_grid_add(g, t->methods[m], a);
    for (size_t i = 0; i < t->n_models; i++) {
        report_grid_add(g, t->models[i], a);
        for (size_t m = 0; m < t->n_methods; m++) {
            const struct report_cell *c = &t->cells[i * t->n_methods + m];
            report_grid_add(g, cell_text(c, a), a);
            g->entries.v[g->entries.n - 1].best = c->best;
        }
    }
    g->note = S("puzzles solved in percent, mean \xC2\xB1sample standard deviation over runs; "
                "^ best of the row;\n* better than the baseline, one-sided Welch p < 0.05, "
                "unadjusted; N.U. prompt never updated; N.A. no runs");
}

// A name in CSV; quotes and commas are rare in names, but not impossible.
static void put_name(str name, struct buf *out)
{
    struct report_grid one = { .n_columns = 1 };
    struct arena scratch = { 0 };
    struct buf b = { .arena = &scratch };
    report_grid_add(&one, name, &scratch);
    report_grid_write(&one, REPORT_CSV, &b);
    buf_add(out, str_sub(buf_str(&b), 0, b.len - 1));
    arena_free(&scratch);
}

static void put_number(double value, struct buf *out)
{
    if (!isnan(value))
        buf_add_double(out, value);
}

// One cell a row: what a program reads.
static void write_csv(const struct report_table *t, struct buf *out)
{
    buf_add(out, S("model,method,runs,mean,sd,p,p_holm,star,best,unchanged\n"));
    for (size_t i = 0; i < t->n_models * t->n_methods; i++) {
        const struct report_cell *c = &t->cells[i];
        if (c->percent.n == 0)
            continue;
        put_name(t->models[i / t->n_methods], out);
        buf_add_char(out, ',');
        put_name(t->methods[i % t->n_methods], out);
        buf_addf(out, ",%zu,%.4f,%.4f,", c->percent.n, c->percent.mean, c->percent.sd);
        put_number(c->p, out);
        buf_add_char(out, ',');
        put_number(c->p_holm, out);
        buf_addf(out, ",%d,%d,%d\n", c->star, c->best, c->unchanged);
    }
}

static void put_json_number(struct json_out *o, str key, double value)
{
    if (isnan(value))
        json_key_null(o, key);
    else
        json_key_double(o, key, value);
}

static void write_json(const struct report_table *t, struct arena *a, struct buf *out)
{
    struct json_out o = { .b = out, .indent = 2 };
    json_open(&o, '[');
    for (size_t i = 0; i < t->n_models * t->n_methods; i++) {
        const struct report_cell *c = &t->cells[i];
        json_open(&o, '{');
        json_key_str(&o, S("model"), t->models[i / t->n_methods]);
        json_key_str(&o, S("method"), t->methods[i % t->n_methods]);
        json_key_str(&o, S("text"), cell_text(c, a));
        json_key_int(&o, S("runs"), (int64_t)c->percent.n);
        put_json_number(&o, S("mean"), c->percent.n > 0 ? c->percent.mean : (double)NAN);
        put_json_number(&o, S("sd"), c->percent.n > 1 ? c->percent.sd : (double)NAN);
        put_json_number(&o, S("p"), c->p);
        put_json_number(&o, S("p_holm"), c->p_holm);
        json_key_bool(&o, S("star"), c->star);
        json_key_bool(&o, S("best"), c->best);
        json_key_bool(&o, S("unchanged"), c->unchanged);
        json_close(&o, '}');
    }
    json_close(&o, ']');
    buf_add_char(out, '\n');
}

void report_table_write(const struct report_table *t, enum report_format format, struct buf *out)
{
    struct arena scratch = { 0 };
    struct report_grid grid = { 0 };
    if (format == REPORT_CSV) {
        write_csv(t, out);
    } else if (format == REPORT_JSON) {
        write_json(t, &scratch, out);
    } else {
        fill_grid(t, &scratch, &grid);
        report_grid_write(&grid, format, out);
    }
    arena_free(&scratch);
}
