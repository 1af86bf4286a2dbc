#include "policy/account.h"
#include "policy/level.h"
#include "policy/random.h"
#include "tap.h"

#define N 3

static const struct cost_terms terms = {.wait = 1, .burn = 0.5, .each = 0.1};
static const double speeds[N] = {1.5, 1, 0.5};

struct story { /* of one frame, and what its account is */
    const char *name;
    struct account_piece piece[8];
    double time, ideal, part[ACCOUNT_PARTS];
};

/* With these speeds a piece of n units takes 1 + (0.5 + 0.1 n) / speed; 30
 * units a speed of 1 end at 1 + 0.5 + 1: 3 nodes, 0.5 + 0.1 n = 1.5 speed. */
#define IDEAL 2.5
#define FAST                                                                   \
    {                                                                          \
        .node = 0, .units = 17.5, .sent = 0, .back = 2.5, .seconds = 2.5,      \
        .counts = 1                                                            \
    }
#define MID                                                                    \
    {                                                                          \
        .node = 1, .units = 10, .sent = 0, .back = 2.5, .seconds = 2.5,        \
        .counts = 1                                                            \
    }
#define SLOW                                                                   \
    {                                                                          \
        .node = 2, .units = 2.5, .sent = 0, .back = 2.5, .seconds = 2.5,       \
        .counts = 1                                                            \
    }

static const struct story stories[] = {
    {"one piece each, all at once: ideal", {FAST, MID, SLOW}, 2.5, 2.5, {0}},
    {"all a second on the wire",
     {{0, 17.5, 0, 3.5, 2.5, 1},
      {1, 10, 0, 3.5, 2.5, 1},
      {2, 2.5, 0, 3.5, 2.5, 1}},
     3.5,
     2.5,
     {[ACCOUNT_WIRE] = 1}},
    {"all wait for a second",
     {FAST, MID, SLOW},
     3.5,
     2.5,
     {[ACCOUNT_WAITING] = 1}},
    {"the last starts twice, so the others wait",
     {FAST, MID, {2, 1.5, 0, 2.3, 2.3, 1}, {2, 1, 2.3, 4.5, 2.2, 1}},
     4.5,
     2.5,
     {[ACCOUNT_RESTARTS] = 0.5 / 3 * 2, [ACCOUNT_WAITING] = 2.5 / 3 * 2}},
    {"its second start is hidden behind the first piece",
     {FAST, MID, {2, 1.5, 0, 2.3, 2.3, 1}, {2, 1, 0, 2.5, 2.2, 1}},
     2.5,
     2.5,
     {0}},
    {"a piece fails after a second and is done again",
     {FAST, {1, 10, 0, 1, 1, 0}, {1, 10, 1, 3.5, 2.5, 1}, SLOW},
     3.5,
     2.5,
     {[ACCOUNT_TWICE] = 1. / 3, [ACCOUNT_WAITING] = 2. / 3}},
    {"one is lost with its node, of which nobody knows how long it ran",
     {FAST, {1, 10, 0, 1, 0, 0}, {1, 10, 1, 3.5, 2.5, 1}, SLOW},
     3.5,
     2.5,
     {[ACCOUNT_TWICE] = 1. / 3, [ACCOUNT_WAITING] = 2. / 3}},
    {"a command takes a second longer",
     {FAST, {1, 10, 0, 3.5, 3.5, 1}, SLOW},
     3.5,
     2.5,
     {[ACCOUNT_SLOWER] = 1. / 3, [ACCOUNT_WAITING] = 2. / 3}},
};

static struct account_result account_of(const struct story *s,
                                        struct account *a)
{
    account_clear(a);
    for (size_t i = 0; i < 8 && s->piece[i].back > 0; i++)
        account_add(a, &s->piece[i]);
    return account_close(a, &terms, speeds, s->time);
}

static int adds_up(const struct account_result *r)
{
    double sum = r->ideal - r->time;
    int good = r->ideal > 0 && r->ideal <= r->time && r->equal > 0;

    for (int i = 0; i < ACCOUNT_PARTS; i++) {
        sum += r->part[i];
        good &= r->part[i] >= 0;
    }
    return good && fabs(sum) <= 1e-9 * r->time;
}

static void test_stories(void)
{
    struct account *a = account_create(N);

    for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
        struct account_result r = account_of(&stories[i], a);

        ok(adds_up(&r), "%s: it adds up", stories[i].name);
        is_near(r.ideal, stories[i].ideal, 1e-9, "ideal");
        for (int p = 0; p < ACCOUNT_PARTS; p++)
            is_near(r.part[p], stories[i].part[p], 1e-9,
                    account_name((enum account_part)p));
    }
    account_destroy(a);
}

int main(void)
{
    test_stories();
    return done();
}
