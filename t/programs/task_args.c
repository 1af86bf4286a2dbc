/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of tasks, from options as GNU parallel has them: the words of each in
 * angle brackets, or with --shell and --commands the line for sh; --run starts them, one
 * after the other, and --count says how many there are.
 */
#include "launcher/exec/task_words.h"
#include "launcher/exec/template.h"
#include "launcher/run/task_fields.h"
#include "launcher/run/task_list.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLSEP = 256, HEADER, SHUF, SHELL, COMMANDS, ARG_SEP, RUN, COUNT };

static const struct option known[] = {
    {"colsep", required_argument, NULL, COLSEP},
    {"header", required_argument, NULL, HEADER},
    {"shuf", required_argument, NULL, SHUF},
    {"shell", no_argument, NULL, SHELL},
    {"commands", no_argument, NULL, COMMANDS},
    {"arg-sep", required_argument, NULL, ARG_SEP},
    {"run", no_argument, NULL, RUN},
    {"count", no_argument, NULL, COUNT},
    {NULL, 0, NULL, 0},
};

struct job {
    struct task_sources s;
    unsigned how;
    int run, count;
    const char *sep;
    struct es_error err;
};

static void end(const struct job *j)
{
    fprintf(stderr, "%s: %s\n", j->err.what, j->err.mend);
    exit((int)j->err.kind);
}

static void take(struct job *j, int option)
{
    switch (option) {
    case 'a':
        if (task_sources_file(&j->s, "--arg-file", optarg, &j->err) < 0)
            end(j);
        break;
    case 'N':
        j->how |= TASK_REPEAT; /* and */
        __attribute__((fallthrough));
    case 'n':
        j->s.most = strtoull(optarg, NULL, 10);
        j->s.none = j->s.most == 0;
        break;
    case 'X':
        j->how |= TASK_REPEAT;
        j->s.room = 500000;
        break;
    case '0':
        j->s.nul = 1;
        break;
    case COLSEP:
        if (task_sources_colsep(&j->s, optarg, &j->err) < 0)
            end(j);
        break;
    case HEADER:
        j->s.header = 1;
        break;
    case SHUF:
        j->s.shuf = j->s.seeded = 1;
        j->s.seed = strtoull(optarg, NULL, 10);
        break;
    case SHELL:
        j->how |= TASK_SHELL;
        break;
    case COMMANDS:
        j->s.commands = j->s.joined = 1;
        j->how |= TASK_SHELL;
        break;
    case ARG_SEP:
        j->sep = optarg;
        break;
    case 'j':
        break;
    case RUN:
        j->run = 1;
        break;
    case COUNT:
        j->count = 1;
        break;
    default:
        exit(2);
    }
}

static void start(char **words, int shell)
{
    char sh[] = "sh", c[] = "-c";
    char *line[] = {sh, c, words[0], NULL};
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        execvp(shell ? sh : words[0], shell ? line : words);
        _exit(127);
    }
    (void)waitpid(pid, &status, 0);
}

static void show(const struct job *j,
                 char **cmd,
                 const struct task_record *t,
                 uint64_t unit)
{
    struct task_place place = {.unit = unit, .label = "dawn", .node = "n1"};
    char **words = task_words(cmd, t, &place, j->how);

    if (!words) {
        perror("task_words");
        exit(1);
    }
    if (j->run)
        start(words, j->how & TASK_SHELL);
    for (size_t i = 0; !j->run && words[i]; i++)
        printf(j->how & TASK_SHELL ? "%s" : i > 0 ? " <%s>" : "<%s>", words[i]);
    if (!j->run)
        putchar('\n');
    free(words);
}

static void show_all(struct job *j, char **cmd, FILE *records)
{
    struct task_record t = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    rewind(records);
    for (uint64_t unit = 0; (n = getline(&line, &room, records)) > 0; unit++) {
        if (line[n - 1] != '\n'
            || task_record_parse(&t, line, (size_t)n - 1) < 0)
            abort();
        show(j, cmd, &t, unit);
    }
    free(line);
    task_record_free(&t);
}

int main(int argc, char *argv[])
{
    static struct job j;
    FILE *records = tmpfile();
    struct task_list *list = NULL;
    struct task_fields fields;
    char **cmd;
    uint64_t tasks;
    int option;

    while ((option = getopt_long(argc, argv, "+a:j:n:N:X0", known, NULL)) != -1)
        take(&j, option);
    if (task_sources_split(&j.s, argv + optind, j.sep, &j.err) < 0
        || (j.s.n == 0 && task_sources_file(&j.s, "--lines", "-", &j.err) < 0)
        || !(list = task_list_open(&j.s, &j.err)))
        end(&j);
    cmd = task_fields_settle(argv + optind, task_list_columns(list),
                             task_list_names(list), j.how & TASK_SHELL, &fields,
                             &j.err);
    if (!cmd || task_list_write(list, fields.need, records, &tasks, &j.err) < 0)
        end(&j);
    if (j.count)
        printf("%ju\n", (uintmax_t)tasks);
    else
        show_all(&j, cmd, records);
    if (fields.quoted)
        fprintf(stderr, "quoted: %s\n", fields.quoted);
    template_free(cmd);
    task_list_close(list);
    fclose(records);
    return 0;
}
