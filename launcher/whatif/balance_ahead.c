/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/balance_ahead.h"
#include "policy/window_simulation.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

static int print_json(const struct balance_options *o,
                      const struct policy_option *policy,
                      const struct window_outcome *out,
                      double ideal)
{
    json_t *all = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I}", "policy", policy->name,
        "nodes", (json_int_t)o->setup.n, "units", (json_int_t)o->setup.units,
        "frames", (json_int_t)o->frames, "ahead", (json_int_t)o->ahead,
        "seconds", out->seconds, "ideal_seconds", ideal, "ratio",
        out->seconds / ideal, "starts", (json_int_t)out->pieces);
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    return rc == 0 && putchar('\n') != EOF ? 0 : -1;
}

static int print_head(const struct balance_options *o)
{
    return printf("%zu nodes, %" PRId64 " frames of %" PRIu64 " units, %" PRId64
                  " ahead\n"
                  "%-14s %10s %10s %16s %10s\n",
                  o->setup.n, o->frames, o->setup.units, o->ahead, "policy",
                  "makespan", "ideal", "makespan / ideal", "starts");
}

static int print_text(const struct policy_option *policy,
                      const struct window_outcome *out,
                      double ideal)
{
    return printf("%-14s %8.2f s %8.2f s %16.3f %10" PRIu64 "\n", policy->name,
                  out->seconds, ideal, out->seconds / ideal, out->pieces);
}

/* Frames are cut as one where the loads are only to make all end together. */
static int check(const struct balance_options *o, struct es_error *err)
{
    for (size_t i = 0; i < o->n_policies; i++)
        if (!o->policy[i].kind->by_speed)
            return es_fail(err, ES_USAGE, "give --policy even, or no --ahead",
                           "--ahead: the frames of %s are not cut as one",
                           o->policy[i].name);
    return 0;
}

int balance_ahead_run(const struct balance_options *o, struct es_error *err)
{
    double ideal = window_ideal(&o->setup, (uint64_t)o->frames);
    int rc = check(o, err), printed;

    if (rc == 0 && !(ideal > 0))
        rc = es_no_memory(err);
    printed = rc == 0 && !o->json ? print_head(o) : 0;
    for (size_t i = 0; rc == 0 && printed >= 0 && i < o->n_policies; i++) {
        const struct policy_option *p = &o->policy[i];
        struct balance_setup setup = o->setup;
        struct window_outcome out;

        setup.policy = p->kind;
        setup.value = p->value;
        if (window_simulate(&setup, (uint64_t)o->frames, (uint64_t)o->ahead,
                            &out)
            < 0)
            rc = es_no_memory(err);
        else
            printed = o->json ? print_json(o, p, &out, ideal)
                              : print_text(p, &out, ideal);
    }
    if (rc == 0 && (printed < 0 || fflush(stdout) != 0))
        return es_no_space(err);
    return rc;
}
