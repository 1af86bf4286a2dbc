/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_runner.h - runs the units of a piece as tasks, one process each, one after
 * another: the process `evenstep-agent --tasks OPTIONS -- CMD`, which the agent
 * starts as the command of a piece (slice_spec.h).
 *
 *   --records        a record (task_words.h) a unit comes on stdin; without: the
 *                    units are the numbers from EVENSTEP_BEGIN to EVENSTEP_END
 *   --shell=PATH     the task is a text for PATH -c; without: a list of words
 *   --repeat         of task_words.h: a word with {} comes once for each value
 *   --retries=N      a task that has failed is run again, N times at most
 *   --ok=N,N...      exit statuses of a task that has not failed (0)
 *   --timeout=MS     a task that runs for longer is ended, and has failed
 *   --delay=MS       so long at least from the start of a task to the next one's
 *   --patience=MS    a task that is not alone in its piece runs for longer: TASK_LAST says
 *                    so, and those behind it are not begun
 *   --alone=PATH     the file of alone.h: a task that was killed for want of memory is
 *                    run once more, which is no retry, while nothing else of the node is
 *
 * On stdout is what task_stream.h says.  stdin of a task is /dev/null, and its
 * EVENSTEP_BEGIN, _END and _COUNT are its own.  What a task leaves running in our
 * process group is killed when it has ended.  A SIGTERM, which the tasks get as
 * well, ends this process with 143 once the task at hand has ended: nothing is
 * said of that.  A SIGTERM to this process alone that has TASK_RUNNER_LAST with it
 * (sigqueue(3)) is as good as that, but that the task at hand may end, and counts.
 *
 * A program that cannot be started ends this process with the status 127 or 126, as
 * in a shell, and why is on stderr, unless its name is of the task: so whoever
 * gave the piece can give it to another node.
 */
#ifndef LAUNCHER_AGENT_TASK_RUNNER_H
#define LAUNCHER_AGENT_TASK_RUNNER_H

#include "pmix_bcast/error.h"

#define TASK_RUNNER_LAST 1

/* argv from OPTIONS on.  Returns the exit status, or -1 with err. */
int task_runner_main(int argc, char **argv, struct es_error *err);

#endif
