/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/launch.h"
#include "launcher/base/front_address.h"
#include "launcher/base/step_dir.h"
#include "launcher/exec/execution.h"
#include "launcher/exec/orphans.h"
#include "launcher/exec/throttle.h"
#include "launcher/session/agent_environ.h"
#include "launcher/session/srun_words.h"
#include "pmix_bcast/pmix_host.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STARTS 2 /* of the companion step; one more that finds no PMIx */
#define LEAVE_MOST                                                             \
    4 /* more, each without some nodes whose agents do not come */
#define WORDS_MS                                                               \
    100 /* from an agent's end to its last words, in either order */
/* Agents of --local that are on their way, a CPU and at least: more would only
 * be slow together, and our own loop is to hear those that call. */
#define AHEAD_EACH 4
#define AHEAD_MIN  16
/* Name of an agent of --local. */
#define LOCAL_NODE "local%zu"
/* What its commands, and all that these start, are known by. */
#define LOCAL_MARK "EVENSTEP_LOCAL"

struct process { /* srun, one a start, or one agent of --local */
    struct launch *launch;
    struct execution *execution;
};

struct launch {
    struct launch_setup s;
    size_t local;               /* agents of --local; 0: by Slurm */
    char *agent;                /* their program */
    int *speed;                 /* of theirs, or NULL */
    char **command;             /* srun's arguments */
    char record[STEP_PATH_MAX]; /* "": the agents do not linger */
    const char *fence;
    struct pmix_host *pmix; /* of --local, or NULL */
    struct process *process;
    size_t n_processes, running;
    size_t starts, starts_max;
    size_t left_out, left_at; /* how often nodes were, at which start */
    int by_tcp, guard, energy;
    char interfaces[NETWORK_LIST_MAX];
    char said[600];
    struct srun_words words; /* of the current srun */
    struct event *look; /* soon, at what it has said of agents that ended */
};

/* --- what srun says ------------------------------------------------------- */

static void look_soon(struct launch *l)
{
    static const struct timeval soon = {0, WORDS_MS * 1000};

    if (!evtimer_pending(l->look, NULL))
        (void)evtimer_add(l->look, &soon); /* else the deadline finds them */
}

void launch_look(struct launch *l)
{
    for (; l->words.seen < l->words.n_ends; l->words.seen++) {
        const struct srun_end *e = &l->words.end[l->words.seen];
        const struct launch_absent absent = {
            .first = e->first,
            .last = e->last,
            .node = e->node,
            .why = srun_words_why(&l->words, e),
            .not_executed = srun_words_not_executed(&l->words, e)};

        if (!l->s.absent(l->s.arg, &absent)) {
            look_soon(l);
            return;
        }
    }
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    launch_look(arg);
}

static void on_srun_said(void *arg, const void *buf, size_t len)
{
    struct process *p = arg;
    struct launch *l = p->launch;

    if (p != &l->process[l->starts - 1])
        return; /* of a start before */
    srun_words_take(&l->words, buf, len);
    if (l->words.seen < l->words.n_ends)
        look_soon(l);
    if (l->words.aborted && l->s.aborted)
        l->s.aborted(l->s.arg);
}

/* --- the end of a process ------------------------------------------------- */

/* "2: no" of srun's --label becomes "no", in each line of text. */
static void drop_labels(char *text)
{
    char *to = text;

    while (*text) {
        const char *from = srun_words_unlabelled(text);
        size_t len = strcspn(from, "\n");

        len += from[len] == '\n';
        text += (from - text) + (ptrdiff_t)len;
        memmove(to, from, len);
        to += len;
    }
    *to = '\0';
}

/* Keep the end of what was said, as one line. */
static void keep_said(struct launch *l, const char *text, size_t len)
{
    size_t room = sizeof l->said - 1;

    while (len > 0 && text[len - 1] == '\n')
        len--;
    if (len == 0)
        return;
    if (len > room) {
        text += len - room;
        len = room;
    }
    memcpy(l->said, text, len);
    l->said[len] = '\0';
    drop_labels(l->said);
    for (char *p = l->said; *p; p++)
        if (*p == '\n')
            *p = ';';
}

static void local_name(const struct launch *l, size_t i, char name[32])
{
    if (l->s.join)
        snprintf(name, 32, "%s", l->s.join->local[i]);
    else
        snprintf(name, 32, LOCAL_NODE, i);
}

