/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/config_file.h"
#include "launcher/base/text_file.h"
#include "launcher/config/config_syntax.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/threshold_option.h"
#include "launcher/probe/probe_cache.h"
#include "launcher/wire/protocol.h"
#include "policy/outlier.h"
#include "policy/power.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1 << 20) /* a configuration is a few KiB */
#define SMALL    (4 << 10)
/* Seconds; one task may read input for so long while others wait for it. */
#define PATIENCE_S 300
/* Seconds; the controller of Slurm serves everybody, and a drain may take
 * hours. */
#define DRAIN_INTERVAL_S 60
#define TIMEOUT_S        60 /* for agents to come */

/* The defaults of power { }. */
#define ACTUATOR    "off"      /* root writes nothing until the site says so */
#define CACHE       "/var/tmp" /* on disk, and lasts; /tmp may be memory */
#define CACHE_BYTES UINT64_C(10000000000)
/* As sbcast's own: what every node has. */
#define EXCLUDE_LIBS "/lib,/usr/lib,/lib64,/usr/lib64"
#define FLOOR        0.2
/* Watts of the examples for CN 103235742. */
static const struct power example_power = {10, 2, 5, 0};

static void defaults(struct config *c)
{
    const struct named_profile *named;
    const struct policy_kind *kind;

    memset(c, 0, sizeof *c);
    c->wireup = WIREUP_AUTO;
    strcpy(c->step_policy, KINDS_DEFAULT);
    c->step_threshold = (struct threshold_rule){THRESHOLD_PERCENT, 5};
    c->step_patience_s = PATIENCE_S;
    c->step_meter = STEP_METER_MPI;
    c->probe.budget_ms = PROBE_NODE_BUDGET_MS;
    c->probe.ttl_s = PROBE_CACHE_TTL_S;
    strcpy(c->probe.cache, PROBE_CACHE_DIR);
    c->probe.elements = PROBE_CORE;
    for (int e = 0; e < ELEMENTS; e++)
        c->probe.outlier[e] = OUTLIER_LIMIT;
    c->timeout_s = TIMEOUT_S;
    c->slurm.drain_interval_s = DRAIN_INTERVAL_S;
    c->bcast.small = SMALL;
    strcpy(c->bcast.cache, CACHE);
    strcpy(c->bcast.exclude_libs, EXCLUDE_LIBS);
    c->bcast.threads = THREADS_AUTO;
    c->bcast.cache_bytes = CACHE_BYTES;
    c->power = (struct config_power){.actuator = ACTUATOR,
                                     .floor = FLOOR,
                                     .bound = POWER_BOUND,
                                     .band = POWER_BAND,
                                     .gain = POWER_GAIN,
                                     .interval_ms = INTERVAL_MS,
                                     .aggregate = AGGREGATE_MIN,
                                     .within_nodes = 1,
                                     .energy = 1};
    c->energy = example_power;
    for (; (named = profile_at(c->profiles)) != NULL; c->profiles++) {
        struct config_profile *p = &c->profile[c->profiles];

        snprintf(p->name, sizeof p->name, "%s", named->name);
        p->profile = named->profile;
    }
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        policy_defaults(kind, c->policy[i]);
}

/* --- what a file gives takes the place of what was there ------------------ */

static void take_plugin(struct config *c, cfg_t *plugin)
{
    const char *on = cfg_getstr(plugin, "on_error");
    const char *path = cfg_getstr(plugin, "agent_path");
    const char *policy = cfg_getstr(plugin, "policy");
    const char *threshold = cfg_getstr(plugin, "threshold");
    const char *meter = cfg_getstr(plugin, "meter");
    long patience = cfg_getint(plugin, "patience");

    if (on)
        c->on_error = on_error_find(on);
    if (path)
        snprintf(c->agent_path, sizeof c->agent_path, "%s", path);
    if (policy) /* check_policy_name() took it */
        snprintf(c->step_policy, sizeof c->step_policy, "%s", policy);
    if (threshold)
        (void)threshold_option_take(&c->step_threshold, threshold, NULL);
    if (patience != NOT_GIVEN)
        c->step_patience_s = (int)patience;
    if (meter)
        c->step_meter = step_meter_find(meter);
    if (cfg_size(plugin, "lend") > 0) /* it was given */
        c->step_lend = cfg_getbool(plugin, "lend") == cfg_true;
    if (cfg_size(plugin, "report") > 0)
        c->step_report = cfg_getbool(plugin, "report") == cfg_true;
}

