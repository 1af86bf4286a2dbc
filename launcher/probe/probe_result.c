/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *unit;
} words[ELEMENTS] = {
    [ELEMENT_C] = {"CPU", "Gop/s"},           [ELEMENT_M] = {"memory", "GB/s"},
    [ELEMENT_I] = {"interconnect", "Gbit/s"}, [ELEMENT_B] = {"bus", "GB/s"},
    [ELEMENT_S] = {"storage", "MB/s"},        [ELEMENT_G] = {"GPU", "GB/s"},
};

const char *probe_name(enum element e)
{
    return words[e].name;
}

const char *probe_unit(enum element e)
{
    return words[e].unit;
}

/* Text from outside, such as the name of a card, must stay on one line. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

void probe_measured(
    struct probe_result *r, double value, double spread, const char *fmt, ...)
{
    va_list ap;

    if (!isfinite(value) || value < 0 || !isfinite(spread) || spread < 0) {
        probe_not_measured(r, "the result is no number");
        return;
    }
    r->state = PROBE_MEASURED;
    r->value = value;
    r->spread = spread;
    va_start(ap, fmt);
    (void)vsnprintf(r->what, sizeof r->what, fmt, ap); /* may be cut */
    va_end(ap);
    make_printable(r->what);
}

void probe_not_measured(struct probe_result *r, const char *fmt, ...)
{
    va_list ap;

    r->state = PROBE_NOT_MEASURED;
    r->value = r->spread = 0;
    va_start(ap, fmt);
    (void)vsnprintf(r->what, sizeof r->what, fmt, ap); /* may be cut */
    va_end(ap);
    make_printable(r->what);
}

static int is_amount(double x)
{
    return isfinite(x) && x >= 0;
}

int probe_result_holds(const struct probe_result *r)
{
    size_t len = strnlen(r->what, sizeof r->what);

    if (r->state != PROBE_LEFT_OUT && r->state != PROBE_MEASURED
        && r->state != PROBE_NOT_MEASURED)
        return 0;
    if (!is_amount(r->value) || !is_amount(r->spread) || !is_amount(r->seconds))
        return 0;
    if (r->state != PROBE_MEASURED && r->value > 0)
        return 0;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)r->what[i] < ' ' || r->what[i] == 127)
            return 0;
    return len < sizeof r->what;
}
