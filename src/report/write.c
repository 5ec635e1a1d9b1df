// SPDX-License-Identifier: GPL-3.0-or-later
// write.c - a table in the form that the reader wants to paste.
#include <math.h>

#include "report/report.h"

static const char *const format_names[] = {
    [REPORT_TEXT] = "text",   [REPORT_CSV] = "csv",   [REPORT_MARKDOWN] = "markdown",
    [REPORT_LATEX] = "latex", [REPORT_JSON] = "json",
};

bool report_format_parse(str name, enum report_format *out)
{
    for (size_t i = 0; i < ARRAY_LEN(format_names); i++)
        if (str_eq(name, str_from(format_names[i]))) {
            *out = (enum report_format)i;
            return true;
        }
    return false;
}

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

static const struct report_cell *cell(const struct report_table *t, size_t model, size_t method)
{
    return &t->cells[model * t->n_methods + method];
}

// ---- text ----

static size_t widest(const struct report_table *t, size_t column, struct arena *a)
{
    size_t width = column == 0 ? 5 : utf8_length(t->methods[column - 1]);
    for (size_t i = 0; i < t->n_models; i++) {
        str text = column == 0 ? t->models[i] : cell_text(cell(t, i, column - 1), a);
        size_t len = utf8_length(text) + (column > 0 && cell(t, i, column - 1)->best ? 2 : 0);
        width = len > width ? len : width;
    }
    return width;
}

static void put_padded(str text, size_t width, struct buf *out)
{
    buf_add(out, text);
    for (size_t n = utf8_length(text); n < width + 2; n++)
        buf_add_char(out, ' ');
}

static void end_line(struct buf *out)
{
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--;
    buf_add_char(out, '\n');
}

static void write_text(const struct report_table *t, struct arena *a, struct buf *out)
{
    put_padded(S("model"), widest(t, 0, a), out);
    for (size_t m = 0; m < t->n_methods; m++)
        put_padded(t->methods[m], widest(t, m + 1, a), out);
    end_line(out);
    for (size_t i = 0; i < t->n_models; i++) {
        put_padded(t->models[i], widest(t, 0, a), out);
        for (size_t m = 0; m < t->n_methods; m++) {
            const struct report_cell *c = cell(t, i, m);
            str text = arena_printf(a, "%.*s%s", STR(cell_text(c, a)), c->best ? " ^" : "");
            put_padded(text, widest(t, m + 1, a), out);
        }
        end_line(out);
    }
    buf_add(out, S("\npuzzles solved in percent, mean \xC2\xB1sample standard deviation over runs; "
                   "^ best of the row;\n* better than the baseline, one-sided Welch p < 0.05, "
                   "unadjusted; N.U. prompt never updated; N.A. no runs\n"));
}

// ---- the other forms ----

static void put_csv(str text, struct buf *out)
{
    bool quote = false;
    for (size_t i = 0; i < text.len; i++)
        quote |= text.data[i] == ',' || text.data[i] == '"' || text.data[i] == '\n';
    if (quote)
        buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, text.data[i]);
    }
    if (quote)
        buf_add_char(out, '"');
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
        put_csv(t->models[i / t->n_methods], out);
        buf_add_char(out, ',');
        put_csv(t->methods[i % t->n_methods], out);
        buf_addf(out, ",%zu,%.4f,%.4f,", c->percent.n, c->percent.mean, c->percent.sd);
        put_number(c->p, out);
        buf_add_char(out, ',');
        put_number(c->p_holm, out);
        buf_addf(out, ",%d,%d,%d\n", c->star, c->best, c->unchanged);
    }
}

static void write_markdown(const struct report_table *t, struct arena *a, struct buf *out)
{
    buf_add(out, S("| model |"));
    for (size_t m = 0; m < t->n_methods; m++)
        buf_addf(out, " %.*s |", STR(t->methods[m]));
    buf_add(out, S("\n| --- |"));
    for (size_t m = 0; m < t->n_methods; m++)
        buf_add(out, S(" --- |"));
    buf_add_char(out, '\n');
    for (size_t i = 0; i < t->n_models; i++) {
        buf_addf(out, "| %.*s |", STR(t->models[i]));
        for (size_t m = 0; m < t->n_methods; m++) {
            const char *bold = cell(t, i, m)->best ? "**" : "";
            buf_addf(out, " %s%.*s%s |", bold, STR(cell_text(cell(t, i, m), a)), bold);
        }
        buf_add_char(out, '\n');
    }
}

static void put_latex_cell(const struct report_cell *c, struct arena *a, struct buf *out)
{
    if (c->percent.n < 2 || c->unchanged) {
        buf_add(out, cell_text(c, a));
        return;
    }
    buf_addf(out, "%s%.2f%s {\\scriptsize$\\pm$%.2f}%s", c->best ? "\\textbf{" : "",
             c->percent.mean, c->best ? "}" : "", c->percent.sd, c->star ? "*" : "");
}

static void put_latex_text(str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        if (str_find_char(S("&%$#_{}"), text.data[i]) >= 0)
            buf_add_char(out, '\\');
        buf_add_char(out, text.data[i]);
    }
}

static void write_latex(const struct report_table *t, struct arena *a, struct buf *out)
{
    buf_add(out, S("\\begin{tabular}{l"));
    for (size_t m = 0; m < t->n_methods; m++)
        buf_add_char(out, 'c');
    buf_add(out, S("}\n\\toprule\nModel"));
    for (size_t m = 0; m < t->n_methods; m++) {
        buf_add(out, S(" & "));
        put_latex_text(t->methods[m], out);
    }
    buf_add(out, S(" \\\\\n\\midrule\n"));
    for (size_t i = 0; i < t->n_models; i++) {
        put_latex_text(t->models[i], out);
        for (size_t m = 0; m < t->n_methods; m++) {
            buf_add(out, S(" & "));
            put_latex_cell(cell(t, i, m), a, out);
        }
        buf_add(out, S(" \\\\\n"));
    }
    buf_add(out, S("\\bottomrule\n\\end{tabular}\n"));
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
    switch (format) {
    case REPORT_TEXT: write_text(t, &scratch, out); break;
    case REPORT_CSV: write_csv(t, out); break;
    case REPORT_MARKDOWN: write_markdown(t, &scratch, out); break;
    case REPORT_LATEX: write_latex(t, &scratch, out); break;
    case REPORT_JSON: write_json(t, &scratch, out); break;
    }
    arena_free(&scratch);
}