/* The first that a site's element is given makes it one. */
static void take_site(struct config_probe *p, enum element e, cfg_t *section)
{
    struct probe_site *site = &p->site[e - ELEMENT_SITE];
    const char *command = cfg_getstr(section, "command");
    const char *name = cfg_getstr(section, "name");
    const char *unit = cfg_getstr(section, "unit");
    const char *better = cfg_getstr(section, "better");
    long budget = cfg_getint(section, "budget_ms");

    if (!site->name[0]) {
        snprintf(site->name, sizeof site->name, "element %c",
                 element_letter(e));
        site->budget_ms = PROBE_NODE_BUDGET_MS;
        p->elements |= PROBE_BIT(e);
    }
    if (command)
        snprintf(site->command, sizeof site->command, "%s", command);
    if (name)
        snprintf(site->name, sizeof site->name, "%s", name);
    if (unit)
        snprintf(site->unit, sizeof site->unit, "%s", unit);
    if (better)
        site->less = strcmp(better, "less") == 0;
    if (budget != NOT_GIVEN)
        site->budget_ms = (int)budget;
}

static void take_element(struct config_probe *p, cfg_t *section)
{
    enum element e = config_element(cfg_title(section));
    const char *scratch = cfg_getstr(section, "scratch");
    double outlier = cfg_getfloat(section, "outlier");

    if (e >= ELEMENT_SITE)
        take_site(p, e, section);
    if (cfg_size(section, "measure") > 0) { /* it was given */
        p->elements &= ~PROBE_BIT(e);
        if (cfg_getbool(section, "measure"))
            p->elements |= PROBE_BIT(e);
    }
    if (!isnan(outlier))
        p->outlier[e] = outlier;
    if (scratch)
        snprintf(p->scratch, sizeof p->scratch, "%s", scratch);
}

static int take_probe(struct config_probe *p,
                      cfg_t *probe,
                      const char *name,
                      struct es_error *err)
{
    long budget = cfg_getint(probe, "budget_ms"),
         ttl = cfg_getint(probe, "ttl");
    const char *cache = cfg_getstr(probe, "cache");
    const char *rank_by = cfg_getstr(probe, "rank_by");

    if (budget != NOT_GIVEN)
        p->budget_ms = (int)budget;
    if (ttl != NOT_GIVEN)
        p->ttl_s = ttl;
    if (cache)
        snprintf(p->cache, sizeof p->cache, "%s", cache);
    if (rank_by)
        p->rank_by = rank_by_find(rank_by);
    for (unsigned i = 0; i < cfg_size(probe, "element"); i++)
        take_element(p, cfg_getnsec(probe, "element", i));
    for (int i = 0; i < SITE_ELEMENTS; i++)
        if (p->site[i].name[0] && !p->site[i].command[0])
            return es_fail(err, ES_USAGE, "give it one, that prints a number",
                           "%s: probe: element \"%c\" has no command", name,
                           element_letter((enum element)(ELEMENT_SITE + i)));
    return 0;
}

/* A key that was not given is NaN. */
static void take_params(const struct policy_kind *kind,
                        double value[],
                        cfg_t *section)
{
    for (size_t k = 0; k < kind->n_params; k++) {
        double v = cfg_getfloat(section, kind->params[k].key);

        if (!isnan(v))
            value[k] = v;
    }
}

/* Add a set, or replace the one of that name: what it does not give is as its
 * kind's.  -1: there are too many. */
static int take_set(struct config *c, cfg_t *section)
{
    const struct policy_kind *kind = kinds_find(cfg_getstr(section, "kind"));
    const struct config_set *old =
        policy_option_find_set(c, cfg_title(section));
    size_t at = old ? (size_t)(old - c->set) : c->sets;

    if (at == POLICY_SETS_MAX)
        return -1;
    c->sets += !old;
    snprintf(c->set[at].name, sizeof c->set[at].name, "%s", cfg_title(section));
    c->set[at].kind = kind;
    memcpy(c->set[at].value, c->policy[kinds_place(kind)],
           sizeof c->set[at].value);
    take_params(kind, c->set[at].value, section);
    return 0;
}

