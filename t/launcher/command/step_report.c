/* SPDX-License-Identifier: BSD-2-Clause */
/* What the front end makes of what nodes tell of their ranks, and how it tells
 * people. */
#include "fake_session.h"
#include "launcher/base/mpi_names.h"
#include "launcher/command/step_ending.h"
#include "launcher/command/step_report_print.h"
#include "launcher/session/step_times.h"
#include "tap.h"

#include <jansson.h>
#include <math.h>

#define MS 1e6

static struct session session;
static struct step_times *times;
static struct msg_ranks m;
static const double alike[SESSION_NODES] = {25, 25, 25, 25};

static void begin(void)
{
    session_make(&session);
    step_times_destroy(times);
    times = step_times_create(&session);
    if (!times)
        bail("no memory");
}

/* What a node with two ranks tells next. */
static void begin_message(size_t node)
{
    memset(&m, 0, sizeof m);
    m.size = 2 * SESSION_NODES;
    m.stride = m.iteration_stride = 1;
    m.n = 2;
    m.rank[0].rank = (uint32_t)(2 * node);
    m.rank[1].rank = (uint32_t)(2 * node + 1);
}

static int transmit(size_t node)
{
    struct writer w = {0};
    int rc;

    msg_write_ranks(&w, &m);
    rc = step_times_message(times, node, MSG_RANKS, w.buf, w.len);
    writer_clear(&w);
    return rc;
}

static double
    busy; /* part of their room that the ranks' threads are; 0: none */

/* A node's ranks have two threads each, which were busy for so much of that. */
static void add_threads(double part)
{
    for (uint32_t r = 0; part > 0 && r < m.n; r++) {
        m.rank[r].threads = 2;
        m.rank[r].room = 2 * m.rank[r].useful;
        m.rank[r].busy = part * m.rank[r].room;
        efficiency_add_threads(&m.sum, 2, m.rank[r].busy, m.rank[r].room);
    }
}

/* The regions before are iterations of that loop, too; 0 regions each: none. */
static uint32_t loop, period;

static void tell_iterations(uint64_t from, uint32_t k, const double useful[2])
{
    m.iterations = period ? from + k * m.stride : 0;
    m.iteration_stride = m.stride;
    m.l = period ? k : 0;
    for (uint32_t i = 0; i < m.l; i++) {
        m.iteration[i].number = from + i * m.stride;
        m.iteration[i].loop = loop;
        m.iteration[i].period = period;
        for (uint32_t r = 0; r < 2; r++)
            efficiency_add_rank(&m.iteration[i].sum, m.rank[r].rank,
                                useful[r] * MS, (161 - useful[r]) * MS);
    }
}

/* The next k regions from `from` on, every stride-th told, in which the ranks
 * of the node work for so long, and wait until all have worked for 160 ms. */
static void tell_node(
    size_t node, uint64_t from, uint32_t k, double first, double second)
{
    const double useful[2] = {first, second};

    for (uint32_t r = 0; r < 2; r++) {
        double whole = (double)(from + k * m.stride);

        m.rank[r].useful = useful[r] * MS * whole;
        m.rank[r].waiting = (161 - useful[r]) * MS * whole;
        m.rank[r].calls = from + k * m.stride;
        efficiency_add_rank(&m.sum, m.rank[r].rank, m.rank[r].useful,
                            m.rank[r].waiting);
        m.sum.calls += (double)m.rank[r].calls;
    }
    add_threads(busy);
    m.sum.regions = (double)(from + k * m.stride);
    m.k = k;
    for (uint32_t i = 0; i < k; i++) {
        m.region[i].number = from + i * m.stride;
        for (uint32_t r = 0; r < 2; r++)
            efficiency_add_rank(&m.region[i].sum, m.rank[r].rank,
                                useful[r] * MS, (161 - useful[r]) * MS);
    }
    tell_iterations(from, k, useful);
    is_int(transmit(node), 1, "a node tells of its ranks");
}

