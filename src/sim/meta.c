// SPDX-License-Identifier: GPL-3.0-or-later
// meta.c - the simulated model that writes prompts. It knows a bank of sentences, most of which
// help nobody, and not which; it is led by what it is shown. It finds the instruction it is to
// improve (the last text of the request that holds sentences of the bank, or none), takes a
// few sentences up, exchanges one or drops one, and prefers sentences that share words with the
// rest of the request, where critiques of earlier answers stand, or notes on the data. Its own
// notes name what the samples it is shown are about.
//
// A reply is a pure function of messages, temperature and (above temperature 0) sample.
#include <math.h>

#include "sim/internal.h"

enum { WORD_MIN_CHARS = 5, TAKEN_MAX = 3 }; // of a sentence's words; sentences at a time
static const double SHARED_WORD_PULL = 0.9; // a shared word makes a sentence that much likelier
static const double SHARE_EXCHANGE = 0.2, SHARE_DROP = 0.15, SHARE_FRESH = 0.1;

struct choice { // which sentences, in order
    size_t v[ADVICE_MAX];
    size_t n;
};
struct writer {
    const struct sim_data *data;
    struct arena *arena;
    struct rng rng;
    str request; // all messages, lower case
    double weight[ADVICE_MAX];
};

// ---- what it is shown ----

static str lower_text(const struct messages *m, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0; i < m->n; i++) {
        for (size_t k = 0; k < m->v[i].text.len; k++)
            buf_add_char(&b, ascii_lower(m->v[i].text.data[k]));
        buf_add_char(&b, '\n');
    }
    return buf_str(&b);
}

static bool is_word_char(char c)
{
    return ascii_is_alnum(c);
}

// Without the s of a plural.
static str stem(str word)
{
    bool plural = word.len > WORD_MIN_CHARS && word.data[word.len - 1] == 's';
    return str_sub(word, 0, plural ? word.len - 1 : word.len);
}

// A word of the text that does not stand in every request.
static bool tells_something(str word, str text)
{
    str everywhere = S("solve the chess puzzle by finding the single best move position_fen "
                       "side_to_move legal_moves_uci choose answer instruction");
    return str_find(everywhere, word) < 0 && str_find(text, word) >= 0;
}

// How many longer words of the sentence stand in the text.
static int shared_words(str sentence, str text, struct arena *a)
{
    int n = 0;
    for (size_t i = 0; i < sentence.len;) {
        size_t from = i;
        while (i < sentence.len && is_word_char(sentence.data[i]))
            i++;
        if (i - from >= WORD_MIN_CHARS) {
            struct buf word = { .arena = a };
            for (size_t k = from; k < i; k++)
                buf_add_char(&word, ascii_lower(sentence.data[k]));
            n += tells_something(stem(buf_str(&word)), text);
        }
        i += i == from;
    }
    return n;
}

// The sentences of the bank in the last line of the request that holds any, in their order there.
// Longer texts list attempts from the worst to the best, so the last is the one to build on.
static void find_base(const struct messages *m, const struct sim_data *data, struct choice *out)
{
    *out = (struct choice){ 0 };
    str text = m->n > 0 ? m->v[m->n - 1].text : S("");
    while (text.len > 0) {
        str line = str_cut_line(&text);
        struct choice found = { 0 };
        for (size_t at = 0; at < line.len; at++)
            for (size_t i = 0; i < data->advice.n; i++)
                if (str_starts(str_sub(line, at, line.len), data->advice.v[i]))
                    found.v[found.n++ % ADVICE_MAX] = i;
        if (found.n > 0 && found.n <= ADVICE_MAX)
            *out = found;
    }
}

// ---- the new text ----

static bool has(const struct choice *c, size_t sentence)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i] == sentence)
            return true;
    return false;
}

