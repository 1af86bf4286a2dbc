/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/joblog.h"
#include "tap.h"
#include "tree.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define HEAD                                                                   \
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\t"       \
    "Command\n"

static char log_path[4096];
static char word[] = "c", place[] = "{begin}-{label}-{slot}";
static char *command[] = {word, place, NULL};
static const struct frame frame = {.number = 2, .end = 9, .label = "l"};
static const struct piece piece = {.part = {.id = 4, .units = {3, 5}},
                                   .frame = (struct frame *)&frame,
                                   .input = 6,
                                   .output = 70};

static struct joblog open_log(int goes_on)
{
    struct es_error err = {0};
    struct joblog j;

    if (joblog_open(&j, log_path, goes_on, command, &err) < 0)
        bail("%s", err.what);
    return j;
}

static const char *content(void)
{
    static char text[5000];
    FILE *file = fopen(log_path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;

    if (!file || fclose(file) != 0)
        bail("%s", log_path);
    text[n] = '\0';
    return text;
}

static size_t lines(void)
{
    size_t n = 0;

    for (const char *at = content(); *at; at++)
        n += *at == '\n';
    return n;
}

static void test_lines(void)
{
    struct joblog j = open_log(0);
    const char *text, *last;

    is_str(content(), HEAD, "the columns are there from the start");
    joblog_add(&j, &piece, "n1", 7, 1.5, 3, 0);
    text = content();
    last = text + sizeof HEAD - 1;
    ok(strncmp(last, "5\tn1\t", 5) == 0
           && strstr(last, "\t     1.500\t6\t70\t3\t0\tc 3-l-7\n"),
       "a line as a command ends: %s", last);
    ok(strtod(last + 5, NULL) > 1.7e9, "with the seconds since 1970");
    joblog_close(&j);
    j = open_log(1);
    joblog_add(&j, &piece, "n1", 7, 1.5, 0, 9);
    is_int((int)lines(), 3, "a run that goes on appends");
    joblog_close(&j);
    j = open_log(0);
    is_int((int)lines(), 1, "any other begins anew");
    joblog_close(&j);
}

static void test_none(void)
{
    struct joblog j;
    struct es_error err = {0};

    ok(joblog_open(&j, NULL, 0, command, &err) == 0, "none is wanted");
    joblog_add(&j, &piece, "n1", 7, 1, 0, 0);
    joblog_close(&j);
    ok(joblog_open(&j, "/nonexistent/log", 0, command, &err) == -1
           && err.kind == ES_USAGE
           && strstr(err.what, "--joblog: /nonexistent/log: "),
       "one that cannot be written is told");
    ok(joblog_open(&j, "/dev/full", 0, command, &err) == -1
           && err.kind == ES_USAGE,
       "also one without any room");
}

static void limit(rlim_t bytes)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_FSIZE, &l) < 0)
        bail("no limits");
    l.rlim_cur = bytes < l.rlim_max ? bytes : l.rlim_max;
    if (setrlimit(RLIMIT_FSIZE, &l) < 0)
        bail("no limits");
}

static void test_full(void)
{
    struct joblog j = open_log(0);
    size_t torn = 0;

    signal(SIGXFSZ, SIG_IGN);
    tree_quiet(1);
    for (rlim_t room = sizeof HEAD; room < sizeof HEAD + 30; room += 7) {
        limit(room);
        joblog_add(&j, &piece, "n1", 7, 1, 0, 0);
        limit(RLIM_INFINITY);
        torn += strcmp(content(), HEAD) != 0;
    }
    tree_quiet(0);
    ok(torn == 0 && j.has_warned, "on a full disk there is no half line");
    joblog_add(&j, &piece, "n1", 7, 1, 0, 0);
    is_int((int)lines(), 2, "and a line again when there is room");
    joblog_close(&j);
}

int main(void)
{
    tree_make();
    snprintf(log_path, sizeof log_path, "%s", tree_path("joblog"));
    test_lines();
    test_none();
    test_full();
    tree_remove();
    return done();
}