/* All nodes, of which the last one's ranks take so long. */
static void tell_all(
    uint64_t from, uint32_t k, uint64_t stride, double a, double b)
{
    for (size_t i = 0; i < SESSION_NODES; i++) {
        int is_last = i == SESSION_NODES - 1;

        begin_message(i);
        m.stride = stride;
        tell_node(i, from, k, is_last ? a : 100, is_last ? b : 100);
    }
}

static struct step_summary sum_with(const double speed[])
{
    struct step_summary s;

    if (step_times_sum(times, speed, &s) < 0)
        bail("no memory");
    return s;
}

static void is_told_of(const double speed[],
                       int is_steered,
                       size_t line,
                       const char *want)
{
    char text[STEP_REPORT_LINES][STEP_REPORT_LINE] = {""};
    struct step_summary s = sum_with(speed);
    struct step_report_of of = {.job = 12,
                                .times = times,
                                .summary = &s,
                                .speed = speed,
                                .is_steered = is_steered};

    (void)step_report_text(&of, text);
    is_str(text[line], want, "people read");
}

static void is_commented(const double speed[], const char *want)
{
    char line[STEP_REPORT_LINE];
    struct step_summary s = sum_with(speed);
    struct step_report_of of = {
        .job = 12, .step = 3, .times = times, .summary = &s, .speed = speed};

    step_report_comment(&of, line);
    is_str(line, want, "Slurm keeps");
}

static void is_told(const double speed[], size_t line, const char *want)
{
    is_told_of(speed, 0, line, want);
}

static void test_slow_node(void)
{
    static const double slow[SESSION_NODES] = {27.6, 27.6, 27.6, 17.2};
    struct step_summary s;

    begin();
    ok(!step_times_is_alive(times), "nobody has told of a rank");
    tell_all(0, 10, 1, 160, 160);
    ok(step_times_is_alive(times), "somebody has");
    s = sum_with(slow);
    is_near(times->seen, 10, 0, "each region counts once all have told it");
    is_near(s.efficiency.balance, 115.0 / 160, 1e-9, "load balance");
    is_near(s.last, 10, 1e-9, "the last node came last in all");
    ok(s.worst == 3 && s.verdict.cause == VERDICT_SLOW, "it is slow");
    is_near(s.lost_nodes_ns / MS, 10 * 3 * 60, 1e-6, "three nodes waited");
    is_near(s.skew_ns / MS, 60, 1e-9, "from the first to the last");
    is_told(slow, 0,
            "step 12.0: parallel efficiency 0.71 = load balance 0.72 x "
            "communication 0.99, over 4 nodes, 8 ranks, 10 regions of 161 ms");
    is_told(slow, 1,
            "n3 came last in 10 of them, and made the others wait for 1.80 "
            "node-seconds: it is slow (0.62 of the others' speed); its ranks "
            "have as much to do as others'; check: \"evenstep probe --nodes "
            "--check\"");
    is_commented(slow,
                 "evenstep: step 3: parallel efficiency 0.71 = load balance "
                 "0.72 x communication 0.99, slowest node n3");
    is_told(slow, 2,
            "lost rank-seconds: 3.60 between nodes (0.72), 0.00 within nodes "
            "(1.00), 0.00 by serialisation (1.00), 0.08 by transfer (0.99)");
    is_told(slow, 3,
            "from the first rank to the last at the end of a region: 60 ms, "
            "at most 60 ms");
    is_told(alike, 1,
            "n3 came last in 10 of them, and made the others wait for 1.80 "
            "node-seconds: its ranks have 1.60 times as much to do as others' "
            "(it has 1.00 of the others' speed); check: the parts of the "
            "input or grid of the ranks of n3");
    is_told(NULL, 1,
            "n3 came last in 10 of them, and made the others wait for 1.80 "
            "node-seconds: its ranks take 1.60 times as long as others': it "
            "is slow, or they have more to do (no node was measured); check: "
            "\"evenstep probe --nodes --check\"");
    is_told_of(NULL, 1, 1,
               "n3 came last in 10 of them, and made the others wait for 1.80 "
               "node-seconds: its ranks take 1.60 times as long as others', "
               "with the limits that steering gave them");
}

