// SPDX-License-Identifier: GPL-3.0-or-later
// openings.c - where games of a tournament begin: positions from EPD lines or from played games.
#include "match/match.h"
#include "pgn/pgn.h"
#include "base/base.h"

enum { OPENINGS_FILE_MAX_BYTES = 64 << 20, NAME_MAX_BYTES = 200 };

static bool add(struct match_openings *out, const struct match_opening *one, struct arena *a,
                struct err *err)
{
    struct move_list legal;
    moves_legal(&one->at, &legal);
    if (legal.n == 0)
        return err_set(err, ERR_INPUT, "nobody can move there; remove it");
    if (out->n == MATCH_OPENINGS_MAX)
        return err_set(err, ERR_LIMIT, "over %d openings", MATCH_OPENINGS_MAX);
    struct match_opening *kept = vec_push(a, out);
    *kept = *one;
    kept->name = arena_str(a, str_sub(one->name, 0, NAME_MAX_BYTES));
    return true;
}

static bool read_line(str line, size_t lineno, struct arena *a, struct match_openings *out,
                      struct err *err)
{
    struct epd epd;
    if (!epd_parse(line, VARIANT_STANDARD, &epd, err))
        return false;
    const struct epd_operation *id = epd_find(&epd, S("id"));
    str rest = id ? id->operands : S(""), name = S("");
    if (id && !epd_operand(&rest, &name))
        name = S("");
    struct match_opening one = { .at = epd.at, .name = name, .lineno = lineno };
    return add(out, &one, a, err);
}

static bool read_epd(str path, struct arena *a, struct match_openings *out, struct err *err)
{
    str text;
    size_t lineno = 0;
    if (!file_read(path, OPENINGS_FILE_MAX_BYTES, a, &text, err))
        return false;
    for (text = str_without_bom(text); text.len > 0;) {
        str line = str_trim(str_cut(&text, '\n'));
        lineno++;
        if (line.len > 0 && line.data[0] != '#' && !read_line(line, lineno, a, out, err))
            return err_add(err, "%.*s:%zu", STR(path), lineno);
    }
    return true;
}

static bool read_game(const struct pgn_game *g, int plies, struct arena *a,
                      struct match_openings *out, struct err *err)
{
    struct position at = g->start;
    str name = pgn_tag(g, S("Opening")).len > 0 ? pgn_tag(g, S("Opening")) : pgn_tag(g, S("ECO"));
    for (size_t i = 0; i < g->moves.n && i < (size_t)plies; i++) {
        if (g->moves.v[i] == MOVE_NONE)
            return err_set(err, ERR_INPUT, "a null move is no opening");
        at = position_after(&at, g->moves.v[i]);
    }
    struct match_opening one = { .at = at, .name = name, .lineno = g->line };
    return add(out, &one, a, err);
}

static bool read_pgn(str path, int plies, struct arena *a, struct match_openings *out,
                     struct err *err)
{
    struct pgn_reader *r = NULL;
    struct arena scratch = { 0 };
    struct pgn_game game;
    bool ok = pgn_open(path, &r, err);
    enum pgn_read got = ok ? PGN_GOOD : PGN_END;
    while (ok && (got = pgn_next(r, &scratch, &game, err)) != PGN_END && got != PGN_FAIL) {
        if (got == PGN_BROKEN)
            ok = err_set(err, ERR_INPUT, "%s", game.fault.text) ||
                 err_add(err, "%.*s:%zu", STR(path), game.fault_line);
        else
            ok = read_game(&game, plies, a, out, err) ||
                 err_add(err, "%.*s:%zu", STR(path), game.line);
        arena_reset(&scratch);
    }
    pgn_close(r);
    arena_free(&scratch);
    return ok && got != PGN_FAIL;
}

static void name_by_hash(struct match_openings *o, struct arena *a)
{
    struct arena scratch = { 0 };
    struct buf all = { .arena = &scratch, .max = SIZE_MAX / 4 };
    for (size_t i = 0; i < o->n; i++) {
        position_format(&o->v[i].at, &all);
        buf_add_char(&all, '\n');
    }
    o->sha256 = sha256_of(buf_str(&all), a);
    arena_free(&scratch);
}

bool match_openings_load(str path, int plies, struct arena *a, struct match_openings *out,
                         struct err *err)
{
    bool lines =
        str_ends(path, S(".epd")) || str_ends(path, S(".fen")) || str_ends(path, S(".txt"));
    *out = (struct match_openings){ 0 };
    if (!(lines ? read_epd(path, a, out, err) : read_pgn(path, plies, a, out, err)))
        return false;
    name_by_hash(out, a);
    return out->n > 0 || err_set(err, ERR_INPUT, "%.*s: no opening in it", STR(path));
}

void match_openings_shuffle(struct match_openings *o, uint64_t seed)
{
    struct rng g;
    rng_seed(&g, seed, S("tournament/openings"));
    for (size_t i = o->n; i > 1; i--) {
        size_t k = (size_t)rng_below(&g, i);
        struct match_opening t = o->v[i - 1];
        o->v[i - 1] = o->v[k];
        o->v[k] = t;
    }
}
