/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steering against nodes that are simulated, each with a RAPL actuator on a
 * tree of its own: what is written there never adds up to more than the
 * budget, at no instant, in whatever order the nodes answer.
 *
 * The session and the clock are ours: this program's functions stand for
 * session.c's and libc's.
 */
#include "launcher/session/steering.h"
#include "launcher/power/actuator.h"
#include "launcher/power/actuator_rapl.h"
#include "policy/pace.h"
#include "tap.h"

#include <ftw.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <time.h>

#define NODES  4
#define MAX_UW 100000000 /* of a node */
#define START  0.5
#define BUDGET (NODES * MAX_UW / 2)
#define REGION 1500000000.0 /* ns of work 1.0 at the first limit */

struct asked {
    TAILQ_ENTRY(asked) next;
    size_t node;
    uint64_t limit;
};

static char root[] = "/tmp/steering.XXXXXX";
static struct node named[NODES];
static struct actuator actuator[NODES];
static struct msg_progress record[NODES];
static TAILQ_HEAD(queue, asked) queue = TAILQ_HEAD_INITIALIZER(queue);
static uint64_t highest;       /* sum of all limits that was ever in force */
static int orders, own_orders; /* MONITORs, of step 7.1 and the agents' own */
static int unwritable = -1;    /* a node whose limit sticks */
static const double work[NODES] = {1, 1, 1, 1.6};
static uint64_t highest_rack; /* likewise, of the nodes 2 and 3 */
static struct config_power config = {.start = START,
                                     .floor = 0.1,
                                     .bound = POWER_BOUND,
                                     .band = POWER_BAND,
                                     .gain = POWER_GAIN,
                                     .interval_ms = 10};

static int64_t now_ns = 1000000000;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    t->tv_sec = now_ns / 1000000000;
    t->tv_nsec = now_ns % 1000000000;
    return 0;
}

/* --- for session.c -------------------------------------------------------- */

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

void session_step_name(const struct session *s,
                       size_t node,
                       char name[STEP_NAME_MAX])
{
    (void)s;
    snprintf(name, STEP_NAME_MAX, "own-%zu", node);
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    struct asked *a = calloc(1, sizeof *a);
    struct msg_monitor m;

    (void)s;
    if (!a)
        bail("no memory");
    a->node = node;
    if (type == MSG_LIMIT && msg_read_u64(&a->limit, w->buf, w->len) == 0) {
        TAILQ_INSERT_TAIL(&queue, a, next);
    } else {
        char own[STEP_NAME_MAX];

        session_step_name(s, node, own);
        if (type == MSG_MONITOR && msg_read_monitor(&m, w->buf, w->len) == 0
            && m.record_ms == pace_record_ms(NODES, 0)
            && m.meter == STEP_METER_CPU) {
            orders += strcmp(m.dir, "7.1") == 0;
            own_orders += strcmp(m.dir, own) == 0;
        }
        free(a);
    }
    writer_clear(w);
}

/* --- the nodes ------------------------------------------------------------ */

static void make_tree(size_t i)
{
    static const char *const part[] = {"", "/class", "/class/powercap",
                                       "/class/powercap/intel-rapl:0"};
    char path[SYSFS_PATH], text[32];

    for (size_t k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s/n%zu%s", root, i, part[k]);
        if (mkdir(path, 0755) < 0)
            bail("%s", path);
    }
    snprintf(text, sizeof text, "%d\n", MAX_UW);
    for (int k = 0; k < 2; k++) {
        FILE *file;

        snprintf(path, sizeof path, "%s/n%zu%s/constraint_0_%s_uw", root, i,
                 part[3], k ? "max_power" : "power_limit");
        file = fopen(path, "w");
        if (!file || fputs(text, file) < 0 || fclose(file) != 0)
            bail("%s", path);
    }
}

/* What the kernel has been told of a node. */
static uint64_t limit_of(size_t i)
{
    uint64_t v;

    if (sysfs_read_u64(&v, "%s", actuator[i].knob[0].path) < 0)
        bail("no limit");
    return v;
}

/* Of all nodes, right now. */
static uint64_t in_force(void)
{
    uint64_t all = 0;

    for (size_t i = 0; i < NODES; i++)
        all += limit_of(i);
    return all;
}

