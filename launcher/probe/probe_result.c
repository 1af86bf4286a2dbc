/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *unit;
} words[ELEMENTS] = {
    [ELEMENT_C] = {"CPU", "Gop/s"},
    [ELEMENT_M] = {"memory", "GB/s"},
    [ELEMENT_I] = {"interconnect", "Gbit/s"},
    [ELEMENT_B] = {"bus", "GB/s"},
    [ELEMENT_S] = {"storage", "MB/s"},
    [ELEMENT_G] = {"GPU", "GB/s"},
    /* of which no node has told its name */
    [ELEMENT_SITE] = {"element W", ""},
    [ELEMENT_SITE + 1] = {"element X", ""},
    [ELEMENT_SITE + 2] = {"element Y", ""},
    [ELEMENT_SITE + 3] = {"element Z", ""},
};

const char *probe_name(const struct probe_result *r, enum element e)
{
    return r->name[0] ? r->name : words[e].name;
}

const char *probe_unit(const struct probe_result *r, enum element e)
{
    return r->name[0] ? r->unit : words[e].unit;
}

double probe_amount(const struct probe_result *r)
{
    if (r->state != PROBE_MEASURED)
        return (double)NAN;
    return r->less ? 1 / r->value : r->value;
}

static int is_printable(char c)
{
    return (unsigned char)c >= ' ' && c != 127;
}

int probe_is_label(const char *text, size_t size)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++)
        if (!is_printable(text[i]))
            return 0;
    return len > 0 && len < size;
}

/* Text from outside, such as the name of a card, must stay on one line. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (!is_printable(*text))
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
    r->value = r->spread = r->compute = 0;
    va_start(ap, fmt);
    (void)vsnprintf(r->what, sizeof r->what, fmt, ap); /* may be cut */
    va_end(ap);
    make_printable(r->what);
}

void probe_publish(const struct probe_setup *setup,
                   const struct probe_result *r)
{
    if (!setup->early)
        return;
    atomic_store(&setup->early->known, 0);
    setup->early->result = *r;
    atomic_store(&setup->early->known, 1);
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
    if (!is_amount(r->value) || !is_amount(r->spread) || !is_amount(r->seconds)
        || !is_amount(r->compute))
        return 0;
    if (r->state != PROBE_MEASURED && (r->value > 0 || r->compute > 0))
        return 0;
    if (r->state == PROBE_MEASURED && r->less && !isnormal(1 / r->value))
        return 0;
    for (size_t i = 0; i < len; i++)
        if (!is_printable(r->what[i]))
            return 0;
    return len < sizeof r->what;
}
