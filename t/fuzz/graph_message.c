/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What agents and front end say about a task graph; the first byte tells which
 * message.  What is decoded must be just what is encoded again.
 */
#include "launcher/wire/graph_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void same(struct writer *w, const uint8_t *data, size_t size)
{
    must(w->bad || (w->len == size && memcmp(w->buf, data, size) == 0));
    writer_clear(w);
}

static void read_task(const uint8_t *data, size_t size)
{
    struct graph_task m;
    struct writer w = {0};

    if (graph_read_task(&m, data, size) < 0) {
        must(!m.room && m.tokens == 0 && m.inputs == 0 && m.outputs == 0);
        return;
    }
    for (uint32_t i = 0; i < m.inputs; i++)
        must(graph_name_is_good(m.input[i].name));
    for (uint32_t i = 0; i < m.outputs; i++)
        must(graph_name_is_good(m.output[i].name));
    graph_write_task(&w, &m);
    same(&w, data, size);
    free(m.room);
}

static void read_open(const uint8_t *data, size_t size)
{
    static struct graph_open m;
    struct writer w = {0};

    if (graph_read_open(&m, data, size) < 0)
        return;
    must(m.folder[0] == '/' && !strchr(m.run, '/'));
    graph_write_open(&w, &m);
    same(&w, data, size);
}

static void read_opened(const uint8_t *data, size_t size)
{
    struct graph_opened m;
    struct writer w = {0};

    if (graph_read_opened(&m, data, size) < 0) {
        must(!m.room && m.files == 0);
        return;
    }
    graph_write_opened(&w, &m);
    same(&w, data, size);
    free(m.room);
}

static void read_done(const uint8_t *data, size_t size)
{
    struct graph_done m;
    struct writer w = {0};

    if (graph_read_done(&m, data, size) < 0) {
        must(!m.room && m.files == 0);
        return;
    }
    graph_write_done(&w, &m);
    same(&w, data, size);
    free(m.room);
}

static void read_bring(const uint8_t *data, size_t size)
{
    struct graph_bring m;
    struct writer w = {0};

    if (graph_read_bring(&m, data, size) == 0) {
        graph_write_bring(&w, &m);
        same(&w, data, size);
    }
}

static void read_brought(const uint8_t *data, size_t size)
{
    struct graph_brought m;
    struct writer w = {0};

    if (graph_read_brought(&m, data, size) == 0) {
        graph_write_brought(&w, &m);
        same(&w, data, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const read[])(const uint8_t *, size_t) = {
        read_open, read_opened, read_task, read_bring, read_brought, read_done};
    uint8_t *copy;

    if (size == 0)
        return 0;
    copy = malloc(size); /* of its own, so that a read past it is seen */
    must(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    read[data[0] % (sizeof read / sizeof read[0])](copy, size - 1);
    free(copy);
    return 0;
}
