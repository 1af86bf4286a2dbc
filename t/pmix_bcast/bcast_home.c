/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Home of a broadcast, with nodes that are ours and do as they like.  Real
 * sockets on loopback and a real file.
 */
#include "pmix_bcast/bcast_home.h"
#include "fault.h"
#include "loop.h"
#include "pmix_bcast/chunk_tag.h"
#include "pmix_bcast/link.h"
#include "tap.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NODES  3u
#define CHUNK  CHUNK_MIN
#define BYTES  (12u * CHUNK)
#define CHUNKS 64u
#define MOST   22000u /* bytes of any source here */
#define ID     7u
#define TO     "/far/away"

/* A node, and what home has sent it. */
static struct node {
    struct link *link;
    int closed, opened;
    struct link_head send[80]; /* what the node sends next */
    int n, next;
    uint8_t buffer[CHUNK];
    int got[CHUNKS], as_root, wrong;
    uint64_t bytes; /* that came in chunks, with their heads */
    int orders, sums, ends, lost[NODES], bad;
    struct bcast_order order;
    uint8_t content[MOST];
    uint64_t sum;
    int relays; /* it says RELAYED of each chunk at once */
} node[NODES];

static struct event *tick; /* so that the loop always turns */
static struct secret secret;
static struct bcast_home *home;
static struct bcast_home_setup setup;
static struct seal *seal;
static int ended, asked_late, is_late;
static uint8_t content[MOST];
static char dir[] = "/tmp/bcast_home.XXXXXX", path[100];

/* --- a node's end of the link --------------------------------------------- */

static void send_link(struct node *v, struct link_head h)
{
    if (v->n == 80)
        bail("a node says too much");
    v->send[v->n++] = h;
    if (v->link)
        link_wake(v->link);
}

static struct link_head about(enum link_type type, uint32_t chunk)
{
    return (struct link_head){
        .type = (uint16_t)type, .broadcast = ID, .chunk = chunk};
}

static void on_opened(struct link *l, void *arg)
{
    struct node *v = arg;

    (void)l;
    v->opened = 1;
}

static uint8_t *on_place(struct link *l, void *arg, const struct link_head *h)
{
    struct node *v = arg;

    (void)l;
    return h->size <= CHUNK ? v->buffer : NULL;
}

static int on_taken(struct link *l,
                    void *arg,
                    const struct link_head *h,
                    const uint8_t *bytes)
{
    struct node *v = arg;
    const struct plan *p = &v->order.plan;
    uint64_t offset[CHUNKS + 1];

    (void)l;
    if (h->type != LINK_CHUNK || h->broadcast != ID || h->chunk >= p->chunks
        || !bytes) {
        v->wrong++;
        return 0;
    }
    plan_offsets(p, offset);
    v->got[h->chunk]++;
    v->bytes += LINK_HEAD + h->size;
    v->as_root += (h->flags & LINK_AS_ROOT) != 0;
    v->wrong += h->size != offset[h->chunk + 1] - offset[h->chunk]
                || memcmp(bytes, content + offset[h->chunk], h->size) != 0
                || seal_check(seal, h->chunk, bytes, h->size, h->digest) < 0;
    if (v->relays)
        send_link(v, about(LINK_RELAYED, h->chunk));
    return 0;
}

static int on_next(
    struct link *l, void *arg, struct link_head *h, int *fd, off_t *at)
{
    struct node *v = arg;

    (void)l;
    (void)fd;
    (void)at;
    if (v->next == v->n)
        return 0;
    *h = v->send[v->next++];
    return 1;
}

static void on_closed(struct link *l, void *arg, const char *why)
{
    struct node *v = arg;

    (void)l;
    (void)why;
    v->link = NULL;
    v->closed++;
}

static const struct link_events events = {
    .opened = on_opened,
    .place = on_place,
    .taken = on_taken,
    .next = on_next,
    .closed = on_closed,
};

/* --- what home says and asks ---------------------------------------------- */

