/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/turns.h"

#include <stdlib.h>
#include <string.h>

int turns_init(struct turns *t,
               struct steering *steering,
               const size_t node[],
               size_t n)
{
    *t = (struct turns){.steering = steering, .node = node, .n = n};
    t->part = calloc(n, sizeof *t->part);
    t->speed = calloc(n, sizeof *t->speed);
    t->before = calloc(n, sizeof *t->before);
    t->had = calloc(n, sizeof *t->had);
    if (!t->part || !t->speed || !t->before || !t->had)
        return -1;
    turns_look(t);
    memcpy(t->before, t->speed, n * sizeof *t->speed);
    return 0;
}

void turns_clear(struct turns *t)
{
    free(t->part);
    free(t->speed);
    free(t->before);
    free(t->had);
    *t = (struct turns){.n = 0};
}

void turns_look(struct turns *t)
{
    for (size_t i = 0; i < t->n; i++)
        t->speed[i] = steering_speed(t->steering, t->node ? t->node[i] : i);
}

void turns_begin(struct turns *t)
{
    if (t->n == 0)
        return;
    steering_hold(t->steering, !t->handover.by_limits);
    turns_look(t);
    memcpy(t->before, t->speed, t->n * sizeof *t->speed);
}

double turns_seconds(const struct turns *t, size_t slot, double seconds)
{
    return t->n > 0 ? seconds * (t->before[slot] + t->speed[slot]) / 2
                    : seconds;
}

int turns_end(struct turns *t)
{
    if (t->n == 0)
        return 0;
    turns_look(t);
    for (size_t i = 0; i < t->n; i++)
        t->part[i].seconds = turns_seconds(t, i, t->part[i].seconds);
    return handover_frame(&t->handover, t->had, t->part, t->n);
}

void turns_stop(struct turns *t)
{
    if (t->n > 0)
        steering_hold(t->steering, 0);
}

void turns_back(struct turns *t)
{
    handover_back(&t->handover);
}
