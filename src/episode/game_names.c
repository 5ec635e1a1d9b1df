// SPDX-License-Identifier: GPL-3.0-or-later
// game_names.c - the words of game logs, and what a position counts in them.
#include "episode/episode.h"

static const str reasons[GAME_REASONS] = {
    [REASON_NONE] = T(""),
    [REASON_CHECKMATE] = T("Checkmate"),
    [REASON_STALEMATE] = T("Stalemate"),
    [REASON_INSUFFICIENT_MATERIAL] = T("Insufficient material"),
    [REASON_SEVENTYFIVE_MOVES] = T("Seventy-five moves rule"),
    [REASON_FIVEFOLD_REPETITION] = T("Fivefold repetition"),
    [REASON_FIFTY_MOVES] = T("Fifty moves rule"),
    [REASON_THREEFOLD_REPETITION] = T("Threefold repetition"),
    [REASON_RESIGNATION] = T("Resignation"),
    [REASON_MAX_MOVES] = T("Max moves reached"),
    [REASON_WRONG_ACTIONS] = T("Too many wrong actions"),
    [REASON_MAX_TURNS] = T("Max turns in single dialog"),
    [REASON_UNKNOWN_ISSUE] = T("Unknown issue, failed to make a move"),
    [REASON_ERROR] = T("ERROR OCCURED"), // misspelt in the format
};

static const str classes[GAME_CLASSES] = { T("chess"),       T("max_moves"),   T("protocol_loss"),
                                           T("model_error"), T("infra_error"), T("harness_error") };

str game_reason_name(enum game_reason r)
{
    return reasons[r];
}

bool game_reason_interrupts(enum game_reason r)
{
    return r >= REASON_WRONG_ACTIONS;
}

str game_class_name(enum game_class c)
{
    return classes[c];
}

bool game_class_parse(str name, enum game_class *out)
{
    for (int c = 0; c < GAME_CLASSES; c++)
        if (str_eq(name, classes[c])) {
            *out = (enum game_class)c;
            return true;
        }
    return false;
}

int game_material(const struct position *pos, enum color c)
{
    static const int worth[] = { [PAWN] = 1, [KNIGHT] = 3, [BISHOP] = 3, [ROOK] = 5, [QUEEN] = 9 };
    int sum = 0;
    for (int piece = PAWN; piece <= QUEEN; piece++)
        sum += worth[piece] * __builtin_popcountll(pos->piece[piece] & pos->side[c]);
    return sum;
}
