/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_failures.h"
#include "launcher/base/notice.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Without --retries: one that fails at this many slices in a row, while others
 * do theirs, gets nothing more.  Nor is it less where a bad unit is looked for, as
 * that fails at whoever has it. */
#define IN_A_ROW 3

/* What a failure is told with. */
struct telling {
    const char *node, *mend;
    char how[120];
    char what[600];
};

void run_failures_rule(const struct run_options *o, struct failure_rule *rule)
{
    *rule = (struct failure_rule){.retries = o->retries,
                                  .halves = o->bisect,
                                  .doubts = o->keep_going > 0 || o->bisect};
}

/* --- in words ------------------------------------------------------------- */

/* It has ended well, but the agent says in the last line, which begins so, why it
 * has not done its slice.  Returns the rest, of *n bytes; NULL: it does not. */
static const char *said_by_agent(const struct msg_done *m,
                                 const char *said,
                                 size_t *rest)
{
    const char *last = (const char *)m->err;
    size_t n = m->err_len, at;

    if (m->status != 126 || n == 0 || last[n - 1] != '\n')
        return NULL;
    at = --n;
    while (at > 0 && last[at - 1] != '\n')
        at--;
    last += at;
    n -= at;
    if (n <= strlen(said) || memcmp(last, said, strlen(said)) != 0)
        return NULL;
    *rest = n - strlen(said);
    return last + strlen(said);
}

/* 1: told. */
static int tell_not_done(struct telling *t, const struct msg_done *m)
{
    size_t n;
    const char *why = said_by_agent(m, "evenstep: --return: ", &n);

    if (why) { /* returning.h */
        snprintf(t->how, sizeof t->how, "did not return %.*s", (int)n, why);
        t->mend = "--return names what each command makes in its folder";
        return 1;
    }
    why = said_by_agent(m, "evenstep: --lines: ", &n); /* slice_input.h */
    if (!why)
        return 0;
    snprintf(t->how, sizeof t->how, "ended well, but %.*s", (int)n, why);
    t->mend = "does something in it read standard input, as ssh does? "
              "--may-leave-lines lets a command leave lines";
    return 1;
}

/* Where --exec has brought the command's program; NULL: it has not. */
static const char *brought_to(const struct run *r, const struct piece *p)
{
    const char *to = r->o->exec.destination;

    return p->frame->type == 0 && to[0] ? to : NULL;
}

/* How a command ended, and what may help. */
static void tell_end(struct telling *t,
                     const struct msg_done *m,
                     int was_brought)
{
    size_t size = sizeof t->how;

    if (tell_not_done(t, m))
        return;
    if (m->exec_errno) {
        snprintf(t->how, size, "could not be started: %s",
                 strerror((int)m->exec_errno));
        t->mend = was_brought  ? "bring it to where a node may run it, and a "
                                 "script's own program to every node"
                  : m->err_len ? "see why above"
                  : m->exec_errno == EACCES
                      ? "see the rights of its file, and of its folders"
                      : "name a program that every node has";
        return;
    }
    if (m->signal)
        snprintf(t->how, size, "was killed by signal %u (%s)", m->signal,
                 strsignal((int)m->signal));
    else
        snprintf(t->how, size, "exited with status %u", m->status);
    t->mend = m->err_len ? "see its last words above"
                         : "it printed nothing on stderr";
}

static const char *units_of(const struct run *r,
                            const struct piece *p,
                            char text[2 * UNIT_RANGE_MAX])
{
    const struct unit_words *words = &r->failures.words;
    struct slice units = p->part.units;
    char range[UNIT_RANGE_MAX];

    snprintf(text, (size_t)2 * UNIT_RANGE_MAX, "%s %s",
             unit_words_noun(words, units.end - units.begin),
             unit_words_range(words, units, range));
    return text;
}

/* t->how is filled. */
static void tell_what(const struct run *r,
                      const struct piece *p,
                      struct telling *t)
{
    const char *to = brought_to(r, p);
    char units[2 * UNIT_RANGE_MAX];

    t->node = distribution_name(r->distribution, p->part.node);
    snprintf(t->what, sizeof t->what, "%s: frame %ju, %s: %.100s %s", t->node,
             (uintmax_t)p->frame->number + 1, units_of(r, p, units),
             to ? to : r->o->types.type[p->frame->type].command[0], t->how);
}

/* May what goes on be told?  Of many failures the first are enough. */
static int may_tell(struct run *r)
{
    return (r->o->keep_going == 0 && !r->o->bisect)
           || failures_tell(&r->failures);
}

void run_failures_stderr(const struct run *r,
                         size_t slot,
                         const struct msg_done *m)
{
    const char *name = distribution_name(r->distribution, slot);

    if (m->err_len == 0)
        return;
    if (m->err_dropped)
        notice("%s: the first %ju bytes of its stderr are left out", name,
               (uintmax_t)m->err_dropped);
    notice_lines(name, (const char *)m->err, m->err_len);
}

/* --- a node that fails and fails ------------------------------------------ */

/* Does any other do what this one cannot?  Its own slots have failed with it. */
static int others_succeed(const struct run *r)
{
    const struct dispatch *held = distribution_dispatch(r->distribution);

    for (size_t i = 0; i < dispatch_nodes(held); i++) {
        const struct dispatch_node *s = dispatch_node(held, i);

        if (s->standing != STANDING_GOOD || s->failures > 0 || s->done == 0)
            continue;
        return 1;
    }
    return 0;
}

