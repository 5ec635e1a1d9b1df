// SPDX-License-Identifier: GPL-3.0-or-later
// play_models.c - models as players of `rookery play`: each with settings of its own behind its
// name, alone or as the workers and the synthesiser of a mixture of agents.
#include "cli/play.h"
#include "cli/run.h"

static const double USUAL_TEMPERATURE = 0.3; // of the original

struct wish { // a model as it is asked for
    struct play *play;
    int c;
    str spec;
    struct model_opts opts;
    json_t *extra; // NULL: none; lives as long as the process
    bool has_own_temperature;
    bool is_worker; // of a mixture: the dialog's rules are not its own
};

// The side's own option where it is given, else the common one.
static str own_or_common(const struct play *p, int c, const char *name)
{
    const char *own = arena_printf(p->arena, "%s-%s", play_side_name(c), name).data;
    return has_option(p->args, own) && opt_get(p->args, own)->set ? opt_text(p->args, own, S(""))
                                                                  : opt_text(p->args, name, S(""));
}

// Label of the tables: the model, its effort, its budget (specification 3.2).
static str label_of(const struct model *m, struct arena *a)
{
    struct buf b = { .arena = a };
    str effort = json_get_str(m->extra, "reasoning_effort");
    const json_t *thinking = json_object_get(m->extra, "thinking");
    int64_t budget = json_get_int(thinking, "budget_tokens", 0);
    buf_add(&b, m->name);
    if (effort.len > 0)
        buf_addf(&b, "-%.*s", STR(effort));
    if (budget > 0)
        buf_addf(&b, "-thinking_%lld", (long long)budget);
    return buf_str(&b);
}

static json_t *extra_of(struct wish *w)
{
    if (!w->extra)
        w->extra = json_object();
    return w->extra;
}

static bool temperature_setting(struct wish *w, str value)
{
    w->opts.has_temperature = !str_eq(value, S("none"));
    w->has_own_temperature = w->opts.has_temperature;
    return !w->opts.has_temperature ||
           (str_to_double(value, &w->opts.temperature) && w->opts.temperature >= 0);
}

// A budget of thinking is sent as Anthropic takes it, and without a temperature (1.10).
static bool budget_setting(struct wish *w, str value)
{
    int64_t n;
    if (!str_to_int(value, 1024, 1000000, &n))
        return false;
    w->opts.has_temperature = false;
    return json_object_set_new(
               extra_of(w), "thinking",
               json_pack("{s:s,s:I}", "type", "enabled", "budget_tokens", (json_int_t)n)) == 0;
}

static bool setting(struct wish *w, str name, str value)
{
    int64_t n;
    double seconds;
    if (str_eq(name, S("temperature")))
        return temperature_setting(w, value);
    if (str_eq(name, S("budget")))
        return budget_setting(w, value);
    if (str_eq(name, S("max-tokens")))
        return str_to_int(value, 1, 10000000, &w->opts.max_tokens);
    if (str_eq(name, S("effort")))
        return value.len > 0 && json_object_set_new(extra_of(w), "reasoning_effort",
                                                    json_stringn(value.data, value.len)) == 0;
    if (str_eq(name, S("base-url"))) {
        w->opts.base_url = value;
        return value.len > 0;
    }
    if (str_eq(name, S("retries"))) {
        bool ok = str_to_int(value, 0, 100, &n);
        w->opts.has_retries = ok;
        w->opts.retries = ok ? (int)n : 0;
        return ok;
    }
    if (str_eq(name, S("timeout"))) {
        bool ok = str_to_double(value, &seconds) && seconds > 0 && seconds <= 86400;
        w->opts.timeout_ms = ok ? (int64_t)(seconds * 1000) : 0;
        return ok;
    }
    return !w->is_worker && play_dialog_setting(&w->play->own_rules[w->c], name, value);
}

// Settings for all models of a side, from the command line.
static bool common_settings(struct wish *w)
{
    const struct play *p = w->play;
    const struct args *args = p->args;
    str extra = own_or_common(p, w->c, "extra");
    w->opts = (struct model_opts){
        .base_url = own_or_common(p, w->c, "base-url"),
        .has_temperature = !opt_flag(args, "no-temperature"),
        .temperature = opt_real(args, "temperature", USUAL_TEMPERATURE),
        .max_tokens = opt_int(args, "max-tokens", 0),
        .has_retries = opt_get(args, "retries")->set,
        .retries = (int)opt_int(args, "retries", 0),
        .timeout_ms = (int64_t)(opt_real(args, "timeout", 600) * 1000),
        .has_format = true,
        .format = FORMAT_NONE,
        .allow_plain_http = opt_flag(args, "allow-http"),
    };
    if (extra.len == 0)
        return true;
    w->extra = json_read_strict(extra, p->err);
    return json_is_object(w->extra) ||
           err_set(p->err, ERR_USAGE, "--%s-extra must be a JSON object, got \"%.*s\"",
                   play_side_name(w->c), STR(extra));
}

