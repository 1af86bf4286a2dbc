/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/tally.h"

#include <math.h>
#include <string.h>

void tally_start(struct tally *t, uint64_t frames, uint64_t units, double now)
{
    memset(t, 0, sizeof *t);
    t->frames = frames;
    t->units = units;
    t->still = now;
    t->idle = now; /* so that idle time and time at work begin with 0 */
}

void tally_begin(struct tally *t,
                 uint64_t number,
                 uint64_t units,
                 uint64_t before,
                 double now)
{
    if (t->open == 0)
        t->idle += now - t->still;
    if (t->frames > 0 && number > t->next)
        t->before += (number - t->next) * t->units;
    t->ended += number - t->next;
    t->next = number + 1;
    t->before += before;
    t->open++;
    t->open_units += units;
    t->open_done += before;
}

void tally_grow(struct tally *t, uint64_t units)
{
    t->units += units;
    t->open_units += units;
}

void tally_units(struct tally *t, uint64_t units, double now)
{
    t->done += units;
    t->open_done += units;
    t->worked = fmax(0, now - t->idle);
}

void tally_end(struct tally *t, uint64_t units, double now)
{
    t->ended++;
    t->open--;
    t->open_units -= units;
    t->open_done -= units;
    t->still = now;
}

/* Between two answers the time left runs down.  If it is over before the next
 * one comes, the rate was too high: it sinks until there is one. */
static void estimate(const struct tally *t, struct tally_now *s, double now)
{
    double until = t->open > 0 ? now : t->still;
    double since = fmax(0, until - t->idle - t->worked);

    if (t->done == 0 || !(t->worked > 0))
        return;
    s->rate = (double)t->done / t->worked;
    s->left = (double)(s->all - s->done) / s->rate - since;
    if (s->left < 0) {
        s->rate = (double)t->done / (t->worked + since);
        s->left = (double)(s->all - s->done) / s->rate;
    }
}

/* What is underway counts for the rate, but is not done. */
static void by_underway(const struct tally *t,
                        struct tally_now *s,
                        double underway,
                        double now)
{
    s->rate = ((double)t->done + underway) / (now - t->idle);
    s->left = fmax((double)(s->all - s->done) - underway, 0) / s->rate;
}

struct tally_now tally_now(const struct tally *t, double underway, double now)
{
    struct tally_now s = {.frame = t->ended, .frames = t->frames};

    if (t->frames > 0) {
        s.all = t->frames * t->units;
        s.done = t->before + t->done;
    } else {
        s.all = t->open_units;
        s.done = t->open_done;
    }
    if (s.done > s.all)
        s.done = s.all;
    s.left = -1;
    if (t->open > 0 && underway > 0 && now > t->idle)
        by_underway(t, &s, underway, now);
    else
        estimate(t, &s, now);
    return s;
}
