/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/energy.h"
#include "launcher/base/notice.h"
#include "launcher/session/companion.h"
#include "launcher/session/slurm_watts.h"
#include "pmix_bcast/clock.h"
#include "policy/pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RECORD_MS   1000 /* of a node, at least */
#define WATTS_MAX   1e6  /* of a node: no message makes more of it */
#define PATIENCE_NS UINT64_C(5000000000)

struct watched {
    struct msg_energy counted, cpus; /* the last of each; ns 0: none yet */
    enum energy_source source;       /* the worst so far */
    double joules, seconds;          /* of all sources */
    double watts, lately;            /* of the last so many seconds */
    int64_t heard_ns;                /* when the last of them was added */
    int has_ended;                   /* its counters are of no use any more */
};

struct energy_watch {
    struct session *session;
    const struct power *model; /* NULL: the site has none */
    struct msg_energy_order order;
    size_t n;
    struct watched *node; /* n */
    struct event_base *base;
    struct slurm_watts *slurm; /* NULL: it is not asked */
    int in_job, asked, told;
};

static void add(struct watched *w,
                enum energy_source source,
                double joules,
                double seconds)
{
    if (!(seconds > 0) || !(joules >= 0) || joules > WATTS_MAX * seconds)
        return;
    w->joules += joules;
    w->seconds += seconds;
    w->watts = joules / seconds;
    w->lately = seconds;
    w->heard_ns = clock_ns();
    if (source > w->source)
        w->source = source;
}

static double seconds_from(uint64_t before, uint64_t after)
{
    return after > before ? (double)(after - before) / 1e9 : 0;
}

/* From the start on: what was made of it before the guard was heard is
 * forgotten. */
static void take_counted(struct watched *w, const struct msg_energy *m)
{
    if (w->has_ended)
        return;
    if (w->counted.ns == 0)
        *w = (struct watched){.cpus = w->cpus};
    if (m->uj >= w->counted.uj)
        add(w, ENERGY_MEASURED, (double)(m->uj - w->counted.uj) / 1e6,
            seconds_from(w->counted.ns, m->ns));
    w->counted = *m;
    if (w->counted.ns == 0)
        w->counted.ns = 1; /* it has begun */
}

static double modelled(const struct power *p,
                       const struct msg_energy *before,
                       const struct msg_energy *m,
                       double seconds)
{
    double busy = (double)m->busy_ms - (double)before->busy_ms;
    double idle = (double)m->idle_ms - (double)before->idle_ms;

    return (p->busy * fmax(busy, 0) + p->idle * fmax(idle, 0)) / 1e3
           + p->base * seconds;
}

/* Once it is clear that the node has no counters, and the session no few
 * seconds. */
static void ask_slurm(struct energy_watch *e, const struct msg_energy *m)
{
    if (e->in_job && !e->asked && m->ns > PATIENCE_NS) {
        e->asked = 1;
        e->slurm = slurm_watts_start(e->base, e->session);
    }
}

/* The time since the last such message, as far as no counter has it. */
static void take_cpus(struct energy_watch *e,
                      size_t i,
                      const struct msg_energy *m)
{
    struct watched *w = &e->node[i];
    double seconds = seconds_from(w->cpus.ns, m->ns);

    if (w->counted.ns == 0 || w->has_ended) {
        double watts = slurm_watts_of(e->slurm, i);

        ask_slurm(e, m);
        if (watts > 0)
            add(w, ENERGY_SLURM, watts * seconds, seconds);
        else if (e->model)
            add(w, ENERGY_MODELLED, modelled(e->model, &w->cpus, m, seconds),
                seconds);
    }
    w->cpus = *m;
}

static void end_counted(struct energy_watch *e,
                        size_t i,
                        const struct msg_energy *m)
{
    e->node[i].has_ended = 1;
    e->node[i].watts = 0;
    if (e->told)
        return;
    e->told = 1;
    notice("warning: %s: %s; %s", session_node(e->session, i)->name, m->text,
           e->model ? "modelled from here on" : "no more is known of it");
}

