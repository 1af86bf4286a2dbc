/* SPDX-License-Identifier: BSD-2-Clause */
/* Does a step hang, and who is to blame? */
#include "launcher/session/step_still.h"
#include "fake_session.h"
#include "launcher/base/mpi_names.h"
#include "pmix_bcast/clock.h"
#include "tap.h"

static struct session session;
static struct step_times *times;
static struct msg_ranks m;
static double cpu; /* that useful ranks have had */

/* A rank on each node, in such states for so long. */
static void tell(const uint32_t state[SESSION_NODES], double since_s)
{
    struct writer w = {0};

    for (size_t i = 0; i < SESSION_NODES; i++) {
        memset(&m, 0, sizeof m);
        m.size = SESSION_NODES;
        m.stride = m.iteration_stride = 1;
        m.n = 1;
        m.rank[0] = (struct msg_rank){.rank = (uint32_t)i,
                                      .useful = 4.5e9,
                                      .state = state[i],
                                      .call = MPI_NUMBER_Allreduce + 1,
                                      .cpu = cpu,
                                      .since = since_s * 1e9,
                                      .status = state[i] == RANK_DIED ? 9 : -1};
        if (i == 0)
            m.rank[0].call = MPI_NUMBER_Recv + 1;
        efficiency_add_rank(&m.sum, (uint32_t)i, 4.5e9, 0);
        msg_write_ranks(&w, &m);
        if (step_times_message(times, i, MSG_RANKS, w.buf, w.len) != 1)
            bail("not taken");
        writer_clear(&w);
    }
}

static void begin(void)
{
    session_make(&session);
    step_times_destroy(times);
    times = step_times_create(&session);
    if (!times)
        bail("no memory");
    cpu = 1e9;
}

static void is_said(const char *want, const char *what)
{
    char text[STEP_STILL_TEXT] = "";

    (void)step_still_text(times, text);
    is_str(text, want, what);
}

static void test_waiting(void)
{
    static const uint32_t all[SESSION_NODES] = {RANK_IN_CALL, RANK_IN_CALL,
                                                RANK_IN_CALL, RANK_IN_CALL};
    struct step_standstill s;

    begin();
    tell(all, 9);
    is_said("", "9 s are no standstill");
    tell(all, 11);
    is_said("all ranks have waited for 11 s: rank 0 in MPI_Recv, ranks 1 to 3 "
            "in MPI_Allreduce",
            "all wait");
    ok(step_times_standstill(times, &s) == 1 && !s.is_dead
           && s.waiting_ranks == 4 && s.call == MPI_NUMBER_Allreduce + 1,
       "in numbers, too");
    times->node[1].is_lost = 1;
    is_said("", "nothing is said where not all is known");
}

static void test_useful(void)
{
    static const uint32_t one[SESSION_NODES] = {RANK_IN_CALL, RANK_USEFUL,
                                                RANK_IN_CALL, RANK_LEFT};

    begin();
    tell(one, 20);
    is_said("", "who works has had CPU time");
    times->node[1].rank[0].moved_ns = clock_ns() - INT64_C(15000000000);
    tell(one, 20);
    is_said("rank 1 on n1 has had no CPU time for 15 s (stopped, or asleep); "
            "rank 0 waits in MPI_Recv, rank 2 in MPI_Allreduce",
            "and one that has had none is stopped");
    cpu += 1e9;
    tell(one, 20);
    is_said("", "it goes on");
}

static void test_dead(void)
{
    static const uint32_t one[SESSION_NODES] = {RANK_IN_CALL, RANK_IN_CALL,
                                                RANK_IN_CALL, RANK_DIED};
    static const uint32_t all[SESSION_NODES] = {RANK_DIED, RANK_DIED, RANK_DIED,
                                                RANK_DIED};

    begin();
    tell(one, 2);
    is_said("rank 3 on n3 was killed by signal 9 after 4.5 s; rank 0 waits in "
            "MPI_Recv, ranks 1 and 2 in MPI_Allreduce since then",
            "a rank that died is named, and who waits for it");
    times->node[3].rank[0].status = 3 << 8;
    is_said("rank 3 on n3 exited with status 3 after 4.5 s, without "
            "MPI_Finalize; rank 0 waits in MPI_Recv, ranks 1 and 2 in "
            "MPI_Allreduce since then",
            "or how it ended");
    tell(all, 2);
    is_said("", "a step that is ended hangs no more");
}

int main(void)
{
    test_waiting();
    test_useful();
    test_dead();
    step_times_destroy(times);
    return done();
}
