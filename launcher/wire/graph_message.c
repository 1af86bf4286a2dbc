/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/graph_message.h"

#include <stdlib.h>
#include <string.h>

#define FILE_BYTES (20u + FILE_DIGEST_BYTES) /* of a file in a message */
#define MODE_MAX   07777u
#define STATUS_MAX 255u
#define SIGNAL_MAX 127u

static struct reader reader_of(const uint8_t *body, size_t len)
{
    return (struct reader){.at = body, .left = len};
}

/* End a decoder: 0 if the body was whole and valid, else -1 with *m zeroed. */
static int end_decoding(const struct reader *r,
                        void *m,
                        size_t size,
                        void *room)
{
    if (read_end(r) == 0)
        return 0;
    free(room);
    memset(m, 0, size);
    return -1;
}

int graph_name_is_good(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len >= GRAPH_NAME_MAX)
        return 0;
    for (const char *part = name;; part++) {
        size_t n = strcspn(part, "/");

        if (n == 0 || n > 255 || strncmp(part, ".", n) == 0
            || strncmp(part, "..", n) == 0)
            return 0;
        part += n;
        if (!*part)
            return 1;
    }
}

/* --- files ---------------------------------------------------------------- */

static void write_file(struct writer *w, const struct exchange_file *f)
{
    write_u32(w, f->number);
    write_u32(w, f->mode);
    write_u64(w, f->bytes);
    write_blob(w, f->digest.byte, sizeof f->digest.byte);
}

static struct exchange_file read_file(struct reader *r)
{
    struct exchange_file f = {0};
    const uint8_t *digest;
    size_t len;

    f.number = read_u32(r);
    f.mode = read_u32(r);
    f.bytes = read_u64(r);
    digest = read_blob(r, &len);
    if (f.mode > MODE_MAX || f.bytes > INT64_MAX || len != sizeof f.digest.byte)
        r->bad = 1;
    if (!r->bad)
        memcpy(f.digest.byte, digest, len);
    return f;
}

static void write_files(struct writer *w,
                        const struct exchange_file f[],
                        uint32_t n)
{
    write_u32(w, n);
    for (uint32_t i = 0; i < n; i++)
        write_file(w, &f[i]);
}

/* NULL if there are none, or the message is bad. */
static struct exchange_file *read_files(struct reader *r, uint32_t *n)
{
    struct exchange_file *f = NULL;

    *n = read_u32(r);
    if (*n > r->left / FILE_BYTES)
        r->bad = 1;
    if (!r->bad && *n > 0)
        f = calloc(*n, sizeof *f);
    if (!f && *n > 0)
        r->bad = 1;
    for (uint32_t i = 0; f && i < *n; i++)
        f[i] = read_file(r);
    return f;
}

/* --- the folder ----------------------------------------------------------- */

void graph_write_open(struct writer *w, const struct graph_open *m)
{
    write_text(w, m->folder);
    write_text(w, m->run);
    write_u32(w, m->port);
    write_u32(w, m->keep);
}

int graph_read_open(struct graph_open *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->folder, sizeof m->folder);
    read_text(&r, m->run, sizeof m->run);
    m->port = read_u32(&r);
    m->keep = read_u32(&r);
    if (m->folder[0] != '/' || !graph_name_is_good(m->run)
        || strchr(m->run, '/') || m->port == 0 || m->port > UINT16_MAX
        || m->keep > 1)
        r.bad = 1;
    return end_decoding(&r, m, sizeof *m, NULL);
}

void graph_write_opened(struct writer *w, const struct graph_opened *m)
{
    write_u32(w, m->cores);
    write_text(w, m->why);
    write_files(w, m->file, m->files);
    write_u64(w, m->memory);
}

int graph_read_opened(struct graph_opened *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->cores = read_u32(&r);
    read_text(&r, m->why, sizeof m->why);
    m->file = read_files(&r, &m->files);
    m->room = m->file;
    m->memory = read_u64(&r);
    if (m->cores == 0)
        r.bad = 1;
    return end_decoding(&r, m, sizeof *m, m->room);
}

/* --- tasks ---------------------------------------------------------------- */

static void write_named(struct writer *w,
                        const struct graph_named named[],
                        uint32_t n)
{
    write_u32(w, n);
    for (uint32_t i = 0; i < n; i++) {
        write_u32(w, named[i].number);
        write_text(w, named[i].name);
    }
}

void graph_write_task(struct writer *w, const struct graph_task *m)
{
    uint32_t argc = 0;

    while (m->argv[argc])
        argc++;
    write_u32(w, m->id);
    write_u32(w, m->core);
    write_u32(w, m->order);
    write_u32(w, m->makes);
    write_text(w, m->name);
    write_u32(w, argc);
    for (uint32_t i = 0; i < argc; i++)
        write_text(w, m->argv[i]);
    write_u32(w, m->tokens);
    for (uint32_t i = 0; i < m->tokens; i++)
        write_u32(w, m->token[i]);
    write_named(w, m->input, m->inputs);
    write_named(w, m->output, m->outputs);
    write_u32(w, m->cores);
    write_u32(w, m->of);
}

/*
 * One allocation holds all arrays and texts of a task.  Each element is at
 * least a u32 in the body and becomes at most a struct graph_named; each text
 * loses its length and gains a NUL: so a multiple of the body is enough.
 */
struct task_room {
    uint8_t *at;
    size_t left;
};

#define ROOM_PER_BYTE (sizeof(struct graph_named) / sizeof(uint32_t))

