/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/report.h"
#include "launcher/base/user_file.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

static int report_fail(struct report *r, struct es_error *err)
{
    return es_fail(err, ES_WORK, "free some space or name another file",
                   "--report: %s: %s", r->path, strerror(errno));
}

int report_open(struct report *r, const char *path, struct es_error *err)
{
    const char *why;
    int fd;

    memset(r, 0, sizeof *r);
    r->path = path;
    if (!path)
        return 0;
    fd = user_file_create(path, 0, &why);
    r->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (r->file)
        return 0;
    if (fd >= 0) {
        why = strerror(errno);
        close(fd);
    }
    return es_fail(err, ES_USAGE, "name a file that you may write",
                   "--report: %s: %s", path, why);
}

/* One object a line; takes over line, which may be NULL (no memory). */
static int write_line(struct report *r, json_t *line, struct es_error *err)
{
    int rc = -1;

    errno = ENOMEM;
    if (line && json_dumpf(line, r->file, JSON_COMPACT) == 0
        && putc('\n', r->file) != EOF && fflush(r->file) == 0)
        rc = 0;
    json_decref(line);
    return rc == 0 ? 0 : report_fail(r, err);
}

static json_t *slice_json(const struct distribution *d, const struct piece *p)
{
    const struct dispatch_piece *part = &p->part;

    return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:i, s:i}", "node",
                     distribution_name(d, part->node), "begin",
                     (json_int_t)part->units.begin, "end",
                     (json_int_t)part->units.end, "seconds", part->seconds,
                     "sent", part->sent, "back", part->back, "attempt",
                     (int)part->attempt, "status", p->status);
}

int report_frame(struct report *r,
                 struct distribution *d,
                 const struct determination *t,
                 int adjusted,
                 struct es_error *err)
{
    const struct piece *piece;
    json_t *slices;
    size_t n;

    if (!r->file)
        return 0;
    slices = json_array();
    piece = distribution_pieces(d, &n);
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(slices, slice_json(d, &piece[i])) < 0) {
            json_decref(slices);
            errno = ENOMEM;
            return report_fail(r, err);
        }
    return write_line(
        r,
        json_pack("{s:s, s:I, s:o, s:f, s:f, s:f, s:b}", "type", "frame",
                  "frame", (json_int_t)distribution_frame(d)->number, "slices",
                  slices, "first", t->first, "last", t->last, "efficiency",
                  t->efficiency, "adjusted", adjusted),
        err);
}

int report_summary(struct report *r,
                   const struct summary *s,
                   struct es_error *err)
{
    if (!r->file)
        return 0;
    return write_line(
        r,
        json_pack("{s:s, s:I, s:f, s:f, s:s, s:s, s:s}", "type", "summary",
                  "frames", (json_int_t)s->frames, "seconds", s->seconds,
                  "efficiency", s->efficiency, "policy", s->policy, "rank_by",
                  rank_by_name(s->rank_by), "elements", s->elements),
        err);
}

int report_close(struct report *r, struct es_error *err)
{
    FILE *file = r->file;

    r->file = NULL;
    if (file && fclose(file) != 0)
        return report_fail(r, err);
    return 0;
}