/* The kinds' own first, which the sets go by. */
static int take_policies(struct config *c,
                         cfg_t *cfg,
                         const char *name,
                         struct es_error *err)
{
    for (unsigned i = 0; i < cfg_size(cfg, "policy"); i++) {
        cfg_t *section = cfg_getnsec(cfg, "policy", i);
        const struct policy_kind *kind = kinds_find(cfg_title(section));

        if (kind)
            take_params(kind, c->policy[kinds_place(kind)], section);
    }
    for (unsigned i = 0; i < cfg_size(cfg, "policy"); i++) {
        cfg_t *section = cfg_getnsec(cfg, "policy", i);

        if (!kinds_find(cfg_title(section)) && take_set(c, section) < 0)
            return es_fail(err, ES_USAGE, "give at most 64",
                           "%s: there are too many sets of parameters", name);
    }
    return 0;
}

/* A policy that a section names is a kind, or a set that is known by now. */
static int check_named(const struct config *c,
                       const char *policy,
                       const char *name,
                       const cfg_t *section,
                       const char *what,
                       struct es_error *err)
{
    char mend[POLICY_NAMES_MAX];

    if (kinds_find(policy) || policy_option_find_set(c, policy))
        return 0;
    policy_option_names(c, mend, sizeof mend);
    return es_fail(err, ES_USAGE, mend,
                   "%s:%d: %s: policy is out of range: \"%s\" is unknown", name,
                   section->line, what, policy);
}

static int check_names(const struct config *c,
                       cfg_t *cfg,
                       const char *name,
                       struct es_error *err)
{
    cfg_t *plugin = cfg_getsec(cfg, "plugin");
    const char *own = cfg_getstr(plugin, "policy");
    char what[PROFILE_NAME_MAX + 16];

    if (own && check_named(c, own, name, plugin, "plugin", err) < 0)
        return -1;
    for (unsigned i = 0; i < cfg_size(cfg, "profile"); i++) {
        cfg_t *section = cfg_getnsec(cfg, "profile", i);
        const char *policy = cfg_getstr(section, "policy");

        snprintf(what, sizeof what, "profile \"%s\"", cfg_title(section));
        if (policy && check_named(c, policy, name, section, what, err) < 0)
            return -1;
    }
    return 0;
}

/* Add a profile, or replace the one of that name.  -1: there are too many. */
static int take_profile(struct config *c, cfg_t *section)
{
    const char *name = cfg_title(section);
    const char *policy = cfg_getstr(section, "policy");
    size_t i = 0;

    while (i < c->profiles && strcmp(c->profile[i].name, name) != 0)
        i++;
    if (i == PROFILES_MAX)
        return -1;
    if (i == c->profiles)
        c->profiles++;
    snprintf(c->profile[i].name, sizeof c->profile[i].name, "%s", name);
    c->profile[i].profile = config_influence(section);
    for (enum element e = 0; e < ELEMENTS; e++)
        c->profile[i].need[e] = config_need(section, e);
    snprintf(c->profile[i].policy, sizeof c->profile[i].policy, "%s",
             policy ? policy : "");
    return 0;
}

static void take_slurm(struct config_slurm *s, cfg_t *slurm)
{
    long interval = cfg_getint(slurm, "drain_interval");

    if (interval != NOT_GIVEN)
        s->drain_interval_s = (int)interval;
    if (cfg_size(slurm, "job_comment") > 0) /* it was given */
        s->job_comment = cfg_getbool(slurm, "job_comment") == cfg_true;
}

static void take_agents(struct config *c, cfg_t *agents)
{
    long timeout = cfg_getint(agents, "timeout");
    long linger = cfg_getint(agents, "linger");

    if (timeout != NOT_GIVEN)
        c->timeout_s = (int)timeout;
    if (linger != NOT_GIVEN)
        c->linger_s = (int)linger;
}