int energy_message(struct energy_watch *e,
                   size_t node,
                   uint16_t type,
                   const uint8_t *body,
                   size_t len)
{
    struct msg_energy m;

    if (type != MSG_ENERGY || msg_read_energy(&m, body, len) < 0)
        return 0;
    if (m.source == ENERGY_COUNTED)
        take_counted(&e->node[node], &m);
    else if (m.source == ENERGY_CPUS)
        take_cpus(e, node, &m);
    else
        end_counted(e, node, &m);
    return 1;
}

/* --- what people are told ------------------------------------------------- */

size_t energy_size(const struct energy_watch *e)
{
    return e->n;
}

struct energy_view energy_view(const struct energy_watch *e, size_t node)
{
    const struct watched *w = &e->node[node];

    return (struct energy_view){w->source, w->joules, w->seconds};
}

struct energy_view energy_view_now(const struct energy_watch *e, size_t node)
{
    const struct watched *w = &e->node[node];
    struct energy_view v = energy_view(e, node);
    double since = (double)(clock_ns() - w->heard_ns) / 1e9;

    since = fmin(since, w->lately); /* then the next would have come */
    v.joules += w->watts * since;
    v.seconds += since;
    return v;
}

struct energy_view energy_sum(const struct energy_watch *e)
{
    struct energy_view sum = {.source = ENERGY_UNKNOWN};

    for (size_t i = 0; i < e->n; i++) {
        struct energy_view v = energy_view(e, i);

        sum.joules += v.joules;
        sum.seconds = fmax(sum.seconds, v.seconds);
        if (v.source > sum.source)
            sum.source = v.source;
    }
    return sum;
}

const char *energy_source_name(enum energy_source source)
{
    static const char *const name[] = {"unknown", "measured", "slurm",
                                       "modelled"};

    return name[source];
}

void energy_used_text(char text[ENERGY_TEXT], const struct energy_view *e)
{
    static const char *const from[] = {
        [ENERGY_UNKNOWN] = "from nothing",
        [ENERGY_MEASURED] = "measured: CPUs and memory",
        [ENERGY_SLURM] = "by Slurm's watts of its nodes",
        [ENERGY_MODELLED] = "modelled: see energy in evenstep.conf(5)",
    };

    snprintf(text, ENERGY_TEXT, "%.4g kJ in %.1f s, %.4g W (%s)",
             e->joules / 1e3, e->seconds, e->joules / e->seconds,
             from[e->source]);
}

/* --- start and end -------------------------------------------------------- */

/* Agents of --local are on one machine: the first tells what it uses. */
void energy_order(struct energy_watch *e, size_t node)
{
    struct writer w = {0};

    if (session_is_local(e->session) && node > 0)
        return;
    msg_write_energy_order(&w, &e->order);
    session_send(e->session, node, MSG_ENERGY, &w);
}

static void order_all(struct energy_watch *e)
{
    struct writer w = {0};

    if (session_is_local(e->session)) {
        energy_order(e, 0);
        return;
    }
    msg_write_energy_order(&w, &e->order);
    session_send_all(e->session, MSG_ENERGY, &w);
}

struct energy_watch *energy_start(struct event_base *base,
                                  struct session *session,
                                  const struct config *config,
                                  int guard)
{
    struct energy_watch *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->base = base;
    e->session = session;
    e->n = session_size(session);
    e->model = config->has_energy ? &config->energy : NULL;
    e->order.guard = guard != 0;
    e->in_job = companion_job_nodes() != NULL;
    e->order.record_ms = pace_record_ms(e->n, 0);
    if (e->order.record_ms < RECORD_MS)
        e->order.record_ms = RECORD_MS;
    e->node = calloc(e->n, sizeof *e->node);
    if (!e->node) {
        energy_stop(e);
        return NULL;
    }
    order_all(e);
    return e;
}

void energy_in_job(struct energy_watch *e)
{
    if (e)
        e->in_job = 1;
}

void energy_stop(struct energy_watch *e)
{
    if (!e)
        return;
    slurm_watts_stop(e->slurm);
    free(e->node);
    free(e);
}
