// SPDX-License-Identifier: GPL-3.0-or-later
// puzzle.h - puzzle records: reading and checking them, splitting a file as the paper's tool does,
// and expanding them to the positions where the solver moves.
#pragma once
#include "chess/chess.h"

enum puzzle_fault { // which part of a bad row is wrong
    PUZZLE_FAULT_NONE,
    PUZZLE_FAULT_ROW, // no row of this format at all
    PUZZLE_FAULT_ID_OR_THEMES,
    PUZZLE_FAULT_RATING,
    PUZZLE_FAULT_FEN,
    PUZZLE_FAULT_MOVES,
    PUZZLE_FAULTS,
};
str puzzle_fault_name(enum puzzle_fault fault); // "fen"

struct puzzle {
    str id;     // where the file has none: "row-N", N being `row`
    str fen;    // as in the file: before the opponent's first move
    str line;   // UCI moves separated by blanks; moves 0, 2, 4.. are the opponent's
    str themes; // separated by blanks
    bool has_rating;
    int rating;
    size_t row;    // 0-based data row in its file, bad rows counted
    size_t lineno; // 1-based line of the file
    struct position start;
    const move *moves;
    size_t n_moves;          // >= 2; where odd, nothing is asked after the last one
    bool mates;              // the solver's last move does
    enum puzzle_fault fault; // of a bad row, of which nothing else here means anything
};
struct puzzles {
    struct puzzle *v;
    size_t n, cap;
    str sha256;        // of the file's bytes as stored (compressed where it is)
    size_t n_rejected; // bad rows skipped
};
// One solver turn.
struct puzzle_position {
    const struct puzzle *puzzle;
    int index, count; // solver turn from 0, and how many the puzzle has
    struct position at;
    move solution;
    str inputs[3]; // position_fen, side_to_move, legal_moves_uci as prompts show them
    str reference; // the solution in UCI
};
struct puzzle_positions {
    struct puzzle_position *v;
    size_t n, cap;
};

// ---- reading ----

struct puzzle_reader; // opaque: a stream over one file
enum puzzle_read {
    PUZZLE_ROW, // `out` is a checked puzzle
    PUZZLE_BAD, // this row is refused; err: "FILE:LINE: what, and what to do"; go on reading
    PUZZLE_END,
    PUZZLE_FAIL, // the stream is broken (I/O, no such columns, bad compression)
};
// Opens a Lichess-schema CSV (plain or zstd by its magic; with or without header; any column
// order), a JSONL file, or "builtin:train" / "builtin:test". A directory, an empty file, missing
// columns: ERR_INPUT. Free with puzzle_reader_free (NULL is fine).
MUST_CHECK bool puzzle_reader_open(str path, struct puzzle_reader **out, struct err *err);
// The same over bytes in memory, called `name` in messages; keeps `text`.
MUST_CHECK bool puzzle_reader_open_text(str name, str text, struct puzzle_reader **out,
                                        struct err *err);
// The variant of all rows [standard]; their moves are then that variant's UCI.
void puzzle_reader_variant(struct puzzle_reader *r, enum variant variant);
void puzzle_reader_free(struct puzzle_reader *r);
// Reads the next row; texts and moves of `out` in `a`, or where that is NULL in the reader until
// the next call. Every move of the line is played.
enum puzzle_read puzzle_reader_next(struct puzzle_reader *r, struct arena *a, struct puzzle *out,
                                    struct err *err);
// SHA-256 of the file, known after PUZZLE_END; empty before.
str puzzle_reader_sha256(struct puzzle_reader *r, struct arena *a);

// The row just read as a line of CSV with a line feed, its fields as they were; and the header that
// belongs to such rows (five columns of ours where the file is no CSV or has none).
void puzzle_reader_row(const struct puzzle_reader *r, const struct puzzle *p, struct buf *out);
void puzzle_reader_head(const struct puzzle_reader *r, struct buf *out);

