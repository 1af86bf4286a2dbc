/* SPDX-License-Identifier: BSD-2-Clause */
/* Processors that differ, and tasks that need several cores or much memory. */
#include "policy/graph_plan.h"
#include "policy/list_schedule.h"
#include "policy/replan.h"

#include "tap.h"

#include "drawn_graph.h"

#include <string.h>

#define PROCESSORS 5
#define CORES      4
#define GIB        0x1p30

static const struct power watts = {10, 2, 5, 3};
static const char *const names[] = {"best", "literal", "guard", "cap",
                                    "pack", "spread",  "heft",  "list"};

/* --- is it a schedule ----------------------------------------------------- */

static int overlap(const struct machine *m,
                   const struct graph *g,
                   const struct instance *a,
                   const struct instance *b)
{
    uint32_t a_end = a->core + machine_width(m, g, a->task, a->processor);
    uint32_t b_end = b->core + machine_width(m, g, b->task, b->processor);

    return a->processor == b->processor && a->core < b_end && b->core < a_end
           && a->start < b->finish && b->start < a->finish;
}

static int has_input(const struct instance *x,
                     const struct graph_link *from,
                     const struct instance all[],
                     uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (all[i].task == from->task
            && all[i].finish
                       + (all[i].processor == x->processor ? 0 : from->comm)
                   <= x->start)
            return 1;
    return 0;
}

/* By the definition: everything runs where it fits, as long as it takes there,
 * when its inputs are there and nothing else is. */
static int is_schedule(const struct machine *m,
                       const struct graph *g,
                       const struct instance x[],
                       uint32_t n)
{
    uint32_t seen[DRAWN_TASKS] = {0}, found = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t width = machine_width(m, g, x[i].task, x[i].processor);

        if (width == 0 || x[i].core + width > machine_cores(m, x[i].processor)
            || x[i].finish - x[i].start
                   != machine_time(m, g->time[x[i].task], x[i].processor))
            return 0;
        for (uint32_t k = g->pred_at[x[i].task]; k < g->pred_at[x[i].task + 1];
             k++)
            if (!has_input(&x[i], &g->pred[k], x, n))
                return 0;
        for (uint32_t k = 0; k < i; k++)
            if (overlap(m, g, &x[i], &x[k]))
                return 0;
        found += seen[x[i].task]++ == 0;
    }
    return found == g->tasks;
}

/* --- drawn ones ----------------------------------------------------------- */

static struct processor_kind kinds[PROCESSORS];

static struct machine draw_machine(int mixed)
{
    static const double slowness[] = {1, 1.25, 2, 4.5, 8};

    for (int p = 0; p < PROCESSORS; p++)
        kinds[p] = mixed ? (struct processor_kind){slowness[drawn_number(5)],
                                                   1 + drawn_number(CORES),
                                                   GIB * drawn_number(3)}
                         : (struct processor_kind){1, CORES, GIB};
    kinds[drawn_number(PROCESSORS)].cores = CORES;
    return (struct machine){1 + drawn_number(PROCESSORS), CORES, watts, 0,
                            kinds};
}

static void draw_needs(struct graph *g, uint32_t cores, double memory)
{
    struct graph_need need[DRAWN_TASKS];

    for (uint32_t v = 0; v < g->tasks; v++)
        need[v] = (struct graph_need){1 + drawn_number(cores),
                                      memory * drawn_number(3)};
    if (graph_set_needs(g, need) < 0)
        bail("no memory");
}

static struct graph_plan_wish draw_wish(int mode, const struct machine *m)
{
    return (struct graph_plan_wish){
        .algorithm = (enum path_algorithm)drawn_number(3),
        .mode = (enum grouping_mode)mode,
        .machine = *m,
        .deadline = drawn_number(2) ? (5 + drawn_number(20)) * DRAWN_S
                                    : GRAPH_PLAN_FOREVER,
        .deadline_factor = drawn_number(2) ? 0 : GRAPH_PLAN_FACTOR,
        .is_default = (int)drawn_number(2),
    };
}

/* --- alike ---------------------------------------------------------------- */

static int is_same_plan(const struct graph_plan *a, const struct graph_plan *b)
{
    if (a->candidates != b->candidates || a->instances != b->instances
        || a->chosen != b->chosen || a->deadline != b->deadline)
        return 0;
    for (uint32_t i = 0; i < a->candidates; i++) {
        const struct graph_candidate *x = &a->candidate[i],
                                     *y = &b->candidate[i];

        if (x->mode != y->mode || x->M != y->M
            || memcmp(&x->sum, &y->sum, sizeof x->sum) != 0)
            return 0;
    }
    return memcmp(a->instance, b->instance, a->instances * sizeof *a->instance)
           == 0;
}

static void test_alike(int mode)
{
    int same = 1, n = 0;

    for (int round = 0; round < 200; round++) {
        struct machine m = draw_machine(0), plain;
        struct graph_plan_wish w = draw_wish(mode, &m), v;
        struct graph_plan p, q;
        enum graph_plan_fault a, b;
        struct drawn t;
        struct graph *g = draw_graph(&t);

        if (drawn_number(2))
            draw_needs(g, 1, GIB / 2);
        plain = m;
        plain.kind = NULL;
        v = w;
        v.machine = plain;
        a = graph_plan_init(&p, g, &w);
        b = graph_plan_init(&q, g, &v);
        same &= a == b && (a != GRAPH_PLAN_SOUND || is_same_plan(&p, &q));
        n += a == GRAPH_PLAN_SOUND;
        graph_plan_clear(&p);
        graph_plan_clear(&q);
        graph_destroy(g);
    }
    ok(same && n > 50,
       "%s: equal speeds give the plan without speeds, %d times", names[mode],
       n);
}

