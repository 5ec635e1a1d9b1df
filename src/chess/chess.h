// SPDX-License-Identifier: GPL-3.0-or-later
// chess.h - the rules: positions, legal moves, FEN, SAN, UCI, perft, repetition. Pure values:
// nothing here reads a file, keeps state or needs initialising.
#pragma once
#include "base/base.h"

typedef uint64_t bitboard;
typedef uint8_t square; // 0 = a1, 1 = b1 ... 63 = h8 (8 * rank + file); SQUARE_NONE
// from | to << 6 | kind << 12; a castling move goes from king to rook square, and its top bit says
// that UCI writes it so (chess960)
typedef uint16_t move;

enum { SQUARE_NONE = 64 };
enum { MOVE_NONE = 0 };
enum { MAX_LEGAL_MOVES = 256 }; // the known maximum is 218

enum color { WHITE, BLACK };
enum piece { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, PIECE_NONE };
enum move_kind {
    MOVE_PLAIN,
    MOVE_DOUBLE_PUSH,
    MOVE_EN_PASSANT,
    MOVE_CASTLING,
    MOVE_PROMOTE_KNIGHT, // the four promotions in the order of enum piece
    MOVE_PROMOTE_BISHOP,
    MOVE_PROMOTE_ROOK,
    MOVE_PROMOTE_QUEEN,
};

// Chess960 differs in castling alone: where rook and king start, and how it is written.
enum variant { VARIANT_STANDARD, VARIANT_CHESS960 };

// A legal position; copied freely (copy-make). Made by position_start, position_parse,
// position_parse_as and position_after only, so the functions below never meet nonsense.
struct position {
    bitboard piece[6]; // by enum piece, both colours
    bitboard side[2];  // by enum color
    bitboard castling; // squares of the rooks that may still castle; always consistent
    uint64_t key;      // Zobrist: equal for equal placement, turn, castling, usable en passant
    uint16_t halfmove; // plies since a capture or pawn move
    uint16_t fullmove; // from 1
    uint8_t turn;      // enum color
    square en_passant; // target square, only when a legal capture exists, else SQUARE_NONE
    uint8_t variant;   // enum variant; not in the key
};

// Why a FEN is refused. The first group is syntax, the second nonsense on the board (as
// python-chess's Board.status judges; bad castling rights and unusable en-passant squares are
// mended instead).
enum position_fault {
    FAULT_NONE,
    FAULT_FIELDS, // none, more than 6, or far too long; missing ones default to w - - 0 1
    FAULT_PLACEMENT,
    FAULT_TURN,
    FAULT_CASTLING,
    FAULT_EN_PASSANT,
    FAULT_COUNTERS,
    FAULT_NO_KING,
    FAULT_TOO_MANY_KINGS,
    FAULT_TOO_MANY_PAWNS,
    FAULT_TOO_MANY_PIECES,
    FAULT_PAWN_ON_BACK_RANK,
    FAULT_OPPOSITE_CHECK,   // the side not to move is in check
    FAULT_IMPOSSIBLE_CHECK, // more checkers than any last move could give
};

// What is mended in a FEN instead of refusing it; a set of these.
enum position_repair {
    REPAIR_FIELDS = 1,     // missing fields are filled in: w - - 0 1
    REPAIR_PROMOTED = 2,   // marks of promoted pieces ("~") are left out
    REPAIR_CASTLING = 4,   // rights without king or rook in place are dropped
    REPAIR_EN_PASSANT = 8, // a square that no double step can have left is dropped
    REPAIR_FULLMOVE = 16,  // move number 0 becomes 1
};
// Legal moves of one position; only the first n entries mean anything.
struct move_list {
    size_t n;
    move v[MAX_LEGAL_MOVES];
};

// ---- positions ----

// The initial position of chess.
struct position position_start(void);
// Reads a FEN, or the first of its fields: what is left out defaults to w - - 0 1. On failure
// returns the fault and sets ERR_INPUT with a sentence such as "bad FEN: 9 files on rank 4, must be
// 8"; `out` is then untouched.
MUST_CHECK enum position_fault position_parse(str fen, struct position *out, struct err *err);
// The same for a variant. In chess960 the castling field may be X-FEN (K and Q mean the outermost
// rook of that side) or Shredder-FEN (files of rooks), also mixed. `*repairs` (may be NULL) gets
// the set of enum position_repair that was mended; an en-passant square that is possible but
// useless is no repair.
MUST_CHECK enum position_fault position_parse_as(str fen, enum variant variant,
                                                 struct position *out, unsigned *repairs,
                                                 struct err *err);
