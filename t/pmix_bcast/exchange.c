/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two exchanges over a real connection: files of every awkward size arrive as
 * they were, in both directions, and what cannot be had is told.
 */
#include "pmix_bcast/exchange.h"
#include "pmix_bcast/channel.h"
#include "pmix_bcast/mesh.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (256u << 10) /* as exchange.c's */
#define AHEAD 8            /* likewise: files asked for at once */
#define FILES 24           /* more than may be asked for at once */

static char folder[] = "/tmp/evenstep-exchange.XXXXXX";
static struct event_base *base;
static struct secret secret;

struct side {
    struct exchange *exchange;
    struct mesh *mesh;
    struct listener *listener;
    struct endpoint at;
    int good, bad;      /* fetched() so far */
    char why[200];      /* the last that was bad */
    int64_t elapsed_ns; /* the last */
    int until;          /* so many: leave the loop */
};
static struct side a, b;

static void path_of(char *path, size_t size, const char *side, uint32_t file)
{
    snprintf(path, size, "%s/%s%u", folder, side, file);
}

static size_t size_of(uint32_t file)
{
    static const size_t sizes[] = {0,         1,         CHUNK - 1, CHUNK,
                                   CHUNK + 1, 2 * CHUNK, 3000000,   17};

    return sizes[file % 8];
}

static void make_file(const char *side, uint32_t file)
{
    size_t size = size_of(file);
    char path[200], *bytes = malloc(size + 1);
    FILE *f;

    path_of(path, sizeof path, side, file);
    f = fopen(path, "w");
    if (!bytes || !f)
        bail("cannot make %s", path);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 2654435761u >> 13 ^ file);
    if (fwrite(bytes, 1, size, f) != size || fclose(f) != 0)
        bail("cannot write %s", path);
    free(bytes);
}

static int is_same(const char *one, const char *other, uint32_t file)
{
    char path[2][200], command[500];

    path_of(path[0], sizeof path[0], one, file);
    path_of(path[1], sizeof path[1], other, file);
    snprintf(command, sizeof command, "cmp -s %s %s", path[0], path[1]);
    return system(command) == 0;
}

