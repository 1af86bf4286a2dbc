/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_habits.h"

#include <stddef.h>

#define PARALLEL "GNU parallel"
#define XARGS    "xargs"
#define HQ       "HyperQueue"
#define DISBATCH "disBatch"
#define SRUN     "srun"

#define NODES                                                                  \
    "tasks run on all nodes of the job: give more of them to salloc or sbatch"
#define JOB   "give it to salloc or sbatch: tasks run in the job that is there"
#define CORES "--cpus N gives each task N cores of its own"
#define BYTES                                                                  \
    "--mem BYTES counts memory: no more tasks run than a node has it for"
#define PRINTS                                                                 \
    "--dry-run prints the command lines, --joblog FILE lists what ran"
#define PIPE                                                                   \
    "for stdin cut in pieces give evenstep run --lines FILE without --each"
#define RECORD                                                                 \
    "for records give --recstart or --recend, and --lines FILE without --each"
#define LINES  "-N 5 gives a task 5 lines"
#define FIELDS "{} is filled in without it, and {{}} stays {}"
#define FAILED "give --resume-failed, with the options of the run before"
#define TAG                                                                    \
    "--tag begins lines with the values of their task, and another text is "   \
    "printed by --shell -- 'cmd {} | sed s/^/{#}:/'"
#define SHELL_ENV                                                              \
    "commands have the environment of this one: export NAME before"
#define FOLDER                                                                 \
    "--bcast SRC:DST brings files to all nodes; let tasks write to a shared "  \
    "folder"

