/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/log_pace.h"

void log_pace_start(struct log_pace *p, double now)
{
    *p = (struct log_pace){.said = now};
}

static double gap_of(const struct log_pace *p)
{
    static const double gap[] = {10, 20, 30};

    return p->waited < sizeof gap / sizeof gap[0] ? gap[p->waited] : 60;
}

int log_pace_due(struct log_pace *p, double now)
{
    if (now - p->said < gap_of(p))
        return 0;
    p->waited++;
    p->said = now;
    return 1;
}

int log_pace_frame(struct log_pace *p, double now)
{
    if (p->frames >= LOG_PACE_FRAMES)
        return log_pace_due(p, now);
    p->frames++;
    p->said = now;
    return 1;
}
