/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/broadcast.h"
#include "launcher/base/notice.h"
#include "launcher/base/signals.h"
#include "pmix_bcast/file_extents.h"
#include "pmix_bcast/offload.h"

#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEARD_MS 100 /* for the loop to tell of a signal */

struct bcast_wish broadcast_wish(const struct config_bcast *config,
                                 uint32_t flags)
{
    if (config->strict)
        flags |= ORDER_STRICT;
    if (config->rails)
        flags |= ORDER_RAILS;
    if (config->threads > 1)
        flags |= config->threads << ORDER_THREADS_SHIFT;
    return (struct bcast_wish){.flags = flags,
                               .branches = config->branches,
                               .chunk = config->chunk,
                               .small = config->small,
                               .interfaces = config->interface,
                               .pack = config->compress,
                               .transport = config->transport};
}

int broadcast_source(const char *source, struct es_error *err)
{
    if (access(source, R_OK) == 0)
        return 0;
    return es_fail(err, ES_WORK, "give a file that can be read", "%s: %s",
                   source, strerror(errno));
}

/* The nodes say which folder that is; see agent/node_destination.h. */
static int is_in_tmpdir(const char *text)
{
    return strncmp(text, "$TMPDIR/", 8) == 0
           || strncmp(text, "${TMPDIR}/", 10) == 0;
}

int broadcast_is_folder(const char *source)
{
    struct stat st;

    return stat(source, &st) == 0 && S_ISDIR(st.st_mode);
}

int broadcast_destination(char out[DESTINATION_MAX],
                          const char *source,
                          const char *text,
                          struct es_error *err)
{
    char here[DESTINATION_MAX];
    size_t len = strlen(text);
    int n, is_whole = text[0] == '/' || is_in_tmpdir(text);

    while (len > 1 && text[len - 1] == '/' && broadcast_is_folder(source))
        len--;
    if (len == 0 || text[len - 1] == '/')
        return es_fail(err, ES_USAGE, "give the file's whole name",
                       "DST \"%s\" names no file", text);
    if (!is_whole && !getcwd(here, sizeof here))
        return es_fail(err, ES_USAGE, "give a whole path for DST",
                       "the working directory has no name");
    n = len < DESTINATION_MAX
            ? snprintf(out, DESTINATION_MAX, "%s%s%.*s", is_whole ? "" : here,
                       is_whole ? "" : "/", (int)len, text)
            : -1;
    if (n < 0 || (size_t)n >= DESTINATION_MAX)
        return es_fail(err, ES_USAGE, "give a shorter one",
                       "DST is longer than %u bytes", DESTINATION_MAX - 1);
    return 0;
}

int broadcast_cache(char out[DESTINATION_MAX],
                    const char *given,
                    const struct config_bcast *config,
                    struct es_error *err)
{
    int n;

    if (given[0] && given[0] != '/')
        return es_fail(err, ES_USAGE, "give a whole path",
                       "--cache: \"%.80s\" depends on where a node is", given);
    if (given[0])
        n = snprintf(out, DESTINATION_MAX, "%s", given);
    else
        n = snprintf(out, DESTINATION_MAX, "%s/evenstep-cache-%u",
                     config->cache, (unsigned)getuid());
    return n < (int)DESTINATION_MAX
               ? 0
               : es_fail(err, ES_USAGE, "give a shorter one",
                         "--cache is longer than %u bytes",
                         DESTINATION_MAX - 1);
}

static void on_send(void *arg, enum bcast_kind kind, struct writer *w)
{
    struct broadcast *b = arg;

    session_send_all(b->session, (enum protocol_type)(MSG_BCAST + kind), w);
}

static int is_late(void *arg, uint32_t node)
{
    const struct broadcast *b = arg;

    return standstill_is_late(b->standstill, node);
}

/* --- one part after the other: a tree's index, then its content ----------- */

struct broadcast_tree {
    struct tree_source source;
    struct broadcast *owner;
    struct tree_wish wish;
    struct offload *reading; /* the index is not whole yet */
    struct es_error err;     /* of that */
};

/* What the parts that are over have cost, and which nodes failed in one. */
struct broadcast_before {
    struct event *next; /* the next part's turn */
    struct event *over; /* there is none */
    struct {
        char why[BCAST_TEXT_MAX];
        int error;
    } * node; /* of each, owned */
    double seconds;
    uint64_t home_bytes;
    uint64_t bytes, sent; /* of libraries */
};

