/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep bcast: brings files and folders to every node of the allocation, as
 * sbcast brings a file, but near the speed of the wire.
 */
#include "launcher/base/json_member.h"
#include "launcher/base/loader_list.h"
#include "launcher/base/named_files.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/base/report_head.h"
#include "launcher/base/report_out.h"
#include "launcher/base/text_file.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/config/local_option.h"
#include "launcher/session/broadcast.h"
#include "launcher/session/front.h"
#include "launcher/session/session.h"
#include "pmix_bcast/fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- bcast report -------------------------------------------------------------- */

/* How a broadcast went, as the lines of its report. */

static json_t *broadcast_json(const struct session *session,
                              const struct bcast_wish *wish,
                              const struct broadcast_result *r)
{
    const struct bcast_result *h = &r->home;
    uint32_t job, step;
    json_t *line = json_pack(
        "{s:s, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "type",
        "bcast", "bytes", (json_int_t)r->bytes, "nodes",
        (json_int_t)h->plan.nodes, "seconds", r->seconds, "chunks",
        (json_int_t)h->plan.chunks, "chunk_bytes", (json_int_t)h->plan.chunk,
        "home_bytes_sent", (json_int_t)r->home_bytes, "duplicate_bytes",
        (json_int_t)h->duplicates, "pulls", (json_int_t)h->pulls,
        "refused_pulls", (json_int_t)h->refused, "threads",
        (json_int_t)h->threads, "failed", (json_int_t)h->failed);

    session_job(session, &job, &step);
    line = json_member(line, "source", json_text(wish->source));
    if (wish->pack != PACK_NONE)
        line = json_member(line, "compressed_to", json_real(h->left));
    line = json_member(line, "destination", json_text(wish->destination));
    if (r->files > 0)
        line = json_member(line, "files", json_integer((json_int_t)r->files));
    return json_member(line, "report", report_head("bcast", job, step));
}

static json_t *node_json(const char *name, const struct bcast_node_result *n)
{
    json_t *line = json_pack("{s:s, s:s}", "type", "node", "node", name);

    line = json_member(line, "seconds",
                       n->seconds >= 0 ? json_real(n->seconds) : json_null());
    return json_member(line, "why", json_text(n->why));
}

/* Nothing is written if out is of no file. */
static int bcast_report_write(struct report_out *out,
                              const struct session *session,
                              const struct bcast_wish *wish,
                              const struct broadcast_result *r,
                              struct es_error *err)
{
    int rc;

    if (!out->file)
        return 0;
    rc = report_out_line(out, broadcast_json(session, wish, r), err);
    for (uint32_t v = 0; rc == 0 && v < r->home.plan.nodes; v++)
        rc = report_out_line(
            out, node_json(session_node(session, v)->name, &r->home.node[v]),
            err);
    return rc;
}

/* --- bcast --------------------------------------------------------------------- */

struct options {
    const char *srun, *report;
    struct tree_wish sources;
    char *exclude[EXCLUDE_MAX];
    uint32_t n_exclude;
    int recursive, relocate, is_tree;
    char destination[DESTINATION_MAX], cache_path[DESTINATION_MAX];
    const char *cache; /* NULL: none; "": where the configuration says */
    struct bcast_wish setup;
    struct local_option local;
    char interface[NETWORK_LIST_MAX];
    int update, delete, xattrs, null;
    const char *files_from;
    struct tree_list list;
    int with_libs;
    const char *exclude_libs; /* NULL: as the configuration says */
    struct libs libs;
    int force, preserve, no_sync, verify, strict, rails, json;
    int compress;  /* enum pack; negative: as the configuration says */
    int transport; /* enum transport; likewise */
};

struct command {
    const struct options *o;
    struct config config;
    struct es_error *err;
    struct front front;
    struct broadcast broadcast;
    struct report_out report;
};

/* --- options -------------------------------------------------------------- */

#define AT(member) OPTION_AT(struct options, member)

