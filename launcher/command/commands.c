/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/commands.h"

#include "launcher/base/options.h"
#include "launcher/base/suggestion.h"

#include <stdio.h>
#include <string.h>

/* --- evenstep help -------------------------------------------------------- */

static int print_commands(struct es_error *err)
{
    printf("usage: evenstep COMMAND [options]\n\ncommands:\n");
    for (size_t i = 0; commands[i]; i++)
        if (commands[i]->brief)
            printf("  %-10s %s\n", commands[i]->name, commands[i]->brief);
    printf("\n`evenstep COMMAND --help` tells more.\n");
    return fflush(stdout) == 0 ? 0 : es_no_space(err);
}

/* The subcommand of c with that name; "balance" is "simulate balance". */
static const struct subcommand *find_below(const struct subcommand *c,
                                           const char *name)
{
    size_t skip = strlen(c->name) + 1;

    for (size_t i = 0; c->sub && c->sub[i]; i++)
        if (strcmp(c->sub[i]->name + skip, name) == 0)
            return c->sub[i];
    return c;
}

static const struct option none[] = {{.type = OPTION_END}};

static int help_main(int argc, char **argv, struct es_error *err)
{
    int rc = options_parse(&command_help, NULL, argc, argv, err);
    const struct subcommand *c;

    if (rc != 0)
        return rc;
    if (!argv[1])
        return print_commands(err);
    c = command_find(argv[1], err);
    if (!c)
        return -1;
    return options_help(argv[2] ? find_below(c, argv[2]) : c, err);
}

const struct subcommand command_help = {
    .name = "help",
    .brief = "the commands, or what COMMAND --help tells",
    .about = "Print the commands, or what COMMAND --help tells.\n",
    .option = none,
    .operands = "[COMMAND] [PART]",
    .run = help_main,
};

/* --- all ------------------------------------------------------------------ */

const struct subcommand *const commands[] = {
    &command_run,    &command_bcast,
    &command_probe,  &command_plan,
    &command_replay, &command_simulate,
    &command_report, &command_conntable,
    &command_graph,  &command_top,
    &command_config, &command_help,
    &command_attend, NULL,
};

const struct subcommand *command_find(const char *name, struct es_error *err)
{
    struct suggestion s = {.typed = name};
    char mend[80] = "see `evenstep --help`";

    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        if (commands[i]->brief)
            suggestion_try(&s, commands[i]->name);
    }
    if (s.name)
        snprintf(mend, sizeof mend, "did you mean %s?", s.name);
    es_fail(err, ES_USAGE, mend, "no such command: %s", name);
    return NULL;
}
