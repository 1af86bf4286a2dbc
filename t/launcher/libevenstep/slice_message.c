/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/slice_message.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const struct slice_message sound[] = {
    {.type = SLICE_HELLO,
     .version = SLICE_VERSION,
     .rank = 3,
     .units = UINT64_MAX,
     .frames = 20},
    {.type = SLICE_WELCOME, .error = EBUSY},
    {.type = SLICE_NEXT},
    {.type = SLICE_SLICE,
     .id = 9,
     .frame = 2,
     .begin = 10,
     .end = UINT64_MAX,
     .label = "a label"},
    {.type = SLICE_OVER, .error = ECONNABORTED},
    {.type = SLICE_DONE, .id = 9},
    {.type = SLICE_TAKEN},
    {.type = SLICE_BYE},
    {.type = SLICE_LISTEN,
     .version = SLICE_VERSION,
     .rank = 3,
     .port = UINT16_MAX},
    {.type = SLICE_LISTENED, .error = ETIMEDOUT},
};

#define KINDS (sizeof sound / sizeof sound[0])

static int is_zero(const struct slice_message *m)
{
    static const struct slice_message none;

    return memcmp(m, &none, sizeof none) == 0;
}

static int read_one(const uint8_t *buf, size_t len, struct slice_message *m)
{
    memset(m, 1, sizeof *m);
    return slice_message_read(m, buf, len);
}

static void test_kind(const struct slice_message *want)
{
    struct slice_message m;
    struct writer w = {0};
    size_t cut = 0;
    int type = (int)want->type;

    slice_message_write(&w, want);
    ok(w.len <= SLICE_MESSAGE_MAX, "type %d: fits into the buffer", type);
    ok(read_one(w.buf, w.len, &m) == 0 && memcmp(&m, want, sizeof m) == 0,
       "type %d: comes back as it was", type);
    while (cut < w.len && read_one(w.buf, cut, &m) == -1 && is_zero(&m))
        cut++;
    ok(cut == w.len, "type %d: every proper prefix is refused, zeroed", type);
    write_u32(&w, 0);
    ok(read_one(w.buf, w.len, &m) == -1 && is_zero(&m),
       "type %d: with bytes behind it, refused", type);
    writer_clear(&w);
}

static void test_bad(void)
{
    struct slice_message m = sound[3];
    struct writer w = {0};

    m.end = 9;
    slice_message_write(&w, &m);
    ok(read_one(w.buf, w.len, &m) == -1, "a slice that ends before it begins");
    writer_clear(&w);
    m = sound[8];
    m.port++;
    slice_message_write(&w, &m);
    ok(read_one(w.buf, w.len, &m) == -1, "a port that is none");
    writer_clear(&w);
    write_u32(&w, SLICE_LISTENED + 1);
    ok(read_one(w.buf, w.len, &m) == -1, "a type that is none");
    writer_clear(&w);
    ok(read_one((const uint8_t *)"GET / HTTP/1.1", 14, &m) == -1,
       "what is from elsewhere");
}

static void test_socket(void)
{
    uint8_t large[2 * SLICE_MESSAGE_MAX] = {0, 0, 0, SLICE_NEXT};
    struct slice_message m;
    int fd[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) < 0)
        bail("no sockets");
    ok(slice_message_send(fd[0], &sound[3]) == 0
           && slice_message_send(fd[0], &sound[2]) == 0
           && slice_message_receive(fd[1], &m) == 1
           && memcmp(&m, &sound[3], sizeof m) == 0
           && slice_message_receive(fd[1], &m) == 1 && m.type == SLICE_NEXT,
       "messages stay apart on the way");
    ok(send(fd[0], large, sizeof large, 0) == sizeof large
           && slice_message_receive(fd[1], &m) == -1 && errno == EBADMSG
           && is_zero(&m),
       "one that is longer than any is none");
    ok(slice_message_send(fd[0], &sound[2]) == 0
           && slice_message_receive(fd[1], &m) == 1,
       "the next one is not hurt by it");
    close(fd[0]);
    ok(slice_message_receive(fd[1], &m) == 0 && is_zero(&m),
       "the end is told apart");
    ok(slice_message_send(fd[1], &sound[2]) == -1 && errno == EPIPE,
       "to nobody: EPIPE, no signal");
    close(fd[1]);
}

/* A file goes with one message, and with no other. */
static void test_file(void)
{
    struct slice_message m;
    FILE *text = tmpfile();
    char got[8] = "";
    int fd[2], file = 0;

    if (!text || fputs("line\n", text) < 0 || fflush(text) != 0
        || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) < 0)
        bail("no file, or no sockets");
    rewind(text);
    ok(slice_message_send_file(fd[0], &sound[3], fileno(text)) == 0
           && slice_message_receive_file(fd[1], &m, &file) == 1
           && memcmp(&m, &sound[3], sizeof m) == 0 && file >= 0,
       "a descriptor comes with a message");
    ok(file >= 0 && read(file, got, 5) == 5 && strcmp(got, "line\n") == 0,
       "and can be read from");
    ok(file >= 0 && (fcntl(file, F_GETFD) & FD_CLOEXEC), "by us alone");
    close(file);
    ok(slice_message_send(fd[0], &sound[2]) == 0
           && slice_message_receive_file(fd[1], &m, &file) == 1 && file == -1,
       "without one there is none");
    ok(slice_message_send_file(fd[0], &sound[3], fileno(text)) == 0
           && slice_message_receive(fd[1], &m) == 1 && m.type == SLICE_SLICE,
       "who does not know of it gets the message");
    close(fd[0]);
    close(fd[1]);
    fclose(text);
}

int main(void)
{
    for (size_t i = 0; i < KINDS; i++)
        test_kind(&sound[i]);
    test_bad();
    test_socket();
    test_file();
    return done();
}
