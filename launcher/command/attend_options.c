/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/attend_options.h"
#include "launcher/base/named_files.h"

#include <stdlib.h>
#include <string.h>

static int add_input(struct attend_options *o,
                     const char *text,
                     const char *colon,
                     struct es_error *err)
{
    struct attend_input *grown, in = {0};
    char destination[DESTINATION_MAX];

    in.source = strndup(text, (size_t)(colon - text));
    if (!in.source)
        return es_no_memory(err);
    if (broadcast_destination(destination, in.source, colon + 1, err) < 0) {
        free(in.source);
        return -1;
    }
    grown = realloc(o->input, (o->inputs + 1) * sizeof *grown);
    if (!grown) {
        free(in.source);
        return es_no_memory(err);
    }
    o->input = grown;
    in.destination = strdup(destination);
    o->input[o->inputs++] = in;
    return in.destination ? 0 : es_no_memory(err);
}

/* SRC:DST; neither may have a colon in it, as with options of Slurm. */
static int take_copy(void *at, const char *text, struct es_error *err)
{
    struct attend_options *o = at;
    const char *colon = strchr(text, ':');

    o->asked++; /* whatever comes of it, the step lacks it until it is there */
    if (!colon || colon == text)
        return es_fail(err, ES_USAGE, "give SRC:DST",
                       "--evenstep-bcast: \"%s\"", text);
    return add_input(o, text, colon, err);
}

void attend_options_clear(struct attend_options *o)
{
    for (size_t i = 0; i < o->inputs; i++) {
        free(o->input[i].source);
        free(o->input[i].destination);
        libs_clear(&o->input[i].libs);
    }
    free(o->input);
    o->input = NULL;
    o->inputs = 0;
}

int attend_options_check(const struct attend_options *o, struct es_error *err)
{
    struct named_files f = {.n = 0};
    const char *program =
        o->command && strchr(o->command, '/') ? o->command : NULL;

    if (!o->report || !*o->report || strcmp(o->report, REPORT_OFF) == 0)
        return 0;
    if (named_files_written(&f, "evenstep-report", o->report, err) < 0
        || named_files_read(&f, NULL, "the program", program, err) < 0
        || named_files_read(&f, NULL, "the configuration", o->config, err) < 0)
        return -1;
    for (size_t i = 0; i < o->inputs; i++)
        if (named_files_read(&f, "evenstep-bcast", NULL, o->input[i].source,
                             err)
            < 0)
            return -1;
    return 0;
}

#define AT(member) OPTION_AT(struct attend_options, member)

/* clang-format off */
const struct option attend_option_table[] = {
    {OPTION_COUNT, "job", "ID", AT(job), .low = 1, .required = 1, .help =
     "the job"},
    {OPTION_COUNT, "step", "ID", AT(step), .help = "the step in it"},
    {OPTION_COUNT, "nodes", "N", AT(nodes), .help = "of the job"},
    {OPTION_TEXT, "profile", "NAME", AT(profile), .help =
     "as srun --evenstep-profile"},
    {OPTION_WORD, "probe", "fresh|cached|off", AT(probe), .def = "cached",
     .help = "as srun --evenstep-probe"},
    {OPTION_TEXT, "config", "FILE", AT(config), .help = "the configuration"},
    {OPTION_TEXT, "command", "NAME", AT(command), .help =
     "that the tasks run, for the profile auto"},
    {OPTION_TAKE, "bcast", "SRC:DST", .take = take_copy, .help =
     "as srun --evenstep-bcast; repeatable"},
    {OPTION_FLAG, "libs", NULL, AT(with_libs), .help =
     "as srun --evenstep-libs"},
    {OPTION_WORD, "power", "off|pair|boost|save", AT(power), .help =
     "as srun --evenstep-power"},
    {OPTION_WORD, "meter", STEP_METER_WORDS, AT(meter), .help =
     "as srun --evenstep-meter"},
    {OPTION_WORD, "lend", "off|on", AT(lend), .help =
     "as srun --evenstep-lend"},
    {OPTION_TEXT, "report", "FILE", AT(report), .bare = "", .help =
     "as srun --evenstep-report"},
    {OPTION_FLAG, "required", NULL, AT(required), .help =
     "the step is not to start without evenstep"},
    {.type = OPTION_END},
};
/* clang-format on */