static int interface_take(void *at, const char *text, struct es_error *err)
{
    struct options *o = at;

    if (network_list_check(text) < 0)
        return es_fail(err, ES_USAGE,
                       "give names and networks as in "
                       "\"ib0,hsn*,10.1.0.0/16\"",
                       "--interface \"%s\" is no such list", text);
    snprintf(o->interface, sizeof o->interface, "%s", text);
    return 0;
}

static int exclude_take(void *at, const char *text, struct es_error *err)
{
    struct options *o = at;

    if (o->n_exclude == EXCLUDE_MAX)
        return es_fail(err, ES_USAGE, "join some, as in \"*.[oa]\"",
                       "--exclude is given more than %u times", EXCLUDE_MAX);
    o->exclude[o->n_exclude] = strdup(text);
    return o->exclude[o->n_exclude++] ? 0 : es_no_memory(err);
}

/* clang-format off */
static const struct option options[] = {
    {OPTION_GROUP, .name = "as with sbcast:"},
    {OPTION_FLAG, "force", NULL, AT(force), .letter = 'f', .help =
     "replace DST where it exists"},
    {OPTION_FLAG, "preserve", NULL, AT(preserve), .letter = 'p', .help =
     "keep SRC's time of change, too"},
    {OPTION_COUNT, "fanout", "K", AT(setup.branches), .low = 1,
     .high = PLAN_NODES_MAX, .letter = 'F', .alias = "branches", .help =
     "nodes that this host sends to itself (as is best)"},
    {OPTION_SIZE, "size", "SIZE", AT(setup.chunk), .low = CHUNK_MIN,
     .high = CHUNK_MAX, .letter = 's', .alias = "chunk", .help =
     "bytes of a chunk, 1Ki to 4Mi (as is best)"},
    {OPTION_SECONDS, "timeout", "SEC", AT(setup.timeout_s), .low = 3,
     .high = 1e6, .letter = 't', .help =
     "give a node up that makes no progress for so long (10; at least 3: a "
     "node reports every second)"},
    {OPTION_GROUP, .name = "of folders:"},
    {OPTION_FLAG, "recursive", NULL, AT(recursive), .letter = 'r', .help =
     "SRC may be a folder: bring all that is in it; times are kept, links "
     "stay links"},
    {OPTION_TAKE, "exclude", "PATTERN", .take = exclude_take, .needs =
     "recursive", .help =
     "leave out what is called so, as in \"*.o\" or \"docs/*.pdf\", as rsync does; "
     "repeatable"},
    {OPTION_FLAG, "relocate-links", NULL, AT(relocate), .needs = "recursive", .help =
     "absolute links that lead into SRC lead into the copy"},
    {OPTION_TEXT, "files-from", "FILE", AT(files_from), .file = OPTION_READS, .needs = "recursive",
     .help = "bring only what this list names, a path from SRC on in each "
             "line; - is the standard input"},
    {OPTION_FLAG, "null", NULL, AT(null), .letter = '0', .needs = "files-from",
     .help = "paths in the list end with a NUL, as find -print0 writes them"},
    {OPTION_GROUP, .name = "of what is there already:"},
    {OPTION_FLAG, "update", NULL, AT(update), .letter = 'u', .help =
     "bring only what differs from DST, by size and digest; what only DST has "
     "stays"},
    {OPTION_FLAG, "delete", NULL, AT(delete), .needs = "update", .help =
     "what only DST has goes, and what --exclude or --files-from leaves out"},
    {OPTION_TEXT, "cache", "DIR", AT(cache), .bare = "", .help =
     "keep what is brought on the nodes, by its content, and bring only what "
     "is not there (DIR: their folder for this user, with {node} if need be)"},
    {OPTION_GROUP, .name = "of programs:"},
    {OPTION_FLAG, "libs", NULL, AT(with_libs), .help =
     "SRC is a program: bring the shared objects that it needs, too, to "
     "DST_libs"},
    {OPTION_TEXT, "exclude-libs", "FOLDERS", AT(exclude_libs), .needs = "libs",
     .help = "but for those in these, as in \"/lib,/usr/lib\", or none"},
    {OPTION_GROUP, .name = "besides:"},
    {OPTION_FLAG, "xattrs", NULL, AT(xattrs), .help =
     "keep extended attributes and access control lists, too"},
    {OPTION_FLAG, "no-sync", NULL, AT(no_sync), .help =
     "DST need not be on the disk when this command ends"},
    {OPTION_FLAG, "verify", NULL, AT(verify), .help =
     "read DST back on every node before it counts"},
    {OPTION_FLAG, "strict", NULL, AT(strict), .help =
     "the tree and pull as published (CN 102486739)"},
    {OPTION_WORD, "pull", "turn|chunk|node", AT(setup.way), .help =
     "with --strict: each asks another in turn; or by lot, first for the chunk or the node"},
    {OPTION_TAKE, "interface", "LIST", .take = interface_take, .help =
     "data goes by the fastest of these networks that two nodes have, as in "
     "\"ib0,hsn*,10.1.0.0/16\""},
    {OPTION_FLAG, "rails", NULL, AT(rails), .help =
     "by several of them at once, where two nodes have them"},
    {OPTION_WORD, "compress", "none|lz4|zstd|auto", AT(compress), .help =
     "send it compressed, but for what does not get smaller; auto: where that "
     "is faster"},
    {OPTION_WORD, "transport", "tcp|auto|ofi", AT(transport), .help =
     "data goes by TCP, or by libfabric; auto: by that where it drives a fast "
     "network"},
    {OPTION_FLAG, "json", NULL, AT(json), .help =
     "print what was done as one JSON object"},
    {OPTION_TEXT, "report", "FILE", AT(report), .file = OPTION_WRITES, .help =
     "write it into FILE, too, for evenstep report"},
    {OPTION_LOCAL, AT(local), .excludes = "srun"},
    {OPTION_SRUN, AT(srun)},
    {.type = OPTION_END},
};
/* clang-format on */

