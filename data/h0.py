# SPDX-License-Identifier: GPL-3.0-or-later
"""The baseline harness: plain prompts, the observation as it comes, three patterns for a move."""
import re

SYSTEM_PROMPT = (
    "You are given a chess puzzle, one position at a time, with all legal moves. Think about the "
    "position, then choose one of these moves. End with that move in UCI inside move tags, for "
    "example <move>e2e4</move>."
)
USER_PROMPT = "{observation}\n\nYour move, as <move>uci</move>:"
FORMAT_RETRY_BUDGET = 1
ILLEGAL_MOVE_RETRY_BUDGET = 1
MAX_TURNS = 9

_MOVE = r"([a-h][1-8][a-h][1-8][qrbn]?)"
_TIERS = (
    re.compile(r"<move>\s*" + _MOVE + r"\s*</move>", re.IGNORECASE),
    re.compile(r"\[\s*" + _MOVE + r"\s*\]", re.IGNORECASE),
    re.compile(r"\b" + _MOVE + r"\b", re.IGNORECASE),
)


def propose_action(board):
    """A harness chooses no moves."""
    return ""


def is_legal_action(board, action):
    """Whether the action stands in a visible row."""
    if not isinstance(action, str):
        return False
    action = action.strip().lower()
    return re.fullmatch(_MOVE, action) is not None and f"- [{action}] " in board


def format_observation(observation, **kwargs):
    """The observation as it is."""
    return observation


def parse_action(response):
    """The one move of the first pattern that matches at all."""
    for pattern in _TIERS:
        moves = {move.lower() for move in pattern.findall(response)}
        if moves:
            return moves.pop() if len(moves) == 1 else "__ambiguous_multiple_moves__"
    return "__no_move__"
