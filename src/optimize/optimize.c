// SPDX-License-Identifier: GPL-3.0-or-later
// optimize.c - the list of optimizers.
#include "optimize/optimize.h"

#include "optimize/internal.h"

const struct optimizer *const optimizers[] = { &optimizer_bootstrap_few_shot,
                                               &optimizer_bootstrap_random_search,
                                               &optimizer_copro,
                                               &optimizer_gepa,
                                               &optimizer_mipro_v2,
                                               &optimizer_simba,
                                               NULL };

const struct optimizer *optimizer_find(str name)
{
    for (size_t i = 0; optimizers[i]; i++)
        if (str_eq(optimizers[i]->name, name))
            return optimizers[i];
    return NULL;
}

bool optimizer_accepts(const struct optimizer *o, const struct model *m, struct err *err)
{
    if (o->needs_sampling.len == 0 || !m->provider || !m->provider->chooses)
        return true;
    return err_set(err, ERR_USAGE, "%.*s cannot use %.*s: %.*s; choose another of both",
                   STR(o->name), STR(m->name), STR(o->needs_sampling));
}
