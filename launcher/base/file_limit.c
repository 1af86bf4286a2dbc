/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/file_limit.h"
#include "launcher/base/notice.h"

#include <sys/resource.h>

static struct rlimit given; /* before it was raised */
static int is_raised;

void file_limit_raise(void)
{
    struct rlimit raised;

    if (is_raised || getrlimit(RLIMIT_NOFILE, &given) < 0)
        return;
    raised = given;
    raised.rlim_cur = raised.rlim_max;
    is_raised = setrlimit(RLIMIT_NOFILE, &raised) == 0; /* else as it was */
}

void file_limit_restore(void)
{
    if (is_raised)
        (void)setrlimit(RLIMIT_NOFILE, &given);
}

void file_limit_reached(void *arg, const char *why)
{
    (void)arg;
    notice("warning: callers must wait: %s: raise the limit of open files "
           "(ulimit -Hn)",
           why);
}
