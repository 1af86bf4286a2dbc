/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stand_in.h - what the stand-ins for the drivers of GPUs have in common:
 * devices of 64 MiB whose copies are copies in memory, and whose kernel stores
 * what it should after the time that a device of 16 Tflop/s takes.
 *
 * $STAND_IN_GPU says how they behave, by commas; E is an error of the maker's:
 *
 *   devices=N     there are N devices
 *   init=E        the driver does not start
 *   alloc=E       it has no memory
 *   build=E       it does not translate the kernel
 *   wrong         the kernel stores another number
 *   name          a device's name holds a line feed
 *   huge          it copies and computes in no time and says that memory is
 *                 2^63 bytes
 *   hang, crash   the driver never starts, or dies of a bad access; with
 *                 "-kernel" when it shall compute, with "-watch" what only
 *                 watches
 *   lingers       the process is not over until a while after its end, as
 *                 one whose memory a GPU's driver has to take back
 *
 * Built with OLD they lack a function that is needed, with BARE one that is
 * needed to compute.
 */
#ifndef T_DRIVERS_STAND_IN_H
#define T_DRIVERS_STAND_IN_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default"), unused))

#define DEVICE_BYTES ((size_t)64 << 20)
#define ALLOCATED    16

static void *allocated[ALLOCATED];
static size_t n_allocated;

/* The number after "word=", or none; -1 if the word is not there. */
__attribute__((unused)) static int asked(const char *word, int none)
{
    const char *text = getenv("STAND_IN_GPU");
    size_t len = strlen(word);

    for (; text && *text; text += strcspn(text, ","), text += *text == ',')
        if (strncmp(text, word, len) == 0 && strchr("=,", text[len]))
            return text[len] == '=' ? atoi(text + len + 1) : none;
    return -1;
}

/* where: "", "-kernel" or "-watch" */
__attribute__((unused)) static void behave(const char *where)
{
    char hang[16], crash[16];

    snprintf(hang, sizeof hang, "hang%s", where);
    snprintf(crash, sizeof crash, "crash%s", where);
    while (asked(hang, 1) > 0)
        pause();
    if (asked(crash, 1) > 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler is not the point */
        raise(SIGSEGV);
    }
}

/* As long as another process traces ours, our parent has no status of us. */
__attribute__((unused)) static void linger(void)
{
    const struct timespec a_while = {0, 300000000};
    int ready[2];
    char byte;

    if (asked("lingers", 1) < 0 || pipe(ready) < 0)
        return;
    if (fork() == 0) {
        (void)ptrace(PTRACE_SEIZE, getppid(), NULL, NULL);
        closefrom(3); /* the parent's pipes, and ready[] */
        nanosleep(&a_while, NULL);
        _exit(0);
    }
    close(ready[1]);
    (void)!read(ready[0], &byte, 1); /* its end */
}

__attribute__((unused)) static int devices(void)
{
    return asked("devices", 1) >= 0 ? asked("devices", 1) : 1;
}

/* How many the environment leaves: of its numbers those before the first that is
 * none of ours. */
__attribute__((unused)) static int left_by(const char *variable)
{
    const char *list = getenv(variable);
    int n = 0;

    if (!list)
        return devices();
    while (*list >= '0' && *list - '0' < devices()) {
        n++;
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return n;
}

__attribute__((unused)) static size_t device_bytes(void)
{
    return asked("huge", 1) > 0 ? (size_t)1 << 63 : DEVICE_BYTES;
}

__attribute__((unused)) static const char *device_name(void)
{
    return asked("name", 1) > 0 ? "Stand-in\nH1" : "Stand-in H1";
}

/* NULL if there is none. */
__attribute__((unused)) static void *allocate(size_t bytes)
{
    if (asked("alloc", 1) > 0 || n_allocated == ALLOCATED)
        return NULL;
    allocated[n_allocated] = calloc(1, bytes);
    return allocated[n_allocated++];
}

__attribute__((unused)) static void release_all(void)
{
    while (n_allocated > 0)
        free(allocated[--n_allocated]);
}

__attribute__((unused)) static void copy(void *to,
                                         const void *from,
                                         size_t bytes)
{
    if (asked("huge", 1) < 0)
        memcpy(to, from, bytes);
}

/* The kernel of launcher/probe/gpu_maker.h: 2^24 operations a round. */
__attribute__((unused)) static void compute(float *out, uint32_t rounds)
{
    struct timespec t = {0, (long)rounds * 1000};

    behave("-kernel");
    t.tv_sec = t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    if (asked("huge", 1) < 0)
        nanosleep(&t, NULL);
    *out = asked("wrong", 1) > 0 ? 7 : 8;
}

#endif