// What one enum position_repair means, for a person.
const char *position_repair_text(enum position_repair repair);
// All six fields; the en-passant field only when a legal capture exists. Castling as X-FEN: KQkq,
// or the rook's file where another rook stands further out (never in standard chess).
void position_format(const struct position *pos, struct buf *out);
// The same with castling as Shredder-FEN: the files of the rooks, "HAha".
void position_format_shredder(const struct position *pos, struct buf *out);
// The variant of a name as in PGN tags: "Chess960", "standard"; false: not one of ours.
MUST_CHECK bool variant_parse(str name, enum variant *out);
const char *variant_name(enum variant variant); // "standard", "chess960"
// The position after `m`, which must be legal in `pos`; counters stop at their maximum.
struct position position_after(const struct position *pos, move m);
enum piece position_piece_at(const struct position *pos, square s);
enum color position_color_at(const struct position *pos, square s); // of an occupied square
bitboard position_checkers(const struct position *pos);             // empty: not in check
bool position_in_check(const struct position *pos);
bool position_is_checkmate(const struct position *pos);
bool position_is_stalemate(const struct position *pos);
// Neither side can ever mate: K v K, K+B v K, K+N v K, bishops all on one colour.
bool position_is_insufficient(const struct position *pos);

// ---- moves ----

// Where the piece starts.
square move_from(move m);
square move_to(move m); // for castling: where the king arrives
enum move_kind move_kind(move m);
enum piece move_promotion(move m);                        // PIECE_NONE when none
bool move_is_capture(const struct position *pos, move m); // en passant included
bool move_gives_check(const struct position *pos, move m);
bool move_gives_mate(const struct position *pos, move m);
// All legal moves, in no promised order.
void moves_legal(const struct position *pos, struct move_list *out);
// All legal moves in the order of few-shot specification 1.8 (what published prompts show).
void moves_ordered(const struct position *pos, struct move_list *out);
// All legal moves, sorted by their UCI text.
void moves_sorted(const struct position *pos, struct move_list *out);

// ---- notation ----

enum { MOVE_TEXT_MAX = 8 }; // longest SAN is 7 characters ("Qa1xb2#", "O-O-O+"), and a NUL
struct move_text {
    char data[MOVE_TEXT_MAX];
};
// Exactly a square as "e4".
MUST_CHECK bool square_parse(str text, square *out);
struct move_text uci_format(move m);                             // "e2e4", "a7a8q", "e1g1"
struct move_text san_format(const struct position *pos, move m); // "Nbd2", "exd6", "O-O#"
// Exactly a UCI move (lower case) that is legal here. Castling is the king's two squares in
// standard chess (king-takes-rook is refused), king-takes-rook in chess960 (nothing else is read).
MUST_CHECK bool uci_parse(const struct position *pos, str text, move *out);

enum san_verdict { SAN_LEGAL, SAN_ILLEGAL, SAN_AMBIGUOUS, SAN_INVALID };
// Reads SAN as few-shot specification 2.3 step b does after its replacement of 0 by O: check,
// mate and capture marks are not verified; SAN_INVALID is "no SAN at all".
enum san_verdict san_parse(const struct position *pos, str text, move *out);

// ---- counting ----

// Leaf nodes at `depth` (bulk-counted); depth 0 is 1.
uint64_t perft(const struct position *pos, int depth);
struct perft_opts { // zero: one thread, no hash
    int threads;    // [1]
    int hash_mb;    // MiB shared by all threads
};
struct perft_counts {
    struct move_list moves;           // sorted by their UCI text
    uint64_t leaves[MAX_LEGAL_MOVES]; // below each
    uint64_t total;
};
// perft below each move, depth >= 1. The counts do not depend on the options. False: the memory or
// the threads are not to be had (ERR_RUN).
MUST_CHECK bool perft_count(const struct position *pos, int depth, const struct perft_opts *opts,
                            struct perft_counts *out, struct err *err);

// ---- a game: the current position and what came before, for repetition ----

struct game {
    struct position now;
    struct game_keys {
        uint64_t *v; // keys of earlier positions since the last irreversible move, oldest first
        size_t n, cap;
    } keys;
};
enum game_end {
    GAME_ONGOING,
    GAME_CHECKMATE,
    GAME_STALEMATE,
    GAME_INSUFFICIENT_MATERIAL,
    GAME_FIVEFOLD_REPETITION,
    GAME_SEVENTYFIVE_MOVES,
    GAME_THREEFOLD_REPETITION, // the last two only from game_claim
    GAME_FIFTY_MOVES,
};

// Plays `m`, which must be legal now; the keys grow in `a`.
void game_play(struct game *g, move m, struct arena *a);
int game_repetitions(const struct game *g);   // how often the current position has occurred, >= 1
enum game_end game_end(const struct game *g); // by itself; mate and stalemate before draw rules
// game_end, or what the player to move could claim of the position on the board: halfmove >= 100,
// third occurrence. Claims that announce a move are not looked for.
enum game_end game_claim(const struct game *g);

#include "chess/epd.h"  // lines of EPD, and
#include "chess/line.h" // of moves
