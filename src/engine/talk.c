// SPDX-License-Identifier: GPL-3.0-or-later
// talk.c - the conversation with one process. Each search is preceded by ucinewgame and
// isready/readyok: results then do not depend on what was searched before, and whatever is still
// under way belongs to the last search (field case F-051). Exactly one bestmove is taken per go.
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

enum {
    OPTIONS_MAX = 1024,
    STRINGS_MAX = 64, // kept of a process
    STRING_MAX_BYTES = 400,
    ERRORS_MAX_BYTES = 600,
};

// ---- the handshake ----

void talk_start(struct talk *t, const struct engine *engine, struct arena *a)
{
    *t = (struct talk){ .engine = engine, .arena = a, .out = { .arena = a }, .lines_ = 1 };
    buf_add(&t->out, S("uci\n"));
}

static void add_option(struct talk *t, const struct engine_option *o)
{
    if (t->options.n == OPTIONS_MAX)
        return;
    *vec_push(t->arena, &t->options) =
        (struct engine_option){ .name = arena_str(t->arena, o->name),
                                .kind = o->kind,
                                .fallback = arena_str(t->arena, o->fallback),
                                .min = o->min,
                                .max = o->max,
                                .vars = arena_str(t->arena, o->vars) };
}

static bool has_option(const struct talk *t, str name)
{
    for (size_t i = 0; i < t->options.n; i++)
        if (str_eq_nocase(t->options.v[i].name, name))
            return true;
    return false;
}

static void set_option(struct talk *t, str name, str value)
{
    buf_addf(&t->out, "setoption name %.*s", STR(name));
    if (value.len > 0)
        buf_addf(&t->out, " value %.*s", STR(value));
    buf_add_char(&t->out, '\n');
}

// uciok has come: the settings, as far as they fit.
static void send_settings(struct talk *t)
{
    const struct engine_settings *s = &t->engine->settings;
    for (size_t i = 0; i < s->n; i++) {
        if (s->v[i].optional && !has_option(t, s->v[i].name))
            continue;
        if (!engine_setting_check(&t->options, &s->v[i], &t->refusal)) {
            err_add(&t->refusal, "%.*s", STR(t->name.len > 0 ? t->name : t->engine->path));
            return;
        }
        set_option(t, s->v[i].name, s->v[i].value);
    }
    buf_add(&t->out, S("isready\n"));
    t->state = TALK_READY;
}

// What the engine says in words: the first lines are its record, those that tell an error explain a
// process that ends (field case F-053).
static void note_string(struct talk *t, str text)
{
    text = str_sub(text, 0, STRING_MAX_BYTES);
    if (t->strings.n < STRINGS_MAX)
        *vec_push(t->arena, &t->strings) = arena_str(t->arena, text);
    else if (t->errors.len > 0)
        return; // bounded whatever comes
    if (str_starts(text, S("ERROR")) && t->errors.len + text.len < ERRORS_MAX_BYTES)
        t->errors = arena_printf(t->arena, "%.*s%s%.*s", STR(t->errors),
                                 t->errors.len > 0 ? "; " : "", STR(text));
}

static void hello_line(struct talk *t, const struct uci_line *line)
{
    if (line->kind == UCI_ID_NAME && t->name.len == 0)
        t->name = arena_str(t->arena, str_sub(line->text, 0, STRING_MAX_BYTES));
    else if (line->kind == UCI_ID_AUTHOR && t->author.len == 0)
        t->author = arena_str(t->arena, str_sub(line->text, 0, STRING_MAX_BYTES));
    else if (line->kind == UCI_OPTION)
        add_option(t, &line->option);
    else if (line->kind == UCI_UCIOK)
        send_settings(t);
}

// ---- asking ----

