// SPDX-License-Identifier: GPL-3.0-or-later
// reply.c - the classes of replies and what follows from each (endpoint specification, section 12).
#include "llm/internal.h"

struct class_row {
    str name;
    bool scored, retried;
};
static const struct class_row classes[] = {
    [REPLY_OK] = { T("ok"), true, false },
    [REPLY_TRUNCATED] = { T("truncated"), true, false },
    [REPLY_REFUSED] = { T("refused"), true, false },
    [REPLY_EMPTY] = { T("empty"), true, false },
    [REPLY_FILTERED] = { T("filtered"), false, false },
    [REPLY_CONTEXT_OVERFLOW] = { T("context_overflow"), false, false },
    [REPLY_CONFIG] = { T("config"), false, false },
    [REPLY_ACCOUNT] = { T("account"), false, false },
    [REPLY_RATE_LIMIT] = { T("rate_limit"), false, true },
    [REPLY_OVERLOAD] = { T("overload"), false, true },
    [REPLY_UPSTREAM] = { T("upstream"), false, true },
    [REPLY_PROTOCOL] = { T("protocol"), false, true },
    [REPLY_TRANSPORT] = { T("transport"), false, true },
    [REPLY_TIMEOUT] = { T("timeout"), false, true },
    [REPLY_CANCELLED] = { T("cancelled"), false, false },
};

bool reply_is_scored(enum reply_class c)
{
    return classes[c].scored;
}

bool reply_is_retried(enum reply_class c)
{
    return classes[c].retried;
}

bool reply_may_retry(const struct reply *r)
{
    return reply_is_retried(r->class) && !r->no_retry;
}

str reply_class_name(enum reply_class c)
{
    return classes[c].name;
}

bool reply_class_parse(str name, enum reply_class *out)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (str_eq(name, classes[i].name)) {
            *out = (enum reply_class)i;
            return true;
        }
    }
    return false;
}
