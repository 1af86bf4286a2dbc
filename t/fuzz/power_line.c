/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any packet as the guard's: what the agent makes of it can be sent to the
 * front end, which takes it.  And as the agent's or the plugin's to the guard:
 * no number, or one within its range.  What is said of parts is taken as it can
 * be written again, or refused whole.
 */
#include "launcher/wire/power_line.h"
#include "launcher/base/number.h"
#include "launcher/power/power_link.h"

#include <stdlib.h>
#include <string.h>

#define IN_FORCE 70

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static int is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 32 || *text == 127)
            return 0;
    return 1;
}

static void tell(const struct power_line *line)
{
    struct msg_power power;
    struct msg_limited limited;
    struct msg_energy energy;
    struct writer w = {0};

    if (line->kind == POWER_LINE_POWER) {
        must(is_plain(line->power.actuator) && is_plain(line->power.unit));
        must(line->limit == line->power.limit);
        msg_write_power(&w, &line->power);
        must(w.bad || msg_read_power(&power, w.buf, w.len) == 0);
    } else if (line->kind == POWER_LINE_ENERGY) {
        must(is_plain(line->energy.text));
        msg_write_energy(&w, &line->energy);
        must(w.bad || msg_read_energy(&energy, w.buf, w.len) == 0);
    } else {
        must(is_plain(line->limited.text));
        must(line->limit == line->limited.limit);
        msg_write_limited(&w, &line->limited);
        must(w.bad || msg_read_limited(&limited, w.buf, w.len) == 0);
    }
    writer_clear(&w);
}

static void tell_parts(const char *text)
{
    static struct node_parts parts, again;
    static char line[2 * POWER_PACKET_MAX];

    if (parts_line_read(&parts, text) < 0) {
        must(parts.n == 0 && parts.tasks == 0);
        return;
    }
    must(parts.n <= PARTS_MAX && parts.tasks <= PART_TASKS_MAX);
    for (size_t i = 0; i < parts.n; i++)
        must(power_part_is_valid(&parts.part[i]));
    for (size_t i = 0; i < parts.tasks; i++)
        must(parts.task[i].pid >= 2 && parts.task[i].part < parts.n);
    if (parts.rule.gain < 1e-9)
        return; /* would be written as 0 */
    must(parts_line_write(&parts, line, sizeof line) == 0);
    must(parts_line_read(&again, line) == 0 && again.n == parts.n
         && again.tasks == parts.tasks);
}

static void tell_order(const char *text)
{
    uint64_t limit, part[PARTS_MAX];
    int n = order_line_read(text, &limit, part);

    must(n <= PARTS_MAX);
    must(n < 0 || (text[0] >= '0' && text[0] <= '9'));
}

static void tell_threads(const char *text)
{
    static pid_t thread[PART_TASKS_MAX];
    int n = threads_line_read(text, thread);

    must(n <= PART_TASKS_MAX && (n < 0 || threads_line_is(text)));
    for (int i = 0; i < n; i++)
        must(thread[i] >= 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t len = size < POWER_PACKET_MAX - 1 ? size : POWER_PACKET_MAX - 1;
    char *text = malloc(len + 1);
    struct power_line line;
    uint64_t limit;
    int64_t pid;

    if (!text || size == 0) {
        free(text);
        return 0;
    }
    memcpy(text, data, len);
    text[len] = '\0';
    power_line_read(&line, text, IN_FORCE);
    tell(&line);
    tell_parts(text);
    tell_order(text);
    tell_threads(text);
    if (number_parse_u64(text, &limit) == 0)
        must(text[0] >= '0' && text[0] <= '9');
    if (number_parse_int(text, 2, INT32_MAX, &pid) == 0)
        must(pid >= 2 && pid <= INT32_MAX);
    free(text);
    return 0;
}