static void *take_room(struct task_room *room,
                       struct reader *r,
                       uint32_t n,
                       size_t size)
{
    size_t bytes = (n * size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
    void *p = room->at;

    if (r->bad || n > r->left / sizeof(uint32_t) || bytes > room->left) {
        r->bad = 1;
        return NULL;
    }
    room->at += bytes;
    room->left -= bytes;
    return p;
}

/* A text, in the room; NULL if the message is bad. */
static char *take_text(struct task_room *room, struct reader *r)
{
    size_t len;
    const uint8_t *bytes = read_blob(r, &len);
    char *text = (char *)room->at;
    size_t taken = (len + sizeof(void *)) & ~(sizeof(void *) - 1);

    if (r->bad || taken > room->left || memchr(bytes, 0, len)) {
        r->bad = 1;
        return NULL;
    }
    memcpy(text, bytes, len);
    text[len] = '\0';
    room->at += taken;
    room->left -= taken;
    return text;
}

static struct graph_named *take_named(struct task_room *room,
                                      struct reader *r,
                                      uint32_t *n)
{
    struct graph_named *named;

    *n = read_u32(r);
    named = take_room(room, r, *n, sizeof *named);
    for (uint32_t i = 0; named && i < *n; i++) {
        named[i].number = read_u32(r);
        named[i].name = take_text(room, r);
        if (!named[i].name || !graph_name_is_good(named[i].name)) {
            r->bad = 1;
            return NULL;
        }
    }
    return named;
}

static char **take_argv(struct task_room *room, struct reader *r)
{
    uint32_t argc = read_u32(r);
    char **argv;

    if (argc == 0 || argc == UINT32_MAX)
        r->bad = 1;
    argv = take_room(room, r, argc + 1, sizeof *argv);
    for (uint32_t i = 0; argv && i < argc; i++) {
        argv[i] = take_text(room, r);
        if (!argv[i])
            return NULL;
    }
    if (argv)
        argv[argc] = NULL;
    return argv;
}

int graph_read_task(struct graph_task *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    struct task_room room = {.left = (len + 8) * ROOM_PER_BYTE * 2};

    memset(m, 0, sizeof *m);
    room.at = m->room = malloc(room.left);
    if (!m->room)
        r.bad = 1;
    m->id = read_u32(&r);
    m->core = read_u32(&r);
    m->order = read_u32(&r);
    m->makes = read_u32(&r);
    read_text(&r, m->name, sizeof m->name);
    m->argv = take_argv(&room, &r);
    m->tokens = read_u32(&r);
    m->token = take_room(&room, &r, m->tokens, sizeof *m->token);
    for (uint32_t i = 0; m->token && i < m->tokens; i++)
        m->token[i] = read_u32(&r);
    m->input = take_named(&room, &r, &m->inputs);
    m->output = take_named(&room, &r, &m->outputs);
    m->cores = read_u32(&r);
    m->of = read_u32(&r);
    if (m->cores == 0)
        r.bad = 1;
    return end_decoding(&r, m, sizeof *m, m->room);
}

void graph_write_drop(struct writer *w, uint32_t id)
{
    write_u32(w, id);
}

int graph_read_drop(uint32_t *id, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    *id = read_u32(&r);
    return end_decoding(&r, id, sizeof *id, NULL);
}

void graph_write_done(struct writer *w, const struct graph_done *m)
{
    write_u32(w, m->id);
    write_u32(w, m->status);
    write_u32(w, m->signal);
    write_u32(w, m->exec_errno);
    write_u64(w, m->elapsed_ns);
    write_text(w, m->missing);
    write_blob(w, m->out, m->out_len);
    write_blob(w, m->err, m->err_len);
    write_files(w, m->file, m->files);
}

int graph_read_done(struct graph_done *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u32(&r);
    m->status = read_u32(&r);
    m->signal = read_u32(&r);
    m->exec_errno = read_u32(&r);
    m->elapsed_ns = read_u64(&r);
    read_text(&r, m->missing, sizeof m->missing);
    m->out = read_blob(&r, &m->out_len);
    m->err = read_blob(&r, &m->err_len);
    m->file = read_files(&r, &m->files);
    m->room = m->file;
    if (m->status > STATUS_MAX || m->signal > SIGNAL_MAX
        || m->exec_errno > INT32_MAX || m->elapsed_ns > INT64_MAX)
        r.bad = 1;
    return end_decoding(&r, m, sizeof *m, m->room);
}

/* --- tokens --------------------------------------------------------------- */

void graph_write_bring(struct writer *w, const struct graph_bring *m)
{
    write_u32(w, m->token);
    write_u32(w, m->from);
    write_u32(w, m->is_file);
    write_file(w, &m->file);
}

int graph_read_bring(struct graph_bring *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->token = read_u32(&r);
    m->from = read_u32(&r);
    m->is_file = read_u32(&r);
    m->file = read_file(&r);
    if (m->is_file > 1)
        r.bad = 1;
    return end_decoding(&r, m, sizeof *m, NULL);
}

void graph_write_brought(struct writer *w, const struct graph_brought *m)
{
    write_u32(w, m->token);
    write_u32(w, m->from);
    write_u64(w, m->elapsed_ns);
    write_text(w, m->why);
}

int graph_read_brought(struct graph_brought *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->token = read_u32(&r);
    m->from = read_u32(&r);
    m->elapsed_ns = read_u64(&r);
    read_text(&r, m->why, sizeof m->why);
    if (m->elapsed_ns > INT64_MAX)
        r.bad = 1;
    return end_decoding(&r, m, sizeof *m, NULL);
}
