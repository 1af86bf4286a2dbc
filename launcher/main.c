/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep: the front end.  One table of subcommands, one file for each.
 */
#include "launcher/commands.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv, struct es_error *err);
    const char *help; /* NULL: not for people */
} commands[] = {
    {"run", command_run, "run CMD over a range of units on all nodes, evenly"},
    {"bcast", command_bcast, "copy a file to every node of the allocation"},
    {"probe", command_probe, "what this node, or every node, can do"},
    {"plan", command_plan, "shares of the nodes by what they measured"},
    {"replay", command_replay, "sizes that a policy would choose, by a trace"},
    {"simulate", command_simulate, "what-if at sizes that nobody has at hand"},
    {"report", command_report, "what a run's --report file tells"},
    {"conntable", command_conntable, "print a step's connection table"},
    {"graph", command_graph, "schedule a task graph, with energy in mind"},
    {"top", command_top, "how the nodes of running steps stand"},
    {"config", command_config, "print the configuration that is in force"},
    {"attend", command_attend, NULL},
};

static int help(void)
{
    printf("usage: evenstep COMMAND [options]\n\ncommands:\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (commands[i].help)
            printf("  %-9s %s\n", commands[i].name, commands[i].help);
    printf("\n`evenstep COMMAND --help` tells more.\n");
    return fflush(stdout) == 0 ? 0 : 1;
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    struct es_error err = {0};
    const struct command *command = argc > 1 ? find(argv[1]) : NULL;
    int rc;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return help();
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return printf("evenstep %s\n", EVENSTEP_VERSION) < 0
               || fflush(stdout) != 0;
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error code */
    if (command)
        rc = command->run(argc - 1, argv + 1, &err);
    else
        rc = es_fail(&err, ES_USAGE, "see `evenstep --help`", "%s%s",
                     argc > 1 ? "no such command: " : "no command",
                     argc > 1 ? argv[1] : "");
    if (rc == 0)
        return 0;
    fprintf(stderr, "evenstep: %s: %s\n", err.what, err.mend);
    return (int)err.kind;
}
