/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/metric.h"
#include "fenced.h"
#include "tap.h"

/* The CPU-heavy example of US 8,645,454. */
static const struct profile cpu = {{[ELEMENT_C] = 0.3,
                                    [ELEMENT_M] = 0.3,
                                    [ELEMENT_I] = 0.2,
                                    [ELEMENT_B] = 0.15}};
static const struct profile gpu = {{[ELEMENT_G] = 1}};
static const struct profile nothing = {{0}};
static const struct profile minus = {{[ELEMENT_C] = 1, [ELEMENT_M] = -1}};
static const struct profile not_a_number = {{[ELEMENT_S] = (double)NAN}};

static const double plain[2][ELEMENTS] = {{1, 1, 1, 1, 1, 0},
                                          {3, 1, 1, 1, 1, 0}};
static const double nan_in[2][ELEMENTS] = {{1}, {(double)NAN}};
static const double inf_in[2][ELEMENTS] = {{1}, {(double)INFINITY}};
static const double minus_in[2][ELEMENTS] = {{1}, {-1}};
static const double overflow[2][ELEMENTS] = {{1e308}, {1e308}};
static const double zeros[2][ELEMENTS] = {{0}};

static const struct {
    const char *name;
    const double (*measured)[ELEMENTS];
    const struct profile *profile;
    size_t n;
} bad[] = {
    {"no nodes are refused", plain, &cpu, 0},
    {"a NaN measurement is refused", nan_in, &cpu, 2},
    {"an infinite measurement is refused", inf_in, &cpu, 2},
    {"a negative measurement is refused", minus_in, &cpu, 2},
    {"measurements whose sum overflows are refused", overflow, &cpu, 2},
    {"nothing measured is refused", zeros, &cpu, 2},
    {"a profile of zeros is refused", plain, &nothing, 2},
    {"a negative influence is refused", plain, &minus, 2},
    {"a NaN influence is refused", plain, &not_a_number, 2},
    {"influence only on what nobody has is refused", plain, &gpu, 2},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct metric m[2] = {{.JL = 7}, {.JL = 8}};
        double(*rows)[ELEMENTS] =
            fenced_copy(bad[i].measured, bad[i].n * sizeof *rows);

        is_int(metric_rank((const double(*)[ELEMENTS])rows, bad[i].profile, m,
                           bad[i].n),
               -1, bad[i].name);
        ok(m[0].JL + m[1].JL == 15 && m[0].X[0] == 0, "metrics are untouched");
        free(rows);
    }
}

static void test_steps(void)
{
    struct metric *m = calloc(2, sizeof *m);
    double raw0 = 30 * 25 * .3 + 30 * 50 * .3 + 20 * 50 * .2 + 15 * 50 * .15;
    double raw1 = 30 * 75 * .3 + 30 * 50 * .3 + 20 * 50 * .2 + 15 * 50 * .15;

    is_int(metric_rank(plain, &cpu, m, 2), 0, "two nodes are ranked");
    is_near(m[0].X[ELEMENT_C], 25, 1e-12, "4. X is the share, percent");
    is_near(m[1].X[ELEMENT_C], 75, 1e-12, "4. of the second node");
    is_near(m[0].X[ELEMENT_G], 0, 0, "4. X of what nobody has is 0");
    is_near(m[1].CM[ELEMENT_C], 22.5, 1e-12, "5. CM = X * I");
    is_near(m[1].CM[ELEMENT_S], 0, 0, "5. no influence, no capability");
    is_near(m[1].CU[ELEMENT_C], 30, 1e-12, "6. CU = CM / X, percent points");
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < ELEMENTS; j++)
            if (m[i].X[j] > 0)
                is_near(m[i].CU[j], 100 * m[i].CM[j] / m[i].X[j], 1e-12,
                        "6. as divided out");
    is_near(m[0].JL, 100 * raw0 / (raw0 + raw1), 1e-12, "7. JL of node 0");
    is_near(m[1].JL, 100 * raw1 / (raw0 + raw1), 1e-12, "7. JL of node 1");
    is_int(metric_load(m, &cpu, 2), 0, "12. and anew");
    is_near(m[1].JL, 100 * raw1 / (raw0 + raw1), 1e-12, "12. the same");
    free(m);
}

static void test_x_zero(void)
{
    static const struct profile both = {{[ELEMENT_C] = 0.5, [ELEMENT_G] = 0.5}};
    const double measured[2][ELEMENTS] = {{[ELEMENT_C] = 1},
                                          {[ELEMENT_C] = 1, [ELEMENT_G] = 9}};
    struct metric m[2];

    is_int(metric_rank(measured, &both, m, 2), 0, "a node without a GPU");
    is_near(m[0].CU[ELEMENT_G], 50, 0, "6. where X is 0, CU is I");
    is_near(m[0].JL, 25, 1e-12, "7. half of the CPUs, none of the GPUs");
}

static void test_load(void)
{
    struct metric m[2], was;

    (void)metric_rank(plain, &cpu, m, 2);
    was = m[0];
    is_int(metric_load(m, &cpu, 2), 0, "JL is recomputed");
    is_near(m[0].JL, was.JL, 0, "12. unchanged CU, unchanged JL");
    m[0].CU[ELEMENT_C] = 0;
    (void)metric_load(m, &cpu, 2);
    ok(m[0].JL < was.JL, "12. less CU, less JL");
    is_near(m[0].JL + m[1].JL, 100, 1e-12, "12. they add up to 100");
    memset(m[0].CU, 0, sizeof m[0].CU);
    memset(m[1].CU, 0, sizeof m[1].CU);
    was = m[1];
    is_int(metric_load(m, &cpu, 2), -1, "JL of all nodes 0 is an error");
    is_near(m[1].JL, was.JL, 0, "metrics are untouched");
    is_int(metric_load(m, &cpu, 0), -1, "no nodes are an error");
    m[0].CU[ELEMENT_C] = (double)NAN;
    is_int(metric_load(m, &cpu, 2), -1, "a NaN is an error");
}