static void read_order(struct node *v, const struct writer *w)
{
    if (bcast_read_order(&v->order, w->buf, w->len) < 0)
        bail("an order that cannot be read");
    v->orders++;
    if (v->order.content && v->order.plan.bytes <= sizeof v->content)
        memcpy(v->content, v->order.content, (size_t)v->order.plan.bytes);
}

static void receive(struct node *v,
                    enum bcast_kind kind,
                    const struct writer *w)
{
    uint32_t id = 0, number = 0;

    if (w->bad) /* which the sender's channel does not take */
        v->bad++;
    else if (kind == BCAST_ORDER)
        read_order(v, w);
    else if (kind == BCAST_SUM
             && bcast_read_sum(&id, &v->sum, w->buf, w->len) == 0 && id == ID)
        v->sums++;
    else if (bcast_read_number(&id, &number, w->buf, w->len) == 0 && id == ID
             && kind == BCAST_LOST && number < NODES)
        v->lost[number]++;
    else if (kind == BCAST_END && id == ID && number == 0)
        v->ends++;
    else
        bail("message %d is none of home's", (int)kind);
}

// cppcheck-suppress constParameter ; a callback has this type
static void on_send(void *arg, enum bcast_kind kind, struct writer *w)
{
    if (arg != &node)
        bail("a message to nobody");
    for (uint32_t v = 0; v < NODES; v++)
        receive(&node[v], kind, w);
    writer_clear(w);
}

// cppcheck-suppress constParameter ; a callback has this type
static void on_ended(void *arg)
{
    if (arg != &node)
        bail("another's end");
    ended++;
}

static int on_late(void *arg, uint32_t rank)
{
    (void)arg;
    asked_late += rank < NODES;
    return is_late;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

/* --- begin and end -------------------------------------------------------- */

static void write_source(size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, content, len) != (ssize_t)len
        || fchmod(fd, 0754) < 0 || close(fd) < 0)
        bail("cannot write %s", path);
}

static void prepare(size_t bytes)
{
    write_source(bytes);
    memset(node, 0, sizeof node);
    ended = asked_late = is_late = 0;
    setup = (struct bcast_home_setup){.base = base,
                                      .secret = &secret,
                                      .loopback = 1,
                                      .id = ID,
                                      .nodes = NODES,
                                      .wish = {.source = path,
                                               .destination = TO,
                                               .flags = ORDER_FORCE,
                                               .way = PULL_BY_NODE,
                                               .chunk = CHUNK,
                                               .timeout_s = 1000},
                                      .send = on_send,
                                      .ended = on_ended,
                                      .arg = &node};
}

static void start(void)
{
    struct es_error err = {0};

    if (bcast_home_start(&home, &setup, &err) < 0)
        bail("%s", err.what);
}

static void call_home(struct node *v, uint32_t rank, uint16_t port)
{
    const struct parties parties = {PURPOSE_BROADCAST, rank, FRONT_END};
    struct sockaddr_in in = {.sin_family = AF_INET};

    in.sin_port = htons(port);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v->link = link_call(base, (struct sockaddr *)&in, sizeof in, &secret,
                        &parties, &events, v);
    if (!v->link)
        bail("no link");
    link_set_chunk(v->link, CHUNK);
}

/* A node calls home and says for which broadcast. */
static void connect_node(uint32_t rank)
{
    send_link(&node[rank], about(LINK_HELLO, 0));
    call_home(&node[rank], rank, node[0].order.port);
    until(node[rank].opened && node[rank].next == node[rank].n);
}

static void begin(void)
{
    prepare(BYTES);
    start();
}

static void finish(void)
{
    bcast_home_destroy(home);
    home = NULL;
    for (uint32_t i = 0; i < NODES; i++)
        link_destroy(node[i].link);
}