struct puzzle_filter {          // zero: everything
    str theme;                  // one of the themes; empty: any
    int min_rating, max_rating; // 0: no bound; a puzzle without rating fails any bound
    int solver_moves;           // exactly; 0: any
};
bool puzzle_matches(const struct puzzle *p, const struct puzzle_filter *filter);
// The ids of a file so far, to find doubles. Set path and the arena of `lines`.
struct puzzle_ids {
    str path;
    struct map lines; // id to the line where it stands
    size_t max;       // ids remembered; 0: all
};
// Remembers the id. False with "FILE:LINE: ..." when an earlier row has it.
MUST_CHECK bool puzzle_ids_add(struct puzzle_ids *ids, const struct puzzle *p, struct err *err);

// Reads a whole file into `a`. `strict`: the first bad row is an error; otherwise bad rows are
// logged (log_line) and counted. No good row at all is ERR_INPUT. Duplicate ids are bad rows.
struct puzzle_load_opts {
    bool strict;
    struct puzzle_filter filter;
    enum variant variant; // of all rows
};
MUST_CHECK bool puzzles_load(str path, const struct puzzle_load_opts *opts, struct arena *a,
                             struct puzzles *out, struct err *err);

// ---- order, split, expansion (few-shot specification 3.1, 3.2) ----

// Shuffles in place with a fresh CPython-compatible generator.
void puzzles_shuffle(struct puzzles *p, uint64_t seed);
struct puzzle_split_opts {
    uint64_t seed;
    size_t validation_size; // puzzles
    size_t train_limit;     // puzzles, 0: all
};
struct puzzle_split {
    struct puzzles train, validation;
};
// The double shuffle and cut of 3.2 on puzzles in file order; both sets share the records of `all`.
// validation_size >= number of puzzles is ERR_INPUT.
MUST_CHECK bool puzzles_split(const struct puzzles *all, const struct puzzle_split_opts *opts,
                              struct arena *a, struct puzzle_split *out, struct err *err);
// What a prompt shows of a position: position_fen, side_to_move, legal_moves_uci; in `a`.
void puzzle_inputs(const struct position *pos, struct arena *a, str out[3]);
// All solver positions, puzzle by puzzle. Points into `p`'s records.
void puzzles_expand(const struct puzzles *p, struct arena *a, struct puzzle_positions *out);

// ---- drawing from a large file ----

struct puzzle_sample_opts {
    uint64_t seed;
    bool paper;   // composed as the paper's set: rating bins, lengths, half mates, two equal halves
    size_t count; // else: how many, uniformly
    struct puzzle_filter filter;
};
struct puzzle_sampler; // opaque
struct puzzle_sampler *puzzle_sampler_new(const struct puzzle_sample_opts *opts);
void puzzle_sampler_free(struct puzzle_sampler *s); // NULL is fine
// Offers the puzzle that `r` has just read; copies its row if it is kept. Memory does not grow with
// the file.
void puzzle_sampler_offer(struct puzzle_sampler *s, const struct puzzle *p,
                          const struct puzzle_reader *r);
struct puzzle_sample {
    struct puzzle_sample_rows {
        str *v;
        size_t n, cap;
    } train, test; // rows; a uniform sample has only the first
    struct puzzle_sample_strata {
        struct puzzle_sample_stratum {
            int bin, length;         // rating up to bin x 100, solver moves; 0: all
            size_t n_plain, n_mates; // offered
            size_t wanted, drawn, drawn_mates;
        } * v;
        size_t n, cap;
    } strata;
    size_t n_filtered; // offered, but of no stratum or not matching
    size_t n_clashes;  // passed over: an id, a position or a line of a chosen one
};
// Chooses; no two rows share an id, a line or a solver position. Texts in `a`.
void puzzle_sampler_draw(struct puzzle_sampler *s, struct arena *a, struct puzzle_sample *out);
