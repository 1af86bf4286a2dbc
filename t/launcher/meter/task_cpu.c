/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU time of a step's tasks, in a /proc that we have made. */
#include "launcher/meter/task_cpu.h"
#include "tap.h"
#include "tree.h"

static uint64_t tick_ns;

static void put_child(
    int pid, int parent, unsigned own, unsigned waited, unsigned start)
{
    char name[64], text[256];

    snprintf(name, sizeof name, "%d/stat", pid);
    snprintf(
        text, sizeof text,
        "%d (a) b) R %d %d 7 0 -1 4194304 1 2 3 4 %u 0 %u 0 20 0 1 0 %u 9\n",
        pid, parent, pid, own, waited, start);
    tree_put(name, text);
}

static void put_stat(int pid, unsigned own, unsigned waited, unsigned start)
{
    put_child(pid, 1, own, waited, start);
}

/* A blank stands for the NUL between variables. */
static void put_environ(int pid, const char *text)
{
    char name[64];
    FILE *f;

    snprintf(name, sizeof name, "%d/environ", pid);
    tree_dirs(name);
    f = fopen(tree_path(name), "w");
    for (const char *at = text; f && *at; at++)
        (void)fputc(*at == ' ' ? '\0' : *at, f);
    if (!f || fclose(f) != 0)
        bail("no environ");
}

static void put_task(int pid, const char *ids, unsigned own)
{
    put_stat(pid, own, 0, 500);
    put_environ(pid, ids);
}

static void remove_process(int pid)
{
    char name[64];

    snprintf(name, sizeof name, "%d/stat", pid);
    if (unlink(tree_path(name)) < 0)
        bail("%s", name);
}

#define STEP_IDS "A=1 SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_STEP_NUM_TASKS=4 "

static struct task_cpus *start(void)
{
    struct task_cpus *t;

    tree_make();
    t = task_cpus_open(tree_root, "n1", 7, 2);
    if (!t)
        bail("no memory");
    return t;
}

static void stop(struct task_cpus *t)
{
    task_cpus_close(t);
    tree_remove();
}

static uint64_t ticks_of(const struct task_cpus *t, size_t i)
{
    return task_cpus_at(t, i)->cpu_ns / tick_ns;
}

static void test_whose(void)
{
    struct task_cpus *t = start();
    const struct task_cpu *first;

    put_task(10, STEP_IDS "SLURM_PROCID=3 SLURM_CPUS_PER_TASK=2 Z=", 40);
    put_task(11, STEP_IDS "SLURM_PROCID=3 SLURMD_NODENAME=n1 ", 5);
    put_task(
        12, "SLURM_JOB_ID=7 SLURM_STEP_ID=1 SLURM_NTASKS=4 SLURM_PROCID=0 ", 9);
    put_task(
        13, "SLURM_JOB_ID=8 SLURM_STEP_ID=2 SLURM_NTASKS=4 SLURM_PROCID=0 ", 9);
    put_task(14, STEP_IDS "SLURM_PROCID=4 ", 9);
    put_task(15, STEP_IDS "SLURM_PROCID=x ", 9);
    put_task(16, STEP_IDS, 9);
    put_task(17, "", 9);
    put_task(22, STEP_IDS "SLURM_PROCID=2 SLURMD_NODENAME=n2 ", 9);
    put_task(18, "SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_NTASKS=4 SLURM_PROCID=1",
             6);
    tree_put("19/stat", "nonsense\n");
    tree_put("20/status", "no stat\n");
    tree_put("self/stat", "10 (a) R 1 1 7 0 -1 0 1 2 3 4 5 0 0 0 20 0 1 0 5\n");
    task_cpus_look(t);
    is_int((long)task_cpus_count(t), 2, "two tasks of the step are found");
    if (task_cpus_count(t) != 2)
        bail("no tasks");
    first =
        task_cpus_at(t, 0)->rank == 3 ? task_cpus_at(t, 0) : task_cpus_at(t, 1);
    ok(first->rank == 3 && first->size == 4 && first->is_alive,
       "one is rank 3 of 4");
    is_int((long)(first->cpu_ns / tick_ns), 45,
           "what it has started counts, too");
    ok(first->begun_ns == 500 * tick_ns, "it began when its process did");
    stop(t);
}

