// SPDX-License-Identifier: GPL-3.0-or-later
// openings.c - starting conditions of rollouts, each move checked by playing it.
#include "episode/episode.h"
#include "episode/internal.h"

static bool read_moves(str text, struct opening *out, struct err *err)
{
    struct position pos = position_start();
    while (text.len > 0) {
        str word = str_cut(&text, ' ');
        if (out->n == OPENING_MOVES_MAX)
            return err_set(err, ERR_INPUT, "more than %d moves", OPENING_MOVES_MAX);
        if (!uci_parse(&pos, word, &out->moves[out->n]))
            return err_set(err, ERR_INPUT, "move %zu, \"%s\", is illegal", out->n + 1,
                           str_show(word, 20).text);
        pos = position_after(&pos, out->moves[out->n++]);
    }
    struct move_list legal;
    moves_legal(&pos, &legal);
    return legal.n > 0 || err_set(err, ERR_INPUT, "the game is over after its moves");
}

static bool read_opening(const json_t *in, struct arena *a, struct opening *out, struct err *err)
{
    str side = json_get_str(in, "model");
    out->name = arena_str(a, json_get_str(in, "name"));
    out->eco = arena_str(a, json_get_str(in, "eco"));
    out->model = str_eq(side, S("black")) ? BLACK : WHITE;
    if (out->name.len == 0)
        return err_set(err, ERR_INPUT, "no name");
    if (!str_eq(side, S("black")) && !str_eq(side, S("white")))
        return err_set(err, ERR_INPUT, "\"model\" must be white or black");
    return read_moves(json_get_str(in, "moves"), out, err);
}

bool openings_load(str text, struct arena *a, struct openings *out, struct err *err)
{
    if (text.len == 0)
        text = (str){ (const char *)episode_openings_data, episode_openings_size };
    *out = (struct openings){ .sha256 = sha256_of(text, a) };
    json_t *in = json_read_strict(text, err);
    if (!in)
        return false;
    size_t n = json_array_size(in);
    bool ok = (n > 0 && n <= OPENINGS_MAX) ||
              err_set(err, ERR_INPUT, "openings are a list of 1 to %d objects", OPENINGS_MAX);
    for (size_t i = 0; ok && i < n; i++)
        ok = read_opening(json_array_get(in, i), a, vec_push(a, out), err) ||
             err_add(err, "opening %zu", i + 1);
    json_decref(in);
    return ok;
}
