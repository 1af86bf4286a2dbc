/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/config_syntax.h"
#include "launcher/base/loader_list.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/config/conf_text.h"
#include "launcher/config/config.h"
#include "launcher/config/grammar.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/threshold_option.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/network.h"
#include "pmix_bcast/plan.h"
#include "pmix_bcast/wireup.h"
#include "policy/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- policy syntax ------------------------------------------------------------- */

/* What may stand in a section policy "NAME": the parameters of
 * that policy, or of the kind that it gives. */

/* Parameters of all policies together, their kind, and the end. */
#define POLICY_KEYS_MAX (KINDS_MAX * POLICY_PARAMS + 2)

/* Of a policy section: by its title, or by the kind that it gives. */
static const struct policy_kind *kind_of(cfg_t *section)
{
    const struct policy_kind *kind = kinds_find(cfg_title(section));
    const char *given = cfg_getstr(section, "kind");

    return kind || !given ? kind : kinds_find(given);
}

static int check_value(const cfg_t *cfg,
                       const char *title,
                       const struct policy_kind *kind,
                       const char *key,
                       double value)
{
    size_t k = policy_param_find(kind, key);
    char mend[100];

    if (k == kind->n_params)
        return grammar_refuse(cfg, grammar_see, "policy \"%s\" has no key %s",
                              title, key);
    if (policy_param_accepts(&kind->params[k], value))
        return 0;
    policy_option_range(&kind->params[k], mend, sizeof mend);
    return grammar_refuse(cfg, mend, "policy \"%s\": %s is out of range", title,
                          key);
}

/* libconfuse allows the parameters of all policies in each policy section.
 * Whether one is of this policy is grammar_key here, or at the section's end if its
 * kind comes later. */
static int check_param(cfg_t *cfg, cfg_opt_t *opt)
{
    const struct policy_kind *kind = kind_of(cfg);
    double value = cfg_opt_getnfloat(opt, 0);

    if (kind)
        return check_value(cfg, cfg_title(cfg), kind, opt->name, value);
    if (!isnan(value)) /* which would be as if it was not given */
        return 0;
    return grammar_refuse(cfg, "give a number",
                          "policy \"%s\": %s is out of range", cfg_title(cfg),
                          opt->name);
}

static int check_kind(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *kind = cfg_opt_getnstr(opt, 0), *title = cfg_title(cfg);
    char mend[POLICY_NAMES_MAX];

    policy_option_names(NULL, mend, sizeof mend);
    if (kinds_find(title) && strcmp(kind, title) != 0)
        return grammar_refuse(cfg, "give the section another name",
                              "policy \"%s\" is a kind of its own", title);
    if (kinds_find(kind))
        return 0;
    if (strcmp(kind, title) == 0)
        return grammar_refuse(cfg, mend, "policy \"%s\": its kind is itself",
                              title);
    return grammar_refuse(cfg, mend, "policy \"%s\": kind \"%s\" is unknown",
                          title, kind);
}

/* All that a section gives, now that its kind is known. */
static int check_params(const cfg_t *cfg, cfg_t *section)
{
    const struct policy_kind *kind;

    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        for (size_t k = 0; k < kind->n_params; k++) {
            const char *key = kind->params[k].key;
            double value = cfg_getfloat(section, key);

            if (!isnan(value)
                && check_value(cfg, cfg_title(section), kind_of(section), key,
                               value)
                       < 0)
                return -1;
        }
    return 0;
}

/* The section's check, at its end. */
static int policy_check(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    const char *title = cfg_title(section);

    if (kinds_find(title))
        return 0;
    if (!cfg_getstr(section, "kind"))
        return grammar_refuse(cfg, "give a set of parameters a kind = \"NAME\"",
                              "policy \"%s\" is unknown", title);
    if (!grammar_is_name(title, POLICY_NAME_MAX))
        return grammar_refuse(cfg, "give at most 31 of a-z, 0-9, - and _",
                              "policy: the name is out of range");
    return check_params(cfg, section);
}

/* The kind, the parameters of all policies, each once, and a CFG_END().
 * The kind, the parameters of all policies, each once, and a CFG_END(). */
