/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/tail.h"

#include <math.h>

static uint64_t grains_in(uint64_t units, uint64_t grain)
{
    return units / grain + (units % grain != 0);
}

uint64_t tail_pieces(double seconds, uint64_t most)
{
    double pieces = sqrt(seconds / TAIL_PIECE_S);

    if (!(seconds > 0) || pieces >= (double)most)
        return most;
    return pieces > 1 ? (uint64_t)pieces : 1;
}

uint64_t tail_piece(uint64_t slice,
                    uint64_t waiting,
                    uint64_t grain,
                    uint64_t pieces)
{
    uint64_t grains = grains_in(slice, grain);
    uint64_t piece = grains / pieces + (grains % pieces != 0);

    if (piece == 0 || piece > waiting / grain)
        return waiting;
    return piece * grain;
}

double tail_unaided(uint64_t slice, uint64_t done, double seconds)
{
    return done > 0 ? seconds / (double)done * (double)slice : 0;
}

/* The mean of the speeds that are known; 1 if none is. */
static double mean_speed(const struct tail_node node[], size_t n)
{
    double sum = 0, known = 0;

    for (size_t i = 0; i < n; i++) {
        if (node[i].speed > 0) {
            sum += node[i].speed;
            known++;
        }
    }
    return known > 0 ? sum / known : 1;
}

/* The node's speed now, at most; mean is for one that is not known. */
static double speed_of(const struct tail_node *node, double mean)
{
    double speed = node->speed > 0 ? node->speed : mean;
    double running = (double)node->running;

    if (node->running > 0 && node->since * speed > running)
        speed = running / node->since;
    return speed;
}

/* Seconds until a node has done what runs, at least. */
static double busy_for(const struct tail_node *node, double speed)
{
    return fmax((double)node->running / speed - node->since, 0);
}

/* Seconds until it has done all that it holds. */
static double done_in(const struct tail_node *node, double speed)
{
    return busy_for(node, speed) + (double)node->waiting / speed;
}

/* Whole grains that two nodes' finishing together leaves waiting, to the grain
   below; `both` is what it takes off. */
static uint64_t grains_left(uint64_t waiting, uint64_t grain, double both)
{
    double left = fmax((double)waiting - both, 0) / (double)grain;
    uint64_t most = waiting / grain;

    return left < (double)most ? (uint64_t)left : most;
}

/* What a node of this speed takes off the one that would finish last. */
static int take_off(const struct tail_node *last,
                    double theirs,
                    double mine,
                    uint64_t grain,
                    double delay,
                    uint64_t *units)
{
    double best = done_in(last, theirs);
    double both = (best - delay) / (1 / mine + 1 / theirs);
    uint64_t k = grains_left(last->waiting, grain, both);
    int takes = 0;

    for (int i = 0; i < 2 && k <= (last->waiting - 1) / grain; i++, k++) {
        uint64_t left = k * grain;
        double end = fmax(delay + (double)(last->waiting - left) / mine,
                          busy_for(last, theirs) + (double)left / theirs);

        /* Of two that are as good the smaller: it moves less. */
        if (end < best || (takes && end <= best)) {
            best = end;
            *units = last->waiting - left;
            takes = 1;
        }
    }
    return takes;
}

/* --- a look --------------------------------------------------------------- */

/* Of nodes that would finish together the first. */
static int is_later(struct tail_look *l, size_t i, size_t k)
{
    const struct tail_late *a = &l->heap[i], *b = &l->heap[k];

    l->work++;
    return a->end > b->end || (a->end >= b->end && a->node < b->node);
}

static void swap(struct tail_look *l, size_t i, size_t k)
{
    struct tail_late late = l->heap[i];

    l->heap[i] = l->heap[k];
    l->heap[k] = late;
}

static void sift_down(struct tail_look *l, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < l->waiting && is_later(l, child + 1, child))
            child++;
        if (child >= l->waiting || !is_later(l, child, i))
            return;
        swap(l, i, child);
        i = child;
    }
}

static void sift_up(struct tail_look *l, size_t i)
{
    while (i > 0 && is_later(l, i, (i - 1) / 2)) {
        swap(l, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static struct tail_late entry_of(const struct tail_look *l, size_t i)
{
    const struct tail_node *node = &l->node[i];

    return (struct tail_late){done_in(node, speed_of(node, l->mean)), i};
}

void tail_look_begin(struct tail_look *l,
                     struct tail_node node[],
                     size_t n,
                     struct tail_late room[])
{
    l->node = node;
    l->mean = mean_speed(node, n);
    l->heap = room;
    l->waiting = 0;
    l->work += n;
    for (size_t i = 0; i < n; i++)
        if (node[i].waiting > 0)
            l->heap[l->waiting++] = entry_of(l, i);
    for (size_t i = l->waiting / 2; i-- > 0;)
        sift_down(l, i);
}

int tail_look_take(struct tail_look *l,
                   size_t idle,
                   uint64_t grain,
                   double delay,
                   struct tail_move *move)
{
    size_t last = l->waiting > 0 ? l->heap[0].node : idle;
    uint64_t units = 0;

    l->work++;
    if (last == idle
        || !take_off(&l->node[last], speed_of(&l->node[last], l->mean),
                     speed_of(&l->node[idle], l->mean), grain, delay, &units))
        return 0;
    *move = (struct tail_move){.from = last, .units = units};
    l->node[last].waiting -= units;
    l->node[idle].waiting = units;
    l->heap[0] = entry_of(l, last);
    if (l->node[last].waiting == 0)
        l->heap[0] = l->heap[--l->waiting];
    sift_down(l, 0);
    return 1;
}

void tail_look_begun(struct tail_look *l, size_t idle, uint64_t running)
{
    l->node[idle].running = running;
    l->node[idle].waiting -= running;
    l->node[idle].since = 0;
    if (l->node[idle].waiting == 0)
        return;
    l->heap[l->waiting] = entry_of(l, idle);
    sift_up(l, l->waiting++);
}
