/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A caller is a connection; it has no seat until its HELLO.  What goes wrong
 * with one is heard when it is read from: a failed write shuts it down.
 */
#include "launcher/agent/feeder.h"
#include "launcher/base/step_dir.h"
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/slice_message.h"
#include "pmix_bcast/clock.h"
#include "policy/even.h"
#include "policy/shares.h"
#include "policy/threshold.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections without a seat; each says HELLO at once. */
#define UNSEATED_MAX 64

enum doing {
    ITS_OWN, /* neither of the next ones */
    ASKING,
    WORKING,
    PRINTED, /* waits for TAKEN */
};

struct caller {
    LIST_ENTRY(caller) next;
    struct feeder *feeder;
    struct seat *seat; /* NULL: it has none yet */
    int fd;
    struct event *on_readable;
};

struct seat {
    struct caller *caller; /* NULL: empty */
    enum doing doing;
    int owes; /* a part of the slice */
    struct slice part;
    int64_t since_ns; /* WORKING: that it has had it */
    int64_t elapsed_ns;
    int cpus; /* that its program may use; 0: none has come */
};

/* What is known of the seats' speeds. */
struct speeds {
    void *state; /* of even_kind; NULL: nothing, all parts are equal */
    struct completion *part; /* one a seat, workspace */
    double value[POLICY_PARAMS];
    struct threshold_noise noise;
    int is_begun;
};

struct feeder {
    struct event_base *base;
    const struct feeder_events *on;
    void *arg;
    char path[STEP_PATH_MAX];
    int fd;
    struct event *on_call;
    LIST_HEAD(caller_list, caller) callers;
    size_t unseated;
    struct seat *seat;
    uint32_t seats;
    struct slice *cut; /* one a seat, workspace */
    double *load;      /* one a seat: what it gets of a slice */
    struct speeds speeds;
    struct msg_idle brought; /* by the seats; units 0: none has come yet */
    struct msg_run slice;    /* that is given, if owed > 0 */
    int file;                /* of its lines; 0: none */
    int given;               /* a slice was, ever */
    uint32_t owed;           /* parts of it that are not done */
    int64_t elapsed_ns;      /* longest of those that are */
    int ended;
    uint32_t error; /* if ended */
    char why[80];   /* the last program of another version was refused */
};

/* --- callers come and go -------------------------------------------------- */

static void feeder_send(struct caller *c, const struct slice_message *m)
{
    if (slice_message_send(c->fd, m) < 0)
        (void)shutdown(c->fd, SHUT_RDWR); /* its end is heard by reading */
}

/* Its connection is left as it is, and returned. */
static int forget_caller(struct caller *c)
{
    int fd = c->fd;

    if (c->seat)
        c->seat->caller = NULL;
    else
        c->feeder->unseated--;
    LIST_REMOVE(c, next);
    if (c->on_readable)
        event_free(c->on_readable);
    free(c);
    return fd;
}

static void hang_up_caller(struct caller *c)
{
    (void)close(forget_caller(c));
}

/* why as feeder_events.left has it, but for what is owed. */
static void leave_seat(struct caller *c, const char *why, int culprit)
{
    struct feeder *f = c->feeder;
    struct seat *seat = c->seat;

    hang_up_caller(c);
    if (!seat)
        return;
    if (!why && seat->owes)
        why = "it closed before its slice was done";
    seat->doing = ITS_OWN;
    f->on->left(f->arg, why, culprit);
}

/* --- slices --------------------------------------------------------------- */

static void hand_out(struct feeder *f, struct seat *s)
{
    struct slice_message m = {.type = SLICE_SLICE,
                              .id = f->slice.id,
                              .frame = f->slice.frame,
                              .begin = s->part.begin,
                              .end = s->part.end};

    memcpy(m.label, f->slice.label, sizeof m.label);
    if (f->on->begun)
        f->on->begun(f->arg);
    s->doing = WORKING;
    s->since_ns = clock_ns();
    if (slice_message_send_file(s->caller->fd, &m, f->file > 0 ? f->file : -1)
        < 0)
        (void)shutdown(s->caller->fd, SHUT_RDWR); /* as feeder_send() */
}

static void close_file(struct feeder *f)
{
    if (f->file > 0)
        (void)close(f->file); /* only read from */
    f->file = 0;
}

