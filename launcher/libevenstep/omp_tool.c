/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An OMPT tool ("OpenMP Application Programming Interface", 5.0, chapter 4).
 * What it needs of omp-tools.h stands here, so that no compiler's is needed.
 *
 * A task holds in its data, an ompt_data_t, whether it waits in a barrier or for its
 * children, and an implicit one whether it is of a team of several.
 * A thread that waits there may execute other tasks: it is busy as long as the
 * task that it executes is.
 */
#include "launcher/libevenstep/omp_tool.h"
#include "launcher/libevenstep/lend.h"
#include "launcher/libevenstep/mpi_real.h"
#include "launcher/libevenstep/thread_time.h"

#include <stdatomic.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };      /* ompt_scope_endpoint_t */
enum { TASK_INITIAL = 1 };                    /* ompt_task_flag_t */
enum { SYNC_REDUCTION = 7 };                  /* ompt_sync_region_t */
enum { EARLY_FULFILL = 5, LATE_FULFILL = 6 }; /* ompt_task_status_t */
enum { SET_SOMETIMES = 3 };                   /* ompt_set_result_t */
enum { ON_SCHEDULE = 6, ON_IMPLICIT = 7, ON_SYNC_WAIT = 16 }; /* _callbacks_t */

enum { WAITS = 1, IN_TEAM = 2 }; /* in a task's data */

typedef void any_fn(void);
typedef any_fn *lookup_fn(const char *name);
typedef int set_callback_fn(int event, any_fn *callback);

/* ompt_start_tool_result_t, with an ompt_data_t */
struct tool {
    // cppcheck-suppress unusedStructMember ; the runtime reads them all
    int (*initialize)(lookup_fn *lookup, int device, uint64_t *tool);
    // cppcheck-suppress unusedStructMember
    void (*finalize)(uint64_t *tool);
    // cppcheck-suppress unusedStructMember
    uint64_t data;
};
typedef struct tool *start_tool_fn(unsigned version, const char *runtime);

static _Atomic int is_on;

int omp_tool_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

/* A thread begins its part of a parallel region, or has left it.  The end of
 * others than the first comes late, but after the barrier at the region's end. */
static void on_implicit_task(int endpoint,
                             const uint64_t *region,
                             uint64_t *task,
                             unsigned threads,
                             unsigned index,
                             int flags)
{
    (void)region;
    if (flags & TASK_INITIAL)
        return;
    if (endpoint == SCOPE_BEGIN) {
        *task = threads > 1 ? IN_TEAM : 0;
        thread_time_enter(threads, index == 0);
        if (lend_is_on())
            lend_thread(index);
    } else if (endpoint == SCOPE_END) {
        (void)thread_time_set(index == 0);
        thread_time_leave(*task & IN_TEAM ? 2 : 1);
        if (lend_is_on())
            lend_busy(0);
    }
}

static void on_sync_wait(int kind,
                         int endpoint,
                         const uint64_t *region,
                         uint64_t *task,
                         const void *code)
{
    (void)region;
    (void)code;
    if (kind == SYNC_REDUCTION
        || (endpoint != SCOPE_BEGIN && endpoint != SCOPE_END))
        return;
    if (task)
        *task = (*task & IN_TEAM) | (endpoint == SCOPE_BEGIN ? WAITS : 0);
    (void)thread_time_set(endpoint == SCOPE_END);
    if (lend_is_on())
        lend_busy(endpoint == SCOPE_END);
}

static void on_task_schedule(const uint64_t *prior,
                             int status,
                             const uint64_t *next)
{
    (void)prior;
    if (next && status != EARLY_FULFILL && status != LATE_FULFILL)
        (void)thread_time_set(!(*next & WAITS));
}

static int initialize(lookup_fn *lookup, int device, uint64_t *tool)
{
    set_callback_fn *set = (set_callback_fn *)lookup("ompt_set_callback");

    (void)device;
    (void)tool;
    if (!set || set(ON_IMPLICIT, (any_fn *)on_implicit_task) < SET_SOMETIMES
        || set(ON_SYNC_WAIT, (any_fn *)on_sync_wait) < SET_SOMETIMES
        || set(ON_SCHEDULE, (any_fn *)on_task_schedule) < SET_SOMETIMES)
        return 0;
    atomic_store(&is_on, 1);
    return 1;
}

static void finalize(uint64_t *tool)
{
    (void)tool;
}

/* Another tool comes first: one behind us, among them the runtime's own search,
 * and those that OMP_TOOL_LIBRARIES names, which the runtime looks for when
 * there is none. */
EXPORT struct tool *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct tool *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct tool tool = {initialize, finalize, 0};
    start_tool_fn *next = (start_tool_fn *)mpi_real_next("ompt_start_tool");
    struct tool *other = next ? next(version, runtime) : NULL;
    const char *libraries = getenv("OMP_TOOL_LIBRARIES");

    if (other)
        return other;
    if (!getenv("EVENSTEP_DIR") || (libraries && *libraries))
        return NULL;
    return &tool;
}
