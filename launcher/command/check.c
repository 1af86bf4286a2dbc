/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep check: is all in order on this node, or on each of many?
 *
 * Many are asked by one srun, which runs `evenstep check --json --call ...` on each:
 * that calls a port of ours, and we call it back, as a front end and its agents do.
 * Where Slurm could not start it on some nodes the others are asked once more.
 */
#include "launcher/base/front_address.h"
#include "launcher/base/json_member.h"
#include "launcher/base/notice.h"
#include "launcher/base/options.h"
#include "launcher/base/out_file.h"
#include "launcher/base/slurm_conf.h"
#include "launcher/command/check_judge.h"
#include "launcher/command/check_node.h"
#include "launcher/commands.h"
#include "launcher/config/config_file.h"
#include "launcher/session/front.h"
#include "launcher/session/survey.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <glob.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* --- check metrics ------------------------------------------------------------- */

/* How evenstep stands on this node, in Prometheus' text format:
 * for the folder that node_exporter reads (--collector.textfile.directory). */

#define POWER "/run/evenstep/power" /* a socket "@..." and a state a step */

/* Processes with that name, which has at most 15 bytes: proc(5), "comm". */
static unsigned count_processes(const char *name)
{
    DIR *proc = opendir("/proc");
    const struct dirent *d;
    unsigned count = 0;

    while (proc && (d = readdir(proc)) != NULL) {
        char path[300], comm[32] = "";
        FILE *f;

        if (!isdigit((unsigned char)d->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%s/comm", d->d_name);
        f = fopen(path, "re");
        if (!f)
            continue; /* it has gone */
        if (fgets(comm, sizeof comm, f)) {
            comm[strcspn(comm, "\n")] = '\0';
            count += strcmp(comm, name) == 0;
        }
        (void)fclose(f); /* only read */
    }
    if (proc)
        (void)closedir(proc);
    return count;
}

/* Steps whose limits are, or may be, in force. */
static unsigned count_states(void)
{
    DIR *dir = opendir(POWER);
    const struct dirent *d;
    unsigned count = 0;

    while (dir && (d = readdir(dir)) != NULL)
        count += d->d_name[0] != '.' && d->d_name[0] != '@';
    if (dir)
        (void)closedir(dir);
    return count;
}

static void print_gauge(FILE *out,
                        const char *name,
                        const char *help,
                        unsigned v)
{
    fprintf(out, "# HELP evenstep_%s %s\n# TYPE evenstep_%s gauge\n", name,
            help, name);
    fprintf(out, "evenstep_%s %u\n", name, v);
}

/* A label's value: `\`, `"` and newlines are escaped. */
static void print_label(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\\' || *text == '"')
            fprintf(out, "\\%c", *text);
        else
            fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
}

/* All of them, so that none begins when it is not 0. */
static void print_reasons(FILE *out, const struct check_node *c)
{
    static const char *const reason[CHECK_REASONS] = {[CHECK_CONFIG] =
                                                          "configuration",
                                                      [CHECK_AGENT] = "agent",
                                                      [CHECK_SHM] = "shm",
                                                      [CHECK_RUN] = "run",
                                                      [CHECK_GPU] = "gpu",
                                                      [CHECK_PORTS] = "ports"};

    fprintf(out, "# HELP evenstep_node_faults Faults for each reason.\n"
                 "# TYPE evenstep_node_faults gauge\n");
    for (int i = 0; i < CHECK_REASONS; i++)
        fprintf(out, "evenstep_node_faults{reason=\"%s\"} %u\n", reason[i],
                c->by_reason[i]);
}

static int print(FILE *out, const void *arg)
{
    const struct check_node *c = arg;

    print_gauge(out, "node_well", "1: evenstep check finds no fault.",
                c->n == 0);
    fprintf(out, "# HELP evenstep_node_fault What evenstep check finds.\n"
                 "# TYPE evenstep_node_fault gauge\n");
    for (uint32_t i = 0; i < c->n; i++) {
        fprintf(out, "evenstep_node_fault{fault=\"");
        print_label(out, c->fault[i]);
        fprintf(out, "\"} 1\n");
    }
    print_reasons(out, c);
    print_gauge(out, "node_agents", "Agents that run on the node.",
                count_processes("evenstep-agent"));
    print_gauge(out, "node_guards", "Guards of power that run on the node.",
                count_processes("evenstep-power"));
    print_gauge(out, "node_limited_steps",
                "Steps on the node whose power may be limited.",
                count_states());
    fprintf(out,
            "# HELP evenstep_node_info The release.\n"
            "# TYPE evenstep_node_info gauge\n"
            "evenstep_node_info{version=\"%s\"} 1\n",
            c->version);
    return 0;
}

/* Write them into a file, which takes the place of that of before as a whole.
 * Fails as out_file.h says. */
static int check_metrics_write(const struct check_node *c,
                               const char *path,
                               struct es_error *err)
{
    return out_file_write("--metrics", path, print, c, err);
}

/* --- check default ------------------------------------------------------------- */

/* Do the partitions exist that default=on: names in plugstack.conf?
 * The plugin cannot know: it compares names, and a misspelt one is that of no job. */

#define DEPTH_MAX    4 /* of files that include files */
#define BLANK        " \t\r"
#define LIST_OF_SITE "default=on:"

struct looking {
    char *partitions; /* Slurm's, a line each; NULL: not asked yet */
    int depth;
};

static void look_in(struct looking *l, const char *path);

/* Beside the file that includes it, if it is no whole path. */
static void look_in_all(struct looking *l, const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    int beside = name[0] != '/' && slash;
    char pattern[PATH_MAX];
    glob_t found;

    (void)snprintf(pattern, sizeof pattern, "%.*s%s",
                   beside ? (int)(slash + 1 - from) : 0, from, name);
    if (l->depth == DEPTH_MAX || glob(pattern, 0, NULL, &found) != 0)
        return;
    l->depth++;
    for (size_t i = 0; i < found.gl_pathc; i++)
        look_in(l, found.gl_pathv[i]);
    l->depth--;
    globfree(&found);
}

static int is_partition(const struct looking *l, const char *name)
{
    size_t len = strlen(name);
    const char *at = l->partitions;

    while ((at = strstr(at, name)) != NULL) {
        if ((at == l->partitions || at[-1] == '\n')
            && (at[len] == '\n' || at[len] == '\0'))
            return 1;
        at += len;
    }
    return 0;
}

static void compare(struct looking *l, const char *path, char *list)
{
    char *save = NULL;

    if (!l->partitions)
        l->partitions = survey_partitions(NULL);
    if (!l->partitions)
        return; /* without Slurm the check fails by itself */
    for (char *name = strtok_r(list, ",", &save); name;
         name = strtok_r(NULL, ",", &save))
        if (!is_partition(l, name))
            notice("warning: %s: " LIST_OF_SITE "%s: Slurm has no such "
                   "partition: see `sinfo -o %%R`",
                   path, name);
}

static void look_at_line(struct looking *l, const char *path, char *line)
{
    char *save = NULL, *word = strtok_r(line, BLANK, &save);
    int is_ours = 0;

    if (!word || word[0] == '#')
        return;
    if (strcmp(word, "include") == 0) {
        word = strtok_r(NULL, BLANK, &save);
        if (word)
            look_in_all(l, path, word);
        return;
    }
    for (; word; word = strtok_r(NULL, BLANK, &save)) {
        is_ours |= strstr(word, "evenstep") != NULL;
        if (is_ours && strncmp(word, LIST_OF_SITE, strlen(LIST_OF_SITE)) == 0)
            compare(l, path, word + strlen(LIST_OF_SITE));
    }
}

static void look_in(struct looking *l, const char *path)
{
    char *text = config_file_text(path), *save = NULL;

    for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save))
        look_at_line(l, path, line);
    free(text);
}

