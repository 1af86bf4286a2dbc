/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_options.h"
#include "launcher/base/number.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/profile_option.h"
#include "launcher/config/range_option.h"
#include "launcher/config/threshold_option.h"
#include "launcher/run/profile_auto.h"
#include "policy/kinds.h"
#include "policy/tail.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRIES_MAX   1000
#define TIMEOUT_MIN_S 0.1 /* twice what is waited between two looks */
#define TIMEOUT_MAX_S 1e9 /* 30 years */

static const char see_help[] = "see `evenstep run --help`";

_Static_assert(TAIL_PIECES == 16, "the help says so");

static const char usage[] =
    "usage: evenstep run [options] WORK -- CMD [ARG...]\n"
    "\n"
    "Cut the units of a frame into one slice a node, sized to what each node "
    "can "
    "do,\n"
    "run CMD once a slice on all nodes of the allocation, and re-size the "
    "slices\n"
    "from frame to frame so that all nodes finish together.\n"
    "\n"
    "In CMD {begin} {end} {count} {frame} {label} {node} are filled in; its\n"
    "environment has EVENSTEP_BEGIN, _END, _COUNT, _FRAME, _LABEL, _NODE.  "
    "What\n"
    "it prints comes out in the order of the units, whichever node did them.\n"
    "\n"
    "work:\n"
    "  --range B:E          units of a frame, from B up to, not with, E\n"
    "  --lines FILE         the units are FILE's lines; a slice's lines are "
    "CMD's\n"
    "                       stdin\n"
    "  --queue FILE | -     a frame a line, \"B:E [LABEL]\", taken as they "
    "come; may\n"
    "                       be given again: one queue\n"
    "  --follow             queues do not end: files grow, pipes get new "
    "writers\n"
    "  --repeat N           frames, one after another (1)\n"
    "  --grain G            slices begin at multiples of G units behind B (1)\n"
    "sizing:\n"
    "  --policy NAME[:key=value,...]\n"
    "%s"
    "  --threshold SECONDS | PERCENT%% | auto\n"
    "                       adjust when the nodes' times differ by more, in "
    "seconds\n"
    "                       or of the mean time (5%%); auto: by more than "
    "their "
    "noise\n"
    "  --pieces N           a slice is sent in N pieces at most, so that who "
    "has\n"
    "                       finished can take over what a slow node has not "
    "begun;\n"
    "                       1: nobody takes over (16)\n"
    "  --metrics probe | cached | equal | FILE\n"
    "                       first sizes: from a probe of every "
    "node, from the\n"
    "                       site's cache where it has one, all "
    "alike, or from\n"
    "                       FILE, see `evenstep plan --help` "
    "(probe)\n"
    "  --profile NAME       how much each element of a node "
    "matters to CMD: one\n"
    "                       of those that `evenstep config` "
    "prints, or auto:\n"
    "                       fitted to your earlier runs of CMD "
    "(cpu)\n"
    "  --meter units | cmd:PATTERN | cpu\n"
    "                       how far a slice is: by its pieces, by "
    "what CMD prints\n"
    "                       (PATTERN: an extended regular "
    "expression, whose one\n"
    "                       group is the fraction, or with a %%%% "
    "behind it the\n"
    "                       percentage, and whose two are what is "
    "done and of\n"
    "                       how much), or by the CPU time that it "
    "uses, a proxy;\n"
    "                       others judge a late node by it, and "
    "`evenstep top`\n"
    "                       shows it\n"
    "faults:\n"
    "  --retries N          what a command failed at is done "
    "again, N times at "
    "most,\n"
    "                       by other nodes if there are any; a "
    "node with N "
    "failures\n"
    "                       in a row gets nothing more (0)\n"
    "  --timeout SECONDS    a command that runs for longer hangs: "
    "it is ended, "
    "and\n"
    "                       what it had to do is done by others\n"
    "how:\n"
    "  --persistent         CMD is started once a node, and gets "
    "its slices by\n"
    "                       evenstep_next() of libevenstep: see "
    "libevenstep(3)\n"
    "results:\n"
    "  --gather FILE        CMD's output goes to FILE, not to "
    "stdout\n"
    "  --no-sync            it need not be on the disk when this command ends\n"
    "  --journal FILE       keeps what is finished, so that "
    "nothing is lost if "
    "this\n"
    "                       command dies\n"
    "  --resume             go on with the journal of a run that "
    "has died, if "
    "it is\n"
    "                       there; all output comes out, as if "
    "nothing had "
    "been\n"
    "  --report FILE        a JSON line a frame, and a summary\n"
    "where:\n"
    "  --srun \"ARGS\"        for the step that brings the agents, "
    "e.g. "
    "\"-N2\"\n"
    "  --local N[=S1,S2,...]\n"
    "                       no Slurm: N agents on this machine; S: "
    "CPU speed "
    "in\n"
    "                       percent of one core\n"
    "\n"
    "exit status: 0 done, 1 the work failed, 2 usage, 3 no Slurm "
    "or agents\n";