/* --- mixed ---------------------------------------------------------------- */

static void test_mixed(int mode)
{
    int sound = 1, told = 1, n = 0, misfits = 0;

    for (int round = 0; round < 500; round++) {
        struct machine m = draw_machine(1);
        struct graph_plan_wish w = draw_wish(mode, &m);
        struct graph_plan p;
        enum graph_plan_fault fault;
        struct drawn t;
        struct graph *g = draw_graph(&t);

        if (drawn_number(2))
            draw_needs(g, CORES, GIB);
        fault = graph_plan_init(&p, g, &w);
        if (fault == GRAPH_PLAN_MISFIT) {
            misfits++;
            for (uint32_t i = 0; i < m.processors; i++)
                told &= machine_width(&m, g, p.misfit, i) == 0;
        } else if (fault == GRAPH_PLAN_SOUND) {
            n++;
            sound &= is_schedule(&m, g, p.instance, p.instances);
        } else if (fault != GRAPH_PLAN_FEW) {
            bail("no plan");
        }
        graph_plan_clear(&p);
        graph_destroy(g);
    }
    ok(sound && n > 50, "%s: %d plans for processors that differ are sound",
       names[mode], n);
    ok(told && misfits > 5, "%s: what fits nowhere is told, %d times",
       names[mode], misfits);
}

/* HEFT's own times are those of schedule.h. */
static void test_list(void)
{
    int same = 1, n = 0;

    for (int round = 0; round < 500; round++) {
        struct machine m = draw_machine((int)drawn_number(2));
        struct instance x[DRAWN_TASKS], y[DRAWN_TASKS];
        struct schedule_room *room;
        struct schedule_sum sum;
        struct list_room *list;
        const uint32_t *rank;
        struct drawn t;
        struct graph *g = draw_graph(&t);
        enum list_rule rule = drawn_number(2) ? LIST_HEFT : LIST_PLAIN;

        if (drawn_number(2))
            draw_needs(g, CORES, GIB);
        room = schedule_room_create(g, g->tasks, m.processors * m.cores);
        list = list_room_create(g, m.processors, m.cores);
        if (list_place(g, &m, rule, x, &rank, list) == 0) {
            n++;
            memcpy(y, x, sizeof y);
            schedule_room_order(room, rank);
            same &= schedule_evaluate(g, &m, y, g->tasks, room, &sum) == 0
                    && is_schedule(&m, g, x, g->tasks);
            for (uint32_t i = 0; i < g->tasks; i++)
                for (uint32_t k = 0; k < g->tasks; k++)
                    if (x[i].task == y[k].task)
                        same &= x[i].start == y[k].start
                                && x[i].finish == y[k].finish;
        }
        list_room_destroy(list);
        schedule_room_destroy(room);
        graph_destroy(g);
    }
    ok(same && n > 300, "HEFT and list: their times are those of the schedule");
}

/* --- a node is lost ------------------------------------------------------- */

static void test_replan(void)
{
    int sound = 1, n = 0;

    for (int round = 0; round < 500; round++) {
        struct machine m = draw_machine(1);
        struct instance x[2 * DRAWN_TASKS];
        uint8_t ready[DRAWN_TASKS] = {0}, usable[PROCESSORS];
        struct drawn t;
        struct graph *g = draw_graph(&t);
        int64_t makespan, last = 0;
        uint32_t count = 0;

        draw_needs(g, CORES, GIB);
        memset(usable, 1, sizeof usable);
        if (m.processors > 1)
            usable[drawn_number(m.processors)] = 0;
        if (replan_place(g, &m, ready, usable, NULL, x, &count, &makespan)
            == 0) {
            n++;
            sound &= is_schedule(&m, g, x, count);
            for (uint32_t i = 0; i < count; i++) {
                sound &= usable[x[i].processor];
                last = x[i].finish > last ? x[i].finish : last;
            }
            sound &= last == makespan;
        }
        graph_destroy(g);
    }
    ok(sound && n > 100, "%d times placed anew, where it fits", n);
}

/* --- bad input ------------------------------------------------------------ */

static enum graph_plan_fault plan_with(double slowness, uint32_t cores)
{
    const struct processor_kind kind = {slowness, cores, 0};
    struct graph_plan_wish w = {.machine = {1, 2, watts, 0, &kind},
                                .deadline = GRAPH_PLAN_FOREVER};
    const int64_t time = DRAWN_S;
    struct graph_plan p;
    enum graph_plan_fault fault;
    struct graph *g;

    if (graph_create(&g, &time, 1, NULL, 0, NULL) != GRAPH_SOUND)
        bail("no graph");
    fault = graph_plan_init(&p, g, &w);
    graph_plan_clear(&p);
    graph_destroy(g);
    return fault;
}

static void test_bad(void)
{
    is_int(plan_with(2, 2), GRAPH_PLAN_SOUND, "half the speed is one");
    is_int(plan_with(0, 2), GRAPH_PLAN_SLOW, "no slowness is none");
    is_int(plan_with(-1, 2), GRAPH_PLAN_SLOW, "nor is a negative one");
    is_int(plan_with(MACHINE_SLOWNESS_MAX * 2, 2), GRAPH_PLAN_SLOW,
           "nor one beyond the bound");
    is_int(plan_with(1, 0), GRAPH_PLAN_MACHINE, "a processor without cores");
    is_int(plan_with(1, 3), GRAPH_PLAN_MACHINE, "one with too many");
}

int main(void)
{
    for (int mode = GROUPING_BEST; mode <= GROUPING_LIST; mode++) {
        test_alike(mode);
        test_mixed(mode);
    }
    test_list();
    test_replan();
    test_bad();
    return done();
}
