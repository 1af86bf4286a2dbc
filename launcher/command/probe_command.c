/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep probe: what this node, or every node of the allocation, can do.
 */
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/command/probe_print.h"
#include "launcher/commands.h"
#include "launcher/config/config.h"
#include "launcher/config/config_file.h"
#include "launcher/config/local_option.h"
#include "launcher/probe/probe.h"
#include "launcher/probe/probe_cache.h"
#include "launcher/session/front.h"
#include "launcher/session/qualification.h"
#include "launcher/session/ring_keep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- probe here ---------------------------------------------------------------- */

/* What the node of this process can do: read from the cache, or
 * measured.  What root has measured is kept in the cache. */

static int is_to_be_kept(const struct config_probe *config, unsigned elements)
{
    return geteuid() == 0 && !getenv("SLURM_JOB_ID")
           && elements == config->elements;
}

static int measure(struct probe_node_view *node,
                   const struct config_probe *config,
                   unsigned elements,
                   struct es_error *err)
{
    struct probe_setup setup;

    probe_setup_init(&setup);
    setup.budget_ms = config->budget_ms;
    setup.elements = elements;
    setup.site = config->site;
    if (config->scratch[0])
        setup.scratch = config->scratch;
    return probe_node(&setup, node->result, err);
}

/*
 * What kept an element from being measured then, as a driver that was not there,
 * may be gone.  1: all of what is kept holds, but for what is measured now; 0:
 * it is to be replaced.
 */
static int complete(struct probe_node_view *node,
                    const struct config_probe *config,
                    unsigned elements,
                    struct es_error *why)
{
    struct probe_node_view now = {0};
    unsigned again = 0;
    int gained = -1;

    for (int e = 0; e < ELEMENTS; e++)
        if (node->result[e].state == PROBE_NOT_MEASURED)
            again |= PROBE_BIT(e);
    if (!again || measure(&now, config, again, NULL) < 0)
        return 1;
    for (int e = 0; e < ELEMENTS; e++)
        if (again & PROBE_BIT(e)) {
            node->result[e] = now.result[e];
            if (now.result[e].state == PROBE_MEASURED)
                gained = e;
        }
    if (gained < 0 || !is_to_be_kept(config, elements))
        return 1;
    (void)es_fail(why, ES_ENV, "", "cache %s: %c could not be measured then",
                  config->cache, element_letter((enum element)gained));
    return 0;
}

/*
 * Fill in *node.  What root measures is kept in the cache if it is outside of a
 * job, as inside one other processes share the node and not all CPUs can be
 * used, and if all elements of the configuration were measured.  Blocks for the
 * budget. node->name points to name.  Fails if nothing can be measured at all,
 * or if a result that is to be kept cannot be written.
 */
static int probe_here(struct probe_node_view *node,
                      char name[64],
                      const struct config_probe *config,
                      unsigned elements,
                      int fresh,
                      struct es_error *err)
{
    const struct probe_cache cache = {config->cache, 0};
    struct es_error why = {0};
    struct probe_stamp now;

    memset(node, 0, sizeof *node);
    probe_cache_node(name);
    node->name = name;
    if (probe_stamp_take(&now, name, "/proc", "/sys", err) < 0)
        return -1;
    snprintf(node->hardware, sizeof node->hardware, "%s", now.hardware);
    if (!fresh
        && probe_cache_get(&cache, &now, config->ttl_s, elements, config->site,
                           node->result, &why)
               == 0
        && complete(node, config, elements, &why)) {
        node->cached = 1;
        return 0;
    }
    snprintf(node->why, sizeof node->why, "%.500s", why.what);
    if (measure(node, config, elements, err) < 0)
        return -1;
    if (!is_to_be_kept(config, elements))
        return 0;
    return probe_cache_put(&cache, &now, node->result, err);
}

/* --- probe command ------------------------------------------------------------- */

struct options {
    const char *srun, *report;
    unsigned elements;
    struct local_option local;
    int nodes, fresh, json, check;
};

struct command {
    const struct options *o;
    struct config config; /* its elements are those that were asked for */
    struct es_error *err;
    struct front front;
    struct qualification_setup setup;
    struct qualification qualification;
    struct ring_keep keep;
    int keeping; /* what the ring has measured */
    struct report_out report;
};

/* --- options -------------------------------------------------------------- */

