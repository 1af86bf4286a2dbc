/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/rank_speed.h"

static void read_regions(struct rank_speed *s,
                         const struct meter_rank *rank,
                         uint64_t regions)
{
    struct meter_region region[METER_RING] = {{0}};
    size_t n = 0;

    if (regions == s->next)
        return;
    if (regions > s->next)
        n = meter_rank_regions(rank, s->next, region);
    else
        s->from = regions + 1; /* another program has begun */
    for (size_t i = 0; i < n; i++)
        if (region[i].number >= s->from) {
            s->done++;
            s->work_ns += (double)region[i].useful_ns;
        }
    s->next = regions;
}

static void begin_outside(struct rank_speed *s, uint64_t regions)
{
    s->is_outside = 1;
    s->next = regions;
    rank_speed_start(s);
}

static void begin_thread(struct rank_speed *s, const struct meter_thread *now)
{
    s->is_thread = 1;
    s->leader = now->leader;
    s->next = now->regions;
    rank_speed_start(s);
}

static void read_thread(struct rank_speed *s, const struct meter_thread *now)
{
    if (!s->is_thread || now->leader != s->leader || now->regions < s->next
        || now->useful_ns < s->last.useful_ns)
        begin_thread(s, now);
    s->last = *now;
    s->next = now->regions;
    if (!s->is_marked && now->regions >= s->from) {
        s->is_marked = 1;
        s->mark = *now;
    }
    if (s->is_marked) {
        s->done = (double)(now->regions - s->mark.regions);
        s->work_ns = (double)(now->useful_ns - s->mark.useful_ns);
    }
}

static void note_ends(struct rank_speed *s, uint64_t regions, int64_t now_ns)
{
    if (regions > s->regions && s->first_end_ns != 0)
        s->ends += regions - s->regions;
    else if (regions > s->regions)
        s->first_end_ns = now_ns;
    if (regions > s->regions)
        s->last_end_ns = now_ns;
    s->regions = regions;
}

enum meter_change rank_speed_update(struct rank_speed *s,
                                    const struct meter_page *page,
                                    uint32_t i,
                                    int64_t now_ns,
                                    uint64_t elapsed_ns)
{
    enum meter_change change = METER_STILL;
    struct meter_sample sample;
    struct meter_time time;
    struct meter_thread thread;
    int is_rank = meter_rank_read(&page->rank[i], &time),
        is_thread = meter_thread_read(page, i, &thread);

    if (meter_slot_read(&page->slot[i], &sample) == 0)
        change = meter_track_update(&s->track, &sample, elapsed_ns);
    if (is_rank < 0 || is_thread < 0)
        return change;
    s->is_thread = s->is_thread && is_thread;
    if (is_thread)
        read_thread(s, &thread);
    if (is_rank == 0)
        s->is_outside = 0;
    else if (!s->is_outside || change == METER_ANOTHER)
        begin_outside(s, time.regions);
    else
        read_regions(s, &page->rank[i], time.regions);
    note_ends(s, s->is_outside || s->is_thread ? s->next : s->track.regions,
              now_ns);
    return change;
}

void rank_speed_start(struct rank_speed *s)
{
    meter_track_start(&s->track);
    s->from = s->next + 1;
    s->is_marked = 0;
    s->done = s->work_ns = 0;
    s->ends = 0;
    s->first_end_ns = s->last_end_ns = 0;
}

int rank_speed_is_used(const struct rank_speed *s)
{
    return meter_track_is_used(&s->track)
           || (s->track.owner != 0 && s->is_thread);
}

double rank_speed_done(const struct rank_speed *s)
{
    return s->is_outside || s->is_thread ? s->done : s->track.progress;
}

double rank_speed_work_ns(const struct rank_speed *s)
{
    return s->is_outside || s->is_thread ? s->work_ns
                                         : (double)s->track.work_ns;
}

double rank_speed_region_ns(const struct rank_speed *s)
{
    return s->ends > 0
               ? (double)(s->last_end_ns - s->first_end_ns) / (double)s->ends
               : 0;
}
