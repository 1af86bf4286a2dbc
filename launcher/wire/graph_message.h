/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_message.h - the messages between the front end and its agents about a
 * task graph, as bodies of pmix_bcast/message.h.
 *
 * A token is what a task waits for: a file, or that another task is done.  The
 * front end numbers files and tasks; names of files matter only inside the
 * folder that a task runs in.
 *
 *   kind      from       body
 *   OPEN      front end  folder text, run text, port u32, keep u32
 *   OPENED    agent      cores u32, why text, n u32, n × file, memory u64
 *   TASK      front end  id u32, core u32, order u32, makes u32, name text,
 *                        argc u32, argc × text, n u32, n × token u32,
 *                        n u32, n × named (inputs), n u32, n × named (outputs),
 *                        cores u32, of u32
 *   DROP      front end  id u32                 (do not run this task)
 *   BRING     front end  token u32, from u32, is_file u32, file
 *   BROUGHT   agent      token u32, from u32, elapsed_ns u64, why text
 *   DONE      agent      id u32, status u32, signal u32, exec_errno u32,
 *                        elapsed_ns u64, missing text, out blob, err blob,
 *                        n u32, n × file
 *   CLOSE     front end  -                      (remove the folder)
 *
 *   file   number u32, mode u32, bytes u64, digest blob of 32 bytes (all
 *          zero: not known)
 *   named  number u32, name text
 *
 * Decoders return 0, or -1 if the body is anything else; then the message is
 * zeroed.  Pointers of a decoded message point into the body or into `room`,
 * one allocation that the caller frees.
 */
#ifndef LAUNCHER_WIRE_GRAPH_MESSAGE_H
#define LAUNCHER_WIRE_GRAPH_MESSAGE_H

#include "pmix_bcast/bytes.h"
#include "pmix_bcast/exchange.h"

#define GRAPH_NAME_MAX 1024u  /* bytes of a file's name, with its NUL */
#define GRAPH_TEXT_MAX 512u   /* bytes of a reason, or a task's name */
#define GRAPH_SAID_MAX 65536u /* bytes kept of the end of a task's stdout */

/* Written, see PROTOCOL_VERSION of protocol.h. */
enum graph_kind {
    GRAPH_MSG_OPEN = 0,
    GRAPH_MSG_OPENED = 1,
    GRAPH_MSG_TASK = 2,
    GRAPH_MSG_DROP = 3,
    GRAPH_MSG_BRING = 4,
    GRAPH_MSG_BROUGHT = 5,
    GRAPH_MSG_DONE = 6,
    GRAPH_MSG_CLOSE = 7,
    GRAPH_MSG_KINDS = 8,
};

struct graph_open {
    char folder[4096]; /* absolute path in which the run's folder is created */
    char run[64];      /* name of the run, without a slash */
    uint32_t port;     /* of the front end's exchange */
    uint32_t keep;     /* 1: keep the folder if the run ends early */
};
struct graph_opened {
    uint32_t cores;
    char why[GRAPH_TEXT_MAX];   /* why the node cannot take part; "": it can */
    struct exchange_file *file; /* files that an earlier run has left there */
    uint32_t files;
    uint64_t memory; /* bytes that tasks may use; 0: not known */
    void *room;
};
struct graph_named {
    uint32_t number;
    char *name; /* relative, without ".." */
};
struct graph_task {
    uint32_t id, core;
    uint32_t order; /* a core runs the task with the lowest first */
    uint32_t makes; /* the token that says that this task is done */
    char name[GRAPH_TEXT_MAX];
    char **argv; /* NULL-ended */
    uint32_t *token;
    struct graph_named *input, *output;
    uint32_t tokens, inputs, outputs;
    uint32_t cores; /* that it has for itself, from core on; at least 1 */
    uint32_t of;    /* all cores of the node, to bind it; 0: do not */
    void *room;
};
struct graph_bring {
    uint32_t token;
    uint32_t from;             /* rank or FRONT_END */
    uint32_t is_file;          /* 0: this message is the token */
    struct exchange_file file; /* its number is that of the token */
};
struct graph_brought {
    uint32_t token, from;
    uint64_t elapsed_ns;
    char why[GRAPH_TEXT_MAX]; /* why it failed; "": the file is here */
};
struct graph_done {
    uint32_t id, status, signal, exec_errno;
    uint64_t elapsed_ns;
    char missing[GRAPH_NAME_MAX]; /* an output that it did not create; with a /
                                     behind it: it is a directory */
    const uint8_t *out, *err;     /* the end of its stdout and stderr */
    size_t out_len, err_len;
    struct exchange_file *file; /* its outputs, in order; none if it failed */
    uint32_t files;
    void *room;
};

void graph_write_open(struct writer *w, const struct graph_open *m);
int graph_read_open(struct graph_open *m, const uint8_t *body, size_t len);
void graph_write_opened(struct writer *w, const struct graph_opened *m);
int graph_read_opened(struct graph_opened *m, const uint8_t *body, size_t len);
void graph_write_task(struct writer *w, const struct graph_task *m);
int graph_read_task(struct graph_task *m, const uint8_t *body, size_t len);
void graph_write_bring(struct writer *w, const struct graph_bring *m);
int graph_read_bring(struct graph_bring *m, const uint8_t *body, size_t len);
void graph_write_brought(struct writer *w, const struct graph_brought *m);
int graph_read_brought(struct graph_brought *m,
                       const uint8_t *body,
                       size_t len);
void graph_write_done(struct writer *w, const struct graph_done *m);
int graph_read_done(struct graph_done *m, const uint8_t *body, size_t len);
void graph_write_drop(struct writer *w, uint32_t id);
int graph_read_drop(uint32_t *id, const uint8_t *body, size_t len);

/* May a file have this name?  It must be relative, without "." and "..". */
int graph_name_is_good(const char *name);

#endif
