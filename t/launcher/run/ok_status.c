/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/ok_status.h"
#include "tap.h"

static const char *const bad[] = {"",     ",",   "0,",           "x",
                                  "256",  "-1",  "0;1",          "1 ",
                                  "0,,1", "1.0", "0,99999999999"};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ok_status s = {{7}};
        struct es_error err = {0};

        ok(ok_status_take(&s, bad[i], &err) == -1 && err.kind == ES_USAGE
               && strncmp(err.what, "--ok-status: \"", 14) == 0
               && s.is_ok[0] == 7,
           "\"%s\" is refused, and changes nothing", bad[i]);
    }
}

static void test_good(void)
{
    struct ok_status s = {{1}};
    struct es_error err = {0};
    int n = 0;

    ok(ok_status_take(&s, "1,255,1", &err) == 0, "a list of three");
    for (uint32_t i = 0; i < 256; i++)
        n += ok_status_is(&s, &(struct msg_done){.status = i});
    ok(n == 2 && ok_status_is(&s, &(struct msg_done){.status = 1})
           && ok_status_is(&s, &(struct msg_done){.status = 255}),
       "these two are right, and not 0");
    ok(!ok_status_is(&s, &(struct msg_done){.status = 257}),
       "nor what no exit status is");
    ok_status_take(&s, "0,126,137", &err);
    ok(!ok_status_is(&s, &(struct msg_done){.status = 137, .signal = 9}),
       "one that was killed is never right");
    ok(!ok_status_is(&s, &(struct msg_done){.status = 126, .exec_errno = 2}),
       "nor one that could not be started");
}

int main(void)
{
    test_bad();
    test_good();
    return done();
}