static void take_bcast(struct config_bcast *b, cfg_t *bcast)
{
    long branches = cfg_getint(bcast, "branches");
    long chunk = cfg_getint(bcast, "chunk");
    long small = cfg_getint(bcast, "small");
    long cache_mb = cfg_getint(bcast, "cache_mb");
    const char *ports = cfg_getstr(bcast, "port_range");
    const char *interface = cfg_getstr(bcast, "interface");
    const char *cache = cfg_getstr(bcast, "cache");
    const char *exclude_libs = cfg_getstr(bcast, "exclude_libs");
    const char *compress = cfg_getstr(bcast, "compress");
    const char *scheme = cfg_getstr(bcast, "scheme");
    const char *transport = cfg_getstr(bcast, "transport");
    const char *threads = cfg_getstr(bcast, "threads");

    if (branches != NOT_GIVEN)
        b->branches = (uint32_t)branches;
    if (chunk != NOT_GIVEN)
        b->chunk = (uint32_t)chunk;
    if (small != NOT_GIVEN)
        b->small = (uint32_t)small;
    if (cache_mb != NOT_GIVEN)
        b->cache_bytes = (uint64_t)cache_mb * 1000000;
    if (cache)
        snprintf(b->cache, sizeof b->cache, "%s", cache);
    if (exclude_libs) /* check_exclude_libs() took it */
        snprintf(b->exclude_libs, sizeof b->exclude_libs, "%s", exclude_libs);
    if (compress) /* check_compress() took it */
        b->compress = (enum pack)pack_find(compress);
    if (cfg_size(bcast, "rails") > 0)
        b->rails = cfg_getbool(bcast, "rails") == cfg_true;
    if (transport) /* check_transport() took it */
        b->transport = (enum transport)transport_find(transport);
    if (threads) /* check_threads() took it */
        b->threads = threads_read(threads);
    if (scheme) /* check_scheme() took it */
        b->strict = strcmp(scheme, "strict") == 0;
    if (ports)
        (void)config_ports(&b->ports, ports); /* check_ports() took it */
    if (interface)                            /* check_interface() took it */
        snprintf(b->interface, sizeof b->interface, "%s", interface);
}

static void take_share(double *v, cfg_t *power, const char *key)
{
    double given = cfg_getfloat(power, key);

    if (!isnan(given))
        *v = given;
}

static int take_budgets(struct config_power *p, cfg_t *power)
{
    for (unsigned i = 0; i < cfg_size(power, "budget"); i++) {
        cfg_t *section = cfg_getnsec(power, "budget", i);
        const char *rack = cfg_title(section);
        size_t k = 0;

        while (k < p->budgets && strcmp(p->budget[k].rack, rack) != 0)
            k++;
        if (k == BUDGETS_MAX)
            return -1;
        if (k == p->budgets)
            p->budgets++;
        snprintf(p->budget[k].rack, sizeof p->budget[k].rack, "%s", rack);
        p->budget[k].most = cfg_getfloat(section, "most");
    }
    return 0;
}

static void take_power(struct config_power *p, cfg_t *power)
{
    const char *actuator = cfg_getstr(power, "actuator");
    const char *how = cfg_getstr(power, "aggregate");
    long interval = cfg_getint(power, "interval_ms");

    if (actuator)
        snprintf(p->actuator, sizeof p->actuator, "%s", actuator);
    if (how)
        p->aggregate = aggregate_find(how);
    if (interval != NOT_GIVEN)
        p->interval_ms = (int)interval;
    if (cfg_size(power, "within_nodes") > 0) /* it was given */
        p->within_nodes = cfg_getbool(power, "within_nodes") != cfg_false;
    if (cfg_size(power, "energy") > 0)
        p->energy = cfg_getbool(power, "energy") != cfg_false;
    take_share(&p->cap, power, "cap");
    p->has_start = !isnan(cfg_getfloat(power, "start"));
    take_share(&p->floor, power, "floor");
    take_share(&p->bound, power, "bound");
    take_share(&p->band, power, "band");
    take_share(&p->gain, power, "gain");
}

/* 1 if it is given. */
static int take_watts(double *watts, cfg_t *energy, const char *key)
{
    double v = cfg_getfloat(energy, key);

    if (isnan(v))
        return 0;
    *watts = v;
    return 1;
}

