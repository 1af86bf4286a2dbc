/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file is read whole and parsed from memory with one more option behind it:
 * libconfuse takes a file that ends within a section or a comment for a whole
 * one, and the last option then does not arrive at the top level.
 */
#include "launcher/config.h"
#include "launcher/policy_option.h"
#include "launcher/probe_cache.h"
#include "launcher/profile_auto.h"
#include "launcher/protocol.h"
#include "pmix_bcast/plan.h"
#include "policy/outlier.h"
#include "policy/power.h"

#include <confuse.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX   (1 << 20) /* a configuration is a few KiB */
#define KEYS_MAX   64        /* parameters of all policies together */
#define END_OPTION "__end"

#define TTL_MAX     (366L * 86400) /* a year: longer has no node the same boot */
#define OUTLIER_MAX 1000           /* robust deviations: never, in practice */

#define SMALL     (4 << 10)
#define SMALL_MAX (64 << 10) /* an order is kept whole, for every node */

/* power { }: as it is built in. */
#define ACTUATOR "cgroup" /* reaches nobody but the step */
#define START    0.8      /* below full speed: room to shift (seed 3) */
#define FLOOR    0.2
/* Watts of the sheet's examples: seed 5, section 8. */
static const struct power example_power = {10, 2, 5, 0};
#define WATTS_MAX 1e6

static const char see_example[] = "see etc/evenstep.conf for what is known";

static void defaults(struct config *c)
{
    const struct named_profile *named;
    const struct policy_kind *kind;

    memset(c, 0, sizeof *c);
    c->probe.budget_ms = PROBE_NODE_BUDGET_MS;
    c->probe.ttl_s = PROBE_CACHE_TTL_S;
    strcpy(c->probe.cache, PROBE_CACHE_DIR);
    c->probe.elements = PROBE_ALL;
    for (int e = 0; e < ELEMENTS; e++)
        c->probe.outlier[e] = OUTLIER_LIMIT;
    c->bcast.small = SMALL;
    c->power = (struct config_power){.actuator = ACTUATOR,
                                     .start = START,
                                     .floor = FLOOR,
                                     .bound = POWER_BOUND,
                                     .band = POWER_BAND,
                                     .gain = POWER_GAIN,
                                     .interval_ms = INTERVAL_MS,
                                     .aggregate = AGGREGATE_MIN};
    c->energy = example_power;
    for (; (named = profile_at(c->profiles)) != NULL; c->profiles++) {
        struct config_profile *p = &c->profile[c->profiles];

        snprintf(p->name, sizeof p->name, "%s", named->name);
        p->profile = named->profile;
    }
    for (size_t i = 0; (kind = policy_at(i)) != NULL; i++)
        policy_defaults(kind, c->policy[i]);
}

/* libconfuse's error callback has no pointer of ours. */
struct parsing {
    struct es_error err;
    const char *name; /* of the file */
    long end;         /* value of the option behind it: its length */
};
static _Thread_local struct parsing parsing;

__attribute__((format(printf, 2, 0))) static void on_error(cfg_t *cfg,
                                                           const char *fmt,
                                                           va_list ap)
{
    char what[300];

    if (parsing.err.kind != ES_OK)
        return; /* the first one says most */
    vsnprintf(what, sizeof what, fmt, ap);
    if (strstr(what, END_OPTION))
        es_fail(&parsing.err, ES_USAGE, "close it",
                "%s: a section or comment is open at its end", parsing.name);
    else
        es_fail(&parsing.err, ES_USAGE, see_example, "%s:%d: %s", parsing.name,
                cfg->line, what);
}

/* --- called by libconfuse for each value, as long as the line is known ---- */

