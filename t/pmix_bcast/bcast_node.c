/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One node of a broadcast between a home and a peer that are ours: the peer
 * knows the secret, and lies.  Real sockets on loopback and a real file.
 */
#include "pmix_bcast/bcast_node.h"
#include "fault.h"
#include "loop.h"
#include "pmix_bcast/bytes.h"
#include "pmix_bcast/channel.h"
#include "pmix_bcast/chunk_tag.h"
#include "pmix_bcast/mesh.h"
#include "tap.h"

#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (256u << 10) /* so that there are huge pages of the file */
#define BYTES (12u * CHUNK)
#define SELF  1u
#define LIAR  0u

/* Who speaks to the node: home, or the peer. */
struct speaker {
    struct listener *listener;
    struct link *link;
    struct link_head say[80];
    int n, next, closed;
    int garbage; /* what it sends is */
};

static struct secret secret;
static struct speaker home, liar;
static struct bcast_node *node;
static struct mesh *mesh; /* the node's open door */
static struct bcast_order order;
static struct bcast_done report;
static int said_done, unsaid, file, garbage;
static uint64_t offset[64];
static uint8_t content[BYTES];
static char dir[50];

static int on_next(
    // cppcheck-suppress constParameter ; a callback has this type
    struct link *l,
    void *arg,
    struct link_head *h,
    int *fd,
    off_t *at)
{
    struct speaker *s = arg;

    (void)l;
    if (s->next == s->n)
        return 0;
    *h = s->say[s->next++];
    *fd = s->garbage ? garbage : file;
    *at = h->chunk < order.plan.chunks ? (off_t)offset[h->chunk] : 0;
    return 1;
}

static struct link_head chunk[64]; /* as home sends them */

static void say(struct speaker *s, struct link_head h);

/* Who is asked answers; else what the node says does not matter here. */
static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct speaker *s = arg;

    (void)l;
    (void)bytes;
    if (h->type == LINK_PULL && chunk[h->chunk].size > 0 && s->n < 80)
        say(s, chunk[h->chunk]);
    return 0;
}

static void on_closed(
    // cppcheck-suppress constParameter ; a callback has this type
    struct link *l,
    void *arg,
    const char *why)
{
    struct speaker *s = arg;

    (void)why;
    if (s->link == l) /* else it has called again */
        s->link = NULL;
    s->closed++;
}

static const struct link_events events = {
    .taken = on_taken,
    .next = on_next,
    .closed = on_closed,
};

static void on_call_to_home(void *arg, struct listener *l, int fd)
{
    (void)arg;
    home.link = link_take(base, fd, l, &events, &home);
    if (home.link)
        link_set_chunk(home.link, CHUNK);
}

static void on_send(void *arg, enum bcast_kind kind, struct writer *w)
{
    (void)arg;
    if (kind == BCAST_DONE) {
        said_done++;
        unsaid = w->bad; /* without memory; its channel ends then */
        if (!unsaid && bcast_read_done(&report, w->buf, w->len) < 0)
            bail("a DONE that cannot be read");
    }
    writer_clear(w);
}

/* --- a broadcast to three nodes; the node is the middle one --------------- */

static uint32_t flags; /* of every order */

static struct link_head right(uint32_t j)
{
    uint32_t size = (uint32_t)(offset[j + 1] - offset[j]);
    struct seal *seal = chunk_tag_seal(&secret, order.id);
    struct link_head h = {
        .type = LINK_CHUNK, .broadcast = order.id, .chunk = j, .size = size};

    if (!seal || seal_tag(seal, j, content + offset[j], size, h.digest) < 0)
        bail("no tag");
    seal_destroy(seal);
    return h;
}

static void say(struct speaker *s, struct link_head h)
{
    s->say[s->n++] = h;
    if (s->link)
        link_wake(s->link);
}

/* The liar calls the node, and says what for. */
static void call_node(void)
{
    static const struct parties parties = {PURPOSE_MESH, LIAR, SELF};
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(listener_port(liar.listener));
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    liar.link = link_call(base, (struct sockaddr *)&in, sizeof in, &secret,
                          &parties, &events, &liar);
    if (!liar.link)
        bail("no link");
    link_set_chunk(liar.link, CHUNK_MAX);
    say(&liar, (struct link_head){.type = LINK_HELLO, .broadcast = order.id});
}

