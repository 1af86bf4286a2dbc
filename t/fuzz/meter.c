/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as slots of a page, one after another as samples of one thread:
 * what the agent makes of them is sound. */
#include "launcher/meter/meter_track.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct meter_track *t)
{
    if (!(t->fraction >= 0 && t->fraction <= 1) || !isfinite(t->progress)
        || t->progress < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct meter_track track = {0};
    static struct meter_page page;

    if (size >= offsetof(struct meter_page, slot)) {
        memcpy(&page, data, offsetof(struct meter_page, slot));
        if (meter_page_slots(&page) > METER_SLOTS)
            abort();
    }
    for (; size >= 44; data += 44, size -= 44) {
        struct meter_sample sample;

        memcpy(&page.slot[0], data, 44);
        if (meter_slot_read(&page.slot[0], &sample) < 0)
            continue;
        (void)meter_track_update(&track, &sample, 10000000);
        check(&track);
    }
    return 0;
}
