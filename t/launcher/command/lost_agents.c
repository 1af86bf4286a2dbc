/* SPDX-License-Identifier: BSD-2-Clause */
/* Which nodes of a step have no agent any more: told in one line, after a moment,
 * unless they are here again or the step has ended. */
#include "launcher/command/lost_agents.h"
#include "fake_session.h"
#include "tap.h"

#include <event2/event.h>
#include <unistd.h>

#define MOMENT_S 3 /* longer than what it waits */

static struct session session;
static struct event_base *base;
static struct lost_agents lost;
static struct step_times *times;
static char told[4096];

/* What is written to stderr in the time that is waited. */
static void listen_a_while(void)
{
    const struct timeval moment = {MOMENT_S, 0};
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    size_t n;

    if (!file || before < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        bail("no file");
    (void)event_base_loopexit(base, &moment);
    (void)event_base_dispatch(base);
    (void)fflush(stderr);
    (void)dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    n = fread(told, 1, sizeof told - 1, file);
    told[n] = '\0';
    (void)fclose(file);
}

static void begin(void)
{
    if (lost_agents_start(&lost, base, &session, times) < 0)
        bail("no memory");
}

int main(void)
{
    base = event_base_new();
    session_make(&session);
    times = step_times_create(&session);
    if (!base || !times)
        bail("no event base");
    lost_agents_lost(&lost, 1, "killed");
    lost_agents_returned(&lost, 1);
    lost_agents_stop(&lost);
    is_int((int)lost.n, 0, "before it is started nothing is noted");

    begin();
    lost_agents_lost(&lost, 1, "killed");
    listen_a_while();
    ok(strstr(told, "evenstep: warning: n1: the agent is lost (killed): ")
           == told,
       "one: %s", told);
    ok(times->lost == 1 && times->node[1].is_lost, "and it is marked");
    lost_agents_lost(&lost, 2, "killed");
    lost_agents_lost(&lost, 3, "silent");
    lost_agents_lost(&lost, 0, "silent");
    lost_agents_returned(&lost, 2);
    listen_a_while();
    ok(strstr(told, "warning: n0 and 1 more node: ")
           && strchr(told, '\n') == told + strlen(told) - 1,
       "two in one line, without one that is here again: %s", told);
    ok(times->lost == 3 && !times->node[2].is_lost, "and these are marked");
    lost_agents_returned(&lost, 1);
    ok(times->lost == 2 && !times->node[1].is_lost,
       "until one is here again later");
    lost_agents_lost(&lost, 3, "killed");
    lost_agents_returned(&lost, 3);
    listen_a_while();
    is_int(told[0], 0, "one that is here again is not told");
    lost_agents_lost(&lost, 3, "killed");
    lost_agents_stop(&lost);
    listen_a_while();
    is_int(told[0], 0, "nor at the end of a step");
    ok(times->lost == 1 && times->node[0].is_lost,
       "of which nothing is marked either");
    step_times_destroy(times);
    event_base_free(base);
    done();
}