/* "SRC... DST": what is to be brought. */
static void parse_sources(struct options *o, char **words)
{
    size_t n = 0;

    while (words[n + 1])
        n++;
    o->sources = (struct tree_wish){.source = words, .n = n};
    o->is_tree = n > 1;
    for (size_t i = 0; i < n; i++)
        o->is_tree |= broadcast_is_folder(words[i]);
    o->sources.exclude = o->exclude;
    o->sources.n_exclude = o->n_exclude;
    o->sources.relocate = o->relocate;
    if (o->update || o->cache)
        o->sources.parts |= TREE_DIGESTS;
    if (o->xattrs)
        o->sources.parts |= TREE_XATTRS;
    o->sources.single = !o->is_tree;
    o->setup.source = words[0];
}

/* Before the agents are started: it is the most common mistake. */
static int check_sources(const struct options *o, struct es_error *err)
{
    for (size_t i = 0; i < o->sources.n; i++) {
        const char *source = o->sources.source[i];

        if (broadcast_source(source, err) < 0)
            return -1;
        if (!o->recursive && broadcast_is_folder(source))
            return es_fail(err, ES_WORK, "give -r to bring all that is in it",
                           "%s: it is a directory", source);
    }
    return 0;
}

static int find_libs(struct options *o,
                     const struct config_bcast *config,
                     struct es_error *err)
{
    const char *exclude =
        o->exclude_libs ? o->exclude_libs : config->exclude_libs;

    if (!o->with_libs)
        return 0;
    if (o->is_tree)
        return es_fail(err, ES_USAGE, "bring them one after the other",
                       "--libs is of one program");
    if (loader_list_check(exclude) < 0)
        return es_fail(err, ES_USAGE,
                       "give folders as in \"/lib,/usr/lib\", or none",
                       "--exclude-libs \"%s\" is no list of folders", exclude);
    if (libs_find(&o->libs, o->sources.source[0], o->destination, exclude, err)
        < 0)
        return -1;
    if (o->libs.n == 0)
        notice("--libs: %s needs none that the nodes have not got",
               o->sources.source[0]);
    return 0;
}

