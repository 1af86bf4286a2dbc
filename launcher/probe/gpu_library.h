/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu_library.h - opens a driver's library at run time and finds its functions.
 */
#ifndef LAUNCHER_PROBE_GPU_LIBRARY_H
#define LAUNCHER_PROBE_GPU_LIBRARY_H

#include "launcher/probe/gpu_maker.h"

/* A function of a library, and where in a struct its address goes. */
struct gpu_symbol {
    const char *name;
    size_t offset; /* of a pointer to a function */
};

/*
 * Open the first of the libraries that is there: names end with NULL, and each
 * is looked for where the loader does, and where "elsewhere", which may be
 * NULL, has it; or in g->drivers alone.  It is never closed, as threads of the
 * driver may run in it.  g->library gets its name.  NULL with g->why, which is
 * "" if there is none of them: else it is there and cannot be used.
 */
void *gpu_library_open(struct gpu *g,
                       const char *const names[],
                       const char *elsewhere);

/* Find n functions; NULL, or the first name that the library lacks, which is
 * then of another version. */
const char *gpu_library_bind(void *library,
                             const struct gpu_symbol symbol[],
                             size_t n,
                             void *into);

/* The same, with g->why of a library that lacks one.  0 or -1. */
int gpu_library_need(struct gpu *g,
                     void *library,
                     const struct gpu_symbol symbol[],
                     size_t n,
                     void *into);

/* Set g->why; returns -1. */
int gpu_fail(struct gpu *g, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
