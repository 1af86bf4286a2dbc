/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/check_node.h"
#include "launcher/base/json_member.h"
#include "launcher/base/paths.h"
#include "launcher/base/slurm_conf.h"
#include "launcher/config/config_file.h"
#include "launcher/config/config_syntax.h"
#include "launcher/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sodium/crypto_generichash.h>
#include <sodium/utils.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define PLUGIN "EVENSTEP_PLUGIN" /* which it sets in each task */
#define SHM    "/dev/shm"
#define SHM_FREE                                                               \
    (16 << 20) /* bytes that a step wants: connection table, meters */
#define RUN     "/run/evenstep"
#define CALL_MS 3000
#define TMPFS   0x01021994 /* linux/magic.h */

void check_node_add(struct check_node *c,
                    enum check_reason reason,
                    const char *format,
                    ...)
{
    va_list args;

    if (reason < CHECK_REASONS)
        c->by_reason[reason]++;
    if (c->n == CHECK_FAULTS)
        return;
    va_start(args, format);
    (void)vsnprintf(c->fault[c->n++], CHECK_TEXT, format, args);
    va_end(args);
}

/* --- the programs, and what they read ------------------------------------- */

static void add_file(crypto_generichash_state *state, const char *path)
{
    char *text = path && *path ? config_file_text(path) : NULL;

    if (text) /* fails never */
        (void)crypto_generichash_update(state, (const unsigned char *)text,
                                        strlen(text) + 1);
    free(text);
}

/* Of the site's file and of the user's. */
static void digest_config(struct check_node *c)
{
    crypto_generichash_state state;
    unsigned char digest[CHECK_DIGEST];

    (void)crypto_generichash_init(&state, NULL, 0, sizeof digest);
    add_file(&state, EVENSTEP_CONF);
    add_file(&state, getenv("EVENSTEP_CONF"));
    (void)crypto_generichash_final(&state, digest, sizeof digest);
    (void)sodium_bin2hex(c->config, sizeof c->config, digest, sizeof digest);
}

static void look_at_config(struct check_node *c, struct config *config)
{
    struct es_error err;

    digest_config(c);
    if (config_load(config, NULL, &err) < 0) {
        check_node_add(c, CHECK_CONFIG, "the configuration is not taken: %s",
                       err.what);
        config->agent_path[0] = '\0';
    }
}

static void look_at_agent(struct check_node *c, const struct config *config)
{
    char path[4096];
    struct es_error err;

    if (path_of_agent(path, sizeof path, config->agent_path, &err) < 0)
        check_node_add(c, CHECK_AGENT, "%s: %s", err.what, err.mend);
}

/* --- where files of a step go ---------------------------------------------- */

static void look_at_shm(struct check_node *c)
{
    struct statfs s;
    char path[] = SHM "/evenstep-check-XXXXXX";
    int fd;

    if (statfs(SHM, &s) < 0 || s.f_type != TMPFS) {
        check_node_add(c, CHECK_SHM, SHM " is no tmpfs: mount one there");
        return;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        check_node_add(c, CHECK_SHM, SHM " takes no file: %s", strerror(errno));
        return;
    }
    (void)unlink(path);
    (void)close(fd);
    if ((double)s.f_bavail * (double)s.f_bsize < SHM_FREE)
        check_node_add(c, CHECK_SHM,
                       SHM " has %.0f MiB free, expected %d or more: see who "
                           "fills it (du -a " SHM ")",
                       (double)s.f_bavail * (double)s.f_bsize / (1 << 20),
                       SHM_FREE >> 20);
}

/* It is there when root's guard has run. */
static void look_at_run(struct check_node *c)
{
    struct stat s;

    if (lstat(RUN, &s) < 0)
        return;
    if (!S_ISDIR(s.st_mode) || s.st_uid != 0 || (s.st_mode & 022))
        check_node_add(c, CHECK_RUN,
                       RUN " is not a folder of root's alone: power is not "
                           "steered there (chown root " RUN ", chmod 755 " RUN
                           ")");
}

/* --- GPUs ------------------------------------------------------------------ */

static void look_at_gpus(struct check_node *c)
{
    struct probe_result result[ELEMENTS];
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.elements = PROBE_BIT(ELEMENT_G);
    if (probe_node(&setup, result, NULL) == 0
        && result[ELEMENT_G].state == PROBE_NOT_MEASURED)
        check_node_add(c, CHECK_GPU, "GPU: %s", result[ELEMENT_G].what);
}

/* --- the way there and back ------------------------------------------------- */

static int wait_for(int fd, short events, int ms)
{
    struct pollfd p = {.fd = fd, .events = events};
    int n;

    do
        n = poll(&p, 1, ms);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = ETIMEDOUT;
    return n > 0 ? 0 : -1;
}

/* 0, or -1 with errno. */
static int call(struct check_node *c, const struct address *to)
{
    int fd =
        socket(to->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct address own = {.len = sizeof own.at};
    socklen_t len = sizeof(int);
    int error = 0, saved;

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&to->at, to->len) < 0
        && (errno != EINPROGRESS || wait_for(fd, POLLOUT, CALL_MS) < 0))
        error = errno;
    else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (error == 0
        && getsockname(fd, (struct sockaddr *)&own.at, &own.len) == 0)
        (void)address_format(c->address, (const struct sockaddr *)&own.at);
    saved = error;
    (void)close(fd);
    errno = saved;
    return error ? -1 : 0;
}

