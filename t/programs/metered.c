/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metered THREADS CMD...: run CMD with a page for its meters, advised to use
 * THREADS threads, then print what it has left there, a line a slot:
 * regions, fraction, misuse; and of its ranks, with METERED_PARTS set, too.
 */
#include "launcher/base/mpi_names.h"
#include "launcher/libevenstep/meter_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_slots(const struct meter_page *page)
{
    for (uint32_t i = 0; i < meter_page_slots(page); i++) {
        struct meter_sample s;

        if (meter_slot_read(&page->slot[i], &s) == 0)
            printf("%" PRIu64 " %.3f %" PRIu64 "\n", s.regions, s.fraction,
                   s.misuse);
    }
}

/* The last one. */
static void print_iterations(const struct meter_rank *rank)
{
    struct meter_region it[METER_RING];
    size_t n = meter_rank_iterations(rank, 0, it);

    if (n > 0)
        printf(" iterations %" PRIu64 " loop %" PRIu32 " period %" PRIu32,
               it[n - 1].number + 1, it[n - 1].loop, it[n - 1].period);
}

static void print_parts(const struct meter_rank *rank,
                        const struct meter_time *t)
{
    struct meter_site_view site[METER_SITES];
    size_t n = meter_rank_sites(rank, site);

    printf("parts of %" PRIu32
           " io %.3f polled %.3f transfer %.3f unsure %.3f ended %" PRIu32 "\n",
           t->rank, (double)t->io_ns / 1e9, (double)t->polled_ns / 1e9,
           (double)t->transfer_ns / 1e9, (double)t->unsure_ns / 1e9, t->ended);
    for (size_t i = 0; i < n; i++)
        printf("site of %" PRIu32 " %s waiting %.3f calls %" PRIu64 " %s\n",
               t->rank,
               site[i].call > 0 ? mpi_call_name(site[i].call - 1) : "-",
               (double)site[i].waiting_ns / 1e9, site[i].calls, site[i].name);
}

static void print_ranks(const struct meter_page *page)
{
    for (uint32_t i = 0; i < meter_page_slots(page); i++) {
        struct meter_time t;

        if (meter_rank_read(&page->rank[i], &t) == 1) {
            printf("rank %" PRIu32 " of %" PRIu32 " calls %" PRIu64
                   " regions %" PRIu64 " useful %.3f waiting %.3f",
                   t.rank, t.size, t.calls, t.regions,
                   (double)t.useful_ns / 1e9, (double)t.waiting_ns / 1e9);
            if (t.threads > 0)
                printf(" threads %" PRIu32 " others %.3f idle %.3f", t.threads,
                       (double)t.others_ns / 1e9, (double)t.idle_ns / 1e9);
            print_iterations(&page->rank[i]);
            puts(page->slot[i].owner == 0 ? "" : " here");
            if (getenv("METERED_PARTS"))
                print_parts(&page->rank[i], &t);
        }
    }
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/metered.XXXXXX", link[64], target[64];
    struct meter_page *page;
    int fd, status = 1;
    pid_t pid;

    page = meter_page_create(&fd);
    if (argc < 3 || !page || !mkdtemp(dir))
        return 2;
    page->threads = (uint32_t)atoi(argv[1]);
    snprintf(link, sizeof link, "%s/" METER_FILE, dir);
    snprintf(target, sizeof target, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (symlink(target, link) < 0 || setenv("EVENSTEP_DIR", dir, 1) < 0)
        return 2;
    pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (pid > 0)
        (void)waitpid(pid, &status, 0);
    print_slots(page);
    print_ranks(page);
    unlink(link);
    rmdir(dir);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
