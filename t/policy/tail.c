/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/tail.h"
#include "fenced.h"
#include "policy/random.h"
#include "tap.h"

#define N 4

static const struct {
    const char *name;
    double seconds;
    uint64_t want;
} counts[] = {
    {"not known how long it takes: all pieces", 0, 16},
    {"nor if that is no number", NAN, 16},
    {"a slice of no time is not cut", 1e-9, 1},
    {"nor one of a third of a second", 0.39, 1},
    {"one a little longer is halved", 0.41, 2},
    {"five pieces of half a second", 2.6, 5},
    {"ten of a second", 10.1, 10},
    {"never more than are wanted", 1e300, 16},
    {"however long it takes", INFINITY, 16},
};

static void test_counts(void)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        ok(tail_pieces(counts[i].seconds, 16) == counts[i].want,
           "so many pieces: %s", counts[i].name);
}

static const struct {
    const char *name;
    uint64_t slice, waiting, grain, pieces, want;
} cuts[] = {
    {"nothing waits", 100, 0, 1, 4, 0},
    {"an empty slice", 0, 0, 1, 4, 0},
    {"a quarter", 100, 100, 1, 4, 25},
    {"the last quarter", 100, 25, 1, 4, 25},
    {"what is left of it", 100, 7, 1, 4, 7},
    {"rounded up", 101, 101, 1, 4, 26},
    {"whole grains", 100, 100, 10, 4, 30},
    {"a short last grain", 95, 5, 10, 4, 5},
    {"a grain at least", 100, 100, 60, 4, 60},
    {"one piece is all", 100, 100, 7, 1, 100},
    {"more pieces than units", 3, 3, 1, 100, 1},
    {"a slice of 2^64 - 1", UINT64_MAX, UINT64_MAX, 1, 2, UINT64_C(1) << 63},
    {"and a grain of as many", UINT64_MAX, UINT64_MAX, UINT64_MAX, 2,
     UINT64_MAX},
};

static void test_cuts(void)
{
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
        ok(tail_piece(cuts[i].slice, cuts[i].waiting, cuts[i].grain,
                      cuts[i].pieces)
               == cuts[i].want,
           "a piece: %s", cuts[i].name);
}

static void test_cuts_add_up(void)
{
    int pass = 1;

    for (uint64_t slice = 0; slice <= 40; slice++)
        for (uint64_t grain = 1; grain <= 9; grain++)
            for (uint64_t pieces = 1; pieces <= 9; pieces++) {
                uint64_t waiting = slice, sent = 0;

                while (waiting > 0 && sent <= pieces) {
                    uint64_t piece = tail_piece(slice, waiting, grain, pieces);

                    pass &= piece > 0 && piece <= waiting
                            && (piece % grain == 0 || piece == waiting);
                    waiting -= piece;
                    sent++;
                }
                pass &= waiting == 0 && sent <= pieces;
            }
    ok(pass, "pieces are whole grains, no more than asked for, and add up");
}

/* The idle node is 0 in all. */
static const struct {
    const char *name;
    struct tail_node node[N];
    uint64_t grain;
    double delay;
    size_t from;
    uint64_t units; /* 0 = nothing is to be taken */
} takes[] = {
    {"nothing waits", {{10, 0, 0, 0}, {10, 50, 1, 0}}, 1, 0, 0, 0},
    {"not worth the delay", {{10, 0, 0, 0}, {10, 0, 0, 10}}, 1, 2, 0, 0},
    {"nor a whole grain", {{10, 0, 0, 0}, {10, 0, 0, 10}}, 10, 0, 0, 0},
    {"one unit that is begun sooner there",
     {{10, 0, 0, 0}, {10, 0, 0, 1}},
     1,
     0.1,
     0,
     0},
    {"equal nodes: half", {{10, 0, 0, 0}, {10, 0, 0, 100}}, 1, 0, 1, 50},
    {"a faster node takes more", {{30, 0, 0, 0}, {10, 0, 0, 100}}, 1, 0, 1, 75},
    {"a slower one less", {{10, 0, 0, 0}, {40, 0, 0, 100}}, 1, 0, 1, 20},
    {"half, less what the delay costs",
     {{10, 0, 0, 0}, {10, 0, 0, 100}},
     1,
     2,
     1,
     40},
    {"what runs there lets it take more",
     {{10, 0, 0, 0}, {10, 40, 1, 100}},
     1,
     0,
     1,
     65},
    {"up to all that waits", {{90, 0, 0, 0}, {10, 100, 0, 50}}, 1, 0, 1, 50},
    {"from who would be last",
     {{10, 0, 0, 0}, {10, 0, 0, 90}, {5, 0, 0, 80}, {40, 0, 0, 200}},
     1,
     0,
     2,
     53},
    {"who is overdue is slower than was known",
     {{10, 0, 0, 0}, {20, 40, 8, 40}, {10, 0, 0, 50}},
     1,
     0,
     1,
     27},
    {"whole grains", {{10, 0, 0, 0}, {10, 0, 0, 100}}, 40, 0, 1, 60},
    {"a speed that is not known is the mean",
     {{0, 0, 0, 0}, {10, 0, 0, 100}},
     1,
     0,
     1,
     50},
    {"all speeds unknown: half", {{0, 0, 0, 0}, {0, 0, 0, 100}}, 1, 0, 1, 50},
    {"2^53 units",
     {{1, 0, 0, 0}, {1, 0, 0, UINT64_C(1) << 53}},
     1,
     0,
     1,
     UINT64_C(1) << 52},
};

