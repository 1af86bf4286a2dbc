/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/check_metrics.h"
#include "launcher/base/out_file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define POWER "/run/evenstep/power" /* a socket "@..." and a state a step */

/* Processes with that name, which has at most 15 bytes: proc(5), "comm". */
static unsigned count_processes(const char *name)
{
    DIR *proc = opendir("/proc");
    const struct dirent *d;
    unsigned count = 0;

    while (proc && (d = readdir(proc)) != NULL) {
        char path[300], comm[32] = "";
        FILE *f;

        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%s/comm", d->d_name);
        f = fopen(path, "re");
        if (!f)
            continue; /* it has gone */
        if (fgets(comm, sizeof comm, f)) {
            comm[strcspn(comm, "\n")] = '\0';
            count += strcmp(comm, name) == 0;
        }
        (void)fclose(f); /* only read */
    }
    if (proc)
        (void)closedir(proc);
    return count;
}

/* Steps whose limits are, or may be, in force. */
static unsigned count_states(void)
{
    DIR *dir = opendir(POWER);
    const struct dirent *d;
    unsigned count = 0;

    while (dir && (d = readdir(dir)) != NULL)
        count += d->d_name[0] != '.' && d->d_name[0] != '@';
    if (dir)
        (void)closedir(dir);
    return count;
}

static void print_gauge(FILE *out,
                        const char *name,
                        const char *help,
                        unsigned v)
{
    fprintf(out, "# HELP evenstep_%s %s\n# TYPE evenstep_%s gauge\n", name,
            help, name);
    fprintf(out, "evenstep_%s %u\n", name, v);
}

/* A label's value: `\`, `"` and newlines are escaped. */
static void print_label(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\\' || *text == '"')
            fprintf(out, "\\%c", *text);
        else
            fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
}

/* All of them, so that none begins when it is not 0. */
static void print_reasons(FILE *out, const struct check_node *c)
{
    static const char *const reason[CHECK_REASONS] = {[CHECK_CONFIG] =
                                                          "configuration",
                                                      [CHECK_AGENT] = "agent",
                                                      [CHECK_SHM] = "shm",
                                                      [CHECK_RUN] = "run",
                                                      [CHECK_GPU] = "gpu",
                                                      [CHECK_PORTS] = "ports"};

    fprintf(out, "# HELP evenstep_node_faults Faults for each reason.\n"
                 "# TYPE evenstep_node_faults gauge\n");
    for (int i = 0; i < CHECK_REASONS; i++)
        fprintf(out, "evenstep_node_faults{reason=\"%s\"} %u\n", reason[i],
                c->by_reason[i]);
}

static int print(FILE *out, const void *arg)
{
    const struct check_node *c = arg;

    print_gauge(out, "node_well", "1: evenstep check finds no fault.",
                c->n == 0);
    fprintf(out, "# HELP evenstep_node_fault What evenstep check finds.\n"
                 "# TYPE evenstep_node_fault gauge\n");
    for (uint32_t i = 0; i < c->n; i++) {
        fprintf(out, "evenstep_node_fault{fault=\"");
        print_label(out, c->fault[i]);
        fprintf(out, "\"} 1\n");
    }
    print_reasons(out, c);
    print_gauge(out, "node_agents", "Agents that run on the node.",
                count_processes("evenstep-agent"));
    print_gauge(out, "node_guards", "Guards of power that run on the node.",
                count_processes("evenstep-power"));
    print_gauge(out, "node_limited_steps",
                "Steps on the node whose power may be limited.",
                count_states());
    fprintf(out,
            "# HELP evenstep_node_info The release.\n"
            "# TYPE evenstep_node_info gauge\n"
            "evenstep_node_info{version=\"%s\"} 1\n",
            c->version);
    return 0;
}

int check_metrics_write(const struct check_node *c,
                        const char *path,
                        struct es_error *err)
{
    return out_file_write("--metrics", path, print, c, err);
}
