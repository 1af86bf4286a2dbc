/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file is read whole and parsed from memory with one more option behind it:
 * libconfuse takes a file that ends within a section or a comment for a whole
 * one, and the last option then does not arrive at the top level.
 */
#include "launcher/config.h"
#include "launcher/probe_cpu.h"

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

static const char see_example[] = "see etc/evenstep.conf for what is known";

static void defaults(struct config *c)
{
    const struct policy_kind *kind;

    memset(c, 0, sizeof *c);
    c->budget_ms = PROBE_BUDGET_MS;
    for (size_t i = 0; (kind = policy_at(i)) != NULL; i++)
        policy_defaults(kind, c->policy[i]);
}

/* libconfuse's error callback has no pointer of ours. */
struct parsing {
    struct es_error err;
    const char *name; /* of the file */
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

static int out_of_range(struct es_error *err,
                        const char *name,
                        const char *where,
                        const char *key,
                        const char *mend)
{
    return es_fail(err, ES_USAGE, mend, "%s: %s: %s is out of range", name,
                   where, key);
}

static int take_plugin(struct config *c,
                       cfg_t *plugin,
                       const char *name,
                       struct es_error *err)
{
    const char *on = cfg_getstr(plugin, "on_error");
    const char *path = cfg_getstr(plugin, "agent_path");

    if (on && strcmp(on, "continue") != 0 && strcmp(on, "fail") != 0)
        return out_of_range(err, name, "plugin", "on_error",
                            "give \"continue\" or \"fail\"");
    if (path && (path[0] != '/' || strlen(path) >= sizeof c->agent_path))
        return out_of_range(err, name, "plugin", "agent_path",
                            "give the full path of evenstep-agent");
    if (on)
        c->fail_on_error = strcmp(on, "fail") == 0;
    if (path)
        snprintf(c->agent_path, sizeof c->agent_path, "%s", path);
    return 0;
}

static int take_probe(struct config *c,
                      cfg_t *probe,
                      const char *name,
                      struct es_error *err)
{
    long budget = cfg_getint(probe, "budget_ms");
    char mend[64];

    if (cfg_opt_size(cfg_getopt(probe, "budget_ms")) == 0 || budget == -1)
        return 0;
    snprintf(mend, sizeof mend, "give %d to %d", PROBE_BUDGET_MIN_MS,
             PROBE_BUDGET_MAX_MS);
    if (budget < PROBE_BUDGET_MIN_MS || budget > PROBE_BUDGET_MAX_MS)
        return out_of_range(err, name, "probe", "budget_ms", mend);
    c->budget_ms = (int)budget;
    return 0;
}

/* The parameters of every kind are known to libconfuse in every policy
 * section, NaN if they are not given; that they are this kind's is ours. */
static int take_param(double *value,
                      cfg_t *section,
                      const struct policy_kind *kind,
                      const char *key,
                      const char *name,
                      struct es_error *err)
{
    size_t k = policy_param_find(kind, key);
    double v = cfg_getfloat(section, key);
    char where[100], mend[100];

    snprintf(where, sizeof where, "policy \"%s\"", kind->name);
    if (isnan(v))
        return 0;
    if (k == kind->n_params)
        return es_fail(err, ES_USAGE, see_example, "%s: %s has no key %s", name,
                       where, key);
    snprintf(mend, sizeof mend, "give %s from %g to %g",
             kind->params[k].integer ? "a whole number" : "a number",
             kind->params[k].min, kind->params[k].max);
    if (!policy_param_accepts(&kind->params[k], v))
        return out_of_range(err, name, where, key, mend);
    value[k] = v;
    return 0;
}

static int take_policy(struct config *c,
                       cfg_t *section,
                       const cfg_opt_t keys[],
                       const char *name,
                       struct es_error *err)
{
    const char *title = cfg_title(section);
    const struct policy_kind *kind = policy_find(title);
    size_t i = 0;

    if (!kind)
        return es_fail(err, ES_USAGE, see_example,
                       "%s: policy \"%s\" is unknown", name, title);
    while (policy_at(i) != kind)
        i++;
    for (size_t k = 0; keys[k].name; k++)
        if (take_param(c->policy[i], section, kind, keys[k].name, name, err)
            < 0)
            return -1;
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
            if (j == n)
                keys[n++] = key;
        }
    keys[n] = end;
}

static int take_all(struct config *c,
                    cfg_t *cfg,
                    const cfg_opt_t keys[],
                    const char *name,
                    struct es_error *err)
{
    if (take_plugin(c, cfg_getsec(cfg, "plugin"), name, err) < 0
        || take_probe(c, cfg_getsec(cfg, "probe"), name, err) < 0)
        return -1;
    for (unsigned i = 0; i < cfg_size(cfg, "policy"); i++)
        if (take_policy(c, cfg_getnsec(cfg, "policy", i), keys, name, err) < 0)
            return -1;
    return 0;
}

static int parse(cfg_t *cfg,
                 const char *name,
                 const char *text,
                 struct es_error *err)
{
    char *whole;
    int rc;

    if (asprintf(&whole, "%s\n" END_OPTION " = 1\n", text) < 0)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    memset(&parsing, 0, sizeof parsing);
    parsing.name = name;
    cfg_set_error_function(cfg, on_error);
    rc = cfg_parse_buf(cfg, whole);
    free(whole);
    if (rc == CFG_SUCCESS && cfg_getint(cfg, END_OPTION) == 1)
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
    cfg_opt_t probe[] = {CFG_INT("budget_ms", -1, CFGF_NONE), CFG_END()};
    cfg_opt_t policy[KEYS_MAX];
    cfg_opt_t options[] = {
        CFG_SEC("plugin", plugin, CFGF_NONE),
        CFG_SEC("probe", probe, CFGF_NONE),
        CFG_SEC("policy", policy,
                CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
        CFG_INT(END_OPTION, 0, CFGF_NONE),
        CFG_END(),
    };
    struct config read = *c;
    cfg_t *cfg;
    int rc;

    list_keys(policy);
    cfg = cfg_init(options, CFGF_NONE);
    if (!cfg)
        return es_fail(err, ES_ENV, "free some memory", "out of memory");
    rc = parse(cfg, name, text, err);
    if (rc == 0)
        rc = take_all(&read, cfg, policy, name, err);
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

int config_print(const struct config *c)
{
    const struct policy_kind *kind;

    printf("plugin {\n  on_error = \"%s\"\n",
           c->fail_on_error ? "fail" : "continue");
    if (c->agent_path[0])
        printf("  agent_path = \"%s\"\n", c->agent_path);
    printf("}\nprobe {\n  budget_ms = %d\n}\n", c->budget_ms);
    for (size_t i = 0; (kind = policy_at(i)) != NULL; i++) {
        printf("policy \"%s\" {\n", kind->name);
        for (size_t k = 0; k < kind->n_params; k++)
            printf("  %s = %.15g # %s; %g to %g\n", kind->params[k].key,
                   c->policy[i][k], kind->params[k].help, kind->params[k].min,
                   kind->params[k].max);
        printf("}\n");
    }
    return fflush(stdout) == 0 ? 0 : -1;
}