/* Warn of each that Slurm does not have; it is asked only where some are named.
 * PlugStackConfig, or beside slurm.conf. */
static void check_default(void)
{
    const char *conf = slurm_conf_path();
    char named[PATH_MAX];
    struct looking l = {.depth = 0};

    if (!conf)
        return;
    (void)slurm_conf_find("PlugStackConfig", named, sizeof named);
    look_in_all(&l, conf, named[0] ? named : "plugstack.conf");
    free(l.partitions);
}

/* --- check --------------------------------------------------------------------- */

#define ROUNDS  4    /* of sruns */
#define BACK_S  3    /* that a node has to take our call */
#define BUSY_S  "30" /* that Slurm has to begin */
#define UNNAMED 8    /* nodes that were not checked, and are named */

struct options {
    const char *nodes, *call, *srun, *metrics;
    int all, json;
};

struct asking {
    const struct options *o;
    struct es_error *err;
    struct front front;
    struct config config;
    struct evconnlistener *listener;
    char self[4096], at[ADDRESS_PORT_MAX], srun[1024];
    struct companion_place place;
    struct check_answer *answer;
    char (*busy)[64]; /* names of nodes that have no room for a task */
    size_t n, n_busy;
    struct survey *survey;
    struct event *late;
    size_t calls;       /* of ours that are on their way */
    int is_over, round; /* srun has ended; it was the so many */
    char why[300];      /* of srun's end */
};

