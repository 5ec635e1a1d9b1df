// SPDX-License-Identifier: GPL-3.0-or-later
// gemini_reply.c - fuzzes the reader of replies of gemini (reply.h).
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reply(S("gemini/fuzz"), S(""), data, size);
}
