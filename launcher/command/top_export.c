/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_export.h"
#include "launcher/base/file_place.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/base/signals.h"
#include "launcher/command/top_metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST      "127.0.0.1"
#define WRITE_S   5    /* between two writings of a file */
#define TIMEOUT_S 10   /* of a connection that says nothing */
#define HEAD_MAX  8192 /* bytes of a request's head; of its body: none */

struct export
{
    struct event_base *base;
    struct evhttp *http;
    struct event *tick;
    struct signals signals;
    const char *file; /* NULL: it is served */
    uint32_t job;
    struct es_error *err;
    int failed;
};

/* --- by HTTP -------------------------------------------------------------- */

/* All metrics as one text, the caller's; NULL without memory. */
static char *metrics_text(uint32_t job, size_t *len)
{
    struct top_step *steps;
    size_t n = top_steps_find(&steps, job);
    char *text = NULL;
    FILE *file = open_memstream(&text, len);
    int bad = !file;

    if (file) {
        top_metrics_print(file, steps, n);
        bad = ferror(file) != 0;
        bad |= fclose(file) != 0;
    }
    top_steps_free(steps, n);
    if (!bad)
        return text;
    free(text);
    return NULL;
}

static void free_text(const void *data, size_t len, void *text)
{
    (void)data;
    (void)len;
    free(text);
}

static void on_metrics(struct evhttp_request *request, void *arg)
{
    const struct export *x = arg;
    struct evkeyvalq *head = evhttp_request_get_output_headers(request);
    struct evbuffer *body = evbuffer_new();
    size_t len = 0;
    char *text = body ? metrics_text(x->job, &len) : NULL;

    if (text && evbuffer_add_reference(body, text, len, free_text, text) == 0) {
        (void)evhttp_add_header(head, "Content-Type", TOP_METRICS_TYPE);
        evhttp_send_reply(request, HTTP_OK, NULL, body);
    } else {
        free(text);
        evhttp_send_error(request, HTTP_INTERNAL, "out of memory");
    }
    if (body)
        evbuffer_free(body);
}

static uint16_t port_of(struct evhttp_bound_socket *door)
{
    struct sockaddr_in at = {0};
    socklen_t len = sizeof at;

    if (getsockname(evhttp_bound_socket_get_fd(door), (struct sockaddr *)&at,
                    &len)
        < 0)
        return 0;
    return ntohs(at.sin_port);
}

static int serve(struct export *x, uint16_t port)
{
    struct evhttp_bound_socket *door;

    x->http = evhttp_new(x->base);
    if (!x->http)
        return es_no_memory(x->err);
    evhttp_set_allowed_methods(x->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_max_headers_size(x->http, HEAD_MAX);
    evhttp_set_max_body_size(x->http, 0);
    evhttp_set_timeout(x->http, TIMEOUT_S);
    if (evhttp_set_cb(x->http, "/metrics", on_metrics, x) < 0)
        return es_no_memory(x->err);
    errno = 0;
    door = evhttp_bind_socket_with_handle(x->http, HOST, port);
    if (!door)
        return es_fail(x->err, ES_ENV, "name another port, or 0 for any",
                       "port %u of " HOST ": %s", (unsigned)port,
                       errno ? strerror(errno) : "cannot be had");
    notice("http://" HOST ":%u/metrics", (unsigned)port_of(door));
    return 0;
}

/* --- as a file ------------------------------------------------------------ */

static void write_file(struct export *x)
{
    struct top_step *steps;
    size_t n = top_steps_find(&steps, x->job);

    if (top_metrics_write(x->file, steps, n, x->err) < 0) {
        x->failed = 1;
        (void)event_base_loopbreak(x->base);
    }
    top_steps_free(steps, n);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    write_file(arg);
}

static int keep_file(struct export *x)
{
    struct timeval each = {WRITE_S, 0};

    x->tick = event_new(x->base, -1, EV_PERSIST, on_tick, x);
    if (!x->tick || event_add(x->tick, &each) < 0)
        return es_no_memory(x->err);
    write_file(x);
    return x->failed ? -1 : 0;
}

/* What it says is not so any more; what is no regular file stays, and so does a
 * link. */
static void remove_file(const struct export *x)
{
    struct file_place p;
    const char *why;

    if (x->failed || strcmp(x->file, "-") == 0
        || file_place_find(&p, x->file, &why) < 0)
        return;
    if (p.is_there && !p.is_open && S_ISREG(p.st.st_mode))
        (void)unlinkat(p.dir, p.name, 0);
    file_place_close(&p);
}

/* --- all of it ------------------------------------------------------------ */

/* A signal is how it is meant to end. */
static void on_signal(void *arg, int number)
{
    const struct export *x = arg;

    (void)number;
    (void)event_base_loopbreak(x->base);
}

static int begin(struct export *x, const char *to)
{
    int64_t port;

    x->base = event_base_new();
    if (!x->base || signals_catch(&x->signals, x->base, on_signal, x) < 0)
        return es_no_memory(x->err);
    if (to[strspn(to, "0123456789")]) {
        x->file = to;
        return keep_file(x);
    }
    if (number_parse_int(to, 0, UINT16_MAX, &port) < 0)
        return es_fail(x->err, ES_USAGE, "give 0 to 65535, or a file",
                       "--prometheus: \"%s\" is no port", to);
    return serve(x, (uint16_t)port);
}

int top_export(const char *to, uint32_t job, struct es_error *err)
{
    struct export x = {.job = job, .err = err};
    int rc = begin(&x, to);

    if (rc == 0 && event_base_dispatch(x.base) < 0)
        rc = es_fail(err, ES_ENV, "start it again", "the event loop failed");
    if (x.failed)
        rc = -1;
    if (x.file)
        remove_file(&x);
    if (x.http)
        evhttp_free(x.http);
    if (x.tick)
        event_free(x.tick);
    signals_release(&x.signals);
    if (x.base)
        event_base_free(x.base);
    return rc;
}
