/* SPDX-License-Identifier: BSD-2-Clause */
/* One failure: what is filled, and what is left as it was. */
#include "pmix_bcast/error.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

static void test_fail(void)
{
    struct es_error err = {0};

    errno = EINTR;
    is_int(es_fail(&err, ES_USAGE, "give 1 to 9", "%d is out of range", 10), -1,
           "a failure is -1");
    ok(err.kind == ES_USAGE && strcmp(err.what, "10 is out of range") == 0
           && strcmp(err.mend, "give 1 to 9") == 0,
       "with its kind, what is wrong, and how to mend it");
    is_int(errno, EINTR, "errno is left as it was");
    is_int(es_fail(NULL, ES_WORK, "x", "y"), -1, "nobody need hear the reason");
}

static void test_common(void)
{
    struct es_error err = {0};

    is_int(es_no_memory(&err), -1, "without memory: -1");
    ok(err.kind == ES_ENV && strcmp(err.what, "out of memory") == 0
           && strcmp(err.mend, "free some memory") == 0,
       "and so it is said");
    errno = ENOSPC;
    is_int(es_no_space(&err), -1, "without space: -1");
    ok(err.kind == ES_WORK && strcmp(err.what, "cannot write") == 0
           && strcmp(err.mend, "free some space") == 0,
       "and so it is said");
    errno = EPIPE;
    is_int(es_no_space(&err), -1, "where nobody reads any more, likewise");
    is_str(err.mend, "its reader has gone", "and that is said");
}

static void test_files(void)
{
    static const struct {
        int error;
        const char *mend;
    } rows[] = {
        {ENOSPC, "free some space or name another file"},
        {EDQUOT, "free some space or name another file"},
        {EFBIG, "raise ulimit -f or name another file"},
        {EACCES, "name a file that you may write"},
        {EROFS, "name a file that you may write"},
        {ENOTDIR, "name another file, in a folder that is there"},
        {ENOMEM, "free some memory"},
        {EPIPE, "its reader has gone"},
        {EIO, "name another file"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        is_str(es_mend_file(rows[i].error), rows[i].mend,
               strerror(rows[i].error));
}

int main(void)
{
    test_fail();
    test_common();
    test_files();
    return done();
}
