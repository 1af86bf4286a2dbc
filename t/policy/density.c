/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles that are found again from pieces, and noise that is not one. */
#include "policy/density.h"
#include "policy/random.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#define PIECES 8 /* of a frame */

static double bump(double x) /* the integral of its density */
{
    return x
           + 0.8
                 * (sin(2 * 3.14159265358979 * (x - 0.5))
                    / (2 * 3.14159265358979));
}

static double step(double x)
{
    return x < 0.5 ? 1.5 * x : 0.75 + 0.5 * (x - 0.5);
}

static double flat(double x)
{
    return x;
}

static void tell(
    struct density *d, double begin, double end, double mean, double deviation)
{
    const struct density_seen seen = {begin, end, mean, deviation};

    density_see(d, &seen);
}

/* Frames of pieces of unlike sizes, seen with some noise. */
static void see(struct density *d,
                double (*work)(double),
                int frames,
                double noise,
                struct rng *r)
{
    density_forget(d, PIECES * 3);
    for (int f = 0; f < frames; f++) {
        double at = 0;

        for (int i = 0; i < PIECES; i++) {
            double share = (1 + (i * 5 + f * 3) % 8) / 36.0;
            double to = i == PIECES - 1 ? 1 : at + share;
            double mean = (work(to) - work(at)) / (to - at);

            tell(d, at, to, mean * (1 + noise * random_normal(r)),
                 fmax(noise, 0.01) * mean);
            at = to;
        }
    }
}

/* The most by which the part before any place is off. */
static double off(const struct density *d, double (*work)(double))
{
    double most = 0;

    for (int i = 0; i <= 1000; i++)
        most =
            fmax(most, fabs(density_before(d, i / 1000.0) - work(i / 1000.0)));
    return most;
}

static int ascends(const struct density *d)
{
    double before = density_before(d, 0);

    if (fabs(before) > 1e-12 || fabs(density_before(d, 1) - 1) > 1e-9)
        return 0;
    for (int i = 1; i <= 1000; i++) {
        double now = density_before(d, i / 1000.0);

        if (!(now > before))
            return 0;
        before = now;
    }
    return 1;
}

static struct density *create(void)
{
    struct density *d = density_create();

    if (!d)
        bail("no memory");
    return d;
}

static void test_profiles(void)
{
    static const struct {
        double (*work)(double);
        double noise, most;
        const char *what;
    } cases[] = {
        {bump, 0.01, 0.01, "a bump"},
        {step, 0.01, 0.015, "a step"},
        {bump, 0.05, 0.03, "a bump with noise"},
        {flat, 0.05, 1e-9, "noise alone is not taken for a profile"},
    };
    struct rng r;

    random_init(&r, GENERATOR_LCG32, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct density *d = create();

        see(d, cases[i].work, 3, cases[i].noise, &r);
        is_near(density_fit(d), 1, 0.05, "the mean is about 1");
        ok(ascends(d) && off(d, cases[i].work) < cases[i].most, "%s: %.4f off",
           cases[i].what, off(d, cases[i].work));
        ok(density_is_flat(d) == (cases[i].work == flat), "if it is one");
        density_destroy(d);
    }
}

static void test_change(void)
{
    struct density *d = create();
    struct rng r;

    random_init(&r, GENERATOR_LCG32, 2);
    see(d, step, 3, 0.01, &r);
    (void)density_fit(d);
    see(d, flat, 3, 0.01, &r);
    (void)density_fit(d);
    ok(off(d, flat) < 0.01, "what was forgotten is forgotten");
    density_forget(d, PIECES * 3);
    tell(d, 0, 1, 3, 0.1);
    is_near(density_fit(d), 3, 0.1, "a mean of 3 is told");
    ok(off(d, flat) < 1e-6, "and one piece of all tells nothing else");
    density_destroy(d);
}

/* A walk of so many steps over the frame, of mean 1. */
#define STEPS 480
static double walk[STEPS + 1]; /* the work before each */

/* Until one is above 0 everywhere. */
static void draw_walk(double rate, struct rng *r)
{
    double cell[STEPS], least;

    do {
        double level = 0, sum = 0;

        least = INFINITY;
        for (int i = 0; i < STEPS; i++) {
            level += rate * sqrt(1.0 / STEPS) * random_normal(r);
            cell[i] = level;
            sum += level;
            least = fmin(least, level);
        }
        for (int i = 0; i < STEPS; i++)
            walk[i + 1] = walk[i] + (cell[i] + 1 - sum / STEPS) / STEPS;
        least += 1 - sum / STEPS;
    } while (!(least > 0.05));
}

