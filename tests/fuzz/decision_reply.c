// SPDX-License-Identifier: GPL-3.0-or-later
// decision_reply.c - fuzzes the reader of decisions (reply.h): a good one chooses an option.
#include "reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reply(S("typesafe/jev-1"), S(""), data, size);
}
