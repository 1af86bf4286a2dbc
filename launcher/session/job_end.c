/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/job_end.h"
#include "launcher/base/number.h"
#include "launcher/base/scontrol_output.h"
#include "launcher/exec/execution.h"
#include "launcher/session/companion.h"
#include "launcher/session/scontrol.h"
#include "pmix_bcast/clock.h"

#include <event2/event.h>
#include <sodium/randombytes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERVAL_MS 60000 /* between two questions, on the average */

struct job_end {
    struct event_base *base;
    struct event *timer;
    struct execution *squeue; /* that runs now */
    uint32_t job;             /* 0: the variable is all there is */
    void (*on)(void *arg, int64_t end_ns);
    void *arg;
    size_t len;
    char text[2048]; /* what it has printed: a line each component of the job */
};

/* --- what is said --------------------------------------------------------- */

static int64_t parse_line(const char *text)
{
    unsigned days = 0, part[3];
    int read = 0, n;

    if (strncmp(text, "UNLIMITED", 9) == 0)
        return INT64_MAX;
    if (strncmp(text, "INVALID", 7) == 0)
        return 0;
    if (strspn(text, "0123456789:-") != strlen(text) || *text == '-')
        return -1; /* %u reads more than that */
    if (sscanf(text, "%8u-%n", &days, &read) < 1 || read == 0)
        days = 0;
    text += read;
    n = sscanf(text, "%8u:%8u:%8u", &part[0], &part[1], &part[2]);
    if (n < 2)
        return -1;
    for (int i = 1; i < n; i++)
        if (part[i] > 59)
            return -1;
    return n == 3
               ? ((int64_t)days * 24 + part[0]) * 3600 + part[1] * 60 + part[2]
               : (int64_t)part[0] * 60 + part[1];
}

int64_t job_end_parse(const char *text)
{
    int64_t first = -1;
    char line[32];

    while (*text) {
        size_t len = strcspn(text, "\n");
        int64_t left;

        if (len >= sizeof line)
            return -1;
        memcpy(line, text, len);
        line[len] = '\0';
        left = parse_line(line);
        if (left < 0)
            return -1;
        if (first < 0 || left < first)
            first = left;
        text += len + (text[len] == '\n');
    }
    return first;
}

/* By the variable; -1 if it is not there, or is no time. */
static int64_t end_by_environ(void)
{
    const char *text = getenv("SLURM_JOB_END_TIME");
    int64_t end, left;

    if (!text || number_parse_int(text, 0, INT64_MAX / 2000000000, &end) < 0)
        return -1;
    left = end - (int64_t)time(NULL);
    if (left * 1000000000 + clock_ns() < 0)
        return 0;
    return left * 1000000000 + clock_ns();
}

int job_end_is_there(void)
{
    return end_by_environ() >= 0 || companion_job_from_environ() != 0;
}

/* --- asking --------------------------------------------------------------- */

/* At times of chance: runs that were started together do not ask together. */
static void wait_again(struct job_end *j)
{
    uint32_t ms = INTERVAL_MS / 2 + randombytes_uniform(INTERVAL_MS);
    struct timeval delay = {ms / 1000, ms % 1000 * 1000};

    (void)event_add(j->timer, &delay); /* else nothing more is heard */
}

static void on_squeue_output(void *arg, const void *text, size_t len)
{
    struct job_end *j = arg;
    size_t room = sizeof j->text - 1 - j->len;

    if (len > room)
        len = room;
    memcpy(j->text + j->len, text, len);
    j->len += len;
}

static void on_squeue_end(void *arg, const struct execution_end *end)
{
    struct job_end *j = arg;
    int64_t left, end_ns = -1;

    execution_destroy(j->squeue);
    j->squeue = NULL;
    j->text[j->len] = '\0';
    left = end->status == 0 ? job_end_parse(j->text) : -1;
    if (left == INT64_MAX || left > INT64_MAX / 2000000000)
        end_ns = JOB_END_NEVER;
    else if (left >= 0)
        end_ns = clock_ns() + left * 1000000000;
    wait_again(j);
    j->on(j->arg, end_ns >= 0 ? end_ns : end_by_environ());
}

static int ask_squeue(struct job_end *j)
{
    static char squeue[] = "squeue", plain[] = "-h", job[] = "-j",
                form[] = "-o", left[] = "%L";
    char id[16];
    char *argv[] = {squeue, plain, job, id, form, left, NULL};
    char **env = companion_environ();
    struct execution_spec spec = {.argv = argv, .envp = env};
    int rc;

    snprintf(id, sizeof id, "%u", j->job);
    j->len = 0;
    rc = env ? execution_start(&j->squeue, j->base, &spec, on_squeue_output,
                               on_squeue_end, j, NULL)
             : -1;
    free(env);
    return rc;
}

static void on_ask(int fd, short what, void *arg)
{
    struct job_end *j = arg;

    (void)fd;
    (void)what;
    if (j->squeue)
        return;
    if (j->job == 0) {
        j->on(j->arg, end_by_environ());
    } else if (ask_squeue(j) < 0) {
        wait_again(j);
        j->on(j->arg, end_by_environ());
    }
}

void job_end_ask(struct job_end *j)
{
    static const struct timeval now = {0, 0};

    (void)event_add(j->timer, &now); /* else what is known holds */
}

struct job_end *job_end_watch(struct event_base *base,
                              void (*on)(void *arg, int64_t end_ns),
                              void *arg)
{
    struct job_end *j = calloc(1, sizeof *j);

    if (!j)
        return NULL;
    j->base = base;
    j->job = companion_job_from_environ();
    j->on = on;
    j->arg = arg;
    j->timer = evtimer_new(base, on_ask, j);
    if (!j->timer) {
        free(j);
        return NULL;
    }
    job_end_ask(j);
    return j;
}

void job_end_stop(struct job_end *j)
{
    if (!j)
        return;
    execution_destroy(j->squeue);
    event_free(j->timer);
    free(j);
}

/* --- how it ended --------------------------------------------------------- */

#define WHY_S   1    /* srun does not wait for long */
#define WHY_MAX 8192 /* a line for each task of an array */

const char *job_end_why_parse(uint32_t job, const char *text)
{
    char name[32], state[32] = "", reason[32] = "";
    const char *line = text;

    snprintf(name, sizeof name, "JobId=%u ", job);
    while (line && strncmp(line, name, strlen(name)) != 0) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    if (line) {
        (void)scontrol_value(line, "JobState", state, sizeof state);
        (void)scontrol_value(line, "Reason", reason, sizeof reason);
    }
    if (strcmp(reason, "TimeLimit") == 0)
        return "the job reached its time limit";
    if (strcmp(state, "CANCELLED") == 0)
        return "the job was cancelled";
    return NULL;
}

const char *job_end_why(uint32_t job)
{
    static char plain[] = "-o", show[] = "show", what[] = "job";
    char id[16], text[WHY_MAX] = "";
    char *words[] = {plain, show, what, id, NULL};

    snprintf(id, sizeof id, "%u", job);
    if (scontrol_run(words, text, sizeof text, WHY_S) < 0)
        *text = '\0';
    return job_end_why_parse(job, text);
}
