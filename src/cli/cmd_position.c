// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_position.c - shows the rules at work: a FEN in, its normal form, moves and state out.
#include "cli/cli.h"
#include "chess/chess.h"

static void put_legal(struct json_out *out, const struct position *pos)
{
    struct move_list list;
    moves_sorted(pos, &list);
    json_key_open(out, S("legal"), '[');
    for (size_t i = 0; i < list.n; i++) {
        struct move_text uci = uci_format(list.v[i]), san = san_format(pos, list.v[i]);
        json_open(out, '{');
        json_key_str(out, S("uci"), str_from(uci.data));
        json_key_str(out, S("san"), str_from(san.data));
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void put_order(struct json_out *out, const struct position *pos)
{
    struct move_list list;
    moves_ordered(pos, &list);
    json_key_open(out, S("order"), '[');
    for (size_t i = 0; i < list.n; i++) {
        struct move_text uci = uci_format(list.v[i]);
        json_put_str(out, str_from(uci.data));
    }
    json_close(out, ']');
}

// The FEN in the form that was asked for.
static bool put_fen(struct json_out *out, str form, const struct position *pos, struct arena *a,
                    struct err *err)
{
    struct buf fen = { .arena = a };
    if (form.len == 0 || str_eq(form, S("xfen")))
        position_format(pos, &fen);
    else if (str_eq(form, S("shredder")))
        position_format_shredder(pos, &fen);
    else
        return err_set(err, ERR_INPUT, "\"castling\" is \"%s\", must be xfen or shredder",
                       str_show(form, 32).text);
    json_open(out, '{');
    json_key_str(out, S("fen"), buf_str(&fen));
    return true;
}

static void put_operands(struct json_out *out, str rest)
{
    str word;
    json_key_open(out, S("operands"), '[');
    while (epd_operand(&rest, &word))
        json_put_str(out, word);
    json_close(out, ']');
}

// The moves that the operands mean; null where there is no such move.
static void put_operand_moves(struct json_out *out, const struct epd *epd, str rest)
{
    str word;
    json_key_open(out, S("uci"), '[');
    while (epd_operand(&rest, &word)) {
        move m;
        if (epd_move(epd, word, &m) == SAN_LEGAL)
            json_put_str(out, str_from(uci_format(m).data));
        else
            json_put_null(out);
    }
    json_close(out, ']');
}

static void put_operations(struct json_out *out, const struct epd *epd)
{
    json_key_open(out, S("operations"), '[');
    for (size_t i = 0; i < epd->n; i++) {
        const struct epd_operation *op = &epd->v[i];
        json_open(out, '{');
        json_key_str(out, S("opcode"), op->opcode);
        put_operands(out, op->operands);
        if (str_eq(op->opcode, S("bm")) || str_eq(op->opcode, S("am")))
            put_operand_moves(out, epd, op->operands);
        json_close(out, '}');
    }
    json_close(out, ']');
}

// A line gives a FEN or an EPD; of a FEN `out` has no operations.
static bool read_line(const json_t *in, struct epd *out, struct err *err)
{
    enum variant variant;
    *out = (struct epd){ .n = 0 };
    if (json_is_string(json_object_get(in, "epd")))
        return variant_member(in, &variant, err) &&
               epd_parse(json_get_str(in, "epd"), variant, out, err);
    if (!json_is_string(json_object_get(in, "fen")))
        return err_set(err, ERR_INPUT, "no fen: a line is {\"fen\": FEN} or {\"epd\": LINE}");
    return position_read(in, &out->at, &out->repairs, err);
}

static bool describe(const json_t *in, struct arena *a, struct json_out *out, struct err *err)
{
    struct epd epd;
    if (!read_line(in, &epd, err) || !put_fen(out, json_get_str(in, "castling"), &epd.at, a, err))
        return false;
    struct position pos = epd.at;
    put_legal(out, &pos);
    put_order(out, &pos);
    json_key_bool(out, S("check"), position_in_check(&pos));
    json_key_bool(out, S("checkmate"), position_is_checkmate(&pos));
    json_key_bool(out, S("stalemate"), position_is_stalemate(&pos));
    json_key_bool(out, S("insufficient_material"), position_is_insufficient(&pos));
    json_key_repairs(out, epd.repairs);
    if (json_object_get(in, "epd"))
        put_operations(out, &epd);
    json_close(out, '}');
    return true;
}

const struct command command_position = {
    .name = "position",
    .summary = "legal moves and state of positions (JSON Lines)",
    .usage = "< LINES",
    .about =
        "Reads {\"fen\": F} a line and prints its normal form, the legal moves in UCI and SAN\n"
        "sorted by UCI, their order in prompts, check, checkmate, stalemate and insufficient\n"
        "material; a FEN that is refused gives {\"error\": REASON}. What was mended in it is told\n"
        "as \"repairs\": [TEXT...]. With \"variant\": \"chess960\" castling rights are read as "
        "X-FEN "
        "or\nShredder-FEN and castling moves go from king to rook; \"castling\": \"shredder\" asks "
        "for that\nform of the FEN. {\"epd\": LINE} reads a line of EPD and adds its operations, "
        "bm "
        "and am\nalso in UCI.\n"
        "Example: echo '{\"fen\": \"4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1\"}' | rookery position",
    .each = describe,
};
