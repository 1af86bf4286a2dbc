/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.h - the report FILE of a run: JSON lines, one a frame as it ends and
 * a summary; evenstep-report(5).  Read by trace.h.
 */
#ifndef LAUNCHER_RUN_REPORT_H
#define LAUNCHER_RUN_REPORT_H

#include "launcher/base/report_out.h"
#include "launcher/run/distribution.h"
#include "launcher/run/run_account.h"
#include "launcher/run/run_energy.h"
#include "launcher/session/top_file.h"
#include "policy/cost.h"
#include "policy/determination.h"
#include "policy/rank_by.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct report {
    struct report_out out;
    struct run_energy *energy; /* the caller's; NULL: not known */
    json_t *head;              /* of the first line; NULL once that has it */
    json_t *costs_before;      /* likewise; NULL also if nothing is known */
    const struct top_view *meters; /* as the frame ends, the caller's; NULL: not
                                      known */
};

/* The policy of a run for which nobody has named one, and whose pieces are cut by what
 * they cost. */
#define REPORT_BY_COST "by cost"

/* That policy, if somebody has named it; else NULL, as of the default, whose name was in
 * the reports of before in place of that. */
static inline const char *report_named(const char *policy)
{
    return policy[0] && strcmp(policy, REPORT_BY_COST) != 0
                   && strcmp(policy, "even") != 0
               ? policy
               : NULL;
}

struct summary {
    const char *status; /* "done", "incomplete": something was left out,
                           "unfinished": time was up, or "failed" */
    uint64_t frames;
    uint64_t left_out; /* units */
    double seconds;    /* from the first frame's start to the last one's end */
    struct account_result account;
    const char *policy;
    enum rank_by rank_by;        /* the rule of the first ranking */
    char elements[ELEMENTS + 1]; /* that the nodes were ranked by then */
};

/* path must outlive r; NULL is no report. */
int report_open(struct report *r, const char *path, struct es_error *err);
/* Before the first frame: whose report it is, and what is known of its nodes
 * (node_records.h).  Takes nodes over; if it is NULL, nothing is known. */
void report_nodes(struct report *r,
                  uint32_t job,
                  uint32_t step,
                  const char *command,
                  json_t *nodes);
/* Before the first frame: what runs before have found that the command costs
 * (cost_record_json()).  Takes it over; if it is NULL, nothing is known. */
void report_costs_before(struct report *r, json_t *costs);
/* A frame that is done or, as the run has failed, as far as it came.  left_out:
 * units of it that a run before has left out. */
int report_frame(struct report *r,
                 struct distribution *d,
                 const struct determination *t,
                 const struct run_account *account,
                 int adjusted,
                 uint64_t left_out,
                 struct es_error *err);
int report_summary(struct report *r,
                   const struct summary *s,
                   struct es_error *err);
/* To a JSON object: efficiency (null where nothing was done), ideal, equal_parts and rest.  Takes it over, and
 * NULL for NULL; NULL if memory ran out. */
json_t *report_with_account(json_t *line, const struct account_result *r);
int report_close(struct report *r, struct es_error *err);

#endif