/* One line a policy and a parameter, from policy's own tables. */
static int print_help(struct es_error *err)
{
    char *policies = NULL;
    size_t size;
    FILE *text = open_memstream(&policies, &size);
    const struct policy_kind *kind;
    int bad;

    if (!text)
        return es_no_memory(err);
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++) {
        fprintf(text, "    %-18s %s\n", kind->name, kind->help);
        for (size_t k = 0; k < kind->n_params; k++)
            fprintf(text, "      %-16s %s (%g; %g to %g)\n",
                    kind->params[k].key, kind->params[k].help,
                    kind->params[k].def, kind->params[k].min,
                    kind->params[k].max);
    }
    if (fclose(text) != 0) {
        free(policies);
        return es_no_memory(err);
    }
    bad = printf(usage, policies) < 0 || fflush(stdout) != 0;
    free(policies);
    return bad ? es_no_space(err) : 1;
}

/* --- one function an option ----------------------------------------------- */

static int take_count(uint64_t *value,
                      const char *name,
                      const char *text,
                      struct es_error *err)
{
    uint64_t v;

    if (number_parse_u64(text, &v) < 0 || v == 0)
        return es_fail(err, ES_USAGE, "give a whole number from 1",
                       "%s: \"%s\" is out of range", name, text);
    *value = v;
    return 0;
}

static int take_queue(struct run_options *o,
                      const char *text,
                      struct es_error *err)
{
    if (o->n_queues == QUEUE_SOURCES_MAX)
        return es_fail(err, ES_USAGE, "give 16 at most",
                       "--queue: %s is one too many", text);
    o->queue[o->n_queues++] = text;
    return 0;
}

static int take_retries(struct run_options *o,
                        const char *text,
                        struct es_error *err)
{
    int64_t n;

    if (number_parse_int(text, 0, RETRIES_MAX, &n) < 0)
        return es_fail(err, ES_USAGE, "give a whole number from 0 to 1000",
                       "--retries: \"%s\" is out of range", text);
    o->retries = (unsigned)n;
    return 0;
}

static int take_timeout(struct run_options *o,
                        const char *text,
                        struct es_error *err)
{
    if (number_parse_double(text, TIMEOUT_MIN_S, TIMEOUT_MAX_S, &o->timeout_s)
        == 0)
        return 0;
    return es_fail(err, ES_USAGE, "give seconds, 0.1 to 1e9",
                   "--timeout: \"%s\" is out of range", text);
}

static int take_metrics(struct run_options *o, const char *text)
{
    if (strcmp(text, "probe") == 0)
        o->metrics = METRICS_PROBE;
    else if (strcmp(text, "cached") == 0)
        o->metrics = METRICS_CACHED;
    else if (strcmp(text, "equal") == 0)
        o->metrics = METRICS_EQUAL;
    else
        o->metrics = METRICS_OF_FILE;
    o->metrics_file = text;
    return 0;
}

/* --- the policy ----------------------------------------------------------- */

static int take_policy(struct run_options *o,
                       const struct config *c,
                       const char *text,
                       struct es_error *err)
{
    struct policy_option policy;

    if (policy_option_parse(&policy, c, text, POLICY_STRICT, err) < 0)
        return -1;
    o->policy = policy.kind;
    memcpy(o->policy_value, policy.value, sizeof o->policy_value);
    return 0;
}

/* --- all together --------------------------------------------------------- */

enum run_option {
    OPT_RANGE = 256,
    OPT_LINES,
    OPT_QUEUE,
    OPT_FOLLOW,
    OPT_REPEAT,
    OPT_GRAIN,
    OPT_POLICY,
    OPT_PIECES,
    OPT_THRESHOLD,
    OPT_METRICS,
    OPT_METER,
    OPT_PROFILE,
    OPT_RETRIES,
    OPT_TIMEOUT,
    OPT_PERSISTENT,
    OPT_GATHER,
    OPT_NO_SYNC,
    OPT_JOURNAL,
    OPT_RESUME,
    OPT_REPORT,
    OPT_SRUN,
    OPT_LOCAL,
    OPT_HELP,
};