/* What an agent of --local that was killed has left. */
static void sweep(const struct process *p)
{
    char name[32], group[STEP_NAME_MAX], entry[STEP_NAME_MAX + 32];

    local_name(p->launch, (size_t)(p - p->launch->process), name);
    step_dir_local_name(group, (int)getpid(), name);
    snprintf(entry, sizeof entry, LOCAL_MARK "=%s", group);
    (void)orphans_end(entry);
    throttle_sweep(group);
    step_dir_remove(group);
}

static void on_process_end(void *arg, const struct execution_end *end)
{
    struct process *p = arg;
    struct launch *l = p->launch;
    int is_last = l->local || p == &l->process[l->starts - 1];
    int ended_early = !l->local || end->status != 0;

    if (end->status != 0
        && is_last) /* else it is a warning of srun's at most */
        keep_said(l, end->err_tail, end->err_len);
    if (end->exec_errno)
        snprintf(l->said, sizeof l->said, "%s: %s",
                 l->local ? "evenstep-agent" : "srun",
                 strerror(end->exec_errno));
    if (l->local && end->signal)
        sweep(p);
    execution_destroy(p->execution); /* and *end with it */
    p->execution = NULL;
    l->running--;
    if (l->running == 0)
        l->s.ended(l->s.arg);
    if (ended_early && is_last)
        l->s.failed(l->s.arg);
}

/* --- start ---------------------------------------------------------------- */

static int start_process(struct launch *l,
                         size_t i,
                         char *const argv[],
                         char *const env[],
                         struct es_error *err)
{
    /* An agent must have the time to clean up, srun to end its step. */
    struct execution_spec spec = {
        .argv = argv, .envp = env, .orphan_signal = SIGTERM};
    struct process *p = &l->process[i];

    p->launch = l;
    if (execution_start(&p->execution, l->s.base, &spec, NULL, on_process_end,
                        p, err)
        < 0)
        return -1;
    l->running++;
    return 0;
}

static char **make_environ(const struct launch *l, size_t *n)
{
    char address[ADDRESS_MAX];
    struct agent_environ e = {.secret = l->s.secret,
                              .address = address,
                              .port = l->s.port,
                              .ports = l->s.ports,
                              .by_tcp = l->by_tcp,
                              .guard = l->guard,
                              .energy = l->energy,
                              .interfaces = l->interfaces};

    if (l->s.join && l->s.join->address)
        snprintf(address, sizeof address, "%s", l->s.join->address);
    else if (l->local)
        snprintf(address, sizeof address, "%s",
                 address_loopback_text(address_own_loopback()));
    else
        front_address_find(companion_job_nodes(), address);
    return agent_environ_make(&e, n);
}

/*
 * Around a srun whose agents may linger: it gets SIGTERM when we end, as srun
 * would, and passes it on unless there is a record of agents that stay.  When
 * srun has ended, nothing of that is left.
 */
static const char keeper[] =
    "record=$1; shift\n"
    "trap 'test -e \"$record\" || kill \"$run\" 2>/dev/null' TERM\n"
    "\"$@\" & run=$!\n"
    "while :; do wait $run; code=$?; kill -0 $run 2>/dev/null || break; done\n"
    "rm -f \"$record\"; rmdir \"${record%/*}\" \"${record%/*/*}\" 2>/dev/null\n"
    "exit $code\n";

/* The caller frees the array, the words are not its own. */
static char **keep_words(struct launch *l)
{
    static const char *const front[] = {"/bin/sh", "-c", keeper,
                                        "evenstep-linger"};
    size_t n = 0, k = sizeof front / sizeof front[0];
    char **words;

    while (l->command[n])
        n++;
    words = calloc(k + n + 2, sizeof *words);
    if (!words)
        return NULL;
    memcpy(words, front, sizeof front); /* execve(2) writes to none of them */
    words[k] = l->record;
    memcpy(words + k + 1, l->command, n * sizeof *words);
    return words;
}