// A sentence that is not taken yet; the number of sentences where all are.
static size_t draw_new(struct writer *w, const struct choice *taken)
{
    double total = 0;
    for (size_t i = 0; i < w->data->advice.n; i++)
        total += has(taken, i) ? 0 : w->weight[i];
    double left = rng_double(&w->rng) * total;
    size_t last = w->data->advice.n;
    for (size_t i = 0; i < w->data->advice.n; i++) {
        if (has(taken, i))
            continue;
        last = i;
        left -= w->weight[i];
        if (left < 0)
            break;
    }
    return last;
}

static void take_new(struct writer *w, struct choice *c)
{
    size_t sentence = draw_new(w, c);
    if (sentence < w->data->advice.n)
        c->v[c->n++] = sentence;
}

static void take_some(struct writer *w, struct choice *c)
{
    for (size_t i = 1 + (size_t)rng_below(&w->rng, TAKEN_MAX); i > 0; i--)
        take_new(w, c);
}

static void drop(struct choice *c, size_t at)
{
    c->n--;
    for (size_t i = at; i < c->n; i++)
        c->v[i] = c->v[i + 1];
}

static void change(struct writer *w, struct choice *c)
{
    double which = rng_double(&w->rng);
    if (c->n == 0 || which < SHARE_FRESH) {
        c->n = 0;
        take_some(w, c);
        take_some(w, c);
        return;
    }
    size_t at = (size_t)rng_below(&w->rng, c->n);
    if (which < SHARE_FRESH + SHARE_DROP + SHARE_EXCHANGE)
        drop(c, at);
    if (which >= SHARE_FRESH + SHARE_DROP)
        take_some(w, c);
}

static str instruction_text(const struct writer *w, const struct choice *c)
{
    struct buf b = { .arena = w->arena };
    buf_add(&b, instruction_base);
    for (size_t i = 0; i < c->n; i++)
        buf_addf(&b, " %.*s", STR(w->data->advice.v[c->v[i]]));
    return buf_str(&b);
}

// ---- the answer ----

static bool contains(str name, str part)
{
    return str_find(name, part) >= 0;
}

// What the samples are about, as far as their themes tell.
static str remark_text(const struct writer *w)
{
    static const struct {
        const char *theme, *note;
    } notes[] = {
        { "mate", " Many positions end in checkmate of an exposed king." },
        { "fork", " Tactical shots such as forks and pins occur." },
        { "crushing", " The right move is forcing: a check, a capture or a threat, and it wins "
                      "material." },
        { "illegal", " Some answers were not among the listed moves." },
        { "legal_moves", " The answer has to be one of the listed moves." },
        { "solver_length", " The opponent's best reply has to be calculated." },
        { "of 2", " The opponent's best reply has to be calculated." },
    };
    struct buf b = { .arena = w->arena };
    buf_add(&b, S("(A simulated remark.) The task is to find the best move of a chess puzzle."));
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        if (str_find(w->request, str_from(notes[i].theme)) >= 0)
            buf_addf(&b, "%s", notes[i].note);
    return buf_str(&b);
}

// One field: an instruction, a piece of advice for the only predictor, or a remark.
static void put_field(struct writer *w, str name, struct choice *c, struct json_out *o)
{
    json_key(o, name);
    if (contains(name, S("advice")) || contains(name, S("rule"))) {
        struct buf b = { .arena = w->arena };
        size_t had = c->n;
        take_some(w, c);
        for (size_t i = had; i < c->n; i++)
            buf_addf(&b, "%s%.*s", b.len ? " " : "", STR(w->data->advice.v[c->v[i]]));
        json_open(o, '{');
        json_key_str(o, S("choose_move"), buf_str(&b));
        json_close(o, '}');
    } else if (contains(name, S("instruction")) || contains(name, S("prompt"))) {
        change(w, c);
        json_put_str(o, instruction_text(w, c));
    } else {
        json_put_str(o, remark_text(w));
    }
}

static str structured(struct writer *w, str fields, struct choice *base)
{
    struct buf b = { .arena = w->arena };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    for (str rest = fields; rest.len > 0;) {
        (void)str_cut(&rest, '`');
        str name = str_cut(&rest, '`');
        if (name.len > 0)
            put_field(w, name, base, &o);
    }
    json_close(&o, '}');
    return buf_str(&b);
}

