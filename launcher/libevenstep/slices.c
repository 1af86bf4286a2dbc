/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's side of slice_message.h.  A process has one connection; every
 * call waits for the agent's answer.  Without an agent the process gets every
 * frame whole.
 */
#include "launcher/libevenstep/agent_socket.h"
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/slice_message.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum state { CLOSED, CONNECTED, ALONE };

static struct {
    enum state state;
    int fd;                     /* CONNECTED: to the agent */
    int asked;                  /* NEXT was sent and is not answered */
    int at_work;                /* the slice is not done */
    struct slice_message slice; /* the latest one */
    int has_lines;              /* and those are in: */
    int lines;
    uint64_t units, frames; /* ALONE */
    uint64_t next;          /* ALONE: number of the next frame */
} here;

/* --- with an agent -------------------------------------------------------- */

static void close_lines(void)
{
    if (here.has_lines)
        (void)close(here.lines); /* only read from */
    here.has_lines = 0;
}

static void hang_up(void)
{
    int saved = errno;

    close_lines();
    if (here.state == CONNECTED)
        (void)close(here.fd);
    memset(&here, 0, sizeof here);
    errno = saved;
}

static int send_to_agent(const struct slice_message *m)
{
    if (slice_message_send(here.fd, m) == 0)
        return 0;
    if (errno == EPIPE)
        errno = ECONNRESET;
    return -1;
}

/* Receive a message of the wanted type; for SLICE also OVER. */
static int receive_answer(enum slice_message_type wanted,
                          struct slice_message *answer)
{
    int file, rc = slice_message_receive_file(here.fd, answer, &file);

    if (rc == 0)
        errno = ECONNRESET;
    if (rc <= 0)
        return -1;
    if (file >= 0) {
        close_lines();
        here.has_lines = 1;
        here.lines = file;
    }
    if (answer->type == wanted
        || (wanted == SLICE_SLICE && answer->type == SLICE_OVER))
        return 0;
    errno = EBADMSG;
    return -1;
}

static int ask_agent(const struct slice_message *m,
                     enum slice_message_type wanted,
                     struct slice_message *answer)
{
    memset(answer, 0, sizeof *answer);
    return send_to_agent(m) < 0 ? -1 : receive_answer(wanted, answer);
}

/* An agent of before knows no flags: it is told of them where there are any. */
static int open_connected(const char *path,
                          uint64_t units,
                          uint64_t frames,
                          unsigned flags)
{
    struct slice_message hello = {.type = SLICE_HELLO,
                                  .version =
                                      flags ? SLICE_VERSION : SLICE_PLAIN,
                                  .rank = agent_socket_rank(),
                                  .units = units,
                                  .frames = frames,
                                  .flags = flags};
    struct slice_message answer;

    here.fd = agent_socket_connect(path);
    if (here.fd < 0)
        return -1;
    here.state = CONNECTED;
    if (ask_agent(&hello, SLICE_WELCOME, &answer) == 0 && answer.error == 0)
        return 1;
    if (answer.error != 0)
        errno = (int)answer.error;
    hang_up();
    return -1;
}

static int next_connected(void)
{
    struct slice_message answer;

    here.asked = 0;
    if (receive_answer(SLICE_SLICE, &answer) < 0)
        return -1;
    if (answer.type == SLICE_SLICE) {
        here.slice = answer;
        return 1;
    }
    if (answer.error == 0)
        return 0;
    errno = (int)answer.error;
    return -1;
}

static int done_connected(void)
{
    struct slice_message done = {.type = SLICE_DONE, .id = here.slice.id};
    struct slice_message answer;

    return ask_agent(&done, SLICE_TAKEN, &answer);
}

/* --- alone ---------------------------------------------------------------- */

static int next_alone(void)
{
    if (here.frames > 0 && here.next >= here.frames)
        return 0;
    memset(&here.slice, 0, sizeof here.slice);
    here.slice.frame = here.next++;
    here.slice.end = here.units;
    return 1;
}

/* --- both ----------------------------------------------------------------- */

EXPORT int evenstep_open(uint64_t units, uint64_t frames)
{
    return evenstep_open_flags(units, frames, 0);
}

EXPORT int evenstep_open_flags(uint64_t units, uint64_t frames, unsigned flags)
{
    const char *path = getenv("EVENSTEP_SOCKET");
    int is_bad = units == 0 || (flags & ~EVENSTEP_SURVIVES);

    if (here.state != CLOSED || is_bad) {
        errno = is_bad ? EINVAL : EISCONN;
        return -1;
    }
    if (path && *path)
        return open_connected(path, units, frames, flags);
    here.state = ALONE;
    here.units = units;
    here.frames = frames;
    return 0;
}

/* Send NEXT, unless it was sent before. */
static int ask_for_next(void)
{
    const struct slice_message next = {.type = SLICE_NEXT};

    if (here.state == CLOSED || here.at_work) {
        errno = here.at_work ? EALREADY : ENOTCONN;
        return -1;
    }
    if (here.asked || here.state == ALONE)
        return 0;
    if (fflush(stdout) != 0 /* this output belongs to no slice */
        || send_to_agent(&next) < 0)
        return -1;
    here.asked = 1;
    return 0;
}

EXPORT int evenstep_wait(int milliseconds)
{
    struct pollfd answer = {here.fd, POLLIN, 0};
    int rc;

    if (ask_for_next() < 0)
        return -1;
    if (here.state == ALONE)
        return 1;
    rc = poll(&answer, 1, milliseconds);
    return rc < 0 && errno == EINTR ? 0 : rc;
}

EXPORT int evenstep_next(uint64_t *begin, uint64_t *end)
{
    int rc;

    *begin = *end = 0;
    if (ask_for_next() < 0)
        return -1;
    rc = here.state == ALONE ? next_alone() : next_connected();
    if (rc <= 0)
        return rc;
    here.at_work = 1;
    *begin = here.slice.begin;
    *end = here.slice.end;
    return 1;
}

EXPORT uint64_t evenstep_frame(void)
{
    return here.slice.frame;
}

EXPORT const char *evenstep_label(void)
{
    return here.slice.label;
}

EXPORT int evenstep_lines(void)
{
    if (here.at_work && here.has_lines)
        return here.lines;
    errno = here.at_work ? ENOENT : EINVAL;
    return -1;
}

EXPORT int evenstep_done(void)
{
    if (!here.at_work) {
        errno = EINVAL;
        return -1;
    }
    if (fflush(stdout) != 0)
        return -1;
    if (here.state == CONNECTED && done_connected() < 0)
        return -1;
    here.at_work = 0;
    close_lines();
    return 0;
}

EXPORT void evenstep_close(void)
{
    const struct slice_message bye = {.type = SLICE_BYE};
    int saved = errno;

    if (here.state == CONNECTED)
        (void)send_to_agent(&bye); /* the agent may have gone before */
    hang_up();
    errno = saved;
}
