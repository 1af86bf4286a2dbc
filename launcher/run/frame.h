/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frame.h - a frame of a run, and what is known of its pieces.
 */
#ifndef LAUNCHER_RUN_FRAME_H
#define LAUNCHER_RUN_FRAME_H

#include "launcher/base/spool.h"
#include "launcher/run/returned.h"
#include "launcher/wire/protocol.h"
#include "policy/dispatch.h"

struct frame { /* one piece of work that all nodes share */
    uint64_t number;
    uint64_t begin, end; /* its units, [begin, end) */
    int is_open;         /* so far: more may come */
    char label[LABEL_MAX];
    char work[WORK_NAME_MAX]; /* its type; "": of the command line */
    size_t type;              /* its place in work_types.h */
    uint64_t most;            /* units of any frame that is known to come after
                                 it; 0: of none */
};

/* What asking for the next frame comes to. */
enum extracted { EXTRACTED_FRAME, EXTRACTED_LATER, EXTRACTED_END };

struct task_mark {  /* of a task that has ended, for the journal */
    uint64_t text;  /* XXH3-64 of its values */
    uint64_t bytes; /* that it has printed */
};

struct piece {                  /* of a frame, sent to a node */
    struct dispatch_piece part; /* as the dispatcher has it */
    const struct frame *frame;
    uint32_t slot;   /* of the node, its number there */
    int status;      /* exit status of the command; -1 until it is known */
    int signal;      /* that killed it, or 0 */
    uint64_t input;  /* bytes of --lines that it was given */
    uint64_t output; /* bytes that it has printed */
    int has_text;
    uint64_t text;                /* XXH3-64 of what it was given of --lines */
    const struct task_mark *task; /* of each unit; NULL: they are no tasks */
    struct spool out;
    struct returned back; /* its files */
};

struct queued { /* a frame that was taken from a queue */
    struct frame frame;
    size_t source;
    int is_of_file; /* whose lines can be mended */
    int is_gone;    /* and have been taken away */
    size_t taken;   /* in a journal: which of all that its queues have had */
};

struct kept { /* a slice that is in the journal of a run before */
    uint64_t frame;
    struct slice units;
    uint64_t bytes;   /* of output */
    int64_t at;       /* where its output begins in the file: */
    uint64_t whole;   /* bytes that are there */
    uint64_t skip;    /* of these its own stand behind so many */
    size_t line;      /* which slice of the journal, done or left out, from 0 */
    size_t failed;    /* it was left out: 1 + which failure; 0: it is done */
    size_t taken;     /* of a queue: 1 + which frame of all that it has had */
    size_t mark;      /* of its files the first one's, ... */
    uint32_t n_marks; /* ... of these */
    int is_same;      /* the text of all units was as it is now */
    int has_text;
    uint64_t text;  /* as of struct piece */
    size_t tasks;   /* 1 + where the marks of its units are; 0: it has none */
    int is_gone;    /* it does not count any more */
    int is_dropped; /* and so says the journal */
};

#endif
