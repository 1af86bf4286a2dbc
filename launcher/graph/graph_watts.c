/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/graph/graph_watts.h"

int graph_watts_read(struct watts *w, const json_t *all)
{
    const json_t *kept = json_object_get(all, "watts");
    const json_t *points = json_object_get(kept, "points");
    const json_t *sums = json_object_get(kept, "sums");
    double *const sum[] = {&w->bb, &w->bi, &w->ii, &w->bj, &w->ij};
    const size_t n = sizeof sum / sizeof sum[0];

    *w = (struct watts){0};
    if (!kept)
        return 0;
    if (!json_is_integer(points) || json_integer_value(points) < 0
        || json_integer_value(points) > UINT32_MAX
        || json_array_size(sums) != n)
        return -1;
    w->points = (uint32_t)json_integer_value(points);
    for (size_t i = 0; i < n; i++) {
        if (!json_is_number(json_array_get(sums, i)))
            return -1;
        *sum[i] = json_number_value(json_array_get(sums, i));
    }
    return watts_hold(w) ? 0 : -1;
}

int graph_watts_write(json_t *all, const struct watts *w)
{
    json_t *kept = json_pack("{s:i, s:[f,f,f,f,f]}", "points", (int)w->points,
                             "sums", w->bb, w->bi, w->ii, w->bj, w->ij);
    double busy, idle;
    int bad = 0;

    if (watts_fit(w, &busy, &idle) == 0)
        bad = json_object_set_new(kept, "busy", json_real(busy))
              | json_object_set_new(kept, "idle", json_real(idle));
    return json_object_set_new(all, "watts", kept) | bad;
}
