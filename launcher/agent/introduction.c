/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/introduction.h"
#include "launcher/base/sysfs.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN "EVENSTEP_PLUGIN" /* the plugin sets it: it is loaded here */

void introduction_here(struct writer *w, const struct peers *p)
{
    const struct msg_here m = {
        .rank = p->wireup.rank, .agents = p->wireup.size, .endpoint = p->mine};

    msg_write_here(w, &m);
}

static uint32_t count_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0
               ? (uint32_t)CPU_COUNT(&set)
               : 0;
}

static void read_boot_id(char id[BOOT_ID_MAX])
{
    char line[SYSFS_LINE];

    id[0] = '\0';
    if (sysfs_read(line, "/proc/sys/kernel/random/boot_id") == 0
        && strlen(line) < BOOT_ID_MAX)
        memcpy(id, line, strlen(line) + 1);
}

void introduction_ready(struct writer *w, const struct peers *p)
{
    struct msg_ready m = {.rank = p->wireup.rank,
                          .agents = p->wireup.size,
                          .job = p->setup->job,
                          .step = p->setup->step,
                          .cpus = count_cpus(),
                          .has_plugin = getenv(PLUGIN) != NULL,
                          .adapter = p->adapter};

    snprintf(m.node, sizeof m.node, "%s", p->setup->node);
    snprintf(m.rack, sizeof m.rack, "%s", p->setup->rack);
    read_boot_id(m.boot_id);
    msg_write_ready(w, &m);
}
