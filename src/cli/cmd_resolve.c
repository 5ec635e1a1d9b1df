// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_resolve.c - shows the resolver: a position and an answer in, the one legal move out.
#include "cli/cli.h"
#include "episode/episode.h"

static void put_candidates(struct json_out *out, const struct resolve_candidates *list)
{
    json_key_open(out, S("candidates"), '[');
    for (size_t i = 0; i < list->n; i++) {
        const struct resolve_candidate *c = &list->v[i];
        json_open(out, '{');
        json_key_maybe(out, S("fragment"), c->fragment);
        json_key_maybe(out, S("source"), resolve_mode_name(c->source));
        struct move_text uci = uci_format(c->m);
        json_key_maybe(out, S("uci"), c->m ? str_from(uci.data) : S(""));
        json_close(out, '}');
    }
    json_close(out, ']');
}

static bool resolve(const json_t *in, struct arena *a, struct json_out *out, struct err *err)
{
    struct position pos;
    struct resolution r;
    if (!json_is_string(json_object_get(in, "fen")))
        return err_set(err, ERR_INPUT,
                       "no fen: a line is {\"fen\": FEN, \"answer\": TEXT or null}");
    unsigned repairs;
    if (!position_read(in, &pos, &repairs, err))
        return false;
    move_resolve(&pos, json_get_str(in, "answer"), a, &r);
    struct move_text uci = { "" };
    struct move_text san = { "" };
    if (r.error == RESOLVE_OK) {
        uci = uci_format(r.m);
        san = san_format(&pos, r.m);
    }
    json_open(out, '{');
    json_key_maybe(out, S("uci"), str_from(uci.data));
    json_key_maybe(out, S("san"), str_from(san.data));
    json_key_maybe(out, S("mode"), resolve_mode_name(r.mode));
    json_key_maybe(out, S("error"), resolve_error_name(r.error));
    put_candidates(out, &r.candidates);
    json_key_repairs(out, repairs);
    json_close(out, '}');
    return true;
}

const struct command command_resolve = {
    .name = "resolve",
    .summary = "turn answers into legal moves (JSON Lines)",
    .usage = "< LINES",
    .about = "Reads {\"fen\": F, \"answer\": TEXT} a line and prints uci, san, mode, error and the "
             "candidates;\n\"variant\": \"chess960\" may be given; what was mended in the FEN is "
             "told as \"repairs\".\nExample: echo '{\"fen\": \"4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1\", "
             "\"answer\": \"O-O\"}' | rookery resolve",
    .each = resolve,
};
