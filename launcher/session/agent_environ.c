/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/agent_environ.h"
#include "launcher/session/companion.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECRET "EVENSTEP_SECRET"

/* Takes entry over; NULL: there was no memory for it. */
static int add_entry(char ***env, size_t *n, char *entry)
{
    char **grown = entry ? realloc(*env, (*n + 2) * sizeof **env) : NULL;

    if (!grown) {
        free(entry);
        return -1;
    }
    grown[(*n)++] = entry;
    grown[*n] = NULL;
    *env = grown;
    return 0;
}

int agent_environ_put(char ***env,
                      size_t *n,
                      const char *name,
                      const char *value)
{
    char *entry;

    return asprintf(&entry, "%s=%s", name, value) < 0
               ? -1
               : add_entry(env, n, entry);
}

static int put_ours(char ***env, size_t *n)
{
    for (size_t i = 0; environ[i]; i++)
        if (strchr(environ[i], '=') && !companion_drops(environ[i])
            && add_entry(env, n, strdup(environ[i])) < 0)
            return -1;
    return 0;
}

/* srun takes an option from here where it has loaded the plugin, and does not mind
 * the name where it has not.  What it is for: plugin_options.h. */
#define AGENTS "SLURM_SPANK__SLURM_SPANK_OPTION_evenstep_evenstep_agents"

static int put_agents(char ***env, size_t *n, const struct agent_environ *e)
{
    const char *wish = e->guard ? "limits" : e->energy ? "energy" : "none";
    const char *way = wireup_way_name(e->by_tcp ? WIREUP_TCP : WIREUP_PMIX);
    char hex[SECRET_HEX_LEN + 1], front_end[ADDRESS_PORT_MAX], ports[32];
    int bad = 0;

    secret_to_hex(e->secret, hex);
    address_join(front_end, e->address, e->port);
    snprintf(ports, sizeof ports, "%u-%u", e->ports.low, e->ports.high);
    bad |= agent_environ_put(env, n, AGENTS, wish);
    /* Plugins of before 0.2 know our step by it. */
    bad |= agent_environ_put(env, n, "EVENSTEP_COMPANION", "1");
    bad |= agent_environ_put(env, n, SECRET, hex);
    bad |= agent_environ_put(env, n, "EVENSTEP_FRONT_END", front_end);
    bad |= agent_environ_put(env, n, "EVENSTEP_PORTS", ports);
    bad |= agent_environ_put(env, n, "EVENSTEP_ENCRYPT",
                             e->secret->encrypt ? "1" : "0");
    bad |= agent_environ_put(env, n, "EVENSTEP_WIREUP", way);
    if (e->interfaces && e->interfaces[0])
        bad |= agent_environ_put(env, n, "EVENSTEP_INTERFACE", e->interfaces);
    sodium_memzero(hex, sizeof hex);
    return bad;
}

char **agent_environ_make(const struct agent_environ *e, size_t *n)
{
    char **env = NULL;

    *n = 0;
    if (put_ours(&env, n) == 0 && put_agents(&env, n, e) == 0)
        return env;
    agent_environ_free(env);
    return NULL;
}

void agent_environ_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}

int agent_environ_secret(struct secret *secret, pid_t pid)
{
    char path[40], buffer[4096], *entry = NULL;
    size_t room = 0, name = strlen(SECRET "=");
    FILE *file;
    int rc = -1;

    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    file = fopen(path, "re");
    if (!file)
        return -1;
    (void)setvbuf(file, buffer, _IOFBF, sizeof buffer);
    while (rc < 0 && getdelim(&entry, &room, '\0', file) > 0)
        if (strncmp(entry, SECRET "=", name) == 0)
            rc = secret_from_hex(secret, entry + name);
    (void)fclose(file); /* was only read */
    if (entry)
        sodium_memzero(entry, room);
    free(entry);
    sodium_memzero(buffer, sizeof buffer);
    return rc;
}
