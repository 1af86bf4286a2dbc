/* SPDX-License-Identifier: BSD-2-Clause */
/* We may have all files open that the system allows; what we start may not. */
#include "launcher/base/file_limit.h"
#include "tap.h"

#include <sys/resource.h>

static struct rlimit now(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        bail("no limits");
    return limit;
}

int main(void)
{
    struct rlimit given = now();

    file_limit_restore();
    ok(now().rlim_cur == given.rlim_cur, "before it is raised nothing is");
    given.rlim_cur = 64;
    if (given.rlim_max <= 64 || setrlimit(RLIMIT_NOFILE, &given) < 0)
        skip_all("no room between the limits");
    file_limit_raise();
    ok(now().rlim_cur == given.rlim_max, "it is raised as far as allowed");
    ok(now().rlim_max == given.rlim_max, "and no farther");
    file_limit_raise();
    file_limit_restore();
    ok(now().rlim_cur == 64 && now().rlim_max == given.rlim_max,
       "a command gets what we were given, also if it was raised twice");
    return done();
}
