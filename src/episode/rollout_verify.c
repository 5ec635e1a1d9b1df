// SPDX-License-Identifier: GPL-3.0-or-later
// rollout_verify.c - the judgement of an action: the order of checks, their effects and the texts
// sent back (1.7). The texts are wire formats.
#include "episode/internal_rollout.h"

enum { QUOTED_MAX_CHARS = 200 };

static const str text_malformed =
    T("Puzzle failed: the response did not contain exactly one parseable UCI move.");
static const str text_same_square =
    T("Puzzle failed: the response did not contain exactly one valid UCI move.");
static const str text_illegal = T("Puzzle failed: the move was illegal in the current board.");
static const str text_wrong =
    T("Puzzle failed: the legal move did not match the puzzle continuation.");
static const str text_solved = T("Correct. Puzzle solved.");
static const str text_bad_line =
    T("Verifier error: stored opponent reply is illegal after the accepted move.");

// What a candidate made may be quoted: short, and without controls.
static str quoted(str p, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t i = 0, n = 0; i < p.len && n < QUOTED_MAX_CHARS; n++) {
        uint32_t c;
        bool valid;
        size_t len = utf8_decode(str_sub(p, i, p.len), &c, &valid);
        buf_add(&b, c < 0x20 || (c >= 0x7f && c < 0xa0) ? S(" ") : str_sub(p, i, len));
        i += len;
    }
    return buf_str(&b);
}

static struct rollout_verdict verdict(const struct rollout_episode *ep, enum rollout_result result,
                                      enum rollout_stop stop)
{
    return (struct rollout_verdict){ .event = { .actor = ACTOR_VERIFIER,
                                                .call = ep->record.calls,
                                                .action = ep->action,
                                                .result = result,
                                                .stop = stop,
                                                .terminal = result >= ROLLOUT_SOLVED,
                                                .format_used = -1,
                                                .illegal_used = -1,
                                                .correct_moves = -1 } };
}

struct rollout_verdict rollout_verify_form(struct rollout_episode *ep)
{
    struct rollout_record *r = &ep->record;
    struct rollout_verdict v;
    r->n_malformed++;
    r->n_ambiguous += str_eq(ep->action, S(HARNESS_AMBIGUOUS));
    if (r->format_used >= ep->limits.format) {
        v = verdict(ep, ROLLOUT_LOSS, STOPPED_MALFORMED);
        v.event.tool = harness_is_uci(ep->action) ? text_same_square : text_malformed;
        return v;
    }
    v = verdict(ep, ROLLOUT_RETRY_FORMAT, STOPPED_FORMAT_RETRY);
    v.event.format_used = ++r->format_used;
    v.event.tool = arena_printf(ep->base.arena,
                                "The verifier could not parse exactly one UCI move from "
                                "\"%.*s\". Reply with exactly one move, e.g. <move>e2e4</move>, "
                                "and no explanation.",
                                STR(quoted(ep->action, ep->base.arena)));
    v.nudges = true;
    return v;
}

static struct rollout_verdict illegal(struct rollout_episode *ep)
{
    struct rollout_record *r = &ep->record;
    struct rollout_verdict v;
    r->n_illegal++;
    if (r->illegal_used >= ep->limits.illegal) {
        v = verdict(ep, ROLLOUT_LOSS, STOPPED_ILLEGAL);
        v.event.tool = text_illegal;
        return v;
    }
    v = verdict(ep, ROLLOUT_RETRY_ILLEGAL, STOPPED_ILLEGAL_RETRY);
    v.event.illegal_used = ++r->illegal_used;
    v.event.tool = arena_printf(ep->base.arena,
                                "The parsed move \"%.*s\" is not legal in the current board. "
                                "Choose one move from the visible legal moves and reply only as "
                                "<move>uci</move>.",
                                STR(quoted(ep->action, ep->base.arena)));
    v.nudges = true;
    return v;
}

static struct rollout_verdict solved(struct rollout_episode *ep, str tool, str reply)
{
    struct rollout_verdict v = verdict(ep, ROLLOUT_SOLVED, STOPPED_SOLVED);
    v.event.correct_moves = ep->record.correct_moves;
    v.event.tool = tool;
    v.event.reply = reply;
    return v;
}

// The stored reply to an accepted move, and what then comes.
static struct rollout_verdict reply(struct rollout_episode *ep)
{
    const struct rollout_puzzle *p = &ep->in->puzzle;
    str uci = p->line[ep->index + 1];
    move m;
    if (!uci_parse(&ep->at, uci, &m)) {
        struct rollout_verdict v = verdict(ep, ROLLOUT_ERROR, STOPPED_BAD_LINE);
        v.event.correct_moves = ep->record.correct_moves;
        v.event.tool = text_bad_line;
        return v;
    }
    struct move_text san = san_format(&ep->at, m);
    bool over = ep->index + 2 >= p->n;
    str tool = arena_printf(ep->base.arena, "Correct. Opponent replied %.*s (%s). %s", STR(uci),
                            san.data, over ? "Puzzle solved." : "Continue with the next move.");
    ep->at = position_after(&ep->at, m);
    ep->last_reply = uci;
    ep->index += 2;
    if (over)
        return solved(ep, tool, uci);
    struct rollout_verdict v = verdict(ep, ROLLOUT_CORRECT, STOPPED_CONTINUE);
    v.event.correct_moves = ep->record.correct_moves;
    v.event.tool = tool;
    v.event.reply = uci;
    return v;
}

static void accept(struct rollout_episode *ep, move m)
{
    *vec_push(ep->base.arena, &ep->accepted) = ep->action;
    ep->at = position_after(&ep->at, m);
    ep->record.correct_moves++;
}

// A legal move against the expected one.
static struct rollout_verdict compare(struct rollout_episode *ep, move m)
{
    const struct rollout_puzzle *p = &ep->in->puzzle;
    struct rollout_verdict v;
    bool expected = str_eq(ep->action, p->line[ep->index]);
    bool mates = move_gives_mate(&ep->at, m);
    ep->record.alternative_mate = mates && !expected;
    if (!expected && !(mates && ep->in->opts->lichess)) {
        v = verdict(ep, ROLLOUT_LOSS, STOPPED_WRONG_MOVE);
        v.event.tool = text_wrong;
        v.event.alternative_mate = mates;
        return v;
    }
    accept(ep, m);
    if (expected && ep->index + 1 < p->n)
        return reply(ep);
    v = solved(ep, text_solved, (str){ 0 });
    v.event.alternative_mate = !expected;
    return v;
}

struct rollout_verdict rollout_verify_move(struct rollout_episode *ep, bool by_harness)
{
    move m = MOVE_NONE;
    bool by_board = uci_parse(&ep->at, ep->action, &m);
    bool legal = by_board && (by_harness || !ep->in->opts->compat);
    struct rollout_verdict v = legal ? compare(ep, m) : illegal(ep);
    v.event.has_legal = !legal || v.event.stop == STOPPED_WRONG_MOVE;
    v.event.legal_by_board = by_board;
    v.event.legal_by_harness = by_harness;
    return v;
}
