/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_ring.h"
#include "tap.h"

#define NODES 40

static void test_pairs(void)
{
    int wrong_sender = 0, self = 0, twice = 0, not_once = 0;

    for (uint32_t n = 0; n <= NODES; n++)
        for (unsigned round = 0; round < ring_rounds(n); round++) {
            int received[NODES] = {0};

            for (uint32_t i = 0; i < n; i++) {
                uint32_t to = ring_receiver(n, i, round);

                received[to]++;
                self += to == i;
                wrong_sender += ring_sender(n, to, round) != i;
                for (unsigned before = 0; before < round; before++)
                    twice += ring_receiver(n, i, before) == to;
            }
            for (uint32_t i = 0; i < n; i++)
                not_once += received[i] != 1;
        }
    is_int(not_once, 0, "every node receives from one in each round, 0 to 40");
    is_int(self, 0, "never from itself");
    is_int(wrong_sender, 0, "and knows from whom");
    is_int(twice, 0, "nobody meets the same one twice");
    ok(ring_rounds(0) == 0 && ring_rounds(1) == 0, "alone there is no round");
    ok(ring_rounds(2) == 1 && ring_rounds(3) == 2 && ring_rounds(4) == 3
           && ring_rounds(UINT32_MAX) == 3,
       "otherwise as many as there are others, at most 3");
    ok(ring_receiver(UINT32_MAX, UINT32_MAX - 1, 0) == 0,
       "the largest ring closes");
}

/* What node measures if links carry rate[]. */
static double value_of(uint32_t n, uint32_t node, const double rate[])
{
    struct ring_round r[RING_ROUNDS_MOST];
    double value = 0, spread;

    for (unsigned k = 0; k < ring_rounds(n); k++) {
        double to = rate[ring_receiver(n, node, k)];
        double from = rate[ring_sender(n, node, k)];
        r[k].sent_per_s = fmin(rate[node], to);
        r[k].received_per_s = fmin(rate[node], from);
    }
    return ring_value(r, ring_rounds(n), &value, &spread) < 0 ? -1 : value;
}

/* Every pair of slow links in rings of 4 to 12, and every single one in 3. */
static void test_slow_links(void)
{
    double rate[NODES];
    int wrong = 0;

    for (uint32_t n = 4; n <= 12; n++)
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++) {
                for (uint32_t i = 0; i < n; i++)
                    rate[i] = i == a || i == b ? 25 : 100;
                for (uint32_t i = 0; i < n; i++)
                    wrong += value_of(n, i, rate) != rate[i];
            }
    is_int(wrong, 0, "one or two slow links show, and only those");
    rate[0] = 25;
    rate[1] = rate[2] = 100;
    ok(value_of(3, 0, rate) == 25 && value_of(3, 1, rate) == 100
           && value_of(3, 2, rate) == 100,
       "one of three also");
    ok(value_of(2, 0, rate) == 25 && value_of(2, 1, rate) == 25,
       "of two, both have the rate of the slower");
}

static void test_value(void)
{
    const struct ring_round one_way[] = {{100, 20}, {90, 25}, {95, 22}};
    const struct ring_round gap[] = {
        {0, 0}, {(double)NAN, -1}, {80, (double)INFINITY}, {70, 60}};
    const struct ring_round silent[] = {{50, 0}, {60, (double)NAN}};
    double value = 7, spread = 8;

    is_int(ring_value(one_way, 3, &value, &spread), 0, "a one-way fault");
    is_near(value, 25, 0, "the worse direction counts");
    is_near(spread, 0.2, 1e-12, "with the spread of its rounds");
    is_int(ring_value(gap, 4, &value, &spread), 0,
           "rounds without a partner are left out");
    is_near(value, 60, 0, "as are numbers that are none");
    value = 7;
    spread = 8;
    ok(ring_value(silent, 2, &value, &spread) == -1 && value == 7
           && spread == 8,
       "a direction that was never measured: no value");
    is_int(ring_value(NULL, 0, &value, &spread), -1, "no rounds: no value");
}

int main(void)
{
    test_pairs();
    test_slow_links();
    test_value();
    return done();
}