static double walked(double x)
{
    return walk[(int)(x * STEPS + 0.5)];
}

static double mean_over(double (*work)(double), double begin, double end)
{
    return (work(end) - work(begin)) / (end - begin);
}

/* Three quarters of a walk are seen, in pieces: by how many deviations is what
 * follows off, as a root of the mean square? */
static double deviations_off(double rate, double begin, double end, int runs)
{
    double squares = 0;
    struct rng r;

    random_init(&r, GENERATOR_LCG32, 3);
    for (int i = 0; i < runs; i++) {
        struct density *d = create();
        double told, wrong;

        draw_walk(rate, &r);
        density_forget(d, 36);
        for (int k = 0; k < 36; k++)
            tell(d, k / 48.0, (k + 1) / 48.0,
                 mean_over(walked, k / 48.0, (k + 1) / 48.0)
                     + 0.02 * random_normal(&r),
                 0.02);
        tell(d, 0, 1, 1, 0.01);
        (void)density_fit(d);
        told =
            (density_before(d, end) - density_before(d, begin)) / (end - begin);
        wrong = told - mean_over(walked, begin, end);
        wrong /= density_deviation(d, begin, end) * told;
        squares += wrong * wrong;
        density_destroy(d);
    }
    return sqrt(squares / runs);
}

static void test_deviation(void)
{
    struct density *d = create();
    double seen, after, all;

    ok(density_deviation(d, 0.2, 0.4) <= 0, "flat, as far as is known: none");
    density_forget(d, 20);
    for (int k = 0; k < 10; k++)
        tell(d, k / 20.0, (k + 1) / 20.0, k % 4 < 2 ? 0.5 : 1.5, 0.02);
    (void)density_fit(d);
    seen = density_deviation(d, 0.2, 0.4);
    after = density_deviation(d, 0.6, 0.8);
    all = density_deviation(d, 0, 1);
    ok(seen > 0 && seen < 0.1, "what was seen is known (%g)", seen);
    ok(after > 4 * seen, "what was not, is known less (%g)", after);
    ok(all < 1e-6, "the whole has a mean of 1 (%g)", all);
    ok(density_deviation(d, 0.6, 0.61) >= density_deviation(d, 0.6, 0.65),
       "a part of a bin is as its bin");
    ok(density_deviation(d, 0.999, 1) > 0, "the last one, too");
    density_destroy(d);
    is_near(deviations_off(0.8, 0.75, 0.875, 300), 1, 0.2,
            "what follows is as far off as was told");
    is_near(deviations_off(0.8, 0.375, 0.5, 300), 1, 0.2,
            "and so is what was seen");
}

static void test_nonsense(void)
{
    struct density *d = create();

    is_near(density_fit(d), 1, 1e-12, "nothing was seen");
    ok(density_is_flat(d), "so there is no profile");
    tell(d, 0.5, 0.5, 1, 0.1);
    tell(d, -0.1, 0.5, 1, 0.1);
    tell(d, 0.5, 1.1, 1, 0.1);
    tell(d, 0.6, 0.5, 1, 0.1);
    tell(d, 0, 1, (double)NAN, 0.1);
    tell(d, 0, 1, (double)INFINITY, 0.1);
    tell(d, 0, 1, 1, 0);
    tell(d, 0, 1, 1, (double)NAN);
    tell(d, (double)NAN, 1, 1, 0.1);
    is_near(density_fit(d), 1, 1e-12, "what makes no sense is passed over");
    ok(ascends(d) && off(d, flat) < 1e-9, "and leaves it flat");
    tell(d, 0, 0.1, 1e6, 1e-3);
    tell(d, 0.1, 1, 1e-6, 1e-3);
    (void)density_fit(d);
    ok(ascends(d), "whatever was seen, every unit is some work");
    tell(d, 0.2, 0.3, -5, 1e-3);
    (void)density_fit(d);
    ok(ascends(d), "even if it was said to be less than none");
    density_destroy(d);
    density_destroy(NULL);
}

int main(void)
{
    test_profiles();
    test_change();
    test_deviation();
    test_nonsense();
    return done();
}
