/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress meter from the program's calls to what the agent makes of it. */
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/meter_page.h"
#include "launcher/meter/meter_track.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8

static char dir[] = "/tmp/meter.XXXXXX";
static struct meter_page *page;
static int page_fd;

/* Libevenstep looks for the page once a process, and a thread keeps its slot:
 * each part has a process of its own, which exits 0 if all is well. */
static int in_process(int (*part)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(part() ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
           && WEXITSTATUS(status) == 0;
}

static struct meter_sample see(uint32_t slot)
{
    struct meter_sample s = {0};

    if (meter_slot_read(&page->slot[slot], &s) < 0)
        s.fraction = -1;
    return s;
}

static void new_page(void)
{
    char link[64], target[64];

    meter_page_destroy(page);
    if (page_fd > 0)
        close(page_fd);
    page = meter_page_create(&page_fd);
    if (!page)
        bail("no page: %s", strerror(errno));
    snprintf(link, sizeof link, "%s/%s", dir, METER_FILE);
    snprintf(target, sizeof target, "/proc/%d/fd/%d", (int)getpid(), page_fd);
    (void)unlink(link);
    if (symlink(target, link) < 0)
        bail("no link");
}

/* --- the program's side --------------------------------------------------- */

static int tells_fractions(void)
{
    int right;

    evenstep_work(4);
    right = see(0).owner == (uint32_t)getpid() && see(0).fraction == 0
            && see(0).regions == 1;
    evenstep_tick(1);
    right &= see(0).fraction == 0.25;
    evenstep_tick(4);
    evenstep_tick(4);
    right &= see(0).fraction == 1 && see(0).misuse == 0;
    evenstep_work(1000);
    right &= see(0).fraction == 0 && see(0).regions == 2;
    evenstep_tick(500);
    return right && see(0).fraction == 0.5 && meter_page_slots(page) == 1;
}

static int counts_misuse(void)
{
    int right;

    evenstep_tick(3); /* before work */
    right = see(0).misuse == 1 && see(0).regions == 0;
    evenstep_work(10);
    evenstep_tick(11); /* beyond the total */
    right &= see(0).misuse == 2 && see(0).fraction == 0;
    evenstep_tick(5);
    evenstep_tick(4); /* backwards */
    right &= see(0).misuse == 3 && see(0).fraction == 0.5;
    evenstep_tick(UINT64_MAX);
    evenstep_tick(10);
    return right && see(0).misuse == 4 && see(0).fraction == 1;
}

static int has_nothing_to_do(void)
{
    evenstep_work(0);
    evenstep_tick(0);
    return see(0).fraction == 1 && see(0).misuse == 0;
}

static void *ticks(void *arg)
{
    evenstep_work(100);
    for (uint64_t i = 1; i <= 100; i++)
        evenstep_tick(i);
    pthread_barrier_wait(arg);
    pthread_barrier_wait(arg); /* what was found has been looked at */
    return NULL;
}

static int has_a_slot_a_thread(void)
{
    pthread_t thread[THREADS];
    pthread_barrier_t both;
    int full = 0, free = 0;

    pthread_barrier_init(&both, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, ticks, &both) != 0)
            return 0;
    pthread_barrier_wait(&both);
    for (uint32_t i = 0; i < THREADS; i++)
        full += see(i).fraction >= 1 && see(i).regions == 1;
    pthread_barrier_wait(&both);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (uint32_t i = 0; i < THREADS; i++)
        free += see(i).owner == 0;
    return full == THREADS && free == THREADS
           && meter_page_slots(page) == THREADS;
}

static int child_has_its_own(void)
{
    int status;
    pid_t pid;

    evenstep_work(10);
    evenstep_tick(3);
    pid = fork();
    if (pid == 0) {
        evenstep_work(10);
        evenstep_tick(9);
        _exit(see(1).fraction == 0.9 && see(1).owner == (uint32_t)getpid() ? 0
                                                                           : 1);
    }
    return waitpid(pid, &status, 0) == pid && status == 0
           && see(0).fraction == 0.3;
}

static int finds_all_taken(void)
{
    for (uint32_t i = 0; i < METER_SLOTS; i++)
        page->slot[i].owner = 1;
    evenstep_tick(1);
    evenstep_work(10);
    evenstep_tick(5);
    return see(0).regions == 0 && meter_page_slots(page) == 0;
}

static int is_advised(void)
{
    int none = evenstep_threads();

    page->threads = 12;
    return none == 0 && evenstep_threads() == 12;
}

static int runs_without(void)
{
    setenv("EVENSTEP_DIR", "/nowhere", 1);
    evenstep_tick(1);
    evenstep_work(10);
    evenstep_tick(5);
    return evenstep_threads() == 0 && meter_page_slots(page) == 0;
}

/* A page of another version or size is none. */
static int distrusts_magic(void)
{
    page->magic = METER_MAGIC + 1;
    evenstep_work(10);
    return meter_page_slots(page) == 0;
}

