/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/run_options.h"
#include "launcher/base/number.h"
#include "launcher/config/pieces_option.h"
#include "launcher/config/policy_option.h"
#include "launcher/config/policy_site.h"
#include "launcher/config/profile_option.h"
#include "launcher/config/threshold_option.h"
#include "launcher/exec/file_name.h"
#include "launcher/exec/template.h"
#include "launcher/run/distribution.h"
#include "launcher/run/profile_auto.h"
#include "launcher/run/stdin_readers.h"
#include "pmix_bcast/pack_choice.h"
#include "policy/dispatch.h"
#include "policy/kinds.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRIES_MAX   1000
#define TIMEOUT_MIN_S 0.1 /* twice what is waited between two looks */
#define TIMEOUT_MAX_S 1e9 /* 30 years */

#define AHEAD_AUTO     UINT64_MAX
#define AHEAD_OF_QUEUE 2 /* enough that nobody waits for the end of a frame */

/* --- the table ------------------------------------------------------------ */

static int take_queue(void *at, const char *text, struct es_error *err)
{
    struct run_options *o = at;

    if (o->n_queues == QUEUE_SOURCES_MAX)
        return es_fail(err, ES_USAGE, "give 16 at most",
                       "--queue: %s is one too many", text);
    o->queue[o->n_queues++] = text;
    return 0;
}

static int take_arg_file(void *at, const char *text, struct es_error *err)
{
    struct run_options *o = at;

    return task_sources_file(&o->sources, "--arg-file", text, err);
}

static int take_colsep(void *at, const char *text, struct es_error *err)
{
    struct run_options *o = at;

    return task_sources_colsep(&o->sources, text, err);
}

static int take_halt(void *at, const char *text, struct es_error *err)
{
    static const char now[] = "now,fail=", soon[] = "soon,fail=";
    struct halt_rule *h = at;
    const char *number = NULL;
    char *end;

    *h = (struct halt_rule){0};
    if (strcmp(text, "never") == 0)
        return 0;
    if (strncmp(text, now, sizeof now - 1) == 0)
        number = text + sizeof now - 1;
    h->is_soon = strncmp(text, soon, sizeof soon - 1) == 0;
    if (h->is_soon)
        number = text + sizeof soon - 1;
    if (number) {

        h->fail = strtod(number, &end);
        h->is_percent = *end == '%';
        end += h->is_percent;
        if (isdigit((unsigned char)*number) && !*end && h->fail > 0
            && h->fail <= (h->is_percent ? 100 : 1e15)
            && (h->is_percent || h->fail == floor(h->fail)))
            return 0;
    }
    return es_fail(err, ES_USAGE, "give never, now,fail=1 or soon,fail=10%",
                   "--halt %s: expected failures that end the run", text);
}

static int take_replace(void *at, const char *text, struct es_error *err)
{
    const char **mark = at;

    if (!template_is_mark(text))
        return es_fail(
            err, ES_USAGE, "give two halves of one length, for example '[[]]'",
            "--replace: \"%.40s\" is no pair of marks without letters "
            "and braces",
            text);
    *mark = text;
    return 0;
}

static int take_compress(void *at, const char *text, struct es_error *err)
{
    int pack = pack_find(text), *compress = at;

    if (pack < 0)
        return es_fail(err, ES_USAGE, "give none, lz4, zstd or auto",
                       "--compress: \"%s\" is unknown", text);
    *compress = pack + 1;
    return 0;
}

static int take_bcast(void *at, const char *text, struct es_error *err)
{
    struct run_options *o = at;

    if (o->n_bcast == FILES_MAX)
        return es_fail(err, ES_USAGE, "give 16 at most",
                       "--bcast: %s is one too many", text);
    o->bcast[o->n_bcast++] = text;
    return 0;
}

static int take_return(void *at, const char *text, struct es_error *err)
{
    struct run_options *o = at;

    if (o->n_returned == FILES_MAX)
        return es_fail(err, ES_USAGE, "give 16 at most",
                       "--return: %s is one too many", text);
    o->returned[o->n_returned++] = (char *)text;
    return 0;
}

static int take_start(void *at, const char *text, struct es_error *err)
{
    return record_mark_parse(at, "recstart", text, err);
}

