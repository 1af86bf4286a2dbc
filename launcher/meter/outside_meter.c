/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/meter/outside_meter.h"
#include "launcher/base/number.h"

#include <math.h>
#include <string.h>

#define GROUPS      3  /* the whole match, and two */
#define NUMBER_MAX  32 /* bytes of a number, NUL included */
#define NUMBER_MOST 1e18
/* An estimate from other slices cannot say that this one is done. */
#define CPU_MOST 0.99

int outside_pattern_check(const char *pattern, struct es_error *err)
{
    static const char mend[] = "give an extended regular expression with one "
                               "or two groups, as in 'row ([0-9]+) of "
                               "([0-9]+)'";
    char why[100];
    regex_t regex;
    size_t groups;
    int rc = regcomp(&regex, pattern, REG_EXTENDED);

    if (rc != 0) {
        (void)regerror(rc, &regex, why, sizeof why);
        return es_fail(err, ES_USAGE, mend, "--meter: \"%s\": %s", pattern,
                       why);
    }
    groups = regex.re_nsub;
    regfree(&regex);
    if (groups == 1 || groups == 2)
        return 0;
    return es_fail(err, ES_USAGE, mend, "--meter: \"%s\" has %zu groups",
                   pattern, groups);
}

int outside_meter_init(struct outside_meter *m,
                       enum outside_kind kind,
                       const char *pattern)
{
    memset(m, 0, sizeof *m);
    if (kind == OUTSIDE_OUTPUT
        && (outside_pattern_check(pattern, NULL) < 0
            || regcomp(&m->pattern, pattern, REG_EXTENDED) != 0))
        return -1;
    m->kind = kind;
    return 0;
}

void outside_meter_clear(struct outside_meter *m)
{
    if (m->kind == OUTSIDE_OUTPUT)
        regfree(&m->pattern);
    memset(m, 0, sizeof *m);
}

void outside_meter_begin(struct outside_meter *m, uint64_t units)
{
    m->units = units;
    m->fraction = 0;
    m->cpu_s = 0;
    for (int i = 0; i < OUTSIDE_STREAMS; i++)
        m->line[i].len = 0;
}

/* --- what is printed ------------------------------------------------------ */

static int read_group(const char *line, const regmatch_t *at, double *value)
{
    char text[NUMBER_MAX];
    size_t len = (size_t)(at->rm_eo - at->rm_so);

    if (at->rm_so < 0 || len >= sizeof text)
        return -1;
    memcpy(text, line + at->rm_so, len);
    text[len] = '\0';
    return number_parse_double(text, 0, NUMBER_MOST, value);
}

/* The fraction that a line says, above 1 if it makes no sense; -1 if it says
 * none. */
static double fraction_of(const struct outside_meter *m, const char *line)
{
    regmatch_t at[GROUPS];
    double done, total = 1;

    if (regexec(&m->pattern, line, GROUPS, at, 0) != 0
        || read_group(line, &at[1], &done) < 0)
        return -1;
    if (m->pattern.re_nsub == 2) {
        if (read_group(line, &at[2], &total) < 0)
            return -1;
    } else if (line[at[1].rm_eo] == '%') {
        total = 100;
    }
    return total > 0 ? done / total : (double)INFINITY;
}

static void end_line(struct outside_meter *m, struct outside_line *line)
{
    double fraction;

    line->text[line->len] = '\0';
    line->len = 0;
    fraction = fraction_of(m, line->text);
    if (fraction < 0)
        return;
    if (fraction > 1 || fraction < m->fraction)
        m->misuse++;
    else
        m->fraction = fraction;
}

void outside_meter_read(struct outside_meter *m,
                        enum outside_stream stream,
                        const char *text,
                        size_t len)
{
    struct outside_line *line = &m->line[stream];

    if (m->kind != OUTSIDE_OUTPUT)
        return;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n' || text[i] == '\r')
            end_line(m, line);
        else if (line->len < sizeof line->text - 1)
            line->text[line->len++] = text[i];
    }
}

/* --- CPU time ------------------------------------------------------------- */

void outside_meter_cpu(struct outside_meter *m, double seconds)
{
    double unit;

    if (m->kind != OUTSIDE_CPU)
        return;
    m->cpu_s = fmax(m->cpu_s, seconds);
    if (m->units_before <= 0 || m->cpu_before <= 0 || m->units == 0)
        return;
    unit = m->cpu_before / m->units_before;
    m->fraction = fmin(m->cpu_s / (unit * (double)m->units), CPU_MOST);
}

void outside_meter_end(struct outside_meter *m)
{
    m->cpu_before += m->cpu_s;
    m->units_before += (double)m->units;
    m->fraction = 1;
}
