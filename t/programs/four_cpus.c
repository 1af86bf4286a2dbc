/* SPDX-License-Identifier: BSD-2-Clause */
/* Preloaded, it lets an evenstep-agent see four CPUs, whatever the machine has:
 * as many threads as it then advises need not be of use to anybody. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    long n;

    if (strcmp(program_invocation_short_name, "evenstep-agent") == 0) {
        memset(set, 0, size);
        for (size_t i = 0; i < 4; i++)
            CPU_SET_S(i, size, set);
        return 0;
    }
    n = syscall(SYS_sched_getaffinity, pid, size, set);
    if (n < 0)
        return -1;
    memset((char *)set + n, 0, size - (size_t)n);
    return 0;
}
