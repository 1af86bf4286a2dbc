/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/loader_list.h"

#include <stddef.h>
#include <string.h>

#define ARROW   " => "
#define ADDRESS " (0x"

/* Cuts " (0x...)" off its end. */
static int cut_address(char *line)
{
    char *last = NULL;

    for (char *at = line; (at = strstr(at, ADDRESS)) != NULL; at++)
        last = at;
    if (!last || last[strlen(last) - 1] != ')')
        return -1;
    *last = '\0';
    return 0;
}

enum loader_word loader_list_line(struct loader_object *o, char *line)
{
    char *arrow;

    *o = (struct loader_object){"", ""};
    line += strspn(line, "\t");
    if (*line == '\0' || strcmp(line, "statically linked") == 0)
        return LOADER_NONE;
    arrow = strstr(line, ARROW);
    if (arrow && strcmp(arrow, ARROW "not found") == 0) {
        *arrow = '\0';
        o->name = line;
        return LOADER_MISSING;
    }
    if (cut_address(line) < 0)
        return LOADER_STRANGE;
    o->name = o->path = line;
    if (arrow && *arrow) {
        *arrow = '\0';
        o->path = arrow + strlen(ARROW);
    }
    if (*o->name == '\0')
        return LOADER_STRANGE;
    return strchr(o->path, '/') ? LOADER_OBJECT
                                : LOADER_NONE; /* the kernel's */
}

int loader_list_is_libc(const char *name)
{
    static const char *const parts[] = {
        "ld-",
        "libc.",
        "libm.",
        "libmvec.",
        "libpthread.",
        "libdl.",
        "librt.",
        "libutil.",
        "libanl.",
        "libresolv.",
        "libnss_files.",
        "libnss_dns.",
        "libnss_compat.",
        "libthread_db.",
        "libBrokenLocale.",
        "libc_malloc_debug.",
    };
    const char *slash = strrchr(name, '/');

    if (slash)
        name = slash + 1;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strncmp(name, parts[i], strlen(parts[i])) == 0)
            return 1;
    return 0;
}

int loader_list_is_in(const char *path, const char *folders)
{
    for (const char *at = folders; *at;) {
        size_t len = strcspn(at, ","), whole = len;

        while (len > 1 && at[len - 1] == '/')
            len--;
        if (len > 0 && strncmp(path, at, len) == 0
            && (path[len] == '/' || at[len - 1] == '/'))
            return 1;
        at += whole + (at[whole] == ',');
    }
    return 0;
}

int loader_list_check(const char *folders)
{
    if (strcmp(folders, "none") == 0)
        return 0;
    for (const char *at = folders;;) {
        size_t len = strcspn(at, ",");

        if (at[0] != '/')
            return -1;
        if (at[len] == '\0')
            return 0;
        at += len + 1;
    }
}