static void destroy_tree(struct broadcast_tree *t)
{
    if (!t)
        return;
    tree_source_cancel(&t->source);
    offload_destroy(t->reading);
    tree_source_close(&t->source);
    free(t);
}

static void destroy_before(struct broadcast_before *o)
{
    if (!o)
        return;
    if (o->next)
        event_free(o->next);
    if (o->over)
        event_free(o->over);
    free(o->node);
    free(o);
}

static int start_home(struct broadcast *b, struct es_error *err);
static int start_part(struct broadcast *b,
                      const struct tree_wish *sources,
                      struct es_error *err);

static void note_part(struct broadcast *b)
{
    struct bcast_result r = bcast_home_result(b->home);
    struct broadcast_before *o = b->before;

    o->seconds += r.seconds;
    o->home_bytes += r.home_bytes;
    for (uint32_t v = 0; v < r.plan.nodes; v++)
        if (!o->node[v].why[0]) {
            snprintf(o->node[v].why, BCAST_TEXT_MAX, "%s", r.node[v].why);
            o->node[v].error = r.node[v].error;
        }
    if (!(b->wish.flags & ORDER_INDEX)) {
        o->bytes += b->tree->source.bytes;
        o->sent += b->tree->source.index.bytes;
    }
}

static int start_content(struct broadcast *b, struct es_error *err)
{
    b->wish.flags = (b->wish.flags & ~(uint32_t)ORDER_INDEX) | ORDER_TREE;
    return tree_source_select(&b->tree->source, err) < 0 ? -1
                                                         : start_home(b, err);
}

/* Its libraries are there. */
static int start_program(struct broadcast *b, struct es_error *err)
{
    destroy_tree(b->tree);
    b->tree = NULL;
    b->libs = NULL;
    b->wish = b->program;
    return start_part(b, b->sources, err);
}

static int is_content_due(const struct broadcast *b)
{
    return (b->wish.flags & ORDER_INDEX) != 0;
}

static int is_part_due(const struct broadcast *b)
{
    struct bcast_result r = bcast_home_result(b->home);

    return (is_content_due(b) || b->libs) && r.err->kind == ES_OK
           && r.failed < r.plan.nodes;
}

static void lose_failed(struct broadcast *b)
{
    for (uint32_t v = 0; b->home && v < session_start_size(b->session); v++)
        if (b->before->node[v].why[0])
            bcast_home_lost(b->home, v, b->before->node[v].why,
                            b->before->node[v].error);
}

/* From here on top shows what it is for, a run, say. */
static void on_over(evutil_socket_t fd, short what, void *arg)
{
    struct broadcast *b = arg;

    (void)fd;
    (void)what;
    broadcast_top_stop(&b->top);
    b->ended(b->arg);
}

/* If a signal has ended it, that is told first: it says how all of this ends. */
static void end(struct broadcast *b)
{
    static const struct timeval heard = {0, HEARD_MS * 1000};

    if (!atomic_load(signals_come()) || event_add(b->before->over, &heard) < 0)
        on_over(-1, 0, b);
}

/* Not from the home that has ended. */
static void on_part(evutil_socket_t fd, short what, void *arg)
{
    struct broadcast *b = arg;
    int is_content = is_content_due(b);

    (void)fd;
    (void)what;
    note_part(b);
    bcast_home_destroy(b->home);
    b->home = NULL;
    if (is_content ? start_content(b, &b->err) < 0
                   : start_program(b, &b->err) < 0)
        end(b);
    else
        lose_failed(b);
}

static int open_before(struct broadcast *b, struct es_error *err)
{
    b->before = calloc(1, sizeof *b->before);
    if (!b->before)
        return es_no_memory(err);
    b->before->next = evtimer_new(b->base, on_part, b);
    b->before->over = evtimer_new(b->base, on_over, b);
    b->before->node =
        calloc(session_start_size(b->session), sizeof *b->before->node);
    return b->before->next && b->before->over && b->before->node
               ? 0
               : es_no_memory(err);
}

/* --- start ---------------------------------------------------------------- */

static void on_ended(void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct broadcast *b = arg;

    if (!is_part_due(b) || event_add(b->before->next, &at_once) < 0)
        end(b);
}

static uint32_t next_id(uint32_t *last)
{
    return *last ? ++*last : (*last = 1 + randombytes_uniform(1u << 30));
}

