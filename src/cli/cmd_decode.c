// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_decode.c - shows the reader of model answers: {"text": T} in, the fields or the error out.
#include "cli/cli.h"
#include "prompt/prompt.h"

static bool decode(const json_t *in, struct arena *a, struct json_out *out, struct err *err)
{
    if (!json_is_string(json_object_get(in, "text")))
        return err_set(err, ERR_INPUT, "no text: a line is {\"text\": MODEL TEXT}");
    str values[SIGNATURE_FIELDS_MAX];
    enum read_error why = answer_read(&signature_choose_move, json_get_str(in, "text"), a, values);
    json_open(out, '{');
    json_key(out, why == READ_OK ? S("move") : S("error"));
    json_put_str(out, why == READ_OK ? values[0] : read_error_text(why));
    json_close(out, '}');
    return true;
}

const struct command command_decode = {
    .name = "decode",
    .summary = "read the move field out of model answers (JSON Lines)",
    .usage = "< LINES",
    .about = "Reads {\"text\": MODEL TEXT} a line and prints {\"move\": S} or {\"error\": WHY}.\n"
             "Example: echo '{\"text\": \"{move: h5f7}\"}' | rookery decode",
    .each = decode,
};