void talk_ask(struct talk *t, const struct engine_query *q, struct arena *a)
{
    struct err err = { 0 };
    if (t->state != TALK_IDLE || !engine_query_check(q, &t->at_, &err))
        BUG("a question that may not be asked");
    struct move_list legal;
    moves_legal(&t->at_, &legal);
    t->n_legal_ = legal.n;
    size_t lines = q->lines > 0 ? (size_t)q->lines : 1;
    t->query_ = q;
    t->arena_ = a;
    t->reply = (struct engine_reply){ .v = NEW_ARRAY(a, struct engine_pv, lines), .nodes = -1 };
    bool chess960 = q->start.variant == VARIANT_CHESS960;
    if (t->lines_ != (int)lines)
        set_option(t, S("MultiPV"), arena_printf(a, "%zu", lines));
    if (t->chess960_ != chess960)
        set_option(t, S("UCI_Chess960"), chess960 ? S("true") : S("false"));
    t->lines_ = (int)lines;
    t->chess960_ = chess960;
    buf_add(&t->out, S("ucinewgame\nisready\n"));
    t->state = TALK_PREPARE;
}

static void add_moves(struct buf *out, const char *word, const move *moves, size_t n)
{
    if (n == 0)
        return;
    buf_addf(out, " %s", word);
    for (size_t i = 0; i < n; i++)
        buf_addf(out, " %s", uci_format(moves[i]).data);
}

static void send_go(struct talk *t)
{
    static const char *const words[] = {
        [ENGINE_BY_DEPTH] = "depth", [ENGINE_BY_NODES] = "nodes", [ENGINE_BY_TIME] = "movetime"
    };
    const struct engine_query *q = t->query_;
    buf_addf(&t->out, "go %s %lld", words[q->limit.by], (long long)q->limit.n);
    add_moves(&t->out, "searchmoves", q->search, q->n_search); // last: it takes words to the end
    buf_add_char(&t->out, '\n');
    t->state = TALK_SEARCH;
}

static void send_position(struct talk *t)
{
    const struct engine_query *q = t->query_;
    buf_add(&t->out, S("position fen "));
    if (q->start.variant == VARIANT_CHESS960)
        position_format_shredder(&q->start, &t->out);
    else
        position_format(&q->start, &t->out);
    add_moves(&t->out, "moves", q->moves, q->n_moves);
    buf_add_char(&t->out, '\n');
    if (!t->engine->check_positions) {
        send_go(t);
        return;
    }
    buf_add(&t->out, S("d\n"));
    t->state = TALK_COMPARE;
}

// ---- answers ----

static bool finish(struct talk *t, enum engine_class class, str error)
{
    t->reply.class = class;
    t->reply.error = error;
    t->state = TALK_IDLE;
    return true;
}

// The engine's board is another one than ours (field case F-049).
static bool compare(struct talk *t, str line)
{
    struct position theirs;
    str fen = str_trim(line);
    if (!str_starts(fen, S("Fen:")))
        return false;
    fen = str_trim(str_sub(fen, 4, fen.len));
    if (position_parse_as(fen, (enum variant)t->at_.variant, &theirs, NULL, NULL) != FAULT_NONE ||
        theirs.key != t->at_.key)
        return finish(t, ENGINE_PROTOCOL, S("its own board is another one than ours"));
    send_go(t);
    return false;
}

// Takes a variation as far as it is legal.
static void read_pv(struct talk *t, str text, struct engine_pv *out)
{
    struct position pos = t->at_;
    out->n = 0;
    while (text.len > 0 && out->n < ENGINE_PV_MAX) {
        str word = str_cut(&text, ' ');
        move m;
        if (word.len == 0)
            continue;
        if (!uci_parse(&pos, word, &m)) {
            t->reply.n_cut++;
            return;
        }
        out->moves[out->n++] = m;
        pos = position_after(&pos, m);
    }
}

