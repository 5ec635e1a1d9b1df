// SPDX-License-Identifier: GPL-3.0-or-later
// log_columns.c - the three results of a game, always apart: chess, protocol, infrastructure.
#include "match/log.h"

int game_log_winner(const struct game_log *log, enum error_policy policy)
{
    if (log->class == CLASS_MODEL_ERROR && policy == POLICY_STRICT && log->fault >= 0)
        return !log->fault;
    return log->winner;
}

bool game_log_counts(const struct game_log *log, enum error_policy policy)
{
    if (log->class >= CLASS_INFRA_ERROR || log->doubts & DOUBT_WINNER)
        return false;
    return log->class != CLASS_MODEL_ERROR || policy == POLICY_STRICT;
}

str game_log_chess(const struct game_log *log)
{
    if (log->class != CLASS_CHESS && log->class != CLASS_MAX_MOVES)
        return S("*");
    if (log->winner < 0)
        return S("1/2-1/2");
    return log->winner == WHITE ? S("1-0") : S("0-1");
}

static const char *side_name(int c)
{
    return c == WHITE ? "white" : "black";
}

str game_log_protocol(const struct game_log *log, struct arena *a)
{
    if (log->class != CLASS_PROTOCOL_LOSS || log->winner < 0)
        return log->class == CLASS_PROTOCOL_LOSS ? log->reason_text : S("ok");
    return arena_printf(a, "%s lost: %.*s", side_name(!log->winner), STR(log->reason_text));
}

str game_log_infra(const struct game_log *log, struct arena *a)
{
    if (log->class < CLASS_MODEL_ERROR)
        return S("ok");
    return arena_printf(a, "%.*s%s%s", STR(game_class_name(log->class)),
                        log->fault >= 0 ? " of " : "",
                        log->fault >= 0 ? side_name(log->fault) : "");
}
