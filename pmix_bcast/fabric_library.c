/* SPDX-License-Identifier: BSD-2-Clause */
/* libfabric itself: it is there on some hosts only, so it is no library that
 * evenstep is linked with. */
#include "pmix_bcast/fabric_state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libfabric.so.1"

/* ISO C has no way from an object's pointer to a function's; POSIX does. */
static int find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    memcpy(function, &found, sizeof found);
    return found ? 0 : -1;
}

const struct fabric_library *fabric_library(char *why, size_t why_size)
{
    static struct fabric_library known;
    void *library;

    why[0] = '\0';
    if (known.strerror)
        return &known;
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, why_size, "%s cannot be opened: %s", LIBRARY, dlerror());
        return NULL;
    }
    if (find(library, "fi_getinfo", &known.getinfo) == 0
        && find(library, "fi_freeinfo", &known.freeinfo) == 0
        && find(library, "fi_dupinfo", &known.dupinfo) == 0
        && find(library, "fi_fabric", &known.fabric) == 0
        && find(library, "fi_strerror", &known.strerror) == 0)
        return &known; /* and it stays open */
    known.strerror = NULL;
    dlclose(library);
    snprintf(why, why_size, "%s is not what evenstep knows", LIBRARY);
    return NULL;
}
