/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/energy_saved.h"

void energy_saved_look(struct energy_saved *s,
                       int has_begun,
                       int is_lower,
                       struct energy_view used)
{
    if (!s->has_begun && (!has_begun || used.source == ENERGY_UNKNOWN)) {
        s->is_first = has_begun;
    } else if (!s->has_begun) {
        s->has_begun = 1;
        s->is_counted = s->is_first;
        s->begin = used;
    }
    if (s->has_begun && !s->is_counted && used.seconds > s->begin.seconds) {
        s->is_counted = 1;
        s->begin = used;
    }
    if (!s->is_lower)
        s->lower = used;
    s->is_lower |= is_lower;
}

int energy_saved_joules(const struct energy_saved *s,
                        struct energy_view used,
                        double *joules)
{
    double before = s->lower.seconds - s->begin.seconds;
    double after = used.seconds - s->lower.seconds;

    if (!s->is_counted || !s->is_lower || before < ENERGY_SAVED_LEAST
        || after < ENERGY_SAVED_LEAST)
        return 0;
    *joules = (s->lower.joules - s->begin.joules) / before * after
              - (used.joules - s->lower.joules);
    return 1;
}

int energy_saved_sum(const struct energy_saved s[],
                     const struct energy_watch *e,
                     double *joules)
{
    double sum = 0, one;
    int known = 0;

    for (size_t i = 0; i < energy_size(e); i++)
        if (energy_saved_joules(&s[i], energy_view(e, i), &one)) {
            sum += one;
            known = 1;
        }
    if (known)
        *joules = sum;
    return known;
}
