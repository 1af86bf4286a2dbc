/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slurm_release.h - which Slurm this plugin was built for, and which one has
 * loaded it: all in the plugin that differs between releases.
 *
 * Slurm loads a SPANK plugin only if it was built for the same release (the
 * 24.11 of 24.11.5), and otherwise names the plugin's, but neither its own nor
 * what to do.
 */
#ifndef SPANK_PLUGIN_SLURM_RELEASE_H
#define SPANK_PLUGIN_SLURM_RELEASE_H

#include <stddef.h>
#include <stdint.h>

/*
 * What slurm_api_version() returns in a release: writes "24.11" for 42.0.0.  An
 * api that belongs to no release known here: "".
 */
void slurm_release_of_api(long api, char *out, size_t size);

/* Writes "24.11" for SLURM_VERSION_NUMBER of 24.11.5. */
void slurm_release_of_number(uint32_t number, char *out, size_t size);

/*
 * Says in one line why Slurm will not load this plugin, built for number, into
 * the release with that api.  Silent, and 0, if it will, or if nothing is known
 * of that release.
 */
int slurm_release_refuse(uint32_t number, long api);

#endif