static int take_end(void *at, const char *text, struct es_error *err)
{
    return record_mark_parse(at, "recend", text, err);
}

/* One line is all that names of columns have; ":" as others say it. */
static int take_header(void *at, const char *text, struct es_error *err)
{
    uint64_t *header = at, n = 1;

    if (strcmp(text, ":") != 0 && (number_parse_u64(text, &n) < 0 || n == 0))
        return es_fail(err, ES_USAGE, "give a number of lines, for example 1",
                       "--header %s: expected lines, or : for one", text);
    *header = n;
    return 0;
}

/* "50%" of a node's cores; others: of 0 there are as many as there are. */
static int take_part(struct msg_slots *slots, const char *text)
{
    const char *end = strchr(text, '%');
    char digits[8];
    uint64_t n = 0;

    if (strcmp(text, "0") == 0) {
        *slots =
            (struct msg_slots){.kind = SLOTS_CORES, .memory = slots->memory};
        return 1;
    }
    if (!end || end[1] || (size_t)(end - text) >= sizeof digits)
        return 0;
    snprintf(digits, sizeof digits, "%.*s", (int)(end - text), text);
    if (number_parse_u64(digits, &n) < 0 || n == 0 || n > NODE_SLOTS_MAX)
        return 0;
    *slots = (struct msg_slots){
        .kind = SLOTS_PART, .n = (uint32_t)n, .memory = slots->memory};
    return 1;
}

static int take_slots(void *at, const char *text, struct es_error *err)
{
    static const char *const kinds[] = {[SLOTS_CORES] = "cores",
                                        [SLOTS_SOCKETS] = "sockets",
                                        [SLOTS_GPUS] = "gpus"};
    struct msg_slots *slots = at;
    uint64_t n;

    for (uint32_t i = SLOTS_CORES; i <= SLOTS_GPUS; i++)
        if (strcmp(text, kinds[i]) == 0) {
            *slots = (struct msg_slots){
                .kind = i, .width = slots->width, .memory = slots->memory};
            return 0;
        }
    if (take_part(slots, text))
        return 0;
    if (number_parse_u64(text, &n) < 0 || n == 0 || n > NODE_SLOTS_MAX)
        return es_fail(err, ES_USAGE,
                       "give 1 to 4096, 50%, cores, sockets or gpus",
                       "--slots: \"%s\" is no number of slots", text);
    *slots = (struct msg_slots){.kind = SLOTS_NUMBER,
                                .n = (uint32_t)n,
                                .beside = slots->n > 0,
                                .memory = slots->memory};
    return 0;
}

/* So many of a kind for each slot. */
static int take_width(struct msg_slots *slots,
                      enum slots_kind kind,
                      const char *name,
                      const char *text,
                      struct es_error *err)
{
    uint64_t n;

    if (number_parse_u64(text, &n) < 0 || n == 0 || n > NODE_SLOTS_MAX)
        return es_fail(err, ES_USAGE, "give 1 to 4096, for example 4",
                       "--%s: \"%s\" is no number of them", name, text);
    *slots = (struct msg_slots){
        .kind = kind, .width = (uint32_t)n, .memory = slots->memory};
    return 0;
}

static int take_cpus(void *at, const char *text, struct es_error *err)
{
    return take_width(at, SLOTS_CORES, "cpus", text, err);
}

static int take_gpus(void *at, const char *text, struct es_error *err)
{
    return take_width(at, SLOTS_GPUS, "gpus", text, err);
}

static int take_ahead(void *at, const char *text, struct es_error *err)
{
    uint64_t *ahead = at, n = AHEAD_AUTO;

    if (strcmp(text, "auto") != 0) {
        int rc = number_parse_u64(text, &n);

        if (rc < 0 || n > AHEAD_MAX)
            return es_fail(err, ES_USAGE, "give 0 to 100, or auto",
                           "--ahead: \"%s\" is %s", text,
                           rc == NUMBER_NONE ? "no number" : "out of range");
    }
    *ahead = n;
    return 0;
}

#define AT(member) OPTION_AT(struct run_options, member)

