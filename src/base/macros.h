// SPDX-License-Identifier: GPL-3.0-or-later
// macros.h - the few compiler attributes that the program uses, and BUG().
#pragma once
#include <stdnoreturn.h>

// Attributes: the result must be used; arguments are checked as printf's.
#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(text_, first_) __attribute__((format(printf, text_, first_)))
// Elements of an array (not of a pointer).
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

// An impossible state: prints where and what, then aborts. Never for bad input.
#define BUG(what) bug_(__FILE__, __LINE__, what)
noreturn void bug_(const char *file, int line, const char *what);
