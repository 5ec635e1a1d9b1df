// SPDX-License-Identifier: GPL-3.0-or-later
// log.h - lines for the operator. Only cli decides where they go; the default sink drops them.
#pragma once
#include "base/macros.h"
#include "base/str.h"

enum log_level { LOG_INFO, LOG_WARN };

// Receives one line without its newline; called on the thread that logs.
typedef void log_sink(enum log_level level, str line);
// Sets the sink of the process, once, at start; NULL drops lines.
void log_to(log_sink *sink);
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);
