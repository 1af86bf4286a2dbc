/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_top.h"
#include "launcher/base/step_dir.h"
#include "pmix_bcast/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Nobody looks at a run that is shorter. */
#define FIRST_NS INT64_C(1000000000)
/* Between two writings; many nodes take longer to write, and may be a little
 * older (1,000 nodes: 2 s). */
#define EACH_NS INT64_C(500000000)
#define NODE_NS INT64_C(2000000)
#define RARE_NS INT64_C(5000000000) /* below top_file.c's STALE_S */

void run_top_start(struct run_top *t)
{
    *t = (struct run_top){.start_ns = clock_ns()};
}

static struct top_run run_of(const struct progress *p,
                             const struct distribution *d)
{
    double efficiency;
    struct tally_now now = progress_now(p, d, &efficiency);

    return (struct top_run){.frame = (double)now.frame,
                            .frames = (double)now.frames,
                            .done = (double)now.done,
                            .all = (double)now.all,
                            .rate = now.rate,
                            .left = now.left < 0 ? -1 : now.left,
                            .efficiency = efficiency < 0 ? -1 : efficiency};
}

static void make_dir(struct run_top *t)
{
    step_dir_sweep("run-");
    snprintf(t->dir, sizeof t->dir, "run-%d", (int)getpid());
}

void run_top_look(struct run_top *t,
                  const struct distribution *d,
                  const struct session *session,
                  struct run_meter *m,
                  struct run_power *power,
                  const struct progress *p)
{
    int64_t now = clock_ns(), each = EACH_NS + (int64_t)m->n * NODE_NS;
    struct top_view top;
    struct top_run run;

    if (now < t->writes_ns || (m->n == 0 && now - t->start_ns < FIRST_NS))
        return;
    t->writes_ns = now + (each < RARE_NS ? each : RARE_NS);
    if (!t->dir[0])
        make_dir(t);
    run_meter_view(m, &top);
    run_power_view(power, &top);
    run = run_of(p, d);
    top.run = &run;
    session_job(session, &top.job, &top.step);
    (void)top_file_write(t->dir, &top); /* a view is worth no warning */
}

void run_top_stop(struct run_top *t)
{
    if (t->dir[0])
        step_dir_remove(t->dir);
    *t = (struct run_top){.dir = ""};
}
