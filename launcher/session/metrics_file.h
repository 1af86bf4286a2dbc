/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics_file.h - what the nodes measured, from a file instead of a probe.
 *
 *   {"nodes": [{"name": "n0", "C": 1.0, "M": 5.2, "G": 0}, …]}
 *
 * Any unit per element, the same for all nodes; an element that is absent is 0.
 * Other keys of the object are ignored; a node's keys are checked.  A node may also have "CU": {"C": 30, …}, as `evenstep plan --json`
 * prints it: the capacity utilization that adjusting goes on from.
 */
#ifndef LAUNCHER_SESSION_METRICS_FILE_H
#define LAUNCHER_SESSION_METRICS_FILE_H

#include "launcher/wire/protocol.h"
#include "pmix_bcast/error.h"
#include "policy/rank_by.h"

#include <stdio.h>

#define METRICS_FILE_MAX  (32u << 20) /* bytes; 65536 nodes are about 10 MB */
#define METRICS_NODES_MAX 65536u
#define METRICS_VALUE_MAX 1e18 /* a mistake above; the sums stay finite */

struct metrics_file {
    size_t n; /* nodes, >= 1 */
    char (*name)[NODE_NAME_MAX];
    double (*measured)[ELEMENTS];    /* a row a node */
    double (*utilization)[ELEMENTS]; /* CU, percent points; NaN: not given */
};

/*
 * Read it, to be released by metrics_file_clear().  Fails with ES_USAGE
 * (ES_ENV: out of memory), naming file and place, on anything but the above, on
 * a name given twice and if all that was measured is 0; *m is empty then.
 */
int metrics_file_read(struct metrics_file *m,
                      const char *path,
                      struct es_error *err);
/* The same from an open file; name is for messages. */
int metrics_file_load(struct metrics_file *m,
                      const char *name,
                      FILE *file,
                      struct es_error *err);
void metrics_file_clear(struct metrics_file *m);

/* Such a file's text, of n nodes and a row a node without NaN; owned by the
 * caller, NULL if memory ran out. */
char *metrics_file_text(const char *const name[],
                        const double measured[][ELEMENTS],
                        size_t n);

/*
 * Rank the nodes: rank_by_rank(), and JL by the CU that the file gives.  What
 * does not count becomes 0 in m->measured.
 * 0, or -1 if no node has any load by this profile (metric[] undefined).
 */
int metrics_file_rank(struct metrics_file *m,
                      const struct profile *p,
                      enum rank_by by,
                      struct metric metric[]);

#endif
