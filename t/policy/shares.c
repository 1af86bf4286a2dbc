/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/shares.h"
#include "cost.h"
#include "tap.h"

#define BIG 16384

static const struct {
    const char *name;
    uint64_t begin, end, grain;
    double load[3];
    size_t n;
} bad[] = {
    {"no nodes are refused", 0, 9, 1, {1, 1, 1}, 0},
    {"grain 0 is refused", 0, 9, 0, {1, 1, 1}, 3},
    {"a reversed frame is refused", 2, 1, 1, {1, 1, 1}, 3},
    {"a negative load is refused", 0, 9, 1, {1, -1, 1}, 3},
    {"a NaN load is refused", 0, 9, 1, {1, (double)NAN, 1}, 3},
    {"an infinite load is refused", 0, 9, 1, {1, (double)INFINITY, 1}, 3},
    {"all-zero loads are refused", 0, 9, 1, {0, 0, 0}, 3},
    {"all-zero loads are refused for an empty frame", 5, 5, 1, {0, 0, 0}, 3},
};

static const struct {
    const char *name;
    uint64_t begin, end, grain;
    double load[4];
    uint64_t want[4]; /* ends */
} good[] = {
    {"equal loads", 0, 12, 1, {1, 1, 1, 1}, {3, 6, 9, 12}},
    {"a tie goes to the lower index", 0, 6, 1, {1, 1, 1, 1}, {2, 4, 5, 6}},
    {"one node has all", 10, 20, 1, {0, 1, 0, 0}, {10, 20, 20, 20}},
    {"more nodes than units", 0, 1, 1, {1, 1, 1, 1}, {1, 1, 1, 1}},
    {"empty frame", 7, 7, 1, {1, 2, 3, 4}, {7, 7, 7, 7}},
    {"the largest remainder gets the unit",
     0,
     10,
     1,
     {30, 11, 45, 14},
     {3, 4, 9, 10}},
    {"the example of US 8,645,454",
     0,
     100,
     1,
     {8, 26, 24, 42},
     {8, 34, 58, 100}},
    {"boundaries keep to the grain",
     3,
     103,
     10,
     {1, 1, 1, 1},
     {33, 63, 83, 103}},
    {"the last grain is short", 0, 25, 10, {1, 1, 1, 0}, {10, 20, 25, 25}},
    {"a grain larger than the frame", 0, 5, 10, {1, 2, 1, 0}, {0, 5, 5, 5}},
    {"tiny loads", 0, 4, 1, {4e-320, 4e-320, 4e-320, 4e-320}, {1, 2, 3, 4}},
    {"huge loads", 0, 4, 1, {1e308, 1e308, 1e308, 1e308}, {1, 2, 3, 4}},
    {"whole range",
     0,
     UINT64_MAX,
     1,
     {1, 1, 1, 1},
     {UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_C(3) << 62, UINT64_MAX}},
    {"odd quotas of the whole range",
     0,
     UINT64_MAX,
     1,
     {1, 0, 2, 0},
     {UINT64_MAX / 3, UINT64_MAX / 3, UINT64_MAX, UINT64_MAX}},
    {"top of the range with a huge grain",
     UINT64_MAX - 5,
     UINT64_MAX,
     UINT64_MAX,
     {0, 0, 1, 1},
     {UINT64_MAX - 5, UINT64_MAX - 5, UINT64_MAX, UINT64_MAX}},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct slice s[3] = {{3, 4}, {5, 6}, {7, 8}};

        is_int(shares_cut(bad[i].begin, bad[i].end, bad[i].grain, bad[i].load,
                          s, bad[i].n),
               -1, bad[i].name);
        ok(s[0].begin == 3 && s[1].end == 6 && s[2].end == 8,
           "and leaves slices untouched");
    }
}

static void test_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct slice s[4];
        int pass = shares_cut(good[i].begin, good[i].end, good[i].grain,
                              good[i].load, s, 4)
                   == 0;

        for (size_t k = 0; k < 4; k++)
            pass &= s[k].end == good[i].want[k]
                    && s[k].begin == (k ? s[k - 1].end : good[i].begin);
        if (!ok(pass, "%s", good[i].name))
            for (size_t k = 0; k < 4; k++)
                diag("got %ju, want %ju", (uintmax_t)s[k].end,
                     (uintmax_t)good[i].want[k]);
    }
}

