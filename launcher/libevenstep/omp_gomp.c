/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in front of GCC's OpenMP runtime, which has no OMPT: a parallel region
 * is a function that each thread of a team calls, and what comes after it is
 * the barrier at the region's end.
 *
 * Who executes explicit tasks, which threads do while they wait in barriers, is
 * not to be seen from here: of a program that has any the time of its threads is
 * not told.
 */
#include "launcher/libevenstep/lend.h"
#include "launcher/libevenstep/omp_tool.h"
#include "launcher/libevenstep/pass_on.h"
#include "launcher/libevenstep/thread_time.h"

/* What each thread is to call; on the stack of the one that waits for all. */
struct body {
    void (*fn)(void *);
    void *data;
    const void *first; /* of the thread that leads the team: */
};

static _Thread_local __attribute__((tls_model("initial-exec"))) char self;
static void *_Atomic team_size_fn, *_Atomic number_fn;

static unsigned ask(void *_Atomic *fn)
{
    typedef int ask_fn(void);
    ask_fn *found = (ask_fn *)atomic_load_explicit(fn, memory_order_relaxed);

    return found ? (unsigned)found() : 0;
}

static void call_body(void *arg)
{
    const struct body *body = arg;
    unsigned number = lend_is_on() ? ask(&number_fn) : 0;
    unsigned n = ask(&team_size_fn);

    thread_time_enter(n, body->first == &self);
    if (number > 0)
        lend_thread(number);
    body->fn(body->data);
    if (number > 0)
        lend_busy(0);
    (void)thread_time_set(0);
    thread_time_leave(n);
}

static int is_measured(void)
{
    return thread_time_is_on() && !omp_tool_is_on();
}

static void find(void *_Atomic *fn, const char *name, const void *caller)
{
    if (!atomic_load_explicit(fn, memory_order_relaxed))
        atomic_store_explicit(fn, mpi_real_find(name, caller),
                              memory_order_relaxed);
}

static void find_all(const void *caller)
{
    find(&team_size_fn, "omp_get_num_threads", caller);
    find(&number_fn, "omp_get_thread_num", caller);
}

/* The first two arguments are the function and its data. */
#define WRAP_REGION(name, n)                                                   \
    REAL(name, n)                                                              \
    EXPORT long name(P##n);                                                    \
    EXPORT long name(P##n)                                                     \
    {                                                                          \
        name##_fn *real = find_##name(CALLER);                                 \
        struct body body = {(void (*)(void *))a, (void *)b, &self};            \
        int was_busy;                                                          \
        long rc;                                                               \
                                                                               \
        if (!is_measured())                                                    \
            return real(A##n);                                                 \
        find_all(CALLER);                                                      \
        was_busy = thread_time_set(1);                                         \
        a = (long)call_body;                                                   \
        b = (long)&body;                                                       \
        rc = real(A##n);                                                       \
        (void)thread_time_set(was_busy);                                       \
        return rc;                                                             \
    }

WRAP_REGION(GOMP_parallel, 4)
WRAP_REGION(GOMP_parallel_reductions, 4)
WRAP_REGION(GOMP_parallel_sections, 5)
WRAP_REGION(GOMP_parallel_loop_static, 8)
WRAP_REGION(GOMP_parallel_loop_dynamic, 8)
WRAP_REGION(GOMP_parallel_loop_guided, 8)
WRAP_REGION(GOMP_parallel_loop_runtime, 7)
WRAP_REGION(GOMP_parallel_loop_nonmonotonic_dynamic, 8)
WRAP_REGION(GOMP_parallel_loop_nonmonotonic_guided, 8)
WRAP_REGION(GOMP_parallel_loop_nonmonotonic_runtime, 7)
WRAP_REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime, 7)

#define WRAP_BARRIER(name)                                                     \
    REAL(name, 0)                                                              \
    EXPORT long name(void);                                                    \
    EXPORT long name(void)                                                     \
    {                                                                          \
        name##_fn *real = find_##name(CALLER);                                 \
        int was_busy;                                                          \
        long rc;                                                               \
                                                                               \
        if (!is_measured())                                                    \
            return real();                                                     \
        was_busy = thread_time_set(0);                                         \
        rc = real();                                                           \
        (void)thread_time_set(was_busy);                                       \
        return rc;                                                             \
    }

WRAP_BARRIER(GOMP_barrier)
WRAP_BARRIER(GOMP_barrier_cancel)
WRAP_BARRIER(GOMP_loop_end)
WRAP_BARRIER(GOMP_loop_end_cancel)
WRAP_BARRIER(GOMP_sections_end)
WRAP_BARRIER(GOMP_sections_end_cancel)

/* Of older callers, which give fewer arguments, the last ones are whatever the
 * stack holds, which the runtime does not look at. */
#define WRAP_TASK(name, n)                                                     \
    REAL(name, n)                                                              \
    EXPORT long name(P##n);                                                    \
    EXPORT long name(P##n)                                                     \
    {                                                                          \
        if (is_measured())                                                     \
            thread_time_give_up();                                             \
        return find_##name(CALLER)(A##n);                                      \
    }

WRAP_TASK(GOMP_task, 10)
WRAP_TASK(GOMP_taskloop, 11)
WRAP_TASK(GOMP_taskloop_ull, 11)
