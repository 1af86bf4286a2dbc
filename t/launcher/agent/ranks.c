/* SPDX-License-Identifier: BSD-2-Clause */
/* What the front end is told of the ranks of a node. */
#include "launcher/agent/ranks.h"
#include "launcher/agent/rank_use.h"
#include "tap.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define S INT64_C(1000000000)

static struct meter_page *page;
static struct msg_ranks last;
static unsigned told;
static uint64_t numbers; /* of the regions that were told, added up */

static void on_ranks(void *arg, const struct msg_ranks *m)
{
    (void)arg;
    told++;
    last = *m;
    for (uint32_t i = 0; i < m->k; i++)
        numbers += m->region[i].number;
}

static struct msg_rank_detail detail;
static unsigned details;

static void on_detail(void *arg, const struct msg_rank_detail *m)
{
    (void)arg;
    details++;
    detail = *m;
}

static struct ranks *begin(uint32_t n)
{
    struct ranks *r;

    memset(page, 0, sizeof *page);
    page->high = n;
    for (uint32_t i = 0; i < n; i++) {
        page->slot[i].owner = 1;
        page->rank[i].size = n;
        page->rank[i].rank = i;
    }
    told = 0;
    numbers = 0;
    r = ranks_create(page, S, -1, on_ranks, on_detail, NULL);
    if (!r)
        bail("no memory");
    return r;
}

/* A rank ends its next region. */
static void end_region(uint32_t i, uint64_t useful, uint64_t waiting)
{
    struct meter_rank *rank = &page->rank[i];
    uint64_t number = rank->regions;

    rank->ring[number % METER_RING].useful_ns = useful;
    rank->ring[number % METER_RING].waiting_ns = waiting;
    rank->useful_ns += useful;
    rank->waiting_ns += waiting;
    rank->calls++;
    rank->regions = number + 1;
}

static void test_sums(void)
{
    struct ranks *r = begin(3);

    ranks_look(r, 5 * S);
    is_int((int)told, 0, "nothing has been called: nothing is told");
    for (uint32_t i = 0; i < 3; i++)
        end_region(i, 100 - 20 * i, 1 + 20 * i);
    end_region(0, 50, 0);
    ranks_look(r, 6 * S);
    is_int((int)told, 1, "what is new is told");
    ok(last.n == 3 && last.sum.ranks == 3 && last.size == 3 && !last.is_last,
       "of each rank");
    ok(last.rank[0].useful == 150 && last.rank[1].waiting == 21
           && last.rank[2].calls == 1,
       "its time");
    ok(last.sum.useful == 290 && last.sum.most == 150 && last.sum.busiest == 0
           && last.sum.regions == 2 && last.sum.calls == 4,
       "and of all together");
    is_int((int)last.k, 1, "a region is told when all have ended it");
    ok(last.region[0].number == 0 && last.region[0].sum.useful == 240
           && last.region[0].sum.least == 1 && last.region[0].sum.last == 0
           && last.region[0].sum.longest == 41,
       "with who came last");
    end_region(1, 50, 0);
    end_region(2, 50, 0);
    ranks_look(r, 6 * S + S / 2);
    is_int((int)told, 1, "not more often than every second");
    ranks_look(r, 7 * S);
    ok(told == 2 && last.k == 1 && last.region[0].number == 1,
       "then the other one");
    ranks_look(r, 9 * S);
    is_int((int)told, 2, "no news are no message");
    ranks_end(r, 9 * S);
    ok(told == 3 && last.is_last && last.k == 0 && last.sum.useful == 390,
       "but at the end all is told again");
    ranks_destroy(r);
}

static void test_now(void)
{
    struct ranks *r = begin(2);

    page->rank[0].since_ns = 3 * (uint64_t)S;
    page->rank[1].since_ns = 4 * (uint64_t)S;
    page->rank[1].is_waiting = 1;
    ranks_look(r, 5 * S);
    ok(last.rank[0].useful == 2e9 && last.rank[0].waiting == 0,
       "what goes on counts: work");
    ok(last.rank[1].useful == 0 && last.rank[1].waiting == 1e9, "and waiting");
    page->slot[1].owner = 0;
    ranks_end(r, 6 * S);
    is_near(last.rank[1].waiting, 0, 0, "not of a rank that has gone");
    page->rank[0].since_ns = UINT64_MAX;
    ranks_end(r, 6 * S);
    is_near(last.rank[0].useful, 0, 0, "nor from a time to come");
    ranks_destroy(r);
}

static void end_iteration(uint32_t i, uint64_t useful, uint32_t loop)
{
    struct meter_rank *rank = &page->rank[i];
    uint64_t at = rank->iterations % METER_RING;

    rank->iteration[at].useful_ns = useful;
    rank->iteration[at].waiting_ns = 200 - useful;
    rank->iteration[at].loop = loop;
    rank->iteration[at].period = 2;
    rank->iterations++;
    rank->calls++;
}