static void test_rank(void)
{
    begin();
    tell_all(0, 10, 1, 100, 160);
    is_told(alike, 1,
            "n3 came last in 10 of them, and made the others wait for 2.10 "
            "node-seconds: its rank 7 has 1.60 times as much to do as the "
            "others there; check: the part of the input or grid of rank 7");
    is_near(times->node[3].rank[1].last, 10, 0, "the rank is known");
    is_near(times->node[3].rank[0].last, 0, 0, "and not its neighbour");
}

static void test_even(void)
{
    char text[STEP_REPORT_LINES][STEP_REPORT_LINE];
    struct step_summary even, s;
    struct step_report_of of = {.job = 12};

    begin();
    of.times = times;
    for (size_t i = 0; i < SESSION_NODES; i++) {
        begin_message(i);
        tell_node(i, 0, 10, 160, 160);
    }
    s = sum_with(NULL);
    of.summary = &s;
    is_int((int)step_report_text(&of, text), 2, "nobody is blamed for nothing");
    begin();
    of.times = times;
    tell_all(0, 10, 1, 100, 100);
    even = sum_with(NULL);
    of.summary = &even;
    (void)step_report_text(&of, text);
    is_str(text[1],
           "no rank is late: messages take most of 4.88 rank-seconds of "
           "waiting; check: the calls with most waiting in \"evenstep report\"",
           "nor where all wait for the network");
    begin();
    of.times = times;
    of.summary = &s;
    s = sum_with(NULL);
    ok(s.all.ranks == 0 && s.lost_ranks_ns == 0, "of nobody there is nothing");
    is_int((int)step_report_text(&of, text), 1, "which is told without fault");
}

/* Nodes do not choose their stride at the same instant. */
static void test_strides(void)
{
    begin();
    tell_all(0, 32, 4, 160, 160);
    is_near(times->seen, 32, 0, "every fourth region is told");
    is_near(times->weight, 128, 0, "and stands for four");
    is_near(sum_with(alike).last, 128, 1e-9, "in which n3 came last");
    begin();
    for (size_t i = 0; i < SESSION_NODES; i++) {
        begin_message(i);
        m.stride = i == 0 ? 4 : 2;
        tell_node(i, 0, i == 0 ? 8 : 16, i == 3 ? 160 : 100,
                  i == 3 ? 160 : 100);
    }
    is_near(times->seen, 8, 0, "what all have told is what the coarsest told");
    is_near(times->weight, 32, 0, "and stands for as much");
}

/* A node whose regions are never told, as they are too fast. */
static void test_sums_alone(void)
{
    begin();
    for (size_t i = 0; i < SESSION_NODES; i++) {
        begin_message(i);
        m.stride = 64;
        tell_node(i, 64 * i, 1, i == 3 ? 160 : 100, i == 3 ? 160 : 100);
    }
    is_near(times->seen, 0, 0, "no region is told by all");
    begin_message(3);
    m.stride = 64;
    tell_node(3, 256, 0, 160, 160);
    is_int((int)sum_with(alike).worst, 3, "what they waited in all tells all");
    is_near(sum_with(alike).last, 0, 0, "but not how often");
}

static void test_bounds(void)
{
    begin();
    for (uint32_t i = 0; i < 3000; i++) { /* of one node only */
        begin_message(0);
        m.n = 0;
        m.sum = (struct efficiency_sum){.ranks = 2};
        m.k = 1;
        m.region[0] = (struct msg_region){.number = i};
        efficiency_add_rank(&m.region[0].sum, 0, 1, 1);
        efficiency_add_rank(&m.region[0].sum, 1, 1, 1);
        if (transmit(0) != 1)
            bail("message %d", (int)i);
    }
    is_near(times->seen, 0, 0, "regions that nobody else tells are forgotten");
    is_int(step_times_message(times, 0, MSG_RANKS, (const uint8_t *)"x", 1), 0,
           "a body that is none is not taken");
    is_int(step_times_message(times, 0, MSG_PROGRESS, NULL, 0), 0,
           "nor is another message");
    for (uint32_t i = 1; i <= 2 * RANKS_EACH_MAX / RANKS_MAX; i++) {
        times->each = (size_t)i * RANKS_MAX;
        begin_message(1);
        m.size = m.n = RANKS_MAX;
        m.sum.ranks = RANKS_MAX;
        for (uint32_t k = 0; k < RANKS_MAX; k++)
            m.rank[k].rank = k;
        free(times->node[1].rank);
        times->node[1].rank = NULL;
        times->node[1].n = 0;
        (void)transmit(1);
    }
    is_int((int)times->node[1].n, 0, "more ranks than are held are not");
    ok(times->node[1].sum.ranks == RANKS_MAX, "but as a sum");
}