static int start_home(struct broadcast *b, struct es_error *err)
{
    /* So that a late caller of the last one is known, which may have been
     * another front end's. */
    static uint32_t id;
    struct bcast_home_setup home = {
        .base = b->base,
        .secret = session_secret(b->session),
        .ports = session_ports(b->session),
        .loopback = address_loopback_for(session_is_local(b->session)),
        .id = next_id(&id),
        .nodes = (uint32_t)session_start_size(b->session),
        .wish = b->wish,
        .send = on_send,
        .is_late = is_late,
        .ended = on_ended,
        .arg = b,
    };

    if (bcast_home_start(&b->home, &home, err) < 0)
        return -1;
    for (size_t i = 0; i < session_start_size(b->session); i++)
        if (!session_node(b->session, i)->present)
            bcast_home_lost(b->home, (uint32_t)i, "it was lost before", 0);
    return 0;
}

/* In a thread of its own. */
static int read_tree(void *arg)
{
    struct broadcast_tree *t = arg;

    if (tree_source_open(&t->source, &t->wish, &t->err) < 0)
        return -1;
    if (!(t->owner->wish.flags & (ORDER_UPDATE | ORDER_CACHE)))
        return 0;
    return tree_source_digest(&t->source, &t->err);
}

static void on_tree(void *arg, int result)
{
    struct broadcast_tree *t = arg;
    struct broadcast *b = t->owner;

    offload_destroy(t->reading);
    t->reading = NULL;
    b->err = t->err;
    if (result < 0 || start_home(b, &b->err) < 0)
        end(b);
    else
        lose_failed(b);
}

/* To look at all files may take long, and so may their digests. */
static int start_tree(struct broadcast *b,
                      const struct tree_wish *sources,
                      struct es_error *err)
{
    struct broadcast_tree *t = calloc(1, sizeof *t);

    if (!t)
        return es_no_memory(err);
    t->owner = b;
    t->wish = *sources;
    tree_source_init(&t->source, signals_come());
    b->tree = t;
    b->wish.tree = &t->source;
    b->wish.flags |= ORDER_INDEX;
    t->reading = offload_start(b->base, read_tree, on_tree, t);
    return t->reading ? 0 : es_no_memory(err);
}

/* A file; one with holes as a tree of it, whose index says where they are. */
static int start_file(struct broadcast *b, struct es_error *err)
{
    const struct tree_wish alone = {.source = &b->file, .n = 1, .single = 1};

    if (!file_extents_has_hole(b->wish.source))
        return start_home(b, err);
    b->file = (char *)b->wish.source; /* is only read */
    b->wish.flags |= ORDER_SINGLE;
    return start_tree(b, &alone, err);
}

/* A file, or a tree. */
static int start_part(struct broadcast *b,
                      const struct tree_wish *sources,
                      struct es_error *err)
{
    return sources ? start_tree(b, sources, err) : start_file(b, err);
}

/* As a folder, in which they are alone. */
static int start_libs(struct broadcast *b, struct es_error *err)
{
    const struct tree_wish all = {
        .source = b->libs->path,
        .n = b->libs->n,
        .single = b->libs->n == 1,
        .parts = b->sources ? b->sources->parts & TREE_DIGESTS : 0};

    b->wish.flags &= ~(uint32_t)ORDER_SINGLE;
    b->wish.destination = b->libs->destination;
    b->wish.is_whole = 1; /* the loader may have found them there */
    return start_part(b, &all, err);
}

int broadcast_start_program(struct broadcast *b,
                            struct event_base *base,
                            struct session *session,
                            const struct bcast_wish *wish,
                            const struct tree_wish *sources,
                            const struct libs *libs,
                            void (*ended)(void *arg),
                            void *arg,
                            struct es_error *err)
{
    *b = (struct broadcast){.session = session,
                            .base = base,
                            .wish = *wish,
                            .libs = libs && libs->n > 0 ? libs : NULL,
                            .program = *wish,
                            .sources = sources,
                            .ended = ended,
                            .arg = arg};
    b->standstill = standstill_create(session);
    if (!b->standstill)
        return es_no_memory(err);
    if (open_before(b, err) < 0
        || (b->libs ? start_libs(b, err) : start_part(b, sources, err)) < 0)
        return -1;
    broadcast_top_start(&b->top, base, session, &b->home, wish->source);
    return 0;
}

