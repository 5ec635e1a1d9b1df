// SPDX-License-Identifier: GPL-3.0-or-later
// feedback.c - the metric's judgement of one answer as a number and a sentence, for the methods
// that show their prompt model what went wrong (GEPA and SIMBA specification, 1.2). One fixed
// sentence a kind: the judgement is a pure function of the answer.
#include "optimize/internal.h"

static const str texts[] = {
    [FEEDBACK_OK] = T("Correct: this is the move that solves the position. Keep answering with one "
                      "move in this short form."),
    [FEEDBACK_PARSE_FAIL] = T("The answer holds no move. Give exactly one legal move, in SAN or "
                              "UCI notation, and nothing else."),
    [FEEDBACK_ILLEGAL_OR_AMBIGUOUS] =
        T("The answer does not name a single legal move: what it names is illegal in this "
          "position, or it names several moves. Choose exactly one of the listed legal moves."),
    [FEEDBACK_WRONG_LEGAL] =
        T("The move is legal but does not solve the position. Look again at every check, capture "
          "and threat, and at the opponent's best answer to each, before choosing."),
};

enum feedback_kind feedback_kind(enum answer_kind k)
{
    switch (k) {
    case ANSWER_CORRECT: return FEEDBACK_OK;
    case ANSWER_WRONG: return FEEDBACK_WRONG_LEGAL;
    case ANSWER_ILLEGAL:
    case ANSWER_AMBIGUOUS: return FEEDBACK_ILLEGAL_OR_AMBIGUOUS;
    case ANSWER_NO_MOVE:
    case ANSWER_UNPARSABLE:
    case ANSWER_TRUNCATED:
    case ANSWER_EMPTY:
    case ANSWER_REFUSED:
    case ANSWER_FILTERED:
    case ANSWER_CONTEXT_OVERFLOW:
    case ANSWER_FAILED: return FEEDBACK_PARSE_FAIL;
    }
    BUG("no such kind of answer");
}

void opt_feedback(const struct opt_task *task, const struct puzzle_position *p,
                  const struct outcome *out, struct feedback *to)
{
    const struct puzzle_record *record = out->record;
    double score = out->status == OUTCOME_SCORED ? out->score : 0;
    *to = (struct feedback){ .score = score, .kind = feedback_kind(record->kind) };
    if (task->config->feedback == FEEDBACK_SCALAR)
        to->text = score > 0 ? S("Score: 1 of 1.") : S("Score: 0 of 1.");
    else
        to->text = texts[to->kind];
    if (task->show_solution && score == 0)
        to->text = arena_printf(task->lab->arena, "%.*s The solving move is %.*s.", STR(to->text),
                                STR(p->reference));
}
