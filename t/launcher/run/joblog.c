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
    "Command\tUnits\tFrame\tText\n"

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

    if (joblog_open(&j, log_path, goes_on, command, 0, &err) < 0)
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
    ok(strncmp(last, "1\tn1\t", 5) == 0
           && strstr(last, "\t     1.500\t6\t70\t3\t0\tc 3-l-7\t3:5\t2\tl\n"),
       "a line as a command ends: %s", last);
    ok(strtod(last + 5, NULL) > 1.7e9, "with the seconds since 1970");
    joblog_close(&j);
    j = open_log(1);
    joblog_add(&j, &piece, "n1", 7, 1.5, 0, 9);
    is_int((int)lines(), 3, "a run that goes on appends");
    ok(strstr(content(), "\n2\tn1\t"), "and goes on counting");
    joblog_close(&j);
    j = open_log(0);
    is_int((int)lines(), 1, "any other begins anew");
    joblog_close(&j);
}

static void test_goes_on(void)
{
    struct joblog j;

    tree_put("joblog", HEAD "1\tn1\n2\tn1\n3\tn");
    j = open_log(1);
    is_str(content(), HEAD "1\tn1\n2\tn1\n", "a torn line is cut off");
    joblog_add(&j, &piece, "n1", 7, 1.5, 0, 9);
    ok(strstr(content(), "\n3\tn1\t"), "and its number taken again");
    joblog_close(&j);
    tree_put("joblog", "Seq\tHost\tStarttime\n72057594037927937\tn1\n1\tn1\n"
                       "72057594037927939\tn1\n");
    j = open_log(1);
    joblog_add(&j, &piece, "n1", 7, 1.5, 0, 9);
    ok(strstr(content(), "\n4\tn1\t"), "numbers of a version before: counted");
    joblog_close(&j);
    tree_put("joblog", "Seq\tH");
    j = open_log(1);
    is_str(content(), HEAD, "a torn head is made anew");
    joblog_close(&j);
    for (size_t i = 0; i < 2; i++) {
        struct es_error err = {0};

        tree_put("joblog", i ? "data" : "data\nmore\n");
        ok(joblog_open(&j, log_path, 1, command, 0, &err) == -1
               && err.kind == ES_USAGE && strstr(err.what, "no job log"),
           "what is no job log is refused: %s", err.what);
        is_str(content(), i ? "data" : "data\nmore\n", "and stays as it is");
    }
}

/* The last column of a line of two units, of which the text is this. */
static const char *text_column(const char *text)
{
    static char column[2000];
    const char *at;
    struct lines read = {0};
    struct joblog j = open_log(0);
    struct piece p = piece;
    struct es_error err = {0};

    p.part.units = (struct slice){1, 3};
    tree_put("lines", text);
    if (lines_open(&read, tree_path("lines"), NULL, &err) < 0)
        bail("%s", err.what);
    j.lines = &read;
    joblog_add(&j, &p, "n1", 0, 1, 0, 0);
    at = strrchr(content(), '\t');
    snprintf(column, sizeof column, "%s", at ? at + 1 : "");
    lines_close(&read);
    joblog_close(&j);
    return column;
}

static void test_text(void)
{
    char text[1000] = "first\n";

    is_str(text_column("first\na\tb\nlast\r\nnot\n"), "a\\tb\\nlast\n",
           "the text of its lines, in one line");
    for (size_t i = 0; i < 200; i++)
        strcat(text, "\xc3\xa4");
    strcat(text, "\nlast\n");
    is_int((int)strlen(text_column(text)), 254 + 4, "bounded");
    ok(strstr(text_column(text), "\xc3\xa4...\n"), "with no character cut");
}

static void test_none(void)
{
    struct joblog j;
    struct es_error err = {0};

    ok(joblog_open(&j, NULL, 0, command, 0, &err) == 0, "none is wanted");
    joblog_add(&j, &piece, "n1", 7, 1, 0, 0);
    joblog_close(&j);
    ok(joblog_open(&j, "/nonexistent/log", 0, command, 0, &err) == -1
           && err.kind == ES_USAGE
           && strstr(err.what, "--joblog: /nonexistent/log: "),
       "one that cannot be written is told");
    ok(joblog_open(&j, "/dev/full", 0, command, 0, &err) == -1
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
    test_goes_on();
    test_text();
    test_none();
    test_full();
    tree_remove();
    return done();
}
