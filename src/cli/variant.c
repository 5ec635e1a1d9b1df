// SPDX-License-Identifier: GPL-3.0-or-later
// variant.c - positions of a named variant, as commands and JSON Lines give them.
#include "chess/chess.h"
#include "cli/cli.h"

static bool variant_read(str name, enum variant *out, struct err *err)
{
    *out = VARIANT_STANDARD;
    if (name.len == 0 || variant_parse(name, out))
        return true;
    return err_set(err, ERR_INPUT, "variant \"%s\" is not supported; standard and chess960 are",
                   str_show(name, 32).text);
}

bool variant_member(const json_t *in, enum variant *out, struct err *err)
{
    const json_t *name = json_object_get(in, "variant");
    if (name && !json_is_string(name) && !json_is_null(name))
        return err_set(err, ERR_INPUT, "\"variant\" must be a text: standard or chess960");
    return variant_read(json_view(name), out, err);
}

bool position_read(const json_t *in, struct position *out, unsigned *repairs, struct err *err)
{
    enum variant variant = VARIANT_STANDARD;
    return variant_member(in, &variant, err) &&
           position_parse_as(json_get_str(in, "fen"), variant, out, repairs, err) == FAULT_NONE;
}

void json_key_repairs(struct json_out *out, unsigned repairs)
{
    if (!repairs)
        return;
    json_key_open(out, S("repairs"), '[');
    for (unsigned i = REPAIR_FIELDS; i <= REPAIR_FULLMOVE; i <<= 1) {
        if (repairs & i)
            json_put_str(out, str_from(position_repair_text((enum position_repair)i)));
    }
    json_close(out, ']');
}

bool variant_option(const struct args *args, enum variant *out, struct err *err)
{
    if (variant_read(opt_text(args, "variant", S("")), out, err))
        return true;
    err->code = ERR_USAGE;
    return err_add(err, "--variant");
}