/* We call a node back. */
struct call {
    struct asking *a;
    size_t i;
    struct event *event;
};

static int in_job(void)
{
    return companion_job_from_environ() != 0;
}

/* --- this node ------------------------------------------------------------- */

static int print_json(json_t *all, struct es_error *err)
{
    int rc = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;

    json_decref(all);
    return rc == 0 && putchar('\n') != EOF && fflush(stdout) == 0
               ? 0
               : es_no_space(err);
}

static int check_here(const struct options *o, struct es_error *err)
{
    struct check_node c;
    int fd, rc = 0;

    check_node_look(&c, o->call, &fd);
    if (o->json)
        rc = print_json(check_node_json(&c), err);
    for (uint32_t i = 0; !o->json && i < c.n; i++)
        printf("%s: %s\n", c.node, c.fault[i]);
    if (!o->json && c.n == 0)
        printf("%s is well\n", c.node);
    if (rc == 0 && fflush(stdout) != 0)
        rc = es_no_space(err);
    check_node_wait(fd);
    if (rc == 0 && o->metrics)
        rc = check_metrics_write(&c, o->metrics, err);
    if (rc < 0 || c.n == 0 || (o->json && o->call)) /* who called judges */
        return rc;
    return es_fail(err, ES_WORK, "see the lines above", "%s is not well",
                   c.node);
}

/* --- the nodes ------------------------------------------------------------- */

static struct check_answer *answer_of(const struct asking *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->answer[i].name, name) == 0)
            return &a->answer[i];
    return NULL;
}

/* A line of sinfo's; one that is free is asked. */
static void add_node(struct asking *a, char *line)
{
    char *state = strchr(line, '|'),
         *reason = state ? strchr(state + 1, '|') : NULL;
    struct check_answer *n = &a->answer[a->n];

    line[strcspn(line, " |")] = '\0';
    if (!reason || !line[0] || answer_of(a, line))
        return; /* of another partition */
    *state++ = '\0';
    *reason++ = '\0';
    state[strcspn(state, " ")] = '\0';
    check_state(n->state, state, reason);
    snprintf(n->name, sizeof n->name, "%s", line);
    n->is_asked = in_job() ? !n->state[0] : check_is_free(state);
    if (n->is_asked || n->state[0])
        a->n++;
    else
        snprintf(a->busy[a->n_busy++], sizeof *a->busy, "%s", line);
}