static void test_end(void)
{
    begin();
    session.node[2].present = 0;
    step_times_ask(times);
    ok(session.type[0] == MSG_RANKS && session.len[0] == 0
           && session.sent[2] == 0,
       "who is there is asked");
    ok(!step_times_is_whole(times), "and waited for");
    for (size_t i = 0; i < SESSION_NODES; i++) {
        if (i == 2)
            continue;
        memset(&m, 0, sizeof m);
        m.is_last = 1;
        m.stride = m.iteration_stride = 1;
        if (i == 3)
            step_times_ended(times, i);
        else
            (void)transmit(i);
    }
    ok(step_times_is_whole(times), "until all have told, or are lost");
    ok(!step_times_is_alive(times), "be it that they have no ranks");
}

static void test_threads(void)
{
    char text[4096] = "";
    struct step_report_of of = {.job = 12, .speed = alike};
    struct step_summary s;
    FILE *file = tmpfile();

    begin();
    busy = 0.5;
    tell_all(0, 10, 1, 160, 160);
    busy = 0;
    is_told(NULL, 0,
            "step 12.0: parallel efficiency 0.36 = load balance 0.72 x "
            "communication 0.99 x threads 0.50, over 4 nodes, 8 ranks with 16 "
            "threads, 10 regions of 161 ms");
    s = sum_with(alike);
    of.times = times;
    of.summary = &s;
    if (!file || step_report_write(file, &of) < 0)
        bail("no file");
    rewind(file);
    ok(fread(text, 1, sizeof text - 1, file) > 0
           && strstr(text, "\"threads\":16,\"thread_efficiency\":0.5,")
           && strstr(text, "\"threads\":4,\"thread_efficiency\":0.5,")
           && strstr(text, "\"threads\":2,\"thread_efficiency\":0.5,"),
       "so do programs, of the step, a node and a rank");
    fclose(file);
}

static void test_json(void)
{
    struct step_summary s;
    struct step_report_of of = {.job = 12, .summary = &s, .speed = alike};
    size_t lines = 0, sound = 0;
    FILE *file = tmpfile();
    char line[4096], kinds[64] = "";

    begin();
    tell_all(0, 10, 1, 160, 160);
    of.times = times;
    s = sum_with(alike);
    if (!file)
        bail("no file");
    is_int(step_report_write(file, &of), 0, "a report is written");
    rewind(file);
    for (; fgets(line, sizeof line, file); lines++) {
        json_t *json = json_loads(line, 0, NULL);
        const char *type = json_string_value(json_object_get(json, "type"));

        sound += type != NULL;
        if (lines < sizeof kinds - 1)
            kinds[lines] = type ? type[0] : '?';
        json_decref(json);
    }
    fclose(file);
    is_int((int)sound, 13, "of objects, one a line");
    is_str(kinds, "snnnnrrrrrrrr", "the step, its nodes, and their ranks");
    file = fopen("/dev/full", "w");
    ok(file && step_report_write(file, &of) < 0, "a full disk is noticed");
    if (file)
        (void)fclose(file);
}

