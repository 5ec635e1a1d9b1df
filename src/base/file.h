// SPDX-License-Identifier: GPL-3.0-or-later
// file.h - whole files in and out. Paths are texts; every error names the path and what to do.
#pragma once
#include "base/arena.h"
#include "base/err.h"

// Reads a file or pipe to its end into `a`. Missing, unreadable or a directory: ERR_INPUT; more
// than max_bytes: ERR_LIMIT.
MUST_CHECK bool file_read(str path, size_t max_bytes, struct arena *a, str *out, struct err *err);
// Replaces `path` with `text`: written beside it, synced, renamed, so that a crash leaves the old
// or the new file, never half of one. Failures (read-only, disk full) are ERR_RUN.
MUST_CHECK bool file_save(str path, str text, struct err *err);
// Makes a directory and its parents; an existing one is fine.
MUST_CHECK bool dir_make(str path, struct err *err);
bool file_exists(str path); // any kind of file
// "dir/name" with exactly one separator; an empty dir gives the name.
str path_join(str dir, str name, struct arena *a);
