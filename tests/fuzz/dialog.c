// SPDX-License-Identifier: GPL-3.0-or-later
// dialog.c - fuzzes reading a reply in a game's dialog: the first line is a FEN, the rest the
// reply. Under every profile and way of removing reasoning, a move that is made is legal, and one
// that is not has a reason.
#include "fuzz.h"

#include "episode/episode.h"

static void read_one(const struct dialog_rules *r, const struct position *pos, str text)
{
    struct arena a = { 0 };
    struct dialog_reading reading;
    struct dialog_said said = { .text = text, .tool = S("make_move"), .tool_arguments = text };
    dialog_read(r, &said, &a, &reading);
    assert(reading.kept.len <= text.len);
    assert((reading.action == ACTION_NONE) == (reading.why.len > 0));
    if (reading.action == ACTION_MOVE) {
        struct dialog_try tried = dialog_move(r, pos, reading.move, &a);
        assert(tried.m != MOVE_NONE ? move_is_legal(pos, tried.m) : tried.reason.len > 0);
    }
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    struct position pos;
    if (position_parse(str_cut(&text, '\n'), &pos, NULL) != FAULT_NONE)
        return 0;
    for (int profile = DIALOG_COMPAT; profile <= DIALOG_V0; profile++)
        for (int think = THINK_BY_PROFILE; think <= THINK_ALL; think++) {
            struct dialog_rules r = { .profile = (enum dialog_profile)profile,
                                      .think = (enum dialog_think)think,
                                      .options = DIALOG_REFLECTION | DIALOG_AUTO_QUEEN };
            read_one(&r, &pos, text);
        }
    return 0;
}