static void test_iterations(void)
{
    struct step_summary s;

    begin();
    period = 1;
    tell_all(0, 3, 1, 100, 100);
    s = sum_with(NULL);
    ok(s.iterations.n == 3 && s.iterations.skew_ns == 0,
       "iterations of the set-up");
    loop = 1;
    period = 2;
    tell_all(3, 20, 1, 160, 130);
    s = sum_with(NULL);
    ok(s.iterations.n == 20 && s.iterations.period == 2,
       "those of the loop that takes longer are told");
    is_near(s.iterations.median_ns / MS, 161, 1e-9, "with their length");
    is_told(NULL, 4,
            "20 iterations were found, of 2 regions and 161 ms (median): in "
            "one the busiest rank works 60 ms longer than the least busy, at "
            "most 60 ms");
    tell_all(32, 10, 16, 160, 130);
    is_near(sum_with(NULL).iterations.n, round(180 * 192 / 183.0), 0,
            "each that is told stands for those between, and for nine missed");
    begin_message(0);
    tell_node(0, 300, 1, 100, 100);
    loop = 2;
    for (size_t i = 1; i < SESSION_NODES; i++) {
        begin_message(i);
        tell_node(i, 300, 1, 100, 100);
    }
    is_near(sum_with(NULL).iterations.median_ns / MS, 161, 1e-9,
            "where nodes do not agree nothing is made of it");
    loop = RANKS_LOOPS - 1;
    period = 36;
    tell_all(448, 60, 64, 160, 160);
    is_int((int)sum_with(NULL).iterations.period, 2,
           "all other loops together are none");
    loop = period = 0;
}

/* Far more than there is room for. */
static void test_many_iterations(void)
{
    begin();
    period = 1;
    for (uint64_t i = 0; i < 3 * STEP_SAMPLE; i += 64)
        tell_all(i, 64, 1, 100, 100);
    is_near(sum_with(NULL).iterations.n, 3 * STEP_SAMPLE, 0,
            "thousands of them are counted");
    is_near(sum_with(NULL).iterations.median_ns / MS, 161, 1e-9,
            "of some the length is kept");
    period = 0;
}

static int is_in(const char *text, const char *what)
{
    int is = strstr(text, what) != NULL;

    ok(is, "programs read %s", what);
    return is;
}

/* Nodes lose their agents; they have told 10 regions with those that follow. */
static void test_lost(void)
{
    char text[8192] = "";
    struct step_report_of of = {.job = 12, .speed = alike};
    struct step_summary s;
    FILE *file = tmpfile();

    begin();
    tell_all(0, 10, 1, 160, 160);
    begin_message(2); /* its last word, which the others go on from */
    tell_node(2, 10, 1, 100, 100);
    step_times_lost(times, 3);
    for (size_t i = 0; i < 3; i++) {
        begin_message(i);
        tell_node(i, 11, 9, i == 1 ? 120 : 100, i == 1 ? 120 : 100);
    }
    s = sum_with(alike);
    is_near(times->seen, 19, 0, "regions are whole when the others have told");
    ok(s.all.ranks == 6 && s.all.nodes == 3, "all are those that are there");
    is_near(s.efficiency.balance, 320.0 / 360, 1e-9,
            "and the lost one does not look idle");
    is_int((int)s.worst, 3, "the others waited for it until then");
    is_told(alike, 1,
            "n3, until it was lost, came last in 11 of them, and made the "
            "others wait for 1.89 node-seconds: its ranks have 1.60 times as "
            "much to do as others' (it has 1.00 of the others' speed); check: "
            "the parts of the input or grid of the ranks of n3");
    is_told(alike, 0,
            "step 12.0: parallel efficiency 0.66 = load balance 0.89 x "
            "communication 0.75, over 3 nodes, 6 ranks, 20 regions of 161 ms");
    is_told(alike, 4,
            "n3 (after 1.6 s): the agent was lost: what is known of its ranks "
            "is until then, and not in what is said of all");
    of.times = times;
    of.summary = &s;
    if (!file || step_report_write(file, &of) < 0)
        bail("no file");
    rewind(file);
    ok(fread(text, 1, sizeof text - 1, file) > 0, "a report is written");
    fclose(file);
    ok(is_in(text, "\"worst\":{\"node\":\"n3\",")
           && is_in(text, "\"lost_nodes\":1,") && is_in(text, "\"lost\":1.61"),
       "the step, the node and its ranks are marked");
    step_times_returned(times, 3);
    ok(times->lost == 0 && times->lost_ranks == 0
           && sum_with(alike).all.ranks == 8,
       "one that is back counts again");
    for (size_t i = 0; i < SESSION_NODES; i++)
        step_times_lost(times, i);
    is_int((int)sum_with(alike).all.ranks, 8, "where all are lost, all count");
    is_told(alike, 4,
            "n0 (after 3.2 s) and 3 more nodes: the agent was lost: what is "
            "known of the step is until then");
}

