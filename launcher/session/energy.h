/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * energy.h - the energy that the nodes of a session use, in its front end.
 *
 * What the counters of a node say goes before what Slurm's slurmctld says of
 * its watts (its plugin acct_gather_energy has them), and that before the
 * model of section energy of the configuration, which is asked only if the
 * site has it: nothing is guessed.  Where a source ends the next goes on.
 *
 * It is all that the node uses, whoever makes it do so.
 */
#ifndef LAUNCHER_SESSION_ENERGY_H
#define LAUNCHER_SESSION_ENERGY_H

#include "launcher/config/config.h"
#include "launcher/session/session.h"

struct energy_watch;
struct event_base;

enum energy_source { /* the worst that something came from */
                     ENERGY_UNKNOWN,
                     ENERGY_MEASURED,
                     ENERGY_SLURM,
                     ENERGY_MODELLED,
};

#define ENERGY_TEXT 128

struct energy_view {
    enum energy_source source;
    double joules;  /* since it was watched */
    double seconds; /* of which they are; joules / seconds are watts */
};

/* Watch all nodes.  guard: they have an evenstep-power that reads it.  NULL if
 * memory ran out. */
struct energy_watch *energy_start(struct event_base *base,
                                  struct session *session,
                                  const struct config *config,
                                  int guard);
/* The nodes are those of a job, also where the environment does not say so, as
 * in the front end of a step: Slurm knows them.  NULL is allowed. */
void energy_in_job(struct energy_watch *e);
/* A node that has come anew is watched, too. */
void energy_order(struct energy_watch *e, size_t node);
/* Takes a node's message if it is of energy; 1 if it was. */
int energy_message(struct energy_watch *e,
                   size_t node,
                   uint16_t type,
                   const uint8_t *body,
                   size_t len);
size_t energy_size(const struct energy_watch *e); /* nodes */
/* Of a node, as far as it was read. */
struct energy_view energy_view(const struct energy_watch *e, size_t node);
/* Until now: since it was read it is taken to go on as before. */
struct energy_view energy_view_now(const struct energy_watch *e, size_t node);
/* Of all nodes; the seconds are the longest of a node. */
struct energy_view energy_sum(const struct energy_watch *e);
/* "measured", "slurm", "modelled", or "unknown". */
const char *energy_source_name(enum energy_source source);
/* "0.5 kJ in 2.0 s, 250 W (...)", and what it is from; of one that is known. */
void energy_used_text(char text[ENERGY_TEXT], const struct energy_view *e);
/* NULL is allowed; the session may be gone. */
void energy_stop(struct energy_watch *e);

#endif
