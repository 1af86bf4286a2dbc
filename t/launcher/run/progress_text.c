/* SPDX-License-Identifier: BSD-2-Clause */
/* What the progress line says, at every width, and the lines of a log. */
#include "launcher/run/progress_text.h"

#include "tap.h"

static const struct tally_now middle = {.frame = 1,
                                        .frames = 6,
                                        .done = 1080,
                                        .all = 4320,
                                        .rate = 58.34,
                                        .left = 55.5};

static void bar_is(size_t columns, const char *want)
{
    char text[PROGRESS_TEXT];

    progress_text_bar(text, columns, &middle, 0.934);
    tap_str(text, want, __FILE__, __LINE__, want);
}

static void widths(void)
{
    bar_is(199, "[#####...............] frame 2 of 6, 1080/4320 units, 58.3/s, "
                "0:56 left, efficiency 0.93");
    bar_is(79, "[##.........] frame 2 of 6, 1080/4320 units, 58.3/s, 0:56 "
               "left, efficiency 0.93");
    bar_is(74,
           "[#####...............] frame 2 of 6, 1080/4320 units, 58.3/s, 0:56 "
           "left");
    bar_is(51, "[##......] frame 2 of 6, 1080/4320 units, 0:56 left");
    bar_is(50, "frame 2 of 6, 1080/4320 units, 0:56 left");
    bar_is(39, "frame 2 of 6, 0:56 left");
    bar_is(22, "frame 2 of 6");
    bar_is(7, "frame 2");
    bar_is(0, "");
}

/* Whatever there is to say, and however little room. */
static void never_wider(void)
{
    struct tally_now s = {.frame = UINT64_MAX - 1,
                          .frames = UINT64_MAX,
                          .done = UINT64_MAX,
                          .all = UINT64_MAX,
                          .rate = 1e300,
                          .left = 1e300};
    char text[PROGRESS_TEXT];
    size_t columns;

    for (columns = 0; columns <= 1000; columns++) {
        progress_text_bar(text, columns, columns % 2 ? &s : &middle, 1);
        if (strlen(text) > columns)
            break;
    }
    is_int((intmax_t)columns, 1001, "no line is wider than it may be");
}

static void little_known(void)
{
    struct tally_now s = {.all = 10, .left = -1};
    char text[PROGRESS_TEXT];

    progress_text_bar(text, 79, &s, -1);
    is_str(text, "[....................] frame 1, 0/10 units",
           "of a queue at its begin nothing else is known");
    progress_text_running(text, &s);
    is_str(text, "frame 1: 0 of 10 units", "nor in a log");
    s = (struct tally_now){.frame = 6, .frames = 6, .done = 60, .all = 60};
    progress_text_bar(text, 79, &s, 1);
    is_str(text,
           "[####################] frame 6 of 6, 60/60 units, 0:00 left, "
           "efficiency 1.00",
           "at the end there is no seventh of six");
}

static void rate_is(double rate, const char *want)
{
    struct tally_now s = {.all = 1, .rate = rate, .left = -1};
    char text[PROGRESS_TEXT];

    progress_text_running(text, &s);
    tap_str(strrchr(text, ',') + 2, want, __FILE__, __LINE__, want);
}

static void rates(void)
{
    rate_is(0.00123, "0.00123 units/s");
    rate_is(0.123, "0.12 units/s");
    rate_is(9.99, "9.99 units/s");
    rate_is(9.999, "10.0 units/s");
    rate_is(99.99, "100 units/s");
    rate_is(999999, "999999 units/s");
    rate_is(1234567.8, "1.23e+06 units/s");
}

