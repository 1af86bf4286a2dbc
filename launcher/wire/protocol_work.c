/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/wire/protocol_body.h"

#include <stdlib.h>

void msg_write_files(struct writer *w, const struct msg_files *m)
{
    write_u32(w, m->apart);
    write_u32(w, m->here);
    write_u32(w, m->all);
    write_blob(w, m->ok, sizeof m->ok);
    write_u32(w, m->n);
    for (uint32_t i = 0; i < m->n; i++)
        write_text(w, m->name[i]);
}

/* n texts, one behind the other in one allocation. */
static char **read_texts(struct reader *r, uint32_t n)
{
    char **all = malloc((n + 1) * sizeof *all + r->left + n), *text;

    if (!all)
        return NULL;
    text = (char *)(all + n + 1);
    for (uint32_t i = 0; i < n; i++) {
        all[i] = text;
        read_text(r, text, r->left + 1);
        text += strlen(text) + 1;
    }
    all[n] = NULL;
    return all;
}

int msg_read_files(struct msg_files *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);
    const uint8_t *ok;
    size_t n;

    m->name = NULL;
    m->apart = read_u32(&r);
    m->here = read_u32(&r);
    m->all = read_u32(&r);
    ok = read_blob(&r, &n);
    m->n = read_u32(&r);
    if (!r.bad && n == sizeof m->ok && m->n <= FILES_MAX && m->apart <= 1
        && m->here <= 1 && m->all <= 1)
        m->name = read_texts(&r, m->n);
    if (m->name && read_end(&r) == 0) {
        memcpy(m->ok, ok, sizeof m->ok);
        return 0;
    }
    free(m->name);
    memset(m, 0, sizeof *m);
    return -1;
}

void msg_write_file(struct writer *w, const struct msg_file *m)
{
    write_u64(w, m->id);
    write_u32(w, m->file);
    write_u64(w, m->offset);
    write_u32(w, m->runs);
    write_u64(w, m->size);
    write_blob(w, m->bytes, m->len);
}

int msg_read_file(struct msg_file *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->file = read_u32(&r);
    m->offset = read_u64(&r);
    m->runs = read_u32(&r);
    m->size = read_u64(&r);
    m->bytes = read_blob(&r, &m->len);
    if (m->file >= FILES_MAX || m->runs > 1 || m->len > OUTPUT_MAX
        || m->size > INT64_MAX || m->offset > m->size
        || m->len > m->size - m->offset)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

static void write_words(struct writer *w, char *const argv[])
{
    uint32_t argc = 0;

    while (argv[argc])
        argc++;
    write_u32(w, argc);
    for (uint32_t i = 0; i < argc; i++)
        write_text(w, argv[i]);
}

/* The words of a command, to the end of the body; NULL: they are none. */
static char **read_words(struct reader *r)
{
    uint32_t argc = read_u32(r);
    char **argv = NULL;

    if (!r->bad && argc > 0 && argc <= ARGC_MAX)
        argv = read_texts(r, argc);
    if (argv && read_end(r) == 0 && argv[0][0])
        return argv;
    free(argv);
    return NULL;
}

void msg_write_command(struct writer *w, const struct msg_command *m)
{
    write_text(w, m->dir);
    write_u32(w, m->kind);
    write_text(w, m->program);
    write_text(w, m->libs);
    write_words(w, m->argv);
}

int msg_read_command(struct msg_command *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->dir, sizeof m->dir);
    m->kind = read_u32(&r);
    read_text(&r, m->program, sizeof m->program);
    read_text(&r, m->libs, sizeof m->libs);
    m->argv = read_words(&r);
    if (m->argv && m->kind <= COMMAND_TASKS)
        return 0;
    free(m->argv);
    memset(m, 0, sizeof *m);
    return -1;
}

void msg_write_work(struct writer *w, const char *name, char *const argv[])
{
    write_text(w, name);
    write_words(w, argv);
}

int msg_read_work(struct msg_work *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->name, sizeof m->name);
    m->argv = read_words(&r);
    if (m->argv && m->name[0])
        return 0;
    free(m->argv);
    memset(m, 0, sizeof *m);
    return -1;
}

void msg_write_slots(struct writer *w, const struct msg_slots *m)
{
    write_u32(w, m->kind);
    write_u32(w, m->n);
    write_u32(w, m->beside);
    write_u32(w, m->width);
    write_u64(w, m->memory);
}

