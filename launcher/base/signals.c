/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/signals.h"
#include "launcher/base/notice.h"

#include <event2/event.h>
#include <signal.h>
#include <string.h>

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    struct signals *s = arg;

    (void)what;
    s->fn(s->arg, (int)number);
}

int signals_catch(struct signals *s,
                  struct event_base *base,
                  void (*fn)(void *arg, int number),
                  void *arg)
{
    static const int number[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

    s->fn = fn;
    s->arg = arg;
    for (size_t i = 0; i < SIGNALS; i++) {
        s->event[i] = evsignal_new(base, number[i], on_signal, s);
        if (!s->event[i] || event_add(s->event[i], NULL) < 0)
            return -1;
    }
    return 0;
}

void signals_release(struct signals *s)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (s->event[i])
            event_free(s->event[i]);
    memset(s, 0, sizeof *s);
}

void signals_die(int number, const struct es_error *err)
{
    notice_error("evenstep", err);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}
