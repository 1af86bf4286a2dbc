/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of a step's tasks whose nodes are lost and come back. */
#include "launcher/run/iteration.h"
#include "policy/kinds.h"
#include "send_to_all.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

#define NODES 3
#define UNITS 90

static struct {
    struct msg_run run;
    int has_run;
    uint32_t over; /* its errno + 1; 0: none has come */
} got[NODES];
static char seen[UNITS]; /* how often each unit of the frame was given */
static int dropped;
static const struct node named[NODES] = {
    {.name = "n0", .present = 1}, {.name = "n1", .present = 1}, {.present = 1}};
static struct metric metric[NODES];
static struct policy_option policy;
static const struct profile profile = {.influence = {[ELEMENT_C] = 1}};
static const struct threshold_rule rule = {.unit = THRESHOLD_PERCENT,
                                           .value = 5};
static struct iteration it;
static const char *unfit; /* see iteration_init() */
static uint64_t frames = 3;
static struct steering *steering; /* NULL: nothing is limited */
static int is_held;               /* it is */
static double speed;              /* of node 2, by its limit */

/* --- for a session -------------------------------------------------------- */

size_t session_size(const struct session *s)
{
    (void)s;
    return NODES;
}

const struct node *session_node(const struct session *s, size_t node)
{
    (void)s;
    return &named[node];
}

void steering_hold(struct steering *s, int held)
{
    (void)s;
    is_held = held;
}

double steering_speed(const struct steering *s, size_t node)
{
    (void)s;
    return node == 2 ? speed : 1;
}

void session_drop(struct session *s, size_t node)
{
    (void)s;
    (void)node;
    dropped++;
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    struct msg_over over;

    (void)s;
    if (type == MSG_RUN && msg_read_run(&got[node].run, w->buf, w->len) == 0) {
        got[node].has_run = 1;
        for (uint64_t u = got[node].run.begin; u < got[node].run.end; u++)
            seen[u]++;
    } else if (type == MSG_OVER && msg_read_over(&over, w->buf, w->len) == 0) {
        got[node].over = over.error + 1;
    }
    writer_clear(w);
}

/* --- the nodes ------------------------------------------------------------ */

static void say(size_t node, enum protocol_type type, struct writer *w)
{
    iteration_message(&it, node, (uint16_t)type, w->buf, w->len);
    writer_clear(w);
}

static void idle(size_t node, uint32_t survives)
{
    const struct msg_idle m = {UNITS, frames, survives};
    struct writer w = {0};

    msg_write_idle(&w, &m);
    say(node, MSG_IDLE, &w);
}

static void answer_after(size_t node, double seconds)
{
    const struct msg_done m = {.id = got[node].run.id,
                               .elapsed_ns = (uint64_t)(seconds * 1e9)};
    struct writer w = {0};

    got[node].has_run = 0;
    msg_write_done(&w, &m);
    say(node, MSG_DONE, &w);
}

static void answer(size_t node)
{
    answer_after(node, 1);
}

static void fail(size_t node, uint32_t error)
{
    const struct msg_over m = {error, (const uint8_t *)"", 0};
    struct writer w = {0};

    msg_write_over(&w, &m);
    say(node, MSG_OVER, &w);
}

static void start(const char *kind, uint32_t survives)
{
    struct es_error err = {0};

    iteration_clear(&it);
    memset(got, 0, sizeof got);
    memset(seen, 0, sizeof seen);
    dropped = 0;
    policy.kind = kinds_find(kind);
    policy_defaults(policy.kind, policy.value);
    for (size_t i = 0; i < NODES; i++)
        metric[i] = (struct metric){.JL = 100.0 / NODES,
                                    .X = {[ELEMENT_C] = 100.0 / NODES},
                                    .CU = {[ELEMENT_C] = 100}};
    if (iteration_init(&it, NULL, &policy, &rule, metric, &profile, unfit,
                       steering, &err)
        < 0)
        bail("%s", err.what);
    for (size_t i = 0; i < NODES; i++)
        idle(i, survives);
}