// "provider/model,NAME=VALUE,...".
static bool open_wish(struct wish *w, struct model *out)
{
    struct play *p = w->play;
    str words = w->spec, model = arena_str(p->arena, str_cut(&words, ','));
    const struct args *args = p->args;
    if (!common_settings(w))
        return false;
    while (words.len > 0) {
        str value = str_cut(&words, ','), name = str_cut(&value, '=');
        if (!setting(w, name, arena_str(p->arena, value)))
            return err_set(p->err, ERR_USAGE,
                           "--%s: \"%.*s=%.*s\" is no setting of a model: temperature=T|none, "
                           "max-tokens=N, effort=WORD, budget=N, retries=N, timeout=S, base-url=URL"
                           "%s",
                           play_side_name(w->c), STR(name), STR(value),
                           w->is_worker ? "" : ", think=HOW, board=MODE, view=SIDE");
    }
    w->opts.extra = w->extra;
    if (p->prices.n == 0 && !cli_prices(args, p->arena, &p->prices, p->err))
        return false;
    w->opts.prices = &p->prices;
    if (!cli_model_open(model, &w->opts, p->arena, out, p->err))
        return err_add(p->err, "--%s", play_side_name(w->c));
    if (out->provider->chooses)
        return err_set(p->err, ERR_USAGE, "--%s: %.*s writes no text, so it can hold no dialog",
                       play_side_name(w->c), STR(model));
    if ((opt_get(args, "max-cost")->set || opt_get(args, "max-cost-per-day")->set) &&
        !out->price.known)
        return err_set(p->err, ERR_USAGE,
                       "--max-cost: the price of %.*s is not known, so a cap cannot be kept",
                       STR(model));
    p->asks = true;
    return true;
}

bool play_open_model(struct play *p, int c, str spec)
{
    struct wish w = { .play = p, .c = c, .spec = spec };
    struct model *m = &p->models[c];
    if (!open_wish(&w, m))
        return false;
    p->players[c] =
        (struct game_player){ .kind = PLAYER_MODEL, .label = label_of(m, p->arena), .model = m };
    return true;
}

// ---- mixtures of agents ----

static bool add_worker(struct play *p, int c, str spec, struct moa_worker *out)
{
    struct wish w = { .play = p, .c = c, .spec = spec, .is_worker = true };
    struct model *m = NEW(p->arena, struct model);
    out->model = m;
    return open_wish(&w, m);
}

// Without workers they are the synthesiser's model, at temperatures 0 and 1.
static bool usual_workers(struct play *p, int c, str spec, struct moa *out)
{
    out->n = 2;
    for (size_t i = 0; i < out->n; i++) {
        if (!add_worker(p, c, spec, &out->workers[i]))
            return false;
        out->workers[i].sampling =
            (struct sampling){ .has_temperature = true, .temperature = (double)i };
    }
    return true;
}

// "SYNTHESISER;WORKER;WORKER...", each as a model with its settings.
bool play_open_moa(struct play *p, int c, str spec)
{
    struct buf label = { .arena = p->arena };
    struct moa *moa = NEW(p->arena, struct moa);
    str rest = spec, synthesiser = str_cut(&rest, ';');
    moa->workers = NEW_ARRAY(p->arena, struct moa_worker, spec.len + 2);
    if (!play_open_model(p, c, synthesiser))
        return false;
    str plain = synthesiser; // the rules of the dialog are the synthesiser's alone
    if (rest.len == 0 && !usual_workers(p, c, str_cut(&plain, ','), moa))
        return false;
    while (rest.len > 0)
        if (!add_worker(p, c, str_cut(&rest, ';'), &moa->workers[moa->n++]))
            return false;
    buf_addf(&label, "moa %.*s of", STR(p->players[c].label));
    for (size_t i = 0; i < moa->n; i++) {
        const struct moa_worker *w = &moa->workers[i];
        buf_addf(&label, "%s%.*s", i ? " + " : " ", STR(label_of(w->model, p->arena)));
        if (w->sampling.has_temperature)
            buf_addf(&label, "@%g", w->sampling.temperature);
    }
    p->players[c].moa = moa;
    p->players[c].label = buf_str(&label);
    return true;
}

// ---- the run's configuration ----

static void put_model(struct json_out *o, const struct model *m, const struct sampling *sampling)
{
    bool own = sampling && sampling->has_temperature;
    json_key_str(o, S("model"), m->name);
    json_key_str(o, S("base_url"), m->base_url);
    json_key_maybe(o, S("identity"), m->identity);
    if (m->has_temperature || own)
        json_key_double(o, S("temperature"), own ? sampling->temperature : m->temperature);
    json_key_int(o, S("max_tokens"), m->max_tokens);
    if (m->extra) {
        json_key(o, S("extra"));
        json_put_value(o, m->extra);
    }
}

void play_put_model(const struct play *p, struct json_out *o, int c)
{
    const struct game_player *g = &p->players[c];
    const struct dialog_rules *own = &p->own_rules[c];
    put_model(o, g->model, NULL);
    if (own->think != p->rules.think)
        json_key_str(o, S("remove_text"), dialog_think_name(own->think));
    if (own->board != p->rules.board)
        json_key_str(o, S("board"), dialog_board_name(own->board));
    if (own->view != p->rules.view)
        json_key_int(o, S("view"), own->view);
    if (!g->moa)
        return;
    json_key_open(o, S("workers"), '[');
    for (size_t i = 0; i < g->moa->n; i++) {
        json_open(o, '{');
        put_model(o, g->moa->workers[i].model, &g->moa->workers[i].sampling);
        json_close(o, '}');
    }
    json_close(o, ']');
}