__attribute__((format(printf, 3, 4))) static int refuse(const cfg_t *cfg,
                                                        const char *mend,
                                                        const char *fmt,
                                                        ...)
{
    char what[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return es_fail(&parsing.err, ES_USAGE, mend, "%s:%d: %s", parsing.name,
                   cfg->line, what);
}

static int check_on_error(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *on = cfg_opt_getnstr(opt, 0);

    if (strcmp(on, "continue") == 0 || strcmp(on, "fail") == 0)
        return 0;
    return refuse(cfg, "give \"continue\" or \"fail\"",
                  "plugin: on_error is out of range");
}

static int check_path(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *path = cfg_opt_getnstr(opt, 0);

    if (path[0] == '/' && strlen(path) < sizeof((struct config *)0)->agent_path)
        return 0;
    return refuse(cfg, "give the full path of evenstep-agent",
                  "plugin: agent_path is out of range");
}

/* The keys that take a whole number.  libconfuse's own default says that a
 * key was not given, and is in no range. */
#define NOT_GIVEN (-1)
static const struct whole {
    const char *key;
    long min, max;
    const char *mend;
} wholes[] = {
    {"budget_ms", PROBE_NODE_BUDGET_MIN_MS, PROBE_NODE_BUDGET_MAX_MS,
     "give 200 to 10000"},
    {"ttl", 0, TTL_MAX, "give 0 to 31622400 seconds"},
    {"branches", 0, PLAN_NODES_MAX, "give 1 to 65536, or 0 for the best"},
    {"chunk", 0, CHUNK_MAX, "give 1024 to 4194304, or 0 for the best"},
    {"small", 0, SMALL_MAX, "give 0 to 65536"},
    {"interval_ms", INTERVAL_MIN_MS, INTERVAL_MAX_MS, "give 1 to 10000"},
};

static int check_whole(cfg_t *cfg, cfg_opt_t *opt)
{
    long v = cfg_opt_getnint(opt, 0);
    const struct whole *w = wholes;

    while (strcmp(w->key, opt->name) != 0)
        w++;
    if (v >= w->min && v <= w->max
        && !(strcmp(w->key, "chunk") == 0 && v > 0 && v < CHUNK_MIN))
        return 0;
    return refuse(cfg, w->mend, "%s: %s is out of range", cfg_name(cfg),
                  w->key);
}

/* "LOW-HIGH" or "" (SrunPortRange). */
static int read_ports(struct port_range *ports, const char *text)
{
    unsigned low = 0, high = 0;
    int end = 0;

    if (*text
        && (sscanf(text, "%5u-%5u%n", &low, &high, &end) != 2 || text[end]
            || low < 1024 || low > high || high > UINT16_MAX))
        return -1;
    *ports = (struct port_range){(uint16_t)low, (uint16_t)high};
    return 0;
}

static int check_ports(cfg_t *cfg, cfg_opt_t *opt)
{
    struct port_range ports;

    if (read_ports(&ports, cfg_opt_getnstr(opt, 0)) == 0)
        return 0;
    return refuse(cfg, "give \"LOW-HIGH\", both 1024 to 65535",
                  "bcast: port_range is out of range");
}

/* The keys of power { } that take any number: NaN says not given. */
static const struct share {
    const char *key;
    double min, max;
    const char *mend;
} shares[] = {
    {"start", 0.01, 1, "give 0.01 to 1"}, {"floor", 0.01, 1, "give 0.01 to 1"},
    {"bound", 0, 1, "give 0 to 1"},       {"band", 0, 1, "give 0 to 1"},
    {"gain", 0.01, 1, "give 0.01 to 1"},
};

static int check_share(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, 0);
    const struct share *s = shares;

    while (strcmp(s->key, opt->name) != 0)
        s++;
    if (v >= s->min && v <= s->max)
        return 0;
    return refuse(cfg, s->mend, "power: %s is out of range", s->key);
}

static int check_actuator(cfg_t *cfg, cfg_opt_t *opt)
{
    static const char *const known[] = {"off",    "rapl",    "cpufreq",
                                        "cgroup", "threads", NULL};
    const char *text = cfg_opt_getnstr(opt, 0);

    for (size_t i = 0; known[i]; i++)
        if (strcmp(text, known[i]) == 0)
            return 0;
    return refuse(cfg, "give off, rapl, cpufreq, cgroup or threads",
                  "power: actuator is out of range");
}

