/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/qualification_rank.h"
#include "launcher/base/notice.h"
#include "launcher/probe/probe_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double qualification_highest(const struct profile *p)
{
    double most = 0;

    for (int e = 0; e < ELEMENTS; e++)
        most = p->influence[e] > most ? p->influence[e] : most;
    return most;
}

/* Is it worth a line that n of the nodes have not measured e?  What no node
 * can, such as a virtual machine's link, is so every day: only if the profile
 * counts nothing more than that. */
static int is_news(const struct qualification *q, enum element e, size_t n)
{
    const struct profile *p = &q->setup->profile->profile;

    return n > 0 && p->influence[e] > 0
           && (n < q->known || p->influence[e] >= qualification_highest(p));
}

/* What nodes of one machine share is not known of any of them; of the links it
 * is where all were measured at once, now or by whom the cache has it from. */
static int is_shared(const struct qualification *q, size_t node, enum element e)
{
    unsigned shared = q->shares[node] ? QUALIFICATION_SHARED : 0;

    if (q->ring.rounds > 0 || q->result[node][ELEMENT_I].between)
        shared &= ~PROBE_BIT(ELEMENT_I);
    return (shared & PROBE_BIT(e)) != 0;
}

/* One line an element, however many nodes: the first, and how many more. */
static void warn(const struct qualification *q, enum element e, int left_out)
{
    const char *why = NULL;
    size_t first = 0, n = 0;
    char more[40] = "";

    for (size_t i = q->n; i-- > 0;)
        if (q->answered[i] && !is_shared(q, i, e)
            && q->result[i][e].state == PROBE_NOT_MEASURED) {
            first = i;
            why = q->result[i][e].what;
            n++;
        }
    if (!is_news(q, e, n))
        return;
    if (n > 1)
        snprintf(more, sizeof more, " and of %zu more", n - 1);
    notice("warning: the %s of %s%s could not be measured (%s): it %s",
           probe_name(&q->result[first][e], e),
           session_node(q->session, first)->name, more, why,
           left_out || n == q->known
               ? "does not count"
               : "counts as the median of the other nodes");
}

/* Seats that nobody has yet are as the first node is, and nobody's share. */
static void fill_seats(struct qualification *q)
{
    for (size_t i = q->known; i < q->n; i++) {
        memcpy(q->measured[i], q->measured[0], sizeof q->measured[i]);
        q->metric[i] = q->metric[0];
    }
}

/* Of n >= 1 nodes that are alike, which metric_rank() cannot refuse. */
static void rank_alike(struct qualification *q)
{
    for (size_t i = 0; i < q->n; i++)
        for (int e = 0; e < ELEMENTS; e++)
            q->counted[i][e] = 1;
    (void)metric_rank((const double(*)[ELEMENTS])q->counted,
                      &q->setup->profile->profile, q->metric, q->n);
}

void qualification_rank_equal(struct qualification *q)
{
    rank_alike(q);
    q->known = q->n;
    memcpy(q->measured, q->counted, q->n * sizeof *q->measured);
}

static void row_of(struct qualification *q, size_t node)
{
    for (int e = 0; e < ELEMENTS; e++) {
        const struct probe_result *r = &q->result[node][e];

        q->measured[node][e] =
            is_shared(q, node, (enum element)e) ? (double)NAN : probe_amount(r);
    }
}

size_t qualification_between(const struct qualification *q)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n; i++)
        n += q->result[i][ELEMENT_I].between != 0;
    return n;
}

/* What a port tells is not comparable to what others' links carried, which is
 * always less. */
static void leave_out_told(struct qualification *q)
{
    size_t between = qualification_between(q);

    for (size_t i = 0; between > 0 && i < q->n; i++) {
        struct probe_result *r = &q->result[i][ELEMENT_I];

        if (!r->between && r->state == PROBE_MEASURED)
            probe_not_measured(r,
                               "the others' links were measured, its is not");
    }
}

/* Of one that has not answered: what it may be, or what another is. */
static void row_of_silent(struct qualification *q, size_t node, size_t like)
{
    if (q->result[node][ELEMENT_C].state == PROBE_MEASURED)
        row_of(q, node);
    else
        memcpy(q->measured[node], q->measured[like], sizeof q->measured[node]);
}

/* What is known of all nodes, each element in all of them or in none. */
void qualification_complete(struct qualification *q, int left_out[ELEMENTS])
{
    size_t first = 0;

    leave_out_told(q);
    q->known = session_known_size(q->session);
    while (first + 1 < q->known
           && q->result[first][ELEMENT_C].state != PROBE_MEASURED)
        first++;
    row_of(q, first);
    for (size_t i = 0; i < q->known; i++)
        if (q->answered[i] && session_node(q->session, i)->present)
            row_of(q, i);
        else if (i != first) /* or it was lost */
            row_of_silent(q, i, first);
    metric_complete(q->measured, q->scratch, left_out, q->known);
}

/* Then all are ranked once more, and told what is to be said. */
static int is_any_to_answer(const struct qualification *q)
{
    for (size_t i = 0; i < q->n; i++)
        if (q->again[i])
            return 1;
    return 0;
}

static void warn_all(const struct qualification *q,
                     const int left_out[ELEMENTS])
{
    for (int e = 0; e < ELEMENTS; e++)
        warn(q, (enum element)e, left_out[e]);
}

/* A disk that is too full to be measured tells its room all the same. */
static int is_room_known(const struct probe_result *p)
{
    return p->state == PROBE_MEASURED || p->capacity_bytes > 0;
}

int qualification_lacks(const struct qualification *q, size_t node)
{
    const struct config_profile *profile = q->setup->profile;

    for (enum element e = 0; e < ELEMENTS; e++) {
        const struct probe_result *p = &q->result[node][e];

        if (!is_room_known(p) || (double)p->capacity_bytes >= profile->need[e])
            continue;
        notice("%s has %.1f GB of %s, and the profile %s needs %.1f GB: it "
               "gets nothing",
               session_node(q->session, node)->name,
               (double)p->capacity_bytes / 1e9, probe_name(p, e), profile->name,
               profile->need[e] / 1e9);
        return 1;
    }
    return 0;
}

void qualification_rank(struct qualification *q)
{
    const struct profile *profile = &q->setup->profile->profile;
    int left_out[ELEMENTS];

    qualification_complete(q, left_out);
    if (!q->setup->quiet && !is_any_to_answer(q))
        warn_all(q, left_out);
    memcpy(q->counted, q->measured, q->n * sizeof *q->counted);
    if (rank_by_rank(q->setup->probe->rank_by, q->counted, profile, q->metric,
                     q->known)
        == 0) {
        fill_seats(q);
        return;
    }
    if (is_any_to_answer(q)) {
        rank_alike(q);
        return;
    }
    notice("warning: no node could be measured in what the profile %s counts: "
           "the first slices are all alike",
           q->setup->profile->name);
    qualification_rank_equal(q);
}
