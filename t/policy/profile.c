/* SPDX-License-Identifier: BSD-2-Clause */
/* The shipped profiles. */
#include "policy/profile.h"
#include "fenced.h"
#include "tap.h"

static void test_list(void)
{
    size_t n = 0;

    for (const struct named_profile *p; (p = profile_at(n)) != NULL; n++) {
        int pass = p->name[0] != '\0' && p->help[0] != '\0';

        for (int j = 0; j < ELEMENTS; j++)
            pass &= p->profile.influence[j] >= 0
                    && p->profile.influence[j] <= INFLUENCE_MAX;
        for (size_t i = 0; i < n; i++)
            pass &= strcmp(profile_at(i)->name, p->name) != 0;
        ok(pass && profile_sum(&p->profile) > 0,
           "%s has a name and help of its own, and influences in range",
           p->name);
    }
    is_str(profile_at(0)->name, "cpu", "the default is the first");
    ok(n >= 5 && !profile_at(n) && !profile_at(n + 1) && !profile_at(SIZE_MAX),
       "the list ends");
}

static void test_sum(void)
{
    struct profile *p =
        fenced_copy(&(struct profile){{0.5, 0.25, 0.125, 1, 2, 4}}, sizeof *p);

    is_near(profile_sum(p), 7.875, 0, "all influences together");
    free(p);
}

int main(void)
{
    test_list();
    test_sum();
    return done();
}
