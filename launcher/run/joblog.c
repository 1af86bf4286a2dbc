/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/joblog.h"
#include "launcher/base/notice.h"
#include "launcher/base/user_file.h"
#include "launcher/exec/template.h"
#include "launcher/run/shell_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char head[] = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\t"
                           "Exitval\tSignal\tCommand\n";

/* The whole line, or nothing of it.  0, or -1 with errno. */
static int put_line(const struct joblog *j, const char *line, size_t len)
{
    off_t end = j->is_regular ? lseek(j->fd, 0, SEEK_END) : 0;
    int rc = end < 0 ? -1 : write_all(j->fd, line, len), why = errno;

    if (rc < 0 && j->is_regular && end >= 0)
        (void)!ftruncate(j->fd, end); /* what is torn stays torn then */
    errno = why;
    return rc;
}

/* Open it, and find out what it is; the size is that of before. */
static const char *open_file(struct joblog *j, int goes_on, off_t *size)
{
    const char *why = NULL;
    struct stat st;

    j->fd = goes_on ? user_file_open(j->path, O_APPEND, &why)
                    : user_file_create(j->path, O_APPEND, &why);
    if (!why && fstat(j->fd, &st) < 0)
        why = strerror(errno);
    if (why)
        return why;
    j->is_regular = S_ISREG(st.st_mode);
    *size = j->is_regular ? st.st_size : 0;
    return NULL;
}

int joblog_open(struct joblog *j,
                const char *path,
                int goes_on,
                char *const command[],
                struct es_error *err)
{
    const char *why;
    off_t size;

    *j = (struct joblog){.path = path, .fd = -1, .command = command};
    if (!path)
        return 0;
    why = open_file(j, goes_on, &size);
    if (!why && size == 0 && put_line(j, head, strlen(head)) < 0)
        why = strerror(errno);
    if (!why)
        return 0;
    joblog_close(j);
    return es_fail(err, ES_USAGE, "name a file that you may write",
                   "--joblog: %s: %s", path, why);
}

void joblog_close(struct joblog *j)
{
    if (j->path && j->fd >= 0)
        close(j->fd); /* each line has been written and looked at */
    *j = (struct joblog){.fd = -1};
}

/* By the clock on the wall, which may be set meanwhile. */
static double begun_at(double seconds)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - seconds;
}

static int print_command(const struct joblog *j,
                         const struct piece *p,
                         const char *node,
                         uint32_t slot,
                         FILE *to)
{
    struct msg_run run = {.id = p->part.id,
                          .frame = p->frame->number,
                          .begin = p->part.units.begin,
                          .end = p->part.units.end,
                          .slot = slot};
    char **words;

    memcpy(run.label, p->frame->label, sizeof run.label);
    words = template_argv(j->types ? j->types->type[p->frame->type].command
                                   : j->command,
                          &run, node);
    if (!words)
        return -1;
    shell_words_line(to, words);
    template_free(words);
    return 0;
}

void joblog_add(struct joblog *j,
                const struct piece *p,
                const char *node,
                uint32_t slot,
                double seconds,
                int status,
                int signal)
{
    char *line = NULL;
    size_t len;
    FILE *to;
    int rc;

    if (!j->path)
        return;
    to = open_memstream(&line, &len);
    if (!to)
        return; /* no memory: others will say so */
    fprintf(to, "%ju\t%s\t%.3f\t%10.3f\t%ju\t%ju\t%d\t%d\t",
            (uintmax_t)p->part.id + 1, node, begun_at(seconds), seconds,
            (uintmax_t)p->input, (uintmax_t)p->output, status, signal);
    rc = print_command(j, p, node, slot, to);
    putc('\n', to);
    if (fclose(to) != 0 || rc < 0) {
        errno = ENOMEM;
        rc = -1;
    } else {
        rc = put_line(j, line, len);
    }
    if (rc < 0 && !j->has_warned)
        notice("warning: --joblog: %s: %s: it lacks lines; the run goes on",
               j->path, strerror(errno));
    j->has_warned |= rc < 0;
    free(line);
}
