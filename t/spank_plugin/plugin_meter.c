/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a task's LD_PRELOAD. */
#include "spank_plugin/plugin_meter.h"
#include "fake_spank.h"
#include "spank_plugin/plugin_options.h"
#include "tap.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], library[96], page[96], launcher_is[96];

static void touch(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f || fclose(f) != 0)
        bail("cannot write %s", path);
}

static void set(const char *name, const char *value)
{
    if (spank_setenv(&fake_spank.handle, name, value, 1) != ESPANK_SUCCESS)
        bail("no room for %s", name);
}

/* A task whose environment the agent has made. */
static void prepare(const char *meter)
{
    fake_spank_clear();
    fake_spank.context = S_CTX_REMOTE;
    set("EVENSTEP_DIR", dir);
    if (meter)
        set("EVENSTEP_METER", meter);
}

static const char *preloaded(void)
{
    plugin_meter_preload(&fake_spank.handle);
    return fake_spank_env("LD_PRELOAD");
}

static void test_wanted(void)
{
    prepare("mpi");
    is_str(preloaded(), library, "the library is preloaded");
    is_str(fake_spank_env("ASAN_OPTIONS"), "verify_asan_link_order=0",
           "AddressSanitizer is told to let it be first");
    is_int(fake_spank.errors, 0, "and nothing is said");
    prepare("cpu");
    ok(!preloaded(), "not for the meter cpu");
    prepare("none");
    ok(!preloaded(), "nor for none");
    prepare(NULL);
    ok(!preloaded(), "nor if the agent does not say");
    prepare("mpi and more than fits");
    ok(!preloaded(), "nor by a word that is none");
    prepare("mpi");
    (void)spank_unsetenv(&fake_spank.handle, "EVENSTEP_DIR");
    ok(!preloaded(), "nor without a step directory");
    (void)unlink(page);
    prepare("mpi");
    ok(!preloaded() && fake_spank.errors == 0, "nor without a page");
    touch(page);
}

static void test_added(void)
{
    static char long_list[4 * PATH_MAX + 1];
    char want[256];

    prepare("mpi");
    set("LD_PRELOAD", "/a.so /b.so");
    snprintf(want, sizeof want, "%s:/a.so /b.so", library);
    is_str(preloaded(), want, "it stands before what the user has");
    is_str(preloaded(), want, "and is not added again");
    snprintf(want, sizeof want, "/a.so %s", library);
    prepare("mpi");
    set("LD_PRELOAD", want);
    is_str(preloaded(), want, "wherever it is");
    snprintf(want, sizeof want, "%s.1", library);
    prepare("mpi");
    set("LD_PRELOAD", want);
    ok(strlen(preloaded()) > strlen(want), "another of a like name is not it");
    prepare("mpi");
    set("LD_PRELOAD", "");
    set("ASAN_OPTIONS", "verify_asan_link_order=1:color=never");
    is_str(preloaded(), library, "an empty list becomes it");
    is_str(fake_spank_env("ASAN_OPTIONS"),
           "verify_asan_link_order=0:verify_asan_link_order=1:color=never",
           "what the user tells AddressSanitizer holds");
    memset(long_list, 'x', sizeof long_list - 1);
    prepare("mpi");
    set("LD_PRELOAD", long_list);
    is_str(preloaded(), long_list, "a list that is too long stays");
    ok(fake_spank.errors == 1 && strstr(fake_spank.said, "LD_PRELOAD"),
       "which is said");
    prepare("mpi");
    set("ASAN_OPTIONS", long_list);
    ok(!preloaded() && fake_spank.errors == 1
           && strstr(fake_spank.said, "ASAN_OPTIONS"),
       "so is one that AddressSanitizer has");
}

static void test_missing(void)
{
    (void)unlink(library);
    if (access("/usr/local/lib/evenstep/libevenstep-mpi.so", F_OK) == 0) {
        skip("a missing library", "it is installed");
        return;
    }
    prepare("mpi");
    set("LD_PRELOAD", "/a.so");
    is_str(preloaded(), "/a.so", "without the library nothing is changed");
    ok(fake_spank.errors == 1 && strstr(fake_spank.said, "libevenstep-mpi.so")
           && strstr(fake_spank.said, "is missing"),
       "one line says so");
    fake_spank.errors = 0;
    fake_spank.task = 1;
    (void)preloaded();
    is_int(fake_spank.errors, 0, "of each node");
}

static void test_path(void)
{
    char odd[96], in_odd[128], link[96], argument[128], *av = argument;

    snprintf(odd, sizeof odd, "%s/a b", dir);
    snprintf(in_odd, sizeof in_odd, "%s/evenstep", odd);
    snprintf(link, sizeof link, "%s/link", dir);
    if (mkdir(odd, 0700) < 0 || symlink(in_odd, link) < 0)
        bail("no directory");
    touch(in_odd);
    snprintf(argument, sizeof argument, "launcher=%s", link);
    plugin_options_set_arguments(1, &av, 1);
    touch(library);
    prepare("mpi");
    ok(!preloaded(), "a link to the program: it is looked for beside that");
    snprintf(in_odd, sizeof in_odd, "%s/libevenstep-mpi.so", odd);
    touch(in_odd);
    prepare("mpi");
    ok(!preloaded() && strstr(fake_spank.said, "a blank or a colon"),
       "a path that LD_PRELOAD would cut is refused");
    (void)unlink(in_odd);
    snprintf(in_odd, sizeof in_odd, "%s/evenstep", odd);
    (void)unlink(in_odd);
    (void)unlink(link);
    (void)rmdir(odd);
}

int main(void)
{
    char *av = launcher_is;

    snprintf(dir, sizeof dir, "/tmp/plugin-meter-XXXXXX");
    if (!mkdtemp(dir))
        bail("no directory");
    snprintf(library, sizeof library, "%s/libevenstep-mpi.so", dir);
    snprintf(page, sizeof page, "%s/meter", dir);
    snprintf(launcher_is, sizeof launcher_is, "launcher=%s/evenstep", dir);
    plugin_options_set_arguments(1, &av, 1);
    touch(library);
    touch(page);
    touch(strchr(launcher_is, '/'));
    test_wanted();
    test_added();
    test_missing();
    test_path();
    (void)unlink(library);
    (void)unlink(page);
    (void)unlink(strchr(launcher_is, '/'));
    (void)rmdir(dir);
    return done();
}
