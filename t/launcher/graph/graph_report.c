/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of other workflow systems: their times, and what is none.
 */
#include "launcher/graph/graph_report.h"
#include "fault.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRACE "name\tstatus\trealtime\tpeak_rss\n"
#define BENCH "s\th:m:s\tmax_rss\n"

static const struct {
    const char *text;
    double seconds; /* below 0: none */
} durations[] = {
    {"1m 3s", 63},  {"350ms", 0.35}, {"1h 2m 3.5s", 3723.5},
    {"2d", 172800}, {"1500", 1.5},   {"0", 0},
    {"", -1},       {"-", -1},       {"3", 0.003},
    {"3 s", -1},    {"3x", -1},      {"1m x", -1},
    {"s", -1},      {"-5", -1},      {"nan", -1},
    {"1e99s", -1},  {"1m3s", 63},    {"99999999999d", -1},
    {"1.2.3s", -1},
};

static void test_durations(void)
{
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        double seconds = -1;
        int rc = graph_duration_parse(durations[i].text, &seconds);

        ok(durations[i].seconds < 0
               ? rc < 0
               : rc == 0 && fabs(seconds - durations[i].seconds) < 1e-9,
           "\"%s\" is %g s", durations[i].text, durations[i].seconds);
    }
}

/* --- what is read --------------------------------------------------------- */

static int parse(struct graph_times *t, const char *text, struct es_error *err)
{
    char *copy = strdup(text);
    int rc = copy ? graph_report_parse(t, "x/a.tsv", copy, err) : -1;

    free(copy);
    return rc;
}

static void test_trace(void)
{
    struct graph_times t;
    const struct graph_time *row;

    if (graph_times_init(&t, NULL) < 0
        || parse(&t,
                 TRACE "A (x)\tCOMPLETED\t1m 3s\t1.5 GB\n"
                       "A (y)\tFAILED\t1s\t1 GB\n\r\n"
                       "A (x)\tCACHED\t2s\t-\r\n"
                       "B\tCOMPLETED\t-\t100\n",
                 NULL)
               < 0)
        bail("refused");
    is_int(t.rows, 3, "a trace: each task that ended well");
    is_int(t.failed, 1, "and how many did not");
    row = graph_times_find(&t, "A (x)");
    ok(row && fabs(row->seconds - 63) < 1e-9
           && fabs(row->memory - 1.5 * 1073741824) < 1,
       "its time, and its memory in 1024s");
    row = graph_times_find(&t, "A (x) #2");
    ok(row && fabs(row->seconds - 2) < 1e-9, "a second one of that name is "
                                             "another task");
    row = graph_times_find(&t, "B");
    ok(row && row->seconds < 0 && row->memory > 99, "one without a time");
    graph_times_clear(&t);
}

static void test_benchmark(void)
{
    struct graph_times t;
    const struct graph_time *row;

    if (graph_times_init(&t, NULL) < 0
        || parse(&t, BENCH "2.0\t0:00:02\t1\n4.0\t0:00:04\t3\n", NULL) < 0
        || parse(&t,
                 "s\th:m:s\trule_name\twildcards\tthreads\n"
                 "7\t0:00:07\tmap\t{'s': 'A'}\t4\n",
                 NULL)
               < 0)
        bail("refused");
    row = graph_times_find(&t, "x/a.tsv");
    ok(row && fabs(row->seconds - 3) < 1e-9
           && fabs(row->memory - 3 * 1048576) < 1,
       "a benchmark: the mean of its repetitions, the most of its memory");
    row = graph_times_find(&t, "map {'s': 'A'}");
    ok(row && fabs(row->cores - 4) < 1e-9, "an extended one says whose it is");
    graph_times_clear(&t);
}

static void test_log(void)
{
    struct graph_times t;
    const struct graph_time *row;

    if (graph_times_init(&t, NULL) < 0
        || parse(&t,
                 "# TARGETS\t1\tb\tc\n"
                 "1000000 0 1 7 0 0\n2000000 1 1 8 0 0\n"
                 "2500000 0 2 7 0 0\n3000000 1 3 8 0 0\n"
                 "4000000 1 1 9 0 0\n9000000 1 2 9 0 0\n",
                 NULL)
               < 0)
        bail("refused");
    row = graph_times_find(&t, "#0");
    ok(row && fabs(row->seconds - 1.5) < 1e-9,
       "a log: from running to complete");
    row = graph_times_find(&t, "b");
    ok(row && fabs(row->seconds - 5) < 1e-9 && t.failed == 1,
       "by the first target, the try that ended well");
    graph_times_clear(&t);
}

/* --- what is not ---------------------------------------------------------- */

static const struct {
    const char *text, *what;
} bad[] = {
    {"", "line 1: nothing is in it"},
    {"\n\n", "line 3: nothing is in it"},
    {"hello\n", "line 1: no report that is known"},
    {"name\tstatus\n", "line 1: no column realtime"},
    {"realtime\tstatus\n", "line 1: no column name"},
    {TRACE "A\tCOMPLETED\n", "line 2: it ends too early"},
    {TRACE "A\tCOMPLETED\tsoon\t1\n", "line 2: realtime is no time"},
    {TRACE "\tCOMPLETED\t1s\t1\n", "line 2: no name"},
    {BENCH "2.0\n", "line 2: it ends too early"},
    {BENCH "x\t0\t1\n", "line 2: s is no time"},
    {"# STARTED\t1\n12 0\n", "line 2: no change of a task's state"},
    {"12 0 9 1\n", "line 1: no change of a task's state"},
    {"12 99999999 1 1\n", "line 1: no change of a task's state"},
    {"# TARGETS\tx\ty\n", "line 1: no number of a task"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct graph_times t;
        struct es_error err = {0};
        int refused =
            graph_times_init(&t, &err) == 0 && parse(&t, bad[i].text, &err) < 0;

        if (!ok(refused && err.kind == ES_USAGE && err.mend[0]
                    && strstr(err.what, bad[i].what),
                "refused: %s", bad[i].what))
            diag("%s: %s", err.what, err.mend);
        graph_times_clear(&t);
    }
}

static void test_mixed(void)
{
    struct graph_times t;
    struct es_error err = {0};

    ok(graph_times_init(&t, &err) == 0
           && parse(&t, BENCH "1\t0\t1\n", &err) == 0
           && parse(&t, TRACE "A\tCOMPLETED\t1s\t1\n", &err) < 0
           && strstr(err.what, "another kind of report"),
       "reports of two systems: refused");
    graph_times_clear(&t);
}

/* --- memory --------------------------------------------------------------- */

static void test_faults(const char *name, const char *text)
{
    struct graph_times t;
    struct es_error err;
    char copy[256];
    long n = 0;
    int rc, told = 1;

    do {
        snprintf(copy, sizeof copy, "%s", text);
        err = (struct es_error){0};
        fault_at = n++;
        rc = graph_times_init(&t, &err);
        if (rc == 0)
            rc = graph_report_parse(&t, "x", copy, &err);
        fault_at = -1;
        told &= rc == 0 || err.what[0];
        graph_times_clear(&t);
    } while (rc < 0 && n < 1000);
    ok(rc == 0 && n > 1 && told,
       "%s: each of %ld allocations that fails is told", name, n - 1);
}

int main(void)
{
    test_durations();
    test_trace();
    test_benchmark();
    test_log();
    test_bad();
    test_mixed();
    test_faults("trace", TRACE "A\tCOMPLETED\t1s\t1\n");
    test_faults("log", "# TARGETS\t1\tb\n1 1 1 7\n2 1 2 7\n");
    return done();
}
