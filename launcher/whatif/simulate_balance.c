/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep simulate balance: each policy divides the same frames.
 */
#include "launcher/base/options.h"
#include "launcher/whatif/balance_ahead.h"
#include "launcher/whatif/balance_options.h"
#include "launcher/whatif/simulations.h"
#include "policy/level.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GOOD 0.9 /* an efficiency that a policy should reach */

/* --- a policy's run ------------------------------------------------------- */

struct outcome {
    double mean, first; /* efficiency: of all frames, of the first */
    int64_t good;       /* number of the first frame that reaches GOOD, or -1 */
    double seconds, ideal;
    double *took, *ideal_of; /* one a frame, seconds */
    uint64_t messages, taken;
};

/* The seconds of all frames, and of each, if all nodes always end together, with
 * one start each; 0 if memory ran out. */
static double ideal_seconds(const struct balance_options *o, double each[])
{
    double *speed = calloc(o->setup.n, sizeof *speed);
    double *free_at = calloc(o->setup.n, sizeof *free_at);
    struct cost_terms terms = {.wait = o->setup.wait, .each = 1};
    double seconds = 0, fastest = 0;
    size_t k = 0;

    for (size_t i = 0; speed && free_at && i < o->setup.n; i++) {
        speed[i] = o->speed[i];
        free_at[i] = o->lag ? o->lag[i] : 0;
        fastest = fmax(fastest, speed[i]);
    }
    terms.burn = o->setup.burn * fastest;
    for (int64_t i = 0; speed && free_at && i < o->frames; i++) {
        for (; k < o->setup.n_changes && o->change[k].frame == (uint64_t)i; k++)
            speed[o->change[k].node] = o->change[k].speed;
        each[i] = level_find(free_at, speed, o->setup.n, &terms,
                             (double)o->setup.units);
        seconds += each[i];
    }
    free(speed);
    free(free_at);
    return seconds;
}

static void add_up(struct outcome *out,
                   const struct balance_frame *f,
                   double efficiency,
                   int64_t i)
{
    if (i == 0)
        out->first = efficiency;
    if (out->good < 0 && efficiency >= GOOD)
        out->good = i;
    out->mean += (efficiency - out->mean) / (double)(i + 1);
    out->seconds += f->last;
    out->took[i] = f->last;
    out->messages += f->messages;
    out->taken += f->taken;
}

/* Simulate one policy. efficiency has one element a frame; of out, what is ideal
 * is set already. */
static int simulate_policy(const struct balance_options *o,
                           const struct policy_option *policy,
                           double efficiency[],
                           struct outcome *out,
                           struct es_error *err)
{
    struct balance_setup setup = o->setup;
    struct balance *balance;
    int rc = 0;

    setup.policy = policy->kind;
    setup.value = policy->value;
    balance = balance_create(&setup);
    if (!balance)
        return es_no_memory(err);
    for (int64_t i = 0; i < o->frames && rc == 0; i++) {
        struct balance_frame f;

        rc = balance_next(balance, &f);
        efficiency[i] = f.last > 0 ? fmin(out->ideal_of[i] / f.last, 1) : 1;
        add_up(out, &f, efficiency[i], i);
    }
    balance_destroy(balance);
    return rc < 0 ? es_no_memory(err) : 0;
}

/* --- results -------------------------------------------------------------- */

static json_t *list(const double x[], int64_t n)
{
    json_t *all = json_array();

    for (int64_t i = 0; i < n; i++)
        if (json_array_append_new(all, json_real(x[i])) < 0) {
            json_decref(all);
            return NULL;
        }
    return all;
}

static json_t *parameters(const struct policy_option *p)
{
    json_t *all = json_object();

    for (size_t k = 0; k < p->kind->n_params; k++)
        if (json_object_set_new(all, p->kind->params[k].key,
                                json_real(p->value[k]))
            < 0) {
            json_decref(all);
            return NULL;
        }
    return all;
}