static int find_nodes(struct asking *a)
{
    const char *list = a->o->all     ? NULL
                       : a->o->nodes ? a->o->nodes
                                     : companion_job_nodes();
    char *text = survey_states(list, a->err), *save = NULL;
    size_t lines = 1;

    if (!text)
        return -1;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    a->answer = calloc(lines, sizeof *a->answer);
    a->busy = calloc(lines, sizeof *a->busy);
    if (a->answer && a->busy)
        for (char *line = strtok_r(text, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save))
            add_node(a, line);
    free(text);
    if (!a->answer || !a->busy)
        return es_no_memory(a->err);
    if (a->n + a->n_busy > 0)
        return 0;
    return es_fail(a->err, ES_USAGE, "see `sinfo -N` for their names",
                   "%s%s: Slurm has no such node",
                   a->o->nodes ? "--nodes " : "", list ? list : "--all");
}

/* Those that are still to be asked, as Slurm's list; 0: none. */
static int place_rest(struct asking *a)
{
    size_t size = 1, len = 0;
    char *names, *list;

    for (size_t i = 0; i < a->n; i++)
        size += strlen(a->answer[i].name) + 1;
    names = calloc(size, 1);
    if (!names)
        return es_no_memory(a->err);
    a->place.n_nodes = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct check_answer *n = &a->answer[i];

        if (!n->is_asked || n->has_answered || n->absent[0])
            continue;
        len += (size_t)snprintf(names + len, size - len, "%s%s",
                                len > 0 ? "," : "", n->name);
        a->place.n_nodes++;
    }
    list = len > 0 ? survey_list(names, a->err) : NULL;
    free(names);
    if (len == 0)
        return 0;
    if (!list)
        return -1;
    len = strlen(list);
    snprintf(a->place.nodes, sizeof a->place.nodes, "%s", list);
    free(list);
    return len < sizeof a->place.nodes
               ? 1
               : es_fail(a->err, ES_USAGE, "give fewer by --nodes",
                         "their list has %zu bytes, at most %zu", len,
                         sizeof a->place.nodes - 1);
}

/* --- we call back ---------------------------------------------------------- */

static void maybe_finish(struct asking *a);

static void on_called(evutil_socket_t fd, short what, void *arg)
{
    struct call *c = arg;
    struct asking *a = c->a;
    struct check_answer *n = &a->answer[c->i];
    socklen_t len = sizeof(int);
    int error = ETIMEDOUT;

    if (!(what & EV_TIMEOUT)
        && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (error)
        snprintf(n->back, sizeof n->back,
                 "it cannot be reached at %.60s port %u from here: %.60s: see "
                 "its firewall",
                 n->node.address, n->node.port, strerror(error));
    event_free(c->event);
    free(c);
    (void)close(fd);
    a->calls--;
    maybe_finish(a);
}

static void call_back(struct asking *a, size_t i)
{
    static const struct timeval patience = {BACK_S, 0};
    struct call *c = calloc(1, sizeof *c);
    struct address to;
    int fd = -1;

    if (c
        && address_parse(&to, a->answer[i].node.address, a->answer[i].node.port)
               == 0)
        fd = socket(to.at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    0);
    if (fd >= 0) {
        *c = (struct call){.a = a, .i = i};
        c->event =
            event_new(a->front.base, fd, EV_WRITE | EV_TIMEOUT, on_called, c);
    }
    if (fd >= 0 && c->event && event_add(c->event, &patience) == 0) {
        (void)connect(fd, (struct sockaddr *)&to.at, to.len); /* told later */
        a->calls++;
        return;
    }
    if (fd >= 0)
        (void)close(fd);
    if (c && c->event)
        event_free(c->event);
    free(c); /* without memory it is not tried */
}

static void on_caller(struct evconnlistener *l,
                      evutil_socket_t fd,
                      struct sockaddr *from,
                      int len,
                      void *arg)
{
    (void)l;
    (void)from;
    (void)len;
    (void)arg;
    (void)close(fd); /* that it came is all */
}

/* On all addresses, of IPv4 alone where there is no IPv6; 0: not at that port. */
static uint16_t listen_at(struct asking *a, uint16_t port)
{
    const struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                                     .sin6_port = htons(port)};
    const struct sockaddr_in four = {.sin_family = AF_INET,
                                     .sin_port = htons(port)};
    const unsigned how = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC;
    struct address own = {.len = sizeof own.at};

    a->listener =
        evconnlistener_new_bind(a->front.base, on_caller, a, how, -1,
                                (const struct sockaddr *)&six, sizeof six);
    if (!a->listener)
        a->listener = evconnlistener_new_bind(
            a->front.base, on_caller, a, how, -1,
            (const struct sockaddr *)&four, sizeof four);
    if (!a->listener
        || getsockname(evconnlistener_get_fd(a->listener),
                       (struct sockaddr *)&own.at, &own.len)
               < 0)
        return 0;
    return address_port((const struct sockaddr *)&own.at);
}

