// SPDX-License-Identifier: GPL-3.0-or-later
// err.h - what went wrong: a class that decides the exit code, and a sentence for the person.
//
// Functions that can fail return bool and take `struct err *` last. The message grows outwards:
// "puzzles.csv:17: bad FEN: nine files on rank 4".
#pragma once
#include <stdbool.h>

#include "base/macros.h"

enum err_code {
    ERR_NONE,
    ERR_RUN,         // the run failed: exit 1
    ERR_USAGE,       // the command line is wrong: exit 2
    ERR_INPUT,       // an input file or text is wrong: exit 3
    ERR_ENDPOINT,    // an endpoint or account refused: exit 4
    ERR_BUDGET,      // the budget is spent: exit 5
    ERR_INTERRUPTED, // Ctrl-C: exit 130
    ERR_LIMIT,       // something from outside is larger than allowed: exit 3
};

enum { ERR_TEXT_MAX = 1024 };

struct err { // zero: nothing went wrong
    enum err_code code;
    char text[ERR_TEXT_MAX];
};

// Sets code and sentence, and returns false, so that a failure is `return err_set(...)`. A text
// that does not fit is cut. `err` may be NULL where the caller does not want to know.
bool err_set(struct err *err, enum err_code code, const char *format, ...) PRINTF_LIKE(3, 4);
// Puts "FORMAT: " before the sentence; code kept; returns false.
bool err_add(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);
// The exit code of the program for this class.
int err_exit_code(enum err_code code);
