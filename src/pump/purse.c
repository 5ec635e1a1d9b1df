// SPDX-License-Identifier: GPL-3.0-or-later
// purse.c - one budget for the pumps of several processes, in memory that they share. Each process
// has an account of its own, so that the parent can settle the account of one that was killed.
#include "pump/shared.h"

#include "pump/pump.h"

struct purse {
    struct shared shared;
    size_t n;
    int64_t cap_nusd, before_nusd;
    struct account {
        int64_t spent_nusd, reserved_nusd;
    } accounts[];
};

struct purse *purse_new(int64_t cap_nusd, int64_t before_nusd, size_t n, struct err *err)
{
    size_t bytes = sizeof(struct purse) + n * sizeof(struct account);
    struct purse *p = shared_new(bytes, "a budget", err);
    if (!p)
        return NULL;
    p->n = n;
    p->cap_nusd = cap_nusd;
    p->before_nusd = before_nusd;
    return p;
}

void purse_free(struct purse *p)
{
    shared_free(p ? &p->shared : NULL);
}

static struct account total_of(const struct purse *p)
{
    struct account sum = { .spent_nusd = p->before_nusd };
    for (size_t i = 0; i < p->n; i++) {
        sum.spent_nusd += p->accounts[i].spent_nusd;
        sum.reserved_nusd += p->accounts[i].reserved_nusd;
    }
    return sum;
}

enum purse_answer purse_reserve(struct purse *p, size_t holder, int64_t nusd)
{
    enum purse_answer answer = PURSE_GRANTED;
    shared_lock(&p->shared);
    struct account sum = total_of(p);
    if (p->cap_nusd > 0 && sum.spent_nusd + sum.reserved_nusd + nusd > p->cap_nusd)
        answer = sum.reserved_nusd > 0 ? PURSE_LATER : PURSE_EMPTY;
    else
        p->accounts[holder].reserved_nusd += nusd;
    shared_unlock(&p->shared);
    return answer;
}

void purse_settle(struct purse *p, size_t holder, int64_t reserved_nusd, int64_t spent_nusd)
{
    shared_lock(&p->shared);
    p->accounts[holder].reserved_nusd -= reserved_nusd;
    p->accounts[holder].spent_nusd += spent_nusd;
    shared_unlock(&p->shared);
}

void purse_forfeit(struct purse *p, size_t holder)
{
    shared_lock(&p->shared);
    p->accounts[holder].spent_nusd += p->accounts[holder].reserved_nusd;
    p->accounts[holder].reserved_nusd = 0;
    shared_unlock(&p->shared);
}

static struct account total_now(struct purse *p)
{
    shared_lock(&p->shared);
    struct account sum = total_of(p);
    shared_unlock(&p->shared);
    return sum;
}

int64_t purse_spent_nusd(struct purse *p)
{
    return total_now(p).spent_nusd;
}

int64_t purse_reserved_nusd(struct purse *p)
{
    return total_now(p).reserved_nusd;
}
