// SPDX-License-Identifier: GPL-3.0-or-later
// err.c - one error idiom for the whole program.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
    if (!err)
        return false;
    va_list args;
    va_start(args, format);
    char text[ERR_TEXT_MAX]; // the arguments may point into err->text
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    memcpy(err->text, text, sizeof text);
    err->code = code;
    return false;
}

bool err_add(struct err *err, const char *format, ...)
{
    if (!err)
        return false;
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    snprintf(text + used, sizeof text - used, ": %s", err->text);
    memcpy(err->text, text, sizeof text);
    return false;
}

int err_exit_code(enum err_code code)
{
    switch (code) {
    case ERR_NONE: return 0;
    case ERR_RUN: return 1;
    case ERR_USAGE: return 2;
    case ERR_INPUT:
    case ERR_LIMIT: return 3;
    case ERR_ENDPOINT: return 4;
    case ERR_BUDGET: return 5;
    case ERR_INTERRUPTED: return 130;
    }
    BUG("no such error code");
}
