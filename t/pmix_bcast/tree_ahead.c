/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of a made-up tree that are opened ahead: each once, whatever the order. */
#include "pmix_bcast/tree_ahead.h"
#include "fault.h"
#include "own_entries.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILES   400u
#define MISSING 77u /* this one cannot be opened */

static struct tree_index t;
static atomic_uint opens[FILES + 1];
static atomic_int slow; /* us */

/* Entry e is a file of e + 1 bytes, every tenth with a hole in the middle; every
 * seventh is empty. */
static void make_tree(void)
{
    struct writer w = {0};
    uint64_t bytes = 0;

    tree_write_head(&w, 0);
    tree_write_folder(&w, &(struct tree_entry){.mode = 0755, .name = ""});
    for (uint32_t e = 1; e <= FILES; e++) {
        const struct tree_extent part[] = {{.len = e},
                                           {.offset = 9000, .len = 1}};
        char name[20];
        size_t n = e % 7 == 0 ? 0 : e % 10 == 0 ? 2 : 1;

        snprintf(name, sizeof name, "f%u", e);
        tree_write_file(&w, &(struct tree_entry){.mode = 0644, .name = name},
                        &(struct tree_file_data){n > 0 ? 9001 : 0, n, part});
        bytes += n > 0 ? e : 0;
        bytes += n > 1;
    }
    tree_write_end(&w, FILES + 1, bytes);
    if (w.bad || tree_index_read(&t, w.buf, w.len) != 0)
        bail("no tree");
}

static int open_one(void *arg, uint32_t entry)
{
    struct timespec nap = {.tv_nsec = atomic_load(&slow) * 1000L};

    (void)arg;
    atomic_fetch_add(&opens[entry], 1);
    if (nap.tv_nsec > 0)
        (void)nanosleep(&nap, NULL);
    if (entry != MISSING)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    errno = ENOENT;
    return -1;
}

static struct tree_ahead *start(uint64_t at)
{
    struct tree_ahead *a;

    for (size_t i = 0; i <= FILES; i++)
        atomic_store(&opens[i], 0);
    a = tree_ahead_start(&t, at, open_one, NULL);
    if (!a)
        bail("no threads");
    return a;
}

static int has_content(uint32_t entry)
{
    return entry % 7 != 0;
}

/* As home does; 1 if it went as it should. */
static int ask(struct tree_ahead *a, uint32_t entry)
{
    int fd = tree_ahead_open(a, entry), why = errno;

    if (fd >= 0)
        close(fd);
    return entry == MISSING ? fd < 0 && why == ENOENT : fd >= 0;
}

/* Files of one that were not opened so often. */
static unsigned not_opened(uint32_t from, uint32_t to, unsigned times)
{
    unsigned n = 0;

    for (uint32_t e = from; e < to; e++)
        n += e != MISSING && has_content(e) && atomic_load(&opens[e]) != times;
    return n;
}

static void test_in_order(int us)
{
    int before = own_entries("/proc/self/fd"), good = 1;
    struct tree_ahead *a = start(0);

    atomic_store(&slow, us);
    for (uint32_t e = 1; e <= FILES; e++)
        good &= !has_content(e) || ask(a, e);
    ok(good, "%d us each: all are opened, and what cannot be is told", us);
    tree_ahead_stop(a);
    is_int(not_opened(1, FILES + 1, 1), 0, "each once");
    is_int(own_entries("/proc/self/fd"), before, "and none is left open");
}

/* Two receivers, of which the second is behind the first. */
static void test_two_at_once(void)
{
    struct tree_ahead *a = start(0);
    const uint32_t lag = TREE_AHEAD_FILES / 2;
    int good = 1;

    atomic_store(&slow, 50);
    for (uint32_t e = 1; e <= FILES + lag; e++) {
        if (e <= FILES && e % 2 == 0 && has_content(e))
            good &= ask(a, e);
        if (e > lag && (e - lag) % 2 == 1 && has_content(e - lag))
            good &= ask(a, e - lag);
    }
    ok(good, "two that go on at different places get all files");
    tree_ahead_stop(a);
    is_int(not_opened(2 * lag, FILES + 1, 1), 0, "each once");
}

static void test_out_of_turn(void)
{
    const uint32_t far = FILES - 10;
    int before = own_entries("/proc/self/fd");
    struct tree_ahead *a = start(0);

    atomic_store(&slow, 100);
    ok(ask(a, 1) && ask(a, far) && ask(a, 2) && ask(a, far + 1),
       "far ahead, and back: all are opened");
    tree_ahead_stop(a);
    ok(not_opened(2 * TREE_AHEAD_FILES + 20, far, 0) == 0,
       "what was passed over is not");
    is_int(own_entries("/proc/self/fd"), before, "none is left open");
}

static void test_end_in_the_middle(void)
{
    int before = own_entries("/proc/self/fd");
    struct tree_ahead *a = start(0);

    atomic_store(&slow, 1000);
    ok(ask(a, 1) && ask(a, 2), "the first two");
    tree_ahead_stop(a);
    is_int(own_entries("/proc/self/fd"), before,
           "an end in the middle leaves none open");
    a = start(t.bytes);
    ok(ask(a, 5), "from the content's end on there is nothing to be ahead of");
    tree_ahead_stop(a);
    is_int(not_opened(6, FILES + 1, 0), 0, "and nothing is opened");
    tree_ahead_stop(NULL);
    fault_at = 0;
    ok(!tree_ahead_start(&t, 0, open_one, NULL),
       "without memory there is none");
    fault_at = -1;
}

int main(void)
{
    make_tree();
    test_in_order(0);
    test_in_order(200);
    test_two_at_once();
    test_out_of_turn();
    test_end_in_the_middle();
    tree_index_clear(&t);
    return done();
}