/* What it takes over in a look that is for it alone. */
static int take(const struct tail_node node[],
                size_t n,
                size_t idle,
                uint64_t grain,
                double delay,
                struct tail_move *move)
{
    struct tail_node *copy = fenced_copy(node, n * sizeof *node);
    struct tail_late *late = malloc(n * sizeof *late);
    struct tail_look look = {0};
    int rc;

    tail_look_begin(&look, copy, n, late);
    rc = tail_look_take(&look, idle, grain, delay, move);
    free(copy);
    free(late);
    return rc;
}

static void test_takes(void)
{
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
        struct tail_move move = {0};
        int taken =
            take(takes[i].node, N, 0, takes[i].grain, takes[i].delay, &move);

        ok(taken == (takes[i].units > 0) && move.from == takes[i].from
               && move.units == takes[i].units,
           "taking: %s", takes[i].name);
        if (move.units != takes[i].units)
            diag("%ju from %zu", (uintmax_t)move.units, move.from);
    }
}

/* Seconds until both are done, in whole grains and any number of them. */
static double best_by_trying(const struct tail_node node[2],
                             uint64_t grain,
                             double delay)
{
    uint64_t waiting = node[1].waiting;
    double best = (double)waiting / node[1].speed;

    for (uint64_t left = 0; left < waiting; left += grain) {
        double mine = delay + (double)(waiting - left) / node[0].speed;

        best = fmin(best, fmax(mine, (double)left / node[1].speed));
    }
    return best;
}

static void test_best(void)
{
    int pass = 1;

    for (uint64_t waiting = 1; waiting <= 30; waiting++)
        for (uint64_t grain = 1; grain <= 7; grain++)
            for (int speed = 1; speed <= 9; speed++)
                for (int delay = 0; delay < 4; delay++) {
                    const struct tail_node node[2] = {{speed, 0, 0, 0},
                                                      {3, 0, 0, waiting}};
                    double want = best_by_trying(node, grain, 0.3 * delay);
                    struct tail_move m = {0};
                    double got = (double)waiting / 3;

                    if (take(node, 2, 0, grain, 0.3 * delay, &m))
                        got = fmax(0.3 * delay + (double)m.units / speed,
                                   (double)(waiting - m.units) / 3);
                    pass &=
                        fabs(got - want) < 1e-9 && m.units <= waiting
                        && (m.units == 0 || (waiting - m.units) % grain == 0);
                }
    ok(pass, "no other number of grains would make the frame shorter");
}

/* --- for all that are idle ------------------------------------------------ */

#define MANY 16384

static struct tail_node many[MANY], by_one[MANY];
static struct tail_late room[MANY];

/* A third is idle, a third has something waiting, of many speeds. */
static void make_tail(struct rng *rng, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t dice = (uint64_t)random_below(rng, 1 << 30) << 30
                        | (uint64_t)random_below(rng, 1 << 30);

        many[i] = (struct tail_node){.speed = (double)(dice % 8)};
        if (dice % 3 > 0)
            many[i].running = dice >> 8 & 63;
        if (many[i].running > 0)
            many[i].since = (double)(dice >> 16 & 7);
        if (dice % 3 > 1)
            many[i].waiting = dice >> 24 & 255;
    }
    memcpy(by_one, many, n * sizeof *many);
}

static int is_idle(const struct tail_node *t)
{
    return t->running == 0 && t->waiting == 0;
}