static void policy_keys(cfg_opt_t keys[POLICY_KEYS_MAX])
{
    const cfg_opt_t end = CFG_END(), first = grammar_text("kind", check_kind);
    const struct policy_kind *kind;
    size_t n = 0;

    keys[n++] = first;
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        for (size_t k = 0; k < kind->n_params; k++) {
            const cfg_opt_t key =
                grammar_number(kind->params[k].key, check_param);
            size_t j = 0;

            while (j < n && strcmp(keys[j].name, key.name) != 0)
                j++;
            if (j == n)
                keys[n++] = key;
        }
    keys[n] = end;
}

/* --- config syntax ------------------------------------------------------------- */

#define TTL_MAX        (366L * 86400) /* a year: longer has no node the same boot */
#define OUTLIER_MAX    1000 /* robust deviations: in practice, never */
#define CACHE_MB_MAX   100000000
#define SMALL_MAX      (64 << 10) /* an order is kept whole, for every node */
#define WATTS_MAX      1e6
#define PATIENCE_MAX   86400 /* seconds; a step that waits longer hangs */
#define NEED_BYTES_MAX 1e18
#define DRAIN_MAX      86400 /* seconds */
#define TIMEOUT_MIN    5     /* likewise */
#define NEWER_MOST     64 /* keys of a newer evenstep; a file with more is none */

static int check_on_error(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *on = cfg_opt_getnstr(opt, 0);

    if (on_error_find(on) < ON_ERRORS)
        return 0;
    return grammar_refuse(cfg, "give \"input\", \"continue\" or \"fail\"",
                          "plugin: on_error is out of range");
}

static int check_wireup(cfg_t *cfg, cfg_opt_t *opt)
{
    if (wireup_way_find(cfg_opt_getnstr(opt, 0)) >= 0)
        return 0;
    return grammar_refuse(cfg, "give \"auto\", \"pmix\" or \"tcp\"",
                          "wireup is out of range");
}

static int check_path(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *path = cfg_opt_getnstr(opt, 0);

    if (path[0] == '/' && strlen(path) < sizeof((struct config *)0)->agent_path)
        return 0;
    return grammar_refuse(cfg, "give the full path of evenstep-agent",
                          "plugin: agent_path is out of range");
}

static int check_rank_by(cfg_t *cfg, cfg_opt_t *opt)
{
    if (rank_by_find(cfg_opt_getnstr(opt, 0)) < RANK_BYS)
        return 0;
    return grammar_refuse(cfg, "give \"different\" or \"all\"",
                          "probe: rank_by is out of range");
}

/* Of the tasks of a step, or of a profile.  Whether a set of that name is there
 * is known at the end of all files. */
static int check_policy_name(cfg_t *cfg, cfg_opt_t *opt)
{
    char mend[POLICY_NAMES_MAX];

    if (grammar_is_name(cfg_opt_getnstr(opt, 0), POLICY_NAME_MAX))
        return 0;
    policy_option_names(NULL, mend, sizeof mend);
    return grammar_refuse(cfg, mend, "%s: policy is out of range",
                          cfg_name(cfg));
}

static int check_threshold(cfg_t *cfg, cfg_opt_t *opt)
{
    struct threshold_rule rule;

    if (threshold_option_take(&rule, cfg_opt_getnstr(opt, 0), NULL) == 0)
        return 0;
    return grammar_refuse(
        cfg, "give seconds, or percent with a %, or auto, between quotes",
        "plugin: threshold is out of range");
}

static int check_meter(cfg_t *cfg, cfg_opt_t *opt)
{
    if (step_meter_find(cfg_opt_getnstr(opt, 0)) < STEP_METERS)
        return 0;
    return grammar_refuse(cfg, "give \"mpi\", \"cpu\" or \"none\"",
                          "plugin: meter is out of range");
}

/* The keys that take a whole number. */
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
    {"cache_mb", 1, CACHE_MB_MAX, "give 1 to 100000000"},
    {"patience", 1, PATIENCE_MAX, "give 1 to 86400 seconds"},
    {"linger", 0, DRAIN_MAX, "give 1 to 86400 seconds, or 0 for not at all"},
    {"timeout", TIMEOUT_MIN, DRAIN_MAX, "give 5 to 86400 seconds"},
    {"drain_interval", 0, DRAIN_MAX, "give 1 to 86400 seconds, or 0 for never"},
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
    return grammar_refuse(cfg, w->mend, "%s: %s is out of range", cfg_name(cfg),
                          w->key);
}

