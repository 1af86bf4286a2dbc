/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of cores, on a node of two cores with two threads each. */
#include "launcher/power/whole_node.h"
#include "tap.h"

#include <sys/stat.h>

static char sysfs[] = "/tmp/whole_node.XXXXXX";

static void make_cpu(unsigned i, const char *siblings)
{
    char path[200];
    FILE *file;

    snprintf(path, sizeof path, "mkdir -p %s/devices/system/cpu/cpu%u/topology",
             sysfs, i);
    if (system(path) != 0)
        bail("%s", path);
    snprintf(path, sizeof path,
             "%s/devices/system/cpu/cpu%u/topology/thread_siblings_list", sysfs,
             i);
    file = fopen(path, "w");
    if (!file || fprintf(file, "%s\n", siblings) < 0 || fclose(file) != 0)
        bail("%s", path);
}

int main(void)
{
    static const struct {
        const char *cores, *message; /* NULL: it is whole */
    } rows[] = {
        {"0-1", NULL},
        {"0,1", NULL},
        {"0-3", NULL}, /* Slurm may be told of more than there are */
        {"0", "other jobs may be on this node, of whose 2 cores this one has "
              "1"},
        {"1-1", "of whose 2 cores this one has 1"},
        {NULL, "cannot find out"},
        {"", "cannot find out"},
        {"x", "cannot find out"},
        {"0-", "cannot find out"},
        {"0-1,", "cannot find out"},
        {",0-1", "cannot find out"},
        {"1-0", "cannot find out"},
        {"0-1 ", "cannot find out"},
        {"0-99999", "cannot find out"},
        {"0-4294967297", "cannot find out"},
    };
    char command[100];

    if (!mkdtemp(sysfs))
        bail("no directory");
    ok(whole_node_check(sysfs, "0-1", NULL) < 0,
       "a node without CPUs is nobody's");
    make_cpu(0, "0,2");
    make_cpu(1, "1,3");
    make_cpu(2, "0,2");
    make_cpu(3, "1,3");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct es_error err = {0};
        int rc = whole_node_check(sysfs, rows[i].cores, &err);

        ok(rows[i].message ? rc < 0 && err.kind == ES_ENV
                                 && strstr(err.what, rows[i].message)
                           : rc == 0,
           "%s: %s", rows[i].cores ? rows[i].cores : "not told",
           rc < 0 ? err.what : "whole");
    }
    snprintf(command, sizeof command, "rm -r %s", sysfs);
    return system(command) == 0 ? done() : 1;
}
