/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep: the front end.
 */
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/commands.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int is(const char *word, const char *letter, const char *name)
{
    return strcmp(word, letter) == 0 || strcmp(word, name) == 0;
}

static int run(int argc, char **argv, struct es_error *err)
{
    static char *help[] = {"evenstep", "help", NULL};
    const struct subcommand *c;

    if (argc == 1)
        return command_find("help", err)->run(1, help + 1, err) < 0
                   ? -1
                   : es_fail(err, ES_USAGE, "give one of these", "no command");
    if (is(argv[1], "-V", "--version"))
        return printf("evenstep %s\n", EVENSTEP_VERSION) < 0
                       || fflush(stdout) != 0
                   ? es_no_space(err)
                   : 0;
    if (is(argv[1], "-h", "--help"))
        argc = 2, argv = help;
    c = command_find(argv[1], err);
    return c ? c->run(argc - 1, argv + 1, err) : -1;
}

/* Where one of stdin, stdout and stderr is closed, no file that is opened may take
 * its place; to use it fails as before, with EBADF. */
static void keep_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    struct es_error err = {0};

    keep_standard_files();
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error code */
    (void)signal(SIGXFSZ, SIG_IGN); /* so is the limit of a file (ulimit -f) */
    /* Where it is ignored nobody hears how a child ended, and its number may be
     * another's when we kill it. */
    (void)signal(SIGCHLD, SIG_DFL);
    if (run(argc, argv, &err) >= 0)
        return 0;
    notice_error("evenstep", &err);
    return (int)err.kind;
}
