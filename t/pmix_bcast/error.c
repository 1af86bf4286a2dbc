/* SPDX-License-Identifier: BSD-2-Clause */
/* One failure: what is filled, and what is left as it was. */
#include "pmix_bcast/error.h"
#include "tap.h"

#include <errno.h>

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
    is_int(es_no_space(&err), -1, "without space: -1");
    ok(err.kind == ES_WORK && strcmp(err.what, "cannot write") == 0
           && strcmp(err.mend, "free some space") == 0,
       "and so it is said");
}

int main(void)
{
    test_fail();
    test_common();
    return done();
}
