/* SPDX-License-Identifier: BSD-2-Clause */
/* Who died first, of ends that follow each other by milliseconds? */
#include "launcher/session/step_death.h"
#include "fake_session.h"
#include "tap.h"

#define MS    INT64_C(1000000)
#define EXITS (1 << 8) /* status 1, as of wait(2) */
#define ALIVE (-2)

static struct session session;
static struct step_rank rank[SESSION_NODES];

/* A rank a node, their ends so many ms after the first of them, and how. */
static const struct {
    const char *what, *why, *text;
    struct {
        int ms, status;
    } end[SESSION_NODES];
} cases[] = {
    {"one alone",
     NULL,
     "rank 2 on n2 was killed by signal 9 after 1.5 s",
     {{0, ALIVE}, {0, ALIVE}, {0, 9}, {0, ALIVE}}},
    {"one, and later others",
     NULL,
     "rank 2 on n2 was killed by signal 9 after 1.5 s, and 3 more",
     {{2000, 9}, {2000, 9}, {0, 9}, {2001, 9}}},
    {"one is killed, others leave by themselves at once",
     NULL,
     "all 4 ranks ended after 1.5 s, rank 2 on n2 first: it was killed, or the "
     "step was cancelled or reached its time limit",
     {{5, EXITS}, {0, EXITS}, {3, 9}, {40, EXITS}}},
    {"some are killed, and some leave by themselves at once",
     NULL,
     "all 4 ranks ended after 1.5 s: one died, or the step was cancelled or "
     "reached its time limit",
     {{5, 14 << 8}, {0, 15}, {3, 15}, {40, 15}}},
    {"one is killed, Slurm ends the others",
     NULL,
     "all 4 ranks were ended by signal 9 after 1.5 s, rank 2 on n2 first: it "
     "was killed, or the step was cancelled or reached its time limit",
     {{60, 9}, {61, 9}, {0, 9}, {58, 9}}},
    {"all at one time",
     NULL,
     "all 4 ranks were ended by signal 9 after 1.5 s: one was killed, or the "
     "step was cancelled or reached its time limit",
     {{3, 9}, {1, 9}, {0, 9}, {2, 9}}},
    {"Slurm has said why",
     "the job was cancelled",
     "all 4 ranks ended after 1.5 s: the job was cancelled",
     {{3, 15}, {30, 14 << 8}, {0, 15}, {2, 15}}},
    {"one exits, Slurm ends the others",
     NULL,
     "rank 2 on n2 exited with status 3 after 1.5 s, without MPI_Finalize, and "
     "3 more",
     {{60, 9}, {61, 9}, {0, 3 << 8}, {58, 9}}},
    {"a fault of its own goes before signals that come as early",
     NULL,
     "rank 2 on n2 was killed by signal 11 after 1.5 s, and 3 more",
     {{0, 9}, {61, 9}, {5, 11}, {58, 9}}},
    {"and so does the kernel's",
     NULL,
     "rank 2 on n2 was killed by the kernel, out of memory, after 1.5 s, and 3 "
     "more",
     {{0, 9}, {61, 9}, {5, 9 | RANK_NO_MEMORY}, {58, 9}}},
    {"of ends of which the plugin has not told only 0.3 s are an order",
     NULL,
     "all 4 ranks ended after 1.5 s: they left by themselves, or the step was "
     "cancelled or reached its time limit",
     {{0, -1}, {200, -1}, {250, -1}, {100, -1}}},
    {"some live",
     NULL,
     "rank 2 on n2 exited with status 1 after 1.5 s, without MPI_Finalize, and "
     "1 more",
     {{0, ALIVE}, {30, 9}, {0, EXITS}, {0, ALIVE}}},
};

int main(void)
{
    struct step_times *t;

    session_make(&session);
    t = step_times_create(&session);
    if (!t)
        bail("no memory");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[STEP_DEATH_TEXT];
        struct step_death d;

        for (size_t k = 0; k < SESSION_NODES; k++) {
            int is_dead = cases[i].end[k].status != ALIVE;

            rank[k] = (struct step_rank){
                .rank = (uint32_t)k,
                .useful = 1e9,
                .waiting = 0.5e9,
                .state = is_dead ? RANK_DIED : RANK_IN_CALL,
                .status = is_dead ? cases[i].end[k].status : -1,
                .died_ns = is_dead ? 1000 * MS + cases[i].end[k].ms * MS : 0};
            t->node[k].rank = &rank[k];
            t->node[k].n = 1;
        }
        t->why = cases[i].why;
        step_death_find(&d, t);
        step_death_tell(text, &d, t);
        is_str(text, cases[i].text, cases[i].what);
    }
    for (size_t k = 0; k < SESSION_NODES; k++) {
        rank[k].state = RANK_LEFT;
        t->node[k].n = k != 0;
    }
    {
        struct step_death d;

        step_death_find(&d, t);
        ok(!d.first && !step_death_is_of_all(&d), "nobody has died");
    }
    for (size_t k = 0; k < SESSION_NODES; k++) {
        t->node[k].rank = NULL;
        t->node[k].n = 0;
    }
    step_times_destroy(t);
    return done();
}
