/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/kinds.h"

#include "policy/autotuned.h"
#include "policy/canon.h"
#include "policy/even.h"
#include "policy/guided.h"
#include "policy/manual.h"
#include "policy/nodethreads.h"
#include "policy/proportional.h"
#include "policy/rl.h"
#include "policy/rl2.h"
#include "policy/static.h"

#include <string.h>

static const struct policy_kind *const kinds[] = {
    &even_kind,   &canon_kind,       &static_kind,    &guided_kind,
    &manual_kind, &nodethreads_kind, &autotuned_kind, &proportional_kind,
    &rl_kind,     &rl2_kind,
};

_Static_assert(sizeof kinds / sizeof kinds[0] <= KINDS_MAX,
               "callers have arrays of KINDS_MAX");

const struct policy_kind *kinds_at(size_t i)
{
    return i < sizeof kinds / sizeof kinds[0] ? kinds[i] : NULL;
}

const struct policy_kind *kinds_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

size_t kinds_place(const struct policy_kind *kind)
{
    size_t i = 0;

    while (kinds[i] != kind)
        i++;
    return i;
}
