/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep top: what the user has at work, and how its nodes stand.
 */
#include "launcher/base/file_place.h"
#include "launcher/base/notice.h"
#include "launcher/base/number.h"
#include "launcher/base/options.h"
#include "launcher/base/signals.h"
#include "launcher/command/top_metrics.h"
#include "launcher/command/top_page.h"
#include "launcher/commands.h"
#include "pmix_bcast/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <ncurses.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- top screen ---------------------------------------------------------------- */

/* `evenstep top` on a terminal, redrawn twice a second.  ncurses is
 * used here and nowhere else. */

#define LOOK_MS   500 /* front ends write about every second */
#define LIST_PART 3   /* at most a third of the screen lists what is at work */
#define RACK_PART 8   /* likewise racks above the nodes */

/* What the keys have chosen. */
struct look {
    enum top_order order;
    int meters;    /* not the parts */
    uint32_t pid;  /* whose page it is; 0: the first */
    size_t choice; /* its place in the list */
    size_t from;   /* the first line of it that is to be seen */
    size_t room;   /* lines that a screen has for it */
    size_t body;   /* lines that there are, of those that scroll */
};

static const struct {
    const char *text;
    enum top_order order;
} order_keys[] = {
    {"b)ehind", TOP_BY_LAG},  {"n)ame", TOP_BY_NAME},
    {"s)peed", TOP_BY_SPEED}, {"w)aiting", TOP_BY_WAITING},
    {"l)imit", TOP_BY_LIMIT},
};

static void put_line(int row, const char *line)
{
    if (row < LINES - 1)
        (void)mvaddnstr(row, 0, line, COLS); /* cut at the end of the screen */
}

/* --- which one ------------------------------------------------------------ */

/* Others come and go: keep to the one that was chosen. */
static void find_choice(struct look *look,
                        const struct top_step steps[],
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (steps[i].pid == look->pid) {
            look->choice = i;
            return;
        }
    look->choice = look->choice < n ? look->choice : 0;
    look->pid = n > 0 ? steps[look->choice].pid : 0;
    look->from = 0;
}

static void choose(struct look *look,
                   const struct top_step steps[],
                   size_t n,
                   size_t by)
{
    if (n < 2)
        return;
    look->choice = (look->choice + by) % n;
    look->pid = steps[look->choice].pid;
    look->from = 0;
}

/* --- drawing -------------------------------------------------------------- */

/* Those around the chosen one, if there are several.  Returns the row below. */
static int draw_list(const struct look *look,
                     const struct top_step steps[],
                     size_t n)
{
    size_t rows = (size_t)LINES / LIST_PART, first = 0;
    char line[TOP_LINE];
    int row = 0;

    if (n < 2)
        return 0;
    if (rows > n)
        rows = n;
    if (look->choice >= rows)
        first = look->choice - rows + 1;
    for (size_t i = first; i < first + rows; i++) {
        top_list_line(line, &steps[i]);
        if (row < LINES - 1)
            (void)mvprintw(row, 0, "%c ", i == look->choice ? '>' : ' ');
        if (row < LINES - 1)
            (void)addnstr(line, COLS > 2 ? COLS - 2 : 0);
        row++;
    }
    return row + 1;
}

/* What does not scroll, and then as much of the rest as there is room for. */
static void draw_page(struct look *look, const struct top_page *page, int row)
{
    size_t rows = LINES - 1 > row ? (size_t)(LINES - 1 - row) : 0;
    size_t head = page->head <= rows / 2 ? page->head : 0;
    size_t body = page->n - head;

    look->room = rows - head;
    look->body = body;
    if (body <= look->room)
        look->from = 0;
    else if (look->from > body - look->room)
        look->from = body - look->room;
    for (size_t i = 0; i < head; i++) {
        if (i + 1 == head)
            (void)attron(A_BOLD);
        put_line(row++, page->line[i]);
    }
    (void)attroff(A_BOLD);
    for (size_t i = head + look->from; i < page->n && row < LINES - 1; i++)
        put_line(row++, page->line[i]);
}

