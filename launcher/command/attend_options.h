/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attend_options.h - what the plugin tells `evenstep attend`.
 */
#ifndef LAUNCHER_COMMAND_ATTEND_OPTIONS_H
#define LAUNCHER_COMMAND_ATTEND_OPTIONS_H

#include "launcher/base/options.h"
#include "launcher/base/step_meter.h"
#include "launcher/config/config.h"
#include "launcher/session/broadcast.h"
#include "launcher/session/qualification.h"

#define REPORT_OFF "off" /* not even where the site wants one */

/* As the values of --lend, and: it was not given. */
enum attend_lend { ATTEND_LEND_OFF, ATTEND_LEND_ON, ATTEND_LEND_SITE };

struct attend_options {
    uint32_t job, step, nodes; /* nodes 0: not known */
    const char *profile, *config, *command;
    enum metrics_source probe; /* fresh, cached, off: all nodes alike */
    enum power_variant power;
    enum step_meter meter; /* STEP_METERS: as the site has it */
    enum attend_lend lend; /* ATTEND_LEND_SITE: likewise */
    const char *report;    /* a file, REPORT_OFF, "", or NULL: as the site */
    struct attend_input {
        char *source; /* to be copied to destination on every node */
        char *destination;
        struct libs libs; /* that it needs, once they are found */
    } * input;            /* so many */
    size_t inputs;        /* that are known */
    size_t asked;         /* that were asked for, known or not */
    int with_libs, required;
};

/* For struct attend_options; the caller clears it. */
extern const struct option attend_option_table[];
/* The report is none of the step's files.  0, or -1 with ES_USAGE. */
int attend_options_check(const struct attend_options *o, struct es_error *err);
void attend_options_clear(struct attend_options *o);

#endif