int broadcast_start(struct broadcast *b,
                    struct event_base *base,
                    struct session *session,
                    const struct bcast_wish *wish,
                    void (*ended)(void *arg),
                    void *arg,
                    struct es_error *err)
{
    return broadcast_start_program(b, base, session, wish, NULL, NULL, ended,
                                   arg, err);
}

/* --- while it runs -------------------------------------------------------- */

int broadcast_message(struct broadcast *b,
                      size_t node,
                      uint16_t type,
                      const uint8_t *body,
                      size_t len)
{
    int64_t stopped;

    if (!b->home || node >= session_start_size(b->session))
        return 0;
    if (standstill_message(b->standstill, node, type, body, len, &stopped)) {
        bcast_home_move(b->home, (uint32_t)node, (double)stopped / 1e9);
        return 1;
    }
    if (type < MSG_BCAST || type >= MSG_BCAST_END)
        return 0;
    if (bcast_home_receive(b->home, (uint32_t)node,
                           (enum bcast_kind)(type - MSG_BCAST), body, len)
        < 0)
        session_drop(b->session, node);
    return 1;
}

void broadcast_lost(struct broadcast *b, size_t node, const char *why)
{
    if (b->home)
        bcast_home_lost(b->home, (uint32_t)node, why, 0);
}

const struct es_error *broadcast_error(const struct broadcast *b)
{
    return b->home ? bcast_home_result(b->home).err : &b->err;
}

static int is_file(const struct broadcast *b)
{
    return !b->tree || (b->wish.flags & ORDER_SINGLE) != 0;
}

struct broadcast_result broadcast_result(const struct broadcast *b)
{
    struct broadcast_result r = {.home = bcast_home_result(b->home)};

    r.bytes = r.sent = r.home.plan.bytes;
    if (b->tree) {
        r.files = is_file(b) ? 0 : b->tree->source.index.n - 1;
        r.left_out = b->tree->source.found.left_out;
        r.bytes = b->tree->source.bytes;
        r.sent = b->tree->source.index.bytes;
    }
    r.bytes += b->before->bytes;
    r.sent += b->before->sent;
    r.home_bytes = r.home.home_bytes + b->before->home_bytes;
    r.seconds = r.home.seconds + b->before->seconds;
    return r;
}

/* Each note once, and of how many nodes it is. */
static void tell_notes(const struct broadcast *b, const struct bcast_result *r)
{
    for (uint32_t v = 0; v < r->plan.nodes; v++) {
        uint32_t others = 0, before = 0;

        for (uint32_t i = 0; i < r->plan.nodes; i++)
            if (i != v && strcmp(r->node[i].note, r->node[v].note) == 0) {
                before += i < v;
                others++;
            }
        if (!r->node[v].note[0] || before > 0
            || strcmp(r->node[v].note, r->note) == 0)
            continue;
        if (others > 0)
            notice("%s and %u more: %s", session_node(b->session, v)->name,
                   others, r->node[v].note);
        else
            notice("%s: %s", session_node(b->session, v)->name,
                   r->node[v].note);
    }
}

int broadcast_check(const struct broadcast *b, struct es_error *err)
{
    struct bcast_result r;

    if (broadcast_error(b)->kind != ES_OK) {
        *err = *broadcast_error(b);
        return -1;
    }
    r = bcast_home_result(b->home);
    if (r.note[0])
        notice("%s", r.note);
    tell_notes(b, &r);
    for (uint32_t v = 0; v < r.plan.nodes; v++)
        if (r.node[v].why[0])
            notice("%s: %s", session_node(b->session, v)->name, r.node[v].why);
    if (r.failed == 0)
        return 0;
    return es_fail(err, ES_WORK,
                   r.failed < r.plan.nodes
                       ? "see the lines above; the others have it"
                       : "see the lines above",
                   "%u of %u nodes have not got the %s", r.failed, r.plan.nodes,
                   is_file(b) ? "file" : "tree");
}

void broadcast_stop(struct broadcast *b)
{
    broadcast_top_stop(&b->top);
    bcast_home_destroy(b->home);
    b->home = NULL;
    destroy_tree(b->tree);
    b->tree = NULL;
    destroy_before(b->before);
    b->before = NULL;
    standstill_destroy(b->standstill);
    b->standstill = NULL;
}