/* The mean of the speeds that are known; 1 if none is. */
static double mean_of(const struct tail_node node[], size_t n)
{
    double sum = 0, known = 0;

    for (size_t i = 0; i < n; i++) {
        sum += node[i].speed;
        known += node[i].speed > 0;
    }
    return known > 0 ? sum / known : 1;
}

/* Who has something waiting and ends last, by looking at each. */
static size_t last_of(const struct tail_node node[], size_t n)
{
    double mean = mean_of(node, n), latest = -1;
    size_t last = n;

    for (size_t i = 0; i < n; i++) {
        double speed = node[i].speed > 0 ? node[i].speed : mean;
        double running = (double)node[i].running, end;

        if (node[i].waiting == 0)
            continue;
        if (running > 0 && node[i].since * speed > running)
            speed = running / node[i].since;
        end = fmax(running / speed - node[i].since, 0)
              + (double)node[i].waiting / speed;
        if (end > latest)
            last = i;
        latest = fmax(latest, end);
    }
    return last;
}

/* Both ways, side by side; the taker begins with half of what it took. */
static int same_moves(size_t n, uint64_t grain, double delay, size_t *moves)
{
    struct tail_node *node = fenced_copy(many, n * sizeof *node);
    struct tail_late *late = malloc(n * sizeof *late);
    struct tail_look look = {0};
    int same = 1;

    tail_look_begin(&look, node, n, late);
    for (size_t i = 0; i < n && same; i++) {
        struct tail_move one = {0}, all = {0};
        int took;

        if (!is_idle(&by_one[i]))
            continue;
        took = take(by_one, n, i, grain, delay, &one);
        same = tail_look_take(&look, i, grain, delay, &all) == took
               && one.from == all.from && one.units == all.units
               && (!took || one.from == last_of(by_one, n));
        if (!took)
            continue;
        by_one[one.from].waiting -= one.units;
        by_one[i].running = one.units - one.units / 2;
        by_one[i].waiting = one.units / 2;
        tail_look_begun(&look, i, by_one[i].running);
        ++*moves;
    }
    same &= memcmp(node, by_one, n * sizeof *node) == 0;
    free(node);
    free(late);
    return same;
}

static void test_look(void)
{
    struct rng rng;
    size_t moves = 0;
    int pass = 1;

    random_init(&rng, GENERATOR_JAVA, 15);
    for (size_t round = 0; round < 2000 && pass; round++) {
        make_tail(&rng, 1 + round % 64);
        pass &= same_moves(1 + round % 64, 1 + round % 5,
                           (double)(round % 3) / 4, &moves);
    }
    ok(pass && moves > 1000,
       "a look for all takes what one after the other would (%zu moves)",
       moves);
}

/* What a look costs in which `busy` nodes hold much and all others are idle. */
static double work_a_node(size_t n, size_t busy)
{
    struct tail_look look = {0};
    struct tail_move move;

    for (size_t i = 0; i < n; i++)
        many[i] =
            (struct tail_node){.speed = 1, .waiting = i < busy ? 1000000 : 0};
    tail_look_begin(&look, many, n, room);
    for (size_t i = busy; i < n; i++)
        if (tail_look_take(&look, i, 1, 0, &move))
            tail_look_begun(&look, i, move.units);
    return (double)look.work / (double)n;
}

static void test_work(void)
{
    static const char *const what[] = {"one node is late", "half of them are"};

    for (size_t i = 0; i < 2; i++) {
        double few = work_a_node(1024, i ? 512 : 1);
        double all = work_a_node(MANY, i ? MANY / 2 : 1);

        ok(few > 0 && all <= few * (i ? 1.5 : 1.01),
           "%s: a look at 16,384 is as much work a node as at 1,024 "
           "(%.1f, %.1f)",
           what[i], all, few);
    }
}

static void test_unaided(void)
{
    is_near(tail_unaided(100, 100, 5), 5, 0, "a slice of one's own");
    is_near(tail_unaided(100, 50, 5), 10, 0, "half of it was taken");
    is_near(tail_unaided(100, 200, 5), 2.5, 0, "as much was taken over");
    is_near(tail_unaided(100, 0, 5), 0, 0, "nothing done, nothing known");
}

int main(void)
{
    fence_on = 1;
    test_counts();
    test_cuts();
    test_cuts_add_up();
    test_takes();
    test_best();
    test_look();
    test_work();
    test_unaided();
    return done();
}