/* clang-format off */
const struct option run_options_table[] = {
    {OPTION_GROUP, .name = "work:"},
    {OPTION_RANGE, "range", "B:E", AT(range), .excludes = "lines queue", .help =
     "units of a frame, from B up to, not with, E"},
    {OPTION_TEXT, "lines", "FILE|-", AT(lines), .file = OPTION_READS, .excludes = "queue",
     .help = "the units are FILE's lines; a piece's lines are CMD's stdin"},
    {OPTION_COUNT, "record", "N", AT(record.lines), .low = 1, .needs = "lines",
     .excludes = "recstart recend", .help =
     "N lines of FILE are a unit, as 4 in FASTQ (1)"},
    {OPTION_TAKE, "recstart", "TEXT", AT(record.start), .take = take_start,
     .needs = "lines", .help =
     "a unit begins where a line begins with TEXT, as '>' in FASTA, or where "
     "--recend says"},
    {OPTION_TAKE, "recend", "TEXT", AT(record.end), .take = take_end,
     .needs = "lines", .help =
     "a unit ends with TEXT, in which \\n is a newline; with --recstart only "
     "where that follows; with '' --recstart counts within lines, too"},
    {OPTION_TAKE, "header", "N|:", AT(record.header), .take = take_header,
     .needs = "lines each", .help =
     "FILE's first N lines are in no unit, and before the stdin of each CMD; with "
     "--each the first (:) has the names of columns"},
    {OPTION_FLAG, "may-leave-lines", NULL, AT(may_leave_lines),
     .needs = "lines", .help =
     "CMD need not read all of its lines; else a piece of which lines are left "
     "unread has failed"},
    {OPTION_TAKE, "queue", "FILE|-", .take = take_queue, .excludes = "repeat",
     .help = "a frame a line, \"B:E [LABEL]\", taken as they come; may be "
     "given again: one queue"},
    {OPTION_TEXT, "works", "FILE", AT(works), .file = OPTION_READS, .needs = "queue",
     .excludes = "persistent ahead dry-run", .help =
     "types of work, each with a command of its own: a line of the queue names "
     "one at its end, \"B:E LABEL @render\""},
    {OPTION_COUNT, "repeat", "N", AT(work.repeat), .low = 1, .help =
     "frames, one after another (1)"},
    {OPTION_COUNT, "grain", "G", AT(grain), .low = 1, .def = "1", .help =
     "pieces begin at multiples of G units behind B"},
    {OPTION_GROUP, .name = "tasks:"},
    {OPTION_FLAG, "each", NULL, AT(each),
     .excludes = "record recstart recend may-leave-lines queue repeat grain "
     "meter power bisect persistent replace reads-env stdout return", .help =
     "each unit is a task: CMD is run once for each, with {} for its line or "
     "number; one that fails has failed alone, and the others are done.  Behind "
     "CMD there may be values: ::: a b c, as in GNU parallel"},
    {OPTION_FLAG, "follow", NULL, AT(follow), .needs = "queue each", .help =
     "a list of tasks grows until a line ends it; queues do not end: files grow, "
     "pipes get new writers"},
    {OPTION_TEXT, "add", "LINES|-", AT(add), .file = OPTION_READS,
     .excludes = "follow dry-run resume resume-failed", .help =
     "run nothing: append the lines of LINES to FILE, which a run follows"},
    {OPTION_FLAG, "close", NULL, AT(close),
     .excludes = "follow dry-run resume resume-failed", .help =
     "likewise: FILE ends, behind what is added"},
    {OPTION_TAKE, "arg-file", "FILE|-", .letter = 'a', .take = take_arg_file,
     .needs = "each", .help = "the lines of FILE are values of tasks, as --lines has it; those of "
     "several are combined"},
    {OPTION_TAKE, "colsep", "TEXT", .letter = 'C', .take = take_colsep,
     .needs = "each", .help = "a line is several values, with TEXT between: {1} {2} ...; ',': CSV; "
     "with --header 1 also {NAME}"},
    {OPTION_FLAG, "null", NULL, AT(nul), .letter = '0', .needs = "each", .help =
     "lines end with a NUL, as of find -print0"},
    {OPTION_COUNT, "max-args", "N", AT(values), .letter = 'N', .low = 1,
     .needs = "each", .help = "a task gets N values (1)"},
    {OPTION_FLAG, "xargs", NULL, AT(fill), .letter = 'X', .needs = "each", .help =
     "a task gets as many values as a command line has room for"},
    {OPTION_FLAG, "shuf", NULL, AT(shuf), .needs = "each", .help = "in an order by chance"},
    {OPTION_TEXT, "arg-sep", "TEXT", AT(arg_sep), .needs = "each", .help =
     "in place of ::: before values"},
    {OPTION_TEXT, "shell", "PROGRAM", AT(shell), .bare = "/bin/sh",
     .needs = "each", .help =
     "CMD is a text for PROGRAM -c (/bin/sh), in which {} is a word, whatever "
     "is in it"},
    {OPTION_FLAG, "tag", NULL, AT(tag), .needs = "each", .help =
     "each line that a task prints begins with its values and a tab"},
    {OPTION_SECONDS, "delay", "SECONDS", AT(delay_s), .needs = "each", .help =
     "a slot starts a task so long at least after the one before"},
    {OPTION_GROUP, .name = "sizing:"},
    {OPTION_TEXT, "policy", "NAME[:key=value,...]", AT(policy_text),
     .word = policy_site_word, .help =
     "how slices are sized (by what pieces cost, or as the profile has it); "
     "`evenstep help policies`"},
    {OPTION_TAKE, "threshold", "SECONDS|PERCENT%|auto", AT(threshold),
     .take = threshold_option_take, .def = "5%", .help =
     "adjust when the nodes' times differ by more, in seconds or of the mean "
     "time; auto: by more than their noise"},
    {OPTION_TAKE, "pieces", "N|auto", AT(pieces), .take = pieces_option_take,
     .def = "auto", .help =
     "a slice is sent in N pieces at most, so that who has finished can take "
     "over what a slow node has not begun; 1: nobody takes over; auto: in as "
     "few as what a command's start costs and how much times differ allow"},
    {OPTION_TAKE, "ahead", "K|auto", AT(ahead), .take = take_ahead,
     .def = "auto", .help =
     "K later frames at most may begin on nodes that have nothing left of the "
     "first: for frames of which none reads what another one makes; auto: 2 of "
     "a queue whose pieces are cut by their costs, 0 else"},
    {OPTION_TEXT, "metrics", "probe|cached|equal|FILE", AT(metrics_file), .file = OPTION_READS,
     .help =
     "first sizes: from a probe of every node, from the site's cache where it "
     "has one, all alike, or from FILE, see `evenstep plan --help` (probe, but "
     "not again what the job has measured)"},
    {OPTION_TEXT, "profile", "NAME", AT(profile_name),
     .word = profile_option_word, .help =
     "how much each element of a node matters to CMD: one of those that "
     "`evenstep config` prints, or auto: fitted to your earlier runs of CMD "
     "(cpu)"},
    {OPTION_TAKE, "meter", "units|cmd:PATTERN|cpu", AT(meter),
     .take = meter_option_take, .help =
     "how far a slice is: by its pieces, by what CMD prints (PATTERN: an "
     "extended regular expression, whose one group is the fraction, or with a "
     "% behind it the percentage, and whose two are what is done and of how "
     "much), or by the CPU time that it uses, a proxy; others judge a late "
     "node by it, and `evenstep top` shows it"},
    {OPTION_WORD, "power", "off|pair|boost|save", AT(power), .def = "off", .help =
     "steer power or CPU time, as the site has it, from the nodes that come "
     "first to those that come last, by what CMD tells with evenstep_tick(), "
     "see libevenstep(3); save: lower those that come first"},
    {OPTION_GROUP, .name = "faults:"},
    {OPTION_COUNT, "retries", "N", AT(retries), .high = RETRIES_MAX,
     .def = "0", .help =
     "what a command failed at is done again, N times at most, by other nodes "
     "if there are any; a node with N failures in a row (3 with --keep-going or "
     "--bisect) gets nothing more"},
    {OPTION_COUNT, "keep-going", "MAX", AT(keep_going), .low = 1,
     .bare = "9223372036854775807", .help =
     "what still fails after that is left out, the rest is done, and the end "
     "is exit status 1 with a list; more than MAX such failures end the run"},
    {OPTION_TAKE, "halt", "never|now,fail=N[%]|soon,fail=N[%]", AT(halt),
     .take = take_halt, .needs = "each", .excludes = "keep-going", .help =
     "N tasks that fail, or N% of all, end the run: now, or as soon as what runs "
     "has ended"},
    {OPTION_FLAG, "bisect", NULL, AT(bisect), .help =
     "what still fails is cut in two, and these again, down to --grain, to "
     "find which units it is: only these have failed"},
    {OPTION_TAKE, "ok-status", "LIST", AT(ok_status), .take = ok_status_take,
     .def = "0", .excludes = "persistent", .help =
     "exit statuses with which CMD has not failed, as 0,1 for grep"},
    {OPTION_SECONDS, "timeout", "SECONDS", AT(timeout_s),
     .low = TIMEOUT_MIN_S, .high = TIMEOUT_MAX_S, .help =
     "a command that runs for longer hangs: it is ended, and what it had to do "
     "is done by others"},
    {OPTION_SECONDS, "until-end", "SECONDS", AT(until_end_s),
     .low = 1, .high = TIMEOUT_MAX_S, .help =
     "begin nothing that would not end so long before the job's time limit; "
     "what is left then is told, exit 4, and --resume goes on with it"},
    {OPTION_GROUP, .name = "how:"},
    {OPTION_TAKE, "slots", "N|N%|cores|sockets|gpus", AT(slots), .letter = 'j',
     .alias = "jobs", .take = take_slots, .def = "1", .help =
     "commands that run at once on a node, each on cores of its own: N of them "
     "(more than there are cores share them), one a core, a socket or a GPU, or one "
     "for each core of N% of them"},
    {OPTION_TAKE, "cpus", "N", AT(slots), .take = take_cpus,
     .alias = "cpus-per-task", .excludes = "slots gpus", .help =
     "each command has N cores of its own: as many slots as a node has cores for; "
     "OMP_NUM_THREADS is N, unless it is set"},
    {OPTION_SIZE, "mem", "BYTES", AT(slots.memory), .low = 1, .alias = "memory",
     .help = "... and as it has memory for, of what the job has there: 800M, 4G"},
    {OPTION_TAKE, "gpus", "N", AT(slots), .take = take_gpus, .excludes = "slots",
     .help = "each command has N GPUs of its own, likewise"},
    {OPTION_FLAG, "exclusive", NULL, AT(exclusive), .needs = "each",
     .excludes = "slots cpus gpus mem", .help = "a task is alone on its node"},
    {OPTION_SECONDS, "time", "SECONDS", AT(time_s), .low = 1e-3,
     .high = TIMEOUT_MAX_S, .needs = "each", .help =
     "about how long a task takes of which the list says nothing (#EVENSTEP "
     "time=10m): those that take longest begin first; no limit"},
    {OPTION_FLAG, "overlap", NULL, AT(overlap), .excludes = "persistent",
     .help =
     "where commands wait as they start, a slot's next one starts that long "
     "before the last has ended: a node needs memory for two a slot"},
    {OPTION_FLAG, "speculate", NULL, AT(speculate), .excludes = "persistent",
     .help =
     "a piece that is late is started at an idle node, too, and the first to "
     "end counts: only for a CMD that may run twice at once for the same "
     "units"},
    {OPTION_FLAG, "persistent", NULL, AT(persistent), .help =
     "CMD is started once a node, and gets its slices by evenstep_next() of "
     "libevenstep: see libevenstep(3)"},
    {OPTION_TAKE, "replace", "MARKS", AT(replace), .take = take_replace,
     .help =
     "fields of CMD are between the halves of MARKS, and not in braces: with "
     "'[[]]' [[begin]] is filled in, and {begin} stays"},
    {OPTION_FLAG, "reads-env", NULL, AT(reads_env), .help =
     "CMD reads EVENSTEP_BEGIN and EVENSTEP_END itself, so it need not be given "
     "both"},
    {OPTION_FLAG, "dry-run", NULL, AT(dry_run), .help =
     "measure the nodes, print the first commands of each, and run none"},
    {OPTION_TAKE, "bcast", "SRC:DST", .take = take_bcast, .help =
     "copy the file or folder SRC to DST on all nodes, as evenstep bcast does, "
     "before the first frame; may be given again"},
    {OPTION_TEXT, "exec", "DST", AT(exec.given), .help =
     "copy CMD's program to DST on all nodes, and run it from there, as srun "
     "--bcast does"},
    {OPTION_FLAG, "libs", NULL, AT(libs), .needs = "bcast exec", .help =
     "with these: bring the shared objects that programs need, too, to "
     "DST_libs, where CMD looks first"},
    {OPTION_TEXT, "exclude-libs", "FOLDERS", AT(exclude_libs), .needs = "libs",
     .help = "but for those in these, as in \"/lib,/usr/lib\", or none"},
    {OPTION_FLAG, "update", NULL, AT(update), .needs = "bcast exec", .help =
     "of these bring only what differs from DST, as evenstep bcast has it"},
    {OPTION_TEXT, "cache", "DIR", AT(cache), .bare = "", .needs = "bcast exec",
     .help = "keep what is brought on the nodes, and bring only what is not "
             "there, likewise"},
    {OPTION_TAKE, "compress", "none|lz4|zstd|auto", AT(compress),
     .take = take_compress, .needs = "bcast exec", .help =
     "send it compressed, likewise"},
    {OPTION_TEXT, "workdir", "tmp|DIR", AT(workdir), .help =
     "CMD's folder on the node (this one): DIR, or tmp: a new and empty one for "
     "each piece, removed when that is done"},
    {OPTION_GROUP, .name = "results:"},
    {OPTION_FLAG, "unordered", NULL, AT(unordered), .needs = "each",
     .excludes = "gather", .help =
     "what tasks print comes as they end, each task's whole, and not in their order"},
    {OPTION_TEXT, "gather", "FILE", AT(gather), .file = OPTION_WRITES, .help =
     "CMD's output goes to FILE, not to stdout"},
    {OPTION_TEXT, "stdout", "DIR/NAME-{begin}", AT(output),
     .excludes = "gather", .help =
     "a file for the output of each piece, there when it is whole; the name's "
     "fields are filled in as CMD's"},
    {OPTION_TEXT, "results", "DIR", AT(results), .help =
     "of each task its stdout, stderr and number, DIR/1/VALUE/stdout and so on, as "
     "GNU parallel has them, also of those that failed"},
    {OPTION_TAKE, "return", "NAME-{begin}", .take = take_return,
     .excludes = "persistent", .help =
     "a file that CMD makes comes from its folder on the node to the same name "
     "here, when it is whole; may be given again"},
    {OPTION_FLAG, "no-sync", NULL, AT(no_sync), .help =
     "files need not be on the disk when this command ends"},
    {OPTION_TEXT, "journal", "FILE", AT(journal), .file = OPTION_WRITES, .help =
     "keeps what is finished, so that nothing is lost if this command dies"},
    {OPTION_FLAG, "resume", NULL, AT(resume), .help =
     "go on with the journal of a run that has died, if it is there; all "
     "output comes out, as if nothing had been; of --lines and --queue FILE what "
     "has changed is done again"},
    {OPTION_FLAG, "resume-failed", NULL, AT(resume_failed), .help = "likewise, and what the run before has left out is done, too"},
    {OPTION_TEXT, "joblog", "FILE", AT(joblog), .file = OPTION_WRITES, .help =
     "a line as each command ends, in the columns of GNU parallel"},
    {OPTION_TEXT, "report", "FILE", AT(report), .file = OPTION_WRITES, .help =
     "a JSON line a frame, and a summary"},
    {OPTION_FLAG, "job-comment", NULL, AT(job_comment), .excludes = "local",
     .help = "at the end the job's comment has a line on how it went, for sacct"},
    {OPTION_GROUP, .name = "where:"},
    {OPTION_SRUN, AT(srun)},
    {OPTION_LOCAL, AT(local), .excludes = "srun"},
    {OPTION_COUNT, "joinable", "N", AT(joinable), .low = 1, .high = JOINS_MAX,
     .excludes = "bcast exec persistent meter power dry-run", .help =
     "N nodes at most may join this run by `evenstep join`, from another job of "
     "yours: see evenstep-join(1)"},
    {.type = OPTION_END},
};
/* clang-format on */