static void open_door(struct listener **l,
                      enum purpose purpose,
                      uint32_t self,
                      void (*called)(void *arg, struct listener *l, int fd))
{
    const struct listener_setup setup = {.base = base,
                                         .secret = &secret,
                                         .purpose = purpose,
                                         .self = self,
                                         .loopback = 1,
                                         .called = called,
                                         .arg = mesh};

    if (!mesh || listener_open(l, &setup, NULL) < 0)
        bail("no listener");
}

static void open_doors(void)
{
    memset(chunk, 0, sizeof chunk);
    memset(&home, 0, sizeof home);
    memset(&liar, 0, sizeof liar);
    said_done = 0;
    order.id++;
    mesh = mesh_create(base);
    open_door(&home.listener, PURPOSE_BROADCAST, FRONT_END, on_call_to_home);
    open_door(&liar.listener, PURPOSE_MESH, SELF, mesh_take);
    order.port = listener_port(home.listener);
    call_node();
}

/* The order comes. */
static void start_node(void)
{
    static struct endpoint agent[3] = {
        {.node = "n0", .address = "127.0.0.1", .port = 1, .door = 0},
        {.node = "n1", .address = "127.0.0.1", .port = 1, .door = 0},
        {.node = "n2", .address = "127.0.0.1", .port = 1, .door = 0}};
    static struct wireup wireup = {.rank = SELF, .size = 3, .agent = agent};
    static struct bcast_begun_list begun;
    const struct bcast_node_setup setup = {.base = base,
                                           .begun = &begun,
                                           .secret = &secret,
                                           .wireup = &wireup,
                                           .home_address = "127.0.0.1",
                                           .send = on_send};

    node = bcast_node_start(&setup, &order);
    if (!node)
        bail("no node");
    mesh_set_broadcast(mesh, node);
}

static void start(void)
{
    start_node();
    until(home.link && link_is_open(home.link)
          && (!liar.link || link_is_open(liar.link)));
}

static void begin(void)
{
    open_doors();
    start();
}

static void end(void)
{
    bcast_node_destroy(node);
    mesh_destroy(mesh);
    link_destroy(home.link);
    link_destroy(liar.link);
    listener_close(home.listener);
    listener_close(liar.listener);
    (void)unlink(order.destination);
}

/* Home gives all, as it does when another has nothing to give; meanwhile the
 * allocation of that number fails, if it is not negative. */
static void give_all_failing(long number)
{
    struct chunk_tag tags[64];
    struct writer w = {0};

    for (uint32_t j = 0; j < order.plan.chunks; j++) {
        chunk[j] = right(j);
        memcpy(tags[j].bytes, chunk[j].digest, TAG_BYTES);
    }
    bcast_write_sum(&w, order.id, chunk_tag_sum(tags, order.plan.chunks));
    fault_at = number;
    for (uint32_t j = 0; j < order.plan.chunks; j++)
        say(&home, chunk[j]);
    if (bcast_node_receive(node, BCAST_SUM, w.buf, w.len) < 0)
        bail("no sum");
    until(said_done);
    fault_at = -1;
    writer_clear(&w);
}

static void give_all(void)
{
    give_all_failing(-1);
}

static int is_whole(void)
{
    static uint8_t got[BYTES + 1];
    int fd = open(order.destination, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof got);

    if (fd >= 0)
        close(fd);
    return n == BYTES && memcmp(got, content, BYTES) == 0;
}

/* A chunk that the liar is to push, in the tree. */
static uint32_t its_chunk(void)
{
    uint32_t j = 0;

    while (plan_parent(&order.plan, SELF, j) != LIAR)
        j++;
    return j;
}

