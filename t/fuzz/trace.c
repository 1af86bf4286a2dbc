/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a line of a trace: refused with its reason and nothing kept, or
 * an event within the bounds that the policies rely on. */
#include "launcher/whatif/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_sound_frame(const struct trace_line *line)
{
    int64_t rest = INT64_MAX;

    for (size_t i = 0; i < line->n; i++) {
        const struct trace_slice *s = &line->slice[i];

        if (s->units < 1 || s->units > rest || !s->node || !isfinite(s->seconds)
            || s->seconds < 0)
            return 0;
        rest -= s->units;
    }
    for (size_t i = 0; i < line->n_failed; i++)
        if (line->failed[i].units < 1 || !line->failed[i].node)
            return 0;
    return 1;
}

static int is_sound(const struct trace_line *line)
{
    const struct trace_event *e = &line->event;

    switch (e->op) {
    case TRACE_FRAME:
        return is_sound_frame(line);
    case TRACE_OPEN:
        return e->channel >= 1 && e->channel <= TRACE_CHANNELS_MAX;
    case TRACE_ADD_CHANNEL:
        return e->channel < TRACE_CHANNELS_MAX
               || e->channel == TRACE_CHANNEL_NEW;
    case TRACE_FEEDBACK:
        if (e->tasks > 0 && !(e->time_ns >= 0))
            return 0;
        break;
    default:
        break;
    }
    return e->channel < TRACE_CHANNELS_MAX && e->tasks >= INT32_MIN
           && e->tasks <= INT32_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct trace_line nothing = {0};
    struct trace_line line;
    struct es_error err = {0};
    int rc = trace_parse(&line, 1, (const char *)data, size, &err);

    if (rc == 0 ? !is_sound(&line) || err.kind != ES_OK
                : memcmp(&line, &nothing, sizeof line) != 0 || !err.what[0]
                      || !err.mend[0])
        abort();
    trace_clear(&line);
    return 0;
}