/* --- all together --------------------------------------------------------- */

/* A run that resumes does not know where a piece was done. */
static int check_journaled(const struct run_options *o,
                           const char *text,
                           struct es_error *err)
{
    if (!o->journal || (!strstr(text, "{node}") && !strstr(text, "{slot}")))
        return 0;
    return es_fail(err, ES_USAGE, "leave {node} and {slot} out",
                   "%.80s: with --journal a name may not say where", text);
}

static int check_returned(const struct run_options *o,
                          enum frames frames,
                          struct es_error *err)
{
    for (uint32_t i = 0; i < o->n_returned; i++) {
        if (file_name_check(o->returned[i], "return", frames, 1, err) < 0
            || check_journaled(o, o->returned[i], err) < 0)
            return -1;
        for (uint32_t k = 0; k < i; k++)
            if (file_name_clash(o->returned[i], o->returned[k]))
                return es_fail(err, ES_USAGE, "name them unlike each other",
                               "--return: %.80s and %.80s may be one file",
                               o->returned[k], o->returned[i]);
    }
    return 0;
}

static int check_workdir(const struct run_options *o, struct es_error *err)
{
    if (!o->workdir || o->workdir[0] == '/')
        return 0;
    if (strcmp(o->workdir, "tmp") != 0)
        return es_fail(err, ES_USAGE, "give tmp, or a whole path on the nodes",
                       "--workdir: \"%s\" is no whole path", o->workdir);
    if (o->persistent)
        return es_fail(err, ES_USAGE, "leave one of them out",
                       "--workdir tmp: a program that stays has one folder");
    return 0;
}