/* clang-format off */
const struct option_habit task_habits[] = {
    /* what is done anyhow */
    {"bar", 0, PARALLEL, NULL, NULL},
    {"eta", 0, PARALLEL, NULL, NULL},
    {"progress", 0, PARALLEL, NULL, NULL},
    {"keep-order", 'k', PARALLEL, NULL, NULL},
    {"group", 0, PARALLEL, NULL, NULL},
    {"gnu", 0, PARALLEL, NULL, NULL},
    {"will-cite", 0, PARALLEL, NULL, NULL},
    {"no-notice", 0, PARALLEL, NULL, NULL},

    /* ours by another name */
    {"max-procs", 'P', XARGS, "slots", NULL},
    {"max-replace-args", 'n', XARGS, "max-args", NULL},
    {"dryrun", 0, PARALLEL, "dry-run", NULL},
    {"wd", 0, PARALLEL, "workdir", NULL},
    {"cwd", 0, HQ, "workdir", NULL},
    {"retry-failed", 0, PARALLEL, "resume-failed", NULL},

    /* GNU parallel's, and xargs' */
    {"pipe", 0, PARALLEL, NULL, PIPE},
    {"pipe-part", 0, PARALLEL, NULL, PIPE},
    {"pipepart", 0, PARALLEL, NULL, PIPE},
    {"block", 0, PARALLEL, NULL, PIPE},
    {"block-size", 0, PARALLEL, NULL, PIPE},
    {"cat", 0, PARALLEL, NULL, PIPE},
    {"fifo", 0, PARALLEL, NULL, PIPE},
    {"round-robin", 0, PARALLEL, NULL, PIPE},
    {"regexp", 0, PARALLEL, NULL, RECORD},
    {"sshlogin", 'S', PARALLEL, NULL, NODES},
    {"sshloginfile", 0, PARALLEL, NULL, NODES},
    {"slf", 0, PARALLEL, NULL, NODES},
    {"onall", 0, PARALLEL, NULL, "srun CMD runs CMD once on each node"},
    {"nonall", 0, PARALLEL, NULL, "srun CMD runs CMD once on each node"},
    {"transfer", 0, PARALLEL, NULL, FOLDER},
    {"transferfile", 0, PARALLEL, NULL, FOLDER},
    {"trc", 0, PARALLEL, NULL, FOLDER},
    {"basefile", 0, PARALLEL, NULL, FOLDER},
    {"cleanup", 0, PARALLEL, NULL, "give --workdir tmp, which is removed"},
    {"env", 0, PARALLEL, NULL, SHELL_ENV},
    {"record-env", 0, PARALLEL, NULL, SHELL_ENV},
    {"memfree", 0, PARALLEL, NULL, BYTES},
    {"memsuspend", 0, PARALLEL, NULL, BYTES},
    {"load", 0, PARALLEL, NULL, "the job's cores are its own: -j 50% uses half"},
    {"noswap", 0, PARALLEL, NULL, BYTES},
    {"nice", 0, PARALLEL, NULL, "begin the command with nice -n N"},
    {"ungroup", 'u', PARALLEL, NULL,
     "--unordered prints what tasks print as they end, each one whole"},
    {"line-buffer", 0, PARALLEL, NULL,
     "--unordered prints what tasks print as they end, each one whole"},
    {"lb", 0, PARALLEL, NULL,
     "--unordered prints what tasks print as they end, each one whole"},
    {"linebuffer", 0, PARALLEL, NULL,
     "--unordered prints what tasks print as they end, each one whole"},
    {"ctag", 0, PARALLEL, NULL, TAG},
    {"tagstring", 0, PARALLEL, NULL, TAG},
    {"quote", 'q', PARALLEL, NULL,
     "values are quoted anyhow; without --shell no shell reads CMD"},
    {"shellquote", 0, PARALLEL, NULL, "--dry-run prints commands quoted"},
    {"verbose", 't', PARALLEL, NULL, PRINTS},
    {"interactive", 'p', PARALLEL, NULL, PRINTS},
    {NULL, 'v', PARALLEL, NULL, PRINTS},
    {"delimiter", 'd', XARGS, NULL, "lines end with a newline, or with -0 with a NUL"},
    {"replace-str", 'I', XARGS, NULL, FIELDS},
    {NULL, 'i', XARGS, NULL, FIELDS},
    {"rpl", 0, PARALLEL, NULL, "give --shell, and change the value there"},
    {"plus", 0, PARALLEL, NULL, "{.} {/} {//} {/.} {#} {%} are filled in"},
    {"trim", 0, PARALLEL, NULL, "give --shell, and change the value there"},
    {"max-lines", 'L', XARGS, NULL, LINES},
    {NULL, 'l', XARGS, NULL, LINES},
    {NULL, 'm', PARALLEL, NULL, "give -X"},
    {"max-chars", 's', XARGS, NULL, "-X fills a command line with values, -N N gives it N"},
    {"no-run-if-empty", 'r', XARGS, NULL, "without values nothing runs, and that is an error"},
    {"eof", 'E', XARGS, NULL, "cut the list before, as in: sed '/^END$/Q' FILE | ... -a -"},
    {"filter", 0, PARALLEL, NULL, "filter the list before, as in: grep ... | ... -a -"},
    {"limit", 0, PARALLEL, NULL, "--slots and --delay limit what runs"},
    {"arg-file-sep", 0, PARALLEL, NULL, "write :::: in front of files"},
    {"argfilesep", 0, PARALLEL, NULL, "write :::: in front of files"},
    {"argsep", 0, PARALLEL, "arg-sep", NULL},
    {"semaphore", 0, PARALLEL, NULL, "sem(1) and flock(1) do that"},
    {"fg", 0, PARALLEL, NULL, "sem(1) and flock(1) do that"},
    {"bg", 0, PARALLEL, NULL, "sem(1) and flock(1) do that"},
    {"tmux", 0, PARALLEL, NULL, "evenstep top shows what runs"},
    {"tty", 0, PARALLEL, NULL, "the stdin of tasks is /dev/null"},
    {"sqlmaster", 0, PARALLEL, NULL, "--journal FILE keeps what is done"},
    {"sqlandworker", 0, PARALLEL, NULL, "--journal FILE keeps what is done"},
    {"files", 0, PARALLEL, NULL, "give --results DIR: it has the output of each task in a file"},
    {"tmpdir", 0, PARALLEL, NULL, "give TMPDIR=FOLDER before evenstep"},
    {"termseq", 0, PARALLEL, NULL, "a task that is late gets SIGTERM, and SIGKILL later"},

    /* HyperQueue's */
    {"array", 0, HQ, NULL, "give evenstep run --range 0:N --each"},
    {"each-line", 0, HQ, NULL, "give evenstep run --lines FILE --each"},
    {"from-json", 0, HQ, NULL, "jq -r '.[]' FILE | evenstep run --lines - --each"},
    {"resource", 0, HQ, NULL, CORES},
    {"pin", 0, HQ, NULL, "each slot has cores of its own anyhow"},
    {"time-limit", 0, HQ, NULL, "give --timeout SECONDS"},
    {"time-request", 0, HQ, NULL, "--time SECONDS says how long a task takes, --until-end begins nothing that would not end in time"},
    {"max-fails", 0, HQ, NULL, "give --keep-going=N"},
    {"crash-limit", 0, HQ, NULL, "give --retries N"},
    {"wait", 0, HQ, NULL, "this command ends when the tasks have ended"},
    {"log", 0, HQ, NULL, "give --journal FILE, or --joblog FILE"},
    {"stderr", 0, HQ, NULL, "give --results DIR: it has the stderr of each task in a file"},
    {"priority", 0, HQ, NULL, "tasks begin in the order of their list"},

    /* disBatch's, and of launchers */
    {"tasks-per-node", 0, DISBATCH, "slots", NULL},
    {"retire-cmd", 0, DISBATCH, NULL, "a node without work needs no command: leave it out"},
    {"resume-from", 0, DISBATCH, NULL, "give --resume: a journal is kept beside the file"},
    {"retry", 'R', DISBATCH, NULL, FAILED},
    {"prefix", 0, DISBATCH, NULL, "give --journal FILE and --joblog FILE"},
    {"ssh-node", 0, DISBATCH, NULL, NODES},

    /* Slurm's */
    {"ntasks", 0, SRUN, NULL, "-j N runs N tasks a node: the default is one a core"},
    {"ntasks-per-node", 0, SRUN, NULL, "-j N runs N tasks a node: the default is one a core"},
    {NULL, 'c', SRUN, "cpus", NULL},
    {"gpus-per-task", 0, SRUN, "gpus", NULL},
    {NULL, 'G', SRUN, "gpus", NULL},
    {"mem-per-cpu", 0, SRUN, NULL, BYTES},
    {"nodes", 0, SRUN, NULL, JOB},
    {"partition", 0, SRUN, NULL, JOB},
    {"account", 'A', SRUN, NULL, JOB},
    {"nodelist", 'w', SRUN, NULL, JOB},
    {"multi-prog", 0, SRUN, NULL, "give evenstep tasks FILE, with a command line a line"},
    {"label", 0, SRUN, NULL, TAG},
    {"output", 'o', SRUN, NULL, "give --gather FILE"},
    {"error", 'e', SRUN, NULL, "give --results DIR: it has the stderr of each task in a file"},
    {"chdir", 'D', SRUN, NULL, "give --workdir DIR"},
    {"export", 0, SRUN, NULL, SHELL_ENV},
    {"kill-on-bad-exit", 'K', SRUN, NULL, "give --halt now,fail=1"},
    {NULL, 0, NULL, NULL, NULL},
};
/* clang-format on */
