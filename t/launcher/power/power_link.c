/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's end of the link to the guard, which is played here: whatever is
 * at the other end, the agent's loop goes on.
 */
#include "launcher/power/power_link.h"
#include "launcher/power/power_socket.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN_MS 300 /* some looks for the guard */

static char root[] = "/tmp/power_link.XXXXXX";
static char dir[64];
static struct event_base *base;
static struct power_place place = {.dir = dir, .job = 7, .step = 1};
static struct msg_power told;         /* the last one */
static struct msg_limited answer;     /* likewise */
static struct msg_energy energy;      /* likewise */
static int powers, answers, energies; /* how many */
static size_t parts;                  /* that the node was last said to have */

static void on_power(void *arg, const struct msg_power *m)
{
    (void)arg;
    told = *m;
    powers++;
}

static void on_limited(void *arg, const struct msg_limited *m)
{
    (void)arg;
    answer = *m;
    answers++;
}

static void on_energy(void *arg, const struct msg_energy *m)
{
    (void)arg;
    energy = *m;
    energies++;
}

static void on_parts(void *arg, const struct node_parts *p)
{
    (void)arg;
    parts = p->n;
}

static const struct power_link_events events = {on_power, on_limited, on_energy,
                                                on_parts};

static struct power_link *start(void)
{
    powers = answers = energies = 0;
    return power_link_start(base, dir, "7.1", &events, NULL);
}

static void turn(int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    (void)event_base_loopexit(base, &tv);
    (void)event_base_dispatch(base);
}

static void say(int fd, const char *text)
{
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        bail("%s: %s", text, strerror(errno));
}

