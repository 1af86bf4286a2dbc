/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/job_comment.h"
#include "tap.h"

#include <string.h>

#define OURS "evenstep: 5 frames"

static void find(void)
{
    static const struct {
        const char *what, *shown, *want;
    } table[] = {
        {"none", "JobId=7 JobName=a\n   Priority=1\n", ""},
        {"an empty one", "JobId=7\n   Comment= \n", ""},
        {"Slurm's word for none", "JobId=7\n   Comment=(null)\n", ""},
        {"words with blanks",
         "JobId=7\n   Comment=mine, two = words \n   Power=\n",
         "mine, two = words"},
        {"the administrator's is another",
         "JobId=7\n   AdminComment=no\n   Comment=yes", "yes"},
        {"a job's name is none", "JobId=7 JobName=Comment=x\n", ""},
    };
    char comment[JOB_COMMENT_MAX], shown[JOB_COMMENT_MAX + 64];

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        is_int(job_comment_find(comment, table[i].shown), 0, table[i].what);
        is_str(comment, table[i].want, "it is as it was");
    }
    memset(shown, 'x', sizeof shown);
    memcpy(shown, "Comment=", 8);
    shown[sizeof shown - 1] = '\0';
    is_int(job_comment_find(comment, shown), -1,
           "one that is too long is left alone");
}

static void join(void)
{
    static const struct {
        const char *what, *was, *want;
    } table[] = {
        {"there is none", "", OURS},
        {"the user's stays", "mine", "mine; " OURS},
        {"ours is replaced", "evenstep: 4 frames, old", OURS},
        {"ours behind the user's is replaced", "mine; evenstep: old",
         "mine; " OURS},
        {"a user's that ends oddly", "mine; ", "mine; " OURS},
        {"the user's behind ours stays", "mine; evenstep: old; later",
         "mine; later; " OURS},
        {"the user has a part on it", "see evenstep: paid; by X",
         "see evenstep: paid; by X; " OURS},
        {"the user speaks of it", "try evenstep", "try evenstep; " OURS},
    };
    char comment[JOB_COMMENT_MAX];

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        strcpy(comment, table[i].was);
        is_int(job_comment_join(comment, OURS), 0, table[i].what);
        is_str(comment, table[i].want, "the comment");
    }
    memset(comment, 'x', sizeof comment);
    comment[JOB_COMMENT_MAX - 4] = '\0';
    is_int(job_comment_join(comment, OURS), -1, "there is no room");
}

int main(void)
{
    find();
    join();
    return done();
}
