/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/exec/throttle.h"
#include "pmix_bcast/array.h"
#include "pmix_bcast/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#define TEXT_MAX      (1 << 20) /* of /proc/self/mountinfo: 5000 mounts */
#define CLOSE_TRIES   100
#define CLOSE_WAIT_NS 5000000
#define OWED_MAX_NS   1e9 /* of time lost to a frozen machine */

struct throttle {
    int percent;
    int version; /* of the cgroup; 0: duty cycle */
    char name[THROTTLE_NAME_MAX + 1];
    int parent_fd, group_fd, enter_fd; /* of the cgroup, else -1 */
    /* duty cycle */
    struct event *timer;
    pid_t *group; /* that run, n */
    size_t n, room;
    int running;
    int64_t cycle_ns, begin_ns; /* of this cycle */
    int64_t last_ns;            /* owed_ns holds for this time */
    double owed_ns;
};

/* --- where: pure --------------------------------------------------------- */

static int has_word(const char *list, const char *word, const char *separators)
{
    size_t len = strlen(word);

    while (*list) {
        size_t n = strcspn(list, separators);
        if (n == len && strncmp(list, word, len) == 0)
            return 1;
        list += n;
        list += strspn(list, separators);
    }
    return 0;
}

/* Copy the line at *text (without its end) and step over it; 0 at the end of
 * the text.  A line that does not fit becomes an empty one. */
static int next_line(const char **text, char *line, size_t size)
{
    size_t len = strcspn(*text, "\n");

    if (**text == '\0')
        return 0;
    line[0] = '\0';
    if (len < size) {
        memcpy(line, *text, len);
        line[len] = '\0';
    }
    *text += len + ((*text)[len] == '\n');
    return 1;
}

/* The path of our own group in its hierarchy, "/...". */
static int own_group(const char *cgroup, int version, char *path, size_t size)
{
    char line[PATH_MAX + 256];

    while (next_line(&cgroup, line, sizeof line)) {
        char *controllers = strchr(line, ':'), *own;
        if (!controllers)
            continue;
        own = strchr(++controllers, ':');
        if (!own)
            continue;
        *own++ = '\0';
        if (version == 1 ? has_word(controllers, "cpu", ",")
                         : line[0] == '0' && *controllers == '\0') {
            int n = snprintf(path, size, "%s", own);
            return own[0] == '/' && n >= 0 && (size_t)n < size ? 0 : -1;
        }
    }
    return -1;
}

/* Where the hierarchy is mounted, and which of its groups is at the mount. */
static int find_mount(const char *mountinfo,
                      int version,
                      char root[PATH_MAX],
                      char mount[PATH_MAX])
{
    char line[2 * PATH_MAX + 512], type[64], options[256];

    while (next_line(&mountinfo, line, sizeof line)) {
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(rest, " - %63s %*s %255s", type, options) != 2
            || sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2
            || strchr(mount, '\\'))
            continue;
        if (version == 1
                ? strcmp(type, "cgroup") == 0 && has_word(options, "cpu", ",")
                : strcmp(type, "cgroup2") == 0)
            return 0;
    }
    return -1;
}

static int find_version(const char *mountinfo,
                        const char *cgroup,
                        int version,
                        struct throttle_place *place)
{
    char root[PATH_MAX], mount[PATH_MAX], own[PATH_MAX];
    const char *below;
    size_t len;
    int n;

    if (own_group(cgroup, version, own, sizeof own) < 0
        || find_mount(mountinfo, version, root, mount) < 0)
        return -1;
    len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(own, root, len) != 0 || (own[len] != '/' && own[len] != '\0')
        || strncmp(own, "/..", 3) == 0)
        return -1; /* our group is not visible here */
    below = own + len;
    if (version == 2 && strrchr(below, '/'))
        *strrchr(own + len, '/') = '\0'; /* the parent */
    if (strcmp(below, "/") == 0)
        below = "";
    n = snprintf(root, sizeof root, "%s%s", mount, below);
    if (n < 0 || (size_t)n >= sizeof root)
        return -1;
    place->version = version;
    memcpy(place->path, root, (size_t)n + 1);
    return 0;
}