static int take_elements(void *into, const char *text, struct es_error *err)
{
    const char *at = text;
    unsigned elements = 0;

    for (;; at += 2) {
        enum element e = *at ? element_of(*at) : ELEMENTS;

        if (e == ELEMENTS || (at[1] && at[1] != ','))
            return es_fail(err, ES_USAGE,
                           "give some of C,M,I,B,S,G, or W,X,Y,Z of the site's",
                           "--elements: \"%s\" is no list of elements", text);
        elements |= PROBE_BIT(e);
        if (!at[1])
            break;
    }
    *(unsigned *)into = elements;
    return 0;
}

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_GROUP, .name = "which nodes (without either this one, and by no other):"},
    {OPTION_FLAG, "nodes", NULL, AT(nodes), .excludes = "local",
     .help = "every node of the allocation, their links too"},
    {OPTION_LOCAL, AT(local)},
    {OPTION_SRUN, AT(srun), .needs = "nodes"},
    {OPTION_GROUP, .name = "what:"},
    {OPTION_TAKE, "elements", "E,E,...", AT(elements), .take = take_elements,
     .help = "these only, of C,M,I,B,S,G, and W,X,Y,Z if the site has them"},
    {OPTION_FLAG, "fresh", NULL, AT(fresh), .help =
     "measure, whatever the cache has.  Run by root outside of a job, what "
     "this node measures is kept in the cache; with --nodes what the links "
     "carried"},
    {OPTION_GROUP, .name = "results:"},
    {OPTION_FLAG, "json", NULL, AT(json), .help =
     "print one JSON object; it is a metrics FILE, too"},
    {OPTION_TEXT, "report", "FILE", AT(report), .file = OPTION_WRITES, .help =
     "write it into FILE, too, for evenstep report"},
    {OPTION_FLAG, "check", NULL, AT(check), .help =
     "exit 1 if a node is an outlier: far from the median of its kind.  Each "
     "is named in any case"},
    {.type = OPTION_END},
};
/* clang-format on */

/* --- results -------------------------------------------------------------- */

static int say_outliers(const struct command *c,
                        const struct probe_node_view node[],
                        const struct outlier outlier[],
                        size_t count)
{
    char text[200];

    for (size_t i = 0; i < count; i++) {
        probe_outlier_text(text, node, &outlier[i]);
        notice("warning: %s", text);
    }
    if (count == 0 || !c->o->check)
        return 0;
    return es_fail(c->err, ES_WORK, "look at the nodes named above",
                   "%zu results are outliers", count);
}

static int show(struct command *c,
                const struct probe_node_view node[],
                size_t n)
{
    struct outlier *outlier = NULL;
    size_t count;
    int rc;

    if (probe_outliers(node, n, &c->config.probe, &outlier, &count) < 0)
        rc = es_no_memory(c->err);
    else if ((c->o->json ? probe_print_json(node, n, outlier, count)
                         : probe_print_table(node, n))
             < 0)
        rc = es_no_space(c->err);
    else if (probe_print_report(&c->report, node, n, outlier, count, c->err)
             < 0)
        rc = -1;
    else
        rc = say_outliers(c, node, outlier, count);
    free(outlier);
    return rc;
}

static int show_all(struct command *c)
{
    const struct qualification *q = &c->qualification;
    struct probe_node_view *node = calloc(q->n, sizeof *node);
    int rc;

    if (!node)
        return es_no_memory(c->err);
    for (size_t i = 0; i < q->n; i++) {
        node[i].name = session_node(c->front.session, i)->name;
        node[i].cached = q->answer[i].cached != 0;
        snprintf(node[i].why, sizeof node[i].why, "%s", q->answer[i].text);
        memcpy(node[i].hardware, q->answer[i].hardware,
               sizeof node[i].hardware);
        memcpy(node[i].result, q->result[i], sizeof node[i].result);
        memcpy(node[i].metrics, q->measured[i], sizeof node[i].metrics);
    }
    rc = show(c, node, q->n);
    free(node);
    return rc;
}

/* --- the session ---------------------------------------------------------- */

static void on_ready(void *arg)
{
    struct command *c = arg;

    if (qualification_start(&c->qualification, c->front.session, &c->setup,
                            c->err)
        < 0)
        front_finish(&c->front, 1);
}

static void finish(struct command *c)
{
    int rc = show_all(c);

    if (ring_keep_result(&c->keep, rc < 0 ? NULL : c->err) < 0)
        rc = -1;
    front_finish(&c->front, rc);
}

/* All is measured.  Root keeps what the links carried, as no step measures it
 * that takes the cache. */
