/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_print.h - what the nodes measured, for people and for programs, and
 * which of the nodes are far off.
 */
#ifndef LAUNCHER_COMMAND_PROBE_PRINT_H
#define LAUNCHER_COMMAND_PROBE_PRINT_H

#include "launcher/base/report_out.h"
#include "launcher/config/config.h"
#include "launcher/wire/protocol.h"
#include "policy/outlier.h"

struct probe_node_view {
    const char *name;
    int cached;
    char why[TEXT_MAX]; /* the cache was not used; "": it was, or not asked */
    char hardware[FINGERPRINT_MAX];
    struct probe_result result[ELEMENTS];
    double metrics[ELEMENTS]; /* as a run counts them; NaN: not known */
};

/*
 * Find the nodes that are an outlier in an element, by the limits of the
 * configuration.  Nodes are of one kind if they have the same hardware and we
 * may use as many CPUs. *found has *count elements and is owned by the caller.
 * 0, or -1 if memory ran out.
 */
int probe_outliers(const struct probe_node_view node[],
                   size_t n,
                   const struct config_probe *config,
                   struct outlier **found,
                   size_t *count);

/* "n3: the interconnect is 75 % below the median of its kind (12 robust
 * deviations)" */
void probe_outlier_text(char text[200],
                        const struct probe_node_view node[],
                        const struct outlier *o);

/* Each element has a block, in which each node has a line with a bar.  The best
 * node has the longest bar. 0, or -1 if it cannot be written. */
int probe_print_table(const struct probe_node_view node[], size_t n);

/*
 * One object: "nodes" as in a metrics FILE, with what a run counts;
 * "details" an object a node, with probe_json.h's "elements"; "outliers".
 * 0, or -1 if memory ran out or it cannot be written.
 */
int probe_print_json(const struct probe_node_view node[],
                     size_t n,
                     const struct outlier outlier[],
                     size_t count);
/* The lines of a report: one for all, one for each node.  Nothing is written if
 * out is of no file. */
int probe_print_report(struct report_out *out,
                       const struct probe_node_view node[],
                       size_t n,
                       const struct outlier outlier[],
                       size_t count,
                       struct es_error *err);

#endif
