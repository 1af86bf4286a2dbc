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

/* The node with something to take that would finish last; n if there is none.
 */
static size_t last_node(const struct tail_node node[], size_t n, double mean)
{
    double latest = 0;
    size_t last = n;

    for (size_t i = 0; i < n; i++) {
        double end;

        if (node[i].waiting == 0)
            continue;
        end = done_in(&node[i], speed_of(&node[i], mean));
        if (last == n || end > latest) {
            latest = end;
            last = i;
        }
    }
    return last;
}

/* Whole grains that two nodes' finishing together leaves waiting, to the grain
   below; `both` is what it takes off. */
static uint64_t grains_left(uint64_t waiting, uint64_t grain, double both)
{
    double left = fmax((double)waiting - both, 0) / (double)grain;
    uint64_t most = waiting / grain;

    return left < (double)most ? (uint64_t)left : most;
}

int tail_take(const struct tail_node node[],
              size_t n,
              size_t idle,
              uint64_t grain,
              double delay,
              struct tail_move *move)
{
    double mean = mean_speed(node, n), mine, theirs, best, both;
    size_t last = last_node(node, n, mean);
    uint64_t waiting, k;
    int takes = 0;

    if (last == n || last == idle)
        return 0;
    waiting = node[last].waiting;
    mine = speed_of(&node[idle], mean);
    theirs = speed_of(&node[last], mean);
    best = done_in(&node[last], theirs);
    both = (best - delay) / (1 / mine + 1 / theirs);
    k = grains_left(waiting, grain, both);
    for (int i = 0; i < 2 && k <= (waiting - 1) / grain; i++, k++) {
        uint64_t left = k * grain;
        double end =
            fmax(delay + (double)(waiting - left) / mine,
                 busy_for(&node[last], theirs) + (double)left / theirs);

        /* Of two that are as good the smaller: it moves less. */
        if (end < best || (takes && end <= best)) {
            best = end;
            *move = (struct tail_move){.from = last, .units = waiting - left};
            takes = 1;
        }
    }
    return takes;
}
