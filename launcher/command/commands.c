/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/commands.h"

#include "launcher/base/options.h"
#include "launcher/base/suggestion.h"
#include "launcher/command/completion.h"

#include <stdio.h>
#include <string.h>

/* --- evenstep help -------------------------------------------------------- */

static int print_commands(struct es_error *err)
{
    printf("usage: evenstep COMMAND [options]\n\ncommands:\n");
    for (size_t i = 0; commands[i]; i++)
        if (commands[i]->brief)
            printf("  %-10s %s\n", commands[i]->name, commands[i]->brief);
    printf("\n`evenstep COMMAND --help` tells its options, `man "
           "evenstep-COMMAND` more;\n"
           "`man evenstep-tutorial` is for the first hour.\n");
    return fflush(stdout) == 0 ? 0 : es_no_space(err);
}

static const struct option none[] = {{.type = OPTION_END}};

/* Is the part one of its actions, as plan of graph? */
static int has_action(const struct subcommand *c, const char *part)
{
    const char *at = c->operands ? c->operands : "";
    size_t len = strlen(part);

    while (*at && *at != ' ') {
        size_t n = strcspn(at, "| ");

        if (n == len && strncmp(at, part, n) == 0)
            return 1;
        at += n + (at[n] == '|');
    }
    return 0;
}

static int help_main(int argc, char **argv, struct es_error *err)
{
    int rc = options_parse(&command_help, NULL, argc, argv, err);
    const struct subcommand *c;
    char name[80] = "";

    if (rc != 0)
        return rc;
    if (!argv[1])
        return print_commands(err);
    c = command_find(argv[1], err);
    if (!c)
        return -1;
    if (argv[2] && c->sub) {
        snprintf(name, sizeof name, "%s %s", c->name, argv[2]);
        c = subcommand_find(c->sub, name);
    } else if (argv[2] && !has_action(c, argv[2])) {
        return es_fail(err, ES_USAGE, "leave it out",
                       "help %s: no such part: %s", c->name, argv[2]);
    }
    return c ? options_help(c, err)
             : es_fail(err, ES_USAGE, "see `evenstep --help`",
                       "no such command: %s", name);
}

const struct subcommand command_help = {
    .name = "help",
    .brief = "the commands, or what COMMAND --help tells",
    .about = "Print the commands, or what COMMAND --help tells.\n",
    .option = none,
    .operands = "[COMMAND] [PART]",
    .run = help_main,
};

/* --- evenstep completion --------------------------------------------------- */

static int completion_main(int argc, char **argv, struct es_error *err)
{
    int rc = 0;

    if (argc > 2 && strcmp(argv[1], "words") == 0) {
        completion_words(commands, (size_t)argc - 3, argv + 2);
    } else {
        rc = options_parse(&command_completion, NULL, argc, argv, err);
        if (rc == 0)
            completion_script(argv[1]);
    }
    if (rc != 0)
        return rc;
    return fflush(stdout) == 0 ? 0 : es_no_space(err);
}

const struct subcommand command_completion = {
    .name = "completion",
    .brief = "a script by which a shell completes these",
    .about =
        "Print a script by which the shell completes commands, options and values:\n"
        "\n"
        "  bash  . <(evenstep completion bash)       in ~/.bashrc\n"
        "  zsh   . <(evenstep completion zsh)        in ~/.zshrc, behind compinit\n"
        "  fish  evenstep completion fish | source   in config.fish\n",
    .option = none,
    .operands = COMPLETION_SHELLS,
    .run = completion_main,
};

/* --- all ------------------------------------------------------------------ */

const struct subcommand *const commands[] = {
    &command_run,       &command_tasks,    &command_bcast,
    &command_probe,     &command_check,    &command_plan,
    &command_replay,    &command_simulate, &command_report,
    &command_conntable, &command_graph,    &command_top,
    &command_join,      &command_config,   &command_completion,
    &command_help,      &command_attend,   NULL,
};

const struct subcommand *command_find(const char *name, struct es_error *err)
{
    const struct subcommand *c = subcommand_find(commands, name);
    struct suggestion s = {.typed = name};
    char mend[80] = "see `evenstep --help`";

    if (c)
        return c;
    for (size_t i = 0; commands[i]; i++)
        if (commands[i]->brief)
            suggestion_try(&s, commands[i]->name);
    if (s.name)
        snprintf(mend, sizeof mend, "did you mean %s?", s.name);
    es_fail(err, ES_USAGE, mend, "no such command: %s", name);
    return NULL;
}