/* The promises of shares.h for one cut, by other means. */
static int cut_keeps_promises(
    uint64_t begin, uint64_t end, uint64_t grain, const double load[], size_t n)
{
    uint64_t grains = (end - begin + grain - 1) / grain, at = begin;
    struct slice s[5];
    uint64_t size[5];
    double sum = 0;
    int pass = shares_cut(begin, end, grain, load, s, n) == 0;

    for (size_t i = 0; i < n; i++)
        sum += load[i];
    for (size_t i = 0; i < n; i++) {
        double quota = (double)grains * load[i] / sum;

        pass &= s[i].begin == at && s[i].end >= at;
        at = s[i].end;
        pass &= at == end || (at - begin) % grain == 0;
        size[i] = (s[i].end - s[i].begin + grain - 1) / grain;
        pass &= fabs((double)size[i] - quota) < 1;
        pass &= load[i] > 0 || size[i] == 0;
    }
    /* whoever was rounded up has no smaller remainder than one rounded down */
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            double a = (double)grains * load[i] / sum;
            double b = (double)grains * load[k] / sum;

            if ((double)size[i] > a + 1e-9 && (double)size[k] < b - 1e-9)
                pass &= a - floor(a) > b - floor(b) - 1e-9;
        }
    }
    return pass && at == end;
}

static void test_small_space(void)
{
    static const double loads[] = {0, 1, 2, 5};
    int tried = 0, wrong = 0;

    for (size_t n = 1; n <= 5; n++) {
        for (unsigned code = 1; code < 1U << (2 * n); code++) {
            double load[5];

            for (size_t i = 0; i < n; i++)
                load[i] = loads[code >> (2 * i) & 3];
            for (uint64_t len = 0; len <= 20; len++) {
                for (uint64_t grain = 1; grain <= 4; grain++) {
                    wrong += !cut_keeps_promises(7, 7 + len, grain, load, n);
                    tried++;
                }
            }
        }
    }
    ok(tried > 100000, "n 1..5, frames 0..20, grains 1..4, loads 0 1 2 5");
    is_int(wrong, 0, "every one adds up, keeps to quota, grain and order");
}

/* G * w / sum without overflow: what divide() does, in 128 bits. */
static void test_wide(void)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t x = 1;
    int wrong = 0;

    for (int t = 0; t < 200000; t++) {
        uint64_t w[3], end, sum = 0;
        double load[3];
        struct slice s[3];

        for (int i = 0; i < 3; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407U;
            w[i] = x >> (12 + (x >> 8) % 50);
            load[i] = (double)w[i];
            sum += w[i];
        }
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407U;
        end = x >> (x >> 5) % 60;
        if (sum == 0)
            continue;
        wrong += shares_cut(0, end, 1, load, s, 3) != 0;
        wrong += s[0].begin != 0 || s[2].end != end;
        for (int i = 0; i < 3; i++) {
            uint64_t whole = (uint64_t)((wide)end * w[i] / sum);
            uint64_t size = s[i].end - s[i].begin;

            wrong += size != whole && size != whole + 1;
        }
    }
    is_int(wrong, 0, "quotas agree with 128-bit arithmetic to the last unit");
}

static void test_big(void)
{
    static double load[BIG];
    static struct slice s[BIG];
    double begin, best = 1;

    for (size_t i = 0; i < BIG; i++)
        load[i] = 1 + (double)(i * 7919 % 1000) / 3;
    for (int k = 0; k < 20; k++) {
        begin = cpu_seconds();
        (void)shares_cut(0, 1000003, 1, load, s, BIG);
        best = fmin(best, cpu_seconds() - begin);
    }
    is_int((intmax_t)s[BIG - 1].end, 1000003, "16,384 slices add up");
    costs(best, 0.0003, "shares_cut, 16,384 nodes");
}

int main(void)
{
    test_bad();
    test_good();
    test_small_space();
    test_wide();
    test_big();
    return done();
}