static void test_time(void)
{
    struct task_cpus *t = start();

    put_task(10, STEP_IDS "SLURM_PROCID=0 SLURM_CPUS_PER_TASK=2 ", 10);
    put_task(11, STEP_IDS "SLURM_PROCID=0 SLURM_CPUS_PER_TASK=2 ", 20);
    put_child(11, 10, 20, 0, 501);
    task_cpus_look(t);
    is_int((long)ticks_of(t, 0), 30, "two processes of a task");
    is_int((long)task_cpus_at(t, 0)->cpus, 2, "and its CPUs");
    remove_process(11);
    put_stat(10, 10, 25, 500);
    task_cpus_look(t);
    is_int((long)ticks_of(t, 0), 35, "one that was waited for counts on");
    put_task(12, STEP_IDS "SLURM_PROCID=0 ", 100);
    task_cpus_look(t);
    is_int((long)ticks_of(t, 0), 135, "another begins");
    remove_process(12);
    put_stat(10, 12, 25, 500);
    task_cpus_look(t);
    is_int((long)ticks_of(t, 0), 137, "nobody waited for it: it does not fall");
    put_stat(10, 22, 25, 500);
    task_cpus_look(t);
    is_int((long)ticks_of(t, 0), 147, "and goes on from there");
    remove_process(10);
    task_cpus_look(t);
    ok(ticks_of(t, 0) == 147 && !task_cpus_at(t, 0)->is_alive,
       "a task that has ended keeps what it had");
    stop(t);
}

/* It ends between the look at its parent, of whatever number, and that at it. */
static void test_once(void)
{
    struct task_cpus *t = start();

    put_task(99, STEP_IDS "SLURM_PROCID=0 ", 10);
    put_task(11, STEP_IDS "SLURM_PROCID=0 ", 300);
    put_child(11, 99, 300, 0, 501);
    task_cpus_look(t);
    remove_process(11);
    task_cpus_look(t);
    is_int((long)ticks_of(t, 0), 310, "a child ends in the middle of a look");
    put_stat(99, 10, 300, 500);
    task_cpus_look(t);
    is_int((long)ticks_of(t, 0), 310, "its time is not counted twice");
    stop(t);
}

/* slurmstepd's child has another environment until it is the program. */
static void test_exec(void)
{
    struct task_cpus *t = start();

    put_task(10, "PATH=/sbin ", 1);
    task_cpus_look(t);
    is_int((long)task_cpus_count(t), 0, "not a task yet");
    put_environ(10, STEP_IDS "SLURM_PROCID=1 ");
    task_cpus_look(t);
    is_int((long)task_cpus_count(t), 1, "it has become one");
    put_task(11, "PATH=/sbin ", 1);
    for (int i = 0; i < 20; i++)
        task_cpus_look(t);
    put_environ(11, STEP_IDS "SLURM_PROCID=2 ");
    task_cpus_look(t);
    is_int((long)task_cpus_count(t), 1, "one is not looked at for ever");
    put_stat(11, 1, 0, 501);
    task_cpus_look(t);
    is_int((long)task_cpus_count(t), 2, "another of its id is");
    stop(t);
}

int main(void)
{
    struct task_cpus *none = task_cpus_open("/nowhere", NULL, 7, 2);

    tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    task_cpus_look(none);
    is_int((long)task_cpus_count(none), 0, "no /proc: no tasks");
    task_cpus_close(none);
    task_cpus_close(NULL);
    test_whose();
    test_time();
    test_once();
    test_exec();
    return done();
}
