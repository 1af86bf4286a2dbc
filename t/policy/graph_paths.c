/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of random graphs, against the rules written down once more. */
#include "policy/graph_paths.h"
#include "fenced.h"
#include "tap.h"

#include "drawn_graph.h"

/* May the favourite y of x be copied?  By hand: joules of the copy against
   those of its message. */
static int is_copied(const struct graph *g,
                     const struct drawn *t,
                     const struct path_rule *rule,
                     uint32_t x,
                     int has_other,
                     int64_t other)
{
    uint32_t y = g->fpred[x];
    int64_t comm = t->comm[y][x], slack = g->last[x] - g->lact[y];
    double cost = (rule->busy * (double)t->time[y] - rule->link * (double)comm)
                  / GRAPH_NS_PER_S;
    double spared = (double)(comm - slack) / GRAPH_NS_PER_S;

    if (rule->algorithm == PATH_TDS)
        return !has_other || (slack < comm && other != g->ect[y] + comm);
    if (slack >= comm)
        return 0;
    if (rule->algorithm == PATH_EAD)
        return cost <= rule->threshold;
    return cost <= rule->threshold * spared;
}

/* The task before x: its favourite if that is on no path yet, or is copied;
   else, of those on no path, the one whose result comes last. */
static uint32_t previous(const struct graph *g,
                         const struct drawn *t,
                         const struct path_rule *rule,
                         const int is_on[],
                         uint32_t x)
{
    uint32_t y = g->fpred[x], other = GRAPH_NOBODY;
    int64_t most = -1;

    if (y == GRAPH_NOBODY || !is_on[y])
        return y;
    for (uint32_t u = 0; u < t->n; u++)
        if (u != y && t->comm[u][x] >= 0 && !is_on[u]
            && g->ect[u] + t->comm[u][x] > most) {
            most = g->ect[u] + t->comm[u][x];
            other = u;
        }
    return is_copied(g, t, rule, x, other != GRAPH_NOBODY, most) ? y : other;
}

static int paths_are(const struct graph *g,
                     const struct drawn *t,
                     const struct path_rule *rule,
                     const struct graph_paths *p)
{
    int is_on[DRAWN_TASKS] = {0};
    uint32_t n = 0;

    for (uint32_t i = g->tasks; i-- > 0;) {
        uint32_t x = g->ranked[i], at;

        if (is_on[x])
            continue;
        if (n == p->n)
            return 0;
        for (at = p->at[n + 1]; at > p->at[n]; at--) {
            if (p->task[at - 1] != x)
                return 0;
            is_on[x] = 1;
            x = previous(g, t, rule, is_on, x);
        }
        if (x != GRAPH_NOBODY)
            return 0;
        n++;
    }
    return n == p->n;
}

static void test_random(void)
{
    static const char *const names[] = {"TDS", "EAD", "PEBD"};
    int pass[3] = {1, 1, 1}, copies[3] = {0};

    for (int round = 0; round < 6000; round++) {
        struct path_rule rule = {(enum path_algorithm)(round % 3),
                                 drawn_number(9), drawn_number(4),
                                 drawn_number(4)};
        struct graph_paths p;
        struct drawn t;
        struct graph *g = draw_graph(&t);

        if (graph_paths_init(&p, g, &rule) != PATH_SOUND)
            bail("no memory");
        pass[round % 3] &= paths_are(g, &t, &rule, &p);
        copies[round % 3] += p.at[p.n] > t.n;
        graph_paths_clear(&p);
        graph_destroy(g);
    }
    for (int i = 0; i < 3; i++)
        ok(pass[i] && copies[i] > 0,
           "%s: the paths of 2000 random graphs, %d with copies", names[i],
           copies[i]);
}

int main(void)
{
    fence_on = 1;
    test_random();
    return done();
}
