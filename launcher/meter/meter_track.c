/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/meter_track.h"

int meter_track_is_used(const struct meter_track *track)
{
    return track->owner != 0 && track->regions > 0;
}

int meter_track_works(const struct meter_track *track)
{
    return meter_track_is_used(track) && track->fraction < 1;
}

void meter_track_start(struct meter_track *track)
{
    track->progress = 0;
    track->work_ns = 0;
}

/* A region that ends before its total was reached counts as done. */
static double advance(const struct meter_track *t, const struct meter_sample *s)
{
    return (double)(s->regions - t->regions) + s->fraction - t->fraction;
}

static int starts_over(const struct meter_track *t,
                       const struct meter_sample *s)
{
    return s->owner != t->owner || s->regions < t->regions
           || (s->regions == t->regions && s->fraction < t->fraction)
           || (s->regions > 0 && t->regions == 0);
}

static enum meter_change start_over(struct meter_track *t,
                                    const struct meter_sample *s)
{
    int was_used = meter_track_is_used(t);

    *t = (struct meter_track){.owner = s->owner,
                              .regions = s->regions,
                              .fraction = s->fraction,
                              .misuse = s->misuse};
    return was_used || meter_track_is_used(t) ? METER_ANOTHER : METER_STILL;
}

enum meter_change meter_track_update(struct meter_track *t,
                                     const struct meter_sample *s,
                                     uint64_t elapsed_ns)
{
    int did_work = meter_track_works(t);
    double done;

    if (starts_over(t, s))
        return start_over(t, s);
    done = advance(t, s);
    t->regions = s->regions;
    t->fraction = s->fraction;
    t->misuse = s->misuse;
    t->progress += done;
    t->work_ns += elapsed_ns / 2 * (uint64_t)did_work
                  + elapsed_ns / 2 * (uint64_t)meter_track_works(t);
    return done > 0 || did_work != meter_track_works(t) ? METER_MOVED
                                                        : METER_STILL;
}