static int on_open_a(void *arg, uint32_t file)
{
    char path[200];

    (void)arg;
    path_of(path, sizeof path, "a", file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int on_open_b(void *arg, uint32_t file)
{
    char path[200];

    (void)arg;
    path_of(path, sizeof path, "b", file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void on_fetched(void *arg,
                       uint32_t from,
                       uint32_t file,
                       int64_t elapsed_ns,
                       const char *why)
{
    struct side *s = arg;

    (void)from;
    (void)file;
    s->elapsed_ns = elapsed_ns;
    if (why)
        snprintf(s->why, sizeof s->why, "%s", why);
    *(why ? &s->bad : &s->good) += 1;
    if (s->good + s->bad >= s->until)
        event_base_loopbreak(base);
}

static void open_side(struct side *s,
                      uint32_t rank,
                      int (*on_open)(void *, uint32_t))
{
    struct exchange_setup setup = {.base = base,
                                   .secret = &secret,
                                   .self = rank,
                                   .open = on_open,
                                   .fetched = on_fetched,
                                   .arg = s};
    struct listener_setup door = {.base = base,
                                  .secret = &secret,
                                  .purpose = PURPOSE_MESH,
                                  .self = rank,
                                  .loopback = 1,
                                  .called = mesh_take};
    struct es_error err = {0};

    memset(s, 0, sizeof *s);
    s->exchange = exchange_create(&setup);
    s->mesh = door.arg = mesh_create(base);
    if (!s->exchange || !s->mesh
        || listener_open(&s->listener, &door, &err) < 0)
        bail("%s", err.what);
    mesh_set_exchange(s->mesh, s->exchange);
    snprintf(s->at.address, sizeof s->at.address, "127.0.0.1");
    s->at.port = listener_port(s->listener);
}

static void close_side(struct side *s)
{
    if (s->mesh)
        mesh_set_exchange(s->mesh, NULL);
    exchange_destroy(s->exchange);
    listener_close(s->listener);
    mesh_destroy(s->mesh);
    memset(s, 0, sizeof *s);
}

static void open_both(void)
{
    open_side(&a, 0, on_open_a);
    open_side(&b, 1, on_open_b);
}

static void close_both(void)
{
    close_side(&a);
    close_side(&b);
}

/* Run until s has heard of so many more. */
static void await(struct side *s, int more)
{
    struct timeval late = {30, 0};

    s->until = s->good + s->bad + more;
    event_base_loopexit(base, &late);
    event_base_dispatch(base);
}

static int fetch(struct side *s,
                 const char *name,
                 uint32_t from,
                 const struct endpoint *at,
                 uint32_t file,
                 uint64_t bytes)
{
    struct exchange_file f = {.number = file, .mode = 0640, .bytes = bytes};
    char path[200];

    path_of(path, sizeof path, name, file);
    return exchange_fetch(s->exchange, from, at, &f, path);
}

static void test_files(void)
{
    int same = 1, empty = 0;
    char path[200];
    struct stat st;

    open_both();
    for (uint32_t i = 0; i < FILES; i++)
        make_file("b", i);
    for (uint32_t i = 0; i < FILES; i++) {
        if (fetch(&a, "got", 1, &b.at, i, size_of(i)) < 0)
            bail("fetch: %s", strerror(errno));
        empty += size_of(i) == 0;
    }
    is_int(a.good, empty, "empty files are there at once");
    await(&a, FILES - empty);
    is_int(a.good, FILES, "24 files asked for at once all come");
    for (uint32_t i = 0; i < FILES; i++)
        same &= is_same("b", "got", i);
    ok(same, "with the bytes that they had");
    path_of(path, sizeof path, "got", 6);
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640,
       "and the mode that was said");
    ok(a.elapsed_ns > 0 && a.elapsed_ns < INT64_C(30000000000),
       "the time that it took is told");

    make_file("a", 3);
    fetch(&b, "back", 0, NULL, 3, size_of(3));
    await(&b, 1);
    ok(b.good == 1 && is_same("a", "back", 3),
       "the one that was called asks on the same link");
    close_both();
}

static void test_waiting(void)
{
    open_both();
    make_file("a", 5);
    fetch(&b, "early", 0, NULL, 5, size_of(5));
    ok(b.good + b.bad == 0,
       "a file of one who has not called yet is waited for");
    ok(exchange_call(a.exchange, 1, &b.at) == 0, "it calls");
    await(&b, 1);
    ok(b.good == 1 && is_same("a", "early", 5), "and the file comes");
    close_both();
}

static void test_lacks(void)
{
    char path[200];

    open_both();
    make_file("b", 2);
    fetch(&a, "none", 1, &b.at, 99, 10);
    await(&a, 1);
    ok(a.bad == 1 && strcmp(a.why, "No such file or directory") == 0,
       "a file that is not there: says so");
    path_of(path, sizeof path, "none", 99);
    ok(access(path, F_OK) < 0, "and none is made");
    fetch(&a, "none", 1, &b.at, 2, size_of(2) + 1);
    await(&a, 1);
    ok(a.bad == 2 && a.why[0], "a file of another size: says so (%s)", a.why);
    fetch(&a, "none", 1, &b.at, 2, size_of(2));
    await(&a, 1);
    ok(a.good == 1 && is_same("b", "none", 2), "the link is as good as before");
    ok(fetch(&a, "no/such/folder/x", 1, &b.at, 2, size_of(2)) < 0
           && errno == ENOENT,
       "a place that is not there is an error at once");
    close_both();
}

static struct file_digest digest_of(const char *name, uint32_t file)
{
    struct file_digest d;
    uint64_t bytes;
    char path[200];
    int fd;

    path_of(path, sizeof path, name, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || file_digest_of(&d, &bytes, fd) < 0)
        bail("%s: %s", path, strerror(errno));
    close(fd);
    return d;
}

/* A file of the same size and another content is no better than none. */
static void test_digests(void)
{
    struct exchange_file f = {.number = 14, .mode = 0640, .bytes = size_of(14)};
    char path[200];

    open_both();
    make_file("b", 14);
    path_of(path, sizeof path, "seen", 14);
    f.digest = digest_of("b", 14);
    exchange_fetch(a.exchange, 1, &b.at, &f, path);
    await(&a, 1);
    ok(a.good == 1 && is_same("b", "seen", 14), "a file of its digest comes");
    unlink(path);
    f.digest.byte[31] ^= 1;
    exchange_fetch(a.exchange, 1, &b.at, &f, path);
    await(&a, 1);
    ok(a.bad == 1
           && strcmp(a.why, "it is not what was made: its digest is another")
                  == 0
           && access(path, F_OK) < 0,
       "one of another digest is told, and is not there");
    f.digest.byte[31] ^= 1;
    exchange_fetch(a.exchange, 1, &b.at, &f, path);
    await(&a, 1);
    ok(a.good == 2, "and can be had again");
    close_both();
}

static void test_ends(void)
{
    struct endpoint nobody = {.address = "127.0.0.1", .port = 1};

    open_both();
    fetch(&a, "got", 7, &nobody, 1, 1);
    await(&a, 1);
    ok(a.bad == 1 && strcmp(a.why, "Connection refused") == 0,
       "nobody there: says so");
    fetch(&a, "got", 1, &b.at, 6, size_of(6));
    fetch(&a, "got", 1, &b.at, 7, size_of(7));
    exchange_destroy(b.exchange);
    b.exchange = NULL;
    mesh_set_exchange(b.mesh, NULL);
    listener_close(b.listener);
    b.listener = NULL;
    mesh_destroy(b.mesh);
    b.mesh = NULL;
    await(&a, 2);
    is_int(a.bad, 3, "the other ends: both files that were asked for are told");
    close_both();

    open_both();
    fetch(&a, "got", 1, &b.at, 6, size_of(6));
    exchange_forget(a.exchange, 1);
    exchange_forget(a.exchange, 1);
    ok(a.good + a.bad == 0, "what is forgotten is not told");
    close_both();
    exchange_destroy(NULL);
}

/* --- one who does not keep to the protocol -------------------------------- */

static struct link_head lie[2]; /* what it says, and then */
static int lies, said, ended, asked;
static int zeros; /* what it sends */

static int liar_taken(struct link *l,
                      void *arg,
                      const struct link_head *h,
                      const uint8_t *bytes)
{
    (void)arg;
    (void)bytes;
    if (h->type == LINK_ASK) {
        asked++;
        link_wake(l);
    }
    if (asked == AHEAD)
        event_base_loopbreak(base);
    return 0;
}

static int liar_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    (void)l;
    (void)arg;
    if (said == lies)
        return 0;
    *h = lie[said++];
    *fd = zeros;
    *at = 0;
    return 1;
}

static void liar_closed(struct link *l, void *arg, const char *why)
{
    (void)l;
    (void)arg;
    (void)why;
    ended = 1;
    event_base_loopbreak(base);
}

static const struct link_events liar = {
    .taken = liar_taken,
    .next = liar_next,
    .closed = liar_closed,
};

static struct link *call_a(void)
{
    static const struct parties parties = {PURPOSE_MESH, 1, 0};
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct link *l;

    in.sin_port = htons(a.at.port);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    l = link_call(base, (const struct sockaddr *)&in, sizeof in, &secret,
                  &parties, &liar, NULL);
    if (!l)
        bail("link: %s", strerror(errno));
    return l;
}

/* One that never answers. */
static void test_asked(void)
{
    struct timeval late = {10, 0};
    struct link *l;

    open_both();
    lie[0] = (struct link_head){.type = LINK_HELLO};
    lies = 1;
    said = ended = asked = 0;
    for (uint32_t i = 0; i < FILES; i++)
        fetch(&a, "asked", 1, NULL, 8 * i + 1, size_of(1));
    l = call_a();
    event_base_loopexit(base, &late);
    event_base_dispatch(base);
    for (int i = 0; i < 100; i++) /* more than enough for one more */
        event_base_loop(base, EVLOOP_NONBLOCK);
    is_int(asked, AHEAD, "some files are asked for ahead, and not all at once");
    exchange_forget(a.exchange, 1);
    link_destroy(l);
    close_both();
}

/* Say HELLO and then the lie: is the link cut, and what was asked for told? */
static void test_lie(const char *what, struct link_head second)
{
    struct timeval late = {30, 0};

    open_both();
    lie[0] = (struct link_head){.type = LINK_HELLO};
    lie[1] = second;
    lies = 2;
    said = ended = asked = 0;
    fetch(&a, "lie", 1, NULL, 6, size_of(6));
    (void)call_a();
    a.until = 1000;
    event_base_loopexit(base, &late);
    event_base_dispatch(base);
    ok(ended && a.bad == 1 && a.good == 0, "%s: the link is cut", what);
    close_both();
}

int main(void)
{
    char command[100];

    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    base = event_base_new();
    if (!base || secret_make(&secret) < 0 || !mkdtemp(folder))
        bail("no loop, secret or folder");
    zeros = memfd_create("zeros", MFD_CLOEXEC);
    if (zeros < 0 || ftruncate(zeros, CHUNK) < 0)
        bail("no file: %s", strerror(errno));
    test_files();
    test_waiting();
    test_lacks();
    test_digests();
    test_ends();
    test_asked();
    test_lie(
        "a chunk of a file that was not asked for",
        (struct link_head){.type = LINK_CHUNK, .broadcast = 9, .size = 10});
    test_lie("a chunk that is not due", (struct link_head){.type = LINK_CHUNK,
                                                           .broadcast = 6,
                                                           .chunk = 1,
                                                           .size = CHUNK});
    test_lie(
        "a chunk of another size",
        (struct link_head){.type = LINK_CHUNK, .broadcast = 6, .size = 4096});
    test_lie(
        "bytes that have another digest",
        (struct link_head){
            .type = LINK_CHUNK, .broadcast = 6, .size = CHUNK, .digest = {1}});
    test_lie("a lack without a reason",
             (struct link_head){.type = LINK_LACK, .broadcast = 6});
    test_lie("a question for an empty file",
             (struct link_head){.type = LINK_ASK, .broadcast = 6});
    test_lie("a second hello", (struct link_head){.type = LINK_HELLO});
    event_base_free(base);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0)
        diag("%s is left", folder);
    return done();
}