static int frame_is(uint64_t frame)
{
    return it.frame == frame && !it.over;
}

static int each_was_given(int times)
{
    for (size_t u = 0; u < UNITS; u++)
        if (seen[u] != times)
            return 0;
    return 1;
}

static void next_frame(void)
{
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < NODES; i++)
        if (got[i].has_run)
            answer(i);
}

/* --- what may happen ------------------------------------------------------ */

static void test_whole(const char *kind)
{
    start(kind, 0);
    ok(each_was_given(1), "%s: a frame is cut over all nodes", kind);
    next_frame();
    ok(frame_is(1) && each_was_given(1), "%s: and so is the next", kind);
    next_frame();
    next_frame();
    ok(it.over && got[0].over == 1 && got[2].over == 1,
       "%s: after the last one all are told so", kind);
    ok(it.history.units[0] + it.history.units[1] + it.history.units[2]
               == 3 * UNITS
           && it.history.seconds[1] >= 3 - 1e-9
           && it.history.seconds[1] <= 3 + 1e-9,
       "%s: what each has done in which time is kept", kind);
}

static void test_lost(const char *kind)
{
    struct slice had;

    start(kind, 1);
    had = it.cut[1];
    answer(0);
    iteration_lost(&it, 1);
    got[1].has_run = 0;
    ok(frame_is(0) && !got[0].has_run, "%s: a node is lost in a frame", kind);
    memset(seen, 0, sizeof seen);
    answer(2);
    ok(frame_is(0) && got[0].has_run && got[2].has_run && !seen[0]
           && got[0].run.frame == 0,
       "%s: what it had is given to the others, in the same frame", kind);
    ok(had.end - had.begin == UNITS / NODES && seen[had.begin] == 1
           && seen[had.end - 1] == 1,
       "%s: all of it, once", kind);
    next_frame();
    ok(frame_is(1) && each_was_given(1) && it.cut[1].end == it.cut[1].begin,
       "%s: the next frame is theirs, too", kind);
    iteration_returned(&it, 1);
    idle(1, 1);
    got[1].has_run = 0;
    next_frame();
    ok(frame_is(2) && got[1].has_run && each_was_given(1)
           && it.cut[1].end > it.cut[1].begin,
       "%s: it is back: it has its part of the one after", kind);
    next_frame();
    ok(it.over && got[1].over == 1 && dropped == 0, "%s: all end alike", kind);
}

static void test_idle_lost(void)
{
    start("even", 1);
    answer(1);
    iteration_lost(&it, 1);
    answer(0);
    answer(2);
    ok(frame_is(1), "one that had done its part: nothing is done again");
    iteration_lost(&it, 0);
    iteration_lost(&it, 2);
    ok(it.over && it.error == ECONNABORTED, "without any node it is over");
    got[1].over = 0;
    iteration_returned(&it, 1);
    ok(got[1].over == ECONNABORTED + 1, "who comes back then is told");
}

static void test_task_lost(void)
{
    start("even", 1);
    fail(2, ECONNABORTED);
    ok(!it.over && got[2].over == ECONNABORTED + 1 && got[0].over == 0,
       "a task has died: the others of its node are told, no more");
    fail(2, 0);
    ok(!it.over, "that they close ends nothing");
    answer(0);
    answer(1);
    ok(frame_is(0) && got[0].has_run, "the rest goes on");
    fail(0, 0);
    ok(it.over && got[1].over == 1, "a task that closes ends it for all");
}

static void test_not_surviving(void)
{
    start("even", 0);
    iteration_lost(&it, 1);
    ok(it.over && got[0].over == ECONNABORTED + 1,
       "a program that has not said so does not survive");
    start("even", 0);
    fail(1, ECONNABORTED);
    ok(it.over && got[0].over == ECONNABORTED + 1, "nor the loss of a task");
    iteration_clear(&it);
    start("even", 1);
    idle(0, 1);
    is_int(dropped, 1, "who asks twice breaks the protocol");
}

