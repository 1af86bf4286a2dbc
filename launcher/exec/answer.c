/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/answer.h"
#include "launcher/exec/execution.h"
#include "pmix_bcast/array.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define ANSWER_MAX (1u << 28) /* 2^24 ranks of 8 digits, and some more */

static void on_output(void *arg, const void *buf, size_t len)
{
    struct answer *a = arg;
    char *text = array_grow(a->text, &a->cap, a->len + len + 1, 1, ANSWER_MAX);

    if (!text) {
        snprintf(a->error, sizeof a->error, "too long an answer");
        a->too_long = 1;
        event_base_loopbreak(a->base);
        return;
    }
    a->text = text;
    memcpy(a->text + a->len, buf, len);
    a->len += len;
    a->text[a->len] = '\0';
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct answer *a = arg;
    size_t len = end->err_len, from;

    while (len > 0 && end->err_tail[len - 1] == '\n')
        len--;
    from = len; /* the last line says most */
    while (from > 0 && end->err_tail[from - 1] != '\n')
        from--;
    a->status = end->status;
    if (end->exec_errno)
        snprintf(a->error, sizeof a->error, "%s", strerror(end->exec_errno));
    else
        snprintf(a->error, sizeof a->error, "%.*s", (int)(len - from),
                 end->err_tail + from);
    execution_destroy(a->execution);
    a->execution = NULL;
    event_base_loopbreak(a->base);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct answer *a = arg;

    (void)fd;
    (void)what;
    snprintf(a->error, sizeof a->error, "no answer within %d s",
             a->limit_ms / 1000);
    event_base_loopbreak(a->base);
}

static void wait_for(struct answer *a)
{
    struct timeval limit = {a->limit_ms / 1000, a->limit_ms % 1000 * 1000};
    struct event *late = evtimer_new(a->base, on_late, a);

    if (late && evtimer_add(late, &limit) == 0)
        (void)event_base_dispatch(a->base); /* ends by on_end or on_late */
    if (late)
        event_free(late);
    execution_destroy(a->execution);
    a->execution = NULL;
}

int answer_ask(struct answer *a,
               struct event_base *base,
               char *const argv[],
               char *const envp[],
               int limit_ms)
{
    struct execution_spec spec = {.argv = argv, .envp = envp};
    struct es_error err;

    memset(a, 0, sizeof *a);
    a->base = base;
    a->limit_ms = limit_ms;
    snprintf(a->error, sizeof a->error, "interrupted");
    a->status = -1;
    if (execution_start(&a->execution, base, &spec, on_output, on_end, a, &err)
        < 0) {
        snprintf(a->error, sizeof a->error, "%.390s", err.what);
        return -1;
    }
    wait_for(a);
    if (a->status != 0 || a->too_long)
        return -1;
    if (a->text || (a->text = calloc(1, 1)))
        return 0;
    snprintf(a->error, sizeof a->error, "out of memory");
    return -1;
}

void answer_clear(struct answer *a)
{
    if (!a)
        return;
    free(a->text);
    a->text = NULL;
}
