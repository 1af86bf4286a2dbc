/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/failures.h"
#include "launcher/base/notice.h"

#include <stdio.h>

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

void failures_list(const struct failures *f)
{
    for (uint64_t i = 0; i < f->n && i < FAILURES_TOLD; i++) {
        const struct failure *one = &f->first[i];
        char range[UNIT_RANGE_MAX];

        notice("left out: frame %ju, %s %s, %s: %s", (uintmax_t)one->frame + 1,
               unit_words_noun(&f->words, one->units.end - one->units.begin),
               unit_words_range(&f->words, one->units, range), one->node,
               one->how);
    }
    if (f->n > FAILURES_TOLD)
        notice("left out: %ju more", (uintmax_t)(f->n - FAILURES_TOLD));
}

int failures_end(const struct failures *f,
                 const char *mend,
                 struct es_error *err)
{
    const char *noun = f->words.one ? unit_words_noun(&f->words, f->units)
                                    : (f->units == 1 ? "unit" : "units");

    failures_list(f);
    return es_fail(err, ES_WORK, mend,
                   "%ju %s %s left out: %ju command%s failed",
                   (uintmax_t)f->units, noun, f->units == 1 ? "is" : "are",
                   (uintmax_t)f->n, f->n == 1 ? "" : "s");
}