static void take_info(struct talk *t, const struct uci_info *info)
{
    size_t i = info->multipv > 0 ? (size_t)info->multipv - 1 : 0;
    if (info->nodes >= 0)
        t->reply.nodes = info->nodes;
    if (!info->score.given || i >= (size_t)t->lines_)
        return;
    struct engine_pv *line = &t->reply.v[i];
    if (t->reply.n <= i)
        t->reply.n = i + 1;
    line->seldepth = info->seldepth;
    if (info->score.bound != ENGINE_EXACT)
        line->bound = info->score;
    // A bound never takes the place of an exact score (field case F-048).
    bool first = !line->score.given || line->score.bound != ENGINE_EXACT;
    if (info->score.bound != ENGINE_EXACT && !first)
        return;
    line->score = info->score;
    line->depth = info->depth;
    line->has_wdl = info->has_wdl;
    memcpy(line->wdl, info->wdl, sizeof line->wdl);
    if (info->pv.len > 0)
        read_pv(t, info->pv, line);
}

// Less than was asked for, as from an engine whose input ended (field case F-050). A mate may end a
// search early. Nodes are told at the end of an iteration: half is not yet too few.
static bool fell_short(const struct talk *t, str *why)
{
    const struct engine_limit *limit = &t->query_->limit;
    const struct engine_pv *line = &t->reply.v[0];
    struct arena *a = t->arena_;
    bool forced = t->reply.best == MOVE_NONE || (!t->query_->need_score && t->n_legal_ == 1);
    if (t->reply.n == 0 || line->score.mate || limit->by == ENGINE_BY_TIME || forced)
        return false;
    int64_t depth = line->score.bound == ENGINE_EXACT ? line->depth : line->depth - 1;
    if (limit->by == ENGINE_BY_DEPTH && depth < limit->n) {
        *why = arena_printf(a, "it searched %lld plies of %lld", (long long)depth,
                            (long long)limit->n);
        return true;
    }
    if (limit->by == ENGINE_BY_NODES && t->reply.nodes >= 0 && t->reply.nodes < limit->n / 2) {
        *why = arena_printf(a, "it searched %lld nodes of %lld", (long long)t->reply.nodes,
                            (long long)limit->n);
        return true;
    }
    return false;
}

static bool may_answer(const struct engine_query *q, move m)
{
    for (size_t i = 0; i < q->n_search; i++)
        if (q->search[i] == m)
            return true;
    return q->n_search == 0;
}

// Whether a move is none at all, then what else is wrong with it.
static bool take_best(struct talk *t, str text, str *why)
{
    char lower[8];
    move m = MOVE_NONE;
    if (text.len == 0) {
        *why = arena_printf(t->arena_, "it has no move, though %zu are legal", t->n_legal_);
        return t->n_legal_ == 0;
    }
    size_t n = text.len < sizeof lower ? text.len : 0;
    for (size_t i = 0; i < n; i++)
        lower[i] = ascii_lower(text.data[i]);
    if (!uci_parse(&t->at_, (str){ lower, n }, &m)) {
        *why = arena_printf(t->arena_, "its move \"%s\" is illegal", str_show(text, 20).text);
        return false;
    }
    t->reply.best = m;
    *why = arena_printf(t->arena_, "its move %s is none of those to search", uci_format(m).data);
    return may_answer(t->query_, m);
}

static bool take_bestmove(struct talk *t, const struct uci_line *line)
{
    str why = { 0 };
    bool slow = t->state == TALK_STOP && t->query_->limit.by != ENGINE_BY_TIME;
    if (slow)
        return finish(t, ENGINE_STALLED, S("the search took too long and was stopped"));
    if (!take_best(t, line->text, &why) || fell_short(t, &why))
        return finish(t, ENGINE_PROTOCOL, why);
    if (t->query_->need_score && t->reply.n == 0)
        return finish(t, ENGINE_PROTOCOL, S("it told no score"));
    if (t->reply.best != MOVE_NONE) {
        struct position then = position_after(&t->at_, t->reply.best);
        if (!uci_parse(&then, line->ponder, &t->reply.ponder))
            t->reply.ponder = MOVE_NONE;
    }
    return finish(t, ENGINE_OK, (str){ 0 });
}