/* Of a rank: what it did at the end, for so many seconds. */
static void be_in(
    uint32_t r, enum rank_state state, uint32_t call, double s, int32_t status)
{
    m.rank[r].state = state;
    m.rank[r].call = call;
    m.rank[r].since = 1e3 * MS * s;
    m.rank[r].status = status;
}

static void tell_end(double ms, enum rank_state others, int32_t status)
{
    begin();
    for (size_t i = 0; i < SESSION_NODES; i++) {
        begin_message(i);
        be_in(0, others, 1 + MPI_NUMBER_Recv, 17, -1);
        be_in(1, i == 3 ? RANK_DIED : others, 1 + MPI_NUMBER_Recv, 17, status);
        m.rank[0].unsure = i == 2 ? 0.04 * ms * MS : 0;
        for (uint32_t r = 0; r < 2; r++) {
            m.rank[r].useful = ms * MS;
            efficiency_add_rank(&m.sum, m.rank[r].rank, ms * MS, 0);
        }
        m.sum.regions = ms > 1000;
        (void)transmit(i);
    }
}

static void test_ending(void)
{
    char text[STEP_ENDING_TEXT];

    tell_end(4500, RANK_IN_CALL, 9);
    is_told(NULL, 1,
            "rank 7 on n3 was killed by signal 9 after 4.5 s; 7 ranks waited "
            "in MPI_Recv");
    is_told(NULL, 2,
            "coverage: up to 4 % of a rank's time may be waiting that counts "
            "as useful: calls of MPI that are not metered, or of other "
            "threads");
    tell_end(100, RANK_LEFT, 1 << 8);
    is_told(NULL, 0,
            "step 12.0: rank 7 on n3 exited with status 1 after 0.1 s, "
            "without MPI_Finalize");
    is_told(NULL, 1, "");
    tell_end(4500, RANK_USEFUL, -1);
    is_told(NULL, 1,
            "rank 7 on n3 ended after 4.5 s, without MPI_Finalize; 7 ranks "
            "worked");
    tell_end(4500, RANK_LEFT, -1);
    times->node[3].rank[1].state = RANK_LEFT;
    is_int(step_ending_tell(text, times), STEP_ENDING_LEFT,
           "all have left MPI");
    begin();
    tell_all(0, 10, 1, 160, 160);
    is_int(step_ending_tell(text, times), STEP_ENDING_UNKNOWN,
           "or nobody knows");
    tell_end(4500, RANK_DIED, -1);
    is_int(step_ending_tell(text, times), STEP_ENDING_EARLY,
           "all have died at once");
    is_str(text,
           "all 8 ranks ended after 4.5 s: they left by themselves, or the "
           "step was cancelled or reached its time limit",
           "of which nobody knows why");
    times->why = "the job reached its time limit";
    (void)step_ending_tell(text, times);
    is_str(text,
           "all 8 ranks ended after 4.5 s: the job reached its time limit",
           "or Slurm has told the reason");
}

static void tell_site(
    size_t node, uint32_t rank, uint32_t call, const char *where, double ms)
{
    struct msg_rank_detail d = {.rank = rank, .sites = 1};
    struct writer w = {0};

    d.site[0] =
        (struct msg_rank_site){.call = call, .waiting = ms * MS, .calls = 5};
    snprintf(d.site[0].where, sizeof d.site[0].where, "%s", where);
    msg_write_rank_detail(&w, &d);
    is_int(step_times_message(times, node, MSG_RANK_DETAIL, w.buf, w.len), 1,
           "a node tells of a rank's calls");
    writer_clear(&w);
}

