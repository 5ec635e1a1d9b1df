// SPDX-License-Identifier: GPL-3.0-or-later
// ollama_reply.c - fuzzes the reader of replies of ollama, which may come in lines (reply.h).
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reply(S("ollama/fuzz"), S(""), data, size);
}
