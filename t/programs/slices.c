/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slices.c - a program that stays alive from slice to slice, well or badly
 * behaved: slices [HOW [NODE]], HOW only on that node.
 *
 * It prints its units, one a line; what is wrong ends it with status 9.
 */
#include "launcher/libevenstep/evenstep.h"
#include "launcher/libevenstep/slice_message.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char *how = "";

static int is(const char *word)
{
    return strcmp(how, word) == 0;
}

/* HOW "unit-613": that unit kills who does it. */
static int is_bad(uint64_t unit)
{
    static const char prefix[] = "unit-";

    return strncmp(how, prefix, sizeof prefix - 1) == 0
           && strtoull(how + sizeof prefix - 1, NULL, 10) == unit;
}

/* --- by libevenstep ------------------------------------------------------- */

/* Of the slice, all that there is. */
static void print_lines(void)
{
    char text[4096];
    int fd = evenstep_lines();
    ssize_t n;

    if (fd < 0)
        err(9, "evenstep_lines");
    while ((n = read(fd, text, sizeof text)) > 0)
        if (fwrite(text, 1, (size_t)n, stdout) != (size_t)n)
            err(9, "stdout");
    if (n < 0)
        err(9, "read");
}

static void print_units(uint64_t begin, uint64_t end)
{
    if (is("frame") && begin < end)
        printf("%" PRIu64 " <%s>\n", evenstep_frame(), evenstep_label());
    if (is("lines"))
        print_lines();
    for (uint64_t i = begin; i < end && !is("frame") && !is("lines"); i++) {
        if (is_bad(i))
            raise(SIGKILL);
        printf("%" PRIu64 "\n", i);
    }
}

static void misbehave_in_slice(void)
{
    uint64_t begin, end;

    if (is("exit"))
        exit(0);
    if (is("fail"))
        errx(3, "my last words");
    if (is("kill"))
        raise(SIGKILL);
    if (is("close"))
        evenstep_close();
    if (is("close"))
        pause();
    if (is("next") && (evenstep_next(&begin, &end) != -1 || errno != EALREADY))
        errx(9, "a slice before the one before was done");
}

static int serve(void)
{
    uint64_t begin, end;
    int more, n = 0;

    if (is("early"))
        errx(4, "not my day");
    if (is("open"))
        pause();
    if (evenstep_open(is("differ") ? 99 : is("few") ? 3 : 100, 2) < 0)
        err(9, "evenstep_open");
    printf("outside\n"); /* not to be seen */
    if (is("never"))
        pause();
    while ((more = evenstep_next(&begin, &end)) > 0) {
        if (n++ == 1)
            misbehave_in_slice();
        print_units(begin, end);
        if (evenstep_done() < 0)
            err(9, "evenstep_done");
        if (is("enough") && n == 1)
            break;
        if (is("between") && n == 1)
            exit(0);
    }
    if (more < 0)
        err(9, "evenstep_next");
    if (!is("unclosed"))
        evenstep_close();
    printf("outside\n");
    if (is("late"))
        errx(5, "on my way out");
    return 0;
}

/* --- by hand -------------------------------------------------------------- */

static struct slice_message say(int fd, const struct slice_message *m)
{
    struct slice_message answer = {0};

    if (slice_message_send(fd, m) < 0 || slice_message_receive(fd, &answer) < 1)
        pause(); /* until the agent ends us */
    return answer;
}

static int call(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *path = getenv("EVENSTEP_SOCKET");
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

    if (!path || strlen(path) >= sizeof to.sun_path)
        errx(9, "no socket");
    memcpy(to.sun_path, path, strlen(path));
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) < 0)
        err(9, "connect");
    return fd;
}

/* Well behaved until it has a slice. */
static int by_hand(void)
{
    struct slice_message hello = {
        .type = SLICE_HELLO, .version = SLICE_VERSION, .units = 1};
    const struct slice_message next = {.type = SLICE_NEXT};
    struct slice_message done = {.type = SLICE_DONE}, slice;
    int fd = call();

    if (is("version"))
        hello.version++;
    if (say(fd, &hello).error)
        errx(6, "no welcome");
    slice = say(fd, &next);
    if (slice.type != SLICE_SLICE)
        return 0;
    done.id = slice.id + 1;
    if (is("garbage"))
        (void)!write(fd, "GET / HTTP/1.1\r\n\r\n", 18);
    else
        (void)say(fd, is("twice") ? &next : &done);
    pause();
    return 9;
}

int main(int argc, char **argv)
{
    const char *step_node = getenv("SLURMD_NODENAME");
    const char *node =
        getenv("EVENSTEP_NODE") ? getenv("EVENSTEP_NODE") : step_node;

    if (argc > 1 && (argc < 3 || (node && strcmp(argv[2], node) == 0)))
        how = argv[1];
    if (is("garbage") || is("twice") || is("wrong") || is("version"))
        return by_hand();
    return serve();
}