/* Of two commands with the same units, each writes the file. */
static int check_twice(const struct run_options *o, struct es_error *err)
{
    if (!o->speculate || o->n_returned == 0
        || (o->workdir && strcmp(o->workdir, "tmp") == 0))
        return 0;
    return es_fail(err, ES_USAGE, "give --workdir tmp",
                   "--speculate: two commands with the same units write the "
                   "same %.80s, unless each has a folder of its own",
                   o->returned[0]);
}

static int check_files(const struct run_options *o, struct es_error *err)
{
    enum frames frames = o->n_queues > 0      ? FRAMES_LABELLED
                         : o->work.repeat > 1 ? FRAMES_MANY
                                              : FRAMES_ONE;

    if (check_returned(o, frames, err) < 0 || check_workdir(o, err) < 0
        || check_twice(o, err) < 0)
        return -1;
    if (!o->output)
        return 0;
    return file_name_check(o->output, "stdout", frames, 0, err) < 0
                   || check_journaled(o, o->output, err) < 0
               ? -1
               : 0;
}

/* A shell is given a text, which has no program to be brought. */
static int check_exec(const struct run_options *o, struct es_error *err)
{
    if (!o->exec.given || !o->each || !o->shell)
        return 0;
    return es_fail(err, ES_USAGE,
                   "leave one of them out, or give --bcast SRC:DST",
                   "--exec: with --shell the command is a text, and names no "
                   "program");
}

