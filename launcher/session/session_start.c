/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/session_start.h"
#include "launcher/base/paths.h"

void session_configure(struct session_setup *setup, const struct config *config)
{
    setup->ports = config->bcast.ports;
    setup->encrypt = config->encrypt;
    setup->wireup = config->wireup;
}

int session_start(struct session **s,
                  struct event_base *base,
                  const struct config *config,
                  struct session_setup *setup,
                  const struct session_events *on,
                  void *arg,
                  struct es_error *err)
{
    char agent[4096];
    int rc;

    if (!setup->local && companion_job_from_environ() == 0)
        return es_fail(err, ES_ENV,
                       "run it inside salloc or sbatch, or give --local N",
                       "no allocation");
    if (path_of_agent(agent, sizeof agent, config->agent_path, err) < 0)
        return -1;
    setup->agent_path = agent;
    session_configure(setup, config);
    rc = session_open(s, base, setup, on, arg, err);
    setup->agent_path = NULL; /* it was ours */
    return rc;
}
