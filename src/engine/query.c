// SPDX-License-Identifier: GPL-3.0-or-later
// query.c - a question to an engine: checked before anything is sent. Engines crash on nonsense, or
// silently search another position (field cases F-036 and F-049).
#include "engine/engine.h"

static bool check_search_moves(const struct engine_query *q, const struct position *at,
                               struct err *err)
{
    for (size_t i = 0; i < q->n_search; i++) {
        if (!move_is_legal(at, q->search[i]))
            return err_set(err, ERR_INPUT, "the move %s to search is illegal there",
                           uci_format(q->search[i]).data);
        for (size_t k = 0; k < i; k++)
            if (q->search[k] == q->search[i])
                return err_set(err, ERR_INPUT, "the move %s to search is given twice",
                               uci_format(q->search[i]).data);
    }
    return true;
}

bool engine_query_check(const struct engine_query *q, struct position *at, struct err *err)
{
    struct position pos = q->start;
    if (q->n_moves > ENGINE_HISTORY_MAX)
        return err_set(err, ERR_INPUT, "a game of more than %d moves before the search",
                       ENGINE_HISTORY_MAX);
    for (size_t i = 0; i < q->n_moves; i++) {
        if (!move_is_legal(&pos, q->moves[i]))
            return err_set(err, ERR_INPUT, "move %zu of the game, %s, is illegal", i + 1,
                           uci_format(q->moves[i]).data);
        pos = position_after(&pos, q->moves[i]);
    }
    if (q->limit.n < 1)
        return err_set(err, ERR_INPUT, "a search without a limit");
    if (q->lines < 0 || q->lines > ENGINE_LINES_MAX)
        return err_set(err, ERR_INPUT, "1 to %d lines of a search, not %d", ENGINE_LINES_MAX,
                       q->lines);
    if (!check_search_moves(q, &pos, err))
        return false;
    if (at)
        *at = pos;
    return true;
}

static void put_moves(struct json_out *o, str key, const move *moves, size_t n)
{
    json_key_open(o, key, '[');
    for (size_t i = 0; i < n; i++)
        json_put_str(o, str_from(uci_format(moves[i]).data));
    json_close(o, ']');
}

str engine_query_hash(const struct engine_query *q, struct arena *a)
{
    struct buf b = { .arena = a };
    struct buf fen = { .arena = a };
    struct json_out o = { .b = &b };
    position_format_shredder(&q->start, &fen);
    json_open(&o, '{');
    json_key_str(&o, S("engine"), q->engine->identity);
    json_key_str(&o, S("fen"), buf_str(&fen));
    json_key_str(&o, S("variant"), str_from(variant_name((enum variant)q->start.variant)));
    put_moves(&o, S("moves"), q->moves, q->n_moves);
    put_moves(&o, S("search"), q->search, q->n_search);
    json_key_int(&o, S("lines"), q->lines > 0 ? q->lines : 1);
    json_key_str(&o, S("limit"), engine_limit_format(q->limit, a));
    json_close(&o, '}');
    return sha256_of(buf_str(&b), a);
}

bool engine_query_is_repeatable(const struct engine_query *q)
{
    return !q->engine->random && q->limit.by != ENGINE_BY_TIME;
}