/* A node says DONE. */
static int report(uint32_t rank, uint32_t error, const char *text)
{
    struct bcast_done d = {.id = ID,
                           .error = error,
                           .pulls = 1,
                           .refused = 10,
                           .duplicates = 100,
                           .threads = rank == 1 ? 3 : 1};
    struct writer w = {0};
    int rc;

    snprintf(d.text, sizeof d.text, "%s", text);
    bcast_write_done(&w, &d);
    rc = bcast_home_receive(home, rank, BCAST_DONE, w.buf, w.len);
    writer_clear(&w);
    return rc;
}

static int report_held(uint32_t rank, uint32_t id, uint32_t chunks)
{
    struct writer w = {0};
    int rc;

    bcast_write_number(&w, id, chunks);
    rc = bcast_home_receive(home, rank, BCAST_HELD, w.buf, w.len);
    writer_clear(&w);
    return rc;
}

/* Of each chunk: has any node got it? */
static int have_all(void)
{
    for (uint32_t j = 0; j < node[0].order.plan.chunks; j++) {
        int copies = 0;

        for (uint32_t v = 0; v < NODES; v++)
            copies += node[v].got[j];
        if (copies == 0)
            return 0;
    }
    return 1;
}

static uint64_t chunk_bytes(void)
{
    return node[0].bytes + node[1].bytes + node[2].bytes;
}

static uint64_t right_sum(void)
{
    const struct plan *p = &node[0].order.plan;
    struct chunk_tag tag[CHUNKS];
    uint64_t offset[CHUNKS + 1];

    plan_offsets(p, offset);
    for (uint32_t j = 0; j < p->chunks; j++)
        (void)seal_tag(seal, j, content + offset[j],
                       (size_t)(offset[j + 1] - offset[j]), tag[j].bytes);
    return chunk_tag_sum(tag, p->chunks);
}

/* --- the order ------------------------------------------------------------ */

static void test_order(void)
{
    const struct bcast_order *o = &node[2].order;
    struct stat st;

    begin();
    ok(node[0].orders == 1 && node[1].orders == 1 && node[2].orders == 1,
       "each node gets one order");
    ok(stat(path, &st) == 0 && o->mode == 0754
           && o->mtime_ns
                  == st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec,
       "with the source's mode and time");
    ok(o->id == ID && o->flags == ORDER_FORCE && o->way == PULL_BY_NODE
           && strcmp(o->destination, TO) == 0,
       "and what was asked for");
    ok(o->plan.bytes == BYTES && o->plan.nodes == NODES
           && o->plan.chunk == CHUNK && o->plan.shape == PLAN_STRIPES
           && !o->content && o->port > 0,
       "its plan, and where home listens for those who want chunks");
    ok(bcast_home_result(home).home_bytes == 0
           && bcast_home_result(home).seconds <= 0,
       "so far nothing else was sent");
    finish();
    prepare(BYTES);
    setup.wish.flags = ORDER_STRICT;
    start();
    is_int(node[0].order.plan.shape, PLAN_BRANCHES, "strict is the one tree");
    finish();
}

/* Can one call there? */
static int is_open(uint32_t address, uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

    in.sin_port = htons(port);
    in.sin_addr.s_addr = htonl(address);
    rc = connect(fd, (const struct sockaddr *)&in, sizeof in);
    close(fd);
    return rc == 0;
}

static void test_place(void)
{
    struct listen_at at = {0};

    listen_at_add(&at, "127.0.0.2");
    prepare(BYTES);
    setup.loopback = LOOPBACK_NO;
    setup.at = &at;
    start();
    ok(is_open(INADDR_LOOPBACK + 1, node[0].order.port)
           && !is_open(INADDR_LOOPBACK, node[0].order.port),
       "home listens where it is told to, and nowhere else");
    finish();
}

static const struct {
    const char *what;
    uint32_t bytes, small, chunk;
    int inside;
} sizes[] = {
    {"no bytes at all", 0, 0, CHUNK, 1},
    {"as many as are small", 1000, 1000, CHUNK, 1},
    {"one more", 1001, 1000, CHUNK, 0},
    {"a chunk", CHUNK, 4096, CHUNK, 1},
    {"more than a chunk", CHUNK + 1, 4096, CHUNK, 0},
    {"64 KiB for all nodes together", 21845, 32768, 32768, 1},
    {"more for all together", 21846, 32768, 32768, 0},
};

