/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/job_comment.h"
#include "launcher/exec/execution.h"
#include "launcher/session/companion.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 65536 /* of a job; 2 KB is usual */
#define LIMIT_S   10

/* --- text ----------------------------------------------------------------- */

int job_comment_find(char comment[JOB_COMMENT_MAX], const char *shown)
{
    static const char key[] = "Comment=";
    size_t len;

    comment[0] = '\0';
    for (const char *at = shown; *at; at += *at == '\n') {
        at += strspn(at, " ");
        len = strcspn(at, "\n");
        if (strncmp(at, key, sizeof key - 1) == 0) {
            at += sizeof key - 1;
            len -= sizeof key - 1;
            while (len > 0 && at[len - 1] == ' ')
                len--;
            if (len >= JOB_COMMENT_MAX)
                return -1;
            if (len != 6 || strncmp(at, "(null)", len) != 0)
                snprintf(comment, JOB_COMMENT_MAX, "%.*s", (int)len, at);
            return 0;
        }
        at += len;
    }
    return 0;
}

int job_comment_join(char comment[JOB_COMMENT_MAX], const char *line)
{
    char *ours = strstr(comment, JOB_COMMENT_BEGIN);
    size_t len;

    if (ours)
        *ours = '\0'; /* with what is between */
    len = strlen(comment);
    while (len > 0 && (comment[len - 1] == ' ' || comment[len - 1] == ';'))
        comment[--len] = '\0';
    if (len + 2 + strlen(line) >= JOB_COMMENT_MAX)
        return -1;
    snprintf(comment + len, JOB_COMMENT_MAX - len, "%s%s", len > 0 ? "; " : "",
             line);
    return 0;
}

/* --- scontrol ------------------------------------------------------------- */

struct asking {
    struct event_base *base;
    size_t len;
    char text[SHOWN_MAX];
    int is_over, status;
};

static void on_output(void *arg, const void *text, size_t len)
{
    struct asking *a = arg;
    size_t room = sizeof a->text - 1 - a->len;

    if (len > room)
        len = room;
    memcpy(a->text + a->len, text, len);
    a->len += len;
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct asking *a = arg;

    a->is_over = 1;
    a->status = end->status;
    (void)event_base_loopbreak(a->base);
}

/* Run scontrol with these words; its output is in a->text.  0, or -1. */
static int run(struct asking *a, char *argv[])
{
    char **env = companion_environ();
    struct execution_spec spec = {.argv = argv, .envp = env};
    struct timeval limit = {LIMIT_S / 2, 0};
    struct execution *x = NULL;

    a->len = 0;
    a->is_over = 0;
    if (env
        && execution_start(&x, a->base, &spec, on_output, on_end, a, NULL) == 0
        && event_base_loopexit(a->base, &limit) == 0)
        (void)event_base_dispatch(a->base);
    execution_destroy(x);
    free(env);
    a->text[a->len] = '\0';
    return a->is_over && a->status == 0 ? 0 : -1;
}

static int show(struct asking *a, uint32_t job)
{
    static char scontrol[] = "scontrol", word[] = "show", what[] = "job";
    char number[16], *argv[] = {scontrol, word, what, number, NULL};

    snprintf(number, sizeof number, "%" PRIu32, job);
    return run(a, argv);
}

static int update(struct asking *a, uint32_t job, const char *comment)
{
    static char scontrol[] = "scontrol", word[] = "update";
    char id[32], text[JOB_COMMENT_MAX + 16];
    char *argv[] = {scontrol, word, id, text, NULL};

    snprintf(id, sizeof id, "jobid=%" PRIu32, job);
    snprintf(text, sizeof text, "comment=%s", comment);
    return run(a, argv);
}

int job_comment_set(uint32_t job, const char *line, struct es_error *err)
{
    struct asking *a = calloc(1, sizeof *a);
    char comment[JOB_COMMENT_MAX];
    int rc = -1;

    if (a)
        a->base = event_base_new();
    if (!a || !a->base)
        rc = es_no_memory(err);
    else if (show(a, job) < 0)
        es_fail(err, ES_ENV, "see that scontrol works here",
                "scontrol does not tell the job's comment");
    else if (job_comment_find(comment, a->text) < 0
             || job_comment_join(comment, line) < 0)
        es_fail(err, ES_ENV, "shorten it by scontrol update",
                "the job's comment has no room for one more line");
    else if (update(a, job, comment) < 0)
        es_fail(err, ES_ENV, "ask the site whether users may",
                "scontrol does not set the job's comment");
    else
        rc = 0;
    if (a && a->base)
        event_base_free(a->base);
    free(a);
    return rc;
}
