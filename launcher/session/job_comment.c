/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/job_comment.h"
#include "launcher/session/scontrol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 65536 /* of a job; 2 KB is usual */

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

/* Remove the line of an earlier run, which has no ';' and is whole between two
 * of them: what else the user writes of evenstep stays. */
static void remove_ours(char *comment)
{
    char *at = strstr(comment, JOB_COMMENT_BEGIN), *rest;

    while (at && at != comment
           && (at - comment < 2 || memcmp(at - 2, "; ", 2) != 0))
        at = strstr(at + 1, JOB_COMMENT_BEGIN);
    if (!at)
        return;
    rest = at + strcspn(at, ";");
    rest += strspn(rest, "; ");
    memmove(at, rest, strlen(rest) + 1);
}

int job_comment_join(char comment[JOB_COMMENT_MAX], const char *line)
{
    size_t len;

    remove_ours(comment);
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

static int show(uint32_t job, char text[SHOWN_MAX])
{
    static char word[] = "show", what[] = "job";
    char number[16], *words[] = {word, what, number, NULL};

    snprintf(number, sizeof number, "%" PRIu32, job);
    return scontrol_run(words, text, SHOWN_MAX, SCONTROL_S);
}

static int update(uint32_t job, const char *comment)
{
    static char word[] = "update";
    char id[32], text[JOB_COMMENT_MAX + 16], *words[] = {word, id, text, NULL};

    snprintf(id, sizeof id, "jobid=%" PRIu32, job);
    snprintf(text, sizeof text, "comment=%s", comment);
    return scontrol_run(words, NULL, 0, SCONTROL_S);
}

int job_comment_set(uint32_t job, const char *line, struct es_error *err)
{
    char *shown = malloc(SHOWN_MAX), comment[JOB_COMMENT_MAX];
    int rc = -1;

    if (!shown)
        rc = es_no_memory(err);
    else if (show(job, shown) < 0)
        es_fail(err, ES_ENV, "see that scontrol works here",
                "scontrol does not tell the job's comment");
    else if (job_comment_find(comment, shown) < 0
             || job_comment_join(comment, line) < 0)
        es_fail(err, ES_ENV, "shorten it by scontrol update",
                "the job's comment has no room for one more line");
    else if (update(job, comment) < 0)
        es_fail(err, ES_ENV, "ask the site whether users may",
                "scontrol does not set the job's comment");
    else
        rc = 0;
    free(shown);
    return rc;
}
