/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/outlier.h"
#include "fenced.h"
#include "tap.h"

#define NODES 32

static double measured[NODES][ELEMENTS];
static uint32_t kind[NODES];
static struct outlier found[NODES * ELEMENTS];

/* All alike, but C, which differs by a percent or so. */
static void start(void)
{
    memset(kind, 0, sizeof kind);
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < ELEMENTS; j++)
            measured[i][j] = j == ELEMENT_G   ? 0
                             : j == ELEMENT_C ? 100 + i % 7 - 3
                                              : 100;
}

static size_t find(size_t n)
{
    double(*rows)[ELEMENTS] = fenced_copy(measured, n * sizeof *rows);
    uint32_t *kinds = fenced_copy(kind, n * sizeof *kinds);
    double *scratch = malloc(n * sizeof *scratch);
    size_t got;

    memset(found, 0, sizeof found);
    got = outlier_find((const double(*)[ELEMENTS])rows, kinds, n, OUTLIER_LIMIT,
                       scratch, found, NODES * ELEMENTS);
    free(rows);
    free(kinds);
    free(scratch);
    return got;
}

static void test_none(void)
{
    start();
    is_int((long)find(NODES), 0, "nodes that are alike have no outlier");
    is_int((long)find(0), 0, "no nodes have none");
    measured[1][ELEMENT_M] = 1;
    is_int((long)find(2), 0, "of two nodes neither is the odd one");
    for (int i = 0; i < NODES; i++)
        memset(measured[i], 0, sizeof measured[i]);
    is_int((long)find(NODES), 0, "all zero: none");
    measured[4][ELEMENT_G] = 1;
    is_int((long)find(NODES), 0, "off a median of 0 there is no far");
}

static void test_one(void)
{
    double scratch[NODES];

    start();
    measured[5][ELEMENT_M] = 75;
    is_int((long)find(NODES), 1, "a memory at three quarters is found");
    is_int((long)found[0].node, 5, "which node");
    is_int(found[0].element, ELEMENT_M, "which element");
    is_near(found[0].off, -0.25, 1e-12, "how far: a quarter below");
    is_near(found[0].deviations, -12.5, 1e-9,
            "in deviations of 2 %, as the others are exactly alike");
    is_int((long)find(3), 0, "it is not in a part of the nodes without it");
    is_int((long)outlier_find(measured, kind, NODES, OUTLIER_LIMIT, scratch,
                              NULL, 0),
           1, "they are counted also without room for them");
}

/* C has values 97..103, each 4 or 5 times: median 100, deviations 0..3. */
static void test_scale(void)
{
    start();
    measured[0][ELEMENT_C] = 100 + 3 * OUTLIER_MAD_SCALE * 2 - 0.01;
    is_int((long)find(NODES), 0, "just under 3 robust deviations is none");
    measured[0][ELEMENT_C] = 100 + 3 * OUTLIER_MAD_SCALE * 2 + 0.01;
    is_int((long)find(NODES), 1, "just over is one");
    is_near(found[0].deviations, 3, 0.01, "3 of them above");
    measured[0][ELEMENT_C] = 100 - 3 * OUTLIER_MAD_SCALE * 2 - 0.01;
    is_int((long)find(NODES), 1, "and so is one as far below");
    is_near(found[0].deviations, -3, 0.01, "3 of them below");
}

/* All are within 0.7 % of the median: 2 % of it is then a deviation. */
static void test_floor(void)
{
    start();
    for (int i = 0; i < NODES; i++)
        measured[i][ELEMENT_B] = i % 2 ? 9.93 : 10.07;
    measured[0][ELEMENT_B] = 10.55;
    is_int((long)find(NODES), 0, "5 % off is less than 3 deviations");
    measured[0][ELEMENT_B] = 10.65;
    is_int((long)find(NODES), 1, "6.5 % off is more");
}

static void test_many(void)
{
    start();
    for (int i = 0; i < NODES / 2 - 1; i++)
        measured[i][ELEMENT_S] = 1e6 * (i + 1);
    is_int((long)find(NODES), NODES / 2 - 1,
           "nearly half of the nodes may be wild and are all found");
}

static void test_kinds(void)
{
    start();
    for (int i = 0; i < NODES; i += 2) {
        kind[i] = 4000000000u;
        measured[i][ELEMENT_M] = 300;
    }
    is_int((long)find(NODES), 0, "two kinds are each alike");
    measured[7][ELEMENT_M] = 300;
    is_int((long)find(NODES), 1, "one that measures as the other kind does");
    is_int((long)found[0].node, 7, "is off its own");
}

static void test_not_measured(void)
{
    start();
    measured[3][ELEMENT_I] = (double)NAN;
    measured[4][ELEMENT_I] = (double)INFINITY;
    measured[6][ELEMENT_I] = 25;
    is_int((long)find(NODES), 1, "what was not measured is no outlier");
    is_int((long)found[0].node, 6, "and hides none");
    for (int i = 0; i < NODES; i++)
        measured[i][ELEMENT_I] = (double)NAN;
    is_int((long)find(NODES), 0, "nor if nobody measured it");
}

int main(void)
{
    fence_on = 1;
    test_none();
    test_one();
    test_scale();
    test_floor();
    test_many();
    test_kinds();
    test_not_measured();
    return done();
}