static int read_list(struct options *o, struct es_error *err)
{
    FILE *in;
    int rc;

    if (!o->files_from)
        return 0;
    if (o->sources.n > 1)
        return es_fail(err, ES_USAGE, "give one folder",
                       "--files-from is of one SRC");
    in = strcmp(o->files_from, "-") == 0 ? stdin : fopen(o->files_from, "re");
    if (!in)
        return es_fail(err, ES_WORK, "give a file that can be read", "%s: %s",
                       o->files_from, strerror(errno));
    text_file_skip_mark(in);
    rc = tree_list_read(&o->list, in, o->null ? '\0' : '\n', err);
    if (in != stdin)
        (void)fclose(in);
    o->sources.list = &o->list;
    return rc;
}

static int parse_destination(struct options *o,
                             char *text,
                             struct es_error *err)
{
    size_t len = strlen(text);

    while (o->is_tree && len > 1 && text[len - 1] == '/')
        text[--len] = '\0';
    o->setup.destination = o->destination;
    return broadcast_destination(o->destination, o->sources.source[0], text,
                                 err);
}

static int check_files(const struct options *o, struct es_error *err)
{
    struct named_files f;
    int rc = named_files_of_options(&f, options, o, err);

    for (size_t i = 0; rc == 0 && i < o->sources.n; i++)
        rc = named_files_read(&f, NULL, "SRC", o->sources.source[i], err);
    return rc;
}

static int parse(struct options *o, char **words, struct es_error *err)
{
    o->setup.flags =
        (o->force ? ORDER_FORCE : 0u) | (o->preserve ? ORDER_TIMES : 0u)
        | (o->no_sync ? 0u : ORDER_SYNC) | (o->verify ? ORDER_VERIFY : 0u)
        | (o->strict ? ORDER_STRICT : 0u) | (o->update ? ORDER_UPDATE : 0u)
        | (o->delete ? ORDER_DELETE : 0u) | (o->cache ? ORDER_CACHE : 0u);
    parse_sources(o, words);
    if (!o->is_tree && o->sources.parts)
        o->setup.flags |= ORDER_SINGLE;
    if (parse_destination(o, words[o->sources.n], err) < 0)
        return -1;
    if (o->local.n > 1 && !strstr(o->destination, "{node}"))
        return es_fail(err, ES_USAGE, "give DST with {node} in it",
                       "with --local all nodes would write the same file");
    return check_sources(o, err) < 0 || check_files(o, err) < 0
               ? -1
               : read_list(o, err);
}

/* --- results
 * ------------------------------------------------------------------ */

static json_t *node_seconds(const struct command *c,
                            const struct broadcast_result *r)
{
    double before = r->seconds - r->home.seconds; /* a tree's index */
    json_t *all = json_object();

    for (uint32_t v = 0; v < r->home.plan.nodes; v++)
        (void)json_object_set_new(all, session_node(c->front.session, v)->name,
                                  r->home.node[v].seconds >= 0 ? json_real(
                                      before + r->home.node[v].seconds)
                                                               : json_null());
    return all;
}

