/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steered_nodes.h - four nodes that are steered, simulated, each with a RAPL
 * actuator on a tree of its own.
 *
 * The session and the clock are ours: this header's functions stand for
 * the session's and libc's.
 */
#ifndef STEERED_NODES_H
#define STEERED_NODES_H

#include "launcher/power/actuator.h"
#include "launcher/power/actuator_rapl.h"
#include "launcher/session/steering.h"
#include "policy/pace.h"
#include "send_to_all.h"
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
static int uncapped;          /* nodes offer all that they can have */
static uint64_t highest_rack; /* likewise, of the nodes 2 and 3 */
static struct config_power config = {.cap = START * MAX_UW / 1e6,
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

static inline void make_tree(size_t i)
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
static inline uint64_t limit_of(size_t i)
{
    uint64_t v;

    if (sysfs_read_u64(&v, "%s", actuator[i].knob[0].path) < 0)
        bail("no limit");
    return v;
}

/* Of all nodes, right now. */
static inline uint64_t in_force(void)
{
    uint64_t all = 0;

    for (size_t i = 0; i < NODES; i++)
        all += limit_of(i);
    return all;
}

static inline void open_node(size_t i)
{
    static char sysfs[NODES][64];
    struct actuator_place place = {.sysfs = sysfs[i]};

    snprintf(named[i].name, sizeof named[i].name, "n%zu", i);
    named[i].present = 1;
    snprintf(sysfs[i], sizeof sysfs[i], "%s/n%zu", root, i);
    make_tree(i);
    if (actuator_open(&actuator[i], &rapl_kind, &place, START * MAX_UW / 1e6,
                      0.1, NULL)
        < 0)
        bail("no actuator");
}

static inline void say_power(struct steering *s, size_t i)
{
    struct msg_power m = {.actuator = "rapl",
                          .unit = "uW",
                          .limit = uncapped ? MAX_UW : MAX_UW / 2,
                          .floor = actuator[i].floor,
                          .ceiling = actuator[i].ceiling};
    struct writer w = {0};

    msg_write_power(&w, &m);
    ok(steering_message(s, i, MSG_POWER, w.buf, w.len), "n%zu tells its limit",
       i);
    writer_clear(&w);
}

/* A node answers one of its questions, as its guard would. */
static inline void answer(struct steering *s, struct asked *a)
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
static inline void answer_all(struct steering *s)
{
    struct asked *a;

    while (!TAILQ_EMPTY(&queue)) {
        a = TAILQ_LAST(&queue, queue);
        TAILQ_REMOVE(&queue, a, next);
        answer(s, a);
        free(a);
    }
}

static inline void tell(struct steering *s, size_t i)
{
    struct writer w = {0};

    msg_write_progress(&w, &record[i]);
    (void)steering_message(s, i, MSG_PROGRESS, w.buf, w.len);
    writer_clear(&w);
}

/* A quarter of a region takes node i as long as its limit makes it. */
static inline double quarter_ns(size_t i)
{
    double speed = (double)limit_of(i) / (START * MAX_UW);

    return REGION / 4 * work[i] / speed;
}

static inline void advance(struct steering *s, size_t i)
{
    record[i].progress += 0.25;
    record[i].work_ns += (uint64_t)quarter_ns(i);
    record[i].slots = 1;
    tell(s, i);
}

static inline void regions(struct steering *s, int n, int silent)
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

static inline int nobody_has_less(void)
{
    return in_force() == (uint64_t)NODES * MAX_UW;
}

static inline int nobody_is_limited(void)
{
    return TAILQ_EMPTY(&queue) && nobody_has_less();
}

/* Before anything is metered. */
static inline struct steering *prepare_step(const char *step,
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

static inline struct steering *prepare(enum power_variant variant)
{
    return prepare_step("7.1", variant);
}

/* The first thread begins its first region. */
static inline void begin(struct steering *s)
{
    record[0].slots = 1;
    tell(s, 0);
    answer_all(s);
    highest = in_force();
    highest_rack = limit_of(2) + limit_of(3);
}

static inline struct steering *start(enum power_variant variant)
{
    struct steering *s = prepare(variant);

    begin(s);
    return s;
}

/* --- start and end -------------------------------------------------------- */

static inline void open_nodes(void)
{
    if (!mkdtemp(root))
        bail("no directory");
    for (size_t i = 0; i < NODES; i++)
        open_node(i);
}

static inline int remove_one(const char *path,
                             const struct stat *st,
                             int type,
                             struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void close_nodes(void)
{
    for (size_t i = 0; i < NODES; i++)
        actuator_close(&actuator[i]);
    (void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
