/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a task's LD_PRELOAD. */
#include "spank_plugin/plugin_meter.h"
#include "fake_spank.h"
#include "spank_plugin/plugin_options.h"
#include "tap.h"

#include <limits.h>
#include <link.h>
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

/* --- whose program it is ---------------------------------------------------- */

static char program[96];

/* A program of ELF that asks for that loader, or none. */
static void make_elf(const char *loader, int class)
{
    struct {
        ElfW(Ehdr) head;
        ElfW(Phdr) segment;
        char loader[64];
    } elf;
    FILE *f = fopen(program, "w");

    memset(&elf, 0, sizeof elf);
    memcpy(elf.head.e_ident, ELFMAG, SELFMAG);
    elf.head.e_ident[EI_CLASS] = (unsigned char)class;
    elf.head.e_phoff = sizeof elf.head;
    elf.head.e_phentsize = sizeof elf.segment;
    elf.head.e_phnum = 1;
    elf.segment.p_type = loader ? PT_INTERP : PT_LOAD;
    elf.segment.p_offset = sizeof elf.head + sizeof elf.segment;
    elf.segment.p_filesz = loader ? strlen(loader) + 1 : 0;
    if (loader)
        snprintf(elf.loader, sizeof elf.loader, "%s", loader);
    if (!f || fwrite(&elf, sizeof elf, 1, f) != 1 || fclose(f) != 0
        || chmod(program, 0700) < 0)
        bail("no program");
}

/* Of those words, and what comes behind them. */
static void make_script(const char *first, const char *rest)
{
    char script[112];
    FILE *f;

    snprintf(script, sizeof script, "%s.sh", program);
    f = fopen(script, "w");
    if (!f || fprintf(f, "%s%s\n", first, rest) < 0 || fclose(f) != 0
        || chmod(script, 0700) < 0)
        bail("no script");
}

static const char *preloaded_into(char *argv0)
{
    static char *argv[2];

    argv[0] = argv0;
    prepare("mpi");
    set("PATH", "/nowhere::/usr/bin:/bin");
    fake_spank.argv = argv;
    return preloaded();
}

static void ask_for(const char *name, const char *value)
{
    plugin_options_register(&fake_spank.handle);
    for (int i = 0; i < fake_spank.options; i++)
        if (strcmp(fake_spank.option[i].name, name) == 0)
            (void)fake_spank.option[i].cb(i, value, 1);
}

static void test_program(void)
{
    const int own = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32,
              other = own == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    char sh[] = "sh", self[] = "/proc/self/exe", none[] = "nosuch-program",
         script[112];

    snprintf(program, sizeof program, "%s/program", dir);
    snprintf(script, sizeof script, "%s.sh", program);
    is_str(preloaded_into(self), library, "into a program of this system");
    is_str(preloaded_into(sh), library, "also one by PATH");
    is_str(preloaded_into(none), library, "one that is not there will say so");
    make_elf(NULL, own);
    ok(!preloaded_into(program) && fake_spank.errors == 0,
       "not into one that is linked statically, without a word");
    make_elf("/lib/ld-musl-x86_64.so.1", own);
    ok(!preloaded_into(program), "nor into one of another C library");
    make_elf("/bin/sh", own);
    ok(!preloaded_into(program), "which may be there");
    make_elf("/lib64/ld-linux-x86-64.so.2", other);
    ok(!preloaded_into(program), "nor into one of another class");
    make_script("#! ", program);
    ok(!preloaded_into(script), "nor where it runs a script");
    make_script("#!", "/bin/sh -e");
    is_str(preloaded_into(script), library, "but into a script's own");
    make_script("0 a\n", "1 b");
    is_str(preloaded_into(script), library, "or what cannot be told");
    ask_for("evenstep-meter", "mpi");
    ok(!preloaded_into(program) && fake_spank.errors == 1
           && strstr(fake_spank.said, "/program is linked statically, or not"),
       "whoever has asked for the meter is told");
    plugin_options_clear();
    prepare("mpi");
    ask_for("evenstep-report", "file");
    ok(!preloaded_into(program) && fake_spank.errors == 1, "or for a report");
    plugin_options_clear();
    (void)unlink(program);
    (void)unlink(script);
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
    test_program();
    test_missing();
    test_path();
    (void)unlink(library);
    (void)unlink(page);
    (void)unlink(strchr(launcher_is, '/'));
    (void)rmdir(dir);
    return done();
}
