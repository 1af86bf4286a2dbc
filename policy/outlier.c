/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/outlier.h"
#include "policy/select.h"

#include <math.h>

/* All nodes, one element of them, and where outliers go. */
struct survey {
    const double (*measured)[ELEMENTS];
    const uint32_t *kind;
    size_t n;
    enum element element;
    double limit;
    double *scratch;
    struct outlier *found;
    size_t n_found, most;
};

struct scale {
    double median, deviation; /* deviation 0: nobody can be far */
};

static int counts(const struct survey *s, size_t node, uint32_t kind)
{
    return s->kind[node] == kind && isfinite(s->measured[node][s->element]);
}

/* Of one kind. */
static struct scale scale_of(const struct survey *s, uint32_t kind)
{
    struct scale scale = {0, 0};
    size_t m = 0;

    for (size_t i = 0; i < s->n; i++)
        if (counts(s, i, kind))
            s->scratch[m++] = s->measured[i][s->element];
    if (m < OUTLIER_NODES_MIN)
        return scale;
    scale.median = select_median(s->scratch, m);
    for (size_t i = 0; i < m; i++)
        s->scratch[i] = fabs(s->scratch[i] - scale.median);
    scale.deviation = OUTLIER_MAD_SCALE * select_median(s->scratch, m);
    if (scale.deviation < OUTLIER_FLOOR * fabs(scale.median))
        scale.deviation = OUTLIER_FLOOR * fabs(scale.median);
    if (!(fabs(scale.median) > 0))
        scale.deviation = 0;
    return scale;
}

static void look_at_kind(struct survey *s, uint32_t kind)
{
    struct scale scale = scale_of(s, kind);

    for (size_t i = 0; i < s->n && scale.deviation > 0; i++) {
        double off = s->measured[i][s->element] - scale.median;

        if (!counts(s, i, kind) || !(fabs(off) > s->limit * scale.deviation))
            continue;
        if (s->n_found < s->most)
            s->found[s->n_found] = (struct outlier){
                i, s->element, off / scale.deviation, off / scale.median};
        s->n_found++;
    }
}

/* Is there none of this node's kind before it? */
static int is_first(const uint32_t kind[], size_t node)
{
    size_t i = 0;

    while (kind[i] != kind[node])
        i++;
    return i == node;
}

size_t outlier_find(const double measured[][ELEMENTS],
                    const uint32_t kind[],
                    size_t n,
                    double limit,
                    double scratch[],
                    struct outlier found[],
                    size_t most)
{
    struct survey s = {.measured = measured,
                       .kind = kind,
                       .n = n,
                       .limit = limit,
                       .scratch = scratch,
                       .found = found,
                       .most = most};

    for (s.element = ELEMENT_C; s.element < ELEMENTS; s.element++)
        for (size_t i = 0; i < n; i++)
            if (is_first(kind, i))
                look_at_kind(&s, kind[i]);
    return s.n_found;
}
