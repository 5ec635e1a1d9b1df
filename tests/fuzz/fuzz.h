// SPDX-License-Identifier: GPL-3.0-or-later
// fuzz.h - what the fuzz targets share: libFuzzer's entry point, and splitting its bytes.
//
// A target asserts what must hold for any input; the sanitizers watch the rest.
#pragma once
#include <assert.h>
#include <stdint.h>

#include "base/base.h"

// Called by libFuzzer with one input; returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The input as a text; a view.
static inline str fuzz_text(const uint8_t *data, size_t size)
{
    return size ? (str){ (const char *)data, size } : (str){ 0 };
}
