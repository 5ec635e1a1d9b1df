// SPDX-License-Identifier: GPL-3.0-or-later
// yaml.c - fuzzes reading YAML, and writing what was read as JSON.
#include "fuzz.h"

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct yaml_node root = { 0 };
    json_t *json = NULL;
    if (yaml_parse(S("fuzz.yaml"), fuzz_text(data, size), &a, &root, &err) &&
        yaml_to_json(&root, S("fuzz.yaml"), &json, &err))
        json_decref(json);
    else
        assert(err.code != ERR_NONE && err.text[0]);
    arena_free(&a);
    return 0;
}
