/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/commands.h"
#include "launcher/base/options.h"
#include "launcher/base/suggestion.h"
#include "launcher/config/policy_option.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- completion ---------------------------------------------------------------- */

/* What a shell needs to complete evenstep's words.
 *
 * The scripts of the shells ask this program at each TAB, so that they never
 * differ from the tables. */

#define COMPLETION_SHELLS "bash|zsh|fish"

/* clang-format off */
static const char bash[] =
    "_evenstep() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} words cur word\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && words+=('')\n"
    "    cur=${words[-1]} COMPREPLY=()\n"
    "    [[ $cur == --*=* ]] && cur=${cur#*=} # bash replaces only that\n"
    "    while IFS=$'\\t' read -r word _; do\n"
    "        if [[ $word == :files ]]; then\n"
    "            compopt -o filenames\n"
    "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "        else\n"
    "            [[ $word == --*=* ]] && word=${word#*=}\n"
    "            COMPREPLY+=(\"$word\")\n"
    "        fi\n"
    "    done < <(evenstep completion words \"${words[@]:1}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _evenstep evenstep\n";

static const char zsh[] =
    "#compdef evenstep\n"
    "_evenstep() {\n"
    "    local line files\n"
    "    local -a found\n"
    "    for line in ${(f)\"$(evenstep completion words \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"}; do\n"
    "        if [[ $line == :files ]]; then\n"
    "            files=1\n"
    "        else\n"
    "            found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "        fi\n"
    "    done\n"
    "    (( $#found )) && _describe evenstep found\n"
    "    [[ -n $files ]] && { compset -P '--*='; _files }\n"
    "}\n"
    "if [[ $funcstack[1] == _evenstep ]]; then _evenstep; else compdef _evenstep evenstep; fi\n";

static const char fish[] =
    "function __evenstep_words\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in (evenstep completion words $words[2..-1] 2>/dev/null)\n"
    "        if test \"$line\" = :files\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        else\n"
    "            echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c evenstep -f -a '(__evenstep_words)'\n";
/* Print the script of one of them, which runs `evenstep completion words` with
 * the words behind "evenstep" up to the one that is wanted.
 * clang-format on */
static void completion_script(const char *shell)
{
    static const char *const script[] = {bash, zsh, fish};

    printf("%s", script[option_word_find(COMPLETION_SHELLS, shell)]);
}

/* --- what may stand there ------------------------------------------------- */

/* What is typed so far of the word that is wanted. */
struct wanted {
    const struct subcommand *const *list; /* all commands */
    const char *typed;
    const char *before; /* typed before it in the same word: "--policy=" */
};

static void offer(const struct wanted *w, const char *word, const char *meaning)
{
    if (strncmp(word, w->typed, strlen(w->typed)) == 0)
        printf("%s%s\t%s\n", w->before, word, meaning);
}

static void offer_commands(const struct wanted *w)
{
    for (size_t i = 0; w->list[i]; i++)
        if (w->list[i]->brief)
            offer(w, w->list[i]->name, w->list[i]->brief);
    if (w->typed[0] == '-') {
        offer(w, "--help", "what can be given");
        offer(w, "--version", "which one this is");
    }
}

/* action: the command's first operand. */
static void offer_options(const struct wanted *w,
                          const struct subcommand *c,
                          const char *action)
{
    char name[40];

    for (const struct option *o = c->option; o->type != OPTION_END; o++) {
        if (!options_has(c, o) || (o->only && strcmp(o->only, action)))
            continue;
        snprintf(name, sizeof name, "--%s", o->name);
        offer(w, name, o->help);
    }
    offer(w, "--help", "what can be given");
}

static int is_word(const char *text)
{
    return islower((unsigned char)text[0]) && !strpbrk(text, ":=");
}

/* "this|or|FILE": what of it are words, and whether files may stand there. */
static void offer_parts(const struct wanted *w, const char *value)
{
    static const char *const files[] = {"FILE", "FOLDER", "PICTURE", "GRAPH",
                                        "SRC",  "DST",    "CMD"};
    char copy[120], *rest = copy, *part;

    snprintf(copy, sizeof copy, "%s", value);
    while ((part = strsep(&rest, "|")) != NULL)
        if (is_word(part))
            offer(w, part, "");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strstr(value, files[i])) {
            printf(":files\n");
            return;
        }
}

static void offer_values(const struct wanted *w, const struct option *o)
{
    const char *word;

    for (size_t i = 0; o->word && (word = o->word(i)) != NULL; i++)
        offer(w, word, "");
    if (o->value)
        offer_parts(w, o->value);
}

