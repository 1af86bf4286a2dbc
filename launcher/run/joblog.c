/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/joblog.h"
#include "launcher/base/notice.h"
#include "launcher/base/plain_text.h"
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

#define TEXT_MOST (LABEL_MAX - 1u) /* bytes of what the units are */

static const char head[] = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\t"
                           "Exitval\tSignal\tCommand\tUnits\tFrame\tText\n";
static const char head_of_tasks[] =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\t"
    "Units\tTries\tCPU\tMiB\n";

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

    j->fd = goes_on ? user_file_open(j->path, O_RDWR | O_APPEND, &why)
                    : user_file_create(j->path, O_APPEND, &why);
    if (!why && fstat(j->fd, &st) < 0)
        why = strerror(errno);
    if (why)
        return why;
    j->is_regular = S_ISREG(st.st_mode);
    *size = j->is_regular ? st.st_size : 0;
    return NULL;
}

/* What is there: its last number and how long it is; a torn line is cut off.
 * NULL, or why not. */
static const char *go_on(struct joblog *j, off_t *size)
{
    FILE *file = fdopen(fcntl(j->fd, F_DUPFD_CLOEXEC, 0), "r");
    const char *why = file ? NULL : strerror(errno);
    uint64_t lines = 0, last = 0;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    *size = 0;
    while (!why && (n = getline(&line, &room, file)) > 0) {
        if (lines == 0 && strncmp(line, head, n < 9 ? (size_t)n : 9) != 0)
            why = "it is no job log";
        else if (line[n - 1] != '\n')
            break;
        *size += n;
        last = lines++ > 0 ? strtoull(line, NULL, 10) : 0;
    }
    /* A version before had other numbers: then it is how many there are. */
    if (lines > 0)
        j->seq = last < lines - 1 || last > UINT32_MAX ? lines - 1 : last;
    if (!why && (ferror(file) || ftruncate(j->fd, *size) < 0))
        why = strerror(errno);
    free(line);
    if (file)
        (void)fclose(file); /* only read */
    return why;
}

int joblog_open(struct joblog *j,
                const char *path,
                int goes_on,
                char *const command[],
                int are_tasks,
                struct es_error *err)
{
    const char *first = are_tasks ? head_of_tasks : head, *why;
    off_t size;

    *j = (struct joblog){.path = path, .fd = -1, .command = command};
    if (!path)
        return 0;
    why = open_file(j, goes_on, &size);
    if (!why && size > 0)
        why = go_on(j, &size);
    if (!why && size == 0 && put_line(j, first, strlen(first)) < 0)
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

/* The begin of a piece's lines into text; is it cut? */
static int begin_of_lines(const struct lines *l,
                          const struct slice *units,
                          char text[TEXT_MOST + 1])
{
    struct es_error err = {0}; /* whoever needs the text tells */
    uint64_t from, end;
    size_t n = 0;
    int is_cut;

    if (lines_find(l, units->begin, units->end, &from, &end, &err) < 0)
        return 0;
    is_cut = end - from > TEXT_MOST;
    n = is_cut ? TEXT_MOST : (size_t)(end - from);
    if (lines_read(l, from, text, n, &err) < 0)
        n = 0;
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : '\n'; /* between records, as it is */
    while (is_cut && n > 0 && (text[n - 1] & 0xc0) == 0x80)
        n--; /* no character is cut in two */
    if (is_cut && n > 0 && (text[n - 1] & 0x80))
        n--;
    while (!is_cut && n > 0 && strchr("\r\n", text[n - 1]))
        n--;
    text[n] = '\0';
    return is_cut;
}

/* What a piece's units are, in one line. */
static void print_text(const struct joblog *j, const struct piece *p, FILE *to)
{
    char text[TEXT_MOST + 1] = "", plain[sizeof text * PLAIN_TEXT_MOST];
    int is_cut = 0;

    if (j->lines)
        is_cut = begin_of_lines(j->lines, &p->part.units, text);
    else
        snprintf(text, sizeof text, "%s", p->frame->label);
    plain_text(plain, sizeof plain, text);
    fprintf(to, "%s%s", plain, is_cut ? "..." : "");
}

/* Once: its lines are not all there. */
static void warn(struct joblog *j)
{
    if (!j->has_warned)
        notice("warning: --joblog: %s: %s: it lacks lines; the run goes on",
               j->path, strerror(errno));
    j->has_warned = 1;
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
            (uintmax_t)++j->seq, node, begun_at(seconds), seconds,
            (uintmax_t)p->input, (uintmax_t)p->output, status, signal);
    rc = print_command(j, p, node, slot, to);
    fprintf(to, "\t%ju:%ju\t%ju\t", (uintmax_t)p->part.units.begin,
            (uintmax_t)p->part.units.end, (uintmax_t)p->frame->number);
    print_text(j, p, to);
    putc('\n', to);
    if (fclose(to) != 0 || rc < 0) {
        errno = ENOMEM;
        rc = -1;
    } else {
        rc = put_line(j, line, len);
    }
    j->seq -= rc < 0; /* no number is missing */
    if (rc < 0)
        warn(j);
    free(line);
}

void joblog_add_task(struct joblog *j, const struct joblog_task *t)
{
    char *line = NULL;
    int n;

    if (!j->path)
        return;
    n = asprintf(&line,
                 "%ju\t%s\t%.3f\t%10.3f\t0\t%ju\t%d\t%d\t%s\t%ju:%ju\t%u\t%.3f"
                 "\t%u\n",
                 (uintmax_t)t->unit + 1, t->node, t->begun, t->seconds,
                 (uintmax_t)t->output, t->status, t->signal, t->command,
                 (uintmax_t)t->unit, (uintmax_t)t->unit + 1, t->tries, t->cpu,
                 t->rss_mib);
    if (n < 0 || put_line(j, line, (size_t)n) < 0)
        warn(j);
    if (n >= 0)
        free(line);
}
