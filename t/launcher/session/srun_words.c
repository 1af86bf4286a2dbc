/* SPDX-License-Identifier: BSD-2-Clause */
/* srun's words about tasks that ended, as Slurm 22.05 and 24.11 print them. */
#include "launcher/session/srun_words.h"
#include "tap.h"

#include <stdlib.h>

static struct srun_words w;

static void take(const char *text)
{
    memset(&w, 0, sizeof w);
    srun_words_take(&w, text, strlen(text));
}

static void test_not_executed(void)
{
    static const char words[] =
        "2: slurmstepd-n2: error: execve(): /opt/agent: Permission denied\n";
    static const char end[] =
        "srun: error: n2: task 2: Exited with exit code 13\n";
    char both[200];

    for (int first = 0; first < 2; first++) {
        snprintf(both, sizeof both, "%s%s", first ? words : end,
                 first ? end : words);
        take(both);
        ok(w.n_ends == 1 && w.end[0].first == 2 && w.end[0].last == 2,
           "task 2 has ended");
        is_str(w.end[0].node, "n2", "on n2");
        is_str(srun_words_why(&w, &w.end[0]),
               "execve(): /opt/agent: Permission denied",
               "Slurm says why, in either order of the lines");
        ok(srun_words_not_executed(&w, &w.end[0]), "it was not executed");
    }
}

static void test_other_ends(void)
{
    take("10: cannot reach n0\n 2: evenstep-agent: no memory\n"
         "srun: error: n[2-3,7]: tasks 2-3,7: Exited with exit code 1\n"
         "srun: error: n9: task 9: Segmentation fault\n");
    is_int((long)w.n_ends, 3,
           "a list of tasks is as many ends as it has ranges");
    ok(w.end[0].first == 2 && w.end[0].last == 3 && w.end[1].first == 7,
       "2-3 and 7");
    is_str(srun_words_why(&w, &w.end[0]), "evenstep-agent: no memory",
           "the words of one of them");
    is_str(srun_words_why(&w, &w.end[1]), "Exited with exit code 1",
           "or how it ended");
    is_str(srun_words_why(&w, &w.end[2]), "Segmentation fault",
           "as by a signal");
    ok(!srun_words_not_executed(&w, &w.end[0]),
       "an agent that ran may do better the second time");
    take("srun: error: n1: task 1: Exited with exit code 127\n");
    ok(srun_words_not_executed(&w, &w.end[0]),
       "but not one that no shell found");
}

static void test_launch(void)
{
    take("srun: error: Task launch for StepId=21.3 failed on node n2: "
         "Communication connection failure\n"
         "srun: error: Application launch failed: Communication connection "
         "failure\nsrun: Job step aborted\n");
    is_int((long)w.n_ends, 1, "a node where Slurm cannot start a task");
    is_str(w.end[0].node, "n2", "is named");
    is_str(srun_words_why(&w, &w.end[0]), "Communication connection failure",
           "with Slurm's reason");
    ok(w.end[0].first == SRUN_WORDS_NO_TASK
           && srun_words_not_executed(&w, &w.end[0]),
       "and no task was");
    ok(w.aborted, "srun ends the step on all nodes then");
    take("srun: error: n1: task 1: Killed\n1: srun: Job step aborted\n");
    ok(!w.aborted, "but not as one task is killed, or says so");
}

/* Whatever comes: nothing is read beyond its end, no end is made up. */
static void test_bad(void)
{
    static const char *const line[] = {
        "srun: error: n2: task",
        "srun: error: n2: task : Exited",
        "srun: error: n2: tasks 3-2: Exited",
        "srun: error: n2: task 99999999999999999999: Exited",
        "srun: error: : task 2: Exited",
        "srun: error: Task launch for x failed on node : y",
        "srun: error: Task launch for x failed on node n2",
        "2:: task 2: Exited",
        "",
    };
    char text[300];

    for (size_t i = 0; i < sizeof line / sizeof line[0]; i++) {
        snprintf(text, sizeof text, "%s\n", line[i]);
        take(text);
        ok(w.n_ends == 0, "\"%s\" is no end", line[i]);
    }
    memset(&w, 0, sizeof w);
    for (int i = 0; i < 3 * SRUN_WORDS_TASKS; i++) {
        snprintf(text, sizeof text,
                 "%d: word\nsrun: error: n%d: task %d: Killed\n", i, i, i);
        srun_words_take(&w, text, strlen(text));
    }
    ok(w.n_ends == SRUN_WORDS_TASKS && w.n_said == SRUN_WORDS_TASKS,
       "of many the first are kept");
    memset(&w, 0, sizeof w);
    for (int i = 0; i < 4 * SRUN_WORDS_LINE; i++)
        srun_words_take(&w, "x", 1);
    srun_words_take(&w, "\nsrun: error: n1: task 1: Killed\n", 33);
    is_int((long)w.n_ends, 1, "a line that is too long harms no other");
}

static void test_queued(void)
{
    take("srun: Job 21 step creation temporarily disabled, retrying (Prolog "
         "running)\n");
    is_str(w.queued, "Prolog running", "the step is still to be created");
    srun_words_take(&w,
                    "srun: Job 21 step creation still disabled, retrying ("
                    "Requested nodes are busy)\n",
                    79);
    is_str(w.queued, "Requested nodes are busy", "for another reason");
    srun_words_take(&w, "srun: Step created for StepId=21.3\n", 35);
    is_str(w.queued, "", "it is created");
    take(
        "srun: Job 21 disabled, retrying ()\nsrun: Jobs disabled, retrying (x)\n"
        "3: srun: Job 2 disabled, retrying (x)\n");
    is_str(w.queued, "", "no such lines");
}

static void test_label(void)
{
    is_str(srun_words_unlabelled("2: no"), "no", "a label goes");
    is_str(srun_words_unlabelled(" 12: no: 3"), "no: 3", "of a wide one, too");
    is_str(srun_words_unlabelled("2:no"), "2:no", "this is none");
    is_str(srun_words_unlabelled("srun: 2: x"), "srun: 2: x", "nor this");
}

int main(void)
{
    test_not_executed();
    test_other_ends();
    test_launch();
    test_bad();
    test_queued();
    test_label();
    return done();
}
