/* SPDX-License-Identifier: BSD-2-Clause */
/* How a guess is weighed: what is far off counts for less than its square. */
#include "policy/cost_fit.h"
#include "tap.h"

/* Of one node and one piece, which should take a second; noise is a tenth. */
static double misfit_of(double seconds)
{
    static const size_t order[] = {0}, first[] = {0, 1};
    double zero[2] = {0};
    struct cost_node node = {
        .piece = {{.work = 10, .seconds = seconds, .weight = 1}},
        .n = 1,
        .believed = 1,
        .loose = 0.1};
    const struct cost_problem p = {.node = &node,
                                   .nodes = 1,
                                   .order = order,
                                   .first = first,
                                   .groups = 1,
                                   .stride = 1,
                                   .noise = 0.1};
    struct cost_guess g = {
        .term = {[COST_EACH] = 0.1}, .group = &zero[0], .own = &zero[1]};

    cost_weigh(&p, &g);
    return g.misfit;
}

int main(void)
{
    is_near(misfit_of(1), 0, 1e-12, "what is right has none");
    is_near(misfit_of(1.1), 1, 1e-9, "one deviation counts by its square");
    is_near(misfit_of(0.9), 1, 1e-9, "to either side");
    is_near(misfit_of(1.9), 1.5 * (18 - 1.5), 1e-9, "nine count for less");
    is_near(misfit_of(0.7), 1.5 * (6 - 1.5), 1e-9, "and three");
    return done();
}