/* -1 if memory ran out. */
static int speeds_make(struct speeds *s, uint32_t seats)
{
    policy_defaults(&even_kind, s->value);
    s->state = malloc(even_kind.state_bytes(seats, s->value));
    s->part = calloc(seats, sizeof *s->part);
    return s->state && s->part ? 0 : -1;
}

/* The first slice: a program that may use more CPUs counts as faster by that. */
static void speeds_begin(struct feeder *f)
{
    struct metric *metric = calloc(f->seats, sizeof *metric);
    const struct profile profile = {.influence = {[ELEMENT_C] = 1}};
    const struct policy_setup setup = {f->seats, metric, &profile,
                                       f->speeds.value};

    f->speeds.is_begun = 1;
    for (uint32_t i = 0; metric && i < f->seats; i++)
        metric[i].JL = metric[i].X[ELEMENT_C] =
            f->seat[i].cpus > 0 ? f->seat[i].cpus : 1;
    if (metric && even_kind.init(f->speeds.state, &setup) == 0) {
        even_kind.loads(f->speeds.state, f->load);
    } else { /* no memory: the parts stay equal */
        free(f->speeds.state);
        f->speeds.state = NULL;
    }
    free(metric);
}

/* All parts of a slice are done: cut the next one by what each seat took, if they
 * ended further apart than chance has it. */
static void speeds_learn(struct feeder *f)
{
    static const struct threshold_rule rule = {.unit = THRESHOLD_AUTO};
    struct speeds *s = &f->speeds;
    double first = 0, last = 0, limit;
    int worked = 0;

    for (uint32_t i = 0; i < f->seats; i++) {
        const struct seat *seat = &f->seat[i];
        double seconds = (double)seat->elapsed_ns * 1e-9;

        s->part[i] = (struct completion){
            .units = seat->part.end - seat->part.begin, .seconds = seconds};
        if (s->part[i].units == 0)
            continue;
        if (!worked++ || seconds < first)
            first = seconds;
        if (seconds > last)
            last = seconds;
    }
    limit = threshold_seconds(&rule, &s->noise, s->part, f->seats, 1);
    threshold_feedback(&s->noise, s->part, f->seats);
    (void)even_kind.adjust(s->state, s->part, last - first > limit, f->load);
}

static void part_done(struct feeder *f, struct seat *s)
{
    struct feeder_result result = {f->slice.id, 0};

    s->owes = 0;
    s->doing = ITS_OWN;
    if (s->elapsed_ns > f->elapsed_ns)
        f->elapsed_ns = s->elapsed_ns;
    result.elapsed_ns = f->elapsed_ns;
    feeder_send(s->caller, &(struct slice_message){.type = SLICE_TAKEN});
    f->owed--;
    if (f->owed > 0)
        return;
    close_file(f);
    if (f->speeds.state)
        speeds_learn(f);
    f->on->done(f->arg, &result);
}

static int all_ask(const struct feeder *f)
{
    for (uint32_t i = 0; i < f->seats; i++)
        if (!f->seat[i].caller || f->seat[i].doing != ASKING)
            return 0;
    return 1;
}

static void on_next(struct caller *c)
{
    struct feeder *f = c->feeder;
    struct seat *s = c->seat;

    if (s->doing != ITS_OWN) {
        leave_seat(c, "it asked for a slice before the one at hand was done",
                   1);
    } else if (f->ended) {
        feeder_send(
            c, &(struct slice_message){.type = SLICE_OVER, .error = f->error});
    } else if (s->owes) {
        hand_out(f, s);
    } else {
        s->doing = ASKING;
        if (!f->given && f->on->waits)
            f->on->waits(f->arg);
        if (f->owed == 0 && all_ask(f))
            f->on->idle(f->arg, &f->brought);
    }
}

static void on_slice_done(struct caller *c, uint64_t id)
{
    struct feeder *f = c->feeder;
    struct seat *s = c->seat;

    if (s->doing != WORKING || !s->owes || id != f->slice.id) {
        leave_seat(c, "it reported a slice that it does not have", 1);
        return;
    }
    s->elapsed_ns = clock_ns() - s->since_ns;
    s->doing = PRINTED;
    if (f->on->printed)
        f->on->printed(f->arg);
    else
        part_done(f, s);
}

/* --- what callers say ----------------------------------------------------- */

