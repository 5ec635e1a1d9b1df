// SPDX-License-Identifier: GPL-3.0-or-later
// tidy.h - read by tools/tidy.py before each file: tells the analyzer, which does not look into
// other files, that err_set and err_add return false. Without it each `return err_set(...)` looks
// as if it might be success with nothing filled in.
#pragma once
#include "../src/base/err.h"

static inline bool always_false_(bool result)
{
    if (result)
        __builtin_unreachable();
    return false;
}
#define err_set(...) always_false_(err_set(__VA_ARGS__))
#define err_add(...) always_false_(err_add(__VA_ARGS__))