static const char *hear(int fd)
{
    static char text[POWER_LINE_MAX];
    ssize_t n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* A guard that listens; it is called when somebody looks. */
static int listen_as_guard(void)
{
    struct es_error err = {0};
    int listener = power_socket_listen(&place, getuid(), &err);

    if (listener < 0)
        bail("%s", err.what);
    return listener;
}

/* The other end of a link that has been told of a limit. */
static int meet(int listener)
{
    int fd;

    turn(TURN_MS);
    fd = power_socket_accept(listener, getuid());
    if (fd < 0)
        bail("nobody calls");
    say(fd, "power rapl uW 60 30 150");
    turn(TURN_MS);
    return fd;
}

static void leave(int listener, int fd, struct power_link *l)
{
    power_link_stop(l);
    if (fd >= 0)
        close(fd);
    close(listener);
    power_socket_remove(&place);
}

static void test_talk(void)
{
    struct power_link *l = start();
    int listener = -1, fd;

    turn(TURN_MS);
    is_int(powers, 0, "no guard yet");
    listener = listen_as_guard();
    fd = meet(listener);
    ok(powers == 1 && told.limit == 60 && told.floor == 30
           && told.ceiling == 150,
       "it comes, and tells what there is");
    power_link_set(l, 90, NULL, 0);
    say(fd, "energy 5000000 1000000000");
    turn(TURN_MS);
    ok(energies == 1 && energy.source == ENERGY_COUNTED && energy.uj == 5000000
           && energy.ns == 1000000000 && answers == 0,
       "the energy is heard, and is no answer");
    is_str(hear(fd), "90", "a limit is asked for");
    say(fd, "set 90");
    turn(TURN_MS);
    ok(answers == 1 && answer.limit == 90, "and answered");
    power_link_set(l, 100, NULL, 0);
    say(fd, "error it sticks");
    turn(TURN_MS);
    ok(answers == 2 && answer.limit == 90
           && strcmp(answer.text, "it sticks") == 0,
       "one that cannot be set: the last one stands");
    say(fd, "set 5");
    turn(TURN_MS);
    is_int(answers, 2, "an answer to no question is none");
    power_link_set(l, 0, NULL, 0);
    close(fd);
    turn(TURN_MS);
    ok(answers == 3 && answer.limit == 90 && answer.text[0] == '\0',
       "it ends in between: the question is answered");
    power_link_set(l, 60, NULL, 0);
    is_int(answers, 4, "so are those that follow, at once");
    leave(listener, -1, l);
}

/* A limit, and the parts of it; two orders may be underway. */
static void test_parts(void)
{
    static const uint64_t part[] = {40, 50};
    struct power_link *l = start();
    int listener = listen_as_guard();
    int fd = meet(listener);

    say(fd, "parts 0.0002 0.005 0.8 1/100/0 1/50/0 : 101/0 102/1");
    turn(TURN_MS);
    is_int((int)parts, 2, "the guard tells of parts");
    power_link_set(l, 90, part, 2);
    power_link_set(l, 80, NULL, 0);
    is_str(hear(fd), "90 40 50", "which are given limits");
    is_str(hear(fd), "80", "and then the node is");
    say(fd, "set 90");
    turn(TURN_MS);
    ok(answers == 1 && answer.limit == 90, "the first is answered");
    say(fd, "parts 0.0002 0.005 0.8 1/100/0 2/1/0 :");
    turn(TURN_MS);
    ok(parts == 0 && answers == 1, "parts that cannot be are none");
    power_link_set(l, 70, NULL, 0);
    close(fd);
    turn(TURN_MS);
    is_int(answers, 3, "the guard ends: both others are, too");
    leave(listener, -1, l);
}

static void test_silent(void)
{
    struct power_link *l = start();
    int listener = listen_as_guard();
    int fd = meet(listener);

    power_link_set(l, 90, NULL, 0);
    turn(POWER_ANSWER_MS - 500);
    is_int(answers, 0, "a guard that does not answer is waited for");
    turn(1000);
    ok(answers == 1 && answer.limit == 0
           && strcmp(answer.text, "evenstep-power does not answer") == 0,
       "and left after a while, with the reason");
    is_str(hear(fd), "90", "should it go on, it hears what was asked for");
    ok(recv(fd, &(char){0}, 1, MSG_DONTWAIT) == 0, "and that it was left");
    leave(listener, fd, l);
}

/* As many as may wait do so: one more who calls would have to wait, too. */
static void test_full(void)
{
    struct power_link *l;
    int listener = listen_as_guard(), crowd[8], n = 0;

    while (n < 8 && (crowd[n] = power_socket_call(&place)) >= 0)
        n++;
    ok(n > 0 && n < 8 && errno == EAGAIN, "a guard is busy with %d callers", n);
    l = start();
    turn(TURN_MS);
    is_int(powers, 0, "the agent does not wait for it");
    while (n > 0)
        close(crowd[--n]);
    for (int i = 0; i < 8; i++) {
        int fd = power_socket_accept(listener, getuid());

        if (fd >= 0)
            close(fd);
    }
    n = meet(listener);
    is_int(powers, 1, "and finds it when it has time");
    leave(listener, n, l);
}

/* At the guard's name, as this program is: power_socket_listen() would not. */
static int listen_as_stranger(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char host[65] = "";
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

    (void)gethostname(host, sizeof host - 1);
    snprintf(name.sun_path, sizeof name.sun_path, "%.40s/@%.40s.7.1", dir,
             host);
    return fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0
                   && chmod(name.sun_path, 0777) == 0 && listen(fd, 5) == 0
               ? fd
               : -1;
}

/* Another user at the name, be it that root has let him. */
static void test_stranger(void)
{
    struct power_link *l;
    int ready[2], enough[2], listener, fd;
    char byte;
    pid_t pid;

    if (getuid() != 0) {
        skip("another user's socket", "only root can be another user");
        return;
    }
    if (pipe(ready) < 0 || pipe(enough) < 0 || chown(dir, 65534, 65534) < 0)
        bail("no stranger");
    pid = fork();
    if (pid == 0) {
        close(enough[1]);
        if (setgid(65534) < 0 || setuid(65534) < 0 || listen_as_stranger() < 0)
            _exit(1);
        (void)!write(ready[1], "", 1);
        (void)!read(enough[0], &byte, 1);
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1 || chown(dir, 0, 0) < 0)
        bail("no stranger");
    ok(power_socket_call(&place) < 0, "another user's socket is not believed");
    l = start();
    turn(TURN_MS);
    is_int(powers, 0, "the agent goes on to look for its guard");
    close(enough[1]);
    (void)waitpid(pid, NULL, 0);
    listener = listen_as_guard();
    fd = meet(listener);
    is_int(powers, 1, "which takes the name when the other has gone");
    leave(listener, fd, l);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    if (!mkdtemp(root) || chmod(root, 0755) < 0)
        bail("no directory");
    snprintf(dir, sizeof dir, "%s/power", root);
    (void)alarm(60);
    base = event_base_new();
    if (!base || power_dir_make(dir) < 0)
        bail("no directory");
    test_talk();
    test_parts();
    test_silent();
    test_full();
    test_stranger();
    event_base_free(base);
    (void)rmdir(dir);
    (void)rmdir(root);
    return done();
}