static void test_facts(void)
{
    char text[16384] = "";
    struct step_report_of of = {
        .job = 12, .speed = alike, .command = "./solver"};
    struct step_summary s;
    FILE *file = tmpfile();

    begin();
    tell_all(0, 10, 1, 160, 160);
    tell_site(0, 0, 1 + MPI_NUMBER_Recv, "solve+0x4f (app)", 50);
    tell_site(1, 2, 1 + MPI_NUMBER_Recv, "solve+0x4f (app)", 200);
    tell_site(1, 3, 1 + MPI_NUMBER_Send, "solve+0x4f (app)", 400);
    s = sum_with(alike);
    of.times = times;
    of.summary = &s;
    if (!file || step_report_write(file, &of) < 0)
        bail("no file");
    rewind(file);
    ok(fread(text, 1, sizeof text - 1, file) > 0, "a report is written");
    fclose(file);
    is_in(text, "\"command\":\"./solver\",");
    is_in(text, "\"nodes_list\":\"n0,n1,n2,n3\",\"ranks\":8");
    is_in(text, "\"balance_nodes\":0.71875,\"balance_within\":1.0,");
    is_in(text, "\"lost_seconds\":{\"balance_nodes\":3.6");
    is_in(text, "\"verdict\":{\"cause\":\"more work\",\"node\":\"n3\",\"text\":"
                "\"n3 came last in 10 of them");
    is_in(text,
          "\"sites\":[{\"call\":\"MPI_Send\",\"where\":\"solve+0x4f (app)\","
          "\"waiting\":0.4");
    is_in(text, "{\"call\":\"MPI_Recv\",\"where\":\"solve+0x4f (app)\","
                "\"waiting\":0.25");
}

/* Of CPU time: what is no CPU time is not waiting for messages. */
static void test_cpu_meter(void)
{
    char line[STEP_REPORT_LINES][STEP_REPORT_LINE] = {""}, text[16384] = "";
    struct step_report_of of = {.job = 12, .is_cpu = 1, .speed = alike};
    struct step_summary s;
    FILE *file = tmpfile();

    begin();
    for (size_t i = 0; i < SESSION_NODES; i++) {
        begin_message(i);
        tell_node(i, 10, 0, i == 3 ? 160 : 100, i == 3 ? 160 : 100);
    }
    s = sum_with(alike);
    of.times = times;
    of.summary = &s;
    is_int((int)step_report_text(&of, line), 3, "CPU time is told");
    is_str(line[0],
           "step 12.0: parallel efficiency 0.71 = load balance of CPU time "
           "0.72 x CPU use of the busiest rank 0.99, over 4 nodes, 8 ranks, "
           "10 regions of 161 ms",
           "of which the efficiency is");
    is_str(line[1],
           "n3 used 1.80 node-seconds more of CPU time than the others: its "
           "ranks have 1.60 times as much to do as others' (it has 1.00 of "
           "the others' speed); check: the parts of the input or grid of the "
           "ranks of n3",
           "and nobody waits");
    is_str(line[2],
           "lost rank-seconds: 3.60 between nodes (0.72), 0.00 within nodes "
           "(1.00), 0.08 without a CPU in the busiest rank, too (0.99)",
           "or has messages");
    if (!file || step_report_write(file, &of) < 0)
        bail("no file");
    rewind(file);
    ok(fread(text, 1, sizeof text - 1, file) > 0, "a report is written");
    fclose(file);
    is_in(text, "\"meter\":\"cpu\",\"balance_nodes\":0.71875,"
                "\"balance_within\":1.0,\"lost_seconds\":{");
    is_in(text, "\"balance_within\":0.0,\"communication\":0.08");
    ok(!strstr(text, "serialisation") && !strstr(text, "transfer")
           && !strstr(text, "\"state\""),
       "without what is of MPI");
}

int main(void)
{
    test_ending();
    test_facts();
    test_slow_node();
    test_iterations();
    test_many_iterations();
    test_cpu_meter();
    test_rank();
    test_even();
    test_strides();
    test_sums_alone();
    test_bounds();
    test_end();
    test_threads();
    test_json();
    test_lost();
    step_times_destroy(times);
    return done();
}
