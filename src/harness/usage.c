// SPDX-License-Identifier: GPL-3.0-or-later
// usage.c - how many tokens a response cost the rollout's budget (1.8).
#include "harness/harness.h"

static bool as_count(const json_t *v, int64_t *out)
{
    if (json_is_integer(v))
        *out = json_integer_value(v);
    else if (json_is_real(v))
        *out = (int64_t)json_real_value(v);
    else if (!json_is_string(v) || !str_to_int(json_view(v), INT32_MIN, INT32_MAX, out))
        return false;
    *out = *out < 0 ? 0 : *out;
    return true;
}

bool harness_usage_tokens(const json_t *usage, int64_t *out)
{
    static const char *const names[] = { "completion_tokens", "output_tokens", "generated_tokens",
                                         "candidatesTokenCount" };
    const json_t *places[] = { usage, json_object_get(usage, "usage_metadata") };
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (as_count(json_object_get(places[i], names[k]), out))
                return true;
    return false;
}

int64_t harness_approximate_tokens(size_t n_characters)
{
    int64_t n = (int64_t)(n_characters + 2) / 3;
    return n_characters == 0 ? 0 : n < 1 ? 1 : n;
}