int config_ports(struct port_range *ports, const char *text)
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

    if (config_ports(&ports, cfg_opt_getnstr(opt, 0)) == 0)
        return 0;
    return grammar_refuse(cfg, "give \"LOW-HIGH\", both 1024 to 65535",
                          "bcast: port_range is out of range");
}

static int check_interface(cfg_t *cfg, cfg_opt_t *opt)
{
    if (network_list_check(cfg_opt_getnstr(opt, 0)) == 0)
        return 0;
    return grammar_refuse(
        cfg, "give names and networks as in \"ib0,hsn*,10.1.0.0/16\"",
        "bcast: interface is no such list");
}

/* The keys of power { } that take any number. */
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
    return grammar_refuse(cfg, s->mend, "power: %s is out of range", s->key);
}

static int check_cap(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, 0);

    if (v >= 0.01 && v <= 1e9)
        return 0;
    return grammar_refuse(cfg, "give 0.01 to 1e9",
                          "power: cap is out of range");
}

/* A cap of watts or MHz needs an actuator that has such. */
static int check_power(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *power = cfg_opt_getnsec(opt, 0);
    const char *actuator = cfg_getstr(power, "actuator");
    double cap = cfg_getfloat(power, "cap");

    if (!(cap > 1)
        || (actuator
            && (strcmp(actuator, "rapl") == 0
                || strcmp(actuator, "cpufreq") == 0)))
        return 0;
    return grammar_refuse(cfg,
                          "give a part of the CPUs, 0.01 to 1, or watts or MHz "
                          "with actuator = \"rapl\" or \"cpufreq\"",
                          "power: cap is out of range for actuator %s",
                          actuator ? actuator : "off");
}

static int check_actuator(cfg_t *cfg, cfg_opt_t *opt)
{
    static const char *const known[] = {"off",     "rapl",  "cpufreq", "cgroup",
                                        "threads", "slice", NULL};
    const char *text = cfg_opt_getnstr(opt, 0);

    for (size_t i = 0; known[i]; i++)
        if (strcmp(text, known[i]) == 0)
            return 0;
    return grammar_refuse(cfg,
                          "give off, rapl, cpufreq, cgroup, threads or slice",
                          "power: actuator is out of range");
}

static int check_aggregate(cfg_t *cfg, cfg_opt_t *opt)
{
    if (aggregate_find(cfg_opt_getnstr(opt, 0)) <= AGGREGATE_MEDIAN)
        return 0;
    return grammar_refuse(cfg, "give min, mean or median",
                          "power: aggregate is out of range");
}

static int check_budget(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    const char *rack = cfg_title(section);
    double most = cfg_getfloat(section, "most");
    size_t len = strlen(rack);

    if (len == 0 || len >= BUDGET_RACK_MAX
        || strspn(rack, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_-")
               != len)
        return grammar_refuse(cfg, "give the name of a switch of topology.conf",
                              "power: budget: that is no rack");
    if (most >= 0.001 && most <= 1e9)
        return 0;
    return grammar_refuse(cfg, "give most = 0.001 to 1e9",
                          "power: budget \"%s\" is out of range", rack);
}

static int check_watts(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, 0);

    if (v >= 0 && v <= WATTS_MAX)
        return 0;
    return grammar_refuse(cfg, "give a number from 0 to 1e6",
                          "%s: %s is out of range", cfg_name(cfg), opt->name);
}

/* A key of an influence profile: the letter of an element. */
static int check_influence(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, 0);

    if (v >= 0 && v <= INFLUENCE_MAX)
        return 0;
    return grammar_refuse(cfg, "give a number from 0 to 1",
                          "profile \"%s\": %s is out of range", cfg_title(cfg),
                          opt->name);
}

static int check_need(cfg_t *cfg, cfg_opt_t *opt)
{
    double bytes;

    if (number_parse_unit(cfg_opt_getnstr(opt, 0), NUMBER_BYTES, 0,
                          NEED_BYTES_MAX, &bytes)
        == 0)
        return 0;
    return grammar_refuse(cfg, "give bytes, as \"8GiB\"",
                          "profile: need: %s is out of range", opt->name);
}