static void test_small(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        prepare(sizes[i].bytes);
        setup.wish.small = sizes[i].small;
        setup.wish.chunk = sizes[i].chunk;
        start();
        ok((node[0].order.port == 0) == sizes[i].inside
               && (!sizes[i].inside || node[1].order.content)
               && (!sizes[i].inside
                   || memcmp(node[2].content, content, sizes[i].bytes) == 0),
           "%s: %s the order", sizes[i].what,
           sizes[i].inside ? "inside" : "not inside");
        if (sizes[i].inside)
            ok(bcast_home_result(home).home_bytes == sizes[i].bytes * NODES,
               "to each of the nodes");
        finish();
    }
    prepare(1000);
    setup.wish.small = 1000;
    start();
    for (uint32_t v = 0; v < NODES; v++)
        (void)report(v, 0, "");
    ok(ended == 1 && bcast_home_result(home).failed == 0,
       "when all have it that is the end");
    finish();
}

static void test_begins(void)
{
    struct bcast_standing s;

    prepare(BYTES);
    setup.wish.flags = ORDER_BEGIN;
    start();
    ok(node[0].order.flags & ORDER_BEGIN && node[0].order.port == 0
           && !node[0].order.content && node[0].order.plan.bytes == BYTES,
       "nodes are told how large a file that they begin will be");
    (void)report(0, 0, "");
    s = bcast_home_standing(home, 0);
    ok(!s.ended && !s.failed && s.bytes == 0,
       "who has begun it has none of it");
    (void)report(1, ENOSPC, "");
    s = bcast_home_standing(home, 1);
    ok(s.ended && s.failed && s.bytes == 0, "who cannot gets none");
    (void)report(2, 0, "");
    ok(ended == 1 && bcast_home_result(home).failed == 1
           && bcast_home_result(home).home_bytes == 0,
       "when all have that is the end, and nothing was sent");
    finish();
}

/* --- chunks --------------------------------------------------------------- */

static void test_all(void)
{
    /* What the listening end sends in a handshake. */
    const uint64_t handshake = MESSAGE_HEAD + HANDSHAKE_MAX;
    struct bcast_result r;
    double first;

    begin();
    for (uint32_t v = 0; v < NODES; v++) {
        node[v].relays = 1;
        connect_node(v);
    }
    until(have_all() && node[2].sums);
    ok(have_all() && node[0].wrong + node[1].wrong + node[2].wrong == 0,
       "each chunk is given to a node, with its tag");
    ok(node[0].sums == 1 && node[1].sums == 1 && node[2].sums == 1
           && node[0].sum == right_sum() && node[2].sum == node[0].sum,
       "then all nodes get the sum of the tags, once");
    is_int(report(1, 0, ""), 0, "a node is done");
    first = bcast_home_result(home).node[1].seconds;
    is_int(report(1, 0, ""), 0, "and says so again");
    (void)report(0, 0, "");
    ok(!ended && node[0].ends == 0, "as long as one is not there is no end");
    (void)report(2, 0, "");
    ok(ended == 1 && node[0].ends == 1 && node[1].ends == 1
           && node[2].ends == 1,
       "then all are told the end, once");
    (void)report(2, 0, "");
    until(bcast_home_result(home).home_bytes == chunk_bytes() + 3 * handshake);
    r = bcast_home_result(home);
    ok(r.home_bytes == chunk_bytes() + 3 * handshake && r.home_bytes > BYTES,
       "every byte that home has sent is counted");
    ok(r.err->kind == ES_OK && r.failed == 0 && r.plan.bytes == BYTES,
       "nothing has failed");
    ok(r.node[1].seconds >= 0 && r.node[1].seconds <= first
           && r.node[2].seconds >= first && r.seconds >= r.node[2].seconds
           && r.node[1].why[0] == '\0',
       "a node's time is that of its first report, and the last is the end");
    ok(r.pulls == 4 && r.refused == 40 && r.duplicates == 400,
       "what the nodes count is added up");
    is_int((int)r.threads, 3, "of their threads the most count");
    link_destroy(node[0].link);
    node[0].link = NULL;
    for (int i = 0; i < 20; i++)
        event_base_loop(base, EVLOOP_ONCE);
    ok(bcast_home_result(home).home_bytes == r.home_bytes,
       "also of a node that has gone since");
    finish();
}