static void wrong_digest(struct link_head *h)
{
    h->digest[0]++;
}
static void wrong_length(struct link_head *h)
{
    h->size--;
}
static void wrong_index(struct link_head *h)
{
    h->chunk = order.plan.chunks;
}
static void largest_index(struct link_head *h)
{
    h->chunk = UINT32_MAX;
}
static void other_broadcast(struct link_head *h)
{
    h->broadcast++;
}
static void not_a_peers(struct link_head *h)
{
    h->type = LINK_RELAYED;
    h->size = 0;
}

static const struct {
    const char *what;
    void (*lie)(struct link_head *h);
} lies[] = {
    {"a wrong digest", wrong_digest},
    {"a wrong length", wrong_length},
    {"a wrong index", wrong_index},
    {"the largest index", largest_index},
    {"another broadcast's chunk", other_broadcast},
    {"what is home's to hear", not_a_peers},
};

static void test_lies(void)
{
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct link_head h;

        begin();
        h = right(its_chunk());
        lies[i].lie(&h);
        say(&liar, h);
        until(liar.closed);
        ok(liar.closed == 1 && said_done == 0, "%s: the peer is cut off",
           lies[i].what);
        give_all();
        ok(said_done == 1 && report.error == 0 && is_whole(),
           "and the file is whole without it");
        end();
    }
}

static void test_right(void)
{
    begin();
    say(&liar, right(its_chunk()));
    give_all();
    ok(said_done == 1 && report.error == 0 && liar.closed == 0 && is_whole(),
       "a peer that says what is right is kept");
    end();
}

/* Two send one chunk at a time, one of them garbage: which of the two is read to
 * the chunk's place is up to the sockets. */
static void test_both(void)
{
    int wrong = 0;

    for (int i = 0; i < 20; i++) {
        begin();
        liar.garbage = 1;
        say(&liar, right(its_chunk()));
        for (int turns = 0; turns < i % 8; turns++)
            event_base_loop(base, EVLOOP_NONBLOCK);
        give_all();
        for (int turns = 0; turns < 20; turns++)
            event_base_loop(base, EVLOOP_NONBLOCK);
        wrong += said_done != 1 || report.error != 0 || !is_whole();
        end();
    }
    is_int(wrong, 0, "who sends garbage meanwhile spoils nothing");
}

/* The order of one node may come before that of another. */
static void test_early(void)
{
    open_doors();
    say(&liar, right(its_chunk()));
    until(liar.next == liar.n);
    for (int i = 0; i < 100; i++) /* more than enough for it to be read */
        event_base_loop(base, EVLOOP_NONBLOCK);
    start();
    give_all();
    ok(said_done == 1 && report.error == 0 && liar.closed == 0 && is_whole(),
       "a chunk that comes before the order waits for it");
    end();
}

static int tell(enum bcast_kind kind, uint32_t id, uint32_t number)
{
    struct writer w = {0};
    int rc;

    bcast_write_number(&w, id, number);
    rc = bcast_node_receive(node, kind, w.buf, w.len);
    writer_clear(&w);
    return rc;
}

static void test_messages(void)
{
    begin();
    is_int((intmax_t)bcast_node_id(node), order.id,
           "a node knows its broadcast");
    is_int(tell(BCAST_LOST, order.id + 1, LIAR), -1,
           "what is said of another broadcast is refused");
    is_int(tell(BCAST_LOST, order.id, order.plan.nodes), -1,
           "so is a node that there is not");
    is_int(tell(BCAST_DONE, order.id, 0), -1, "and what nodes say");
    is_int(tell(BCAST_SUM, order.id, 0), -1, "and half a sum");
    ok(said_done == 0 && liar.closed == 0, "none of it does anything");
    is_int(tell(BCAST_LOST, order.id, SELF), 0,
           "a node may be told that it is lost itself");
    is_int(tell(BCAST_LOST, order.id, LIAR), 0, "or that another is");
    until(liar.closed);
    ok(liar.closed == 1 && said_done == 0, "which it drops");
    is_int(tell(BCAST_END, order.id, 0), 0, "the end is taken");
    give_all();
    ok(said_done == 1 && report.error == 0 && is_whole(),
       "and the file is whole without the other");
    end();
}