static void draw_step(struct look *look, struct top_step *step, int row)
{
    struct top_page page = {.n = 0};
    size_t columns = COLS > 0 ? (size_t)COLS : 0;
    size_t racks = LINES > 0 ? (size_t)LINES / RACK_PART : 0;

    top_page_progress(&page, step, columns);
    if (step->kind == TOP_STEP || (look->meters && step->n > 0))
        top_page_meters(&page, step, look->order, columns, racks);
    else
        top_page_parts(&page, step, look->order, columns);
    draw_page(look, &page, row);
    top_page_clear(&page);
}

/* The keys, the order that was chosen marked, and which lines of how many are
 * to be seen where not all are. */
static void draw_keys(const struct look *look, size_t n)
{
    char seen[80];
    int len;

    (void)move(LINES - 1, 0);
    if (n > 1)
        (void)addstr("Tab: next; ");
    for (size_t i = 0; i < sizeof order_keys / sizeof *order_keys; i++) {
        if (order_keys[i].order == look->order)
            (void)attron(A_REVERSE);
        (void)addstr(order_keys[i].text);
        (void)attroff(A_REVERSE);
        (void)addch(' ');
    }
    (void)addstr("m)eter q)uit");
    if (n == 0 || look->body <= look->room)
        return;
    len = snprintf(seen, sizeof seen, " %zu-%zu of %zu", look->from + 1,
                   look->from + look->room, look->body);
    if (len < COLS)
        (void)mvaddstr(LINES - 1, COLS - len, seen);
}

static void draw(struct look *look, struct top_step steps[], size_t n)
{
    (void)erase();
    find_choice(look, steps, n);
    if (n == 0)
        put_line(0,
                 "nothing of yours is at work here: no run, broadcast, graph "
                 "or metered step");
    else
        draw_step(look, &steps[look->choice], draw_list(look, steps, n));
    draw_keys(look, n);
    (void)refresh();
}

/* --- keys ----------------------------------------------------------------- */

static enum top_order order_of(int key, enum top_order before)
{
    switch (key) {
    case 'b':
        return TOP_BY_LAG;
    case 'n':
        return TOP_BY_NAME;
    case 's':
        return TOP_BY_SPEED;
    case 'w':
        return TOP_BY_WAITING;
    case 'l':
        return TOP_BY_LIMIT;
    default:
        return before;
    }
}

static void up(struct look *look, size_t lines)
{
    look->from -= lines < look->from ? lines : look->from;
}

static void scroll_by(struct look *look, int key)
{
    if (key == KEY_UP || key == 'k')
        up(look, 1);
    else if (key == KEY_DOWN || key == 'j')
        look->from++;
    else if (key == KEY_PPAGE)
        up(look, look->room);
    else if (key == KEY_NPAGE || key == ' ')
        look->from += look->room;
    else if (key == KEY_HOME)
        look->from = 0;
    else if (key == KEY_END)
        look->from = SIZE_MAX / 2; /* drawing stops it at the end */
}

static void take_key(struct look *look,
                     int key,
                     const struct top_step steps[],
                     size_t n)
{
    look->order = order_of(key, look->order);
    if (key == 'm')
        look->meters = !look->meters;
    if (key == '\t')
        choose(look, steps, n, 1);
    else if (key == KEY_BTAB)
        choose(look, steps, n, n - 1);
    else
        scroll_by(look, key);
}

static int show(uint32_t job, const char *metrics, struct es_error *err)
{
    struct look look = {.order = TOP_BY_LAG};
    int key = 0, rc = 0;

    while (rc == 0 && key != 'q') {
        struct top_step *steps;
        size_t n = top_steps_find(&steps, job);

        draw(&look, steps, n);
        if (metrics)
            rc = top_metrics_write(metrics, steps, n, err);
        key = getch();
        take_key(&look, key, steps, n);
        top_steps_free(steps, n);
    }
    return rc;
}

/* Show what the user has at work (job 0: of all jobs) until q is typed.  The
 * last line of the screen tells the keys. metrics: a file that is written at each
 * look, too; NULL: none. */
