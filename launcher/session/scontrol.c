/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/scontrol.h"
#include "launcher/exec/execution.h"
#include "launcher/session/companion.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

struct asking {
    struct event_base *base;
    char *text; /* NULL: nobody wants it */
    size_t size, len;
    int is_over, status;
};

static void on_output(void *arg, const void *text, size_t len)
{
    struct asking *a = arg;
    size_t room = a->text ? a->size - 1 - a->len : 0;

    if (len > room)
        len = room;
    if (len > 0)
        memcpy(a->text + a->len, text, len);
    a->len += len;
}

static void on_end(void *arg, const struct execution_end *end)
{
    struct asking *a = arg;

    a->is_over = 1;
    a->status = end->status;
    (void)event_base_loopbreak(a->base);
}

int scontrol_run(char *const words[], char *text, size_t size, int seconds)
{
    static char name[] = "scontrol";
    struct asking a = {.base = event_base_new(), .text = text, .size = size};
    char *argv[SCONTROL_WORDS + 2] = {name}, **env = companion_environ();
    struct execution_spec spec = {.argv = argv, .envp = env};
    struct timeval limit = {seconds, 0};
    struct execution *x = NULL;

    for (size_t i = 0; i < SCONTROL_WORDS && words[i]; i++)
        argv[i + 1] = words[i];
    if (env && a.base
        && execution_start(&x, a.base, &spec, on_output, on_end, &a, NULL) == 0
        && event_base_loopexit(a.base, &limit) == 0)
        (void)event_base_dispatch(a.base);
    execution_destroy(x);
    free(env);
    if (a.base)
        event_base_free(a.base);
    if (text)
        text[a.len] = '\0';
    return a.is_over && a.status == 0 ? 0 : -1;
}