static int start_srun(struct launch *l, char **env, struct es_error *err)
{
    char **words = l->record[0] ? keep_words(l) : l->command;
    int rc = words ? start_process(l, l->starts++, words, env, err)
                   : es_no_memory(err);

    memset(&l->words, 0, sizeof l->words);
    if (rc == 0 && l->s.absent)
        execution_hear_err(l->process[l->starts - 1].execution, on_srun_said);
    if (words != l->command)
        free(words);
    return rc;
}

/* Which seats the agents have, if they join. */
static int put_join(const struct launch *l, char ***env, size_t *n)
{
    const struct launch_join *j = l->s.join;
    char agents[24];

    if (!j)
        return 0;
    snprintf(agents, sizeof agents, "%u", j->agents);
    return agent_environ_put(env, n, "EVENSTEP_AGENTS", agents) < 0
                   || agent_environ_put(env, n, "EVENSTEP_SEATS", j->seats) < 0
               ? -1
               : 0;
}

static int start_companion(struct launch *l, struct es_error *err)
{
    size_t n;
    char **env = make_environ(l, &n);
    int rc;

    if (env && agent_environ_put(&env, &n, COMPANION_FENCE, l->fence) == 0
        && put_join(l, &env, &n) == 0)
        rc = start_srun(l, env, err);
    else
        rc = es_no_memory(err);
    agent_environ_free(env);
    return rc;
}

static int start_agent(struct launch *l, size_t rank, struct es_error *err)
{
    char name[32], speed[16], number[24], agents[24], mark[STEP_NAME_MAX];
    char *argv[] = {l->agent, NULL};
    size_t n;
    char **env = make_environ(l, &n);
    int rc = -1;

    local_name(l, rank, name);
    step_dir_local_name(mark, (int)getpid(), name);
    snprintf(speed, sizeof speed, "%d", l->speed ? l->speed[rank] : 0);
    snprintf(number, sizeof number, "%zu", rank);
    snprintf(agents, sizeof agents, "%zu", l->local);
    if (!env || agent_environ_put(&env, &n, "EVENSTEP_AGENT", name) < 0
        || agent_environ_put(&env, &n, LOCAL_MARK, mark) < 0
        || (l->s.join
                ? put_join(l, &env, &n) < 0
                : agent_environ_put(&env, &n, "EVENSTEP_RANK", number) < 0
                      || agent_environ_put(&env, &n, "EVENSTEP_AGENTS", agents)
                             < 0)
        || agent_environ_put(&env, &n, "EVENSTEP_SPEED", speed) < 0)
        rc = es_no_memory(err);
    else if (l->by_tcp || pmix_host_environ(l->pmix, rank, &env, err) == 0)
        rc = start_process(l, rank, argv, env, err);
    agent_environ_free(env);
    return rc;
}

static size_t most_ahead(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return cpus * AHEAD_EACH > AHEAD_MIN ? (size_t)(cpus * AHEAD_EACH)
                                         : AHEAD_MIN;
}

int launch_more(struct launch *l, size_t came, struct es_error *err)
{
    size_t most = came + most_ahead();

    for (; l->starts < l->local && l->starts < most; l->starts++)
        if (start_agent(l, l->starts, err) < 0)
            return -1;
    return 0;
}

int launch_start(struct launch *l, struct es_error *err)
{
    if (!l->local)
        return start_companion(l, err);
    if (!l->by_tcp && !l->pmix && pmix_host_start(&l->pmix, l->local, err) < 0)
        return -1;
    return launch_more(l, 0, err);
}

/* --- before ---------------------------------------------------------------- */

static int prepare_local(struct launch *l,
                         const struct session_setup *setup,
                         struct es_error *err)
{
    size_t bytes = setup->local * sizeof *l->speed;

    l->agent = strdup(setup->agent_path);
    if (setup->local_speed) {
        l->speed = malloc(bytes);
        if (l->speed)
            memcpy(l->speed, setup->local_speed, bytes);
    }
    if (!l->agent || (setup->local_speed && !l->speed))
        return es_no_memory(err);
    return 0;
}

static int prepare_companion(struct launch *l,
                             const struct session_setup *setup,
                             struct es_error *err)
{
    l->fence = companion_fence(&setup->place);
    if (companion_argv(&l->command, &setup->place, setup->agent_path, err) < 0)
        return -1;
    if (l->by_tcp && companion_leave_pmix(l->command) < 0)
        return es_no_memory(err);
    return 0;
}

