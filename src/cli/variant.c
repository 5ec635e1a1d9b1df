// SPDX-License-Identifier: GPL-3.0-or-later
// variant.c - positions of a named variant.
#include "chess/chess.h"
#include "cli/cli.h"

bool position_read(str fen, str variant, struct position *out, struct err *err)
{
    if (variant.len > 0 && !str_eq(variant, S("standard")))
        return err_set(err, ERR_INPUT, "variant \"%.*s\" is not supported; standard is",
                       STR(variant));
    return position_parse(fen, out, err) == FAULT_NONE;
}
