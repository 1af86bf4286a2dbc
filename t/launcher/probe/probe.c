/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe.h"
#include "launcher/probe/probe_crew.h"
#include "own_entries.h"
#include "tree.h"

#include <sys/wait.h>
#include <time.h>

static char stand_ins[500];

/* A child that was killed is waited for 20 ms; on a busy machine it may take
 * longer to die, and then it is ours. */
static int children_end(void)
{
    const struct timespec pause = {0, 10000000};

    for (int i = 0; i < 1000; i++) {
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
            return 1;
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

static void test_results(void)
{
    struct probe_result r = {0};

    probe_measured(&r, (double)NAN, 0, "x");
    ok(r.state == PROBE_NOT_MEASURED && r.value == 0, "NaN is not measured");
    probe_measured(&r, -1, 0, "x");
    ok(r.state == PROBE_NOT_MEASURED, "nor is a negative number");
    probe_measured(&r, 1, (double)INFINITY, "x");
    ok(r.state == PROBE_NOT_MEASURED, "nor one of no known spread");
    probe_measured(&r, 1, 0, "a\tb\033%0300d", 7);
    ok(r.state == PROBE_MEASURED && probe_result_holds(&r)
           && strncmp(r.what, "a?b?000", 7) == 0
           && strlen(r.what) == PROBE_WHAT_MAX - 1,
       "a long and odd line is cut and made printable");
    r.what[3] = '\n';
    ok(!probe_result_holds(&r), "a result with a line feed does not hold");
    memset(r.what, 'x', sizeof r.what);
    ok(!probe_result_holds(&r), "nor one with an endless line");
    memset(&r, 0, sizeof r);
    ok(probe_result_holds(&r), "one that was left out does");
    r.value = 1;
    ok(!probe_result_holds(&r), "but not with a value");
    r = (struct probe_result){.state = PROBE_MEASURED, .seconds = -1};
    ok(!probe_result_holds(&r), "nor does a negative time");
    r = (struct probe_result){0};
    for (int e = 0; e < ELEMENT_SITE; e++)
        ok(probe_name(&r, (enum element)e)[0]
               && probe_unit(&r, (enum element)e)[0],
           "%c has a name and a unit: %s in %s",
           element_letter((enum element)e), probe_name(&r, (enum element)e),
           probe_unit(&r, (enum element)e));
}

static void test_budgets(void)
{
    static const int bad[] = {-1, 0, 199, 10001};
    struct probe_result r[ELEMENTS] = {{.count = 7}};
    struct probe_setup setup;
    struct es_error err;

    probe_setup_init(&setup);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setup.budget_ms = bad[i];
        err = (struct es_error){ES_OK, "", ""};
        ok(probe_node(&setup, r, &err) == -1 && err.kind == ES_USAGE
               && strstr(err.what, "out of range") && r[0].count == 7,
           "a budget of %d ms is refused, nothing changed", bad[i]);
    }
}

static void test_node(void)
{
    struct probe_result r[ELEMENTS];
    struct probe_setup setup;
    int before = own_entries("/proc/self/fd");

    probe_setup_init(&setup);
    setup.drivers = "/nowhere";
    setup.sysfs = tree_root; /* which has no card either */
    is_int(probe_node(&setup, r, NULL), 0, "this node is probed");
    for (int e = 0; e < ELEMENT_SITE; e++) {
        ok(r[e].state != PROBE_LEFT_OUT && probe_result_holds(&r[e])
               && r[e].what[0],
           "%s is measured, or it is said why not",
           probe_name(&r[e], (enum element)e));
        diag("%.3g %s +- %.0f %%, %.3f s: %s", r[e].value,
             probe_unit(&r[e], (enum element)e), 100 * r[e].spread,
             r[e].seconds, r[e].what);
    }
    ok(r[ELEMENT_C].state == PROBE_MEASURED && r[ELEMENT_C].value > 0.01,
       "it computes");
    ok(r[ELEMENT_G].state == PROBE_MEASURED && r[ELEMENT_G].value == 0,
       "no GPU is a result");
    is_int(own_entries("/proc/self/fd"), before, "no file is left open");
    ok(children_end(), "and no child behind");
}

static void test_some(void)
{
    struct probe_result r[ELEMENTS];
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.elements = PROBE_BIT(ELEMENT_I);
    setup.budget_ms = 200;
    is_int(probe_node(&setup, r, NULL), 0, "one element is asked for");
    for (int e = 0; e < ELEMENTS; e++)
        ok((r[e].state != PROBE_LEFT_OUT) == (e == ELEMENT_I), "%s is %s",
           probe_name(&r[e], (enum element)e),
           e == ELEMENT_I ? "done" : "left out");
}

static void test_site(void)
{
    struct probe_site site[SITE_ELEMENTS] = {
        [1] = {"seats", "", "echo 12", 0, 1000},
        [3] = {"lag", "ms", "exec sleep 1000", 1, 200}};
    const enum element x = ELEMENT_SITE + 1, z = ELEMENT_SITE + 3;
    struct probe_result r[ELEMENTS];
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.elements = PROBE_BIT(x) | PROBE_BIT(z);
    setup.site = site;
    is_int(probe_node(&setup, r, NULL), 0, "two elements of the site's");
    ok(r[x].value == 12 && strcmp(r[x].name, "seats") == 0, "one is measured");
    ok(r[z].state == PROBE_NOT_MEASURED && strcmp(r[z].name, "lag") == 0
           && strstr(r[z].what, "longer than 200 ms"),
       "one hangs, and is named all the same");
    ok(r[ELEMENT_C].state == PROBE_LEFT_OUT && r[x + 1].state == PROBE_LEFT_OUT,
       "nothing else is");
}

/* G by a driver that does not behave, beside S, which does. */
static void test_bad_driver(const char *behaviour, const char *why)
{
    struct probe_result r[ELEMENTS];
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.elements = PROBE_BIT(ELEMENT_G) | PROBE_BIT(ELEMENT_I);
    setup.budget_ms = 200;
    setup.sysfs = tree_root;
    setup.drivers = stand_ins;
    setenv("STAND_IN_GPU", behaviour, 1);
    is_int(probe_node(&setup, r, NULL), 0, behaviour);
    ok(r[ELEMENT_G].state == PROBE_NOT_MEASURED
           && strstr(r[ELEMENT_G].what, why),
       "it is not measured: %s", why);
    ok(r[ELEMENT_G].count == 2 && r[ELEMENT_G].capacity_bytes == 128 << 20,
       "what there is of it is known all the same");
    ok(r[ELEMENT_G].seconds > 0, "the time it took is told");
    ok(r[ELEMENT_I].state == PROBE_MEASURED, "the others are measured");
    ok(children_end(), "its process has ended");
}

/* One that does not compute, but has copied. */
static void test_bad_kernel(const char *behaviour)
{
    struct probe_result r[ELEMENTS];
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.elements = PROBE_BIT(ELEMENT_G);
    setup.budget_ms = 400;
    setup.drivers = stand_ins;
    setenv("STAND_IN_GPU", behaviour, 1);
    is_int(probe_node(&setup, r, NULL), 0, behaviour);
    ok(r[ELEMENT_G].state == PROBE_MEASURED && r[ELEMENT_G].value > 0.01
           && r[ELEMENT_G].compute <= 0
           && strstr(r[ELEMENT_G].what,
                     "computing not measured: the kernel has not ended"),
       "it is measured as far as it came: %s", r[ELEMENT_G].what);
    ok(children_end(), "its process has ended");
}

/* One whose process takes longer to end than we wait for that. */
static void test_slow_end(void)
{
    struct probe_result r[ELEMENTS];
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.elements = PROBE_BIT(ELEMENT_G);
    setup.budget_ms = 400;
    setup.drivers = stand_ins;
    setenv("STAND_IN_GPU", "lingers", 1);
    is_int(probe_node(&setup, r, NULL), 0, "a process that ends slowly");
    ok(r[ELEMENT_G].compute > 0, "all it has measured counts: %s",
       r[ELEMENT_G].what);
    ok(children_end(), "its process has ended");
}

int main(void)
{
    const char *build = getenv("EVENSTEP_BUILD");

    snprintf(stand_ins, sizeof stand_ins, "%s/t/drivers/nvidia",
             build ? build : "build");
    tree_make();
    test_results();
    test_budgets();
    test_node();
    test_some();
    test_site();
    if (access(stand_ins, R_OK) < 0)
        bail("%s is not built", stand_ins);
    tree_put("class/net/e0/type", "1\n");
    tree_put("class/net/e0/device/vendor", "0x8086\n");
    tree_put("class/net/e0/operstate", "up\n");
    tree_put("class/net/e0/speed", "1000\n");
    test_bad_driver("hang,devices=2", "no result after 0.");
    test_bad_driver("crash,devices=2", "ended by signal 11");
    test_bad_kernel("hang-kernel");
    test_bad_kernel("crash-kernel");
    test_slow_end();
    tree_remove();
    return done();
}
