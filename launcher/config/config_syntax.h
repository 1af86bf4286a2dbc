/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config_syntax.h - what may stand in a configuration file: the sections, their
 * keys, and the range of each.
 *
 * Only this, grammar.h, config_syntax.c, config_file.c and works_file.c know
 * libconfuse.
 */
#ifndef LAUNCHER_CONFIG_CONFIG_SYNTAX_H
#define LAUNCHER_CONFIG_CONFIG_SYNTAX_H

#include "launcher/config/grammar.h"
#include "pmix_bcast/channel.h"
#include "policy/profile.h"

/* The text with all its values in their ranges; as grammar_parse(). */
cfg_t *config_parse(const char *name, const char *text, struct es_error *err);

/* "LOW-HIGH" or "" (as SrunPortRange).  0, or -1: it is neither. */
int config_ports(struct port_range *ports, const char *text);
/* ELEMENTS: the title is no element's letter. */
enum element config_element(const char *title);
/* What a profile section says; a key that it does not give is 0. */
struct profile config_influence(cfg_t *section);
/* Bytes that it says a node must have of an element; 0: it does not. */
double config_need(cfg_t *section, enum element e);

#endif