int throttle_find(const char *mountinfo,
                  const char *cgroup,
                  struct throttle_place *place)
{
    if (find_version(mountinfo, cgroup, 1, place) == 0)
        return 0;
    return find_version(mountinfo, cgroup, 2, place);
}

int64_t throttle_run_ns(double share, double owed_ns, int64_t cycle_ns)
{
    double run = owed_ns + share * (double)cycle_ns;

    if (!(run > 0))
        return 0;
    return run < (double)cycle_ns ? (int64_t)run : cycle_ns;
}

/* --- the cgroup ---------------------------------------------------------- */

/* The text of a file, at most TEXT_MAX; the caller frees.  NULL: errno. */
static char *read_text(int dir, const char *path)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : malloc(TEXT_MAX + 1);
    size_t len = 0;
    ssize_t n = -1;

    while (text && len < TEXT_MAX) {
        n = read(fd, text + len, TEXT_MAX - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    if (fd >= 0)
        (void)close(fd); /* read only */
    if (text && n < 0) {
        free(text);
        return NULL;
    }
    if (text)
        text[len] = '\0';
    return text;
}

static int write_text(int dir, const char *path, const char *text)
{
    int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = write(fd, text, strlen(text));
    if (close(fd) < 0 || n != (ssize_t)strlen(text))
        return -1;
    return 0;
}

static int find_here(struct throttle_place *place)
{
    char *mountinfo = read_text(AT_FDCWD, "/proc/self/mountinfo");
    char *cgroup = read_text(AT_FDCWD, "/proc/self/cgroup");
    int rc = -1;

    if (mountinfo && cgroup)
        rc = throttle_find(mountinfo, cgroup, place);
    free(cgroup);
    free(mountinfo);
    return rc;
}

/* v2: do children of this group have the controller, and may we move into
 * one?  That takes the right to write here, too. */
static int may_limit_children(int dir)
{
    char *enabled = read_text(dir, "cgroup.subtree_control");
    int yes = enabled && has_word(enabled, "cpu", " \n")
              && faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) == 0;

    free(enabled);
    return yes;
}

static int set_limit(const struct throttle *t)
{
    int quota = THROTTLE_PERIOD_US / 100 * t->percent;
    int period = THROTTLE_PERIOD_US;
    char text[64];

    if (quota < THROTTLE_QUOTA_US) {
        quota = THROTTLE_QUOTA_US;
        period = THROTTLE_QUOTA_US * 100 / t->percent;
    }
    if (t->version == 2) {
        (void)snprintf(text, sizeof text, "%d %d", quota, period);
        return write_text(t->group_fd, "cpu.max", text);
    }
    (void)snprintf(text, sizeof text, "%d", period);
    if (write_text(t->group_fd, "cpu.cfs_period_us", text) < 0)
        return -1;
    (void)snprintf(text, sizeof text, "%d", quota);
    return write_text(t->group_fd, "cpu.cfs_quota_us", text);
}

static void kill_group(int group_fd)
{
    char *text = read_text(group_fd, "cgroup.procs"), *at = text, *end;

    while (at && *at) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        if (pid > 1) /* 0: not of our pid namespace */
            (void)kill((pid_t)pid, SIGKILL);
        at = end + strspn(end, "\n");
    }
    free(text);
}

