/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steering against nodes that are simulated: what is written to their actuators
 * never adds up to more than the budget, at no instant, in whatever order the
 * nodes answer.
 */
#include "steered_nodes.h"

/* What it says on stderr if it looks after so many seconds. */
static const char *look(struct steering *s, int seconds)
{
    static char text[1024];
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    size_t len;

    if (!file || kept < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        bail("no file");
    now_ns += seconds * INT64_C(1000000000);
    steering_look(s);
    answer_all(s);
    (void)dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    len = fread(text, 1, sizeof text - 1, file);
    text[len] = '\0';
    (void)fclose(file);
    return text;
}

/* --- what must hold ------------------------------------------------------- */

static void test_steers(enum power_variant variant, const char *name)
{
    struct steering *s = prepare(variant);
    struct steering_view view;
    uint64_t before[NODES];
    int stands = 1;

    ok(nobody_is_limited(), "nothing is limited before anything is metered");
    begin(s);
    is_int((int)in_force(), BUDGET, "then every node is, to what is its own");
    regions(s, 30, -1);
    ok(steering_skew(s) < 2 * POWER_BOUND, "%s: the skew is down to %.6f", name,
       steering_skew(s));
    is_near((double)actuator[3].limit, BUDGET * 1.6 / 4.6, BUDGET * 0.02,
            "who has more to do has more");
    ok(highest == BUDGET && in_force() == BUDGET,
       "the sum was never above the budget, and is all of it");
    for (size_t i = 0; i < NODES; i++)
        before[i] = actuator[i].limit;
    regions(s, 10, -1);
    for (size_t i = 0; i < NODES; i++)
        stands &= before[i] == actuator[i].limit;
    ok(stands, "the limits stand still");
    view = steering_view(s, 0);
    ok(view.waiting < 0.05 && view.speed > 0 && strcmp(view.unit, "uW") == 0
           && strcmp(view.name, "n0") == 0,
       "a node's view tells of it");
    steering_stop(s);
}

static void test_off(void)
{
    struct steering *s = start(POWER_OFF);

    regions(s, 10, -1);
    ok(!TAILQ_FIRST(&queue), "off: nothing is ever asked");
    ok(steering_skew(s) > 0.02, "but the skew is known: %.4f",
       steering_skew(s));
    steering_stop(s);
}

static void test_lost(void)
{
    struct steering *s = start(POWER_PAIR);

    regions(s, 20, -1);
    steering_lost(s, 2);
    answer_all(s);
    ok(actuator[0].limit == MAX_UW / 2 && actuator[1].limit == MAX_UW / 2
           && actuator[3].limit == MAX_UW / 2,
       "when a node is lost the others go back to what they had at first");
    ok(highest <= BUDGET, "the sum is kept on the way");
    regions(s, 20, 2);
    ok(steering_skew(s) < 2 * POWER_BOUND, "and steering goes on without it");
    ok(actuator[0].limit + actuator[1].limit + actuator[3].limit
           <= BUDGET / NODES * (NODES - 1),
       "its budget is not given away");
    steering_stop(s);
}

static int have_their_own(void)
{
    int own = 1;

    for (size_t i = 0; i < NODES; i++)
        own &= actuator[i].limit == MAX_UW / 2;
    return own;
}

static void test_held(void)
{
    struct steering *s = start(POWER_PAIR);

    regions(s, 20, -1);
    ok(steering_speed(s, 3) > 1.2 && steering_speed(s, 0) < 1,
       "with more than at the start a node is faster: %.2f, others %.2f",
       steering_speed(s, 3), steering_speed(s, 0));
    steering_hold(s, 1);
    answer_all(s);
    regions(s, 20, -1);
    ok(have_their_own() && fabs(steering_speed(s, 3) - 1) < 1e-9,
       "while it is held all have what they had at the start");
    ok(highest == BUDGET, "the sum is kept on the way");
    steering_hold(s, 0);
    regions(s, 30, -1);
    ok(steering_skew(s) < 2 * POWER_BOUND, "and then it goes on");
    steering_stop(s);
}

/* Until its guard has put its limit back it has what it was given. */
static void test_lost_with_more(void)
{
    struct steering *s = start(POWER_PAIR);

    regions(s, 20, -1);
    steering_lost(s, 3);
    answer_all(s);
    ok(actuator[3].limit > MAX_UW / 2 && highest == BUDGET,
       "a node is lost that had more than its part: the sum is kept");
    regions(s, 20, 3);
    ok(highest == BUDGET && steering_skew(s) < 2 * POWER_BOUND,
       "and the others are steered with what is left");
    steering_stop(s);
}

/* What `evenstep run` has watched are its own agents' programs. */
static void test_returned(void)
{
    struct steering *s = prepare_step(NULL, POWER_PAIR);

    is_int(own_orders, NODES, "each node has a step directory of its own");
    begin(s);
    regions(s, 20, -1);
    steering_lost(s, 2);
    answer_all(s);
    own_orders = 0;
    steering_returned(s, 2);
    is_int(own_orders, 1, "a node that is back is told to watch again");
    actuator_restore(&actuator[2]);
    say_power(s, 2);
    answer_all(s);
    ok(actuator[2].limit == MAX_UW / 2 && in_force() == BUDGET,
       "it is limited again, to what it had at first");
    regions(s, 20, -1);
    ok(highest <= BUDGET && steering_skew(s) < 2 * POWER_BOUND,
       "and steered with the others");
    steering_stop(s);
}

static void test_unwritable(void)
{
    struct steering *s = start(POWER_PAIR);

    unwritable = 0; /* from now on */
    regions(s, 20, -1);
    is_int((int)actuator[0].limit, MAX_UW / 2,
           "a node whose limit cannot be set keeps it");
    ok(highest <= BUDGET, "and nobody gets of it");
    ok(actuator[3].limit > MAX_UW / 2, "the others are steered all the same");
    unwritable = -1;
    steering_stop(s);
}

/* Nobody waits for a node that was never heard of, or no more. */
static void test_silent(int before)
{
    struct steering *s = start(POWER_PAIR);
    uint64_t kept, others;

    regions(s, before, -1);
    kept = limit_of(1);
    others = limit_of(3);
    regions(s, 60, 1);
    ok(actuator[1].limit == kept,
       "a node that does not report, after %d regions, keeps its limit",
       before);
    ok(actuator[3].limit > others && in_force() == BUDGET
           && steering_skew(s) < 2 * POWER_BOUND,
       "the others share theirs");
    steering_stop(s);
}

/* A program that never ticks runs as it would. */
static void test_unmetered(void)
{
    struct steering *s = prepare(POWER_PAIR);

    is_str(look(s, 9), "", "nothing is metered for 9 s: not a word");
    ok(strcmp(
           look(s, 1),
           "evenstep: warning: no progress was metered for 10 s: no limits "
           "are set until there is some, by a collective of all MPI ranks or "
           "by evenstep_tick(), see libevenstep(3)\n")
           == 0,
       "after 10 s it is told");
    is_str(look(s, 60), "", "once");
    ok(nobody_is_limited(), "and nothing was ever limited");
    begin(s);
    is_int((int)in_force(), BUDGET, "what ticks later on is steered");
    steering_stop(s);
    s = prepare(POWER_OFF);
    is_str(look(s, 60), "", "who did not ask for it is told nothing");
    steering_stop(s);
}

/* It may have ticked before. */
static void test_still(void)
{
    struct steering *s = start(POWER_PAIR);

    regions(s, 20, -1);
    is_str(look(s, 9), "", "no ticks for 9 s: not a word");
    ok(in_force() == BUDGET, "the limits stand");
    ok(strstr(look(s, 1), "no progress was metered for 10 s"),
       "none for 10 s: it is told");
    ok(nobody_is_limited(), "and what was found is put back on every node");
    is_str(steering_view(s, 0).unit, "", "nor does a view tell of a limit");
    begin(s);
    ok(in_force() == BUDGET, "it ticks again: the limits begin again");
    is_str(look(s, 19), "", "it has twice as long now, and is not told again");
    ok(in_force() == BUDGET, "the limits stand");
    is_str(look(s, 1), "", "no word");
    ok(nobody_is_limited(), "when they go once more");
    begin(s);
    regions(s, 30, -1);
    ok(steering_skew(s) < 2 * POWER_BOUND && highest == BUDGET,
       "steering goes on where it ticks");
    record[0].slots = 0;
    (void)look(s, 40);
    tell(s, 0);
    ok(nobody_is_limited(), "that all threads have ended is no progress");
    steering_stop(s);
}

/* MPI ranks that exchange with their neighbours only. */
static void test_loose(void)
{
    struct steering *s = prepare(POWER_PAIR);

    begin(s);
    is_str(look(s, 9), "", "ranks without a region for 9 s: not a word");
    tell(s, 0);
    ok(strstr(look(s, 6), "nothing is steered so far: in 15 s the program had "
                          "no blocking collective of all MPI ranks")
           != NULL,
       "after 15 s it is told");
    tell(s, 0);
    is_str(look(s, 9), "", "once");
    steering_stop(s);
}

/* The guard of each node has offered the most that it can have. */
static void test_uncapped(enum power_variant variant)
{
    struct steering *s;

    uncapped = 1;
    s = prepare(variant);
    begin(s);
    regions(s, 30, -1);
    ok(nobody_is_limited() && !steering_has_moved(s),
       "no cap: nobody is limited by %s",
       variant == POWER_PAIR ? "pair" : "boost");
    is_str(look(s, 60), "", "nor is anything said of progress");
    steering_stop(s);
    uncapped = 0;
}

#define EARLY 22 /* regions, of a second or less */

/* Without a cap those that wait are given less, by and by. */
static void test_save(void)
{
    struct steering *s;
    uint64_t early;

    uncapped = 1;
    s = prepare(POWER_SAVE);
    begin(s);
    regions(s, 10, -1);
    ok(nobody_is_limited(),
       "save: nobody, until the watts of before are counted");
    regions(s, EARLY - 10, -1);
    early = limit_of(0);
    ok(limit_of(3) == MAX_UW && early < MAX_UW && early > MAX_UW / 10 * 8,
       "after %d regions those that wait have a bit less: %.2f", EARLY,
       (double)early / MAX_UW);
    regions(s, 150, -1);
    is_near((double)limit_of(0), MAX_UW / 1.6, MAX_UW * 0.05,
            "after more, as much less as they wait");
    is_int((int)limit_of(3), MAX_UW, "who comes last has all");
    steering_stop(s);
    uncapped = 0;
}

/* The last node writes a file, for which the others wait, and then computes. */
static void test_no_cpu(void)
{
    struct steering *s;
    uint64_t saved;

    uncapped = 1;
    s = prepare(POWER_SAVE);
    begin(s);
    steering_note_cpu(s, 3, 1e9, 1e9);
    regions(s, EARLY + 54, -1);
    saved = limit_of(0);
    steering_note_cpu(s, 3, 2e9, 1.95e9);
    regions(s, 2, -1);
    ok(saved < MAX_UW / 10 * 8 && limit_of(0) < MAX_UW / 10 * 8,
       "who waits for computing has less: %.2f", (double)saved / MAX_UW);
    steering_note_cpu(s, 3, 3e9, 2.1e9);
    regions(s, 2, -1);
    ok(limit_of(0) < MAX_UW / 10 * 8, "likewise for something else");
    steering_note_cpu(s, 3, 4e9, 3.1e9);
    regions(s, 8, -1);
    ok(limit_of(0) < MAX_UW, "and it goes on");
    steering_stop(s);
    uncapped = 0;
}

/* A node whose guard comes late is limited like the others. */
static void test_late(void)
{
    struct steering *s =
        steering_start(NULL, "7.1", &config, POWER_PAIR, STEP_METER_CPU);

    if (!s)
        bail("no memory");
    memset(record, 0, sizeof record);
    for (size_t i = 0; i < NODES; i++)
        actuator_restore(&actuator[i]);
    begin(s);
    ok(nobody_is_limited(), "who has no limit to set is not asked");
    for (size_t i = 0; i < NODES; i++)
        say_power(s, i);
    answer_all(s);
    ok(in_force() == BUDGET, "who tells of one when others tick is");
    steering_stop(s);
}

/* The nodes 0 and 1 are in rack s1, 2 and 3 in s2; watts, 0: no budget. */
static struct steering *start_racks(double budget)
{
    for (size_t i = 0; i < NODES; i++)
        snprintf(named[i].rack, sizeof named[i].rack, "s%zu", i / 2 + 1);
    config.budgets = budget > 0;
    config.budget[0] = (struct config_budget){"s2", budget};
    return start(POWER_PAIR);
}

static void stop_racks(struct steering *s)
{
    steering_stop(s);
    config.budgets = 0;
    for (size_t i = 0; i < NODES; i++)
        named[i].rack[0] = '\0';
}

static void test_racks(void)
{
    struct steering *s = start_racks(0);

    regions(s, 30, -1);
    is_near((double)actuator[3].limit, BUDGET * 1.6 / 4.6, BUDGET * 0.02,
            "two racks: who has more to do has more, in the other's rack, too");
    ok(highest == BUDGET && in_force() == BUDGET, "the sum is kept");
    stop_racks(s);
    s = start_racks(105);
    regions(s, 30, -1);
    ok(highest_rack <= 105000000 && limit_of(2) + limit_of(3) > 104000000,
       "a rack gets its budget and was never above it");
    is_near((double)actuator[3].limit, 105e6 * 1.6 / 2.6, 2e6,
            "within it, too, who has more to do has more");
    ok(highest == BUDGET, "the sum is kept");
    steering_lost(s, 3);
    answer_all(s);
    ok(highest_rack <= 105000000, "its budget is kept when a node is lost");
    stop_racks(s);
}

static void test_tight_racks(void)
{
    struct steering *s = start_racks(105);

    unwritable = 2;
    regions(s, 20, -1);
    ok(highest_rack <= 105000000 && actuator[3].limit > MAX_UW / 2,
       "nor is it exceeded if a limit there cannot be lowered");
    unwritable = -1;
    stop_racks(s);
    s = start_racks(80);
    is_int((int)in_force(), BUDGET - 20000000,
           "a budget below the limits at the start: the rack begins with it");
    regions(s, 20, -1);
    ok(highest_rack == 80000000 && highest == BUDGET - 20000000,
       "and never has more");
    stop_racks(s);
}

static void test_nonsense(void)
{
    struct steering *s = start(POWER_PAIR);
    static const uint8_t few[] = {1, 2, 3};
    struct msg_limited m = {.limit = 5};
    struct writer w = {0};

    ok(!steering_message(s, 0, MSG_PROGRESS, few, sizeof few)
           && !steering_message(s, 0, MSG_POWER, few, sizeof few)
           && !steering_message(s, 0, MSG_DONE, few, 0),
       "what is not for it, or no message, is not taken");
    msg_write_limited(&w, &m);
    (void)steering_message(s, 0, MSG_LIMITED, w.buf, w.len);
    writer_clear(&w);
    ok(!TAILQ_FIRST(&queue), "an answer that nobody asked for changes nothing");
    steering_stop(s);
}

int main(void)
{
    open_nodes();
    test_steers(POWER_PAIR, "pair");
    test_steers(POWER_BOOST, "boost");
    is_int(orders, 2 * NODES, "every node is told to watch, once a step");
    test_off();
    test_lost();
    test_held();
    test_lost_with_more();
    test_returned();
    test_unwritable();
    test_silent(0);
    test_silent(1);
    test_unmetered();
    test_still();
    test_late();
    test_loose();
    test_uncapped(POWER_PAIR);
    test_uncapped(POWER_BOOST);
    test_save();
    test_no_cpu();
    test_racks();
    test_tight_racks();
    test_nonsense();
    close_nodes();
    return done();
}
