/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/slice_meter.h"
#include "launcher/meter/group_cpu.h"

#include <event2/event.h>
#include <stdlib.h>

#define OUTPUT_MS 50  /* as often as the front end looks who is late */
#define CPU_MS    250 /* a look at every process there is */

struct slice_meter {
    struct outside_meter meter;
    struct event *timer;
    struct timeval period;
    slice_meter_fn fn;
    void *arg;
    pid_t group; /* of the slice that runs; 0: none */
    double used; /* by the group, before it */
    struct msg_metered told;
};

static double used_so_far(const struct slice_meter *a)
{
    return group_cpu_seconds("/proc", a->group);
}

static void on_meter_time(evutil_socket_t fd, short what, void *arg)
{
    struct slice_meter *a = arg;

    (void)fd;
    (void)what;
    if (a->meter.kind == OUTSIDE_CPU)
        outside_meter_cpu(&a->meter, used_so_far(a) - a->used);
    if (a->meter.fraction == a->told.fraction
        && a->meter.misuse == a->told.misuse)
        return;
    a->told.fraction = a->meter.fraction;
    a->told.misuse = a->meter.misuse;
    a->fn(a->arg, &a->told);
}

struct slice_meter *slice_meter_open(struct event_base *base,
                                     const struct msg_meter *order,
                                     slice_meter_fn fn,
                                     void *arg)
{
    uint32_t ms = order->kind == OUTSIDE_CPU ? CPU_MS : OUTPUT_MS;
    struct slice_meter *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    a->fn = fn;
    a->arg = arg;
    if (ms < order->record_ms)
        ms = order->record_ms;
    a->period = (struct timeval){ms / 1000, ms % 1000 * 1000};
    if (outside_meter_init(&a->meter, (enum outside_kind)order->kind,
                           order->pattern)
        == 0)
        a->timer = event_new(base, -1, EV_PERSIST, on_meter_time, a);
    if (a->timer)
        return a;
    slice_meter_close(a);
    return NULL;
}

void slice_meter_close(struct slice_meter *a)
{
    if (!a)
        return;
    if (a->timer)
        event_free(a->timer);
    outside_meter_clear(&a->meter);
    free(a);
}

void slice_meter_begin(struct slice_meter *a,
                       const struct msg_run *slice,
                       pid_t group)
{
    if (!a)
        return;
    outside_meter_begin(&a->meter, slice->end - slice->begin);
    a->told = (struct msg_metered){.id = slice->id, .misuse = a->meter.misuse};
    a->group = group;
    if (a->meter.kind == OUTSIDE_CPU)
        a->used = used_so_far(a);
    (void)event_add(a->timer, &a->period); /* else there is no news of it */
}

void slice_meter_read(struct slice_meter *a,
                      enum outside_stream stream,
                      const void *text,
                      size_t len)
{
    if (a)
        outside_meter_read(&a->meter, stream, text, len);
}

void slice_meter_end(struct slice_meter *a, int well, double cpu_s)
{
    if (!a)
        return;
    (void)event_del(a->timer); /* as event_add() */
    if (a->meter.kind == OUTSIDE_CPU)
        outside_meter_cpu(&a->meter,
                          cpu_s < 0 ? used_so_far(a) - a->used : cpu_s);
    if (well)
        outside_meter_end(&a->meter);
}
