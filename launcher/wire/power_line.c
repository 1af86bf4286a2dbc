/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/power_line.h"
#include "launcher/base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void copy_why(char out[TEXT_MAX], const char *why)
{
    snprintf(out, TEXT_MAX, "%s", why);
    for (char *p = out; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127)
            *p = '?';
}

/* "ACTUATOR UNIT LIMIT FLOOR CEILING" */
static int read_power(struct msg_power *m, const char *text)
{
    char limit[24], floor[24], ceiling[24];
    int end = 0;

    if (sscanf(text, "%15s %15s %23s %23s %23s%n", m->actuator, m->unit, limit,
               floor, ceiling, &end)
            != 5
        || text[end] || number_parse_u64(limit, &m->limit) < 0
        || number_parse_u64(floor, &m->floor) < 0
        || number_parse_u64(ceiling, &m->ceiling) < 0)
        return -1;
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127)
            return -1;
    return m->floor == 0 || m->floor > m->limit || m->limit > m->ceiling
                   || m->ceiling > POWER_LIMIT_MAX
               ? -1
               : 0;
}

static void read_power_line(struct power_line *line, const char *text)
{
    line->kind = POWER_LINE_POWER;
    if (read_power(&line->power, text) == 0) {
        line->limit = line->power.limit;
        return;
    }
    line->power = (struct msg_power){.limit = 0};
    copy_why(line->power.unit, "evenstep-power is of another version");
}

/* A line that is neither "set" nor "error" leaves the limit as it is. */
static void read_limited_line(struct power_line *line, const char *text)
{
    uint64_t limit;

    line->kind = POWER_LINE_LIMITED;
    if (strncmp(text, "set ", 4) == 0 && number_parse_u64(text + 4, &limit) == 0
        && limit <= POWER_LIMIT_MAX)
        line->limit = limit;
    else if (strncmp(text, "error ", 6) == 0)
        copy_why(line->limited.text, text + 6);
    line->limited.limit = line->limit;
}

/* "UJ NS"; what is neither is no energy. */
static void read_energy_line(struct power_line *line, const char *text)
{
    char uj[24], ns[24];
    int end = 0;

    line->kind = POWER_LINE_ENERGY;
    if (sscanf(text, "%23s %23s%n", uj, ns, &end) == 2 && !text[end]
        && number_parse_u64(uj, &line->energy.uj) == 0
        && number_parse_u64(ns, &line->energy.ns) == 0
        && line->energy.uj <= INT64_MAX / 10
        && line->energy.ns <= INT64_MAX / 10)
        return;
    line->energy = (struct msg_energy){.source = ENERGY_NONE};
    copy_why(line->energy.text, "evenstep-power is of another version");
}

void power_line_read(struct power_line *line, const char *text, uint64_t limit)
{
    memset(line, 0, sizeof *line);
    if (strncmp(text, "power ", 6) == 0) {
        read_power_line(line, text + 6);
    } else if (strncmp(text, "off ", 4) == 0) {
        line->kind = POWER_LINE_POWER;
        copy_why(line->power.unit, text + 4);
    } else if (strncmp(text, "energy ", 7) == 0) {
        line->limit = limit;
        read_energy_line(line, text + 7);
    } else if (strncmp(text, "noenergy ", 9) == 0) {
        line->limit = limit;
        line->kind = POWER_LINE_ENERGY;
        line->energy.source = ENERGY_NONE;
        copy_why(line->energy.text, text + 9);
    } else {
        line->limit = limit;
        read_limited_line(line, text);
    }
}