static void cgroup_remove(const struct throttle *t)
{
    const struct timespec pause = {0, CLOSE_WAIT_NS};

    /* Without the limit processes end faster; they also end if this fails. */
    if (t->version == 2)
        (void)write_text(t->group_fd, "cpu.max", "max");
    else
        (void)write_text(t->group_fd, "cpu.cfs_quota_us", "-1");
    for (int i = 0; i < CLOSE_TRIES; i++) {
        if (unlinkat(t->parent_fd, t->name, AT_REMOVEDIR) == 0
            || errno != EBUSY)
            return;
        kill_group(t->group_fd);
        (void)nanosleep(&pause, NULL); /* may be shorter if interrupted */
    }
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* no data can be lost by it */
    *fd = -1;
}

static void cgroup_close(struct throttle *t)
{
    if (t->group_fd >= 0)
        cgroup_remove(t);
    close_fd(&t->enter_fd);
    close_fd(&t->group_fd);
    close_fd(&t->parent_fd);
    t->version = 0;
}

static int make_group(struct throttle *t)
{
    if (mkdirat(t->parent_fd, t->name, 0755) < 0
        && (errno != EEXIST || unlinkat(t->parent_fd, t->name, AT_REMOVEDIR) < 0
            || mkdirat(t->parent_fd, t->name, 0755) < 0))
        return -1;
    t->group_fd =
        openat(t->parent_fd, t->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->group_fd < 0)
        (void)unlinkat(t->parent_fd, t->name, AT_REMOVEDIR);
    return t->group_fd < 0 ? -1 : 0;
}

/* Create the cgroup.  0, or -1 if that is not allowed here; then nothing is
 * left behind. */
static int cgroup_open(struct throttle *t)
{
    struct throttle_place place;

    if (find_here(&place) < 0)
        return -1;
    t->version = place.version;
    t->parent_fd = open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->parent_fd < 0
        || (t->version == 2 && !may_limit_children(t->parent_fd))
        || make_group(t) < 0 || set_limit(t) < 0)
        goto fail;
    t->enter_fd = openat(t->group_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (t->enter_fd >= 0)
        return 0;
fail:
    cgroup_close(t);
    return -1;
}

/* --- the duty cycle ------------------------------------------------------ */

static double share(const struct throttle *t)
{
    return t->percent / 100.0;
}

static void update_owed(struct throttle *t, int64_t now)
{
    double passed = (double)(now - t->last_ns);

    t->owed_ns += share(t) * passed - (t->running ? passed : 0);
    if (t->owed_ns > OWED_MAX_NS)
        t->owed_ns = OWED_MAX_NS;
    if (t->owed_ns < -OWED_MAX_NS)
        t->owed_ns = -OWED_MAX_NS;
    t->last_ns = now;
}

static void set_running(struct throttle *t, int running)
{
    if (running == t->running)
        return;
    for (size_t i = 0; i < t->n; i++)
        (void)kill(-t->group[i], running ? SIGCONT : SIGSTOP); /* or ended */
    t->running = running;
}

static void wake_in(struct throttle *t, int64_t delay_ns)
{
    struct timeval delay = {delay_ns / 1000000000,
                            delay_ns % 1000000000 / 1000};

    if (t->n == 0 || event_add(t->timer, &delay) == 0)
        return;
    set_running(t, 1); /* full speed is better than stopped for ever */
    t->n = 0;
}

static void begin_cycle(struct throttle *t, int64_t now)
{
    int64_t run_ns = throttle_run_ns(share(t), t->owed_ns, t->cycle_ns);

    t->begin_ns = now;
    set_running(t, run_ns > 0);
    wake_in(t, run_ns > 0 ? run_ns : t->cycle_ns);
}

static void on_throttle_timer(evutil_socket_t fd, short what, void *arg)
{
    struct throttle *t = arg;
    int64_t now = clock_ns(), rest;

    (void)fd;
    (void)what;
    update_owed(t, now);
    rest = t->begin_ns + t->cycle_ns - now;
    if (t->running && rest > 0) {
        set_running(t, 0);
        wake_in(t, rest);
    } else {
        begin_cycle(t, now);
    }
}