static void test_letters(void)
{
    int same = 1;

    for (enum element e = 0; e < ELEMENTS; e++)
        same &= element_of(element_letter(e)) == e;
    ok(same, "every letter leads back to its element");
    is_int(element_of('x'), ELEMENTS, "a strange letter is no element");
    is_int(element_of('\0'), ELEMENTS, "nor is the end of a string");
    is_int(element_letter(ELEMENT_G), 'G', "G is the GPU");
}

#define NO ((double)NAN)

static void test_complete(void)
{
    double *scratch = malloc(20 * sizeof *scratch),
           (*few)[ELEMENTS] = malloc(20 * sizeof *few),
           four[4][ELEMENTS] = {
               {4, NO, 1, 0}, {2, 2, 1, NO}, {1, 3, 1, 7}, {3, 9, 1, 7}};
    int left_out[ELEMENTS];

    for (size_t i = 0; i < 20; i++)
        for (int j = 0; j < ELEMENTS; j++)
            few[i][j] = (double)i;
    few[19][ELEMENT_C] = few[0][ELEMENT_M] = few[1][ELEMENT_M] = NO;
    few[0][ELEMENT_B] = few[1][ELEMENT_B] = few[2][ELEMENT_B] = NO;
    for (size_t i = 0; i < 20; i++)
        few[i][ELEMENT_G] = NO;
    metric_complete(few, scratch, left_out, 20);
    is_near(few[19][ELEMENT_C], 9, 0, "what one of 20 lacks is the median");
    ok(few[0][ELEMENT_M] == 10.5 && few[1][ELEMENT_M] == 10.5
           && few[2][ELEMENT_M] == 2,
       "so it is for a tenth of the nodes, and the others keep theirs");
    ok(few[0][ELEMENT_B] + few[19][ELEMENT_B] == 0 && left_out[ELEMENT_B],
       "what more than a tenth lack is left out for all");
    ok(few[0][ELEMENT_G] == 0 && few[19][ELEMENT_G] == 0 && !left_out[ELEMENT_G]
           && !left_out[ELEMENT_C],
       "what nobody has is 0, which nobody has left out");
    metric_complete(four, scratch, left_out, 4);
    ok(four[0][ELEMENT_C] == 4 && four[3][ELEMENT_I] == 1
           && four[3][ELEMENT_M] == 0 && four[2][ELEMENT_B] == 0,
       "of four nodes one without an element leaves it out");
    free(scratch);
    free(few);
}

static const struct profile sheet = {{0.3, 0.3, 0.2, 0.15, 0, 0}};

/* The shares of a CPU-bound job on nodes that differ in nothing but C. */
static void test_alike(void)
{
    double(*four)[ELEMENTS] =
        fenced_copy((double[4][ELEMENTS]){{80, 12, 10, 6, 0, 7},
                                          {40, 11, 10, 6, 0, 7},
                                          {20, 10, 10, 5, 0, 7},
                                          {10, 12, 10, 6, 0, 7}},
                    4 * sizeof *four);
    struct metric m[4];

    metric_leave_out_alike(four, &sheet, 4);
    ok(metric_rank((const double(*)[ELEMENTS])four, &sheet, m, 4) == 0
           && fabs(m[0].JL - 53.3333) < 0.001 && fabs(m[3].JL - 6.6667) < 0.001,
       "what all nodes have alike does not draw their shares together");
    ok(four[0][ELEMENT_G] + four[3][ELEMENT_G] == 14,
       "what has no influence is not looked at");
    free(four);
}

static void test_alike_first(void)
{
    const struct profile network = {{0.2, 0.1, 0.6, 0.1, 0, 0}},
                         cards = {{0.2, 0.1, 0, 0, 0, 0.6}};
    double links[2][ELEMENTS] = {{80, 5, 10}, {40, 5, 10}},
           slow[2][ELEMENTS] = {{8, 1.21, 10}, {8, 1, 2}},
           equal[2][ELEMENTS] = {{8, 5, 5, 5}, {8, 5, 5, 5}};

    metric_leave_out_alike(links, &network, 2);
    ok(links[0][ELEMENT_I] == 10 && links[0][ELEMENT_C] == 80
           && links[0][ELEMENT_M] == 0,
       "but the element that counts most does, and what differs");
    metric_leave_out_alike(slow, &sheet, 2);
    ok(slow[1][ELEMENT_C] == 8 && slow[1][ELEMENT_M] == 1
           && slow[1][ELEMENT_I] == 2,
       "of two that count most the first");
    metric_leave_out_alike(equal, &cards, 2);
    ok(equal[1][ELEMENT_C] == 8 && equal[1][ELEMENT_M] == 0,
       "one that nobody has is not it");
}

int main(void)
{
    fence_on = 1;
    test_bad();
    test_steps();
    test_x_zero();
    test_load();
    test_letters();
    test_complete();
    test_alike();
    test_alike_first();
    return done();
}
