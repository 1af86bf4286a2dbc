/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By a stand-in for the driver library, t/programs/libcuda.c.
 */
#include "launcher/probe/probe_gpu.h"
#include "launcher/probe/probe.h"
#include "tap.h"

static char library[500];

static struct probe_result measure(const char *behaviour, int budget_ms)
{
    struct probe_setup setup;
    struct probe_result r = {0};

    probe_setup_init(&setup);
    setup.cuda = library;
    setenv("STAND_IN_CUDA", behaviour, 1);
    probe_gpu_measure(&setup, budget_ms, &r);
    return r;
}

static void test_none(void)
{
    struct probe_setup setup;
    struct probe_result r = {0};

    probe_setup_init(&setup);
    setup.cuda = "libno-such-driver.so.1";
    probe_gpu_measure(&setup, 50, &r);
    ok(r.state == PROBE_MEASURED && r.value == 0 && r.count == 0,
       "without a driver library there is no GPU: 0, measured");
    is_str(r.what, "no GPU: there is no libno-such-driver.so.1", "and said");
    r = measure("devices=0", 50);
    ok(r.state == PROBE_MEASURED && r.value == 0
           && strstr(r.what, "has none for us"),
       "a driver without a device is 0, too");
    r = measure("init=100", 50);
    ok(r.state == PROBE_MEASURED && r.value == 0
           && strstr(r.what, "has none for us"),
       "also if it calls that an error");
}

static void test_other_library(void)
{
    struct probe_setup setup;
    struct probe_result r = {0};

    probe_setup_init(&setup);
    setup.cuda = "libm.so.6";
    probe_gpu_measure(&setup, 50, &r);
    ok(r.state == PROBE_NOT_MEASURED && strstr(r.what, "is too old"),
       "a library that lacks what we need is not measured");
}

static void test_devices(void)
{
    struct probe_result r = measure("devices=1", 60);

    ok(r.state == PROBE_MEASURED && r.value > 0.01, "one device is measured");
    is_int((long)r.capacity_bytes, 64 << 20, "its memory");
    is_str(r.what, "1 x Stand-in H1, 0.1 GB in all; 1 measured", "its name");
    diag("%.1f GB/s +- %.0f %%", r.value, 100 * r.spread);
    r = measure("devices=3", 90);
    ok(r.state == PROBE_MEASURED && r.count == 3
           && r.capacity_bytes == 3 * (64 << 20)
           && strstr(r.what, "3 x Stand-in"),
       "three count together");
    r = measure("devices=3", 0);
    ok(r.state == PROBE_MEASURED && r.count == 3 && r.value > 0.01
           && strstr(r.what, "; 1 measured"),
       "without time one is measured and stands for the others");
    r = measure("huge", 20);
    ok(r.state == PROBE_MEASURED && probe_result_holds(&r),
       "huge numbers stay numbers");
    r = measure("name", 20);
    ok(probe_result_holds(&r) && strstr(r.what, "Stand-in?H1"),
       "a name that would break the line does not");
}

static void test_errors(void)
{
    struct probe_result r = measure("init=999", 20);

    ok(r.state == PROBE_NOT_MEASURED
           && strstr(r.what, "the driver says CUDA_ERROR_UNKNOWN"),
       "a driver that does not start is not measured, by its own word");
    r = measure("init=803", 20);
    ok(r.state == PROBE_NOT_MEASURED
           && strstr(r.what, "an error without a name"),
       "or without one");
    r = measure("alloc=2", 20);
    ok(r.state == PROBE_NOT_MEASURED && r.value == 0
           && strstr(r.what, "GPU 0 of 1 (Stand-in H1): the driver says "
                             "CUDA_ERROR_OUT_OF_MEMORY"),
       "a device that is full is named");
}

int main(void)
{
    const char *build = getenv("EVENSTEP_BUILD");

    if (!build)
        skip_all("run by make check, which says where the stand-in is");
    snprintf(library, sizeof library, "%s/t/programs/libcuda.so", build);
    if (access(library, R_OK) < 0)
        bail("%s is not built", library);
    test_none();
    test_other_library();
    test_devices();
    test_errors();
    return done();
}
