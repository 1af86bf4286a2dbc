/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/bcast_report.h"
#include "launcher/base/json_member.h"
#include "launcher/base/report_head.h"

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

int bcast_report_write(struct report_out *out,
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
