/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config_file.h - reads the configuration: the built-in values, then the file
 * of the site, then the file that $EVENSTEP_CONF names.
 *
 * libconfuse is used here, in works_file.c and in config_syntax.c.  Unknown keys
 * and values out of range are errors that name file, line, key and what is
 * allowed.
 */
#ifndef LAUNCHER_CONFIG_CONFIG_FILE_H
#define LAUNCHER_CONFIG_CONFIG_FILE_H

#include "launcher/config/config.h"
#include "pmix_bcast/error.h"

/*
 * Read the site's file (site NULL: EVENSTEP_CONF as compiled in, which may be
 * missing; one that is named must be there) and $EVENSTEP_CONF.
 * Fails with ES_USAGE.
 */
int config_load(struct config *c, const char *site, struct es_error *err);
/* The text of a regular file of at most 1 MiB, owned by the caller; NULL with
 * errno set. */
char *config_file_text(const char *path);
/* Read one file's text on top of *c; name is for messages. */
int config_read(struct config *c,
                const char *name,
                const char *text,
                struct es_error *err);

#endif
