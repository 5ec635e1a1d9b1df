// SPDX-License-Identifier: GPL-3.0-or-later
// dialog.h - the dialog that obtains one move of an LLM Chess game: its literal strings, what a
// reply asks for, and what is answered. Source: the LLM Chess specification, section 1.
#pragma once
#include "chess/chess.h"
#include "llm/llm.h"

// ---- rules ----

enum dialog_profile {
    DIALOG_COMPAT, // the parser behind the published results; the default
    DIALOG_ROBUST, // forgives formatting; its results are never pooled with those of compat
    DIALOG_V0,     // the strict parser of the first published logs
};
enum dialog_think {   // which reasoning sections are removed before anything else
    THINK_BY_PROFILE, // none; all in robust
    THINK_KEEP,       // none
    THINK_PAIRS,      // opening marker to the next closing one, case as written
    THINK_LEADING,    // from the start to the first closing marker and the blanks behind it
    THINK_ALL,        // any case, without an opener, several; one never closed takes the rest
};
enum dialog_board { BOARD_UNICODE, BOARD_FEN, BOARD_ASCII, BOARD_UNICODE_PGN };
enum dialog_view { VIEW_WHITE, VIEW_BLACK, VIEW_MOVER }; // whose side of the board is below
enum dialog_option {                                     // a set of these
    DIALOG_REFLECTION = 1,      // offer do_reflection; where it is not offered it is a wrong action
    DIALOG_SWALLOW = 2,         // after the reflection prompt a reply is not read for a move
    DIALOG_FULL_TURNS = 4,      // the last reply counts too (else it is asked for and not read)
    DIALOG_NO_FEN = 8,          // no FEN in the text about an illegal move
    DIALOG_SHOW_BOARD = 16,     // the board stands in the prompt, its action is not offered
    DIALOG_SHOW_LIST = 32,      // likewise the legal moves
    DIALOG_NO_LIST = 64,        // the legal moves are neither shown nor offered
    DIALOG_SHOW_PREVIOUS = 128, // the moves so far stand before the prompt
    DIALOG_AUTO_QUEEN = 256,    // a pawn move to the last rank without a letter makes a queen
    DIALOG_CLAIMS = 512,        // fifty moves and threefold repetition end a game
};
enum { DIALOG_TURNS = 10, DIALOG_FAILED = 3, DIALOG_PLIES = 200 }; // defaults of section 1.10
struct dialog_rules {
    enum dialog_profile profile;
    enum dialog_think think;
    enum dialog_board board;
    enum dialog_view view;
    unsigned options;                 // set of enum dialog_option
    int max_turns;                    // messages of ours in one dialog [10]
    int max_failed;                   // wrong actions and moves in one dialog [3]
    int max_plies;                    // of a game [200]
    const struct prompt_set *prompts; // NULL: prompt_sets[0]
};
str dialog_profile_name(enum dialog_profile p); // "compat", "robust", "v0"
MUST_CHECK bool dialog_profile_parse(str name, enum dialog_profile *out);
str dialog_think_name(enum dialog_think t); // "profile", "none", "pair", "leading", "robust"
MUST_CHECK bool dialog_think_parse(str name, enum dialog_think *out);
str dialog_board_name(enum dialog_board b); // "unicode", "fen", "ascii", "unicode+pgn"
MUST_CHECK bool dialog_board_parse(str name, enum dialog_board *out);

// ---- the texts ----

struct prompt_set { // named and versioned; {side} and {n} stand for the colour and a number
    str name;
    str intro, indent, closing; // the kick-off: intro, a line an action, closing
    str intro_reflection, indent_reflection, closing_reflection; // the same with reflection
    str actions[4]; // in the order of enum dialog_action
    str invalid;    // what stands before the names of the actions
    str made, failed, too_many;
    str reflection, follow_up;
};
extern const struct prompt_set prompt_sets[]; // ends with an empty name; the first is the default
const struct prompt_set *prompt_set_find(str name); // NULL: none of this name
// SHA-256 of all its texts.
str prompt_set_hash(const struct prompt_set *set, struct arena *a);
// Reads a set of a file: a JSON object with these members; what is absent is taken from the
// default set. ERR_INPUT.
MUST_CHECK bool prompt_set_read(str text, struct arena *a, struct prompt_set *out, struct err *err);

struct dialog_scene { // what a dialog is about
    const struct game *game;
    struct position start; // of the game
    const move *moves;     // since then
    size_t n_moves;
};
str dialog_kickoff(const struct dialog_rules *r, const struct dialog_scene *s, struct arena *a);
str dialog_board_text(const struct dialog_rules *r, const struct dialog_scene *s, struct arena *a);
str dialog_list_text(const struct position *pos, struct arena *a); // "g1h3,g1f3,..."
str dialog_invalid_text(const struct dialog_rules *r, struct arena *a);
// Adds "1. e4 e5 2. Nf3 ", a line break after every fifth full move.
void dialog_movetext(const struct dialog_scene *s, struct buf *out);

// ---- reading a reply ----

enum dialog_action {
    ACTION_BOARD,
    ACTION_LIST,
    ACTION_REFLECT,
    ACTION_MOVE,
    ACTION_FOLLOW_UP, // a reply to the reflection prompt without an action
    ACTION_NONE,      // wrong action
};
str dialog_action_name(enum dialog_action a); // "get_current_board", ...; "" for the last two
// Whether the rules offer it; what they do not offer is a wrong action.
bool dialog_offers(const struct dialog_rules *r, enum dialog_action a);
struct dialog_said { // a reply
    str text;
    str tool, tool_arguments; // a native tool call: the function's name, its arguments as JSON
    bool after_reflection;    // the message before it was the reflection prompt
};
struct dialog_reading {
    enum dialog_action action;
    str move;     // what follows make_move, as the profile takes it
    str kept;     // the reply without reasoning sections: what the dialog keeps
    str why;      // of ACTION_NONE: "empty", "no_action", "ambiguous", "unterminated_reasoning"
    bool lenient; // robust reads it otherwise than compat would
};
void dialog_read(const struct dialog_rules *r, const struct dialog_said *said, struct arena *a,
                 struct dialog_reading *out);
// The text without its reasoning sections; `*open` tells that one is never closed.
str dialog_without_reasoning(enum dialog_think think, str text, bool *open, struct arena *a);
struct dialog_try {
    move m;     // MOVE_NONE: it cannot be played
    str reason; // then: "illegal uci: 'e7e4' in FEN", in the arena
};
// What the text of a make_move means here; texts in `a`.
struct dialog_try dialog_move(const struct dialog_rules *r, const struct position *pos, str text,
                              struct arena *a);
