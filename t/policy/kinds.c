/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of all policies. */
#include "policy/kinds.h"
#include "tap.h"

static void test_find(void)
{
    size_t n = 0;

    ok(kinds_find("nosuch") == NULL, "an unknown name is no policy");
    ok(kinds_find("") == NULL, "nor is an empty one");
    ok(kinds_find("eve") == NULL, "nor is a prefix");
    ok(kinds_find("evenly") == NULL, "nor is more than the name");
    for (; kinds_at(n); n++)
        ok(kinds_find(kinds_at(n)->name) == kinds_at(n)
               && kinds_place(kinds_at(n)) == n,
           "%s is found by its name, at its place", kinds_at(n)->name);
    ok(n >= 3 && n <= KINDS_MAX && !kinds_at(n + 1) && !kinds_at(SIZE_MAX),
       "the list ends");
    is_str(kinds_at(0)->name, KINDS_DEFAULT, "the default is the first");
}

/* What the callers' arrays and messages rest on. */
static void test_fits(void)
{
    for (size_t i = 0; kinds_at(i); i++) {
        const struct policy_kind *kind = kinds_at(i);

        ok(kind->n_params <= POLICY_PARAMS && strlen(kind->name) < 32
               && kind->help[0] != '\0',
           "%s has a short name, a line of help, and at most %d parameters",
           kind->name, POLICY_PARAMS);
    }
}

int main(void)
{
    test_find();
    test_fits();
    return done();
}
