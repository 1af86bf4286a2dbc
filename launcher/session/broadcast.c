/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/broadcast.h"
#include "launcher/base/notice.h"
#include "launcher/base/signals.h"
#include "pmix_bcast/file_io.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
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

int broadcast_is_folder(const char *source)
{
    struct stat st;

    return stat(source, &st) == 0 && S_ISDIR(st.st_mode);
}

int broadcast_source(const char *source, struct es_error *err)
{
    if (access(source, R_OK) == 0)
        return broadcast_is_folder(source) ? 0 : file_check_size(source, err);
    return es_fail(err, errno == ENOENT ? ES_USAGE : ES_WORK,
                   "give a file that can be read", "%s: %s", source,
                   strerror(errno));
}

/* The nodes say which folder that is; see agent/node_destination.h. */
static int is_in_tmpdir(const char *text)
{
    return strncmp(text, "$TMPDIR/", 8) == 0
           || strncmp(text, "${TMPDIR}/", 10) == 0;
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

/* --- one part after the other ---------------------------------------------- */

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
    uint64_t bytes, sent; /* of their content */
};

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

static int start_next(struct broadcast *b);

static void tell_inward(const struct broadcast *b)
{
    const struct tree_source *tree = broadcast_part_source(&b->part[b->at]);
    char more[48] = "";

    if (!tree || tree->found.inward == 0)
        return;
    if (tree->found.inward > 1)
        snprintf(more, sizeof more, " and %" PRIu64 " more",
                 tree->found.inward - 1);
    notice(
        "warning: %s%s: absolute links into what is brought: in the copy they "
        "lead to the source: evenstep bcast --relocate-links makes them "
        "relative",
        tree->found.first_inward, more);
}

static void note_content(struct broadcast_before *o,
                         const struct tree_source *tree,
                         const struct bcast_result *r)
{
    o->bytes += tree ? tree->bytes : r->plan.bytes;
    o->sent += tree ? tree->index.bytes : r->plan.bytes;
}

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
    if (!b->begins)
        note_content(o, broadcast_part_source(&b->part[b->at]), &r);
}

/* Nobody gets anything more. */
static int is_given_up(const struct broadcast *b, const struct bcast_result *r)
{
    if (r->err->kind != ES_OK || r->failed == r->plan.nodes)
        return 1;
    for (uint32_t v = 0; b->all && v < r->plan.nodes; v++)
        if (r->node[v].why[0] && session_node(b->session, v)->present)
            return 1;
    return 0;
}

static int is_next_due(const struct broadcast *b)
{
    struct bcast_result r = bcast_home_result(b->home);

    return (b->begins || b->at + 1 < b->n_parts) && !is_given_up(b, &r);
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
    if (b->home && bcast_home_result(b->home).err->kind == ES_OK)
        tell_inward(b);
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

    (void)fd;
    (void)what;
    note_part(b);
    bcast_home_destroy(b->home);
    b->home = NULL;
    if (start_next(b) < 0)
        end(b);
    else
        lose_failed(b);
}

static int open_before(struct broadcast *b)
{
    b->before = calloc(1, sizeof *b->before);
    if (!b->before)
        return es_no_memory(&b->err);
    b->before->next = evtimer_new(b->base, on_part, b);
    b->before->over = evtimer_new(b->base, on_over, b);
    b->before->node =
        calloc(session_start_size(b->session), sizeof *b->before->node);
    return b->before->next && b->before->over && b->before->node
               ? 0
               : es_no_memory(&b->err);
}

/* --- start ---------------------------------------------------------------- */

static void on_ended(void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct broadcast *b = arg;

    if (is_next_due(b)) {
        if (event_add(b->before->next, &at_once) == 0)
            return;
        es_no_memory(&b->err);
    }
    end(b);
}

static uint32_t next_id(uint32_t *last)
{
    return *last ? ++*last : (*last = 1 + randombytes_uniform(1u << 30));
}

static int start_home(struct broadcast *b)
{
    /* So that a late caller of the last one is known, which may have been
     * another front end's. */
    static uint32_t id;
    struct broadcast_part *p = &b->part[b->at];
    const struct listen_at at = session_listen_at(b->session);
    struct bcast_home_setup home = {
        .base = b->base,
        .secret = session_secret(b->session),
        .ports = session_ports(b->session),
        .loopback = address_loopback_for(session_is_local(b->session)),
        .at = &at,
        .id = next_id(&id),
        .nodes = (uint32_t)session_start_size(b->session),
        .send = on_send,
        .is_late = is_late,
        .ended = on_ended,
        .arg = b,
    };

    if (broadcast_part_wish(p, b->begins, &home.wish, &b->err) < 0
        || bcast_home_start(&b->home, &home, &b->err) < 0)
        return -1;
    if (b->begins)
        p->begun = home.id;
    for (size_t i = 0; i < session_start_size(b->session); i++)
        if (!session_node(b->session, i)->present)
            bcast_home_lost(b->home, (uint32_t)i, "it was lost before", 0);
    return 0;
}

