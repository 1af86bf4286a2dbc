/* SPDX-License-Identifier: BSD-2-Clause */
/* Which threads are busy, as told by an OpenMP runtime, and what is left of
 * that in the meter page. */
#include "launcher/libevenstep/thread_time.h"
#include "launcher/libevenstep/omp_tool.h"
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BEGIN = 1, END = 2 };
enum { BARRIER = 9, REDUCTION = 7 };
enum { COMPLETE = 1, LATE_FULFILL = 6, SWITCH = 7 };

typedef void any_fn(void);
typedef any_fn *lookup_fn(const char *name);

/* What the runtime sees of us. */
struct tool {
    int (*initialize)(lookup_fn *lookup, int device, uint64_t *data);
    // cppcheck-suppress unusedStructMember
    void (*finalize)(uint64_t *data);
    uint64_t data;
};
struct tool *ompt_start_tool(unsigned version, const char *runtime);

static struct meter_page *page;
static struct meter_rank *entry; /* of slot 0 */
static any_fn *callback[64];
static int answer; /* of set_callback() */

static int set_callback(int event, any_fn *fn)
{
    callback[event] = fn;
    return answer;
}

static any_fn *lookup(const char *name)
{
    return strcmp(name, "ompt_set_callback") == 0 ? (any_fn *)set_callback
                                                  : NULL;
}

static void implicit(int end, uint64_t *task, unsigned n, unsigned index)
{
    typedef void fn(int, void *, uint64_t *, unsigned, unsigned, int);

    ((fn *)callback[7])(end, NULL, task, n, index, 2);
}

static void sync_wait(int kind, int end, uint64_t *task)
{
    typedef void fn(int, int, void *, uint64_t *, const void *);

    ((fn *)callback[16])(kind, end, NULL, task, NULL);
}

static void schedule(uint64_t *prior, int status, uint64_t *next)
{
    typedef void fn(uint64_t *, int, uint64_t *);

    ((fn *)callback[6])(prior, status, next);
}

static int is_busy(void)
{
    int was = thread_time_set(1);

    (void)thread_time_set(was);
    return was;
}

static void pass_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};

    (void)nanosleep(&t, NULL);
}

static void test_start(void)
{
    struct tool *tool;

    (void)unsetenv("EVENSTEP_DIR");
    (void)unsetenv("OMP_TOOL_LIBRARIES");
    ok(!ompt_start_tool(201811, "test"), "no tool where nothing is metered");
    if (setenv("EVENSTEP_DIR", "/nowhere", 1) < 0
        || setenv("OMP_TOOL_LIBRARIES", "other.so", 1) < 0)
        bail("no environment");
    ok(!ompt_start_tool(201811, "test"), "nor where another one is named");
    (void)setenv("OMP_TOOL_LIBRARIES", "", 1);
    tool = ompt_start_tool(201811, "test");
    ok(tool != NULL, "else there is one");
    if (!tool)
        bail("no tool");
    answer = 1; /* never */
    is_int(tool->initialize(lookup, 0, &tool->data), 0,
           "it leaves if the runtime does not tell enough");
    ok(!omp_tool_is_on(), "and says so");
    answer = 5;
    is_int(tool->initialize(lookup, 0, &tool->data), 1, "or stays");
    ok(omp_tool_is_on(), "and says that");
}

/* The metered thread: its own waiting counts. */
static void test_metered(void)
{
    uint64_t task = 7, inner = 0;

    thread_time_start(page, 0);
    ok(thread_time_is_on() && is_busy(), "at first it is busy");
    implicit(BEGIN, &task, 4, 0);
    is_int((int)entry->threads, 4, "in a team of four");
    sync_wait(REDUCTION, BEGIN, &task);
    ok(is_busy(), "in a reduction it is");
    sync_wait(BARRIER, BEGIN, &task);
    ok(!is_busy(), "in a barrier it waits");
    pass_ms(2);
    schedule(&task, SWITCH, &inner);
    ok(is_busy() && entry->idle_ns >= 2000000, "until it executes a task");
    sync_wait(5, BEGIN, &inner);
    schedule(&inner, LATE_FULFILL, &task);
    ok(!is_busy(), "which waits for its children");
    sync_wait(5, END, &inner);
    ok(is_busy(), "that have ended");
    schedule(&inner, COMPLETE, &task);
    ok(!is_busy(), "as that is complete, it waits again");
    sync_wait(BARRIER, END, &task);
    implicit(END, &task, 0, 0);
    ok(is_busy(), "and goes on behind the region");
    implicit(BEGIN, &task, 2, 0);
    implicit(END, &task, 0, 0);
    is_int((int)entry->threads, 4, "the largest team counts");
}

/* Another thread: what it does counts. */
static void *be_other(void *arg)
{
    uint64_t task = 0;
    int *sound = arg;

    *sound = !is_busy();
    implicit(BEGIN, &task, 9, 1);
    *sound &= is_busy() && entry->threads == 4;
    pass_ms(3);
    sync_wait(BARRIER, BEGIN, &task);
    *sound &= !is_busy() && entry->others_ns >= 3000000;
    sync_wait(BARRIER, END, NULL);
    implicit(END, &task, 0, 1);
    *sound &= !is_busy();
    return NULL;
}

static void test_other(void)
{
    uint64_t idle = entry->idle_ns;
    pthread_t thread;
    int sound = 0;

    if (pthread_create(&thread, NULL, be_other, &sound) != 0)
        bail("no thread");
    (void)pthread_join(thread, NULL);
    ok(sound, "another one is busy only in a region, and that is added up");
    is_int((int)(entry->idle_ns - idle), 0, "the first one was not told of");
}

static void test_end(void)
{
    uint64_t others = entry->others_ns;

    thread_time_stop();
    ok(!thread_time_is_on(), "stopped");
    (void)thread_time_set(0);
    (void)thread_time_set(1);
    thread_time_enter(8, 1);
    thread_time_leave(8);
    ok(entry->others_ns == others && entry->threads == 4, "it is as it was");
    thread_time_start(page, 0);
    ok(entry->others_ns == 0 && entry->idle_ns == 0 && entry->threads == 0,
       "a new rank begins with nothing");
    thread_time_enter(3, 1);
    ok(entry->threads == 3, "in a team of three");
    thread_time_give_up();
    ok(entry->threads == 0 && !thread_time_is_on(), "given up: not known");
    thread_time_give_up();
    thread_time_enter(3, 1);
    is_int((int)entry->threads, 0, "for good");
}

int main(void)
{
    int fd;

    page = meter_page_create(&fd);
    if (!page)
        bail("no page");
    entry = &page->rank[0];
    test_start();
    test_metered();
    test_other();
    test_end();
    meter_page_destroy(page);
    (void)close(fd);
    return done();
}
