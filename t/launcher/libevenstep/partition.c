/* SPDX-License-Identifier: BSD-2-Clause */
/* All cases of up to RANKS slices of UNITS units: empty ones, any order. */
#include "launcher/libevenstep/evenstep.h"
#include "tap.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define RANKS 3
#define UNITS 4
#define CASES 90 /* 15 ways to cut UNITS in RANKS, in 6 orders */

static struct evenstep_range frames[CASES][RANKS];
static int n_frames;

static void make_frames(void)
{
    static const int order[6][RANKS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    for (uint64_t a = 0; a <= UNITS; a++)
        for (uint64_t b = a; b <= UNITS; b++)
            for (int o = 0; o < 6; o++) {
                const struct evenstep_range cut[RANKS] = {
                    {0, a}, {a, b}, {b, UNITS}};

                for (int i = 0; i < RANKS; i++)
                    frames[n_frames][i] = cut[order[o][i]];
                n_frames++;
            }
}

static int has(struct evenstep_range r, uint64_t unit)
{
    return r.begin <= unit && unit < r.end;
}

static void test_owner(void)
{
    int wrong = 0;

    for (int f = 0; f < n_frames; f++)
        for (uint64_t unit = 0; unit < UNITS; unit++) {
            int rank = evenstep_owner(frames[f], RANKS, unit);

            wrong += rank < 0 || !has(frames[f][rank], unit);
        }
    ok(n_frames == CASES && wrong == 0, "owner: every unit, %d frames",
       n_frames);
    ok(evenstep_owner(frames[0], RANKS, UNITS) == -1
           && evenstep_owner(frames[0], 0, 0) == -1,
       "owner: nobody's");
}

static int is_widened(struct evenstep_range r,
                      uint64_t by,
                      uint64_t begin,
                      uint64_t end)
{
    struct evenstep_range wide = evenstep_widened(r, by, 10);

    return wide.begin == begin && wide.end == end;
}

static void test_widened(void)
{
    ok(is_widened((struct evenstep_range){3, 5}, 2, 1, 7)
           && is_widened((struct evenstep_range){3, 5}, 0, 3, 5),
       "widened: on both sides");
    ok(is_widened((struct evenstep_range){1, 9}, 2, 0, 10)
           && is_widened((struct evenstep_range){3, 5}, UINT64_MAX, 0, 10),
       "widened: not beyond the ends");
    ok(is_widened((struct evenstep_range){5, 5}, 2, 5, 5),
       "widened: an empty one stays so");
}

/* --- what moves ----------------------------------------------------------- */

struct plan {
    int number[4][RANKS];
    struct evenstep_moves moves;
};

static int plan(struct plan *p,
                const struct evenstep_range *old,
                const struct evenstep_range *wants,
                int rank)
{
    memset(p->number, -1, sizeof p->number);
    p->moves = (struct evenstep_moves){p->number[0], p->number[1], p->number[2],
                                       p->number[3]};
    return evenstep_redistribute(old, wants, RANKS, rank, &p->moves);
}

/* As MPI_Alltoallv: each rank's buffer of what it had holds the numbers of the
 * units.  How many units are wrong, or written by none or by two. */
static int exchange(const struct evenstep_range *old,
                    const struct evenstep_range *wants)
{
    struct plan p[RANKS];
    uint64_t got[RANKS][UNITS];
    int wrong = 0;

    memset(got, 0xff, sizeof got);
    for (int i = 0; i < RANKS; i++)
        wrong += plan(&p[i], old, wants, i) < 0;
    for (int from = 0; from < RANKS; from++)
        for (int to = 0; to < RANKS; to++) {
            const struct evenstep_moves *s = &p[from].moves, *r = &p[to].moves;

            wrong += s->send_count[to] != r->receive_count[from];
            for (int k = 0; k < s->send_count[to]; k++) {
                uint64_t *place = &got[to][r->receive_at[from] + k];

                wrong += *place != UINT64_MAX;
                *place = old[from].begin + (uint64_t)(s->send_at[to] + k);
            }
        }
    for (int i = 0; i < RANKS; i++)
        for (uint64_t u = wants[i].begin; u < wants[i].end; u++)
            wrong += got[i][u - wants[i].begin] != u;
    return wrong;
}

static void test_moves(void)
{
    int wrong = 0, wrong_wide = 0;

    for (int a = 0; a < n_frames; a++)
        for (int b = 0; b < n_frames; b++) {
            struct evenstep_range wide[RANKS];

            wrong += exchange(frames[a], frames[b]);
            for (int i = 0; i < RANKS; i++)
                wide[i] = evenstep_widened(frames[b][i], 1, UNITS);
            wrong_wide += exchange(frames[a], wide);
        }
    ok(wrong == 0, "moves: from each frame to each other, %d pairs",
       n_frames * n_frames);
    ok(wrong_wide == 0, "moves: likewise with a neighbour on each side");
}

static int refused(const struct evenstep_range *old,
                   const struct evenstep_range *wants,
                   int rank,
                   int why)
{
    struct plan p;

    errno = 0;
    return plan(&p, old, wants, rank) == -1 && errno == why;
}

static void test_refused(void)
{
    static const struct evenstep_range all[RANKS] = {{0, 4}},
                                       twice[RANKS] = {{0, 4}, {3, 4}},
                                       less[RANKS] = {{0, 3}},
                                       turned[RANKS] = {{0, 4}, {3, 2}},
                                       huge[RANKS] = {{0, INT_MAX + 1ull}};

    ok(refused(all, all, RANKS, EINVAL) && refused(all, all, -1, EINVAL),
       "moves: no such rank");
    ok(refused(turned, all, 0, EINVAL) && refused(all, turned, 0, EINVAL),
       "moves: a range that ends before it begins");
    ok(refused(less, all, 0, ENODATA) && refused(twice, all, 0, ENODATA),
       "moves: a unit that nobody has, or two");
    ok(refused(huge, huge, 0, EOVERFLOW), "moves: more than an int holds");
}

/* --- weights -------------------------------------------------------------- */

/* The units of all slices of parts, one after the other: do they adjoin, and
 * are they all? */
static int adjoin(const double *weight, uint64_t units, uint64_t parts)
{
    for (uint64_t a = 0; a <= parts; a++)
        for (uint64_t b = a; b <= parts; b++) {
            struct evenstep_range cut[3] = {{0, a}, {a, b}, {b, parts}}, r;
            uint64_t at = 0;

            for (int i = 0; i < 3; i++) {
                if (evenstep_weighted(cut[i], parts, weight, units, &r) < 0
                    || r.begin != at || r.end < r.begin)
                    return 0;
                at = r.end;
            }
            if (at != units)
                return 0;
        }
    return 1;
}

static void test_weights(void)
{
    static const double values[] = {0, 1, 2.5, 1e300};
    int wrong = 0;

    for (int c = 1; c < 256; c++) { /* all but four zeros */
        double weight[UNITS];

        for (int i = 0; i < UNITS; i++)
            weight[i] = values[c >> 2 * i & 3];
        for (uint64_t parts = 1; parts <= 7; parts += 2)
            wrong += !adjoin(weight, UNITS, parts);
    }
    ok(wrong == 0, "weights: slices adjoin and have every unit");
}

static void test_weighted_shares(void)
{
    static const double weight[8] = {1, 1, 1, 1, 4, 4, 2, 2};
    struct evenstep_range r;

    ok(evenstep_weighted((struct evenstep_range){0, 250}, 1000, weight, 8, &r)
               == 0
           && r.begin == 0 && r.end == 4,
       "weights: a quarter of the weight is four light units");
    ok(evenstep_weighted((struct evenstep_range){250, 750}, 1000, weight, 8, &r)
               == 0
           && r.begin == 4 && r.end == 6,
       "weights: half of it two heavy ones");
}

static int is_bad(double weight, struct evenstep_range slice, uint64_t parts)
{
    struct evenstep_range r = {1, 2};
    double two[2] = {weight, weight};

    errno = 0;
    return evenstep_weighted(slice, parts, two, 2, &r) == -1 && errno == EINVAL
           && r.begin == 0 && r.end == 0;
}

static void test_bad_weights(void)
{
    struct evenstep_range all = {0, 2}, turned = {2, 1};

    ok(is_bad(-1, all, 2) && is_bad(NAN, all, 2) && is_bad(INFINITY, all, 2),
       "weights: negative, no number, no end");
    ok(is_bad(0, all, 2) && is_bad(1e308, all, 2),
       "weights: a sum of 0, or of no end");
    ok(is_bad(1, all, 1) && is_bad(1, turned, 2),
       "weights: a slice that is not within the parts");
}

int main(void)
{
    make_frames();
    test_owner();
    test_widened();
    test_moves();
    test_refused();
    test_weights();
    test_weighted_shares();
    test_bad_weights();
    return done();
}
