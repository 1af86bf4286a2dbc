/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/top_place.h"
#include "launcher/base/step_dir.h"
#include "pmix_bcast/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "run-"
/* Nobody looks at what is shorter. */
#define FIRST_NS INT64_C(1000000000)
/* Between two writings; many nodes take longer to write, and may be a little
 * older (1,000 nodes: 3 s). */
#define EACH_NS INT64_C(1000000000)
#define NODE_NS INT64_C(2000000)
#define RARE_NS INT64_C(5000000000) /* below top_read.c's STALE_S */

void top_place_start(struct top_place *t)
{
    int64_t now = clock_ns();

    *t = (struct top_place){.start_ns = now, .writes_ns = now + FIRST_NS};
}

double top_place_elapsed(const struct top_place *t)
{
    return (double)(clock_ns() - t->start_ns) * 1e-9;
}

int top_place_is_due(struct top_place *t, size_t nodes)
{
    int64_t now = clock_ns(), each = EACH_NS + (int64_t)nodes * NODE_NS;

    if (t->start_ns == 0 || now < t->writes_ns)
        return 0;
    t->writes_ns = now + (each < RARE_NS ? each : RARE_NS);
    return 1;
}

void top_place_write(struct top_place *t, const struct top_view *top)
{
    if (!t->dir[0]) {
        top_place_sweep();
        snprintf(t->dir, sizeof t->dir, PREFIX "%d", (int)getpid());
    }
    (void)top_file_write(t->dir, top); /* a view is worth no warning */
}

void top_place_stop(struct top_place *t)
{
    if (t->dir[0])
        step_dir_remove(t->dir);
    *t = (struct top_place){.dir = ""};
}

void top_place_sweep(void)
{
    step_dir_sweep(PREFIX);
}
