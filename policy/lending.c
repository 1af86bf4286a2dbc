/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/lending.h"

int lending_is_worth(uint64_t regions, int64_t ns)
{
    return regions == 0 || (uint64_t)ns / regions >= LENDING_REGION_NS;
}

static int is_lent(const struct lending_cpu *cpu, uint32_t self)
{
    return cpu->is_idle && cpu->owner != 0 && cpu->owner != self;
}

/* Rounded up: one of few is better used than left. */
static size_t share_of(const struct lending_cpu cpu[],
                       size_t n,
                       uint32_t self,
                       size_t hungry)
{
    size_t lent = 0;

    for (size_t i = 0; i < n; i++)
        lent += (size_t)is_lent(&cpu[i], self);
    return hungry > 1 ? (lent + hungry - 1) / hungry : lent;
}

/* Add those that this rank has borrowed, or nobody. */
static size_t add(const struct lending_cpu cpu[],
                  size_t n,
                  uint32_t self,
                  uint32_t borrower,
                  size_t most,
                  uint32_t chosen[],
                  size_t k)
{
    for (size_t i = 0; i < n && k < most; i++)
        if (is_lent(&cpu[i], self) && cpu[i].borrower == borrower)
            chosen[k++] = (uint32_t)i;
    return k;
}

size_t lending_choose(const struct lending_cpu cpu[],
                      size_t n,
                      uint32_t self,
                      size_t want,
                      size_t hungry,
                      uint32_t chosen[])
{
    size_t share = share_of(cpu, n, self, hungry);
    size_t most = want < share ? want : share;
    size_t k = add(cpu, n, self, self, most, chosen, 0);

    return add(cpu, n, self, 0, most, chosen, k);
}
