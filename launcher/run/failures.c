/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/failures.h"
#include "launcher/base/notice.h"

#include <stdio.h>
#include <stdlib.h>

#define TASK_TEXT_MAX                                                          \
    160 /* bytes of what a task is: a line of a screen or two */

void failures_add(struct failures *f,
                  uint64_t frame,
                  struct slice units,
                  const char *node,
                  const char *how)
{
    struct failure *one = &f->first[f->n < FAILURES_TOLD ? f->n : 0];

    if (f->n < FAILURES_TOLD) {
        one->frame = frame;
        one->units = units;
        snprintf(one->node, sizeof one->node, "%s", node);
        snprintf(one->how, sizeof one->how, "%s", how);
    }
    f->n++;
    f->units += units.end - units.begin;
}

int failures_tell(struct failures *f)
{
    if (f->told == FAILURES_TOLD)
        notice("further failures are not told one by one");
    return f->told++ < FAILURES_TOLD;
}

static int by_units(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;

    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return (x->units.begin > y->units.begin)
           - (x->units.begin < y->units.begin);
}

void failures_list(struct failures *f)
{
    qsort(f->first, f->n < FAILURES_TOLD ? f->n : FAILURES_TOLD,
          sizeof *f->first, by_units);

    for (uint64_t i = 0; i < f->n && i < FAILURES_TOLD; i++) {
        const struct failure *one = &f->first[i];
        char range[UNIT_RANGE_MAX], text[TASK_TEXT_MAX];

        if (f->task && one->units.end - one->units.begin == 1) {
            f->task(f->arg, one->units.begin, text, sizeof text);
            notice("failed: %s: %s (%s)", text, one->how, one->node);
            continue;
        }
        notice("left out: frame %ju, %s %s, %s: %s", (uintmax_t)one->frame + 1,
               unit_words_noun(&f->words, one->units.end - one->units.begin),
               unit_words_range(&f->words, one->units, range), one->node,
               one->how);
    }
    if (f->n > FAILURES_TOLD)
        notice("%s: %ju more", f->task ? "failed" : "left out",
               (uintmax_t)(f->n - FAILURES_TOLD));
}

int failures_end(struct failures *f, const char *mend, struct es_error *err)
{
    const char *noun = f->words.one ? unit_words_noun(&f->words, f->units)
                                    : (f->units == 1 ? "unit" : "units");

    failures_list(f);
    if (f->task)
        return es_fail(err, ES_WORK, mend, "%ju task%s failed",
                       (uintmax_t)f->units, f->units == 1 ? "" : "s");
    return es_fail(err, ES_WORK, mend,
                   "%ju %s %s left out: %ju command%s failed",
                   (uintmax_t)f->units, noun, f->units == 1 ? "is" : "are",
                   (uintmax_t)f->n, f->n == 1 ? "" : "s");
}
