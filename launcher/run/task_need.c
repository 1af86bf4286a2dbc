/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/task_need.h"
#include "launcher/base/number.h"
#include "launcher/wire/protocol.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORD_MOST     64
#define BYTES_MOST    1e18
#define SECONDS_LEAST 1e-3
#define SECONDS_MOST  1e9 /* 30 years */

/* The value of "KEY=", or NULL. */
static const char *value_of(const char *word, const char *key)
{
    size_t n = strlen(key);

    return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

/* What is wrong with a word, and how it should be. */
struct wrong {
    const char *why, *mend; /* NULL: nothing */
};

static struct wrong take_word(struct unit_need *need, const char *word)
{
    const char *value;
    int64_t cores, gpus;
    double v;

    if (strcmp(word, "exclusive") == 0) {
        need->cores = NEEDS_ALL;
    } else if ((value = value_of(word, "cpus")) != NULL) {
        if (number_parse_int(value, 1, NODE_SLOTS_MAX, &cores) < 0)
            return (struct wrong){"is no number of cores from 1 to 4096",
                                  "give for example cpus=4"};
        need->cores = (uint32_t)cores;
    } else if ((value = value_of(word, "mem")) != NULL) {
        if (number_parse_unit(value, NUMBER_BYTES, 1, BYTES_MOST, &v) < 0)
            return (struct wrong){"is no size in bytes",
                                  "give for example mem=800M or mem=2G"};
        need->memory = (uint64_t)v;
    } else if ((value = value_of(word, "gpus")) != NULL) {
        if (number_parse_int(value, 1, NODE_GPUS_MAX, &gpus) < 0)
            return (struct wrong){"is no number of GPUs from 1 to 64",
                                  "give for example gpus=2"};
        need->gpus = (uint32_t)gpus;
    } else if ((value = value_of(word, "time")) != NULL) {
        if (number_parse_unit(value, NUMBER_SECONDS, SECONDS_LEAST,
                              SECONDS_MOST, &v)
            < 0)
            return (struct wrong){"is no time",
                                  "give for example time=90, 10m or 1.5h"};
        need->seconds = v;
    } else {
        return (struct wrong){
            "is an instruction that the list cannot have",
            "give cpus=N, mem=BYTES, gpus=N, time=DURATION or exclusive, as in "
            "\"#EVENSTEP cpus=4 mem=2G time=10m\""};
    }
    return (struct wrong){NULL, NULL};
}

int task_need_parse(struct unit_need *need,
                    const char *text,
                    size_t len,
                    const char *name,
                    uint64_t line,
                    struct es_error *err)
{
    const char *end = text + len;
    struct wrong wrong = {NULL, NULL};
    char word[WORD_MOST];

    need->line = line;
    while (text < end) {
        size_t n = 0;

        while (text + n < end && !isspace((unsigned char)text[n]))
            n++;
        snprintf(word, sizeof word, "%.*s",
                 (int)(n < sizeof word ? n : sizeof word), text);
        if (n > 0)
            wrong = take_word(need, word);
        if (wrong.why)
            return es_fail(err, ES_USAGE, wrong.mend, "%s:%ju: \"%s\" %s", name,
                           (uintmax_t)line, word, wrong.why);
        text += n > 0 ? n : 1;
    }
    return 0;
}

void task_need_print(FILE *to, const struct unit_need *need)
{
    (void)fputs("#EVENSTEP", to);
    if (need->cores == NEEDS_ALL)
        (void)fputs(" exclusive", to);
    else if (need->cores > 0)
        (void)fprintf(to, " cpus=%u", need->cores);
    if (need->memory > 0)
        (void)fprintf(to, " mem=%ju", (uintmax_t)need->memory);
    if (need->gpus > 0)
        (void)fprintf(to, " gpus=%u", need->gpus);
    if (need->seconds > 0)
        (void)fprintf(to, " time=%.3f", need->seconds);
    (void)fputc('\n', to);
}

int task_need_refuse(const struct unit_need *need,
                     const char *name,
                     const char *node,
                     const struct unit_need *has,
                     struct es_error *err)
{
    char mend[100];

    if (need->cores != NEEDS_ALL && need->cores > has->cores) {
        snprintf(mend, sizeof mend, "give cpus=%u at most", has->cores);
        return es_fail(err, ES_USAGE, mend,
                       "%s:%ju: cpus=%u is more than any node has: %s, the "
                       "largest, has %u",
                       name, (uintmax_t)need->line, need->cores, node,
                       has->cores);
    }
    if (need->gpus > has->gpus) {
        snprintf(mend, sizeof mend, "give gpus=%u at most", has->gpus);
        return es_fail(err, ES_USAGE,
                       has->gpus > 0 ? mend
                                     : "have the job ask for some, as by "
                                       "salloc --gpus-per-node=2",
                       "%s:%ju: gpus=%u is more than any node with such cores "
                       "has for the job: %s has %u",
                       name, (uintmax_t)need->line, need->gpus, node,
                       has->gpus);
    }
    snprintf(mend, sizeof mend, "give mem=%juM at most",
             (uintmax_t)(has->memory / 1000000));
    return es_fail(err, ES_USAGE, mend,
                   "%s:%ju: mem=%juM is more than any node with such cores%s "
                   "has for the job: %s has %juM",
                   name, (uintmax_t)need->line,
                   (uintmax_t)(need->memory / 1000000),
                   need->gpus > 0 ? " and GPUs" : "", node,
                   (uintmax_t)(has->memory / 1000000));
}
