// SPDX-License-Identifier: GPL-3.0-or-later
// answer.c - fuzzes the reader of model answers with both signatures.
#include "fuzz.h"

#include "prompt/prompt.h"

static void read_answer(const struct signature *s, str text)
{
    struct arena a = { 0 };
    str values[SIGNATURE_FIELDS_MAX] = { 0 };
    enum read_error e = answer_read(s, text, &a, values);
    assert((e == READ_OK) == (read_error_text(e).len == 0));
    if (e == READ_OK) // every byte of the values must be readable memory
        for (size_t i = 0; i < s->n_outputs; i++)
            (void)arena_str(&a, values[i]);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = fuzz_text(data, size);
    read_answer(&signature_choose_move, text);
    read_answer(&signature_choose_move_analysis, text);
    return 0;
}