int launch_open(struct launch **out,
                const struct launch_setup *setup,
                struct es_error *err)
{
    const struct session_setup *s = setup->session;
    struct launch *l = calloc(1, sizeof *l);
    int rc;

    if (!l)
        return es_no_memory(err);
    l->s = *setup;
    l->s.session = NULL; /* it may be forgotten */
    l->local = s->local;
    if (setup->record)
        snprintf(l->record, sizeof l->record, "%s", setup->record);
    l->by_tcp = s->wireup == WIREUP_TCP;
    l->guard = s->guard;
    l->energy = s->energy;
    if (s->interfaces)
        snprintf(l->interfaces, sizeof l->interfaces, "%s", s->interfaces);
    l->starts_max = STARTS;
    l->n_processes = s->local ? s->local : STARTS + 1 + LEAVE_MOST;
    l->process = calloc(l->n_processes, sizeof *l->process);
    l->look = evtimer_new(l->s.base, on_look, l);
    if (!l->process || !l->look)
        rc = es_no_memory(err);
    else
        rc = s->local ? prepare_local(l, s, err) : prepare_companion(l, s, err);
    if (rc < 0) {
        launch_destroy(l);
        return -1;
    }
    *out = l;
    return 0;
}

/* --- afterwards ------------------------------------------------------------ */

int launch_may_repeat(const struct launch *l)
{
    return !l->local && l->starts < l->starts_max;
}

int launch_without_pmix(struct launch *l)
{
    if (companion_leave_pmix(l->command) < 0)
        return -1;
    l->by_tcp = 1;
    l->starts_max++;
    return 0;
}

int launch_leave_out(struct launch *l, const char *list, uint32_t left)
{
    int is_more = l->left_at != l->starts; /* than since the last start */

    if (l->local || (is_more && l->left_out == LEAVE_MOST)
        || companion_leave_out(l->command, list, left) < 0)
        return -1;
    l->left_out += is_more != 0;
    l->starts_max += is_more != 0;
    l->left_at = l->starts;
    l->fence = COMPANION_FENCE_PART;
    return 0;
}

int launch_rejoin(struct launch *l,
                  const struct launch_join *j,
                  const char *list,
                  uint32_t n,
                  struct es_error *err)
{
    if (l->local || l->starts == l->n_processes
        || companion_take_only(l->command, list, n) < 0
        || companion_leave_pmix(l->command) < 0)
        return es_fail(err, ES_ENV, "leave nodes out that Slurm cannot reach",
                       "the agents cannot be started again");
    l->by_tcp = 1;
    l->s.join = j;
    launch_stop(l);
    return launch_start(l, err);
}

int launch_is_aborted(const struct launch *l)
{
    for (size_t i = 0; l->words.aborted && i < l->words.n_ends; i++)
        if (l->words.end[i].first == SRUN_WORDS_NO_TASK)
            return 1;
    return 0;
}

int launch_is_by_tcp(const struct launch *l)
{
    return l->by_tcp;
}

const char *launch_interfaces(const struct launch *l)
{
    return l->interfaces;
}

const char *launch_queued(const struct launch *l)
{
    return l->words.queued;
}

const char *launch_said(const struct launch *l)
{
    return l->said;
}

pid_t launch_keeper(const struct launch *l)
{
    const struct execution *x =
        l->starts > 0 ? l->process[l->local ? 0 : l->starts - 1].execution
                      : NULL;

    return x ? execution_group(x) : 0;
}

size_t launch_running(const struct launch *l)
{
    return l->running;
}

void launch_stop(struct launch *l)
{
    for (size_t i = 0; i < l->n_processes; i++)
        if (l->process[i].execution)
            execution_stop(l->process[i].execution);
}

void launch_release(struct launch *l)
{
    for (size_t i = 0; i < l->n_processes; i++) {
        execution_release(l->process[i].execution);
        l->process[i].execution = NULL;
    }
    l->running = 0;
}

void launch_destroy(struct launch *l)
{
    if (!l)
        return;
    for (size_t i = 0; l->process && i < l->n_processes; i++)
        execution_destroy(l->process[i].execution);
    pmix_host_stop(l->pmix);
    if (l->look)
        event_free(l->look);
    free(l->process);
    free(l->agent);
    free(l->speed);
    companion_argv_free(l->command);
    free(l);
}
