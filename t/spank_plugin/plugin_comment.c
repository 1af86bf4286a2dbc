/* SPDX-License-Identifier: BSD-2-Clause */
/* In slurmstepd of the agents' step: what an agent says becomes the comment. */
#include "spank_plugin/plugin_comment.h"
#include "fake_spank.h"
#include "spank_plugin/plugin_options.h"
#include "spank_plugin/slurm_release.h"
#include "tap.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define OURS "evenstep: 5 frames in 4.55 s, slowest node n3"

/* --- slurmctld ------------------------------------------------------------ */

static struct {
    const char *was; /* the job's comment */
    int refuses;     /* an errno value */
    int hangs;
    char *set_to; /* by another process, in memory of both */
} ctld;

#define SET_TO_MAX 2048

int slurm_load_job(job_info_msg_t **resp,
                   slurm_release_job name,
                   uint16_t flags)
{
    uint32_t job = slurm_release_job_loaded(name);
    static slurm_job_info_t of[2];
    static job_info_msg_t all = {.record_count = 2, .job_array = of};
    static char comment[2048];

    (void)flags;
    of[0].job_id = job + 1; /* of the same array */
    of[0].admin_comment = (char *)"another's";
    of[1].job_id = job;
    if (ctld.was)
        snprintf(comment, sizeof comment, "%s", ctld.was);
    of[1].admin_comment = ctld.was ? comment : NULL;
    *resp = &all;
    return SLURM_SUCCESS;
}

void slurm_init_job_desc_msg(job_desc_msg_t *wish)
{
    memset(wish, 0, sizeof *wish);
}

int slurm_update_job(job_desc_msg_t *wish)
{
    while (ctld.hangs)
        (void)sleep(60);
    if (ctld.refuses) {
        errno = ctld.refuses;
        return SLURM_ERROR;
    }
    snprintf(ctld.set_to, SET_TO_MAX, "job %u: %s",
             slurm_release_job_named(wish), wish->admin_comment);
    return SLURM_SUCCESS;
}

/* What it has been told since it was asked last. */
static const char *set_to(void)
{
    static char text[SET_TO_MAX];

    memcpy(text, ctld.set_to, sizeof text);
    *ctld.set_to = '\0';
    return text;
}

/* --- text ----------------------------------------------------------------- */

static void test_check(void)
{
    char text[COMMENT_LINE_MAX], long_one[COMMENT_LINE_MAX + 1];

    is_int(plugin_comment_check(text, OURS, strlen(OURS)), 0, "our line");
    is_str(text, OURS, "is shown as it is");
    is_int(plugin_comment_check(text, "evenstep: a|b\n'\"$\x80;", 19), 0,
           "what might mislead a reader");
    is_str(text, "evenstep: a?b??????", "is not shown");
    is_int(plugin_comment_check(text, "other: a", 8), -1,
           "nothing but our lines");
    is_int(plugin_comment_check(text, "evenstep: ", 10), -1,
           "nor an empty one");
    memset(long_one, 'x', sizeof long_one);
    memcpy(long_one, "evenstep: ", 10);
    is_int(plugin_comment_check(text, long_one, COMMENT_LINE_MAX), -1,
           "nor one that is too long");
    is_int(plugin_comment_check(text, long_one, COMMENT_LINE_MAX - 1), 0,
           "the longest");
}

static void test_join(void)
{
    static const struct {
        const char *what, *was, *want;
    } table[] = {
        {"there is none", NULL, OURS},
        {"an empty one", "", OURS},
        {"the site's stays", "theirs", "theirs; " OURS},
        {"ours is replaced", "evenstep: 4 frames", OURS},
        {"ours behind the site's", "theirs; evenstep: old", "theirs; " OURS},
        {"one that ends oddly", "theirs; ", "theirs; " OURS},
        {"the site's behind ours stays", "theirs; evenstep: old; later",
         "theirs; later; " OURS},
        {"and behind ours alone", "evenstep: old; later; ", "later; " OURS},
        {"the site writes of evenstep", "see evenstep: paid; by X",
         "see evenstep: paid; by X; " OURS},
    };
    char comment[COMMENT_MAX], full[COMMENT_MAX];

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        is_int(plugin_comment_join(comment, table[i].was, OURS), 0,
               table[i].what);
        is_str(comment, table[i].want, "the comment");
    }
    memset(full, 'x', sizeof full);
    full[COMMENT_MAX - 20] = '\0';
    is_int(plugin_comment_join(comment, full, OURS), -1, "there is no room");
}

/* --- from the agent to slurmctld ------------------------------------------ */

enum { AGENTS = 9 };