static void test_iterations(void)
{
    struct ranks *r = begin(2);

    end_iteration(0, 100, 1);
    end_iteration(0, 110, 1);
    end_iteration(1, 160, 1);
    ranks_look(r, 5 * S);
    ok(last.k == 0 && last.l == 1 && last.iterations == 2
           && last.iteration_stride == 1,
       "an iteration is told when all have ended it");
    ok(last.iteration[0].number == 0 && last.iteration[0].loop == 1
           && last.iteration[0].period == 2
           && last.iteration[0].sum.useful == 260
           && last.iteration[0].sum.longest - last.iteration[0].sum.least == 60,
       "with its loop and all ranks' time");
    end_iteration(1, 160, 2);
    ranks_end(r, 6 * S);
    is_int((int)last.l, 0, "one of which ranks say different things is not");
    ranks_destroy(r);
}

/* sh -c "./a; ./b": both write the same entries. */
static void test_another_program(void)
{
    struct ranks *r = begin(1);

    end_region(0, 10, 1);
    end_region(0, 10, 1);
    ranks_look(r, 1 * S);
    page->rank[0].regions = page->rank[0].calls = 0;
    page->rank[0].useful_ns = page->rank[0].waiting_ns = 0;
    end_region(0, 5, 2);
    ranks_end(r, 2 * S);
    ok(last.rank[0].useful == 25 && last.rank[0].waiting == 4
           && last.rank[0].calls == 3 && last.sum.regions == 3,
       "times of both programs are added up");
    ok(last.k == 1 && last.region[0].number == 2,
       "and the regions are numbered on");
    ranks_destroy(r);
}

/* 100 regions between two looks; 10,000 between two messages. */
static void test_fast(void)
{
    struct ranks *r = begin(2), *slow;
    uint64_t stride;

    for (int i = 1; i <= 1000; i++) {
        for (int k = 0; k < 10; k++)
            for (uint32_t rank = 0; rank < 2; rank++)
                end_region(rank, 1, 1);
        ranks_look(r, i * S / 100);
    }
    ok(told == 10 && last.k > RANKS_REGIONS / 4 && last.k <= RANKS_REGIONS,
       "regions that come too fast: %u of 1000 are told", last.k);
    stride = last.stride;
    ok(stride == 16, "of each second as many as fit");
    ok(numbers > 0 && numbers % stride == 0, "of round numbers");
    for (int i = 1; i <= 10; i++) {
        end_region(0, 1, 1);
        end_region(1, 1, 1);
        ranks_look(r, (10 + i) * S);
    }
    ok(last.stride == 1 && last.k == 1, "when they are slower all are told");
    ranks_destroy(r);
    slow = begin(2);
    for (int i = 0; i < 100; i++)
        for (uint32_t rank = 0; rank < 2; rank++)
            end_region(rank, 1, 1);
    ranks_end(slow, S);
    ok(last.k > 0 && last.region[0].sum.ranks == 2,
       "of those that were missed the last ones are told");
    ranks_destroy(slow);
}

/* The program may write there what it likes. */
static void test_nonsense(void)
{
    struct ranks *r = begin(METER_SLOTS);
    struct writer w = {0};

    memset(page->rank, 0xee, sizeof page->rank);
    for (uint32_t i = 0; i < METER_SLOTS; i++)
        page->rank[i].rank = page->rank[i].size - 1;
    ranks_look(r, S);
    ranks_look(r, 3 * S);
    is_int((int)last.n, 0, "too many ranks are not told one by one");
    msg_write_ranks(&w, &last);
    is_int(msg_read_ranks(&last, w.buf, w.len), 0,
           "whatever stands in the page, the front end takes it");
    writer_clear(&w);
    ranks_destroy(r);
    r = begin(0);
    ranks_look(r, S);
    is_int((int)told, 0, "where no rank is nothing is told");
    ranks_end(r, S);
    ok(told == 1 && last.is_last && last.sum.ranks == 0, "but at the end");
    ranks_destroy(r);
}

/* Rank 0 has two threads, rank 1 none that are known. */
static void test_threads(void)
{
    struct ranks *r = begin(2);

    for (uint32_t i = 0; i < 2; i++)
        end_region(i, 100, 10);
    page->rank[0].threads = 2;
    page->rank[0].others_ns = 60;
    page->rank[0].idle_ns = 20;
    ranks_look(r, 6 * S);
    ok(last.rank[0].threads == 2 && last.rank[0].room == 200
           && last.rank[0].busy == 140,
       "what two threads did, of twice the useful time");
    ok(last.rank[1].threads == 0 && last.rank[1].room == 0, "not known: none");
    ok(last.sum.threads == 2 && last.sum.busy == 140 && last.sum.room == 200,
       "added up over those that are known");
    memset(&page->rank[0], 0, sizeof page->rank[0]);
    page->rank[0].size = 2;
    end_region(0, 25, 10);
    end_region(0, 25, 10);
    page->rank[0].threads = 4;
    page->rank[0].others_ns = UINT64_MAX;
    page->rank[0].idle_ns = UINT64_MAX;
    ranks_look(r, 8 * S);
    ok(last.rank[0].threads == 4 && last.rank[0].room == 400
           && last.rank[0].busy == 340,
       "another program in its place: added, and no more than its room");
    ranks_destroy(r);
}