double config_need(cfg_t *section, enum element e)
{
    cfg_t *need = cfg_getsec(section, "need");
    const char key[] = {element_letter(e), '\0'};
    const char *text = cfg_getopt(need, key) ? cfg_getstr(need, key) : NULL;
    double bytes = 0;

    if (text) /* check_need() took it */
        (void)number_parse_unit(text, NUMBER_BYTES, 0, NEED_BYTES_MAX, &bytes);
    return bytes;
}

struct profile config_influence(cfg_t *section)
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
    const struct profile p = config_influence(section);

    if (!grammar_is_name(title, PROFILE_NAME_MAX))
        return grammar_refuse(cfg, "give at most 31 of a-z, 0-9, - and _",
                              "profile: the name is out of range");
    if (strcmp(title, PROFILE_AUTO) == 0)
        return grammar_refuse(cfg, "give another name",
                              "profile \"" PROFILE_AUTO
                              "\": is fitted, not given");
    if (!(profile_sum(&p) > 0))
        return grammar_refuse(cfg, "give one of C M I B S G or W X Y Z above 0",
                              "profile \"%s\": nothing has influence", title);
    return 0;
}

static int check_directory(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *path = cfg_opt_getnstr(opt, 0);

    if (path[0] == '/' && strlen(path) < PROBE_PATH_MAX)
        return 0;
    return grammar_refuse(cfg, "give the full path of a directory",
                          "probe: %s is out of range", opt->name);
}

static int check_cache(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *path = cfg_opt_getnstr(opt, 0);

    if (path[0] == '/' && strlen(path) < PROBE_PATH_MAX)
        return 0;
    return grammar_refuse(cfg, "give the full path of a directory of the nodes",
                          "bcast: cache is out of range");
}

static int check_exclude_libs(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *list = cfg_opt_getnstr(opt, 0);

    if (loader_list_check(list) == 0 && strlen(list) < EXCLUDE_LIBS_MAX)
        return 0;
    return grammar_refuse(cfg,
                          "give folders as in \"/lib,/usr/lib\", or \"none\"",
                          "bcast: exclude_libs is no list of folders");
}

static int check_compress(cfg_t *cfg, cfg_opt_t *opt)
{
    if (pack_find(cfg_opt_getnstr(opt, 0)) >= 0)
        return 0;
    return grammar_refuse(cfg, "give \"none\", \"lz4\", \"zstd\" or \"auto\"",
                          "bcast: compress is out of range");
}

static int check_transport(cfg_t *cfg, cfg_opt_t *opt)
{
    if (transport_find(cfg_opt_getnstr(opt, 0)) >= 0)
        return 0;
    return grammar_refuse(cfg, "give \"tcp\", \"auto\" or \"ofi\"",
                          "bcast: transport is out of range");
}

static int check_threads(cfg_t *cfg, cfg_opt_t *opt)
{
    if (threads_read(cfg_opt_getnstr(opt, 0)) > 0)
        return 0;
    return grammar_refuse(cfg, "give \"auto\", or \"1\" to \"8\"",
                          "bcast: threads is out of range");
}

static int check_scheme(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *name = cfg_opt_getnstr(opt, 0);

    if (strcmp(name, "overlap") == 0 || strcmp(name, "strict") == 0)
        return 0;
    return grammar_refuse(cfg, "give \"overlap\" or \"strict\"",
                          "bcast: scheme is out of range");
}

static int check_outlier(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, 0);

    if (v >= 0 && v <= OUTLIER_MAX)
        return 0;
    return grammar_refuse(cfg, "give 1 to 1000 deviations, or 0 for never",
                          "probe: element \"%s\": outlier is out of range",
                          cfg_title(cfg));
}

enum element config_element(const char *title)
{
    return strlen(title) == 1 ? element_of(*title) : ELEMENTS;
}

static int check_label(cfg_t *cfg,
                       cfg_opt_t *opt,
                       size_t size,
                       const char *mend)
{
    if (probe_is_label(cfg_opt_getnstr(opt, 0), size))
        return 0;
    return grammar_refuse(cfg, mend,
                          "probe: element \"%s\": %s is out of range",
                          cfg_title(cfg), opt->name);
}

static int check_name(cfg_t *cfg, cfg_opt_t *opt)
{
    return check_label(cfg, opt, PROBE_NAME_MAX, "give 1 to 23 bytes");
}