static void test_before(uint32_t survives)
{
    struct es_error err = {0};

    start("even", 0);
    iteration_clear(&it);
    memset(got, 0, sizeof got);
    (void)iteration_init(&it, NULL, &policy, &rule, metric, &profile, unfit,
                         steering, &err);
    iteration_lost(&it, 0);
    idle(1, survives);
    if (survives) {
        idle(2, 1);
        ok(frame_is(0) && got[1].has_run && got[2].has_run && !got[0].has_run,
           "a node is lost before the first frame: the others begin");
    } else {
        ok(it.over && got[2].over == ECONNABORTED + 1,
           "likewise, where nobody survives: it is over");
    }
}

/* Node 2 comes last by so much as the threshold lets pass, or with another limit
 * in this time. */
static void frame_with_last(double seconds)
{
    answer(0);
    answer(1);
    answer_after(2, seconds);
}

static uint64_t units_of(size_t node)
{
    return it.cut[node].end - it.cut[node].begin;
}

static void test_turns(void)
{
    static char any;

    steering = (struct steering *)(void *)&any;
    frames = 100;
    speed = 1;
    is_held = 0;
    start("even", 1);
    ok(is_held, "limits are held while the work has its turn");
    frame_with_last(2);
    ok(is_held && units_of(2) < units_of(1), "which it takes");
    start("even", 1);
    frame_with_last(1.049);
    ok(is_held, "twice the same is left to the limits");
    frame_with_last(1.049);
    ok(!is_held && units_of(2) == UNITS / NODES, "then they have theirs");
    speed = 1.4;
    frame_with_last(1.049 / 1.2);
    frame_with_last(1.049 / 1.4);
    frame_with_last(1.049 / 1.4);
    ok(!is_held && units_of(2) == UNITS / NODES,
       "what a node does faster by its limit moves no work");
    frame_with_last(2);
    ok(is_held && units_of(2) < UNITS / NODES,
       "a node that is slower for another reason does");
    for (int i = 0; i < 9; i++)
        frame_with_last(1.049);
    iteration_lost(&it, 2);
    answer(0);
    answer(1);
    ok(is_held, "if a node is lost the work has its turn");
    fail(0, 0);
    ok(!is_held, "without frames, the limits");
    start("static", 1);
    ok(!is_held, "they have all turns where the policy moves no work");
    frames = 1;
    start("even", 1);
    ok(!is_held, "or in a single frame");
    steering = NULL;
    frames = 3;
}

/* One that has too little of what the profile needs. */
static void test_unfit(void)
{
    static const char second[NODES] = {0, 1, 0};

    unfit = second;
    start("even", 1);
    for (uint64_t frame = 0; frame < 2; frame++) {
        ok(frame_is(frame) && got[1].has_run, "frame %ju: all are told of it",
           (uintmax_t)frame);
        is_int((intmax_t)units_of(1), 0, "the unfit node has nothing to do");
        is_int((intmax_t)(units_of(0) + units_of(2)), UNITS,
               "and the others all of it");
        next_frame();
    }
    iteration_lost(&it, 0);
    is_int((intmax_t)units_of(1), 0, "nor does it take what a lost node had");
    iteration_lost(&it, 2);
    answer(1);
    ok(it.over, "once it is alone no task gets a slice any more");
    unfit = NULL;
}

int main(void)
{
    const struct policy_kind *kind;

    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++) {
        test_whole(kind->name);
        test_lost(kind->name);
    }
    test_idle_lost();
    test_task_lost();
    test_turns();
    test_not_surviving();
    test_before(1);
    test_before(0);
    test_unfit();
    iteration_clear(&it);
    return done();
}