static int check_aggregate(cfg_t *cfg, cfg_opt_t *opt)
{
    if (aggregate_find(cfg_opt_getnstr(opt, 0)) <= AGGREGATE_MEDIAN)
        return 0;
    return refuse(cfg, "give min, mean or median",
                  "power: aggregate is out of range");
}

static int check_watts(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, 0);

    if (v >= 0 && v <= WATTS_MAX)
        return 0;
    return refuse(cfg, "give a number from 0 to 1e6", "%s: %s is out of range",
                  cfg_name(cfg), opt->name);
}

/* A key of an influence profile: the letter of an element. */
static int check_influence(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, 0);

    if (v >= 0 && v <= INFLUENCE_MAX)
        return 0;
    return refuse(cfg, "give a number from 0 to 1",
                  "profile \"%s\": %s is out of range", cfg_title(cfg),
                  opt->name);
}

/* What a section says; a key that it does not give is 0. */
static struct profile profile_of(cfg_t *section)
{
    struct profile p = {{0}};

    for (enum element e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter(e), '\0'};

        p.influence[e] = cfg_getfloat(section, key);
    }
    return p;
}

static int check_profile(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    const char *title = cfg_title(section);
    const struct profile p = profile_of(section);
    size_t len = strlen(title);

    if (len == 0 || len >= PROFILE_NAME_MAX
        || strspn(title, "abcdefghijklmnopqrstuvwxyz0123456789_-") != len)
        return refuse(cfg, "give at most 31 of a-z, 0-9, - and _",
                      "profile: the name is out of range");
    if (strcmp(title, PROFILE_AUTO) == 0)
        return refuse(cfg, "give another name",
                      "profile \"" PROFILE_AUTO "\": is fitted, not given");
    if (!(profile_sum(&p) > 0))
        return refuse(cfg, "give one of C M I B S G above 0",
                      "profile \"%s\": nothing has influence", title);
    return 0;
}

static int check_directory(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *path = cfg_opt_getnstr(opt, 0);

    if (path[0] == '/' && strlen(path) < PROBE_PATH_MAX)
        return 0;
    return refuse(cfg, "give the full path of a directory",
                  "probe: %s is out of range", opt->name);
}

static int check_outlier(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, 0);

    if (v >= 0 && v <= OUTLIER_MAX)
        return 0;
    return refuse(cfg, "give 1 to 1000 deviations, or 0 for never",
                  "probe: element \"%s\": outlier is out of range",
                  cfg_title(cfg));
}

static enum element element_titled(const char *title)
{
    return strlen(title) == 1 ? element_of(*title) : ELEMENTS;
}

static int check_element(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    enum element e = element_titled(cfg_title(section));

    if (e == ELEMENTS)
        return refuse(cfg, "give C, M, I, B, S or G",
                      "probe: \"%s\" is no element", cfg_title(section));
    if (e != ELEMENT_S && cfg_getstr(section, "scratch"))
        return refuse(cfg, "give it in element \"S\"",
                      "probe: element \"%s\" has no scratch",
                      cfg_title(section));
    return 0;
}

/* Ours is the only one: a file that has it, too, means nothing by it. */
static int check_end(cfg_t *cfg, cfg_opt_t *opt)
{
    if (cfg_opt_getnint(opt, 0) == parsing.end)
        return 0;
    return refuse(cfg, see_example, "no such option '" END_OPTION "'");
}

static int unknown_policy(const cfg_t *cfg, const char *title)
{
    return refuse(cfg, see_example, "policy \"%s\" is unknown", title);
}

/* The parameters of every kind are known to libconfuse in every policy
 * section; that they are this kind's is ours. */