/* At a port where a front end would listen. */
static int listen_here(struct asking *a)
{
    struct port_range ports = a->config.bcast.ports;
    char address[ADDRESS_MAX];
    uint16_t port = 0;

    if (ports.low == 0 && companion_ports(a->front.base, &ports, a->err) < 0)
        return -1;
    for (uint32_t p = ports.low; port == 0 && p <= ports.high; p++)
        port = listen_at(a, (uint16_t)p);
    if (port == 0)
        return es_fail(a->err, ES_ENV,
                       "see SrunPortRange in slurm.conf, or bcast { "
                       "port_range } in evenstep.conf",
                       "no port is free to listen at");
    front_address_find(a->place.nodes, address);
    if (!address[0])
        return es_fail(a->err, ES_ENV, "see `ip address`",
                       "this machine has no address");
    address_join(a->at, address, port);
    return 0;
}

/* --- a round --------------------------------------------------------------- */

static double now(void)
{
    struct timeval t;

    (void)gettimeofday(&t, NULL); /* cannot fail */
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void on_line(void *arg, const char *line)
{
    struct asking *a = arg;
    struct check_node said;
    struct check_answer *n;

    if (check_node_read(&said, line) < 0)
        return;
    n = answer_of(a, said.node);
    if (!n || n->has_answered)
        return;
    n->has_answered = 1;
    n->node = said;
    n->offset = said.clock - now();
    if (said.port > 0)
        call_back(a, (size_t)(n - a->answer));
}

/* Of a list of nodes each that has not answered. */
static void on_absent(void *arg, const char *list, const char *why)
{
    struct asking *a = arg;
    char *names = survey_names(list, NULL), *save = NULL;

    for (char *name = names ? strtok_r(names, "\n", &save) : NULL; name;
         name = strtok_r(NULL, "\n", &save)) {
        struct check_answer *n = answer_of(a, name);

        if (n && !n->has_answered)
            snprintf(n->absent, sizeof n->absent, "%s", why);
    }
    free(names);
}

static size_t count_absent(const struct asking *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        n += a->answer[i].absent[0] != '\0';
    return n;
}

static int ask(struct asking *a);

/* Of one that could not be started all may have ended. */
static void on_over(void *arg, const char *why)
{
    struct asking *a = arg;

    snprintf(a->why, sizeof a->why, "%s", why ? why : "");
    survey_destroy(a->survey);
    a->survey = NULL;
    a->is_over = 1;
    if (why && a->round < ROUNDS && count_absent(a) > 0)
        a->is_over = ask(a) <= 0;
    maybe_finish(a);
}

static void maybe_finish(struct asking *a)
{
    if (a->is_over && a->calls == 0)
        front_finish(&a->front, 0);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    struct asking *a = arg;

    (void)fd;
    (void)what;
    a->is_over = 1;
    front_finish(&a->front, 0);
}

/* Those that are left: 1 if there are any; 0, or -1 with err. */
static int ask(struct asking *a)
{
    const char *const words[] = {a->self,  "check", "--json",
                                 "--call", a->at,   NULL};
    const struct survey_setup setup = {.base = a->front.base,
                                       .place = &a->place,
                                       .words = words,
                                       .line = on_line,
                                       .absent = on_absent,
                                       .over = on_over,
                                       .arg = a};
    int rc = place_rest(a);

    if (rc <= 0)
        return rc;
    if (!in_job())
        snprintf(a->srun, sizeof a->srun,
                 "--immediate=" BUSY_S " --time=2 --mem=16 --quiet %s",
                 a->o->srun ? a->o->srun : "");
    else
        snprintf(a->srun, sizeof a->srun, "%s", a->o->srun ? a->o->srun : "");
    a->place.srun_args = a->srun;
    a->place.job = companion_job_from_environ();
    a->round++;
    a->is_over = 0;
    a->survey = survey_start(&setup, a->err);
    return a->survey ? 1 : -1;
}

/* --- what is said ---------------------------------------------------------- */

static json_t *node_json(const struct check_answer *n)
{
    return json_pack("{s:s, s:b, s:o, s:s, s:s, s:b, s:f}", "node", n->name,
                     "well", n->line[0] == '\0', "why", json_text(n->line),
                     "version", n->node.version, "config", n->node.config,
                     "plugin", n->node.has_plugin, "clock_s",
                     n->has_answered ? n->offset : 0.0);
}

static int print_all(const struct asking *a)
{
    json_t *all = json_array(), *busy = json_array();

    for (size_t i = 0; i < a->n; i++)
        (void)json_array_append_new(all, node_json(&a->answer[i]));
    for (size_t i = 0; i < a->n_busy; i++)
        (void)json_array_append_new(busy, json_text(a->busy[i]));
    return print_json(json_pack("{s:o, s:o}", "nodes", all, "unchecked", busy),
                      a->err);
}

static void say_busy(const struct asking *a)
{
    char names[UNNAMED * 66] = "";
    size_t len = 0;

    for (size_t i = 0; i < a->n_busy && i < UNNAMED; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
                                i > 0 ? ", " : "", a->busy[i]);
    if (a->n_busy > UNNAMED)
        notice("warning: not checked, as jobs have them: %s and %zu more",
               names, a->n_busy - UNNAMED);
    else if (a->n_busy > 0)
        notice("warning: not checked, as jobs have them: %s", names);
}

static int tell(struct asking *a)
{
    size_t unwell =
        check_judge(a->answer, a->n, EVENSTEP_VERSION, a->config.timeout_s);
    size_t answers = 0;

    for (size_t i = 0; i < a->n; i++)
        answers += a->answer[i].has_answered != 0;
    if (a->round > 0 && answers == 0 && count_absent(a) == 0)
        return es_fail(a->err, ES_ENV,
                       "see that these nodes are free, and in one partition "
                       "(--srun=--partition=NAME)",
                       "no node could be asked: %s",
                       a->why[0] ? a->why : "no answer came");
    if (a->o->json && print_all(a) < 0)
        return -1;
    for (size_t i = 0; !a->o->json && i < a->n; i++)
        if (a->answer[i].line[0])
            printf("%s: %s\n", a->answer[i].name, a->answer[i].line);
    if (!a->o->json)
        printf("%zu of %zu nodes are well\n", a->n - unwell, a->n);
    if (fflush(stdout) != 0)
        return es_no_space(a->err);
    say_busy(a);
    check_default();
    if (check_has_no_plugin(a->answer, a->n))
        notice("warning: the plugin is loaded on none of these nodes: srun "
               "--evenstep is not known there (see evenstep-plugin(8))");
    return unwell == 0 ? 0
                       : es_fail(a->err, ES_WORK, "see their lines",
                                 "%zu of %zu nodes are not well", unwell, a->n);
}

/* --- all ------------------------------------------------------------------- */

static int own_path(struct asking *a)
{
    ssize_t len = readlink("/proc/self/exe", a->self, sizeof a->self - 1);

    if (len <= 0)
        return es_fail(a->err, ES_ENV, "see that /proc is there",
                       "the path of this program is not known");
    a->self[len] = '\0';
    return 0;
}

static int ask_all(struct asking *a)
{
    struct timeval patience = {a->config.timeout_s, 0};
    int rc;

    if (find_nodes(a) < 0)
        return -1;
    a->late = evtimer_new(a->front.base, on_late, a);
    if (!a->late || evtimer_add(a->late, &patience) < 0)
        return es_no_memory(a->err);
    if (place_rest(a) < 0 || listen_here(a) < 0)
        return -1;
    rc = ask(a);
    if (rc < 0)
        return -1;
    a->is_over = rc == 0;
    if (rc > 0 && front_run(&a->front) < 0)
        return -1;
    return tell(a);
}

static int check_many(const struct options *o, struct es_error *err)
{
    struct asking a = {.o = o, .err = err};
    int rc = -1;

    if (config_load(&a.config, NULL, err) == 0 && own_path(&a) == 0
        && front_begin(&a.front, err) == 0
        && front_catch(&a.front, "nothing is left running") == 0)
        rc = ask_all(&a);
    survey_destroy(a.survey);
    if (a.late)
        event_free(a.late);
    if (a.listener)
        evconnlistener_free(a.listener);
    front_end(&a.front);
    free(a.answer);
    free(a.busy);
    return rc;
}

#define AT(member) OPTION_AT(struct options, member)

/* clang-format off */
static const struct option options[] = {
    {OPTION_GROUP, .name = "which nodes (this one, or in a job all of its own):"},
    {OPTION_TEXT, "nodes", "LIST", AT(nodes), .excludes = "all call", .help =
     "these, as Slurm lists them: n[0-15].  Outside of a job srun allocates them for "
     "some seconds"},
    {OPTION_FLAG, "all", NULL, AT(all), .excludes = "call", .help =
     "all that Slurm has; those that have no room are named and not checked"},
    {OPTION_TEXT, "srun", "ARGS", AT(srun), .excludes = "call", .help =
     "for the step, as --partition=NAME"},
    {OPTION_TEXT, "call", "ADDRESS:PORT", AT(call), .help =
     "this node: also see that it reaches this"},
    {OPTION_GROUP, .name = "results:"},
    {OPTION_FLAG, "json", NULL, AT(json), .help = "print one JSON object"},
    {OPTION_TEXT, "metrics", "FILE", AT(metrics), .file = OPTION_WRITES,
     .excludes = "nodes all", .help =
     "this node: keep how it stands for node_exporter, as /var/lib/node_exporter/"
     "evenstep.prom"},
    {.type = OPTION_END},
};
/* clang-format on */

static int is_address(const char *text)
{
    char address[ADDRESS_MAX];
    struct address at;
    uint16_t port;

    return address_split(address, &port, text) == 0
           && address_parse(&at, address, port) == 0;
}

static int check_main(int argc, char **argv, struct es_error *err)
{
    struct options o = {0};
    int rc = options_parse(&command_check, &o, argc, argv, err);

    if (rc != 0)
        return rc;
    if (o.nodes && !o.nodes[0])
        return es_fail(err, ES_USAGE, "give some, as n[0-15], or --all",
                       "--nodes: no node is named");
    if (o.call && !is_address(o.call))
        return es_fail(err, ES_USAGE, "give one, as 10.0.0.1:60001",
                       "--call: %s is no ADDRESS:PORT", o.call);
    if (!o.call && !o.metrics && (o.nodes || o.all || in_job()))
        return check_many(&o, err);
    return check_here(&o, err);
}

const struct subcommand command_check = {
    .name = "check",
    .brief = "is all in order on these nodes?",
    .about =
        "Look whether evenstep can work here, or on each of many nodes: programs and\n"
        "their version, configuration, plugin, /dev/shm, ports both ways, clock, the\n"
        "GPUs' drivers, Slurm's state.  One line a node that is not well.\n",
    .option = options,
    .end =
        "exit status: 0 all are well, 1 one is not, 2 usage, 3 none could be asked\n",
    .run = check_main,
};