static json_t *result_json(const struct command *c,
                           const struct broadcast_result *r)
{
    const struct bcast_result *h = &r->home;
    json_t *all = json_pack(
        "{s:I, s:I, s:f, s:n, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "bytes",
        (json_int_t)r->bytes, "nodes", (json_int_t)h->plan.nodes, "seconds",
        r->seconds, "limit_seconds", "chunks", (json_int_t)h->plan.chunks,
        "chunk_bytes", (json_int_t)h->plan.chunk, "home_bytes_sent",
        (json_int_t)r->home_bytes, "duplicate_bytes", (json_int_t)h->duplicates,
        "pulls", (json_int_t)h->pulls, "refused_pulls", (json_int_t)h->refused,
        "threads", (json_int_t)h->threads, "node_seconds", node_seconds(c, r));

    if (c->o->sources.parts & TREE_DIGESTS)
        all = json_member(all, "sent_bytes", json_integer((json_int_t)r->sent));
    if (c->o->setup.transport != TRANSPORT_TCP)
        all = json_member(all, "fabric_bytes",
                          json_integer((json_int_t)h->fabric));
    if (c->o->setup.pack != PACK_NONE)
        all = json_member(all, "compressed_to", json_real(h->left));
    if (!c->o->is_tree)
        return all;
    all = json_member(all, "files", json_integer((json_int_t)r->files));
    return json_member(all, "left_out", json_integer((json_int_t)r->left_out));
}

/* Where they are, for LD_LIBRARY_PATH. */
static json_t *with_libs(const struct command *c, json_t *all)
{
    const struct libs *l = &c->o->libs;

    if (l->n == 0)
        return all;
    all = json_member(all, "libs", json_integer((json_int_t)l->n));
    return json_member(all, "libs_folder", json_text(l->destination));
}

static int print_json(const struct command *c, const struct broadcast_result *r)
{
    json_t *all = with_libs(c, result_json(c, r));
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    return rc == 0 && putchar('\n') != EOF && fflush(stdout) == 0 ? 0 : -1;
}

static void tell(const struct command *c, const struct broadcast_result *r)
{
    char what[240], bytes[NUMBER_BYTES_TEXT];

    number_print_bytes(bytes, (double)r->bytes);
    snprintf(what, sizeof what, "%s", bytes);
    if (c->o->is_tree)
        snprintf(what, sizeof what, "%s in %u %s", bytes, r->files,
                 r->files == 1 ? "file or folder" : "files and folders");
    if (c->o->sources.parts & TREE_DIGESTS) {
        number_print_bytes(bytes, (double)r->sent);
        snprintf(what + strlen(what), sizeof what - strlen(what),
                 ", of which %s were sent,", bytes);
    }
    if (r->home.left < 1)
        snprintf(what + strlen(what), sizeof what - strlen(what),
                 ", compressed to %.0f %%,", 100 * r->home.left);
    if (r->home.fabric > 0) {
        number_print_bytes(bytes, (double)r->home.fabric);
        snprintf(what + strlen(what), sizeof what - strlen(what),
                 ", %s of all by libfabric,", bytes);
    }
    if (c->o->libs.n > 0)
        snprintf(what + strlen(what), sizeof what - strlen(what),
                 " (libraries: %zu)", c->o->libs.n);
    notice("%s to %u node%s in %.3f s", what, r->home.plan.nodes,
           r->home.plan.nodes == 1 ? "" : "s", r->seconds);
}

static int has_failed_with(const struct bcast_result *r, int error)
{
    for (uint32_t v = 0; v < r->plan.nodes; v++)
        if (r->node[v].why[0] && r->node[v].error == error)
            return 1;
    return 0;
}

/* One has made it, and the others found it there. */
static int is_shared(const struct bcast_result *r)
{
    uint32_t there = 0, done = 0;

    for (uint32_t v = 0; v < r->plan.nodes; v++) {
        done += !r->node[v].why[0];
        there += r->node[v].why[0] && r->node[v].error == EEXIST;
    }
    return done == 1 && there + 1 == r->plan.nodes;
}

/* The nodes have said what is wrong, in the words of the system. */
static void say_how_to_mend(const struct options *o,
                            const struct bcast_result *r,
                            struct es_error *err)
{
    const char *mend = NULL;

