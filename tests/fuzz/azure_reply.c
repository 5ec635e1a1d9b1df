// SPDX-License-Identifier: GPL-3.0-or-later
// azure_reply.c - fuzzes the reader of replies of azure (reply.h).
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reply(S("azure/fuzz"), S("https://fuzz.example"), data, size);
}