static void take_energy(struct config *c, cfg_t *energy)
{
    struct power *p = &c->energy;

    c->has_energy = take_watts(&p->busy, energy, "busy");
    c->has_energy |= take_watts(&p->idle, energy, "idle");
    (void)take_watts(&p->link, energy, "link");
    c->has_energy |= take_watts(&p->base, energy, "base");
}

static void take_wireup(enum wireup_way *way, cfg_t *cfg)
{
    const char *name = cfg_getstr(cfg, "wireup");
    int given = name ? wireup_way_find(name) : -1;

    if (given >= 0)
        *way = (enum wireup_way)given;
}

static int take_all(struct config *c,
                    cfg_t *cfg,
                    const char *name,
                    struct es_error *err)
{
    if (cfg_size(cfg, "encrypt") > 0) /* it was given */
        c->encrypt = cfg_getbool(cfg, "encrypt") != cfg_false;
    take_wireup(&c->wireup, cfg);
    take_plugin(c, cfg_getsec(cfg, "plugin"));
    if (take_probe(&c->probe, cfg_getsec(cfg, "probe"), name, err) < 0)
        return -1;
    take_slurm(&c->slurm, cfg_getsec(cfg, "slurm"));
    take_agents(c, cfg_getsec(cfg, "agents"));
    take_bcast(&c->bcast, cfg_getsec(cfg, "bcast"));
    take_power(&c->power, cfg_getsec(cfg, "power"));
    if (take_budgets(&c->power, cfg_getsec(cfg, "power")) < 0)
        return es_fail(err, ES_USAGE, "give at most 512",
                       "%s: power: there are too many budgets", name);
    take_energy(c, cfg_getsec(cfg, "energy"));
    if (take_policies(c, cfg, name, err) < 0)
        return -1;
    for (unsigned i = 0; i < cfg_size(cfg, "profile"); i++)
        if (take_profile(c, cfg_getnsec(cfg, "profile", i)) < 0)
            return es_fail(err, ES_USAGE,
                           "give at most 32, with those that are shipped",
                           "%s: there are too many profiles", name);
    return check_names(c, cfg, name, err);
}

int config_read(struct config *c,
                const char *name,
                const char *text,
                struct es_error *err)
{
    cfg_t *cfg = config_parse(name, text, err);
    struct config read = *c;
    int rc;

    if (!cfg)
        return -1;
    rc = take_all(&read, cfg, name, err);
    cfg_free(cfg);
    if (rc == 0)
        *c = read;
    return rc;
}

/* One that an editor has put before a text of n bytes; its NUL comes, too. */
static void skip_mark(char *text, size_t n)
{
    size_t mark = text_file_mark(text, n);

    memmove(text, text + mark, n - mark + 1);
}

char *config_file_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    struct stat st;
    ssize_t n = -1;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) < 0) {
        n = -1;
    } else if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
        errno = EINVAL;
    } else {
        text = calloc(1, (size_t)st.st_size + 1);
        if (text)
            n = read(fd, text, (size_t)st.st_size);
        if (n > 0 && memchr(text, '\0', (size_t)n)) {
            errno = EILSEQ; /* text behind a NUL would be ignored */
            n = -1;
        }
    }
    if (n < 0) {
        free(text);
        text = NULL;
    } else {
        skip_mark(text, (size_t)n);
    }
    close(fd);
    return text;
}

static int load_file(struct config *c,
                     const char *path,
                     int may_be_missing,
                     struct es_error *err)
{
    char *text = config_file_text(path);
    int rc;

    if (!text && errno == ENOENT && may_be_missing)
        return 0;
    if (!text)
        return es_fail(err, ES_USAGE, "name a readable file of at most 1 MiB",
                       "configuration %s: %s", path, strerror(errno));
    rc = config_read(c, path, text, err);
    free(text);
    return rc;
}

int config_load(struct config *c, const char *site, struct es_error *err)
{
    const char *own = getenv("EVENSTEP_CONF");

    defaults(c);
    if (load_file(c, site ? site : EVENSTEP_CONF, site == NULL, err) < 0)
        return -1;
    return own && *own ? load_file(c, own, 0, err) : 0;
}
