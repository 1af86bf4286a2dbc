/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * extraction.h - seed 1's extraction module: takes frames out of the work,
 * first in, first out.
 */
#ifndef LAUNCHER_EXTRACTION_H
#define LAUNCHER_EXTRACTION_H

#include "launcher/protocol.h"

struct frame { /* one piece of work that all nodes share */
    uint64_t number;
    uint64_t begin, end; /* its units, [begin, end) */
    char label[LABEL_MAX];
};

struct extraction {
    uint64_t begin, end; /* of every frame */
    uint64_t repeat;     /* frames in all */
    uint64_t next;       /* number of the next one */
};

/* The next frame; 1, or 0 if there is none left (*f untouched). */
int extraction_next(struct extraction *x, struct frame *f);

#endif
