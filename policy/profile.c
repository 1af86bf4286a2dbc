/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/profile.h"

static const struct named_profile profiles[] = {
    /* The CPU-heavy example of US 8,645,454. */
    {"cpu",
     {{[ELEMENT_C] = 0.3,
       [ELEMENT_M] = 0.3,
       [ELEMENT_I] = 0.2,
       [ELEMENT_B] = 0.15}},
     "arithmetic, with the memory to feed it"},
    /* Stencils, sparse solvers: cores wait for memory.  Nine tenths of the
       weight are its rate; the CPU decides between equals. */
    {"memory",
     {{[ELEMENT_C] = 0.2,
       [ELEMENT_M] = 0.6,
       [ELEMENT_I] = 0.1,
       [ELEMENT_B] = 0.1}},
     "streams over more than the caches hold"},
    /* Transposes, halo exchange of small parts: the link is what is waited
       for; what comes in is worked on by the CPU. */
    {"network",
     {{[ELEMENT_C] = 0.2,
       [ELEMENT_M] = 0.1,
       [ELEMENT_I] = 0.6,
       [ELEMENT_B] = 0.1}},
     "exchanges more than it computes"},
    /* Conversion, sorting on disk: node-local scratch first, then the link, by
       which a shared file system comes. */
    {"io",
     {{[ELEMENT_C] = 0.1,
       [ELEMENT_M] = 0.1,
       [ELEMENT_I] = 0.2,
       [ELEMENT_S] = 0.6}},
     "reads and writes files more than it computes"},
    /* Kernels on cards: the card first, then the bus that feeds it.  A node
       without one keeps a small share, for what the CPU can do. */
    {"gpu",
     {{[ELEMENT_C] = 0.1,
       [ELEMENT_M] = 0.1,
       [ELEMENT_B] = 0.2,
       [ELEMENT_G] = 0.6}},
     "computes on GPUs"},
};

const struct named_profile *profile_at(size_t i)
{
    return i < sizeof profiles / sizeof profiles[0] ? &profiles[i] : NULL;
}

double profile_sum(const struct profile *p)
{
    double sum = 0;

    for (int j = 0; j < ELEMENTS; j++)
        sum += p->influence[j];
    return sum;
}
