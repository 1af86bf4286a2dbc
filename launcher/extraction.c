/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/extraction.h"

int extraction_next(struct extraction *x, struct frame *f)
{
    if (x->next >= x->repeat)
        return 0;
    f->number = x->next++;
    f->begin = x->begin;
    f->end = x->end;
    f->label[0] = '\0';
    return 1;
}
