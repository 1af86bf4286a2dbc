/* SPDX-License-Identifier: BSD-2-Clause */
/* What squeue and the environment say of a job's end. */
#include "launcher/session/job_end.h"
#include "pmix_bcast/clock.h"
#include "tap.h"

#include <event2/event.h>
#include <time.h>

static const struct {
    const char *text;
    int64_t seconds;
} vectors[] = {
    {"0:57\n", 57},
    {"12:34\n", 754},
    {"1:02:03\n", 3723},
    {"2-01:02:03\n", 176523},
    {"10-00:00:00", 864000},
    {"UNLIMITED\n", INT64_MAX},
    {"INVALID\n", 0},
    {"UNLIMITED\n10:00\n", 600}, /* components of one job */
    {"59:00\n10:00\n1:00:00\n", 600},
    {"10:00\nNOT_SET\n", -1},
    {"NOT_SET\n", -1},
    {"", -1},
    {"\n", -1},
    {"57\n", -1},
    {"1:60\n", -1},
    {"1:2:99\n", -1},
    {"-1:00\n", -1},
    {"slurm_load_jobs error: Invalid job id specified\n", -1},
};

/* What `scontrol -o show job` prints of job 7, with its state and reason. */
static const struct {
    const char *text, *why;
} ends[] = {
    {"JobId=7 JobName=a UserId=ann(1) JobState=COMPLETING Reason=TimeLimit "
     "Dependency=(null)\n",
     "the job reached its time limit"},
    {"JobId=7 JobName=a JobState=TIMEOUT Reason=TimeLimit\n",
     "the job reached its time limit"},
    {"JobId=7 JobName=a JobState=CANCELLED Reason=None\n",
     "the job was cancelled"},
    {"JobId=7 JobName=a JobState=RUNNING Reason=None\n", NULL},
    {"JobId=6 ArrayJobId=6 JobState=CANCELLED Reason=None\n"
     "JobId=7 ArrayJobId=6 JobState=RUNNING Reason=None\n",
     NULL},
    {"JobId=77 JobState=CANCELLED Reason=TimeLimit\n", NULL},
    {"JobId=7 JobName=a JobState=COMPLETING Reason=None\n", NULL},
    {"slurm_load_jobs error: Invalid job id specified\n", NULL},
    {"JobId=7 ", NULL},
    {"", NULL},
};

struct heard {
    struct event_base *base;
    int times;
    int64_t end_ns;
};

static void on(void *arg, int64_t end_ns)
{
    struct heard *h = arg;

    h->times++;
    h->end_ns = end_ns;
    event_base_loopbreak(h->base);
}

/* What is heard with that in the environment; 0 times: no memory. */
static struct heard hear(const char *end)
{
    struct heard h = {.base = event_base_new()};
    struct job_end *j;

    if (end)
        setenv("SLURM_JOB_END_TIME", end, 1);
    else
        unsetenv("SLURM_JOB_END_TIME");
    j = job_end_watch(h.base, on, &h);
    if (j)
        event_base_dispatch(h.base);
    job_end_stop(j);
    event_base_free(h.base);
    return h;
}

static void test_environ(void)
{
    char text[32];
    struct heard h;

    snprintf(text, sizeof text, "%jd", (intmax_t)time(NULL) + 100);
    h = hear(text);
    is_int(h.times, 1, "it is told once");
    ok(h.end_ns > clock_ns() + 90 * INT64_C(1000000000)
           && h.end_ns <= clock_ns() + 101 * INT64_C(1000000000),
       "100 s from now");
    ok(job_end_is_there(), "there is an end to be known");
    h = hear("0");
    ok(h.times == 1 && h.end_ns >= 0 && h.end_ns <= clock_ns(),
       "one that is long over");
    is_int(hear("soon").end_ns, -1, "no number: nothing is known");
    ok(!job_end_is_there(), "and nothing to be known, without a job");
    is_int(hear("9223372036854775807").end_ns, -1, "too large a number");
    is_int(hear(NULL).end_ns, -1, "nothing at all");
}

static void why_is(const char *text, const char *want)
{
    const char *why = job_end_why_parse(7, text);

    is_str(why ? why : "not known", want ? want : "not known",
           "why a job has ended");
}

int main(void)
{
    unsetenv("SLURM_JOB_ID");
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        is_int(job_end_parse(vectors[i].text), vectors[i].seconds,
               vectors[i].text[0] >= ' ' ? "what squeue prints" : "an end");
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        why_is(ends[i].text, ends[i].why);
    test_environ();
    job_end_stop(NULL);
    return done();
}