static void test_destroy(void)
{
    begin();
    for (uint32_t v = 0; v < NODES; v++)
        connect_node(v);
    until(chunk_bytes() > 0);
    bcast_home_destroy(home);
    home = NULL;
    until(node[0].closed && node[1].closed && node[2].closed);
    ok(node[0].closed == 1 && node[1].closed == 1 && node[2].closed == 1
           && ended == 0,
       "when home is destroyed all links end, and nothing else is said");
    finish();
}

static void test_pull(void)
{
    int before;

    begin();
    connect_node(0);
    until(node[0].got[5]);
    before = node[0].got[5];
    send_link(&node[0], about(LINK_CANCEL, 3));
    send_link(&node[0], about(LINK_PULL, 5));
    until(node[0].got[5] > before);
    ok(node[0].got[5] == before + 1 && node[0].wrong == 0 && !node[0].closed,
       "a node that asks home for a chunk gets it");
    finish();
}

/* --- those who do not keep to it ------------------------------------------ */

static const struct {
    const char *what;
    struct link_head h;
    uint32_t rank;
} liars[] = {
    {"another broadcast", {.type = LINK_HELLO, .broadcast = ID + 1}, 0},
    {"a node that there is not", {.type = LINK_HELLO, .broadcast = ID}, NODES},
    {"no hello", {.type = LINK_RELAYED, .broadcast = ID}, 0},
};

static const struct {
    const char *what;
    struct link_head h;
} lies[] = {
    {"a chunk's number that there is not",
     {.type = LINK_PULL, .broadcast = ID, .chunk = CHUNKS}},
    {"what is said of another broadcast",
     {.type = LINK_RELAYED, .broadcast = ID + 1}},
    {"what only nodes tell each other", {.type = LINK_ABSENT, .broadcast = ID}},
    {"a second hello", {.type = LINK_HELLO, .broadcast = ID}},
};

static void test_liars(void)
{
    for (size_t i = 0; i < sizeof liars / sizeof liars[0]; i++) {
        begin();
        send_link(&node[0], liars[i].h);
        call_home(&node[0], liars[i].rank, node[0].order.port);
        until(node[0].closed);
        ok(node[0].closed == 1 && chunk_bytes() == 0 && !ended,
           "%s: cut off, and nothing is sent", liars[i].what);
        finish();
    }
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        begin();
        connect_node(0);
        send_link(&node[0], lies[i].h);
        until(node[0].closed);
        ok(node[0].closed == 1 && !ended, "%s: cut off", lies[i].what);
        finish();
    }
    begin();
    connect_node(0);
    until(chunk_bytes() > 0); /* home knows it by now */
    send_link(&node[1], about(LINK_HELLO, 0));
    call_home(&node[1], 0, node[0].order.port);
    until(node[1].closed);
    ok(node[1].closed == 1 && node[0].closed == 0,
       "a second one of the same name is cut off, not the first");
    finish();
}

static void test_messages(void)
{
    struct bcast_done other = {.id = ID + 1};
    struct writer w = {0};

    begin();
    is_int(report(NODES, 0, ""), 0,
           "a node that there is not may say anything");
    bcast_home_lost(home, NODES, "x", 0);
    bcast_home_move(home, NODES, 1);
    bcast_write_done(&w, &other);
    is_int(bcast_home_receive(home, 0, BCAST_DONE, w.buf, w.len), -1,
           "the end of another broadcast is refused");
    is_int(bcast_home_receive(home, 0, BCAST_DONE, w.buf, w.len - 1), -1,
           "and what is cut short");
    is_int(bcast_home_receive(home, 0, BCAST_SUM, w.buf, w.len), -1,
           "and what is home's to say");
    writer_clear(&w);
    is_int(report_held(0, ID, 3), 0, "what a node holds is taken");
    is_int(report_held(0, ID + 1, 3), -1, "but not of another broadcast");
    ok(!ended && bcast_home_result(home).failed == 0 && node[0].lost[1] == 0,
       "none of this ends anything");
    finish();
}

