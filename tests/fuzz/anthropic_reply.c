// SPDX-License-Identifier: GPL-3.0-or-later
// anthropic_reply.c - fuzzes the reader of replies of anthropic (reply.h).
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reply(S("anthropic/fuzz"), S(""), data, size);
}