static int print_json(const struct balance_options *o,
                      const struct policy_option *policy,
                      const double efficiency[],
                      const struct outcome *out)
{
    json_t *good =
        out->good < 0 ? json_null() : json_integer((json_int_t)out->good);
    json_t *all = json_pack(
        "{s:s, s:o, s:I, s:I, s:I, s:f, s:f, s:o, s:f, s:f, s:f, s:I, s:I, "
        "s:o, s:o}",
        "policy", policy->name, "parameters", parameters(policy), "nodes",
        (json_int_t)o->setup.n, "units", (json_int_t)o->setup.units, "frames",
        (json_int_t)o->frames, "efficiency", out->mean, "first_efficiency",
        out->first, "frames_to_0.9", good, "seconds", out->seconds,
        "ideal_seconds", out->ideal, "ratio", out->seconds / out->ideal,
        "messages", (json_int_t)out->messages, "units_taken_over",
        (json_int_t)out->taken, "efficiencies", list(efficiency, o->frames),
        "frame_seconds", list(out->took, o->frames));
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    return rc == 0 && putchar('\n') != EOF ? 0 : -1;
}

static int print_head(const struct balance_options *o)
{
    return printf("%zu nodes, %" PRId64 " frames of %" PRIu64 " units\n"
                  "%-14s %10s %7s %13s %16s %10s %10s\n",
                  o->setup.n, o->frames, o->setup.units, "policy", "efficiency",
                  "first", "frames to 0.9", "makespan / ideal", "messages",
                  "taken over");
}

static int print_text(const char *policy, const struct outcome *out)
{
    char good[24] = "never";

    if (out->good >= 0)
        snprintf(good, sizeof good, "%" PRId64, out->good);
    return printf("%-14s %10.3f %7.3f %13s %16.3f %10" PRIu64 " %10" PRIu64
                  "\n",
                  policy, out->mean, out->first, good,
                  out->seconds / out->ideal, out->messages, out->taken);
}

static int run_all(const struct balance_options *o, struct es_error *err)
{
    double *efficiency = calloc((size_t)o->frames, sizeof *efficiency);
    double *took = calloc((size_t)o->frames, sizeof *took);
    double *each = calloc((size_t)o->frames, sizeof *each);
    int rc = efficiency && took && each ? 0 : es_no_memory(err), printed;

    printed = rc == 0 && !o->json ? print_head(o) : 0;
    for (size_t i = 0; rc == 0 && printed >= 0 && i < o->n_policies; i++) {
        const struct policy_option *p = &o->policy[i];
        struct outcome out = {.good = -1,
                              .ideal = ideal_seconds(o, each),
                              .took = took,
                              .ideal_of = each};

        rc = out.ideal > 0 ? simulate_policy(o, p, efficiency, &out, err)
                           : es_no_memory(err);
        if (rc == 0)
            printed = o->json ? print_json(o, p, efficiency, &out)
                              : print_text(p->name, &out);
    }
    free(efficiency);
    free(took);
    free(each);
    if (rc == 0 && (printed < 0 || fflush(stdout) != 0))
        return es_no_space(err);
    return rc;
}

static int simulate_balance_main(int argc, char **argv, struct es_error *err)
{
    struct balance_options o = {.seed = -1, .ahead = -1};
    int rc = options_parse(&simulate_balance, &o, argc, argv, err);

    if (rc == 0)
        rc = balance_options_settle(&o, err);
    if (rc == 0)
        rc = o.ahead < 0 ? run_all(&o, err) : balance_ahead_run(&o, err);
    balance_options_clear(&o);
    return rc;
}

const struct subcommand simulate_balance = {
    .name = "simulate balance",
    .usage =
        "evenstep simulate balance --speeds S1,S2,... | --trace FILE [options]",
    .about =
        "Simulate frames on unequal nodes, divided by the policies of `evenstep run`, and\n"
        "print how evenly the nodes finish with each policy.\n",
    .option = balance_options_table,
    .run = simulate_balance_main,
};