/* --- losses --------------------------------------------------------------- */

static void test_dies(void)
{
    struct bcast_result r;
    uint32_t root;

    begin();
    root = plan_give(&node[0].order.plan, 0).node;
    connect_node(root);
    until(node[root].got[0]); /* and does not pass it on */
    link_destroy(node[root].link);
    node[root].link = NULL;
    bcast_home_lost(home, root, "it was switched off", 0);
    bcast_home_lost(home, root, "twice", 0);
    ok(node[0].lost[root] == 1 && node[1].lost[root] == 1
           && node[2].lost[root] == 1 && !ended,
       "a node that dies: all are told, once");
    memset(node[root].got, 0, sizeof node[root].got);
    for (uint32_t v = 0; v < NODES; v++)
        if (v != root) {
            node[v].relays = 1;
            connect_node(v);
        }
    until(have_all());
    ok(have_all(), "the others get what it was given");
    ok(node[0].as_root + node[1].as_root + node[2].as_root > 0,
       "one of them in its place");
    (void)report(root, 0, "");
    for (uint32_t v = 0; v < NODES; v++)
        if (v != root)
            (void)report(v, 0, "");
    r = bcast_home_result(home);
    ok(ended == 1 && r.failed == 1 && r.node[root].seconds < 0
           && r.err->kind == ES_OK,
       "its end comes too late, the others' ends it");
    is_str(r.node[root].why, "it was switched off", "with the first reason");
    finish();
}

static void test_failures(void)
{
    struct bcast_result r;

    begin();
    (void)report(0, 28, "");
    (void)report(1, 0, "the disk is on fire");
    ok(node[2].lost[0] == 1 && node[2].lost[1] == 1 && !ended,
       "a node that has failed is lost for the others");
    bcast_home_lost(home, 2, "gone", 0);
    r = bcast_home_result(home);
    ok(ended == 1 && r.failed == 3, "when all have failed that is the end");
    is_str(r.node[0].why, TO ": No space left on device",
           "an error is said of the destination");
    is_str(r.node[1].why, "the disk is on fire", "or as the node says it");
    bcast_home_lost(home, 2, "again", 0);
    is_int(ended, 1, "nothing ends twice");
    finish();
}

static void test_stalled(void)
{
    prepare(BYTES);
    setup.wish.timeout_s = 0.01;
    setup.is_late = on_late;
    start();
    bcast_home_move(home, 1, 1000);
    (void)report(2, 0, "");
    until(asked_late > 2);
    ok(asked_late > 2 && node[0].lost[0] == 0 && node[0].lost[2] == 0,
       "a node without progress is kept as long as it may be");
    is_late = 1;
    until(node[1].lost[0] && node[1].lost[1]);
    is_str(bcast_home_result(home).node[0].why, "no progress for 0.01 s",
           "then it is given up");
    ok(ended == 1 && bcast_home_result(home).failed == 2 && node[0].lost[2] == 0
           && bcast_home_result(home).node[2].seconds >= 0,
       "and one that is done is not");
    finish();
    prepare(BYTES);
    setup.wish.timeout_s = 0; /* the default is 10 s */
    setup.is_late = on_late;
    start();
    for (int i = 0; i < 100; i++)
        event_base_loop(base, EVLOOP_ONCE);
    ok(asked_late == 0 && !ended, "nobody is given up at once");
    finish();
}

