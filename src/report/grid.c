// SPDX-License-Identifier: GPL-3.0-or-later
// grid.c - a table in the form that the reader wants to paste.
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

void report_grid_add(struct report_grid *g, str text, struct arena *a)
{
    *vec_push(a, &g->entries) = (struct report_entry){ .text = text };
}

static size_t n_rows(const struct report_grid *g)
{
    return g->n_columns > 0 ? g->entries.n / g->n_columns : 0;
}

static const struct report_entry *entry(const struct report_grid *g, size_t row, size_t column)
{
    return &g->entries.v[row * g->n_columns + column];
}

// ---- text ----

static size_t width_of(const struct report_entry *e)
{
    return utf8_length(e->text) + (e->best ? 2 : 0);
}

static void put_padded(const struct report_entry *e, size_t width, struct buf *out)
{
    buf_add(out, e->text);
    if (e->best)
        buf_add(out, S(" ^"));
    for (size_t n = width_of(e); n < width + 2; n++)
        buf_add_char(out, ' ');
}

static void write_text(const struct report_grid *g, struct arena *a, struct buf *out)
{
    size_t *widest = NEW_ARRAY(a, size_t, g->n_columns + 1);
    for (size_t i = 0; i < g->entries.n; i++) {
        size_t width = width_of(&g->entries.v[i]);
        if (width > widest[i % g->n_columns])
            widest[i % g->n_columns] = width;
    }
    for (size_t i = 0; i < n_rows(g); i++) {
        for (size_t c = 0; c < g->n_columns; c++)
            put_padded(entry(g, i, c), widest[c], out);
        while (out->len > 0 && out->data[out->len - 1] == ' ')
            out->len--;
        buf_add_char(out, '\n');
    }
    if (g->note.len > 0)
        buf_addf(out, "\n%.*s\n", STR(g->note));
}

// ---- other forms ----

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

static void write_csv(const struct report_grid *g, struct buf *out)
{
    for (size_t i = 0; i < g->entries.n; i++) {
        put_csv(g->entries.v[i].text, out);
        buf_add_char(out, (i + 1) % g->n_columns == 0 ? '\n' : ',');
    }
}

static void write_markdown(const struct report_grid *g, struct buf *out)
{
    for (size_t i = 0; i < n_rows(g); i++) {
        buf_add_char(out, '|');
        for (size_t c = 0; c < g->n_columns; c++) {
            const char *bold = entry(g, i, c)->best ? "**" : "";
            buf_addf(out, " %s%.*s%s |", bold, STR(entry(g, i, c)->text), bold);
        }
        buf_add_char(out, '\n');
        for (size_t c = 0; i == 0 && c < g->n_columns; c++)
            buf_addf(out, "%s --- |%s", c == 0 ? "|" : "", c + 1 == g->n_columns ? "\n" : "");
    }
}

static void put_latex_text(str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        if (str_starts(str_sub(text, i, text.len), S("\xC2\xB1"))) {
            buf_add(out, S("$\\pm$"));
            i++;
            continue;
        }
        if (str_find_char(S("&%$#_{}"), text.data[i]) >= 0)
            buf_add_char(out, '\\');
        buf_add_char(out, text.data[i]);
    }
}

static void write_latex(const struct report_grid *g, struct buf *out)
{
    buf_add(out, S("\\begin{tabular}{l"));
    for (size_t c = 1; c < g->n_columns; c++)
        buf_add_char(out, 'c');
    buf_add(out, S("}\n\\toprule\n"));
    for (size_t i = 0; i < n_rows(g); i++) {
        for (size_t c = 0; c < g->n_columns; c++) {
            buf_add(out, c > 0 ? S(" & ") : S(""));
            buf_add(out, entry(g, i, c)->best ? S("\\textbf{") : S(""));
            put_latex_text(entry(g, i, c)->text, out);
            buf_add(out, entry(g, i, c)->best ? S("}") : S(""));
        }
        buf_addf(out, " \\\\\n%s", i == 0 ? "\\midrule\n" : "");
    }
    buf_add(out, S("\\bottomrule\n\\end{tabular}\n"));
}

static void write_json(const struct report_grid *g, struct buf *out)
{
    struct json_out o = { .b = out, .indent = 2 };
    json_open(&o, '[');
    for (size_t i = 1; i < n_rows(g); i++) {
        json_open(&o, '{');
        for (size_t c = 0; c < g->n_columns; c++)
            json_key_str(&o, entry(g, 0, c)->text, entry(g, i, c)->text);
        json_close(&o, '}');
    }
    json_close(&o, ']');
    buf_add_char(out, '\n');
}

void report_grid_write(const struct report_grid *g, enum report_format format, struct buf *out)
{
    struct arena scratch = { 0 };
    switch (format) {
    case REPORT_TEXT: write_text(g, &scratch, out); break;
    case REPORT_CSV: write_csv(g, out); break;
    case REPORT_MARKDOWN: write_markdown(g, out); break;
    case REPORT_LATEX: write_latex(g, out); break;
    case REPORT_JSON: write_json(g, out); break;
    }
    arena_free(&scratch);
}