    if (!o->force && !o->update && has_failed_with(r, EEXIST))
        mend = is_shared(r) ? "-f replaces what was there; if the nodes share "
                              "the folder, that copy is there for all"
                            : "-f replaces what is there";
    else if (!o->is_tree && has_failed_with(r, EISDIR))
        mend = "DST is the name of the copy, not that of its folder";
    else if (has_failed_with(r, ENOENT))
        mend = "the folder of DST must be there";
    if (mend)
        snprintf(err->mend + strlen(err->mend),
                 sizeof err->mend - strlen(err->mend), "; %s", mend);
}

/* What of the pattern is behind SRC, if it begins with that; else NULL. */
static const char *behind_source(const struct options *o, const char *pattern)
{
    const char *source = o->sources.source[0], *slash = strrchr(source, '/');
    const char *begin[] = {"./", source, slash ? slash + 1 : source};

    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++) {
        size_t len = strlen(begin[i]);

        if (len > 0 && strncmp(pattern, begin[i], len) == 0
            && (pattern[len] == '/' || begin[i][len - 1] == '/')
            && pattern[len + (pattern[len] == '/')])
            return pattern + len + (pattern[len] == '/');
    }
    return NULL;
}

static void say_unused(const struct options *o, uint64_t used)
{
    for (uint32_t i = 0; i < o->n_exclude; i++) {
        const char *pattern = o->exclude[i], *rest = behind_source(o, pattern);

        if (used & UINT64_C(1) << i)
            continue;
        if (rest && o->sources.n == 1)
            notice("--exclude %s: nothing was left out: a path begins in SRC: "
                   "give \"/%s\"",
                   pattern, rest);
        else
            notice("--exclude %s: nothing was left out: nothing that is "
                   "brought is called so",
                   pattern);
    }
}

static int results(struct command *c)
{
    int rc = broadcast_check(&c->broadcast, c->err);
    struct broadcast_result r;

    if (broadcast_error(&c->broadcast)->kind != ES_OK)
        return -1;
    r = broadcast_result(&c->broadcast);
    if (rc < 0)
        say_how_to_mend(c->o, &r.home, c->err);
    say_unused(c->o, r.used);
    if (r.left_out > 0)
        notice("sockets, pipes and devices are left out: %" PRIu64, r.left_out);
    if (c->o->json && print_json(c, &r) < 0 && rc == 0)
        return es_no_space(c->err);
    /* What failed is told already. */
    if (bcast_report_write(&c->report, c->front.session, &c->o->setup, &r,
                           rc == 0 ? c->err : NULL)
        < 0)
        rc = -1;
    if (!c->o->json && rc == 0)
        tell(c, &r);
    return rc;
}

/* --- the session
 * ---------------------------------------------------------------- */

static void on_ended(void *arg)
{
    struct command *c = arg;

    front_finish(&c->front, results(c));
}

static void on_ready(void *arg)
{
    struct command *c = arg;
    const struct options *o = c->o;
    const struct broadcast_input input = {
        .wish = o->setup,
        .sources = o->is_tree || o->sources.parts ? &o->sources : NULL,
        .libs = &o->libs};

    if (broadcast_start_inputs(&c->broadcast, c->front.base, c->front.session,
                               &input, 1, 0, on_ended, c, c->err)
        < 0)
        front_finish(&c->front, 1);
}

static void on_message(
    void *arg, size_t node, uint16_t type, const uint8_t *body, size_t len)
{
    struct command *c = arg;

    (void)broadcast_message(&c->broadcast, node, type, body, len);
}

static void on_lost(void *arg, size_t node, const char *why)
{
    struct command *c = arg;

    broadcast_lost(&c->broadcast, node, why);
}

static const struct session_events session_events = {
    .ready = on_ready,
    .message = on_message,
    .lost = on_lost,
};

static int start(struct command *c)
{
    struct session_setup setup = {.local = c->o->local.n,
                                  .local_speed =
                                      local_option_speeds(&c->o->local),
                                  .place.srun_args = c->o->srun};

    if (front_begin(&c->front, c->err) < 0
        || front_catch(&c->front, "nothing is left half-written") < 0)
        return -1;
    return front_open(&c->front, &c->config, &setup, &session_events, c);
}