static int check_param(cfg_t *cfg, cfg_opt_t *opt)
{
    const struct policy_kind *kind = policy_find(cfg_title(cfg));
    const struct policy_param *p;
    char mend[100];
    size_t k;

    if (!kind)
        return unknown_policy(cfg, cfg_title(cfg));
    k = policy_param_find(kind, opt->name);
    if (k == kind->n_params)
        return refuse(cfg, see_example, "policy \"%s\" has no key %s",
                      kind->name, opt->name);
    p = &kind->params[k];
    if (policy_param_accepts(p, cfg_opt_getnfloat(opt, 0)))
        return 0;
    policy_option_range(p, mend, sizeof mend);
    return refuse(cfg, mend, "policy \"%s\": %s is out of range", kind->name,
                  p->key);
}

static int check_policy(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *title = cfg_title(cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1));

    return policy_find(title) ? 0 : unknown_policy(cfg, title);
}

/* --- what was found good -------------------------------------------------- */

static void take_plugin(struct config *c, cfg_t *plugin)
{
    const char *on = cfg_getstr(plugin, "on_error");
    const char *path = cfg_getstr(plugin, "agent_path");

    if (on)
        c->fail_on_error = strcmp(on, "fail") == 0;
    if (path)
        snprintf(c->agent_path, sizeof c->agent_path, "%s", path);
}