/* The agents' step, on a site that has written this. */
static void begin(const char *argument, int is_of_agents)
{
    char *words = (char *)argument;

    fake_spank_clear();
    fake_spank.context = S_CTX_REMOTE;
    fake_spank.job = 7;
    plugin_options_clear();
    plugin_options_register(&fake_spank.handle);
    plugin_options_set_arguments(1, &words, 0);
    if (is_of_agents)
        (void)fake_spank.option[AGENTS].cb(AGENTS, "none", 1);
    else
        (void)spank_setenv(&fake_spank.handle, "EVENSTEP_COMPANION", "1", 1);
    plugin_comment_prepare(&fake_spank.handle);
    plugin_comment_task(&fake_spank.handle);
}

/* As an agent does, which waits for the answer. */
static void say(const char *line)
{
    const char *fd = fake_spank_env(COMMENT_FD);
    char byte;

    if (!fd || send(atoi(fd), line, strlen(line), MSG_NOSIGNAL) < 0
        || (!ctld.hangs && recv(atoi(fd), &byte, 1, 0) != 1))
        bail("the agent cannot say \"%s\"", line);
}

static void end(const char *want, const char *what)
{
    is_str(set_to(), want, what);
    plugin_comment_end(&fake_spank.handle);
    is_str(set_to(), "", "before the end");
}

static void test_way(void)
{
    begin("admin_comment=off", 1);
    ok(!fake_spank_env(COMMENT_FD), "no site wants it that does not say so");
    end("", "and nothing is set");
    begin("admin_comment=on", 0);
    ok(!fake_spank_env(COMMENT_FD), "no step but that of the agents");
    end("", "has a say");
    begin("admin_comment=on", 1);
    end("", "an agent that says nothing");
    fake_spank.node = 1;
    plugin_comment_prepare(&fake_spank.handle);
    (void)spank_unsetenv(&fake_spank.handle, COMMENT_FD);
    plugin_comment_task(&fake_spank.handle);
    ok(!fake_spank_env(COMMENT_FD), "one node says it for all");
    begin("admin_comment=on", 1);
    say("rm -rf /");
    say(OURS);
    end("job 7: " OURS, "a line that is ours is set at once");
    begin("admin_comment=on", 1);
    say(OURS);
    ok(send(atoi(fake_spank_env(COMMENT_FD)), OURS " 2", strlen(OURS) + 2,
            MSG_NOSIGNAL)
           < 0,
       "a step has one line");
    end("job 7: " OURS, "the first");
    begin("admin_comment=on", 1);
    for (int i = 0; i < 8; i++)
        say("no line of ours");
    ok(send(atoi(fake_spank_env(COMMENT_FD)), OURS, strlen(OURS), MSG_NOSIGNAL)
           < 0,
       "nor does it listen for long to what is none");
    end("", "which sets nothing");
    ctld.was = "theirs; evenstep: 1 frame";
    begin("admin_comment=on", 1);
    say(OURS);
    end("job 7: theirs; " OURS, "behind what the site has written");
    is_int(fake_spank.remarks + fake_spank.errors, 0, "without a word");
}

static void test_failures(void)
{
    static const struct {
        int refuses, hangs;
        const char *was, *want;
    } table[] = {
        {ESLURM_ACCESS_DENIED, 0, NULL,
         "evenstep: job 7 gets no AdminComment: slurmctld does not take it; "
         "slurmd must run as root, or as SlurmUser"},
        {ESLURM_JOB_FINISHED, 0, NULL,
         "evenstep: job 7 gets no AdminComment: it has ended; that of sbatch "
         "or salloc would get one"},
        {0, 1, NULL,
         "evenstep: job 7 gets no AdminComment: slurmctld does not answer"},
    };
    struct timespec begun, ended;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ctld.refuses = table[i].refuses;
        ctld.hangs = table[i].hangs;
        ctld.was = table[i].was;
        begin("admin_comment=on", 1);
        say(OURS);
        (void)clock_gettime(CLOCK_MONOTONIC, &begun);
        end("", "a comment that cannot be set");
        (void)clock_gettime(CLOCK_MONOTONIC, &ended);
        is_str(fake_spank.said, table[i].want, "is told once");
        is_int(fake_spank.errors, 0, "and not to the user");
        ok(ended.tv_sec - begun.tv_sec < 30, "nor is it waited for");
    }
}

int main(void)
{
    ctld.set_to = mmap(NULL, SET_TO_MAX, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ctld.set_to == MAP_FAILED)
        bail("no memory");
    test_check();
    test_join();
    test_way();
    test_failures();
    return done();
}
