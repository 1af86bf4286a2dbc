/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/graph_paths.h"

#include <stdlib.h>

struct maker {
    const struct graph *g;
    const struct path_rule *rule;
    struct graph_paths *p;
    unsigned char *assigned; /* by task; never undone */
    uint32_t room;           /* for members */
};

/* May y, the favourite predecessor of x, have one more copy to spare x the
 * message?  Of EAD and PEBD. */
static int is_worth_copy(const struct maker *m,
                         uint32_t y,
                         int64_t comm,
                         int64_t slack)
{
    double more = m->rule->busy * ((double)m->g->time[y] / GRAPH_NS_PER_S)
                  - m->rule->link * ((double)comm / GRAPH_NS_PER_S);
    double saved = (double)(comm - slack) / GRAPH_NS_PER_S;

    if (m->rule->algorithm == PATH_EAD)
        return more <= m->rule->threshold;
    return more <= m->rule->threshold * saved;
}

/* Which task goes before x on its path; GRAPH_NOBODY: the path begins at x. */
static uint32_t choose_previous(const struct maker *m, uint32_t x)
{
    const struct graph *g = m->g;
    uint32_t y = g->fpred[x], alt = GRAPH_NOBODY;
    int64_t comm = 0, most = -1, slack;

    /* The favourite, if no path has it yet. */
    if (y == GRAPH_NOBODY || !m->assigned[y])
        return y;
    for (uint32_t i = g->pred_at[x]; i < g->pred_at[x + 1]; i++) {
        uint32_t u = g->pred[i].task;

        if (u == y)
            comm = g->pred[i].comm;
        else if (!m->assigned[u] && g->ect[u] + g->pred[i].comm > most) {
            most = g->ect[u] + g->pred[i].comm;
            alt = u;
        }
    }
    slack = g->last[x] - g->lact[y];
    if (m->rule->algorithm == PATH_TDS) {
        /* Another that is on none, if the favourite's message is in time or
           the other is needed as late; else a copy of the favourite. */
        if (alt != GRAPH_NOBODY && (slack >= comm || most == g->ect[y] + comm))
            return alt;
        return y;
    }
    /* A copy of the favourite, if it saves time and is worth it. */
    if (slack < comm && is_worth_copy(m, y, comm, slack))
        return y;
    return alt;
}

/* Room for one more than `used` members; doubled, so O(1) each. */
static enum path_fault make_room_for_member(struct maker *m, uint32_t used)
{
    uint32_t room =
        m->room < GRAPH_MEMBERS_MAX / 2 ? 2 * m->room : GRAPH_MEMBERS_MAX;
    uint32_t *task;

    if (used < m->room)
        return PATH_SOUND;
    if (used >= GRAPH_MEMBERS_MAX)
        return PATH_LONG;
    task = realloc(m->p->task, room * sizeof *task);
    if (!task)
        return PATH_MEMORY;
    m->p->task = task;
    m->room = room;
    return PATH_SOUND;
}

static void reverse(uint32_t x[], uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t swap = x[i];

        x[i] = x[n - 1 - i];
        x[n - 1 - i] = swap;
    }
}

/* One path, from its last task to its first. */
static enum path_fault trace_path(struct maker *m, uint32_t seed)
{
    uint32_t begin = m->p->at[m->p->n], end = begin;

    for (uint32_t x = seed; x != GRAPH_NOBODY; x = choose_previous(m, x)) {
        enum path_fault fault = make_room_for_member(m, end);

        if (fault != PATH_SOUND)
            return fault;
        m->assigned[x] = 1;
        m->p->task[end++] = x;
    }
    reverse(m->p->task + begin, end - begin);
    m->p->at[++m->p->n] = end;
    return PATH_SOUND;
}

enum path_fault graph_paths_init(struct graph_paths *p,
                                 const struct graph *g,
                                 const struct path_rule *rule)
{
    struct maker m = {g, rule, p, calloc(g->tasks, 1), g->tasks};
    enum path_fault fault = PATH_MEMORY;

    *p = (struct graph_paths){0};
    p->at = calloc(g->tasks + 1u, sizeof *p->at);
    p->task = calloc(g->tasks, sizeof *p->task);
    if (!m.assigned || !p->at || !p->task)
        goto done;
    /* By level, ascending, later in the topological order first. */
    fault = PATH_SOUND;
    for (uint32_t i = g->tasks; i-- > 0 && fault == PATH_SOUND;)
        if (!m.assigned[g->ranked[i]])
            fault = trace_path(&m, g->ranked[i]);
done:
    free(m.assigned);
    if (fault != PATH_SOUND)
        graph_paths_clear(p);
    return fault;
}

void graph_paths_clear(struct graph_paths *p)
{
    free(p->at);
    free(p->task);
    *p = (struct graph_paths){0};
}