/* What nodes cannot be told, and what goes wrong at the start. */
static void test_failures(void)
{
    uint32_t nodes = order.plan.nodes;
    int fd;

    order.plan.nodes = 4;
    open_doors();
    start_node();
    ok(said_done == 1 && report.error == EPROTO,
       "a plan for others is refused");
    end();
    order.plan.nodes = nodes;
    fd = open(order.destination, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        bail("no file");
    close(fd);
    open_doors();
    start_node();
    ok(said_done == 1 && report.error == EEXIST
           && strstr(report.text, order.destination)
           && strstr(report.text, ": File exists"),
       "what is there already is not replaced, and named");
    end();
}

static void say_wrong(void)
{
    struct link_head h = right(0);

    h.digest[0]++;
    say(&home, h);
}

static int has_called_again(int times)
{
    return said_done
           || (home.closed == times && home.link && link_is_open(home.link));
}

static void test_home(void)
{
    int n;

    begin();
    say_wrong();
    until(has_called_again(1));
    ok(home.closed == 1 && !said_done, "home's wrong digest: it is cut off, "
                                       "and called again");
    give_all();
    ok(said_done == 1 && report.error == 0 && is_whole(),
       "and the file is whole");
    end();
    begin();
    for (n = 0; n < 50 && !said_done; n++) {
        say_wrong();
        until(has_called_again(n + 1));
    }
    is_int(n, 9, "not for ever");
    ok(report.error == 0
           && strstr(report.text, "damaged on their way from the front end")
           && access(order.destination, F_OK) < 0,
       "then nothing is left, and that is said");
    end();
}

/* Whichever allocation fails: the file is whole in the end, or it is memory
 * that was lacking.  Which one that is threads decide, so it is tried again until one
 * of what is read back has failed. */
static void test_memory(void)
{
    int whole = 0, lacking = 0, wrong = 0;

    order.flags = flags | ORDER_VERIFY;
    for (long n = 0; n < 20 || (lacking == 0 && n < 400); n++) {
        begin();
        say(&liar, right(its_chunk()));
        give_all_failing(n % 20);
        if (said_done == 1 && (unsaid || report.error == 0) && is_whole())
            whole++;
        else if (said_done == 1 && report.error == ENOMEM
                 && strstr(report.text, "annot allocate memory"))
            lacking++;
        else
            wrong++;
        end();
    }
    order.flags = flags;
    ok(wrong == 0 && whole > 0,
       "an allocation that fails costs time, or is told: %d, %d", whole,
       lacking);
    ok(lacking > 0, "what cannot be read back for want of memory is not said "
                    "to be another");
}

static void set_up(void)
{
    const struct plan_wish wish = {
        .bytes = BYTES, .nodes = 3, .chunk = CHUNK, .shape = PLAN_STRIPES};

    if (secret_make(&secret) < 0 || plan_make(&order.plan, &wish, NULL) < 0)
        bail("no ground to stand on");
    order.mode = 0600;
    plan_offsets(&order.plan, offset);
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (uint8_t)(i * 31 + (i >> 8));
    file = memfd_create("source", MFD_CLOEXEC);
    garbage = memfd_create("garbage", MFD_CLOEXEC);
    if (file < 0 || write(file, content, BYTES) != BYTES || garbage < 0
        || ftruncate(garbage, BYTES) < 0)
        bail("no source");
    base = event_base_new();
    if (!base)
        bail("no event loop");
}

static void test_in(const char *folder, unsigned threads)
{
    diag("%s, %u threads", folder, threads);
    flags = threads << ORDER_THREADS_SHIFT;
    order.flags = flags;
    snprintf(dir, sizeof dir, "%s/bcast_node.XXXXXX", folder);
    if (!mkdtemp(dir))
        bail("no folder in %s", folder);
    snprintf(order.destination, sizeof order.destination, "%s/file", dir);
    test_lies();
    test_right();
    test_both();
    test_early();
    test_messages();
    test_failures();
    test_home();
    test_memory();
    (void)rmdir(dir);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    set_up();
    for (unsigned threads = 1; threads <= 3; threads++) {
        test_in("/var/tmp", threads);
        test_in("/dev/shm", threads);
    }
    event_base_free(base);
    close(file);
    close(garbage);
    return done();
}