static void test_program(void)
{
    static const struct {
        int (*part)(void);
        const char *fact;
    } parts[] = {
        {tells_fractions, "regions and fractions are told"},
        {counts_misuse,
         "ticks before work, beyond the total and backwards are counted"},
        {has_nothing_to_do, "a total of 0 is done at once"},
        {has_a_slot_a_thread, "each thread has a slot, and gives it back"},
        {child_has_its_own, "so has a forked child"},
        {finds_all_taken, "a thread too many has a slot that nobody reads"},
        {is_advised, "the agent's advice on threads is told"},
        {runs_without, "without evenstep nothing happens"},
        {distrusts_magic, "a page of another version is left alone"},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        new_page();
        ok(in_process(parts[i].part), "%s", parts[i].fact);
    }
}

static void test_sealed(void)
{
    char path[64];
    int fd;

    new_page();
    snprintf(path, sizeof path, "%s/%s", dir, METER_FILE);
    fd = open(path, O_RDWR);
    ok(fd >= 0 && ftruncate(fd, 0) < 0 && errno == EPERM,
       "no program can cut the page off under the agent");
    ok(ftruncate(fd, 1 << 30) < 0, "nor let it grow");
    close(fd);
    page->high = UINT32_MAX;
    is_int(meter_page_slots(page), METER_SLOTS,
           "nor have it look behind the last slot");
}

static void test_torn(void)
{
    struct meter_sample s = {.fraction = 7};

    new_page();
    page->slot[0].sequence = 3;
    ok(meter_slot_read(&page->slot[0], &s) < 0 && s.fraction >= 7,
       "a slot whose writer stopped half-way gives no sample");
    page->slot[0].sequence = 4;
    page->slot[0].total = 5;
    page->slot[0].done = UINT64_MAX;
    ok(meter_slot_read(&page->slot[0], &s) == 0 && s.fraction <= 1,
       "more done than there is, is all");
}

/* A writer and a reader at once: never a fraction of mixed regions. */
static void *writes(void *arg)
{
    uint64_t turns = 200000;

    (void)arg;
    for (uint64_t i = 1; i <= turns; i++) {
        evenstep_work(i % 2 ? 1 : 1000000);
        evenstep_tick(i % 2 ? 1 : 10);
    }
    return NULL;
}

static int reads_sound(void)
{
    pthread_t writer;
    int wrong = 0;

    if (pthread_create(&writer, NULL, writes, NULL) != 0)
        return 0;
    for (int i = 0; i < 2000000; i++) {
        struct meter_sample s;

        if (meter_slot_read(&page->slot[0], &s) < 0)
            continue;
        wrong += s.fraction > 0.5 && s.regions % 2 == 0 && s.regions > 0;
    }
    pthread_join(writer, NULL);
    return wrong == 0;
}

/* --- the agent's side ----------------------------------------------------- */

static struct meter_track run(const struct meter_sample sample[], size_t n)
{
    struct meter_track t = {0};

    for (size_t i = 0; i < n; i++)
        (void)meter_track_update(&t, &sample[i], 10);
    return t;
}

static void test_track(void)
{
    static const struct meter_sample steady[] = {
        {9, 1, 0, 0}, {9, 1, 0.5, 0}, {9, 1, 1, 0}, {9, 1, 1, 0},
        {9, 2, 0, 0}, {9, 2, 0.5, 0}, {9, 2, 1, 0},
    };
    static const struct meter_sample early[] = {
        {9, 1, 0.2, 0}, {9, 2, 0.25, 0}, {9, 5, 0.25, 0}};
    static const struct meter_sample back[] = {
        {9, 5, 0.5, 0}, {9, 5, 0.75, 0}, {9, 4, 0.5, 0}, {9, 4, 0.25, 0}};
    struct meter_track t = run(steady, 7);
    struct meter_sample other = {10, 1, 0.5, 2}, none = {0, 0, 1, 0};

    is_near(t.progress, 2, 1e-12, "two regions are two");
    is_int((int)t.work_ns, 10 + 5 + 5 + 10 + 5,
           "whole intervals within a region, half of those at its ends");
    t = run(early, 3);
    is_near(t.progress, 1.05 + 3, 1e-12,
            "a region that is left early counts as done, so do unseen ones");
    is_int((int)t.work_ns, 20, "all of the time was work");
    t = run(back, 4);
    is_near(t.progress, 0, 0, "what goes backwards starts over");
    is_int(meter_track_update(&t, &other, 10), METER_ANOTHER,
           "another owner is another thread");
    is_int((int)t.misuse, 2, "its misuse is its own");
    is_int(meter_track_update(&t, &other, 10), METER_STILL,
           "no change is none");
    is_int(meter_track_update(&t, &none, 10), METER_ANOTHER, "it has gone");
    is_int(meter_track_update(&t, &none, 10), METER_STILL, "and stays away");
    ok(!meter_track_is_used(&t), "a free slot is not used");
}

int main(void)
{
    if (!mkdtemp(dir))
        bail("no directory");
    setenv("EVENSTEP_DIR", dir, 1);
    test_program();
    test_sealed();
    test_torn();
    new_page();
    ok(in_process(reads_sound), "a reader beside a writer sees whole regions");
    test_track();
    meter_page_destroy(page);
    char link[64];
    snprintf(link, sizeof link, "%s/%s", dir, METER_FILE);
    unlink(link);
    rmdir(dir);
    return done();
}
