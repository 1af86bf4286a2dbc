/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/agent_probe.h"
#include "launcher/base/number.h"
#include "launcher/exec/execution.h"
#include "launcher/probe/probe.h"
#include "launcher/probe/probe_cache.h"
#include "launcher/probe/probe_json.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Above the budget: to start the process, to load the topology and to end,
 * on a node that gives it a tenth of a core. */
#define PATIENCE_MS 3000

/* Arguments of an element of the site's. */
#define SITE_WORDS 5

struct agent_probe {
    agent_probe_fn fn;
    void *arg;
    struct execution *execution;
    struct event *timer; /* the answer is here, or the patience at its end */
    struct msg_probed answer;
    char results[PROBED_MAX];
    size_t len; /* also of what did not fit */
};

/* --- the process ---------------------------------------------------------- */

static int read_elements(unsigned *elements, const char *letters)
{
    *elements = 0;
    for (; *letters; letters++) {
        enum element e = element_of(*letters);

        if (e == ELEMENTS)
            return -1;
        *elements |= PROBE_BIT(e);
    }
    return *elements ? 0 : -1;
}

static int print_results(const struct probe_result result[ELEMENTS],
                         struct es_error *err)
{
    json_t *json = probe_to_json(result);
    int rc = json ? json_dumpf(json, stdout, JSON_COMPACT) : -1;

    json_decref(json);
    if (rc < 0 || fflush(stdout) != 0)
        return es_no_space(err);
    return 0;
}

/* 0, or -1 if it is none. */
static int read_budget(int *budget_ms, const char *text)
{
    int64_t ms;

    if (number_parse_int(text, PROBE_NODE_BUDGET_MIN_MS,
                         PROBE_NODE_BUDGET_MAX_MS, &ms)
        < 0)
        return -1;
    *budget_ms = (int)ms;
    return 0;
}

/* One element of the site's from its SITE_WORDS arguments. */
static int read_site(struct probe_site *site, char **argv)
{
    if (!probe_is_label(argv[0], sizeof site->name)
        || (*argv[1] && !probe_is_label(argv[1], sizeof site->unit))
        || strlen(argv[4]) >= sizeof site->command
        || read_budget(&site->budget_ms, argv[3]) < 0)
        return -1;
    (void)snprintf(site->name, sizeof site->name, "%s", argv[0]);
    (void)snprintf(site->unit, sizeof site->unit, "%s", argv[1]);
    (void)snprintf(site->command, sizeof site->command, "%s", argv[4]);
    site->less = strcmp(argv[2], "less") == 0;
    return 0;
}

static int read_arguments(struct probe_setup *setup,
                          struct probe_site site[SITE_ELEMENTS],
                          int argc,
                          char **argv)
{
    int at = 3;

    if (argc < 3 || read_budget(&setup->budget_ms, argv[0]) < 0
        || read_elements(&setup->elements, argv[1]) < 0)
        return -1;
    if (argv[2][0])
        setup->scratch = argv[2];
    setup->site = site;
    for (int i = 0; i < SITE_ELEMENTS; i++) {
        if (!(setup->elements & PROBE_BIT(ELEMENT_SITE + i)))
            continue;
        if (argc - at < SITE_WORDS || read_site(&site[i], argv + at) < 0)
            return -1;
        at += SITE_WORDS;
    }
    return at == argc ? 0 : -1;
}

int agent_probe_main(int argc, char **argv, struct es_error *err)
{
    struct probe_site site[SITE_ELEMENTS] = {0};
    struct probe_result result[ELEMENTS];
    struct probe_setup setup;

    probe_setup_init(&setup);
    if (read_arguments(&setup, site, argc, argv) < 0)
        return es_fail(err, ES_USAGE,
                       "give BUDGET_MS ELEMENTS SCRATCH, and for each of W to "
                       "Z: NAME UNIT more|less BUDGET_MS COMMAND",
                       "--probe: bad arguments");
    if (probe_node(&setup, result, err) < 0)
        return -1;
    return print_results(result, err);
}

/* --- the answer ----------------------------------------------------------- */

static void answer(struct agent_probe *p)
{
    p->fn(p->arg, &p->answer); /* p may be gone after it */
}

/* From the loop: nobody expects an answer from within the start. */
static void answer_soon(struct agent_probe *p)
{
    event_active(p->timer, EV_TIMEOUT, 0);
}

static void on_probe_timer(evutil_socket_t fd, short what, void *arg)
{
    struct agent_probe *p = arg;

    (void)fd;
    (void)what;
    if (p->execution) {
        execution_destroy(p->execution);
        p->execution = NULL;
        snprintf(p->answer.text, sizeof p->answer.text, "the probe hangs");
    }
    answer(p);
}

static void on_probe_output(void *arg, const void *buf, size_t len)
{
    struct agent_probe *p = arg;
    size_t room = p->len < sizeof p->results ? sizeof p->results - p->len : 0;

    memcpy(p->results + (p->len < sizeof p->results ? p->len : 0), buf,
           len < room ? len : room);
    p->len += len;
}

static void on_probe_end(void *arg, const struct execution_end *end)
{
    struct agent_probe *p = arg;
    struct msg_probed *m = &p->answer;

    if (end->status == 0 && p->len <= sizeof p->results) {
        m->results = (const uint8_t *)p->results;
        m->len = p->len;
    } else {
        snprintf(m->text, sizeof m->text, "%.*s", (int)end->err_len,
                 end->err_len ? end->err_tail : "");
        if (!m->text[0])
            snprintf(m->text, sizeof m->text, "the probe ended with status %d",
                     end->status);
        m->text[strcspn(m->text, "\n")] = '\0';
    }
    execution_destroy(p->execution);
    p->execution = NULL;
    answer(p);
}