static uint32_t survives(const struct slice_message *m)
{
    return (m->flags & EVENSTEP_SURVIVES) != 0;
}

/* 0, or why there is no seat for this one. */
static uint32_t judge(const struct feeder *f, const struct slice_message *m)
{
    if (m->version != SLICE_VERSION && m->version != SLICE_PLAIN)
        return EPROTONOSUPPORT;
    if (m->rank >= f->seats || m->units == 0 || (m->flags & ~EVENSTEP_SURVIVES))
        return EINVAL;
    if (f->seat[m->rank].caller)
        return EBUSY;
    if (f->brought.units > 0
        && (m->units != f->brought.units || m->frames != f->brought.frames
            || survives(m) != f->brought.survives))
        return EPROTO;
    return 0;
}

/* Its seat will stay empty: tell why. */
static void refused(struct feeder *f,
                    uint32_t error,
                    const struct slice_message *hello)
{
    const char *why =
        error == EPROTO
            ? "it opened with other numbers than another task of the node"
            : "it opened with a number that cannot be";

    if (error == EPROTONOSUPPORT) {
        snprintf(f->why, sizeof f->why,
                 "its libevenstep speaks version %u, this agent up to %u",
                 hello->version, SLICE_VERSION);
        why = f->why;
    }
    f->on->left(f->arg, why, 1);
}

/* 0: that is not known. */
static int cpus_of(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    cpu_set_t cpus;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0
                   && sched_getaffinity(peer.pid, sizeof cpus, &cpus) == 0
               ? CPU_COUNT(&cpus)
               : 0;
}

static void on_hello(struct caller *c, const struct slice_message *m)
{
    struct feeder *f = c->feeder;
    struct slice_message welcome = {.type = SLICE_WELCOME,
                                    .error = judge(f, m)};

    feeder_send(c, &welcome);
    if (welcome.error) {
        hang_up_caller(c);
        if (welcome.error != EBUSY)
            refused(f, welcome.error, m);
        return;
    }
    f->unseated--;
    f->brought = (struct msg_idle){m->units, m->frames, survives(m)};
    c->seat = &f->seat[m->rank];
    c->seat->caller = c;
    c->seat->cpus = cpus_of(c->fd);
}

static void on_listen(struct caller *c, const struct slice_message *m)
{
    struct feeder *f = c->feeder;

    if (f->on->listens)
        f->on->listens(f->arg, forget_caller(c), m);
    else
        hang_up_caller(c);
}

static void on_caller_message(struct caller *c, const struct slice_message *m)
{
    if (!c->seat && m->type == SLICE_HELLO)
        on_hello(c, m);
    else if (!c->seat && m->type == SLICE_LISTEN)
        on_listen(c, m);
    else if (c->seat && m->type == SLICE_NEXT)
        on_next(c);
    else if (c->seat && m->type == SLICE_DONE)
        on_slice_done(c, m->id);
    else if (c->seat && m->type == SLICE_BYE)
        leave_seat(c, NULL, 0);
    else
        leave_seat(c, "it sent what libevenstep does not send", 1);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct caller *c = arg;
    struct slice_message m;
    int rc = slice_message_receive((int)fd, &m);

    (void)what;
    if (rc > 0)
        on_caller_message(c, &m);
    else if (rc < 0 && errno == EBADMSG)
        leave_seat(c, "it sent what libevenstep does not send", 1);
    else if (rc == 0 || errno != EAGAIN)
        leave_seat(c, "it ended without evenstep_close()", 0);
}

/* Of this user; others cannot come as far (step_dir.h). */
static int is_ours(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0
           && peer.uid == getuid();
}

static void on_call(evutil_socket_t fd, short what, void *arg)
{
    struct feeder *f = arg;
    struct caller *c;
    int call = accept4((int)fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)what;
    if (call < 0)
        return;
    c = f->unseated < UNSEATED_MAX && is_ours(call) ? calloc(1, sizeof *c)
                                                    : NULL;
    if (!c) {
        (void)close(call);
        return;
    }
    c->feeder = f;
    c->fd = call;
    LIST_INSERT_HEAD(&f->callers, c, next);
    f->unseated++;
    c->on_readable =
        event_new(f->base, call, EV_READ | EV_PERSIST, on_readable, c);
    if (!c->on_readable || event_add(c->on_readable, NULL) < 0)
        hang_up_caller(c);
}