static void clear(struct command *c)
{
    broadcast_stop(&c->broadcast);
    front_close(&c->front);
    front_end(&c->front);
}

static int choose_cache(struct options *o,
                        const struct config_bcast *c,
                        struct es_error *err)
{
    if (!o->cache)
        return 0;
    o->setup.cache = o->cache_path;
    o->setup.cache_bytes = c->cache_bytes;
    return broadcast_cache(o->cache_path, o->cache, c, err);
}

/* What was not given is as the configuration says. */
static void take_defaults(struct bcast_wish *w, const struct config_bcast *c)
{
    const struct bcast_wish known = broadcast_wish(c, w->flags);

    if (w->branches == 0)
        w->branches = known.branches;
    if (w->chunk == 0)
        w->chunk = known.chunk;
    w->flags = known.flags;
    w->small = known.small;
    w->interfaces = known.interfaces;
    w->pack = known.pack;
    w->transport = known.transport;
}

static int check_transport(const struct bcast_wish *w, struct es_error *err)
{
    if (w->transport != TRANSPORT_OFI || fabric_is_built())
        return 0;
    return es_fail(err, ES_USAGE,
                   "give tcp or auto, or build it where libfabric-dev is",
                   "transport \"ofi\": this evenstep was built without "
                   "libfabric");
}

static int bcast_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {.compress = -1, .transport = -1};
    struct command c = {.o = &o, .err = err};
    int rc = options_parse(&command_bcast, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (parse(&o, argv + 1, err) < 0 || config_load(&c.config, NULL, err) < 0)
        return -1;
    if (o.interface[0])
        memcpy(c.config.bcast.interface, o.interface, sizeof o.interface);
    if (o.compress >= 0)
        c.config.bcast.compress = (enum pack)o.compress;
    c.config.bcast.rails |= o.rails;
    if (o.rails && !c.config.bcast.interface[0])
        return es_fail(err, ES_USAGE,
                       "name them by --interface, or by interface of bcast in "
                       "evenstep.conf",
                       "--rails: no networks are meant for data");
    if (o.transport >= 0)
        c.config.bcast.transport = (enum transport)o.transport;
    take_defaults(&o.setup, &c.config.bcast);
    if (check_transport(&o.setup, err) < 0
        || choose_cache(&o, &c.config.bcast, err) < 0
        || find_libs(&o, &c.config.bcast, err) < 0)
        return -1;
    if (front_is_alone(o.local.n > 0, err) < 0
        || front_has_nodes(o.local.n > 0, err) < 0
        || report_out_open(&c.report, o.report, err) < 0 || start(&c) < 0)
        front_finish(&c.front, 1);
    rc = front_run(&c.front);
    if (report_out_close(&c.report, rc < 0 ? NULL : err) < 0)
        rc = -1;
    clear(&c);
    tree_list_clear(&o.list);
    libs_clear(&o.libs);
    return rc;
}

const struct subcommand command_bcast = {
    .name = "bcast",
    .brief = "copy files and folders to every node of the allocation",
    .about =
        "Copy the file SRC to DST on every node of the allocation.  DST keeps SRC's\n"
        "mode; {node} in it is the node's name, and '$TMPDIR/' at its start (quoted\n"
        "from the shell) the folder that the job has on each node.  It appears on a\n"
        "node when it is whole and its digests are right, never before.  With -r SRC\n"
        "may be a folder: DST is its copy.  With several SRC, DST is a folder with all\n"
        "of them.\n",
    .option = options,
    .often = " recursive force preserve compress cache update libs json local ",
    .examples = "  evenstep bcast input.dat /tmp/input.dat\n"
                "  evenstep bcast -r venv '$TMPDIR/venv'\n"
                "  evenstep bcast --compress auto image.sif /tmp/image.sif\n",
    .operands = "SRC... DST",
    .run = bcast_main,
};
