// SPDX-License-Identifier: GPL-3.0-or-later
// openai_reply.c - fuzzes the reader of replies of openai (reply.h).
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reply(S("openai/fuzz"), S(""), data, size);
}