/* Progress is what a node holds more than before. */
static void test_held(void)
{
    int asked = 0;

    prepare(BYTES);
    setup.wish.timeout_s = 0.2;
    setup.is_late = on_late;
    start();
    for (uint32_t held = 1; held < 2000 && asked == 0; held++) {
        for (uint32_t v = 0; v < NODES; v++)
            (void)report_held(v, ID, held < 1000 ? held : 1000);
        event_base_loop(base, EVLOOP_ONCE);
        asked = held < 1000 ? 0 : asked_late;
    }
    until(asked_late);
    ok(asked_late > 0, "one that holds no more than before has no progress");
    finish();
}

/* --- the source ----------------------------------------------------------- */

static void test_changes(void)
{
    struct bcast_result r;

    begin();
    if (truncate(path, CHUNK) < 0)
        bail("cannot shorten it");
    connect_node(0);
    until(ended);
    r = bcast_home_result(home);
    ok(ended == 1 && node[1].ends == 1 && r.err->kind == ES_WORK
           && strstr(r.err->what, ": it changes while it is read"),
       "a source that is shortened ends it for all");
    ok(node[0].sums == 0 && node[0].lost[0] == 0, "and no sum is sent");
    finish();
    begin();
    if (truncate(path, BYTES + 1) < 0)
        bail("cannot lengthen it");
    connect_node(0);
    node[0].relays = 1;
    until(ended);
    ok(ended == 1 && node[0].sums == 0
           && strstr(bcast_home_result(home).err->what, ": it changes"),
       "so does one that grows: it is found before the sum is sent");
    finish();
}

static void test_refused(void)
{
    struct es_error err = {0};

    prepare(BYTES);
    setup.wish.source = dir;
    is_int(bcast_home_start(&home, &setup, &err), -1, "a folder is refused");
    ok(strstr(err.what, "it is a directory") && node[0].orders == 0,
       "with the reason, and nobody is told");
    setup.wish.source = path;
    setup.nodes = 0;
    is_int(bcast_home_start(&home, &setup, &err), -1, "so is no node");
}

static void test_memory(size_t bytes)
{
    struct es_error err;
    int rc = -1, good = 1, bad = 0;
    long n = 0;

    for (; (rc < 0 || node[0].orders + node[1].orders + node[2].orders < 3)
           && n < 100;
         n++) {
        bcast_home_destroy(home);
        home = NULL;
        prepare(bytes);
        setup.wish.small = 1000;
        err = (struct es_error){0};
        fault_at = n;
        rc = bcast_home_start(&home, &setup, &err);
        fault_at = -1;
        bad += node[0].bad + node[1].bad + node[2].bad;
        good &= rc == 0 || (err.kind == ES_ENV && node[0].orders == 0);
    }
    ok(rc == 0 && n > 4 && n < 100 && good,
       "%zu bytes: each allocation that fails is told", bytes);
    ok(bad >= 3, "and an order for which there is none is not half a one");
    finish();
}

int main(void)
{
    struct timeval often = {0, 20000};

    signal(SIGPIPE, SIG_IGN); /* as the programs do */
    event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
    if (!mkdtemp(dir) || secret_make(&secret) < 0)
        bail("no ground to stand on");
    seal = chunk_tag_seal(&secret, ID);
    base = event_base_new();
    tick = base ? event_new(base, -1, EV_PERSIST, on_tick, NULL) : NULL;
    if (!seal || !tick || event_add(tick, &often) < 0)
        bail("no event loop");
    snprintf(path, sizeof path, "%s/file", dir);
    for (size_t i = 0; i < MOST; i++)
        content[i] = (uint8_t)(i * 31 + (i >> 8));
    test_order();
    test_place();
    test_small();
    test_begins();
    test_all();
    test_pull();
    test_destroy();
    test_liars();
    test_messages();
    test_dies();
    test_failures();
    test_stalled();
    test_held();
    test_changes();
    test_refused();
    test_memory(BYTES);
    test_memory(1000);
    event_free(tick);
    event_base_free(base);
    seal_destroy(seal);
    (void)unlink(path);
    (void)rmdir(dir);
    return done();
}