/* The n-th word of the command's operands, or its last that may be repeated. */
static void offer_operand(const struct wanted *w,
                          const struct subcommand *c,
                          size_t n)
{
    const char *at = c->operands ? c->operands : "";
    char word[80];

    for (;; n--) {
        size_t len = strcspn(at, " ");

        snprintf(word, sizeof word, "%.*s", (int)len, at);
        if (n == 0 || strstr(word, "...") || !at[len])
            break;
        at += len + 1;
    }
    if (strcmp(word, "[COMMAND]") == 0)
        offer_commands(w);
    else
        offer_parts(w, word);
}

/* --- what was typed before ------------------------------------------------- */

/* Of a word that begins with a -, the option that has a value. */
static const struct option *option_of(const struct subcommand *c,
                                      const char *word)
{
    size_t len = strlen(word);

    for (const struct option *o = c->option; o->type != OPTION_END; o++) {
        if (!options_has(c, o) || !o->value)
            continue;
        if (strncmp(word, "--", 2) == 0
                ? strcmp(o->name, word + 2) == 0
                      || (o->alias && strcmp(o->alias, word + 2) == 0)
                : o->letter && word[len - 1] == o->letter)
            return o;
    }
    return NULL;
}

/* "--policy=ev": its option, w what is behind the =. */
static const struct option *joined_of(const struct subcommand *c,
                                      struct wanted *w,
                                      char *name,
                                      size_t size)
{
    size_t len = strcspn(w->typed, "=");

    if (strncmp(w->typed, "--", 2) != 0 || !w->typed[len] || len + 2 > size)
        return NULL;
    snprintf(name, size, "%.*s", (int)len, w->typed);
    w->typed += len + 1;
    return option_of(c, name);
}

/* argv: behind the command's name, n words and the one that is wanted. */
static void complete(struct wanted w,
                     const struct subcommand *c,
                     size_t n,
                     char **argv)
{
    const struct option *value = NULL;
    const char *action = "";
    char before[80];
    size_t operands = 0;
    int is_over = 0;

    for (size_t i = 0; i < n; i++) {
        if (value) {
            value = NULL;
        } else if (!is_over && strcmp(argv[i], "--") == 0) {
            is_over = 1;
        } else if (!is_over && argv[i][0] == '-' && argv[i][1]) {
            value = option_of(c, argv[i]);
            if (value && value->bare)
                value = NULL; /* what follows is none of it */
        } else {
            action = operands++ == 0 ? argv[i] : action;
            is_over |= c->stops;
        }
    }
    if (!value && !is_over) {
        value = joined_of(c, &w, before, sizeof before - 1);
        if (value)
            w.before = strcat(before, "=");
    }
    if (value)
        offer_values(&w, value);
    else if (!is_over && (w.typed[0] == '-' || !c->operands))
        offer_options(&w, c, action);
    else
        offer_operand(&w, c, operands);
}

static int is_among(const char *word, size_t n, char **argv)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(argv[i], word) == 0)
            return 1;
    return 0;
}

/* Print what argv[n] may be, as it is typed so far and behind the words before
 * it: a word, a tab and its meaning a line; ":files" for any file.  list: of
 * all commands, until NULL. */
static void completion_words(const struct subcommand *const list[],
                             size_t n,
                             char **argv)
{
    const struct wanted w = {list, argv[n], ""};
    const struct subcommand *c = subcommand_find(list, argv[0]);
    char name[80];

    if (n == 0) {
        offer_commands(&w);
        return;
    }
    if (c && c->sub && n > 1) {
        snprintf(name, sizeof name, "%s %s%s", c->name, argv[1],
                 is_among("--power", n, argv) ? " --power" : "");
        c = subcommand_find(c->sub, name);
        n--, argv++;
    }
    if (c)
        complete(w, c, n - 1, argv + 1);
}

/* --- evenstep help -------------------------------------------------------- */

static int print_commands(struct es_error *err)
{
    printf("usage: evenstep COMMAND [options]\n\ncommands:\n");
    for (size_t i = 0; commands[i]; i++)
        if (commands[i]->brief)
            printf("  %-10s %s\n", commands[i]->name, commands[i]->brief);
    printf("\n`evenstep COMMAND -h` prints its options, `man evenstep-COMMAND` "
           "more; `evenstep help\n"
           "policies` those of --policy; `man evenstep-tutorial` is for the first "
           "hour.\n");
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
    if (strcmp(argv[1], "policies") == 0 && !argv[2]) {
        printf("--policy NAME[:KEY=VALUE,...]; each KEY with its default, and the "
               "values that it takes:\n\n");
        policy_option_print();
        return fflush(stdout) == 0 ? 0 : es_no_space(err);
    }
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
    return c ? options_help(c, 0, err)
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