static int check_unit(cfg_t *cfg, cfg_opt_t *opt)
{
    return check_label(cfg, opt, PROBE_UNIT_MAX, "give 1 to 15 bytes");
}

static int check_command(cfg_t *cfg, cfg_opt_t *opt)
{
    return check_label(cfg, opt, PROBE_COMMAND_MAX,
                       "give one line of 1 to 1023 bytes");
}

static int check_better(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *better = cfg_opt_getnstr(opt, 0);

    if (strcmp(better, "more") == 0 || strcmp(better, "less") == 0)
        return 0;
    return grammar_refuse(cfg, "give \"more\" or \"less\"",
                          "probe: element \"%s\": better is out of range",
                          cfg_title(cfg));
}

/* The first key of a site's element that the section of a core one has. */
static const char *site_key_of(cfg_t *section)
{
    static const char *const texts[] = {"command", "name", "unit", "better"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (cfg_getstr(section, texts[i]))
            return texts[i];
    return cfg_getint(section, "budget_ms") != NOT_GIVEN ? "budget_ms" : NULL;
}

static int check_element(cfg_t *cfg, cfg_opt_t *opt)
{
    cfg_t *section = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
    enum element e = config_element(cfg_title(section));
    const char *key = site_key_of(section);

    if (e == ELEMENTS)
        return grammar_refuse(
            cfg, "give C, M, I, B, S or G, or W, X, Y or Z for yours",
            "probe: \"%s\" is no element", cfg_title(section));
    if (e < ELEMENT_SITE && key)
        return grammar_refuse(
            cfg, "give it in element \"W\", \"X\", \"Y\" or \"Z\"",
            "probe: element \"%s\" has no %s", cfg_title(section), key);
    if (e != ELEMENT_S && cfg_getstr(section, "scratch"))
        return grammar_refuse(cfg, "give it in element \"S\"",
                              "probe: element \"%s\" has no scratch",
                              cfg_title(section));
    return 0;
}

/* --- the sections --------------------------------------------------------- */

static cfg_opt_t influence_key(const char *name)
{
    return grammar_key((cfg_opt_t)CFG_FLOAT(name, 0, CFGF_NONE),
                       check_influence);
}

/* libconfuse copies all that it is given. */
static int check_version(cfg_t *cfg, cfg_opt_t *opt)
{
    if (conf_text_is_version(cfg_opt_getnstr(opt, 0)))
        return 0;
    return grammar_refuse(cfg, "give the release that it is for, as \"0.2\"",
                          "version: \"%.60s\" is none",
                          cfg_opt_getnstr(opt, 0));
}

static cfg_t *all_sections(void)
{
    cfg_opt_t plugin[] = {grammar_text("on_error", check_on_error),
                          grammar_text("agent_path", check_path),
                          grammar_text("policy", check_policy_name),
                          grammar_text("threshold", check_threshold),
                          grammar_whole("patience", check_whole),
                          grammar_text("meter", check_meter),
                          CFG_BOOL("lend", cfg_false, CFGF_NODEFAULT),
                          CFG_BOOL("report", cfg_false, CFGF_NODEFAULT),
                          CFG_END()};
    cfg_opt_t element[] = {CFG_BOOL("measure", cfg_true, CFGF_NODEFAULT),
                           grammar_number("outlier", check_outlier),
                           grammar_text("scratch", check_directory),
                           grammar_text("command", check_command),
                           grammar_text("name", check_name),
                           grammar_text("unit", check_unit),
                           grammar_text("better", check_better),
                           grammar_whole("budget_ms", check_whole),
                           CFG_END()};
    cfg_opt_t probe[] = {grammar_whole("budget_ms", check_whole),
                         grammar_whole("ttl", check_whole),
                         grammar_text("cache", check_directory),
                         grammar_text("rank_by", check_rank_by),
                         grammar_titled("element", element, check_element),
                         CFG_END()};
    cfg_opt_t slurm[] = {grammar_whole("drain_interval", check_whole),
                         CFG_BOOL("job_comment", cfg_false, CFGF_NODEFAULT),
                         CFG_END()};
    cfg_opt_t agents[] = {grammar_whole("timeout", check_whole),
                          grammar_whole("linger", check_whole), CFG_END()};
    cfg_opt_t bcast[] = {grammar_whole("branches", check_whole),
                         grammar_whole("chunk", check_whole),
                         grammar_whole("small", check_whole),
                         grammar_text("port_range", check_ports),
                         grammar_text("interface", check_interface),
                         CFG_BOOL("rails", cfg_false, CFGF_NODEFAULT),
                         grammar_text("cache", check_cache),
                         grammar_whole("cache_mb", check_whole),
                         grammar_text("exclude_libs", check_exclude_libs),
                         grammar_text("compress", check_compress),
                         grammar_text("scheme", check_scheme),
                         grammar_text("transport", check_transport),
                         grammar_text("threads", check_threads),
                         CFG_END()};
    cfg_opt_t budget[] = {grammar_number("most", NULL), CFG_END()};
    cfg_opt_t power[] = {grammar_titled("budget", budget, check_budget),
                         grammar_number("cap", check_cap),
                         grammar_number("start", check_share),
                         grammar_number("floor", check_share),
                         grammar_number("bound", check_share),
                         grammar_number("band", check_share),
                         grammar_number("gain", check_share),
                         grammar_whole("interval_ms", check_whole),
                         grammar_text("actuator", check_actuator),
                         grammar_text("aggregate", check_aggregate),
                         CFG_BOOL("within_nodes", cfg_true, CFGF_NODEFAULT),
                         CFG_BOOL("energy", cfg_true, CFGF_NODEFAULT),
                         CFG_END()};
    cfg_opt_t energy[] = {grammar_number("busy", check_watts),
                          grammar_number("idle", check_watts),
                          grammar_number("link", check_watts),
                          grammar_number("base", check_watts), CFG_END()};
    cfg_opt_t need[] = {grammar_text("M", check_need),
                        grammar_text("S", check_need),
                        grammar_text("G", check_need), CFG_END()};
    cfg_opt_t profile[] = {grammar_section("need", need),
                           grammar_text("policy", check_policy_name),
                           influence_key("C"),
                           influence_key("M"),
                           influence_key("I"),
                           influence_key("B"),
                           influence_key("S"),
                           influence_key("G"),
                           influence_key("W"),
                           influence_key("X"),
                           influence_key("Y"),
                           influence_key("Z"),
                           CFG_END()};
    cfg_opt_t policy[POLICY_KEYS_MAX];
    cfg_opt_t all[] = {
        grammar_text("version", check_version),
        CFG_BOOL("encrypt", cfg_false, CFGF_NODEFAULT),
        grammar_text("wireup", check_wireup),
        grammar_section("plugin", plugin),
        grammar_section("probe", probe),
        grammar_section("slurm", slurm),
        grammar_section("agents", agents),
        grammar_section("bcast", bcast),
        grammar_titled("policy", policy, policy_check),
        grammar_titled("profile", profile, check_profile),
        grammar_section("energy", energy),
        grammar_key(grammar_section("power", power), check_power),
        grammar_end(),
        CFG_END()};

    policy_keys(policy);
    return cfg_init(all, CFGF_NONE);
}

/* Of a file for a newer evenstep, keys that we do not know are blanked in text, and
 * told. */
static cfg_t *parse_newer(const char *name, char *text, struct es_error *err)
{
    for (int i = 0;; i++) {
        struct es_error why = {0};
        cfg_t *cfg = grammar_parse(all_sections(), name, text, &why);
        char key[64];
        int line;

        snprintf(key, sizeof key, "%s", grammar_unknown(&line));
        if (cfg)
            return cfg;
        if (!key[0] || i == NEWER_MOST
            || conf_text_blank_key(text, line, key) < 0) {
            if (err)
                *err = why;
            return NULL;
        }
        notice(
            "warning: %s:%d: %s is left out: the file is for a newer evenstep "
            "than this, " EVENSTEP_VERSION,
            name, line, key);
    }
}

cfg_t *config_parse(const char *name, const char *text, struct es_error *err)
{
    char *copy;
    cfg_t *cfg;

    if (!conf_text_is_newer(text, EVENSTEP_VERSION))
        return grammar_parse(all_sections(), name, text, err);
    copy = strdup(text);
    if (!copy) {
        es_no_memory(err);
        return NULL;
    }
    cfg = parse_newer(name, copy, err);
    free(copy);
    return cfg;
}
