// SPDX-License-Identifier: GPL-3.0-or-later
// parse_reply.c - shows the reader of dialogs: a position and a reply in, what it asks for out.
#include "cli/play.h"

static bool flag(const json_t *in, const char *key)
{
    return json_is_true(json_object_get(in, key));
}

static bool read_rules(const json_t *in, struct dialog_rules *r, struct err *err)
{
    str profile = json_get_str(in, "profile"), think = json_get_str(in, "think"),
        board = json_get_str(in, "board");
    *r = (struct dialog_rules){ 0 };
    if (profile.len > 0 && !dialog_profile_parse(profile, &r->profile))
        return err_set(err, ERR_INPUT, "profile must be compat, robust or v0, got \"%.*s\"",
                       STR(profile));
    if (think.len > 0 && !dialog_think_parse(think, &r->think))
        return err_set(err, ERR_INPUT,
                       "think must be none, pair, leading, robust or profile, got \"%.*s\"",
                       STR(think));
    if (board.len > 0 && !dialog_board_parse(board, &r->board))
        return err_set(err, ERR_INPUT,
                       "board must be unicode, fen, ascii or unicode+pgn, got \"%.*s\"",
                       STR(board));
    unsigned options = 0;
    if (flag(in, "reflection"))
        options |= DIALOG_REFLECTION;
    if (flag(in, "swallow"))
        options |= DIALOG_SWALLOW;
    if (flag(in, "auto_queen"))
        options |= DIALOG_AUTO_QUEEN;
    if (flag(in, "no_fen"))
        options |= DIALOG_NO_FEN;
    r->options = options;
    return true;
}

static void put_move(struct json_out *out, const struct dialog_rules *r, const struct position *pos,
                     str text, struct arena *a)
{
    struct dialog_try tried = dialog_move(r, pos, text, a);
    if (tried.m == MOVE_NONE) {
        json_key_str(out, S("move"), text);
        json_key_str(out, S("outcome"), S("WM"));
        json_key_str(out, S("error"), tried.reason);
        return;
    }
    struct buf fen = { .arena = a };
    struct position after = position_after(pos, tried.m);
    position_format(&after, &fen);
    json_key_str(out, S("move"), str_from(uci_format(tried.m).data));
    json_key_str(out, S("outcome"), S("OK"));
    json_key_str(out, S("san"), str_from(san_format(pos, tried.m).data));
    json_key_str(out, S("fen"), buf_str(&fen));
}

static void put_reading(struct json_out *out, const struct dialog_rules *r,
                        const struct position *pos, const struct dialog_reading *reading,
                        struct arena *a)
{
    static const str outcomes[] = { [ACTION_BOARD] = T("BOARD"),
                                    [ACTION_LIST] = T("LIST"),
                                    [ACTION_REFLECT] = T("REFL"),
                                    [ACTION_FOLLOW_UP] = T("FOLLOW_UP"),
                                    [ACTION_NONE] = T("WA") };
    json_open(out, '{');
    json_key_maybe(out, S("action"), dialog_action_name(reading->action));
    if (reading->action == ACTION_MOVE) {
        put_move(out, r, pos, reading->move, a);
    } else {
        json_key_null(out, S("move"));
        json_key_str(out, S("outcome"), outcomes[reading->action]);
    }
    if (reading->action == ACTION_NONE)
        json_key_str(out, S("why"), reading->why);
    if (r->profile == DIALOG_ROBUST)
        json_key_bool(out, S("lenient"), reading->lenient);
    json_close(out, '}');
}

bool parse_reply(const json_t *in, struct arena *a, struct json_out *out, struct err *err)
{
    struct dialog_rules rules;
    struct dialog_reading reading;
    struct position pos;
    const json_t *tool = json_object_get(in, "tool_call"), *reply = json_object_get(in, "reply");
    if (!json_is_string(json_object_get(in, "fen")) ||
        !(json_is_string(reply) || json_is_null(reply)))
        return err_set(
            err, ERR_INPUT,
            "a line is {\"profile\": \"compat\", \"fen\": FEN, \"reply\": TEXT or null}");
    if (!read_rules(in, &rules, err) ||
        position_parse(json_get_str(in, "fen"), &pos, err) != FAULT_NONE)
        return false;
    const json_t *given = json_object_get(tool, "arguments");
    struct buf arguments = { .arena = a };
    if (json_is_string(given)) {
        buf_add(&arguments, json_view(given));
    } else if (given) {
        struct json_out o = { .b = &arguments };
        json_put_value(&o, given);
    }
    struct dialog_said said = { .text = json_get_str(in, "reply"),
                                .tool = json_get_str(tool, "name"),
                                .tool_arguments = buf_str(&arguments),
                                .after_reflection = flag(in, "after_reflection") };
    dialog_read(&rules, &said, a, &reading);
    put_reading(out, &rules, &pos, &reading, a);
    return true;
}