static const struct option options[] = {
    {"range", required_argument, NULL, OPT_RANGE},
    {"lines", required_argument, NULL, OPT_LINES},
    {"queue", required_argument, NULL, OPT_QUEUE},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"grain", required_argument, NULL, OPT_GRAIN},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"pieces", required_argument, NULL, OPT_PIECES},
    {"threshold", required_argument, NULL, OPT_THRESHOLD},
    {"metrics", required_argument, NULL, OPT_METRICS},
    {"meter", required_argument, NULL, OPT_METER},
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"retries", required_argument, NULL, OPT_RETRIES},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"persistent", no_argument, NULL, OPT_PERSISTENT},
    {"gather", required_argument, NULL, OPT_GATHER},
    {"no-sync", no_argument, NULL, OPT_NO_SYNC},
    {"journal", required_argument, NULL, OPT_JOURNAL},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"report", required_argument, NULL, OPT_REPORT},
    {"srun", required_argument, NULL, OPT_SRUN},
    {"local", required_argument, NULL, OPT_LOCAL},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static int take(struct run_options *o,
                const struct config *c,
                int option,
                const char *text,
                struct es_error *err)
{
    switch (option) {
    case OPT_RANGE:
        return range_option_parse(&o->work.begin, &o->work.end, "--range", text,
                                  err);
    case OPT_LINES:
        o->lines = text;
        return 0;
    case OPT_QUEUE:
        return take_queue(o, text, err);
    case OPT_FOLLOW:
        o->follow = 1;
        return 0;
    case OPT_REPEAT:
        return take_count(&o->work.repeat, "--repeat", text, err);
    case OPT_GRAIN:
        return take_count(&o->grain, "--grain", text, err);
    case OPT_PIECES:
        return take_count(&o->pieces, "--pieces", text, err);
    case OPT_POLICY:
        return take_policy(o, c, text, err);
    case OPT_THRESHOLD:
        return threshold_option_parse(&o->threshold, text, err);
    case OPT_METRICS:
        return take_metrics(o, text);
    case OPT_METER:
        return meter_option_parse(&o->meter, text, err);
    case OPT_PROFILE:
        o->profile = profile_option_find(c, text, "--profile", err);
        o->profile_auto = strcmp(text, PROFILE_AUTO) == 0;
        return o->profile ? 0 : -1;
    case OPT_RETRIES:
        return take_retries(o, text, err);
    case OPT_TIMEOUT:
        return take_timeout(o, text, err);
    case OPT_PERSISTENT:
        o->persistent = 1;
        return 0;
    case OPT_GATHER:
        o->gather = text;
        return 0;
    case OPT_NO_SYNC:
        o->no_sync = 1;
        return 0;
    case OPT_JOURNAL:
        o->journal = text;
        return 0;
    case OPT_RESUME:
        o->resume = 1;
        return 0;
    case OPT_REPORT:
        o->report = text;
        return 0;
    case OPT_SRUN:
        o->srun = text;
        return 0;
    case OPT_LOCAL:
        return local_option_parse(&o->local, text, err);
    default: /* OPT_HELP */
        return print_help(err);
    }
}

static int check_work(struct run_options *o, struct es_error *err)
{
    int range = o->work.begin<o->work.end, queue = o->n_queues> 0;

    if (!range && !o->lines && !queue)
        return es_fail(err, ES_USAGE,
                       "give --range BEGIN:END, --lines FILE or --queue FILE",
                       "no work");
    if (range + (o->lines != NULL) + queue > 1)
        return es_fail(err, ES_USAGE, "give one of them",
                       "--range, --lines and --queue exclude each other");
    if (queue && o->work.repeat > 0)
        return es_fail(err, ES_USAGE, "put the frames into the queue",
                       "--repeat: is not for a queue");
    if (o->follow && !queue)
        return es_fail(err, ES_USAGE, "give --queue FILE",
                       "--follow: there is no queue");
    if (!queue && o->work.repeat == 0)
        o->work.repeat = 1;
    return 0;
}

static int check(struct run_options *o, struct es_error *err)
{
    if (check_work(o, err) < 0)
        return -1;
    if (!o->command[0])
        return es_fail(err, ES_USAGE, "give it after --", "no command");
    if (o->resume && !o->journal)
        return es_fail(err, ES_USAGE, "give --journal FILE, too",
                       "--resume: there is no journal");
    if (o->persistent && o->lines)
        return es_fail(err, ES_USAGE, "give --range, and let it read the file",
                       "--persistent and --lines exclude each other");
    if (o->local.n > 0 && o->srun)
        return es_fail(err, ES_USAGE, "give one of them",
                       "--local and --srun exclude each other");
    return 0;
}

/* A short one stands alone or among others in a word; of one that is a byte
 * of UTF-8 getopt has not left the word, at. */
static int no_such_option(char **at, struct es_error *err)
{
    const char *word = optopt < 0 ? at[0] : at[-1];

    if (optopt > 0 && optopt < 128)
        return es_fail(err, ES_USAGE, see_help, "-%c: no such option", optopt);
    return es_fail(err, ES_USAGE, see_help, "%s: no such option", word);
}

int run_options_parse(struct run_options *o,
                      const struct config *c,
                      int argc,
                      char **argv,
                      struct es_error *err)
{
    int option, rc;

    memset(o, 0, sizeof *o);
    o->grain = 1;
    o->profile = &c->profile[0];
    o->pieces = TAIL_PIECES;
    o->threshold = (struct threshold_rule){THRESHOLD_PERCENT, 5};
    if (take_policy(o, c, kinds_at(0)->name, err) < 0)
        return -1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        if (option == ':')
            return es_fail(err, ES_USAGE, see_help, "%s: a value is missing",
                           argv[optind - 1]);
        if (option == '?')
            return no_such_option(argv + optind, err);
        rc = take(o, c, option, optarg, err);
        if (rc != 0)
            return rc;
    }
    o->command = argv + optind;
    return check(o, err);
}