/* --- public --------------------------------------------------------------- */

static int start_listening(struct feeder *f, const char *step)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    errno = step_dir_put(step, "", NULL, 0);
    if (errno)
        return -1;
    if (step_dir_path(f->path, step, STEP_SOCKET) < 0)
        return -1;
    memcpy(at.sun_path, f->path, sizeof f->path);
    f->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (f->fd < 0)
        return -1;
    (void)unlink(f->path); /* of a predecessor that was killed */
    if (bind(f->fd, (const struct sockaddr *)&at, sizeof at) < 0
        || listen(f->fd, SOMAXCONN) < 0)
        return -1;
    f->on_call = event_new(f->base, f->fd, EV_READ | EV_PERSIST, on_call, f);
    return f->on_call ? event_add(f->on_call, NULL) : -1;
}

int feeder_open(struct feeder **f,
                struct event_base *base,
                const char *step,
                uint32_t seats,
                int by_speed,
                const struct feeder_events *on,
                void *arg,
                struct es_error *err)
{
    struct feeder *new = calloc(1, sizeof *new);

    if (!new)
        return es_no_memory(err);
    new->base = base;
    new->on = on;
    new->arg = arg;
    new->fd = -1;
    new->seats = seats;
    LIST_INIT(&new->callers);
    new->seat = calloc(seats, sizeof *new->seat);
    new->cut = calloc(seats, sizeof *new->cut);
    new->load = calloc(seats, sizeof *new->load);
    if (!new->seat || !new->cut || !new->load)
        goto fail;
    for (uint32_t i = 0; i < seats; i++)
        new->load[i] = 1;
    if (by_speed && seats > 1 && speeds_make(&new->speeds, seats) < 0)
        goto fail;
    if (start_listening(new, step) < 0)
        goto fail;
    *f = new;
    return 0;
fail:
    es_fail(err, ES_ENV, "see that there is room in it on the node",
            "no socket for %u programs in /dev/shm: %s", seats,
            strerror(errno));
    feeder_close(new);
    return -1;
}

int feeder_survives(const struct feeder *f)
{
    return f->brought.survives != 0;
}

const char *feeder_path(const struct feeder *f)
{
    return f->path;
}

void feeder_give(struct feeder *f, const struct msg_run *slice, int file)
{
    close_file(f);
    f->file = file > 0 ? fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : 0;
    f->slice = *slice;
    f->given = 1;
    f->owed = f->seats;
    f->elapsed_ns = 0;
    if (f->speeds.state && !f->speeds.is_begun)
        speeds_begin(f);
    /* It fails for bad arguments only, and these are not. */
    (void)shares_cut(slice->begin, slice->end, 1, f->load, f->cut, f->seats);
    for (uint32_t i = 0; i < f->seats; i++) {
        f->seat[i].owes = 1;
        f->seat[i].part = f->cut[i];
    }
    for (uint32_t i = 0; i < f->seats; i++)
        if (f->seat[i].doing == ASKING)
            hand_out(f, &f->seat[i]);
}

void feeder_taken(struct feeder *f)
{
    for (uint32_t i = 0; i < f->seats; i++)
        if (f->seat[i].doing == PRINTED) {
            part_done(f, &f->seat[i]);
            return;
        }
}

void feeder_end(struct feeder *f, uint32_t error)
{
    struct slice_message over = {.type = SLICE_OVER};

    if (!f->ended)
        f->error = error;
    f->ended = 1;
    over.error = f->error;
    for (uint32_t i = 0; i < f->seats; i++)
        if (f->seat[i].doing == ASKING) {
            f->seat[i].doing = ITS_OWN;
            feeder_send(f->seat[i].caller, &over);
        }
}

void feeder_close(struct feeder *f)
{
    int saved = errno;
    struct caller *c;

    if (!f)
        return;
    while ((c = LIST_FIRST(&f->callers)) != NULL)
        hang_up_caller(c);
    if (f->on_call)
        event_free(f->on_call);
    if (f->fd >= 0) {
        (void)close(f->fd);
        (void)unlink(f->path);
    }
    close_file(f);
    free(f->seat);
    free(f->cut);
    free(f->load);
    free(f->speeds.state);
    free(f->speeds.part);
    free(f);
    errno = saved;
}
