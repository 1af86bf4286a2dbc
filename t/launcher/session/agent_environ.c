/* SPDX-License-Identifier: BSD-2-Clause */
/* What an agent finds in its environment, and what it does not. */
#include "launcher/session/agent_environ.h"
#include "fault.h"
#include "tap.h"

#define AGENTS "SLURM_SPANK__SLURM_SPANK_OPTION_evenstep_evenstep_agents"

static const struct secret secret = {.key = {1, 2, 0xfe}, .encrypt = 1};
static const struct agent_environ what = {.secret = &secret,
                                          .address = "10.0.0.1",
                                          .port = 4711,
                                          .ports = {5000, 5010},
                                          .by_tcp = 1,
                                          .guard = 1,
                                          .energy = 1};

/* How often a variable is there; *value is that of the last. */
static int count(char *const env[], const char *name, const char **value)
{
    size_t len = strlen(name);
    int n = 0;

    for (; *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=') {
            n++;
            *value = *env + len + 1;
        }
    return n;
}

static void is_set(char *const env[], const char *name, const char *want)
{
    const char *value = NULL;

    is_int(count(env, name, &value), 1, name);
    is_str(value, want, name);
}

static void test_good(void)
{
    char hex[SECRET_HEX_LEN + 1];
    const char *value;
    size_t n, have = 0;
    char **env = agent_environ_make(&what, &n);

    if (!env)
        bail("no memory");
    while (env[have])
        have++;
    is_int((intmax_t)n, (intmax_t)have, "its size is said");
    secret_to_hex(&secret, hex);
    is_set(env, "EVENSTEP_COMPANION", "1");
    is_set(env, AGENTS, "limits");
    is_set(env, "EVENSTEP_SECRET", hex);
    is_set(env, "EVENSTEP_FRONT_END", "10.0.0.1:4711");
    is_set(env, "EVENSTEP_PORTS", "5000-5010");
    is_set(env, "EVENSTEP_ENCRYPT", "1");
    is_set(env, "EVENSTEP_WIREUP", "tcp");
    is_set(env, "OURS", "kept");
    is_set(env, "EMPTY", "");
    ok(count(env, "SLURM_CPUS_PER_TASK", &value) == 0
           && count(env, "SRUN_DEBUG", &value) == 0
           && count(env, "_SLURM_SPANK_OPTION_evenstep_evenstep", &value) == 0,
       "what would bend a step is not there");
    is_int(agent_environ_put(&env, &n, "EVENSTEP_RANK", "3"), 0, "one more");
    is_set(env, "EVENSTEP_RANK", "3");
    ok(n == have + 1 && !env[n], "it has its end");
    agent_environ_free(env);
}

/* What root's evenstep-power is to do beside the agents: for their srun. */
static void test_wish(void)
{
    static const struct {
        int guard, energy;
        const char *want;
    } table[] = {
        {0, 0, "none"}, {0, 1, "energy"}, {1, 0, "limits"}, {1, 1, "limits"}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct agent_environ e = what;
        char **env;
        size_t n;

        e.guard = table[i].guard;
        e.energy = table[i].energy;
        env = agent_environ_make(&e, &n);
        if (!env)
            bail("no memory");
        is_set(env, AGENTS, table[i].want);
        agent_environ_free(env);
    }
}

static void test_no_memory(void)
{
    int failed = 0, i = 0;
    char **env = NULL;
    size_t n;

    while (!env && i < 10000) {
        fault_at = i++;
        env = agent_environ_make(&what, &n);
        fault_at = -1;
        failed += !env;
    }
    ok(env && failed > 10, "without memory there is none, at any point");
    if (env) {
        size_t before = n;

        fault_at = 0;
        ok(agent_environ_put(&env, &n, "A", "b") < 0 && n == before && !env[n],
           "what cannot be added leaves all as it was");
        fault_at = -1;
    }
    agent_environ_free(env);
    agent_environ_free(NULL);
}

int main(void)
{
    setenv("OURS", "kept", 1);
    setenv("EMPTY", "", 1);
    setenv("SLURM_CPUS_PER_TASK", "4", 1);
    setenv("SRUN_DEBUG", "3", 1);
    setenv("EVENSTEP_SECRET", "another", 1);
    setenv("EVENSTEP_FRONT_END", "another", 1);
    setenv("EVENSTEP_RANK", "9", 1);
    setenv(AGENTS, "energy", 1);
    setenv("_SLURM_SPANK_OPTION_evenstep_evenstep", "required", 1);
    test_good();
    test_wish();
    test_no_memory();
    return done();
}