static str fenced(struct writer *w, struct choice *base)
{
    change(w, base);
    return arena_printf(w->arena, "Here is a better instruction.\n\n```\n%.*s\n```",
                        STR(instruction_text(w, base)));
}

// ---- harness files ----

// The prompt's assignment in the source that is shown: from its name up to the other prompt.
static bool find_prompt(str source, size_t *from, size_t *to)
{
    ptrdiff_t start = str_find(source, S("SYSTEM_PROMPT = ")),
              end = str_find(source, S("USER_PROMPT = "));
    *from = start < 0 ? 0 : (size_t)start;
    *to = end < 0 ? 0 : (size_t)end;
    return start >= 0 && end > start;
}

// The last Python file of the request that is whole.
static str shown_source(str text)
{
    ptrdiff_t at = str_find(text, S("```python\n"));
    if (at < 0)
        return (str){ 0 };
    str rest = str_sub(text, (size_t)at + 10, text.len);
    ptrdiff_t end = str_find(rest, S("\n```"));
    return end < 0 ? (str){ 0 } : str_sub(rest, 0, (size_t)end + 1);
}

static void find_in_prompt(const struct sim_data *data, str prompt, struct choice *out)
{
    *out = (struct choice){ 0 };
    for (size_t i = 0; i < data->advice.n; i++)
        if (str_find(prompt, data->advice.v[i]) >= 0)
            out->v[out->n++] = i;
}

// One sentence a line: lines of a harness are short.
static void add_prompt(const struct writer *w, const struct choice *c, struct buf *b)
{
    buf_add(b, S("SYSTEM_PROMPT = (\n    "));
    buf_add_json(b, instruction_base);
    for (size_t i = 0; i < c->n; i++) {
        buf_add(b, S("\n    "));
        buf_add_json(b, arena_printf(w->arena, " %.*s", STR(w->data->advice.v[c->v[i]])));
    }
    buf_add(b, S("\n)\n"));
}

// A file for every slot that is asked for: the shown harness with another instruction.
static str harnesses(struct writer *w, str text)
{
    struct buf b = { .arena = w->arena };
    size_t from, to;
    str source = shown_source(text), slot_mark = S("```python slot=");
    if (!find_prompt(source, &from, &to))
        return S("I was shown no harness.");
    for (ptrdiff_t at; (at = str_find(text, slot_mark)) >= 0;) {
        text = str_sub(text, (size_t)at + slot_mark.len, text.len);
        str slot = str_trim(str_cut_line(&text));
        struct choice c;
        find_in_prompt(w->data, str_sub(source, from, to - from), &c);
        change(w, &c);
        buf_addf(&b,
                 "```json\n{\"candidates\": [{\"name\": \"%.*s\", \"axis\": \"prompt\", "
                 "\"hypothesis\": \"(Simulated.) Other guidance helps this model.\", "
                 "\"changes\": \"SYSTEM_PROMPT\"}]}\n```\n```python slot=%.*s\n%.*s",
                 STR(slot), STR(slot), STR(str_sub(source, 0, from)));
        add_prompt(w, &c, &b);
        buf_addf(&b, "%.*s```\n", STR(str_sub(source, to, source.len)));
    }
    return buf_str(&b);
}

str meta_reply(const struct sim_data *data, const struct view *view, const struct messages *m,
               uint64_t hash, struct arena *a)
{
    struct writer w = { .data = data, .arena = a, .request = lower_text(m, a) };
    struct choice base;
    rng_seed(&w.rng, hash, S("meta"));
    for (size_t i = 0; i < data->advice.n; i++)
        w.weight[i] = exp(SHARED_WORD_PULL * shared_words(data->advice.v[i], w.request, a));
    find_base(m, data, &base);
    str asked = m->n > 0 ? m->v[m->n - 1].text : S("");
    if (str_find(asked, S("```python slot=")) >= 0)
        return harnesses(&w, asked);
    return view->fields.len > 0 ? structured(&w, view->fields, &base) : fenced(&w, &base);
}