static void log_lines(void)
{
    struct progress_frames f = {
        .first = 1,
        .last = 1,
        .n = 1,
        .sum = {.time = 1.2341, .ideal = 1.1526, .equal = 3.4564}};
    char text[PROGRESS_TEXT];

    progress_text_running(text, &middle);
    is_str(text, "frame 2 of 6: 1080 of 4320 units, 58.3 units/s, 0:56 left",
           "a frame that takes long");
    progress_text_frames(text, &f, &middle);
    is_str(text,
           "frame 2 of 6: 1.234 s, efficiency 0.93, ideal 1.153 s, equal parts "
           "3.456 s",
           "a frame that has ended");
    f.adjusted = 1;
    progress_text_frames(text, &f, &middle);
    ok(strstr(text, "3.456 s, adjusted"), "and the loads were adjusted");
    f = (struct progress_frames){
        .first = 1, .last = 4, .n = 4, .sum = {.time = 5, .ideal = 2.5}};
    progress_text_frames(text, &f, &middle);
    is_str(text, "frames 2 to 5 of 6: mean 1.250 s, efficiency 0.50, 0:56 left",
           "several together");
    f.overlap = 1;
    progress_text_frames(text, &f, &middle);
    is_str(
        text,
        "frames 2 to 5 of 6: after 5.000 s, efficiency so far 0.50, 0:56 left",
        "several that overlap: the run so far");
    f.n = 1;
    progress_text_frames(text, &f, &middle);
    is_str(
        text,
        "frame 2 of 6: after 5.000 s, efficiency so far 0.50, ideal 2.500 s, "
        "equal parts 0.000 s",
        "and one of them");
}

static void accounts(void)
{
    struct account_result r = {.time = 31.2,
                               .ideal = 28.7,
                               .equal = 90.1,
                               .part = {[ACCOUNT_RESTARTS] = 1.1,
                                        [ACCOUNT_WAITING] = 0.9,
                                        [ACCOUNT_WIRE] = 0.02,
                                        [ACCOUNT_SLOWER] = 0.5}};
    char text[PROGRESS_TEXT];

    progress_text_account(text, &r);
    is_str(text,
           "ideal 28.70 s; the rest: restarts 1.100 s, waiting 0.900 s, slower "
           "0.500 s; equal parts 90.10 s",
           "a run: what is not even a thousandth is not told");
    ok(!progress_text_advice(text, &r, NULL),
       "no advice where no part is a tenth of the time");
    r.time = 10;
    ok(progress_text_advice(text, &r, NULL) && strstr(text, "11 % of the time")
           && strstr(text, "--persistent"),
       "else it is of the largest part");
    r.part[ACCOUNT_WAITING] = 5;
    ok(progress_text_advice(text, &r, NULL) && strstr(text, "smaller units"),
       "who waits needs smaller units ...");
    ok(progress_text_advice(text, &r, "static")
           && strstr(text, "the policy static decided: leave it"),
       "... or no policy that was named");
    r.time = r.part[ACCOUNT_WAITING] = 0.5;
    r.part[ACCOUNT_RESTARTS] = 0;
    ok(!progress_text_advice(text, &r, NULL), "nor of less than a second");
    r = (struct account_result){.time = 1, .ideal = 1, .equal = 2};
    progress_text_account(text, &r);
    is_str(text, "ideal 1.000 s; equal parts 2.000 s", "without a rest");
    progress_text_run(text, 3, 1.5, &r);
    is_str(text, "3 frames in 1.50 s, efficiency 1.000", "the whole run");
    r = (struct account_result){.time = 1.5};
    progress_text_run(text, 1, 1.5, &r);
    is_str(text, "1 frame in 1.50 s", "no efficiency of nothing");
    progress_text_frames(
        text, &(struct progress_frames){.n = 1, .first = 1, .sum = r},
        &(struct tally_now){.left = -1});
    is_str(text, "frame 2: 1.500 s", "nor of a frame");
    r = (struct account_result){.time = 1e308, .ideal = 1e308, .equal = 1e308};
    for (enum account_part i = 0; i < ACCOUNT_PARTS; i++)
        r.part[i] = 1e308;
    progress_text_account(text, &r);
    ok(strlen(text) < PROGRESS_TEXT, "numbers without end are cut");
}

int main(void)
{
    widths();
    never_wider();
    little_known();
    rates();
    log_lines();
    accounts();
    return done();
}
