/* SPDX-License-Identifier: BSD-2-Clause */
/* What a loader says of a program, line by line, and what of it is left out. */
#include "launcher/base/loader_list.h"
#include "tap.h"

#include <string.h>

static const struct {
    const char *name, *line;
    enum loader_word word;
    const char *object, *path;
} lines[] = {
    {"an object", "\tlibz.so.1 => /opt/z/libz.so.1 (0x00007f1)", LOADER_OBJECT,
     "libz.so.1", "/opt/z/libz.so.1"},
    {"one that is asked for by its path", "\t/opt/x.so (0x7f)", LOADER_OBJECT,
     "/opt/x.so", "/opt/x.so"},
    {"the loader", "\t/lib64/ld-linux-x86-64.so.2 (0x00007f)", LOADER_OBJECT,
     "/lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"},
    {"a folder from here on", "\ta.so => lib/a.so (0x1)", LOADER_OBJECT, "a.so",
     "lib/a.so"},
    {"a name that looks like an address", "\ta => /o (0x1)/a (0x2)",
     LOADER_OBJECT, "a", "/o (0x1)/a"},
    {"a path that looks like two", "\ta => /o => p/a (0x2)", LOADER_OBJECT, "a",
     "/o => p/a"},
    {"one that is not found", "\tliby.so => not found", LOADER_MISSING,
     "liby.so", ""},
    {"the kernel's", "\tlinux-vdso.so.1 (0x00007fff)", LOADER_NONE,
     "linux-vdso.so.1", "linux-vdso.so.1"},
    {"the kernel's, as older ones say it", "\tlinux-gate.so.1 =>  (0x1)",
     LOADER_NONE, "linux-gate.so.1", ""},
    {"nothing", "", LOADER_NONE, "", ""},
    {"none", "\tstatically linked", LOADER_NONE, "", ""},
    {"no address", "\tlibz.so.1 => /opt/libz.so.1", LOADER_STRANGE, "", ""},
    {"half an address", "\tlibz.so.1 => /opt/libz.so.1 (0x1", LOADER_STRANGE,
     "", ""},
    {"no name", " => /opt/libz.so.1 (0x1)", LOADER_STRANGE, NULL, NULL},
    {"an address alone", " (0x1)", LOADER_STRANGE, "", ""},
    {"words", "segmentation fault", LOADER_STRANGE, "", ""},
};

static const struct {
    const char *name, *path, *folders;
    int is_in;
} places[] = {
    {"in the first", "/lib/a.so", "/lib,/usr/lib", 1},
    {"in the second", "/usr/lib/x/a.so", "/lib,/usr/lib", 1},
    {"deep in it", "/lib/a/b/c.so", "/lib", 1},
    {"with a slash behind it", "/lib/a.so", "/lib//", 1},
    {"in any", "/lib/a.so", "/", 1},
    {"one that begins alike", "/lib64/a.so", "/lib", 0},
    {"above it", "/usr/a.so", "/usr/lib", 0},
    {"in another", "/opt/lib/a.so", "/lib,/usr/lib", 0},
    {"from here on", "lib/a.so", "/lib", 0},
    {"no folder", "/lib/a.so", "", 0},
    {"an empty one", "/lib/a.so", ",,/lib", 1},
};

static const struct {
    const char *list;
    int rc;
} lists[] = {
    {"/lib", 0},       {"/lib,/usr/lib", 0}, {"/", 0},     {"none", 0},
    {"", -1},          {"lib", -1},          {"NONE", -1}, {"/lib,", -1},
    {"/lib,none", -1}, {",/lib", -1},
};

static const struct {
    const char *name;
    int is_libc;
} names[] = {
    {"libc.so.6", 1},
    {"ld-linux-aarch64.so.1", 1},
    {"/lib64/ld-linux-x86-64.so.2", 1},
    {"libm.so.6", 1},
    {"libpthread.so.0", 1},
    {"libc.musl-x86_64.so.1", 1},
    {"libcrypto.so.3", 0},
    {"libmpi.so.40", 0},
    {"libdlib.so", 0},
    {"libstdc++.so.6", 0},
    {"libgcc_s.so.1", 0},
    {"", 0},
};

static void check_lines(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct loader_object o;
        char line[80];

        snprintf(line, sizeof line, "%s", lines[i].line);
        ok(loader_list_line(&o, line) == lines[i].word, "%s: what it is",
           lines[i].name);
        if (!lines[i].object || lines[i].word == LOADER_STRANGE)
            continue;
        ok(strcmp(o.name, lines[i].object) == 0
               && strcmp(o.path, lines[i].path) == 0,
           "%s: its name and its path", lines[i].name);
    }
}

int main(void)
{
    check_lines();
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        ok(loader_list_is_in(places[i].path, places[i].folders)
               == places[i].is_in,
           "a path is %s", places[i].name);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        ok(loader_list_check(lists[i].list) == lists[i].rc, "\"%s\" is %s list",
           lists[i].list, lists[i].rc ? "no" : "a");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ok(loader_list_is_libc(names[i].name) == names[i].is_libc,
           "\"%s\" is %s the C library", names[i].name,
           names[i].is_libc ? "of" : "not of");
    return done();
}