static void open_node(size_t i)
{
    static char sysfs[NODES][64];
    struct actuator_place place = {.sysfs = sysfs[i]};

    snprintf(named[i].name, sizeof named[i].name, "n%zu", i);
    snprintf(sysfs[i], sizeof sysfs[i], "%s/n%zu", root, i);
    make_tree(i);
    if (actuator_open(&actuator[i], &rapl_kind, &place, START, 0.1, NULL) < 0)
        bail("no actuator");
}

static void say_power(struct steering *s, size_t i)
{
    struct msg_power m = {.actuator = "rapl",
                          .unit = "uW",
                          .limit = MAX_UW / 2,
                          .floor = actuator[i].floor,
                          .ceiling = actuator[i].ceiling};
    struct writer w = {0};

    msg_write_power(&w, &m);
    ok(steering_message(s, i, MSG_POWER, w.buf, w.len), "n%zu tells its limit",
       i);
    writer_clear(&w);
}

/* A node answers one of its questions, as its guard would. */
static void answer(struct steering *s, struct asked *a)
{
    struct msg_limited m = {0};
    struct writer w = {0};

    if (a->limit == 0)
        actuator_restore(&actuator[a->node]);
    else if (unwritable != (int)a->node)
        (void)actuator_set(&actuator[a->node], a->limit, NULL);
    m.limit = a->limit > 0 ? actuator[a->node].limit : 0;
    if (m.limit != a->limit)
        snprintf(m.text, sizeof m.text, "error it sticks");
    if (in_force() > highest)
        highest = in_force();
    if (limit_of(2) + limit_of(3) > highest_rack)
        highest_rack = limit_of(2) + limit_of(3);
    msg_write_limited(&w, &m);
    (void)steering_message(s, a->node, MSG_LIMITED, w.buf, w.len);
    writer_clear(&w);
}

/* All questions, those that follow from the answers, too; last ones first. */
static void answer_all(struct steering *s)
{
    struct asked *a;

    while (!TAILQ_EMPTY(&queue)) {
        a = TAILQ_LAST(&queue, queue);
        TAILQ_REMOVE(&queue, a, next);
        answer(s, a);
        free(a);
    }
}

static void tell(struct steering *s, size_t i)
{
    struct writer w = {0};

    msg_write_progress(&w, &record[i]);
    (void)steering_message(s, i, MSG_PROGRESS, w.buf, w.len);
    writer_clear(&w);
}

/* A quarter of a region takes node i as long as its limit makes it. */
static double quarter_ns(size_t i)
{
    double speed = (double)limit_of(i) / (START * MAX_UW);

    return REGION / 4 * work[i] / speed;
}

static void advance(struct steering *s, size_t i)
{
    record[i].progress += 0.25;
    record[i].work_ns += (uint64_t)quarter_ns(i);
    record[i].slots = 1;
    tell(s, i);
}

static void regions(struct steering *s, int n, int silent)
{
    for (int k = 0; k < 4 * n; k++) {
        double longest = 0;

        for (size_t i = 0; i < NODES; i++)
            longest = fmax(longest, quarter_ns(i));
        now_ns += (int64_t)longest;
        for (size_t i = 0; i < NODES; i++)
            if ((int)i != silent) {
                advance(s, i);
                answer_all(s);
            }
    }
}

static int nobody_is_limited(void)
{
    return TAILQ_EMPTY(&queue) && in_force() == (uint64_t)NODES * MAX_UW;
}

/* Before anything is metered. */
static struct steering *prepare_step(const char *step,
                                     enum power_variant variant)
{
    struct steering *s =
        steering_start(NULL, step, &config, variant, STEP_METER_CPU);

    if (!s)
        bail("no memory");
    for (size_t i = 0; i < NODES; i++) {
        memset(&record[i], 0, sizeof record[i]);
        actuator_restore(&actuator[i]);
        if (variant != POWER_OFF)
            say_power(s, i);
    }
    return s;
}

static struct steering *prepare(enum power_variant variant)
{
    return prepare_step("7.1", variant);
}

/* The first thread begins its first region. */
static void begin(struct steering *s)
{
    record[0].slots = 1;
    tell(s, 0);
    answer_all(s);
    highest = in_force();
    highest_rack = limit_of(2) + limit_of(3);
}

