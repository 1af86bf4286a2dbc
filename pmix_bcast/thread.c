/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/thread.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

_Static_assert(THREADS_MAX < 10, "one digit");

int thread_start(pthread_t *t, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    int why;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    why = pthread_create(t, NULL, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return why;
}

unsigned thread_cpus(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof cpus, &cpus) == 0
               ? (unsigned)CPU_COUNT(&cpus)
               : 1;
}

/* The other half is for the job, and for the kernel's part of the network. */
unsigned threads_beside(unsigned wish, unsigned cpus)
{
    unsigned all = wish == THREADS_AUTO ? cpus / 2 : wish, most = THREADS_MAX;

    if (wish == THREADS_AUTO)
        most /= 2;
    if (all > most)
        all = most;
    return all > 0 ? all - 1 : 0;
}

unsigned threads_at_once(unsigned wish, unsigned cpus)
{
    return wish == THREADS_AUTO ? 0 : threads_beside(wish, cpus);
}

unsigned threads_read(const char *text)
{
    if (strcmp(text, "auto") == 0)
        return THREADS_AUTO;
    return text[0] >= '1' && text[0] <= (char)('0' + THREADS_MAX) && !text[1]
               ? (unsigned)(text[0] - '0')
               : 0;
}

const char *threads_write(char text[8], unsigned wish)
{
    if (wish == THREADS_AUTO)
        return "auto";
    snprintf(text, 8, "%u", wish);
    return text;
}