static void take_element(struct config_probe *p, cfg_t *section)
{
    enum element e = element_titled(cfg_title(section));
    const char *scratch = cfg_getstr(section, "scratch");
    double outlier = cfg_getfloat(section, "outlier");

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

static void take_probe(struct config_probe *p, cfg_t *probe)
{
    long budget = cfg_getint(probe, "budget_ms"),
         ttl = cfg_getint(probe, "ttl");
    const char *cache = cfg_getstr(probe, "cache");

    if (budget != NOT_GIVEN)
        p->budget_ms = (int)budget;
    if (ttl != NOT_GIVEN)
        p->ttl_s = ttl;
    if (cache)
        snprintf(p->cache, sizeof p->cache, "%s", cache);
    for (unsigned i = 0; i < cfg_size(probe, "element"); i++)
        take_element(p, cfg_getnsec(probe, "element", i));
}

/* A key that was not given is NaN. */
static void take_policy(struct config *c, cfg_t *section)
{
    const struct policy_kind *kind = policy_find(cfg_title(section));
    size_t i = 0;

    while (policy_at(i) != kind)
        i++;
    for (size_t k = 0; k < kind->n_params; k++) {
        double v = cfg_getfloat(section, kind->params[k].key);

        if (!isnan(v))
            c->policy[i][k] = v;
    }
}

/* A profile of a known name takes its place.  -1: there are too many. */
static int take_profile(struct config *c, cfg_t *section)
{
    const char *name = cfg_title(section);
    size_t i = 0;

    while (i < c->profiles && strcmp(c->profile[i].name, name) != 0)
        i++;
    if (i == PROFILES_MAX)
        return -1;
    if (i == c->profiles)
        c->profiles++;
    snprintf(c->profile[i].name, sizeof c->profile[i].name, "%s", name);
    c->profile[i].profile = profile_of(section);
    return 0;
}

/* Every parameter of every kind once; its end is a CFG_END(). */
static void list_keys(cfg_opt_t keys[KEYS_MAX])
{
    const cfg_opt_t end = CFG_END();
    const struct policy_kind *kind;
    size_t n = 0;

    for (size_t i = 0; (kind = policy_at(i)) != NULL; i++)
        for (size_t k = 0; k < kind->n_params && n < KEYS_MAX - 1; k++) {
            const cfg_opt_t key =
                CFG_FLOAT(kind->params[k].key, (double)NAN, CFGF_NONE);
            size_t j = 0;

            while (j < n && strcmp(keys[j].name, key.name) != 0)
                j++;
            if (j == n) {
                keys[n] = key;
                keys[n++].validcb = check_param;
            }
        }
    keys[n] = end;
}

static void take_bcast(struct config_bcast *b, cfg_t *bcast)
{
    long branches = cfg_getint(bcast, "branches");
    long chunk = cfg_getint(bcast, "chunk");
    long small = cfg_getint(bcast, "small");
    const char *ports = cfg_getstr(bcast, "port_range");

    if (branches != NOT_GIVEN)
        b->branches = (uint32_t)branches;
    if (chunk != NOT_GIVEN)
        b->chunk = (uint32_t)chunk;
    if (small != NOT_GIVEN)
        b->small = (uint32_t)small;
    if (ports)
        (void)read_ports(&b->ports, ports); /* check_ports() took it */
}

static void take_share(double *v, cfg_t *power, const char *key)
{
    double given = cfg_getfloat(power, key);

    if (!isnan(given))
        *v = given;
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
    take_share(&p->start, power, "start");
    take_share(&p->floor, power, "floor");
    take_share(&p->bound, power, "bound");
    take_share(&p->band, power, "band");
    take_share(&p->gain, power, "gain");
}

static void take_watts(double *watts, cfg_t *energy, const char *key)
{
    double v = cfg_getfloat(energy, key);

    if (!isnan(v))
        *watts = v;
}

static void take_energy(struct power *p, cfg_t *energy)
{
    take_watts(&p->busy, energy, "busy");
    take_watts(&p->idle, energy, "idle");
    take_watts(&p->link, energy, "link");
    take_watts(&p->base, energy, "base");
}

static int take_all(struct config *c,
                    cfg_t *cfg,
                    const char *name,
                    struct es_error *err)
{
    take_plugin(c, cfg_getsec(cfg, "plugin"));
    take_probe(&c->probe, cfg_getsec(cfg, "probe"));
    take_bcast(&c->bcast, cfg_getsec(cfg, "bcast"));
    take_power(&c->power, cfg_getsec(cfg, "power"));
    take_energy(&c->energy, cfg_getsec(cfg, "energy"));
    for (unsigned i = 0; i < cfg_size(cfg, "policy"); i++)
        take_policy(c, cfg_getnsec(cfg, "policy", i));
    for (unsigned i = 0; i < cfg_size(cfg, "profile"); i++)
        if (take_profile(c, cfg_getnsec(cfg, "profile", i)) < 0)
            return es_fail(err, ES_USAGE, "give at most 32, with the shipped",
                           "%s: there are too many profiles", name);
    return 0;
}

static int parse(cfg_t *cfg,
                 const char *name,
                 const char *text,
                 struct es_error *err)
{
    char *whole;
    int rc;

    memset(&parsing, 0, sizeof parsing);
    parsing.name = name;
    parsing.end = (long)strlen(text) + 1; /* never 0 */
    if (asprintf(&whole, "%s\n" END_OPTION " = %ld\n", text, parsing.end) < 0)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    cfg_set_error_function(cfg, on_error);
    rc = cfg_parse_buf(cfg, whole);
    free(whole);
    if (rc == CFG_SUCCESS && cfg_getint(cfg, END_OPTION) == parsing.end)
        return 0;
    if (rc == CFG_SUCCESS)
        return es_fail(err, ES_USAGE, "close it",
                       "%s: a section or comment is open at its end", name);
    if (parsing.err.kind == ES_OK)
        es_fail(&parsing.err, ES_USAGE, see_example, "%s: cannot be read",
                name);
    if (err)
        *err = parsing.err;
    return -1;
}

int config_read(struct config *c,
                const char *name,
                const char *text,
                struct es_error *err)
{
    cfg_opt_t plugin[] = {
        CFG_STR("on_error", NULL, CFGF_NONE),
        CFG_STR("agent_path", NULL, CFGF_NONE),
        CFG_END(),
    };
    cfg_opt_t element[] = {
        CFG_BOOL("measure", cfg_true, CFGF_NODEFAULT),
        CFG_FLOAT("outlier", (double)NAN, CFGF_NONE),
        CFG_STR("scratch", NULL, CFGF_NONE),
        CFG_END(),
    };
    cfg_opt_t probe[] = {
        CFG_INT("budget_ms", NOT_GIVEN, CFGF_NONE),
        CFG_INT("ttl", NOT_GIVEN, CFGF_NONE),
        CFG_STR("cache", NULL, CFGF_NONE),
        CFG_SEC("element", element,
                CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
        CFG_END(),
    };
    cfg_opt_t bcast[] = {
        CFG_INT("branches", NOT_GIVEN, CFGF_NONE),
        CFG_INT("chunk", NOT_GIVEN, CFGF_NONE),
        CFG_INT("small", NOT_GIVEN, CFGF_NONE),
        CFG_STR("port_range", NULL, CFGF_NONE),
        CFG_END(),
    };
    cfg_opt_t power[] = {
        CFG_FLOAT("start", (double)NAN, CFGF_NONE),
        CFG_FLOAT("floor", (double)NAN, CFGF_NONE),
        CFG_FLOAT("bound", (double)NAN, CFGF_NONE),
        CFG_FLOAT("band", (double)NAN, CFGF_NONE),
        CFG_FLOAT("gain", (double)NAN, CFGF_NONE),
        CFG_INT("interval_ms", NOT_GIVEN, CFGF_NONE),
        CFG_STR("actuator", NULL, CFGF_NONE),
        CFG_STR("aggregate", NULL, CFGF_NONE),
        CFG_END(),
    };
    cfg_opt_t energy[] = {
        CFG_FLOAT("busy", (double)NAN, CFGF_NONE),
        CFG_FLOAT("idle", (double)NAN, CFGF_NONE),
        CFG_FLOAT("link", (double)NAN, CFGF_NONE),
        CFG_FLOAT("base", (double)NAN, CFGF_NONE),
        CFG_END(),
    };
    cfg_opt_t profile[] = {
        CFG_FLOAT("C", 0, CFGF_NONE),
        CFG_FLOAT("M", 0, CFGF_NONE),
        CFG_FLOAT("I", 0, CFGF_NONE),
        CFG_FLOAT("B", 0, CFGF_NONE),
        CFG_FLOAT("S", 0, CFGF_NONE),
        CFG_FLOAT("G", 0, CFGF_NONE),
        CFG_END(),
    };
    cfg_opt_t policy[KEYS_MAX];
    cfg_opt_t options[] = {
        CFG_SEC("plugin", plugin, CFGF_NONE),
        CFG_SEC("probe", probe, CFGF_NONE),
        CFG_SEC("bcast", bcast, CFGF_NONE),
        CFG_SEC("policy", policy,
                CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
        CFG_SEC("profile", profile,
                CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
        CFG_SEC("energy", energy, CFGF_NONE),
        CFG_INT(END_OPTION, 0, CFGF_NONE),
        CFG_SEC("power", power, CFGF_NONE),
        CFG_END(),
    };
    struct config read = *c;
    cfg_t *cfg;
    int rc;

    plugin[0].validcb = check_on_error;
    plugin[1].validcb = check_path;
    element[1].validcb = check_outlier;
    // cppcheck-suppress unreadVariable ; cfg_init() reads it
    element[2].validcb = check_directory;
    probe[0].validcb = check_whole;
    probe[1].validcb = check_whole;
    probe[2].validcb = check_directory;
    probe[3].validcb = check_element;
    for (size_t i = 0; i < 3; i++)
        bcast[i].validcb = check_whole;
    bcast[3].validcb = check_ports;
    for (size_t i = 0; i < 5; i++)
        power[i].validcb = check_share;
    power[5].validcb = check_whole;
    power[6].validcb = check_actuator;
    power[7].validcb = check_aggregate;
    for (cfg_opt_t *key = profile; key->name; key++)
        key->validcb = check_influence;
    for (cfg_opt_t *key = energy; key->name; key++)
        key->validcb = check_watts;
    options[6].validcb = check_end;
    options[3].validcb = check_policy;
    options[4].validcb = check_profile;
    list_keys(policy);
    cfg = cfg_init(options, CFGF_NONE);
    if (!cfg)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    rc = parse(cfg, name, text, err);
    if (rc == 0)
        rc = take_all(&read, cfg, name, err);
    cfg_free(cfg);
    if (rc == 0)
        *c = read;
    return rc;
}

/* The text of a regular file of sane size; NULL with errno set. */
static char *read_file(const char *path)
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
            errno = EILSEQ; /* what is behind a NUL would go unread */
            n = -1;
        }
    }
    if (n < 0) {
        free(text);
        text = NULL;
    }
    close(fd);
    return text;
}

static int load_file(struct config *c,
                     const char *path,
                     int may_be_missing,
                     struct es_error *err)
{
    char *text = read_file(path);
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

/* As libconfuse reads it between single quotes: nothing is expanded there. */
static void print_text(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

/* With the least digits that read as the same number. */
static void print_number(double v)
{
    char text[32];
    int digits = 15;

    do
        snprintf(text, sizeof text, "%.*g", digits, v);
    while (++digits <= 17 && strtod(text, NULL) != v);
    fputs(text, stdout);
}

static void print_power(const struct config_power *p)
{
    const double values[] = {p->start, p->floor, p->bound, p->band, p->gain};

    printf("power {\n  actuator = \"%s\"\n  aggregate = \"%s\"\n"
           "  interval_ms = %d\n",
           p->actuator, aggregate_name(p->aggregate), p->interval_ms);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        printf("  %s = ", shares[i].key);
        print_number(values[i]);
        putchar('\n');
    }
    puts("}");
}

static void print_profile(const struct config_profile *p)
{
    printf("profile \"%s\" {\n", p->name);
    for (enum element e = 0; e < ELEMENTS; e++) {
        printf("  %c = ", element_letter(e));
        print_number(p->profile.influence[e]);
        putchar('\n');
    }
    puts("}");
}

static void print_probe(const struct config_probe *p)
{
    printf("probe {\n  budget_ms = %d\n  ttl = %lld\n  cache = ", p->budget_ms,
           (long long)p->ttl_s);
    print_text(p->cache);
    putchar('\n');
    for (enum element e = 0; e < ELEMENTS; e++) {
        printf("  element \"%c\" {\n    measure = %s\n    outlier = ",
               element_letter(e),
               p->elements & PROBE_BIT(e) ? "true" : "false");
        print_number(p->outlier[e]);
        if (e == ELEMENT_S && p->scratch[0]) {
            printf("\n    scratch = ");
            print_text(p->scratch);
        }
        puts("\n  }");
    }
    puts("}");
}

static void print_watts(const char *key, double watts)
{
    printf("  %s = ", key);
    print_number(watts);
    putchar('\n');
}

static void print_energy(const struct power *p)
{
    puts("energy {");
    print_watts("busy", p->busy);
    print_watts("idle", p->idle);
    print_watts("link", p->link);
    print_watts("base", p->base);
    puts("}");
}

int config_print(const struct config *c)
{
    const struct policy_kind *kind;

    printf("plugin {\n  on_error = \"%s\"\n",
           c->fail_on_error ? "fail" : "continue");
    if (c->agent_path[0]) {
        printf("  agent_path = ");
        print_text(c->agent_path);
        putchar('\n');
    }
    puts("}");
    print_probe(&c->probe);
    printf("bcast {\n  branches = %u\n  chunk = %u\n  small = %u\n",
           c->bcast.branches, c->bcast.chunk, c->bcast.small);
    if (c->bcast.ports.high > 0)
        printf("  port_range = \"%u-%u\"\n", c->bcast.ports.low,
               c->bcast.ports.high);
    puts("}");
    print_power(&c->power);
    print_energy(&c->energy);
    for (size_t i = 0; i < c->profiles; i++)
        print_profile(&c->profile[i]);
    for (size_t i = 0; (kind = policy_at(i)) != NULL; i++) {
        printf("policy \"%s\" {\n", kind->name);
        for (size_t k = 0; k < kind->n_params; k++) {
            printf("  %s = ", kind->params[k].key);
            print_number(c->policy[i][k]);
            printf(" # %s; %g to %g\n", kind->params[k].help,
                   kind->params[k].min, kind->params[k].max);
        }
        printf("}\n");
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}