static struct steering *start(enum power_variant variant)
{
    struct steering *s = prepare(variant);

    begin(s);
    return s;
}

/* What it says on stderr if it looks after so many seconds. */
static const char *look(struct steering *s, int seconds)
{
    static char text[1024];
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    size_t len;

    if (!file || kept < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        bail("no file");
    now_ns += seconds * INT64_C(1000000000);
    steering_look(s);
    answer_all(s);
    (void)dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    len = fread(text, 1, sizeof text - 1, file);
    text[len] = '\0';
    (void)fclose(file);
    return text;
}

/* --- what must hold ------------------------------------------------------- */

static void test_steers(enum power_variant variant, const char *name)
{
    struct steering *s = prepare(variant);
    struct steering_view view;
    uint64_t before[NODES];
    int stands = 1;

    ok(nobody_is_limited(), "nothing is limited before anything is metered");
    begin(s);
    is_int((int)in_force(), BUDGET, "then every node is, to what is its own");
    regions(s, 30, -1);
    ok(steering_skew(s) < 2 * POWER_BOUND, "%s: the skew is down to %.6f", name,
       steering_skew(s));
    is_near((double)actuator[3].limit, BUDGET * 1.6 / 4.6, BUDGET * 0.02,
            "who has more to do has more");
    ok(highest == BUDGET && in_force() == BUDGET,
       "the sum was never above the budget, and is all of it");
    for (size_t i = 0; i < NODES; i++)
        before[i] = actuator[i].limit;
    regions(s, 10, -1);
    for (size_t i = 0; i < NODES; i++)
        stands &= before[i] == actuator[i].limit;
    ok(stands, "the limits stand still");
    view = steering_view(s, 0);
    ok(view.waiting < 0.05 && view.speed > 0 && strcmp(view.unit, "uW") == 0
           && strcmp(view.name, "n0") == 0,
       "a node's view tells of it");
    steering_stop(s);
}

static void test_off(void)
{
    struct steering *s = start(POWER_OFF);

    regions(s, 10, -1);
    ok(!TAILQ_FIRST(&queue), "off: nothing is ever asked");
    ok(steering_skew(s) > 0.02, "but the skew is known: %.4f",
       steering_skew(s));
    steering_stop(s);
}

static void test_lost(void)
{
    struct steering *s = start(POWER_PAIR);

    regions(s, 20, -1);
    steering_lost(s, 2);
    answer_all(s);
    ok(actuator[0].limit == MAX_UW / 2 && actuator[1].limit == MAX_UW / 2
           && actuator[3].limit == MAX_UW / 2,
       "when a node is lost the others go back to what they had at first");
    ok(highest <= BUDGET, "the sum is kept on the way");
    regions(s, 20, 2);
    ok(steering_skew(s) < 2 * POWER_BOUND, "and steering goes on without it");
    ok(actuator[0].limit + actuator[1].limit + actuator[3].limit
           <= BUDGET / NODES * (NODES - 1),
       "its budget is not given away");
    steering_stop(s);
}

/* Until its guard has put its limit back it has what it was given. */
static void test_lost_with_more(void)
{
    struct steering *s = start(POWER_PAIR);

    regions(s, 20, -1);
    steering_lost(s, 3);
    answer_all(s);
    ok(actuator[3].limit > MAX_UW / 2 && highest == BUDGET,
       "a node is lost that had more than its part: the sum is kept");
    regions(s, 20, 3);
    ok(highest == BUDGET && steering_skew(s) < 2 * POWER_BOUND,
       "and the others are steered with what is left");
    steering_stop(s);
}

/* What `evenstep run` has watched are its own agents' programs. */
static void test_returned(void)
{
    struct steering *s = prepare_step(NULL, POWER_PAIR);

    is_int(own_orders, NODES, "each node has a step directory of its own");
    begin(s);
    regions(s, 20, -1);
    steering_lost(s, 2);
    answer_all(s);
    own_orders = 0;
    steering_returned(s, 2);
    is_int(own_orders, 1, "a node that is back is told to watch again");
    actuator_restore(&actuator[2]);
    say_power(s, 2);
    answer_all(s);
    ok(actuator[2].limit == MAX_UW / 2 && in_force() == BUDGET,
       "it is limited again, to what it had at first");
    regions(s, 20, -1);
    ok(highest <= BUDGET && steering_skew(s) < 2 * POWER_BOUND,
       "and steered with the others");
    steering_stop(s);
}

static void test_unwritable(void)
{
    struct steering *s = start(POWER_PAIR);

    unwritable = 0; /* from now on */
    regions(s, 20, -1);
    is_int((int)actuator[0].limit, MAX_UW / 2,
           "a node whose limit cannot be set keeps it");
    ok(highest <= BUDGET, "and nobody gets of it");
    ok(actuator[3].limit > MAX_UW / 2, "the others are steered all the same");
    unwritable = -1;
    steering_stop(s);
}

/* Nobody waits for a node that was never heard of, or no more. */
static void test_silent(int before)
{
    struct steering *s = start(POWER_PAIR);
    uint64_t kept, others;

    regions(s, before, -1);
    kept = limit_of(1);
    others = limit_of(3);
    regions(s, 60, 1);
    ok(actuator[1].limit == kept,
       "a node that does not report, after %d regions, keeps its limit",
       before);
    ok(actuator[3].limit > others && in_force() == BUDGET
           && steering_skew(s) < 2 * POWER_BOUND,
       "the others share theirs");
    steering_stop(s);
}

/* A program that never ticks runs as it would. */
static void test_unmetered(void)
{
    struct steering *s = prepare(POWER_PAIR);

    is_str(look(s, 9), "", "nothing is metered for 9 s: not a word");
    ok(strcmp(
           look(s, 1),
           "evenstep: warning: no progress was metered for 10 s: no limits "
           "are set until there is some, by a collective of all MPI ranks or "
           "by evenstep_tick(), see libevenstep(3)\n")
           == 0,
       "after 10 s it is told");
    is_str(look(s, 60), "", "once");
    ok(nobody_is_limited(), "and nothing was ever limited");
    begin(s);
    is_int((int)in_force(), BUDGET, "what ticks later on is steered");
    steering_stop(s);
    s = prepare(POWER_OFF);
    is_str(look(s, 60), "", "who did not ask for it is told nothing");
    steering_stop(s);
}

/* It may have ticked before. */
static void test_still(void)
{
    struct steering *s = start(POWER_PAIR);

    regions(s, 20, -1);
    is_str(look(s, 9), "", "no ticks for 9 s: not a word");
    ok(in_force() == BUDGET, "the limits stand");
    ok(strstr(look(s, 1), "no progress was metered for 10 s"),
       "none for 10 s: it is told");
    ok(nobody_is_limited(), "and what was found is put back on every node");
    is_str(steering_view(s, 0).unit, "", "nor does a view tell of a limit");
    begin(s);
    ok(in_force() == BUDGET, "it ticks again: the limits begin again");
    is_str(look(s, 19), "", "it has twice as long now, and is not told again");
    ok(in_force() == BUDGET, "the limits stand");
    is_str(look(s, 1), "", "no word");
    ok(nobody_is_limited(), "when they go once more");
    begin(s);
    regions(s, 30, -1);
    ok(steering_skew(s) < 2 * POWER_BOUND && highest == BUDGET,
       "steering goes on where it ticks");
    record[0].slots = 0;
    (void)look(s, 40);
    tell(s, 0);
    ok(nobody_is_limited(), "that all threads have ended is no progress");
    steering_stop(s);
}

/* A node whose guard comes late is limited like the others. */
static void test_late(void)
{
    struct steering *s =
        steering_start(NULL, "7.1", &config, POWER_PAIR, STEP_METER_CPU);

    if (!s)
        bail("no memory");
    memset(record, 0, sizeof record);
    for (size_t i = 0; i < NODES; i++)
        actuator_restore(&actuator[i]);
    begin(s);
    ok(nobody_is_limited(), "who has no limit to set is not asked");
    for (size_t i = 0; i < NODES; i++)
        say_power(s, i);
    answer_all(s);
    ok(in_force() == BUDGET, "who tells of one when others tick is");
    steering_stop(s);
}

/* --- ranks that are metered from outside ---------------------------------- */

#define LONG_MS 20000 /* a region, at equal limits */

static double part[NODES]; /* of the region, done by each */

/* 100 ms of a long region on all nodes, each as fast as its limit makes it,
 * beside what else goes on there. */
static void go_on_within(struct steering *s, const double slowed[NODES])
{
    now_ns += 100000000;
    for (size_t i = 0; i < NODES; i++) {
        double speed = (double)limit_of(i) / (START * MAX_UW) / slowed[i];
        int works = part[i] < 0.999;

        part[i] = fmin(part[i] + 100 * speed / LONG_MS, 0.999);
        record[i].progress = 1 + part[i];
        record[i].work_ns += works ? 100000000 : 0;
        record[i].done_ns = (uint64_t)((1 + part[i]) * LONG_MS * 1e6);
        record[i].left_ns = (uint64_t)((1 - part[i]) * LONG_MS * 1e6);
        record[i].is_waiting = !works;
        record[i].slots = 2;
        tell(s, i);
        answer_all(s);
    }
}

static int anybody_works(void)
{
    for (size_t i = 0; i < NODES; i++)
        if (part[i] < 0.999)
            return 1;
    return 0;
}

/* A node has half of its speed from the middle on: the region of 20 s would
 * take 30. */
static void test_long(enum power_variant variant, const char *name)
{
    static const double equal[NODES] = {1, 1, 1, 1},
                        slowed[NODES] = {1, 2, 1, 1};
    struct steering *s = start(variant);
    int64_t began = now_ns, slow, helped = 0;

    memset(part, 0, sizeof part);
    while (part[0] < 0.5)
        go_on_within(s, equal);
    ok(limit_of(1) == MAX_UW / 2, "%s: equal nodes are left alone", name);
    slow = now_ns;
    while (anybody_works()) {
        go_on_within(s, slowed);
        if (helped == 0 && limit_of(1) > MAX_UW * 0.55)
            helped = now_ns;
    }
    ok(helped > 0 && helped - slow <= INT64_C(2000000000),
       "%s: a node that slows down in a region of 20 s is helped after %.1f s",
       name, (double)(helped - slow) / 1e9);
    ok((double)(now_ns - began) / 1e9 < 24,
       "and the region takes %.1f s instead of 30",
       (double)(now_ns - began) / 1e9);
    ok(highest == BUDGET, "the sum is kept all the time");
    steering_stop(s);
}

/* Regions of half a second, each ended by a collective; limits help, or not. */
static void short_regions(struct steering *s, int n, int helps)
{
    for (int k = 0; k < n; k++) {
        double took[NODES], longest = 0;

        for (size_t i = 0; i < NODES; i++) {
            double speed = helps ? (double)limit_of(i) / (START * MAX_UW) : 1;

            took[i] = 5e8 * work[i] / speed;
            longest = fmax(longest, took[i]);
        }
        now_ns += (int64_t)longest;
        for (size_t i = 0; i < NODES; i++) {
            record[i].progress += 1;
            record[i].work_ns += (uint64_t)took[i];
            record[i].done_ns += (uint64_t)longest;
            record[i].slots = 2;
            tell(s, i);
            answer_all(s);
        }
    }
}

static void begin_outside(struct steering *s)
{
    for (size_t i = 0; i < NODES; i++)
        record[i].done_ns = 1;
    short_regions(s, 1, 1);
}

static void test_outside(void)
{
    struct steering *s = start(POWER_PAIR);

    begin_outside(s);
    short_regions(s, 100, 1);
    ok(steering_skew(s) < 2 * POWER_BOUND && highest == BUDGET,
       "ranks from outside: the skew is down to %.6f", steering_skew(s));
    is_near((double)actuator[3].limit, BUDGET * 1.6 / 4.6, BUDGET * 0.02,
            "who has more to do has more");
    is_near(steering_view(s, 3).speed, 1.6 / 4.6 * 4 / 0.5 / 1.6, 0.1,
            "its speed is told in regions a second");
    steering_stop(s);
}

/* A program that waits for memory. */
static void test_no_help(void)
{
    struct steering *s = start(POWER_PAIR);
    int tried = 0;

    begin_outside(s);
    for (int k = 0; k < 60; k++) {
        short_regions(s, 1, 0);
        tried |= limit_of(3) > MAX_UW * 0.55;
    }
    ok(tried, "limits that help nobody are tried");
    for (size_t i = 0; i < NODES; i++)
        ok(limit_of(i) == MAX_UW / 2, "and put back on n%zu", i);
    ok(highest == BUDGET, "the sum is kept all the time");
    steering_stop(s);
}

/* The nodes 0 and 1 are in rack s1, 2 and 3 in s2; watts, 0: no budget. */
static struct steering *start_racks(double budget)
{
    for (size_t i = 0; i < NODES; i++)
        snprintf(named[i].rack, sizeof named[i].rack, "s%zu", i / 2 + 1);
    config.budgets = budget > 0;
    config.budget[0] = (struct config_budget){"s2", budget};
    return start(POWER_PAIR);
}

static void stop_racks(struct steering *s)
{
    steering_stop(s);
    config.budgets = 0;
    for (size_t i = 0; i < NODES; i++)
        named[i].rack[0] = '\0';
}

static void test_racks(void)
{
    struct steering *s = start_racks(0);

    regions(s, 30, -1);
    is_near((double)actuator[3].limit, BUDGET * 1.6 / 4.6, BUDGET * 0.02,
            "two racks: who has more to do has more, in the other's rack, too");
    ok(highest == BUDGET && in_force() == BUDGET, "the sum is kept");
    stop_racks(s);
    s = start_racks(105);
    regions(s, 30, -1);
    ok(highest_rack <= 105000000 && limit_of(2) + limit_of(3) > 104000000,
       "a rack gets its budget and was never above it");
    is_near((double)actuator[3].limit, 105e6 * 1.6 / 2.6, 2e6,
            "within it, too, who has more to do has more");
    ok(highest == BUDGET, "the sum is kept");
    steering_lost(s, 3);
    answer_all(s);
    ok(highest_rack <= 105000000, "its budget is kept when a node is lost");
    stop_racks(s);
}

static void test_tight_racks(void)
{
    struct steering *s = start_racks(105);

    unwritable = 2;
    regions(s, 20, -1);
    ok(highest_rack <= 105000000 && actuator[3].limit > MAX_UW / 2,
       "nor is it exceeded if a limit there cannot be lowered");
    unwritable = -1;
    stop_racks(s);
    s = start_racks(80);
    is_int((int)in_force(), BUDGET - 20000000,
           "a budget below the limits at the start: the rack begins with it");
    regions(s, 20, -1);
    ok(highest_rack == 80000000 && highest == BUDGET - 20000000,
       "and never has more");
    stop_racks(s);
}

static void test_nonsense(void)
{
    struct steering *s = start(POWER_PAIR);
    static const uint8_t few[] = {1, 2, 3};
    struct msg_limited m = {.limit = 5};
    struct writer w = {0};

    ok(!steering_message(s, 0, MSG_PROGRESS, few, sizeof few)
           && !steering_message(s, 0, MSG_POWER, few, sizeof few)
           && !steering_message(s, 0, MSG_DONE, few, 0),
       "what is not for it, or no message, is not taken");
    msg_write_limited(&w, &m);
    (void)steering_message(s, 0, MSG_LIMITED, w.buf, w.len);
    writer_clear(&w);
    ok(!TAILQ_FIRST(&queue), "an answer that nobody asked for changes nothing");
    steering_stop(s);
}

static int remove_one(const char *path,
                      const struct stat *st,
                      int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int main(void)
{
    if (!mkdtemp(root))
        bail("no directory");
    for (size_t i = 0; i < NODES; i++)
        open_node(i);
    test_steers(POWER_PAIR, "pair");
    test_steers(POWER_BOOST, "boost");
    is_int(orders, 2 * NODES, "every node is told to watch, once a step");
    test_off();
    test_lost();
    test_lost_with_more();
    test_returned();
    test_unwritable();
    test_silent(0);
    test_silent(1);
    test_unmetered();
    test_still();
    test_late();
    test_long(POWER_PAIR, "pair");
    test_long(POWER_BOOST, "boost");
    test_outside();
    test_no_help();
    test_racks();
    test_tight_racks();
    test_nonsense();
    for (size_t i = 0; i < NODES; i++)
        actuator_close(&actuator[i]);
    (void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return done();
}
