/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/gpu_library.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_MOST 512

int gpu_fail(struct gpu *g, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(g->why, sizeof g->why, fmt, ap); /* may be cut */
    va_end(ap);
    return -1;
}

/* NULL with why, or "" if the file is not there: the loader's message begins
 * with the name of what it has not found, which may be what the file needs. */
static void *open_one(struct gpu *g, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *said = library ? NULL : dlerror();
    size_t len = strlen(path);

    if (library || !said)
        return library;
    if (strncmp(said, path, len) != 0
        || strncmp(said + len, ": cannot open shared object file", 32) != 0)
        (void)gpu_fail(g, "%s", said);
    return NULL;
}

static void *open_name(struct gpu *g, const char *folder, const char *name)
{
    char path[PATH_MOST];
    int len = snprintf(path, sizeof path, "%s%s%s", folder ? folder : "",
                       folder ? "/" : "", name);
    void *library = len < PATH_MOST ? open_one(g, path) : NULL;

    if (library || g->why[0])
        (void)snprintf(g->library, sizeof g->library, "%s", name);
    return library;
}

void *gpu_library_open(struct gpu *g,
                       const char *const names[],
                       const char *elsewhere)
{
    void *library = NULL;

    g->why[0] = '\0';
    for (size_t i = 0; names[i] && !library && !g->why[0]; i++)
        library = open_name(g, g->drivers, names[i]);
    if (g->drivers || !elsewhere)
        return library;
    for (size_t i = 0; names[i] && !library && !g->why[0]; i++)
        library = open_name(g, elsewhere, names[i]);
    return library;
}

/* ISO C cannot cast the address of an object to that of a function; POSIX
 * promises that they have the same form (dlsym). */
const char *gpu_library_bind(void *library,
                             const struct gpu_symbol symbol[],
                             size_t n,
                             void *into)
{
    for (size_t i = 0; i < n; i++) {
        void *found = dlsym(library, symbol[i].name);

        if (!found)
            return symbol[i].name;
        memcpy((char *)into + symbol[i].offset, &found, sizeof found);
    }
    return NULL;
}

int gpu_library_need(struct gpu *g,
                     void *library,
                     const struct gpu_symbol symbol[],
                     size_t n,
                     void *into)
{
    const char *missing = gpu_library_bind(library, symbol, n, into);

    if (!missing)
        return 0;
    return gpu_fail(g,
                    "%s is of another version, without %s: update the driver",
                    g->library, missing);
}
