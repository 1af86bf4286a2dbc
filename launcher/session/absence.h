/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * absence.h - which nodes' agents have not come, and what Slurm says of these
 * nodes: one sinfo, asked when the time to come is over.
 */
#ifndef LAUNCHER_SESSION_ABSENCE_H
#define LAUNCHER_SESSION_ABSENCE_H

#include <stddef.h>

struct event_base;
struct absence;

/* Is this word (len bytes) the state of a node that is at work, or free to be?
 * sinfo(1), "NODE STATE CODES"; flags may stand behind the word. */
int absence_is_well(const char *word, size_t len);

struct absent_nodes {
    char text[1600]; /* "n2 (down*: Not responding) and n5" */
    char *list;      /* of all, "n2,n5" */
    size_t n;        /* 0: it cannot be told, and both are "" */
};

/* They are valid during the call, after which nothing of the absence is used any
 * more. */
typedef void (*absence_told_fn)(void *arg, const struct absent_nodes *absent);

/* Ask of the nodes of Slurm's list; came: the n names of those that did, which are
 * copied.  told is called from the loop, once.  0, or -1: it cannot be asked. */
int absence_ask(struct absence **a,
                struct event_base *base,
                const char *list,
                const char *const came[],
                size_t n,
                absence_told_fn told,
                void *arg);
/* NULL is allowed; may be called from told(). */
void absence_destroy(struct absence *a);

/* What told() is given, of what `sinfo -h -N -o "%N|%T|%E"` prints, a line a node
 * and partition, and of the sorted names of those that came; list has room for as
 * much as sinfo has.  Pure. */
void absence_read(struct absent_nodes *absent,
                  char *sinfo,
                  char *const came[],
                  size_t n);

#endif
