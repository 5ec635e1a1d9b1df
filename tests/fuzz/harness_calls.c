// SPDX-License-Identifier: GPL-3.0-or-later
// harness_calls.c - what a locked child says: results in shared memory, and frames on its socket.
// The first byte picks; in shared memory it may write anything anywhere, so the input is laid over
// the area.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "harness/harness.h"

static void copy(char *to, str from)
{
    if (from.len > 0)
        memcpy(to, from.data, from.len);
}

static void lay_over(struct call_area *area, str in)
{
    size_t heads = offsetof(struct call_area, request);
    str head = str_sub(in, 0, heads);
    str rest = str_sub(in, heads, in.len);
    str first = str_sub(rest, 0, rest.len / 2), second = str_sub(rest, rest.len / 2, rest.len);
    memset(area, 0, heads);
    copy((char *)area, head);
    copy(area->reply[0], first);
    copy(area->reply[1], second);
}

static void read_area(str in, struct arena *a)
{
    static struct call_area *area;
    struct harness_call call = { .function = in.len % 3 ? HARNESS_PARSE : HARNESS_LEGAL };
    struct harness_result r;
    if (!area)
        area = mem_must(calloc(1, sizeof *area));
    call.text = S("I play <move>e2e4</move>");
    call.judges = call.function == HARNESS_PARSE;
    lay_over(area, in);
    if (!call_results_read(area, &call, true, a, &r))
        return; // a broken protocol: nothing of it is used
    if (r.told && r.ok && r.type == RESULT_STR)
        assert(utf8_valid(r.text) && r.text.len <= HARNESS_VIEW_MAX_BYTES);
    if (r.legality)
        assert(harness_goes_somewhere(r.action));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    str in = { (const char *)data, size };
    struct harness_result r;
    struct harness_call call, again;
    struct harness_contract contract;
    struct violations faults = { 0 };
    str rest = str_sub(in, 1, in.len);
    switch (size > 0 ? data[0] % 4 : 0) {
    case 0: read_area(rest, &a); break;
    case 1:
        if (frame_read(rest, 7, &a, &r, NULL) && r.ok && r.type == RESULT_STR)
            assert(utf8_valid(r.text));
        break;
    case 2:
        if (call_read(rest, &call)) {
            str bytes = call_bytes(&call, &a);
            assert(call_read(bytes, &again) && str_eq(again.text, call.text));
        }
        break;
    default:
        if (harness_contract_read(rest, &a, &contract, &faults, NULL))
            assert(contract.format_retries <= HARNESS_BUDGET_MAX && contract.max_turns >= 1);
        harness_source_check(rest, &a, &faults);
    }
    arena_free(&a);
    return 0;
}
