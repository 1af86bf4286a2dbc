/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/watts.h"
#include "tap.h"

#include <math.h>

struct point {
    double joules, busy, idle;
};

static struct watts sum(const struct point p[], int n)
{
    struct watts w = {0};

    for (int i = 0; i < n; i++)
        if (watts_add(&w, p[i].joules, p[i].busy, p[i].idle) < 0)
            bail("a point is refused");
    return w;
}

static void test_exact(void)
{
    static const struct point p[] = {
        {20, 2, 0}, {14, 1, 2}, {500, 30, 100}, {2, 0, 1}};
    struct watts w = sum(p, 4), first = sum(p, 2), second = sum(p + 2, 2);
    double busy = 0, idle = 0;

    is_int(watts_fit(&w, &busy, &idle), 0, "points of 10 W busy and 2 W idle");
    is_near(busy, 10, 1e-9, "are told: busy");
    is_near(idle, 2, 1e-9, "and idle");
    first.points += second.points;
    first.bb += second.bb;
    first.bi += second.bi;
    first.ii += second.ii;
    first.bj += second.bj;
    first.ij += second.ij;
    is_int(watts_fit(&first, &busy, &idle), 0, "two runs added up are one");
    is_near(busy, 10, 1e-9, "and say the same");
}

/* Counters that are off by a tenth, now up, now down. */
static void test_noise(void)
{
    struct watts w = {0};
    double busy = 0, idle = 0;

    for (int i = 0; i < 100; i++) {
        double b = i % 10, l = 10 - b;

        (void)watts_add(&w, (10 * b + 2 * l) * (i % 2 ? 1.1 : 0.9), b, l);
    }
    is_int(watts_fit(&w, &busy, &idle), 0, "counters that are off by a tenth");
    is_near(busy, 10, 1, "busy within a tenth");
    is_near(idle, 2, 1, "and idle");
}

static void test_guards(void)
{
    static const struct point few[] = {{20, 2, 0}, {2, 0, 1}},
                              alike[] = {{12, 1, 1}, {24, 2, 2}, {36, 3, 3}},
                              upside[] = {{1, 1, 0}, {9, 0, 1}, {5, 0.5, 0.5}},
                              below[] = {{10, 1, 0}, {4, 0.5, 0.5}, {0, 0, 1}};
    struct watts w = sum(few, 2);
    double busy = 7, idle = 7;

    is_int(watts_fit(&w, &busy, &idle), -1, "two points are too few");
    w = sum(alike, 3);
    is_int(watts_fit(&w, &busy, &idle), -1,
           "points that are busy for the same part cannot tell");
    w = sum(upside, 3);
    is_int(watts_fit(&w, &busy, &idle), -1,
           "an idle core that draws more than a busy one");
    ok(busy == 7 && idle == 7, "and nothing has changed");
    w = sum(below, 3);
    ok(watts_fit(&w, &busy, &idle) == 0 && idle == 0 && busy > 9 && busy < 10,
       "idle is not below 0; busy is the best for that");
}

static void test_bad(void)
{
    static const struct point bad[] = {
        {-1, 1, 1},          {1, -1, 1}, {1, 1, -1},
        {(double)NAN, 1, 1}, {1, 0, 0},  {1, 1, (double)INFINITY},
        {1e300, 1e-300, 0}};
    struct watts w = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(watts_add(&w, bad[i].joules, bad[i].busy, bad[i].idle) == -1
               && w.points == 0,
           "bad point %zu is refused", i);
    w = (struct watts){3, 1, 1, 1, 5, 5};
    ok(!watts_hold(&w), "sums that no three points have");
    w = (struct watts){3, 1, (double)NAN, 1, 5, 5};
    ok(!watts_hold(&w), "or that are no numbers");
}

int main(void)
{
    test_exact();
    test_noise();
    test_guards();
    test_bad();
    return done();
}