static void set_port(struct sockaddr_storage *at, uint16_t port)
{
    if (at->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)at)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)at)->sin_port = htons(port);
}

/* At a port of the range, where agents of this node listen; -1 with errno. */
static int listen_here(struct check_node *c, struct port_range ports)
{
    struct address at;
    int fd;

    if (address_parse(&at, c->address, 0) < 0)
        return -1;
    fd = socket(at.at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (uint32_t port = ports.low; fd >= 0 && port <= ports.high; port++) {
        struct address own = {.len = sizeof own.at};

        set_port(&at.at, (uint16_t)port);
        if (bind(fd, (const struct sockaddr *)&at.at, at.len) == 0
            && listen(fd, 1) == 0
            && getsockname(fd, (struct sockaddr *)&own.at, &own.len) == 0) {
            c->port = address_port((const struct sockaddr *)&own.at);
            return fd;
        }
    }
    if (fd >= 0)
        (void)close(fd);
    errno = EADDRINUSE;
    return -1;
}

static struct port_range ports_of(const struct config *config)
{
    struct port_range ports = config->bcast.ports;
    char value[64];

    if (ports.low == 0
        && slurm_conf_find("SrunPortRange", value, sizeof value) == 0)
        (void)config_ports(&ports, value);
    return ports;
}

static void look_at_way(struct check_node *c,
                        const struct config *config,
                        const char *whom,
                        int *fd)
{
    char address[ADDRESS_MAX];
    struct address to;
    uint16_t port;

    if (address_split(address, &port, whom) < 0
        || address_parse(&to, address, port) < 0)
        return; /* the caller has looked */
    if (call(c, &to) < 0) {
        check_node_add(c, CHECK_PORTS,
                       "it cannot reach %s, where the command was typed: %s: "
                       "see the firewall, and SrunPortRange in slurm.conf",
                       whom, strerror(errno));
        return;
    }
    *fd = listen_here(c, ports_of(config));
    if (*fd < 0)
        check_node_add(
            c, CHECK_PORTS,
            "no port is free for an agent to listen at: see "
            "SrunPortRange in slurm.conf, or bcast { port_range } in "
            "evenstep.conf");
}

void check_node_wait(int fd)
{
    int caller = -1;

    if (fd < 0)
        return;
    if (wait_for(fd, POLLIN, 2 * CALL_MS) == 0)
        caller = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    if (caller >= 0)
        (void)close(caller);
    (void)close(fd);
}

/* --- all ------------------------------------------------------------------- */

void check_node_look(struct check_node *c, const char *whom, int *fd)
{
    const char *name = getenv("SLURMD_NODENAME");
    struct config config;
    struct timespec now;

    memset(c, 0, sizeof *c);
    *fd = -1;
    if (name)
        snprintf(c->node, sizeof c->node, "%s", name);
    else
        (void)gethostname(c->node, sizeof c->node - 1); /* else it is "" */
    c->node[strcspn(c->node, ".")] = '\0';
    snprintf(c->version, sizeof c->version, "%s", EVENSTEP_VERSION);
    c->has_plugin = getenv(PLUGIN) != NULL;
    c->is_step = getenv("SLURM_STEP_ID") != NULL;
    look_at_config(c, &config);
    look_at_agent(c, &config);
    look_at_shm(c);
    look_at_run(c);
    look_at_gpus(c);
    if (whom)
        look_at_way(c, &config, whom, fd);
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
    c->clock = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

json_t *check_node_json(const struct check_node *c)
{
    json_t *faults = json_array();
    json_t *all;

    for (uint32_t i = 0; i < c->n; i++)
        if (json_array_append_new(faults, json_text(c->fault[i])) < 0) {
            json_decref(faults);
            return NULL;
        }
    all = json_pack("{s:s, s:o, s:s, s:s, s:b, s:b, s:f, s:s, s:i}", "node",
                    c->node, "faults", faults, "version", c->version, "config",
                    c->config, "plugin", c->has_plugin, "step", c->is_step,
                    "clock", c->clock, "address", c->address, "port",
                    (int)c->port);
    return all;
}

static void take_text(char *to, size_t size, const json_t *all, const char *key)
{
    const char *text = json_string_value(json_object_get(all, key));

    snprintf(to, size, "%s", text ? text : "");
}

int check_node_read(struct check_node *c, const char *text)
{
    json_t *all = json_loads(text, 0, NULL);
    const json_t *faults = json_object_get(all, "faults");
    json_int_t port = json_integer_value(json_object_get(all, "port"));

    memset(c, 0, sizeof *c);
    take_text(c->node, sizeof c->node, all, "node");
    take_text(c->version, sizeof c->version, all, "version");
    take_text(c->config, sizeof c->config, all, "config");
    take_text(c->address, sizeof c->address, all, "address");
    c->port = port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0;
    c->has_plugin = json_is_true(json_object_get(all, "plugin"));
    c->is_step = json_is_true(json_object_get(all, "step"));
    c->clock = json_number_value(json_object_get(all, "clock"));
    for (size_t i = 0; i < json_array_size(faults); i++) {
        const char *fault = json_string_value(json_array_get(faults, i));

        if (fault)
            check_node_add(c, CHECK_TOLD, "%s", fault);
    }
    json_decref(all);
    return c->node[0] && c->version[0] ? 0 : -1;
}