/* A child of ours: the process of a rank's slot. */
static pid_t start_rank(uint32_t i)
{
    pid_t pid = fork();

    if (pid == 0)
        for (;;)
            pause();
    if (pid < 0)
        bail("no child");
    page->slot[i].owner = page->slot[i].thread = (uint32_t)pid;
    return pid;
}

static void end_rank(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

/* An agent that looks so often that nothing comes between. */
static int64_t look_for(struct ranks *r, int64_t from, int64_t seconds)
{
    for (int64_t now = from; now <= from + seconds * S; now += S / 10)
        ranks_look(r, now);
    return from + seconds * S;
}

/* The plugin tells of a task's end between two looks at it. */
static void test_ended(void)
{
    FILE *ends = tmpfile();
    struct rank_exit end = {.rank = 0, .status = 9, .ns = 4 * S + S / 20};
    struct ranks *r = begin(1);
    pid_t pid = start_rank(0);
    int64_t now;

    ranks_destroy(r);
    if (!ends)
        bail("no file");
    r = ranks_create(page, S, dup(fileno(ends)), on_ranks, on_detail, NULL);
    if (!r)
        bail("no memory");
    page->rank[0].since_ns = (uint64_t)S;
    now = look_for(r, S, 3);
    end_rank(pid);
    ok(fwrite(&end, sizeof end, 1, ends) == 1 && fflush(ends) == 0,
       "the plugin writes it");
    now = look_for(r, now + S / 10, 1);
    ok(last.rank[0].state == RANK_DIED && last.rank[0].status == 9,
       "of what a rank has died is told");
    ranks_end(r, now);
    is_near(last.rank[0].useful, 3.05e9, 1, "its time ends then, to the ns");
    is_near(last.rank[0].since, (double)(now - end.ns), 1, "since when it has");
    ranks_destroy(r);
    (void)fclose(ends);
}

static void test_died(void)
{
    struct ranks *r = begin(2);
    pid_t first = start_rank(0), second = start_rank(1);
    int64_t now = S;

    page->rank[0].since_ns = page->rank[1].since_ns = (uint64_t)S;
    page->rank[0].is_waiting = 1;
    page->rank[0].call = 5;
    now = look_for(r, now, 4);
    ok(last.rank[0].state == RANK_IN_CALL && last.rank[0].call == 5
           && last.rank[1].state == RANK_USEFUL && last.rank[1].rss > 0,
       "one waits in a call, one works");
    told = 0;
    now = look_for(r, now, 12);
    ok(told >= 2 && told <= 3 && last.rank[0].since > 10e9,
       "where nothing moves that is told every few seconds: %u", told);
    end_rank(second);
    told = 0;
    now = look_for(r, now + S / 10, 1);
    ok(told == 1 && last.rank[1].state == RANK_DIED
           && last.rank[1].status == -1,
       "a process that is gone has died, which is told at once");
    page->slot[1].owner = 0;
    now = look_for(r, now, 20);
    end_rank(first);
    page->slot[0].owner = 0;
    details = 0;
    ranks_end(r, now + S);
    is_near(last.rank[1].useful, 16e9, 1e9, "its time ends there");
    is_near(last.rank[0].waiting, 37e9, 1e9,
            "that of the one which waits goes on until it is ended");
    ok(details == 2 && detail.rank == 1 && detail.bins > 30
           && detail.bin_ns == 1e9,
       "time has %u parts of %.2f s", detail.bins, detail.bin_ns / 1e9);
    ok(detail.bin[5].useful > 250 && detail.bin[5].no_cpu > 250
           && detail.bin[30].useful == 0,
       "in which it was useful, without a CPU, and then no more");
    ranks_destroy(r);
}

static void test_left(void)
{
    struct ranks *r = begin(1);
    pid_t pid = start_rank(0);

    end_region(0, 100, 10);
    page->rank[0].io_ns = 4;
    page->rank[0].polled_ns = 3;
    page->rank[0].transfer_ns = 2;
    page->rank[0].unsure_ns = 1;
    (void)look_for(r, S, 1);
    page->rank[0].ended = 1;
    page->slot[0].owner = 0;
    ranks_look(r, 3 * S);
    end_rank(pid);
    ranks_end(r, 9 * S);
    ok(last.rank[0].state == RANK_LEFT && last.rank[0].since == 6e9,
       "who has left MPI before has not died");
    ok(last.rank[0].io == 4 && last.rank[0].polled == 3
           && last.rank[0].transfer == 2 && last.rank[0].unsure == 1,
       "parts of its time are told, as the page has them");
    ranks_destroy(r);
}

int main(void)
{
    int fd = -1;

    page = meter_page_create(&fd);
    if (!page)
        bail("no page");
    test_sums();
    test_threads();
    test_now();
    test_iterations();
    test_another_program();
    test_fast();
    test_nonsense();
    test_died();
    test_ended();
    test_left();
    meter_page_destroy(page);
    return done();
}