/* --- from the cache ------------------------------------------------------- */

static int keep_results(struct agent_probe *p,
                        const struct probe_result result[ELEMENTS])
{
    json_t *json = probe_to_json(result);

    p->len = json
                 ? json_dumpb(json, p->results, sizeof p->results, JSON_COMPACT)
                 : 0;
    json_decref(json);
    return p->len > 0 && p->len <= sizeof p->results ? 0 : -1;
}

/* 1: the cache had it.  The node's own limit is none that it can see. */
static int from_cache(struct agent_probe *p,
                      const struct agent_probe_setup *setup,
                      const struct msg_probe *order)
{
    const struct probe_cache cache = {order->cache, 0};
    struct probe_result result[ELEMENTS];
    struct es_error err = {0};
    struct probe_stamp now;
    char node[sizeof now.node];

    probe_cache_node(node);
    if (probe_stamp_take(&now, node, "/proc", setup->sysfs, &err) < 0)
        goto fail;
    snprintf(p->answer.hardware, sizeof p->answer.hardware, "%s", now.hardware);
    if (setup->speed_pct > 0 && now.cpus > setup->speed_pct / 100.0)
        now.cpus = setup->speed_pct / 100.0;
    if (order->fresh)
        return 0;
    if (probe_cache_get(&cache, &now, (int64_t)order->ttl_s, order->elements,
                        order->site, result, &err)
        < 0)
        goto fail;
    if (keep_results(p, result) < 0)
        return 0;
    p->answer.cached = 1;
    p->answer.results = (const uint8_t *)p->results;
    p->answer.len = p->len;
    return 1;
fail:
    snprintf(p->answer.text, sizeof p->answer.text, "%.500s", err.what);
    return 0;
}

/* --- start and end -------------------------------------------------------- */

static void letters_of(char letters[ELEMENTS + 1], unsigned elements)
{
    for (int e = 0; e < ELEMENTS; e++)
        if (elements & PROBE_BIT(e))
            *letters++ = element_letter((enum element)e);
    *letters = '\0';
}

/* What --probe is called with: texts of the order, and two written here. */
struct probe_argv {
    char budget[16], letters[ELEMENTS + 1], site_budget[SITE_ELEMENTS][16];
    char *word[5 + SITE_ELEMENTS * SITE_WORDS + 1];
    size_t n;
};

/* execve() changes none of them. */
static void add_word(struct probe_argv *a, const char *word)
{
    a->word[a->n++] = (char *)(uintptr_t)word;
}

static void probe_argv_fill(struct probe_argv *a, const struct msg_probe *order)
{
    *a = (struct probe_argv){0};
    (void)snprintf(a->budget, sizeof a->budget, "%u", order->budget_ms);
    letters_of(a->letters, order->elements);
    add_word(a, "/proc/self/exe");
    add_word(a, "--probe");
    add_word(a, a->budget);
    add_word(a, a->letters);
    add_word(a, order->scratch);
    for (int i = 0; i < SITE_ELEMENTS; i++) {
        const struct probe_site *site = &order->site[i];

        if (!(order->elements & PROBE_BIT(ELEMENT_SITE + i)))
            continue;
        (void)snprintf(a->site_budget[i], sizeof a->site_budget[i], "%d",
                       site->budget_ms);
        add_word(a, site->name);
        add_word(a, site->unit);
        add_word(a, site->less ? "less" : "more");
        add_word(a, a->site_budget[i]);
        add_word(a, site->command);
    }
}

static int measure_node(struct agent_probe *p,
                        const struct agent_probe_setup *setup,
                        const struct msg_probe *order,
                        struct es_error *err)
{
    struct probe_argv argv;
    const struct execution_spec spec = {
        .argv = argv.word, .envp = setup->environ, .throttle = setup->throttle};

    probe_argv_fill(&argv, order);
    return execution_start(&p->execution, setup->base, &spec, on_probe_output,
                           on_probe_end, p, err);
}

/* Milliseconds after which the process hangs. */
static uint32_t patience(const struct msg_probe *order)
{
    uint32_t site_ms = 0;

    for (int i = 0; i < SITE_ELEMENTS; i++)
        if ((uint32_t)order->site[i].budget_ms > site_ms)
            site_ms = (uint32_t)order->site[i].budget_ms;
    return order->budget_ms + site_ms + PATIENCE_MS;
}

struct agent_probe *agent_probe_start(const struct agent_probe_setup *setup,
                                      const struct msg_probe *order,
                                      agent_probe_fn fn,
                                      void *arg)
{
    struct agent_probe *p = calloc(1, sizeof *p);
    uint32_t ms = patience(order);
    const struct timeval late = {ms / 1000, ms % 1000 * 1000};
    struct es_error err = {0};

    if (!p)
        return NULL;
    p->fn = fn;
    p->arg = arg;
    p->timer = evtimer_new(setup->base, on_probe_timer, p);
    if (!p->timer || evtimer_add(p->timer, &late) < 0) {
        agent_probe_destroy(p);
        return NULL;
    }
    if (from_cache(p, setup, order)) {
        answer_soon(p);
    } else if (measure_node(p, setup, order, &err) < 0) {
        snprintf(p->answer.text, sizeof p->answer.text, "%.500s", err.what);
        answer_soon(p);
    }
    return p;
}

void agent_probe_destroy(struct agent_probe *p)
{
    if (!p)
        return;
    execution_destroy(p->execution);
    if (p->timer)
        event_free(p->timer);
    free(p);
}
