/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By stand-ins for the drivers' libraries, t/drivers.
 */
#include "launcher/probe/probe_gpu.h"
#include "launcher/probe/probe.h"
#include "tree.h"

static char stand_ins[400];

struct maker {
    const char *name, *folder; /* of its stand-ins, and before "-old" */
    const char *mask; /* the variable that leaves a step some of them */
    const char *library;
    const char *needed, *computing; /* what -old and -bare lack */
    const char *fails, *says;       /* an error of a start, its name */
    const char *full, *is_full;     /* of an allocation */
    const char *no_compiler, *has_no_compiler; /* of the kernel */
    const char *nameless;                      /* an error without a name */
};

static const struct maker makers[] = {
    {"NVIDIA", "nvidia", "CUDA_VISIBLE_DEVICES", "libcuda.so.1",
     "cuMemAlloc_v2", "cuModuleLoadData", "init=999", "CUDA_ERROR_UNKNOWN",
     "alloc=2", "CUDA_ERROR_OUT_OF_MEMORY", "build=221",
     "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "init=803"},
    {"AMD", "amd", "ROCR_VISIBLE_DEVICES", "libamdhip64.so.6", "hipMalloc",
     "hipModuleLoadData", "init=3", "hipErrorNotInitialized", "alloc=2",
     "hipErrorOutOfMemory", "build=209", "hipErrorNoBinaryForGpu", "init=803"},
    {"Intel", "intel", "ZE_AFFINITY_MASK", "libze_loader.so.1",
     "zeMemAllocDevice", "zeModuleCreate", "init=1879048193",
     "ZE_RESULT_ERROR_DEVICE_LOST", "alloc=1879048195",
     "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "build=1879048196",
     "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE", "init=803"},
};

/* version: "", "-old" or "-bare" */
static struct probe_result measure(const struct maker *m,
                                   const char *version,
                                   const char *behaviour,
                                   int budget_ms)
{
    struct probe_result r = {0};
    struct probe_setup setup;
    char folder[500];

    snprintf(folder, sizeof folder, "%s/%s%s", stand_ins, m->folder, version);
    probe_setup_init(&setup);
    setup.drivers = folder;
    setup.sysfs = tree_root;
    setenv("STAND_IN_GPU", behaviour, 1);
    probe_gpu_measure(&setup, budget_ms, &r);
    diag("%s%s, %s: %s", m->folder, version, behaviour, r.what);
    return r;
}

static int is_unmeasured(const struct probe_result *r, const char *why)
{
    return r->state == PROBE_NOT_MEASURED && r->value <= 0 && r->compute <= 0
           && strstr(r->what, why);
}

static struct probe_result measure_by(const char *drivers)
{
    struct probe_result r = {0};
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.drivers = drivers;
    setup.sysfs = tree_root;
    probe_gpu_measure(&setup, 50, &r);
    return r;
}

static void test_no_library(void)
{
    struct probe_result r = measure_by("/nowhere");

    ok(r.state == PROBE_MEASURED && r.value <= 0 && r.count == 0
           && r.compute <= 0,
       "without a driver's library or a card there is no GPU: 0, measured");
    is_str(r.what, "no GPU: there is no driver's library", "and said");
    tree_put("bus/pci/devices/0000:01:00.0/class", "0x030000\n");
    tree_put("bus/pci/devices/0000:01:00.0/vendor", "0x1002\n");
    r = measure_by("/nowhere");
    ok(r.state == PROBE_MEASURED && r.value <= 0,
       "also with what only drives a screen");
    tree_put("bus/pci/devices/0000:00:02.0/class", "0x038000\n");
    tree_put("bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
    r = measure_by("/nowhere");
    ok(r.state == PROBE_MEASURED && r.value <= 0,
       "and with graphics inside of a processor");
    tree_put("bus/pci/devices/0000:41:00.0/class", "0x030200\n");
    tree_put("bus/pci/devices/0000:41:00.0/vendor", "0x10de\n");
    r = measure_by("/nowhere");
    ok(is_unmeasured(&r, "NVIDIA: there is a card at 0000:41:00.0, but no "
                         "libcuda.so.1: install the driver's libraries"),
       "but a card that computes is not measured without its library: %s",
       r.what);
    tree_put("bus/pci/devices/0000:41:00.0/vendor", "0x1a03\n");
}

/* What is there but cannot be loaded. */
static void test_bad_library(void)
{
    struct probe_result r;
    char file[60], folder[500];

    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        snprintf(file, sizeof file, "drivers%zu/%s", i, makers[i].library);
        tree_put(file, "no library\n");
        snprintf(folder, sizeof folder, "%.400s/drivers%zu", tree_root, i);
        r = measure_by(folder);
        ok(is_unmeasured(&r, makers[i].name),
           "a file that is no library is named: %s", r.what);
    }
}

static void test_versions(const struct maker *m)
{
    struct probe_result r = measure(m, "-old", "devices=1", 40);
    char want[200];

    snprintf(want, sizeof want, "%s: %s is of another version, without %s",
             m->name, m->library, m->needed);
    ok(is_unmeasured(&r, want), "a library without what we need is named");
    r = measure(m, "-bare", "devices=1", 40);
    snprintf(want, sizeof want, "computing not measured: %s lacks %s",
             m->library, m->computing);
    ok(r.state == PROBE_MEASURED && r.value > 0.01 && r.compute <= 0
           && strstr(r.what, want),
       "one without what computing needs copies, and says so");
}

static void test_devices(const struct maker *m)
{
    struct probe_result r = measure(m, "", "devices=0", 50);

    ok(r.state == PROBE_MEASURED && r.value <= 0
           && strstr(r.what, "has none for us"),
       "a driver without a device is 0");
    r = measure(m, "", "devices=1", 60);
    ok(r.state == PROBE_MEASURED && r.value > 0.01 && r.count == 1,
       "one device is measured");
    is_int((long)r.capacity_bytes, 64 << 20, "its memory");
    ok(r.compute > 0 && r.compute < 16800,
       "it computes at no more than its rate: %.0f", r.compute);
    ok(strstr(r.what, "1 x Stand-in H1, 0.1 GB in all; 1 measured; ")
           && strstr(r.what, " Gflop/s"),
       "all of it is said");
    r = measure(m, "", "devices=3", 90);
    ok(r.state == PROBE_MEASURED && r.count == 3
           && r.capacity_bytes == 3 * (64 << 20)
           && strstr(r.what, "3 x Stand-in"),
       "three count together");
    r = measure(m, "", "devices=3", 0);
    ok(r.state == PROBE_MEASURED && r.count == 3 && r.value > 0.01
           && r.compute > 0 && strstr(r.what, "; 1 measured; "),
       "without time one is measured and stands for the others");
    r = measure(m, "", "huge", 20);
    ok(r.state == PROBE_MEASURED && probe_result_holds(&r)
           && r.capacity_bytes < INT64_MAX / 2,
       "huge numbers stay numbers");
    r = measure(m, "", "name", 20);
    ok(probe_result_holds(&r) && strstr(r.what, "Stand-in?H1"),
       "a name that would break the line does not");
}

static void test_mask(const struct maker *m)
{
    struct probe_result r;

    setenv(m->mask, "1", 1);
    r = measure(m, "", "devices=3", 40);
    ok(r.state == PROBE_MEASURED && r.count == 1
           && r.capacity_bytes == 64 << 20,
       "%s leaves one of three", m->mask);
    setenv(m->mask, "NoDevFiles", 1);
    r = measure(m, "", "devices=3", 40);
    ok(r.state == PROBE_MEASURED && r.value <= 0 && r.count == 0,
       "or none, which is 0");
    unsetenv(m->mask);
}

static void test_errors(const struct maker *m)
{
    struct probe_result r = measure(m, "", m->fails, 20);
    char want[200];

    snprintf(want, sizeof want, "%s: the driver says %s", m->name, m->says);
    ok(is_unmeasured(&r, want),
       "a driver that does not start is not measured, by its own word");
    r = measure(m, "", m->nameless, 20);
    ok(is_unmeasured(&r, "the driver says error "), "or by a number");
    r = measure(m, "", m->full, 20);
    snprintf(want, sizeof want,
             "%s GPU 0 of 1 (Stand-in H1): the driver says %s", m->name,
             m->is_full);
    ok(is_unmeasured(&r, want), "a device that is full is named");
    r = measure(m, "", m->no_compiler, 20);
    snprintf(want, sizeof want, "computing not measured: the driver says %s",
             m->has_no_compiler);
    ok(r.state == PROBE_MEASURED && r.value > 0.01 && r.compute <= 0
           && strstr(r.what, want),
       "a driver without its compiler copies, and says why it does not "
       "compute");
    r = measure(m, "", "wrong", 20);
    ok(r.state == PROBE_MEASURED && r.compute <= 0
           && strstr(r.what, "the kernel has computed 7, not 8"),
       "a device that computes wrong is not fast, but wrong");
}

/* What the driver does not say, its library that only watches does. */
static void test_nvidia_watch(void)
{
    const struct maker *nvidia = &makers[0];
    struct probe_result r = measure(nvidia, "", "init=999,devices=2", 20);

    ok(is_unmeasured(&r, "CUDA_ERROR_UNKNOWN") && r.count == 2
           && r.capacity_bytes == 2 * (64 << 20),
       "of a driver that fails count and memory are known by NVML");
    setenv(nvidia->mask, "1,GPU-8f2a", 1);
    r = measure(nvidia, "", "init=999,devices=4", 20);
    ok(r.count == 2 && r.capacity_bytes == 2 * (64 << 20),
       "of those that are ours, by number and UUID");
    setenv(nvidia->mask, "NoDevFiles", 1);
    r = measure(nvidia, "", "init=999,devices=4", 20);
    ok(r.count == 0 && r.capacity_bytes == 0, "which may be none");
    unsetenv(nvidia->mask);
}

static void test_amd(void)
{
    const struct maker *amd = &makers[1];
    struct probe_result r = measure(amd, "", "init=3,devices=2", 20);

    ok(is_unmeasured(&r, "hipErrorNotInitialized") && r.count == 2
           && r.capacity_bytes == 2 * (64 << 20),
       "and by ROCm SMI");
    setenv(amd->mask, "3,GPU-0000000000008f01,0", 1);
    setenv("HIP_VISIBLE_DEVICES", "1,2", 1);
    r = measure(amd, "", "init=3,devices=4", 20);
    ok(r.count == 2 && r.capacity_bytes == 2 * (64 << 20),
       "of those that two variables leave");
    setenv(amd->mask, "GPU-0000000000008f09", 1);
    unsetenv("HIP_VISIBLE_DEVICES");
    r = measure(amd, "", "init=3,devices=4", 20);
    ok(r.capacity_bytes == 0, "an id that none has is not counted");
    unsetenv(amd->mask);
    r = measure(amd, "", "compile=6", 20);
    ok(r.state == PROBE_MEASURED && r.compute <= 0
           && strstr(r.what, "computing not measured: the compiler says "
                             "HIPRTC_ERROR_COMPILATION"),
       "a compiler that fails is named");
}

static void test_intel(void)
{
    struct probe_result r =
        measure(&makers[2], "", "init=2013265921", 20); /* 0x78000001 */

    ok(r.state == PROBE_MEASURED && r.value <= 0
           && strstr(r.what, "has none for us"),
       "a loader that finds no driver is no GPU");
}

/* Two makers' cards in a node. */
static void test_both(void)
{
    struct probe_result r;
    char folder[500], from[600];

    tree_put("both/note", "\n");
    for (int m = 0; m < 2; m++) {
        snprintf(from, sizeof from, "%s/%s/%s", stand_ins, makers[2 * m].folder,
                 makers[2 * m].library);
        snprintf(folder, sizeof folder, "%.400s/both/%.20s", tree_root,
                 makers[2 * m].library);
        if (symlink(from, folder) < 0)
            bail("no link %s", folder);
    }
    setenv("STAND_IN_GPU", "devices=2", 1);
    snprintf(folder, sizeof folder, "%.400s/both", tree_root);
    r = measure_by(folder);
    ok(r.state == PROBE_MEASURED && r.count == 4
           && r.capacity_bytes == 4 * (64 << 20) && r.compute > 0
           && strstr(r.what, "2 x Stand-in H1 and 2 more"),
       "GPUs of two makers count together: %s", r.what);
    setenv("STAND_IN_GPU", "devices=2,init=1879048193", 1);
    r = measure_by(folder);
    ok(is_unmeasured(&r, "NVIDIA: the driver says"),
       "where both fail the first is named");
}

int main(void)
{
    const char *build = getenv("EVENSTEP_BUILD");

    if (!build)
        skip_all("run by make check, which says where the stand-ins are");
    snprintf(stand_ins, sizeof stand_ins, "%s/t/drivers", build);
    if (access(stand_ins, R_OK) < 0)
        bail("%s is not built", stand_ins);
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        unsetenv(makers[i].mask);
    tree_make();
    test_no_library();
    test_bad_library();
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        test_versions(&makers[i]);
        test_devices(&makers[i]);
        test_mask(&makers[i]);
        test_errors(&makers[i]);
    }
    test_nvidia_watch();
    test_amd();
    test_intel();
    test_both();
    tree_remove();
    return done();
}