static bool search_line(struct talk *t, const struct uci_line *line)
{
    if (line->kind == UCI_INFO)
        take_info(t, &line->info);
    else if (line->kind == UCI_BESTMOVE)
        return take_bestmove(t, line);
    else if (line->kind != UCI_STRING)
        t->reply.n_noise++;
    return false;
}

bool talk_line(struct talk *t, str text)
{
    struct uci_line line;
    uci_line_read(text, &line);
    if (line.kind == UCI_STRING)
        note_string(t, line.text);
    switch (t->state) {
    case TALK_HELLO: hello_line(t, &line); return false;
    case TALK_READY:
        if (line.kind == UCI_READYOK)
            t->state = TALK_IDLE;
        return false;
    case TALK_IDLE: return false; // late words of a search that is over
    case TALK_PREPARE:
        if (line.kind == UCI_READYOK)
            send_position(t);
        return false;
    case TALK_COMPARE: return compare(t, text);
    case TALK_SEARCH:
    case TALK_STOP: return search_line(t, &line);
    }
    BUG("no such state");
}

void talk_stop(struct talk *t)
{
    if (t->state != TALK_SEARCH)
        return;
    buf_add(&t->out, S("stop\n"));
    t->state = TALK_STOP;
}

const char *talk_waits_for(const struct talk *t)
{
    static const char *const words[] = {
        [TALK_HELLO] = "uciok",
        [TALK_READY] = "readyok",
        [TALK_IDLE] = "a question",
        [TALK_PREPARE] = "readyok",
        [TALK_COMPARE] = "its board",
        [TALK_SEARCH] = "bestmove",
        [TALK_STOP] = "bestmove after stop",
    };
    return words[t->state];
}

// ---- identity ----

// The value an announced option has: as set, else the engine's own.
static str value_of(const struct engine_settings *s, const struct engine_option *o)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_eq_nocase(s->v[i].name, o->name))
            return s->v[i].value;
    return o->fallback;
}

// Options that each question sets for itself, or that change no result.
static bool is_neutral(const struct engine_option *o)
{
    static const str names[] = { T("MultiPV"), T("UCI_Chess960"), T("Ponder"),
                                 T("Debug Log File") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(o->name, names[i]))
            return true;
    return o->kind == OPTION_BUTTON;
}

static bool contains_nocase(str text, str word)
{
    for (size_t i = 0; i + word.len <= text.len; i++)
        if (str_eq_nocase(str_sub(text, i, word.len), word))
            return true;
    return false;
}

// Weakened engines draw lots without a seed, several threads race (technical notes, decisions 4.6).
static bool is_random(const struct talk *t)
{
    for (size_t i = 0; i < t->options.n; i++) {
        const struct engine_option *o = &t->options.v[i];
        str value = value_of(&t->engine->settings, o);
        if (str_eq_nocase(o->name, S("Threads")) && !str_eq(value, S("1")))
            return true;
        if (str_eq_nocase(o->name, S("UCI_LimitStrength")) && str_eq(value, S("true")))
            return true;
        if (contains_nocase(o->name, S("skill")) && !str_eq(value, o->fallback))
            return true;
    }
    return false;
}

void talk_identify(const struct talk *t, struct arena *a, struct engine *out)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '[');
    json_put_str(&o, t->name);
    json_put_str(&o, t->author);
    for (size_t i = 0; i < t->options.n; i++) {
        if (is_neutral(&t->options.v[i]))
            continue;
        json_put_str(&o, t->options.v[i].name);
        json_put_str(&o, value_of(&t->engine->settings, &t->options.v[i]));
    }
    json_close(&o, ']');
    out->name = arena_str(a, t->name.len > 0 ? t->name : t->engine->path);
    out->author = arena_str(a, t->author);
    out->identity = sha256_of(buf_str(&b), a);
    out->random = is_random(t);
}