int msg_read_slots(struct msg_slots *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->kind = read_u32(&r);
    m->n = read_u32(&r);
    m->beside = read_u32(&r);
    m->width = read_u32(&r);
    m->memory = read_u64(&r);
    if (m->kind > SLOTS_PART || m->width > NODE_SLOTS_MAX
        || m->n > NODE_SLOTS_MAX || m->beside == 0
        || m->beside > SLOT_BESIDE_MAX
        || ((m->kind == SLOTS_NUMBER || m->kind == SLOTS_PART) && m->n == 0))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_slotted(struct writer *w, const struct msg_slotted *m)
{
    write_u32(w, m->n);
    write_u64(w, m->memory);
    write_u32(w, m->gpus);
    write_text(w, m->text);
}

int msg_read_slotted(struct msg_slotted *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->n = read_u32(&r);
    m->memory = read_u64(&r);
    m->gpus = read_u32(&r);
    read_text(&r, m->text, sizeof m->text);
    if (m->n > NODE_SLOTS_MAX || m->gpus > NODE_GPUS_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_run(struct writer *w, const struct msg_run *m)
{
    write_u64(w, m->id);
    write_u64(w, m->frame);
    write_u64(w, m->begin);
    write_u64(w, m->end);
    write_u32(w, m->slot);
    write_text(w, m->label);
    write_text(w, m->work);
    write_u32(w, m->cores);
    write_u32(w, m->gpus);
}

int msg_read_run(struct msg_run *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->frame = read_u64(&r);
    m->begin = read_u64(&r);
    m->end = read_u64(&r);
    m->slot = read_u32(&r);
    read_text(&r, m->label, sizeof m->label);
    read_text(&r, m->work, sizeof m->work);
    m->cores = read_u32(&r);
    m->gpus = read_u32(&r);
    if (m->begin > m->end || m->slot >= NODE_SLOTS_MAX
        || m->cores > NODE_SLOTS_MAX || m->gpus > 1 + NODE_GPUS_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_output(struct writer *w, const struct msg_output *m)
{
    write_u64(w, m->id);
    write_blob(w, m->bytes, m->len);
}

int msg_read_output(struct msg_output *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->bytes = read_blob(&r, &m->len);
    return finish(&r, m, sizeof *m);
}

void msg_write_done(struct writer *w, const struct msg_done *m)
{
    write_u64(w, m->id);
    write_u32(w, m->status);
    write_u32(w, m->signal);
    write_u32(w, m->exec_errno);
    write_u64(w, m->elapsed_ns);
    write_u64(w, m->cpu_ns);
    write_u64(w, m->err_dropped);
    write_blob(w, m->err, m->err_len);
}

int msg_read_done(struct msg_done *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->id = read_u64(&r);
    m->status = read_u32(&r);
    m->signal = read_u32(&r);
    m->exec_errno = read_u32(&r);
    m->elapsed_ns = read_u64(&r);
    m->cpu_ns = read_u64(&r);
    m->err_dropped = read_u64(&r);
    m->err = read_blob(&r, &m->err_len);
    if (m->status > 255 || m->elapsed_ns > INT64_MAX || m->cpu_ns > INT64_MAX)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_put(struct writer *w, const struct msg_put *m)
{
    write_text(w, m->dir);
    write_text(w, m->file);
    write_blob(w, m->content, m->len);
}

int msg_read_put(struct msg_put *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->dir, sizeof m->dir);
    read_text(&r, m->file, sizeof m->file);
    m->content = read_blob(&r, &m->len);
    if (!is_plain_name(m->dir)
        || (m->file[0] ? !is_plain_name(m->file) : m->len > 0))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_linger(struct writer *w, const struct msg_linger *m)
{
    write_u32(w, m->seconds);
    write_text(w, m->dir);
}

int msg_read_linger(struct msg_linger *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->seconds = read_u32(&r);
    read_text(&r, m->dir, sizeof m->dir);
    if (m->dir[0] && !is_plain_name(m->dir))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_tasks(struct writer *w, const struct msg_tasks *m)
{
    write_text(w, m->dir);
    write_u32(w, m->tasks);
    write_u32(w, m->patience_s);
    write_u32(w, m->by_speed);
}

int msg_read_tasks(struct msg_tasks *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    read_text(&r, m->dir, sizeof m->dir);
    m->tasks = read_u32(&r);
    m->patience_s = read_u32(&r);
    m->by_speed = read_u32(&r);
    if (!is_plain_name(m->dir) || m->by_speed > 1 || m->tasks == 0
        || m->tasks > NODE_TASKS_MAX || m->patience_s == 0)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_measured(struct writer *w, const struct msg_measured *m)
{
    write_u32(w, m->rank);
    write_u32(w, m->ranks);
    write_u32(w, m->patience_s);
}

int msg_read_measured(struct msg_measured *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->rank = read_u32(&r);
    m->ranks = read_u32(&r);
    m->patience_s = read_u32(&r);
    if (m->rank >= m->ranks)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_ports(struct writer *w, const struct msg_ports *m)
{
    write_u32(w, m->round);
    write_u32(w, m->missing);
    write_u32(w, m->first);
    write_blob(w, m->port, m->len);
}

int msg_read_ports(struct msg_ports *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->round = read_u32(&r);
    m->missing = read_u32(&r);
    m->first = read_u32(&r);
    m->port = read_blob(&r, &m->len);
    if (m->missing > NODE_TASKS_MAX || m->first >= NODE_TASKS_MAX
        || m->len > 2 * NODE_TASKS_MAX || m->len % 2 != 0
        || (m->missing > 0) != (m->len == 0))
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_ports_end(struct writer *w, const struct msg_ports_end *m)
{
    write_u32(w, m->round);
    write_u32(w, m->error);
}

int msg_read_ports_end(struct msg_ports_end *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->round = read_u32(&r);
    m->error = read_u32(&r);
    return finish(&r, m, sizeof *m);
}

void msg_write_idle(struct writer *w, const struct msg_idle *m)
{
    write_u64(w, m->units);
    write_u64(w, m->frames);
    write_u32(w, m->survives);
}

int msg_read_idle(struct msg_idle *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->units = read_u64(&r);
    m->frames = read_u64(&r);
    m->survives = read_u32(&r);
    if (m->units == 0 || m->survives > 1)
        r.bad = 1;
    return finish(&r, m, sizeof *m);
}

void msg_write_over(struct writer *w, const struct msg_over *m)
{
    write_u32(w, m->error);
    write_blob(w, m->err, m->err_len);
}

int msg_read_over(struct msg_over *m, const uint8_t *body, size_t len)
{
    struct reader r = reader_of(body, len);

    m->error = read_u32(&r);
    m->err = read_blob(&r, &m->err_len);
    return finish(&r, m, sizeof *m);
}