static void on_tree(void *arg, int result)
{
    struct broadcast *b = arg;

    if (result < 0 || start_home(b) < 0)
        end(b);
    else
        lose_failed(b);
}

static int start_part(struct broadcast *b)
{
    struct broadcast_part *p = &b->part[b->at];

    b->source = p->wish.source;
    return b->begins && broadcast_part_is_tree(p)
               ? broadcast_part_read(p, b->base, on_tree, b, &b->err)
               : start_home(b);
}

static int is_apart(const struct broadcast *b, size_t at)
{
    for (size_t i = b->first; i < at; i++)
        if (broadcast_part_overlaps(&b->part[i], &b->part[at]))
            return 0;
    return 1;
}

/* All the parts that can be begun before the content of the first comes are: so each
 * node is asked for the room for all of them.  A file that is alone is begun by its
 * content's own order. */
static int start_round(struct broadcast *b)
{
    b->first = b->at;
    b->end = b->at + 1;
    while (b->end < b->n_parts && is_apart(b, b->end))
        b->end++;
    b->begins = b->end > b->at + 1 || broadcast_part_is_tree(&b->part[b->at]);
    return start_part(b);
}

static int start_next(struct broadcast *b)
{
    if (!b->begins) {
        tell_inward(b);
        broadcast_part_clear(&b->part[b->at]);
    }
    b->at++;
    if (b->at == b->end && !b->begins)
        return start_round(b);
    if (b->at == b->end) {
        b->begins = 0;
        b->at = b->first;
    }
    return start_part(b);
}

static int make_parts(struct broadcast *b,
                      const struct broadcast_input *input,
                      size_t n)
{
    b->part = calloc(n * BROADCAST_PARTS, sizeof *b->part);
    if (!b->part)
        return es_no_memory(&b->err);
    for (size_t i = 0; i < n; i++)
        b->n_parts += broadcast_parts_of(b->part + b->n_parts, &input[i], i);
    return 0;
}

int broadcast_start_inputs(struct broadcast *b,
                           struct event_base *base,
                           struct session *session,
                           const struct broadcast_input *input,
                           size_t n,
                           int all,
                           void (*ended)(void *arg),
                           void *arg,
                           struct es_error *err)
{
    *b = (struct broadcast){.session = session,
                            .base = base,
                            .all = all,
                            .ended = ended,
                            .arg = arg};
    b->standstill = standstill_create(session);
    if (!b->standstill)
        return es_no_memory(err);
    if (make_parts(b, input, n) < 0 || open_before(b) < 0
        || start_round(b) < 0) {
        *err = b->err;
        return -1;
    }
    broadcast_top_start(&b->top, base, session, &b->home, &b->source);
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
    const struct broadcast_input input = {.wish = *wish};

    return broadcast_start_inputs(b, base, session, &input, 1, 0, ended, arg,
                                  err);
}

size_t broadcast_input_at(const struct broadcast *b)
{
    return b->part[b->at].input;
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
    const struct broadcast_part *p = &b->part[b->at];

    return !broadcast_part_source(p) || (p->wish.flags & ORDER_SINGLE) != 0;
}

struct broadcast_result broadcast_result(const struct broadcast *b)
{
    struct broadcast_result r = {.home = bcast_home_result(b->home)};
    const struct tree_source *tree = broadcast_part_source(&b->part[b->at]);

    r.bytes = r.sent = r.home.plan.bytes;
    if (tree) {
        r.files = is_file(b) ? 0 : tree->index.n - 1;
        r.left_out = tree->found.left_out;
        r.used = tree->found.used;
        r.bytes = tree->bytes;
        r.sent = tree->index.bytes;
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
                   r.failed == r.plan.nodes ? "see the lines above"
                   : b->begins ? "see the lines above; none of it was sent"
                               : "see the lines above; the others have it",
                   "%u of %u nodes have not got the %s", r.failed, r.plan.nodes,
                   is_file(b) ? "file" : "tree");
}

void broadcast_stop(struct broadcast *b)
{
    broadcast_top_stop(&b->top);
    bcast_home_destroy(b->home);
    b->home = NULL;
    for (size_t i = 0; i < b->n_parts; i++)
        broadcast_part_clear(&b->part[i]);
    free(b->part);
    b->part = NULL;
    b->n_parts = 0;
    destroy_before(b->before);
    b->before = NULL;
    standstill_destroy(b->standstill);
    b->standstill = NULL;
}
