// SPDX-License-Identifier: GPL-3.0-or-later
// reply.c - an engine's answer as the JSON that the store keeps, and back.
#include "engine/engine.h"

static const str class_names[] = { [ENGINE_OK] = T("ok"),
                                   [ENGINE_CRASHED] = T("crashed"),
                                   [ENGINE_STALLED] = T("stalled"),
                                   [ENGINE_PROTOCOL] = T("protocol") };

str engine_class_name(enum engine_class c)
{
    return class_names[c];
}

static void put_move(struct json_out *o, str key, move m)
{
    if (m != MOVE_NONE)
        json_key_str(o, key, str_from(uci_format(m).data));
}

static void put_score(struct json_out *o, str key, struct engine_score s)
{
    static const str bounds[] = { [ENGINE_LOWER] = T("lower"), [ENGINE_UPPER] = T("upper") };
    if (!s.given)
        return;
    json_key_open(o, key, '{');
    json_key_int(o, s.mate ? S("mate") : S("cp"), s.value);
    if (s.bound != ENGINE_EXACT)
        json_key_str(o, S("bound"), bounds[s.bound]);
    json_close(o, '}');
}

static void put_line(struct json_out *o, const struct engine_pv *line)
{
    json_open(o, '{');
    json_key_int(o, S("depth"), line->depth);
    json_key_int(o, S("seldepth"), line->seldepth);
    put_score(o, S("score"), line->score);
    put_score(o, S("last_bound"), line->bound);
    if (line->has_wdl) {
        json_key_open(o, S("wdl"), '[');
        for (int i = 0; i < 3; i++)
            json_put_int(o, line->wdl[i]);
        json_close(o, ']');
    }
    json_key_open(o, S("pv"), '[');
    for (size_t i = 0; i < line->n; i++)
        json_put_str(o, str_from(uci_format(line->moves[i]).data));
    json_close(o, ']');
    json_close(o, '}');
}

str engine_reply_to_json(const struct engine_reply *r, struct arena *a)
{
    struct buf b = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("class"), engine_class_name(r->class));
    put_move(&o, S("best"), r->best);
    put_move(&o, S("ponder"), r->ponder);
    json_key_open(&o, S("lines"), '[');
    for (size_t i = 0; i < r->n; i++)
        put_line(&o, &r->v[i]);
    json_close(&o, ']');
    json_key_int(&o, S("nodes"), r->nodes);
    json_key_int(&o, S("cut"), r->n_cut);
    json_key_int(&o, S("noise"), r->n_noise);
    json_key_int(&o, S("attempts"), r->attempts);
    json_key_int(&o, S("latency_ms"), r->latency_ms);
    if (r->error.len > 0)
        json_key_str(&o, S("error"), r->error);
    json_close(&o, '}');
    return buf_str(&b);
}

// ---- back ----

static bool get_class(str name, enum engine_class *out, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(class_names); i++)
        if (str_eq(name, class_names[i])) {
            *out = (enum engine_class)i;
            return true;
        }
    return err_set(err, ERR_INPUT, "an engine's answer of unknown class \"%s\"",
                   str_show(name, 40).text);
}

static bool get_move(const struct position *at, str text, move *out, struct err *err)
{
    *out = MOVE_NONE;
    return text.len == 0 || uci_parse(at, text, out) ||
           err_set(err, ERR_INPUT, "an engine's answer with the illegal move \"%s\"",
                   str_show(text, 20).text);
}

static struct engine_score get_score(const json_t *s)
{
    str bound = json_get_str(s, "bound");
    bool mate = json_object_get(s, "mate") != NULL;
    return (struct engine_score){
        .given = json_is_object(s),
        .mate = mate,
        .value = (int32_t)json_get_int(s, mate ? "mate" : "cp", 0),
        .bound = str_eq(bound, S("lower"))   ? ENGINE_LOWER
                 : str_eq(bound, S("upper")) ? ENGINE_UPPER
                                             : ENGINE_EXACT,
    };
}

static bool get_line(const json_t *in, struct position pos, struct engine_pv *out, struct err *err)
{
    const json_t *pv = json_object_get(in, "pv");
    const json_t *wdl = json_object_get(in, "wdl");
    *out = (struct engine_pv){ .score = get_score(json_object_get(in, "score")),
                               .bound = get_score(json_object_get(in, "last_bound")),
                               .depth = (int)json_get_int(in, "depth", 0),
                               .seldepth = (int)json_get_int(in, "seldepth", 0),
                               .has_wdl = json_array_size(wdl) == 3 };
    for (size_t i = 0; out->has_wdl && i < 3; i++)
        out->wdl[i] = (int)json_integer_value(json_array_get(wdl, i));
    for (size_t i = 0; i < json_array_size(pv) && i < ENGINE_PV_MAX; i++) {
        move m;
        if (!get_move(&pos, json_view(json_array_get(pv, i)), &m, err) || m == MOVE_NONE)
            return false;
        out->moves[out->n++] = m;
        pos = position_after(&pos, m);
    }
    return true;
}

static bool read_reply(const json_t *in, const struct position *at, struct arena *a,
                       struct engine_reply *out, struct err *err)
{
    const json_t *lines = json_object_get(in, "lines");
    size_t n = json_array_size(lines);
    if (!get_class(json_get_str(in, "class"), &out->class, err) ||
        !get_move(at, json_get_str(in, "best"), &out->best, err))
        return false;
    struct position then = out->best ? position_after(at, out->best) : *at;
    if (!get_move(&then, json_get_str(in, "ponder"), &out->ponder, err))
        return false;
    out->v = NEW_ARRAY(a, struct engine_pv, n + 1);
    for (size_t i = 0; i < n && i < ENGINE_LINES_MAX; i++)
        if (!get_line(json_array_get(lines, i), *at, &out->v[out->n++], err))
            return false;
    out->nodes = json_get_int(in, "nodes", -1);
    out->n_cut = json_get_int(in, "cut", 0);
    out->n_noise = json_get_int(in, "noise", 0);
    out->attempts = (int)json_get_int(in, "attempts", 0);
    out->latency_ms = json_get_int(in, "latency_ms", 0);
    out->error = arena_str(a, json_get_str(in, "error"));
    return true;
}

bool engine_reply_from_json(str text, const struct position *at, struct arena *a,
                            struct engine_reply *out, struct err *err)
{
    *out = (struct engine_reply){ 0 };
    json_t *in = json_read_strict(text, err);
    bool ok = in && (json_is_object(in) || err_set(err, ERR_INPUT, "no engine's answer"));
    ok = ok && read_reply(in, at, a, out, err);
    json_decref(in);
    return ok;
}
