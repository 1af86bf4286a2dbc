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

#include <slurm/slurm.h>
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

/* A job is named by more than its number where there is slurm_load_job_sluid(),
 * as in 26.05. */
#ifdef slurm_load_job_sluid
typedef slurm_step_id_t slurm_release_job;

static inline int slurm_release_load_job(job_info_msg_t **jobs, uint32_t job)
{
    slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;

    id.job_id = job;
    return slurm_load_job(jobs, id, 0);
}

static inline void slurm_release_name_job(job_desc_msg_t *wish, uint32_t job)
{
    wish->step_id.job_id = job;
}

/* The number in what slurm_load_job() was given, and in a wish: for tests. */
static inline uint32_t slurm_release_job_loaded(slurm_release_job job)
{
    return job.job_id;
}

static inline uint32_t slurm_release_job_named(const job_desc_msg_t *wish)
{
    return wish->step_id.job_id;
}
#else
typedef uint32_t slurm_release_job;

static inline int slurm_release_load_job(job_info_msg_t **jobs, uint32_t job)
{
    return slurm_load_job(jobs, job, 0);
}

static inline void slurm_release_name_job(job_desc_msg_t *wish, uint32_t job)
{
    wish->job_id = job;
}

static inline uint32_t slurm_release_job_loaded(slurm_release_job job)
{
    return job;
}

static inline uint32_t slurm_release_job_named(const job_desc_msg_t *wish)
{
    return wish->job_id;
}
#endif

#endif