/* What it had to do is for others.  Where the run goes on whatever fails, it may
 * be the work's fault: then others must have done better. */
static void judge_node(struct run *r, size_t slot)
{
    const struct slots *slots = distribution_slots(r->distribution);
    unsigned failures =
        dispatch_node(distribution_dispatch(r->distribution), slot)->failures;
    int is_few =
        r->o->retries == 0 || (r->o->bisect && r->o->retries < IN_A_ROW);
    unsigned each = is_few ? IN_A_ROW : r->o->retries;
    unsigned most = each * (unsigned)slots_of(slots, slots->node[slot]);
    int goes_on = r->o->keep_going > 0 || r->o->bisect;

    if (goes_on ? failures < most || !others_succeed(r)
                : r->o->retries == 0 || failures != most)
        return;
    if (dispatch_node(distribution_dispatch(r->distribution), slot)->standing
        != STANDING_GOOD)
        return;
    notice("%s: %u failure%s in a row: it gets nothing more",
           distribution_name(r->distribution, slot), failures,
           failures == 1 ? "" : "s");
    distribution_distrust(r->distribution, slots->node[slot]);
}

/* --- a piece -------------------------------------------------------------- */

/* It has failed for the last time.  -1: and so has the run, with r->err. */
static int leave_out(struct run *r, const struct piece *p, struct telling *t)
{
    if (r->failures.n >= r->o->keep_going) {
        if (r->o->keep_going > 0)
            notice("more than %ju commands have failed (--keep-going=%ju): the "
                   "run ends",
                   (uintmax_t)r->o->keep_going, (uintmax_t)r->o->keep_going);
        return es_fail(r->err, ES_WORK, t->mend, "%s", t->what);
    }
    progress_units(&r->progress, p->part.units.end - p->part.units.begin);
    failures_add(&r->failures, p->frame->number, p->part.units, t->node,
                 t->how);
    return r->work.journal ? journal_add_failed(
               r->work.journal, p->frame->number, t->node, p, r->err)
                           : 0;
}

void run_failures_piece(struct run *r,
                        struct piece *p,
                        const struct msg_done *m)
{
    static const char *const next[] = {
        [FAILURE_RETRY] = "it is tried again",
        [FAILURE_HALVE] = "its halves are tried",
        [FAILURE_LEAVE_OUT] = "it is left out",
        [FAILURE_COPIED] = "another node is at it, too",
    };
    enum failure_verdict verdict = distribution_verdict(r->distribution, p);
    struct telling t = {.mend = ""};
    int ends, tells;

    progress_stop(&r->progress);
    if (p->part.is_crowded)
        notice("%s: a command has ended as if there was no memory for two: it "
               "gets one at a time from now on, without --overlap",
               distribution_name(r->distribution, p->part.node));
    tell_end(&t, m, brought_to(r, p) != NULL);
    tell_what(r, p, &t);
    ends = verdict == FAILURE_LEAVE_OUT && leave_out(r, p, &t) < 0;
    tells = ends || may_tell(r);
    if (tells)
        run_failures_stderr(r, p->part.node, m);
    if (ends) {
        run_finish(r, 1);
        return;
    }
    if (tells)
        notice("%s: %s", t.what, next[verdict]);
    judge_node(r, p->part.node);
}

int run_failures_late(struct run *r, struct piece *p)
{
    struct telling t = {.mend = "see --timeout and --retries"};
    int is_one =
        r->failures.words.one && p->part.units.end - p->part.units.begin == 1;
    char units[2 * UNIT_RANGE_MAX];

    joblog_add(&r->joblog, p, distribution_name(r->distribution, p->part.node),
               slots_number(distribution_slots(r->distribution), p->part.node),
               r->o->timeout_s, JOBLOG_ENDED, SIGTERM);
    snprintf(t.how, sizeof t.how, "still ran after %g s", r->o->timeout_s);
    tell_what(r, p, &t);
    if (distribution_verdict(r->distribution, p) == FAILURE_LEAVE_OUT
        && leave_out(r, p, &t) < 0)
        return -1;
    if (may_tell(r))
        notice("%s: %s still run%s after %g s", t.node, units_of(r, p, units),
               is_one ? "s" : "", r->o->timeout_s);
    return 0;
}

uint64_t run_failures_before(struct run *r, uint64_t frame)
{
    size_t n;
    const struct kept *kept = journal_kept(r->work.journal, frame, &n);
    uint64_t units = 0;

    for (size_t i = 0; i < n; i++) {
        const struct failure *f;

        if (!kept[i].failed)
            continue;
        f = journal_failure(r->work.journal, &kept[i]);
        failures_add(&r->failures, frame, kept[i].units, f->node, f->how);
        units += kept[i].units.end - kept[i].units.begin;
    }
    return units;
}

/* --- the end -------------------------------------------------------------- */

int run_failures_end(struct run *r)
{
    const char *list = r->o->report ? r->o->report : r->o->joblog;
    char mend[300];

    if (r->failures.n == 0)
        return 0;
    snprintf(mend, sizeof mend, "%s %s again%s%.120s%s",
             r->o->journal ? "--resume-failed"
                           : "with --journal FILE, --resume-failed",
             r->o->each ? "runs just these" : "tries", list ? "; " : "",
             list ? list : "", list ? " has all" : "");
    return failures_end(&r->failures, mend, r->err);
}
