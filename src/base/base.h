// SPDX-License-Identifier: GPL-3.0-or-later
// base.h - everything of module base, and the list of functions nobody may call.
//
// Include system and library headers before this one: the poison at the end would refuse theirs.
#pragma once
#include "base/arena.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/vec.h"

// With _FORTIFY_SOURCE the C library makes macros of some of these; clang will not poison macros.
#undef strcpy
#undef strcat
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atof atol gets rand srand localtime  \
    gmtime