/* What a node that joins has must be known without it. */
static int check_joinable(const struct run_options *o, struct es_error *err)
{
    if (o->joinable == 0)
        return 0;
    if (o->slots.kind != SLOTS_NUMBER)
        return es_fail(err, ES_USAGE,
                       o->is_tasks ? "give a number of slots, as in -j 8"
                                   : "give --slots a number",
                       "--joinable: how many slots a node that joins has is "
                       "not known before");
    if (o->metrics == METRICS_OF_FILE)
        return es_fail(err, ES_USAGE, "give --metrics probe, cached or equal",
                       "--joinable: %.200s cannot have the nodes that join",
                       o->metrics_file);
    return 0;
}

/* The command line's own, and those of --works. */
static int settle_types(struct run_options *o,
                        const struct policy_option *policy,
                        const struct config *c,
                        struct es_error *err)
{
    struct work_types *t = &o->types;

    t->n = 1;
    t->has_own = o->command[0] != NULL;
    t->type[0] = (struct work_type){.name = "",
                                    .command = o->command,
                                    .profile = *o->profile,
                                    .profile_auto = o->profile_auto,
                                    .policy = *policy};
    if (!o->works)
        return 0;
    if (work_types_read(t, o->works, c, err) < 0)
        return -1;
    if (!t->has_own)
        o->command = t->type[0].command = t->type[1].command;
    return 0;
}