static int top_screen(uint32_t job, const char *metrics, struct es_error *err)
{
    SCREEN *screen =
        isatty(STDOUT_FILENO) ? newterm(NULL, stdout, stdin) : NULL;
    int rc;

    if (!screen)
        return es_fail(err, ES_USAGE, "give --once, or set TERM",
                       "top: this is no terminal that can show it");
    (void)cbreak();
    (void)noecho();
    (void)keypad(stdscr, TRUE);
    (void)curs_set(0);
    timeout(LOOK_MS);
    rc = show(job, metrics, err);
    (void)endwin();
    delscreen(screen);
    return rc;
}

/* --- top export ---------------------------------------------------------------- */

/* `evenstep top --prometheus`: serves what all front ends have at
 * work (top_metrics.h), or keeps it in a file, until a signal comes. */

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

/*
 * to: a port of 127.0.0.1, in digits (0: any that is free), where each GET of
 * /metrics is answered by how things are then; or a file, which is written
 * anew every 5 s and removed at the end.  job 0: of all jobs.  0, or -1.
 */
static int top_export(const char *to, uint32_t job, struct es_error *err)
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

/* --- top ----------------------------------------------------------------------- */

struct options {
    const char *metrics, *export;
    int once;
};

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_FLAG, "once", NULL, AT(once), .help = "print them once, and end"},
    {OPTION_TEXT, "metrics-file", "FILE", AT(metrics), .file = OPTION_WRITES, .help =
     "write them for Prometheus, too"},
    {OPTION_TEXT, "prometheus", "PORT|FILE", AT(export), .file = OPTION_WRITES, .excludes = "once",
     .help = "show nothing, but serve http://127.0.0.1:PORT/metrics, or keep FILE "
     "up to date for node_exporter's textfile collector, until a signal comes"},
    {.type = OPTION_END},
};
/* clang-format on */

static int print_step(struct top_step *step)
{
    struct top_page page = {.n = 0};
    int bad = 0;

    top_page_progress(&page, step, TOP_LINE - 1);
    top_page_parts(&page, step, TOP_BY_LAG, TOP_COLUMNS);
    top_page_meters(&page, step, TOP_BY_NAME, TOP_LINE - 1, step->n);
    for (size_t i = 0; i < page.n; i++)
        bad |= printf("%s\n", page.line[i]) < 0;
    top_page_clear(&page);
    return bad ? -1 : 0;
}

static int once(const struct options *o, uint32_t job, struct es_error *err)
{
    struct top_step *steps;
    size_t n = top_steps_find(&steps, job);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = print_step(&steps[i]);
    if (rc < 0 || fflush(stdout) != 0)
        rc = es_no_space(err);
    if (rc == 0 && o->metrics)
        rc = top_metrics_write(o->metrics, steps, n, err);
    top_steps_free(steps, n);
    if (rc == 0 && n == 0)
        return es_fail(
            err, ES_ENV,
            "run it where your evenstep run, bcast or graph runs, or "
            "srun --evenstep of a program that is metered",
            "top: nothing of yours is at work here");
    return rc;
}

static int top_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    int64_t job = 0; /* all */
    int rc = options_parse(&command_top, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (argv[1] && number_parse_int(argv[1], 1, UINT32_MAX, &job) < 0)
        return es_fail(err, ES_USAGE, "give the number of a job",
                       "top: \"%s\" is no job", argv[1]);
    if (o.export)
        return top_export(o.export, (uint32_t)job, err);
    return o.once ? once(&o, (uint32_t)job, err)
                  : top_screen((uint32_t)job, o.metrics, err);
}

const struct subcommand command_top = {
    .name = "top",
    .brief = "what you have at work, and how its nodes stand",
    .about =
        "A live view of what you have at work on this host: each `evenstep run`,\n"
        "`bcast` and `graph run`, with every node's part, its speed and the time\n"
        "left, and steps under `srun --evenstep` that are metered.  All of yours, or\n"
        "those of one job.  Run it on the host where these commands run.\n",
    .option = options,
    .end =
        "Keys: Tab shows the next of several; b, n, s, w, l sort by who is last,\n"
        "name, speed, waiting, limit; m shows what is metered; arrows, Page Up and\n"
        "Page Down scroll; q ends.\n",
    .operands = "[JOBID]",
    .run = top_main,
};
