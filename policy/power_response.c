/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/power_response.h"

#include <math.h>

#define HARDLY 0.01  /* mean move of a limit: less tells nothing */
#define KEPT   0.95  /* of what was known, in a round that tells more */
#define ERRORS 3.0   /* standard errors */
#define LEAST  2.0   /* changes: fewer have no error that could be told */
#define ROUGH  0.005 /* deviation of a progress, at least */
#define PLAIN  0.25  /* exponent: below, it may be none at all */
#define STEEP  2.0   /* from here on, steps that go all the way swing */
#define AHEAD  4u

static int reports(const struct power_node *node)
{
    return isfinite(node->progress) && node->progress > 0 && node->limit > 0;
}

static int was_seen(const struct power_seen *seen,
                    const struct power_node *node)
{
    return seen->progress > 0 && reports(node);
}

static double limit_change(const struct power_seen *seen,
                           const struct power_node *node)
{
    return log((double)node->limit / seen->limit);
}

static double progress_change(const struct power_seen *seen,
                              const struct power_node *node)
{
    return log(node->progress / seen->progress);
}

/* The changes of this round alone. */
static struct power_response changes(const struct power_seen seen[],
                                     const struct power_node node[],
                                     size_t n)
{
    struct power_response r = {.n = 0};
    double x_mean = 0, y_mean = 0, count = 0;

    for (size_t i = 0; i < n; i++)
        if (was_seen(&seen[i], &node[i])) {
            x_mean += limit_change(&seen[i], &node[i]);
            y_mean += progress_change(&seen[i], &node[i]);
            count++;
        }
    if (count < 2)
        return r;
    x_mean /= count;
    y_mean /= count;
    for (size_t i = 0; i < n; i++)
        if (was_seen(&seen[i], &node[i])) {
            double x = limit_change(&seen[i], &node[i]) - x_mean;
            double y = progress_change(&seen[i], &node[i]) - y_mean;

            r.xx += x * x;
            r.xy += x * y;
            r.yy += y * y;
        }
    r.n = count - 1;
    return r;
}

void power_response_note(struct power_response *r,
                         struct power_seen seen[],
                         const struct power_node node[],
                         size_t n)
{
    struct power_response now = changes(seen, node, n);

    if (now.xx > HARDLY * HARDLY * now.n)
        *r = (struct power_response){.xx = KEPT * r->xx + now.xx,
                                     .xy = KEPT * r->xy + now.xy,
                                     .yy = KEPT * r->yy + now.yy,
                                     .n = KEPT * r->n + now.n};
    for (size_t i = 0; i < n; i++) {
        if (!reports(&node[i]))
            continue;
        seen[i].limit = (double)node[i].limit;
        seen[i].progress = node[i].progress;
        if (!(seen[i].start > 0))
            seen[i].start = seen[i].limit;
    }
}

static double exponent(const struct power_response *r)
{
    return r->xy / r->xx;
}

/* Standard error of the exponent. */
static double error(const struct power_response *r)
{
    double rest = fmax(0, r->yy - exponent(r) * r->xy) / (r->n - 1);

    return sqrt(fmax(rest, ROUGH * ROUGH) / r->xx);
}

double power_response_least(const struct power_response *r)
{
    return r->n >= LEAST ? exponent(r) - ERRORS * error(r) : 0;
}

double power_response_most(const struct power_response *r)
{
    return r->n >= LEAST ? exponent(r) + ERRORS * error(r) : INFINITY;
}

double power_response_exponent(const struct power_response *r)
{
    return r->n >= LEAST ? fmin(fmax(exponent(r), 0), 1) : 1;
}

unsigned power_response_steps(const struct power_response *r)
{
    int is_plain =
        power_response_least(r) > PLAIN && power_response_most(r) < STEEP;

    return is_plain ? AHEAD : 1;
}

/* The slowest node's progress now, and at the limits of the start. */
static double slowest(const struct power_seen seen[],
                      const struct power_node node[],
                      size_t n,
                      double e,
                      double *start)
{
    double now = INFINITY;

    *start = INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!was_seen(&seen[i], &node[i]))
            continue;
        now = fmin(now, node[i].progress);
        *start =
            fmin(*start, node[i].progress
                             * pow(seen[i].start / (double)node[i].limit, e));
    }
    return now;
}

double power_response_gain(const struct power_response *r,
                           const struct power_seen seen[],
                           const struct power_node node[],
                           size_t n)
{
    double start;
    double now =
        slowest(seen, node, n, fmax(0, power_response_least(r)), &start);

    return isfinite(now) ? 1 - start / now : 0;
}

double power_loss(const struct power_seen seen[],
                  const struct power_node node[],
                  size_t n)
{
    double start, now = slowest(seen, node, n, 1, &start);

    return isfinite(now) ? 1 - now / start : 0;
}

double power_promise(const struct power_node node[], size_t n)
{
    double limits = 0, needs = 0, least = INFINITY;

    for (size_t i = 0; i < n; i++)
        if (reports(&node[i])) {
            limits += (double)node[i].limit;
            needs += (double)node[i].limit / node[i].progress;
            least = fmin(least, node[i].progress);
        }
    return needs > 0 ? fmax(0, 1 - least * needs / limits) : 0;
}

void power_keep_depth(double part,
                      int may_raise,
                      const struct power_seen seen[],
                      struct power_node node[],
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct power_node *p = &node[i];
        uint64_t least = (uint64_t)(part * seen[i].start);

        if (p->limit == 0 || !(seen[i].start > 0))
            continue;
        least = least < p->ceiling ? least : p->ceiling;
        if (p->limit < least && may_raise) {
            p->progress *= (double)least / (double)p->limit;
            p->limit = least;
        }
        if (p->floor < least)
            p->floor = least < p->limit ? least : p->limit;
    }
}