static void on_measured(struct command *c)
{
    const struct qualification *q = &c->qualification;

    c->keeping = c->o->fresh && geteuid() == 0 && q->ring.rounds > 0;
    if (c->keeping && ring_keep_start(&c->keep, q) < 0)
        front_finish(&c->front, es_no_memory(c->err));
    else if (c->keep.missing == 0)
        finish(c);
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct command *c = arg;

    if (c->keeping) {
        if (ring_keep_message(&c->keep, node, type, body, len)
            && c->keep.missing == 0)
            finish(c);
    } else if (qualification_message(&c->qualification, node, type, body, len)
               && c->qualification.missing == 0) {
        on_measured(c);
    }
}

static void on_lost(void *arg, size_t node, const char *why)
{
    struct command *c = arg;

    notice("%s is lost: %s", session_node(c->front.session, node)->name, why);
    if (c->keeping) {
        ring_keep_lost(&c->keep, node);
        if (c->keep.missing == 0)
            finish(c);
        return;
    }
    qualification_lost(&c->qualification, node);
    if (c->qualification.missing == 0)
        on_measured(c);
}

static const struct session_events session_events = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
};

static int start(struct command *c)
{
    struct session_setup setup = {.local = c->o->local.n,
                                  .local_speed =
                                      local_option_speeds(&c->o->local),
                                  .place.srun_args = c->o->srun};

    c->setup = (struct qualification_setup){
        .source = c->o->fresh ? METRICS_PROBE : METRICS_CACHED,
        .probe = &c->config.probe,
        .ring = 1};
    if (front_begin(&c->front, c->err) < 0
        || front_catch(&c->front, "nothing is left running") < 0)
        return -1;
    return front_open(&c->front, &c->config, &setup, &session_events, c);
}

static int probe_all(struct command *c)
{
    int rc;

    if (start(c) < 0)
        front_finish(&c->front, 1);
    rc = front_run(&c->front);
    front_close(&c->front);
    ring_keep_clear(&c->keep);
    qualification_clear(&c->qualification);
    front_end(&c->front);
    return rc;
}

/* --- this node ------------------------------------------------------------ */

static int probe_this(struct command *c)
{
    struct probe_node_view node;
    char name[64];
    unsigned elements =
        c->o->elements ? c->o->elements : c->config.probe.elements;

    if (probe_here(&node, name, &c->config.probe, elements, c->o->fresh, c->err)
        < 0)
        return -1;
    for (int e = 0; e < ELEMENTS; e++)
        node.metrics[e] = probe_amount(&node.result[e]);
    return show(c, &node, 1);
}

/* Of the site's own only those that its configuration defines. */
static int check_elements(const struct command *c, unsigned elements)
{
    for (int i = 0; i < SITE_ELEMENTS; i++)
        if ((elements & PROBE_BIT(ELEMENT_SITE + i))
            && !c->config.probe.site[i].name[0])
            return es_fail(c->err, ES_USAGE,
                           "define it in probe { }, see evenstep.conf(5)",
                           "--elements: no element %c is configured",
                           element_letter((enum element)(ELEMENT_SITE + i)));
    return 0;
}

static int probe_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    struct command c = {.o = &o, .err = err};
    int rc = options_parse(&command_probe, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (config_load(&c.config, NULL, err) < 0)
        return -1;
    if (check_elements(&c, o.elements) < 0)
        return -1;
    if (o.nodes && front_is_alone(o.local.n > 0, err) < 0)
        return -1;
    if (o.nodes && o.local.n == 0 && companion_job_from_environ() == 0)
        return es_fail(err, ES_ENV, "run it inside salloc or sbatch",
                       "--nodes: no allocation");
    if (report_out_open(&c.report, o.report, err) < 0)
        return -1;
    if (!o.nodes && o.local.n == 0) {
        rc = probe_this(&c);
    } else {
        if (o.elements)
            c.config.probe.elements = o.elements;
        rc = probe_all(&c);
    }
    return report_out_close(&c.report, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

const struct subcommand command_probe = {
    .name = "probe",
    .brief = "what this node, or every node, can do",
    .about =
        "Measure what a node can do, in about a second: C CPU, M memory, I\n"
        "interconnect, B bus, S storage, G GPU.  What cannot be measured is named\n"
        "with the reason.  Where root keeps results in the site's cache they are\n"
        "shown instead.\n",
    .option = options,
    .end =
        "exit status: 0 measured, 1 --check has found one, 2 usage, 3 no Slurm or\n"
        "agents, or what root measured cannot be kept\n",
    .run = probe_main,
};