/* Lines of a queue are works of their own, as in other queues; iterations may
 * build on each other.  What frames ahead gain is by cutting them as one. */
static int settle_ahead(struct run_options *o, struct es_error *err)
{
    int may = o->n_queues > 0 && !o->works && !o->persistent
              && o->power == POWER_OFF && o->pieces == DISPATCH_BY_COST
              && o->policy->by_speed;

    if (o->ahead == AHEAD_AUTO)
        o->ahead = may ? AHEAD_OF_QUEUE : 0;
    if (o->ahead > 0 && o->persistent)
        return es_fail(err, ES_USAGE, "leave one of them out",
                       "--ahead: a program that stays alive may keep what it "
                       "needs for its next frame, so --persistent does one "
                       "after the other");
    return 0;
}

static void settle_metrics(struct run_options *o)
{
    int source = METRICS_PROBE;

    if (o->metrics_file)
        source = option_word_find("probe|cached|equal", o->metrics_file);
    o->metrics = source < 0 ? METRICS_OF_FILE : (enum metrics_source)source;
    o->metrics_now = o->metrics_file && o->metrics == METRICS_PROBE;
}

int run_options_settle(struct run_options *o,
                       const struct config *c,
                       struct es_error *err)
{
    struct policy_option policy;

    if ((o->resume || o->resume_failed) && !o->journal && !o->dry_run)
        return es_fail(err, ES_USAGE, "give --journal FILE of the run before",
                       "%s: there is no journal",
                       o->resume ? "--resume" : "--resume-failed");
    if (o->range.end == 0 && !o->lines && o->n_queues == 0)
        return es_fail(err, ES_USAGE,
                       "give --range BEGIN:END, --lines FILE or --queue FILE",
                       "no work");
    if (!o->command[0] && !o->works)
        return es_fail(err, ES_USAGE, "give it after --", "no command");
    if (o->lines && !o->persistent && !o->each
        && stdin_readers_check(o->command, err) < 0)
        return -1;
    if (o->power != POWER_OFF && strcmp(c->power.actuator, "slice") == 0)
        return es_fail(err, ES_USAGE,
                       "give --meter, or set another one in power { } of "
                       "evenstep.conf",
                       "--power: the actuator is slice, which limits nothing");
    if (record_rule_check(&o->record, err) < 0 || check_files(o, err) < 0)
        return -1;
    if (o->persistent && (o->slots.kind != SLOTS_NUMBER || o->slots.n > 1))
        return es_fail(err, ES_USAGE, "leave one of them out",
                       "--slots: a program that stays alive is one a node, so "
                       "--persistent has one slot");
    if (o->meter.kind != OUTSIDE_NONE && o->pieces == DISPATCH_BY_COST
        && strcmp(c->power.actuator, "slice") == 0)
        o->pieces = TAIL_PIECES; /* it gives away what waits at a node */
    o->work.begin = o->range.begin;
    o->work.end = o->range.end;
    if (o->n_queues == 0 && o->work.repeat == 0)
        o->work.repeat = 1;
    settle_metrics(o);
    if (check_joinable(o, err) < 0)
        return -1;
    o->profile = profile_option_find(c, o->profile_name, "--profile", err);
    o->profile_auto =
        o->profile_name && strcmp(o->profile_name, PROFILE_AUTO) == 0;
    if (!o->profile
        || policy_option_parse(&policy, c,
                               policy_option_text(o->policy_text, o->profile),
                               POLICY_STRICT, err)
               < 0)
        return -1;
    o->policy = policy.kind;
    memcpy(o->policy_name, policy.name, sizeof o->policy_name);
    memcpy(o->policy_value, policy.value, sizeof o->policy_value);
    if (settle_ahead(o, err) < 0 || check_exec(o, err) < 0
        || exec_option_settle(&o->exec, o->command, err) < 0
        || settle_types(o, &policy, c, err) < 0)
        return -1;
    if (o->dry_run) { /* keeps nothing and writes no files */
        o->gather = o->report = o->joblog = o->journal = o->output = NULL;
        o->n_returned = 0;
        o->resume = o->resume_failed = 0;
    }
    return 0;
}