static int duty_open(struct throttle *t, struct event_base *base)
{
    int64_t cycle_us = THROTTLE_CYCLE_US;

    if (cycle_us * t->percent / 100 < THROTTLE_RUN_US)
        cycle_us = THROTTLE_RUN_US * 100 / t->percent;
    t->cycle_ns = cycle_us * 1000;
    t->timer = event_new(base, -1, 0, on_throttle_timer, t);
    return t->timer ? 0 : -1;
}

/* --- public -------------------------------------------------------------- */

static int name_is_good(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-";
    size_t len = strlen(name);

    return len > 0 && len <= THROTTLE_NAME_MAX && name[0] != '.'
           && strspn(name, letters) == len;
}

int throttle_open(struct throttle **t,
                  struct event_base *base,
                  int percent,
                  const char *name,
                  enum throttle_how how,
                  struct es_error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct throttle *new;

    if (cpus < 1)
        cpus = 1;
    if (percent < 1 || percent > 100 * cpus)
        return es_fail(err, ES_USAGE, "give 1 to 100 for each CPU",
                       "a CPU speed of %d percent is out of range", percent);
    if (!name_is_good(name))
        return es_fail(err, ES_USAGE, "give 1 to 64 of A-Z a-z 0-9 . _ -",
                       "\"%s\" cannot name a cgroup", name);
    new = calloc(1, sizeof *new);
    if (!new)
        return es_no_memory(err);
    new->percent = percent;
    new->parent_fd = new->group_fd = new->enter_fd = -1;
    (void)snprintf(new->name, sizeof new->name, "%s", name);
    if ((how == THROTTLE_DUTY_CYCLE || cgroup_open(new) < 0)
        && duty_open(new, base) < 0) {
        free(new);
        return es_fail(err, ES_ENV, "free some memory",
                       "throttle: cannot make a timer");
    }
    *t = new;
    return 0;
}

const char *throttle_means(const struct throttle *t)
{
    static const char *const means[] = {"duty cycle", "cgroup v1", "cgroup v2"};

    return means[t->version];
}

int throttle_enter_fd(const struct throttle *t)
{
    return t->enter_fd;
}

void throttle_watch(struct throttle *t, pid_t group)
{
    pid_t *all;

    if (t->version != 0 || t->percent >= 100)
        return;
    all = array_grow(t->group, &t->room, t->n + 1, sizeof *all, SIZE_MAX);
    if (!all)
        return; /* full speed is better than no work */
    t->group = all;
    all[t->n++] = group;
    if (t->n > 1) {
        if (!t->running)
            (void)kill(-group, SIGSTOP);
        return;
    }
    t->running = 1;
    t->owed_ns = 0;
    t->last_ns = clock_ns();
    begin_cycle(t, t->last_ns);
}

void throttle_forget(struct throttle *t, pid_t group)
{
    size_t i = 0;

    while (i < t->n && t->group[i] != group)
        i++;
    if (i == t->n)
        return;
    if (!t->running)
        (void)kill(-group, SIGCONT);
    t->group[i] = t->group[--t->n];
    if (t->n == 0)
        (void)event_del(t->timer); /* fails for a broken base only */
}

void throttle_close(struct throttle *t)
{
    int saved = errno;

    if (!t)
        return;
    set_running(t, 1);
    if (t->timer)
        event_free(t->timer);
    cgroup_close(t);
    free(t->group);
    free(t);
    errno = saved;
}

void throttle_sweep(const char *name)
{
    struct throttle left = {.parent_fd = -1, .group_fd = -1, .enter_fd = -1};
    struct throttle_place place;

    if (!name_is_good(name) || find_here(&place) < 0)
        return;
    left.version = place.version;
    (void)snprintf(left.name, sizeof left.name, "%s", name);
    left.parent_fd = open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (left.parent_fd >= 0)
        left.group_fd = openat(left.parent_fd, name,
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    cgroup_close(&left);
}
