// SPDX-License-Identifier: GPL-3.0-or-later
// log.c - a mutable global: where log lines go. It is set before any work starts and never changes
// after, so it carries no state of a run. (The only other one counts signals, in cli.)
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"

static log_sink *sink_of_process;

void log_to(log_sink *sink)
{
    sink_of_process = sink;
}

void log_line(enum log_level level, const char *format, ...)
{
    if (!sink_of_process)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t len = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    sink_of_process(level, (str){ text, len });
}
