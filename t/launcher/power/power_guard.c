/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep-power itself, between a plugin and an agent that are played here:
 * it sets only what it has found, within bounds, and puts it back whoever dies.
 */
#include "launcher/base/sysfs.h"
#include "launcher/power/allowed_cpus.h"
#include "launcher/power/power_link.h"
#include "launcher/power/power_socket.h"
#include "launcher/power/power_state.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define CPU(n)   "%s/devices/system/cpu/cpu" #n "/topology/thread_siblings_list"
#define ZONE(n)  "%s/class/powercap/intel-rapl:" #n
#define LIMIT(n) ZONE(n) "/constraint_0_power_limit_uw"
#define WAIT_MS  20000

static char root[] = "/tmp/power_guard.XXXXXX";
static char sysfs[64], state[64], conf[64], program[4096];
static const char *cores = "0-1"; /* that the job has */
static const char *only;          /* an option more */
static uint32_t job, step;        /* the number of a step: one a guard */

/* --- the node ------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(const char *text,
                                                      const char *fmt,
                                                      ...)
{
    char path[SYSFS_PATH];
    va_list ap;
    FILE *file;

    va_start(ap, fmt);
    vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    file = fopen(path, "w");
    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0)
        bail("%s: %s", path, strerror(errno));
}

static void make_tree(void)
{
    static const char *const dirs[] = {"",
                                       "/class",
                                       "/class/powercap",
                                       "/class/powercap/intel-rapl:0",
                                       "/class/powercap/intel-rapl:1",
                                       "/devices",
                                       "/devices/system",
                                       "/devices/system/cpu",
                                       "/devices/system/cpu/cpu0",
                                       "/devices/system/cpu/cpu0/topology",
                                       "/devices/system/cpu/cpu1",
                                       "/devices/system/cpu/cpu1/topology",
                                       "/devices/system/cpu/cpu2",
                                       "/devices/system/cpu/cpu2/topology",
                                       "/devices/system/cpu/cpu3",
                                       "/devices/system/cpu/cpu3/topology"};
    char path[SYSFS_PATH];

    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        snprintf(path, sizeof path, "%s%s", sysfs, dirs[i]);
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            bail("%s", path);
    }
    put("0,2", CPU(0), sysfs); /* two cores of two threads */
    put("1,3", CPU(1), sysfs);
    put("0,2", CPU(2), sysfs);
    put("1,3", CPU(3), sysfs);
    put("120000000", ZONE(0) "/constraint_0_max_power_uw", sysfs);
    put("60000000", ZONE(1) "/constraint_0_max_power_uw", sysfs);
    put("100000000", LIMIT(0), sysfs);
    put("50000000", LIMIT(1), sysfs);
}

static int limits_are(uint64_t a, uint64_t b)
{
    uint64_t x = 0, y = 0;

    return sysfs_read_u64(&x, LIMIT(0), sysfs) == 0
           && sysfs_read_u64(&y, LIMIT(1), sysfs) == 0 && x == a && y == b;
}

static int is_found(void)
{
    return limits_are(100000000, 50000000);
}

/* A file of a guard's state: of the last step that was started. */
static int has_state(void)
{
    char host[65] = "", pattern[SYSFS_PATH];
    glob_t found;
    int has;

    (void)gethostname(host, sizeof host - 1);
    snprintf(pattern, sizeof pattern, "%s/%s.%u.%u.*", state, host, job, step);
    has = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return has;
}

/* No state and no socket of any guard: the folder is empty. */
static int has_nothing(void)
{
    char pattern[SYSFS_PATH];
    glob_t found;
    int rc;

    snprintf(pattern, sizeof pattern, "%s/*", state);
    rc = glob(pattern, 0, NULL, &found);
    globfree(&found);
    return rc == GLOB_NOMATCH;
}

static int is_clean(void)
{
    return is_found() && !has_state();
}

static int is_swept(void)
{
    return is_found() && has_nothing();
}

static int wait_for(int (*holds)(void))
{
    static const struct timespec nap = {.tv_nsec = 10000000};

    for (int i = 0; i < WAIT_MS / 10 && !holds(); i++)
        (void)nanosleep(&nap, NULL);
    return holds();
}

/* --- the plugin ----------------------------------------------------------- */

struct plugin {
    pid_t pid;
    int in, out; /* our ends */
};

static int readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, WAIT_MS) == 1;
}

static struct plugin start_guard(void)
{
    struct plugin p = {.pid = -1};
    int in[2], out[2];
    char a[16], b[16], c[16];

    snprintf(a, sizeof a, "%u", job);
    snprintf(b, sizeof b, "%u", ++step);
    snprintf(c, sizeof c, "%u", (unsigned)getuid());
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        bail("no pipe");
    p.pid = fork();
    if (p.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(program, program, "--job", a, "--step", b, "--uid", c, "--cores",
              cores, "--config", conf, "--sysfs", sysfs, "--state", state, only,
              (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    p.in = in[1];
    p.out = out[0];
    return p;
}

/* A task, as which we stand; 1 if the guard has answered. */
static int tell_task(const struct plugin *p)
{
    char line[16];
    int len = snprintf(line, sizeof line, "%d\n", (int)getpid());

    return write(p->in, line, (size_t)len) == len && readable(p->out)
           && read(p->out, line, sizeof line) == 3;
}

static struct plugin begin_step(void)
{
    struct plugin p;

    make_tree();
    p = start_guard();
    ok(tell_task(&p), "the guard takes the first task");
    return p;
}

static void end_step(struct plugin *p)
{
    close(p->in);
    close(p->out);
    (void)waitpid(p->pid, NULL, 0);
}

/* --- the agent ------------------------------------------------------------ */

static int call_guard(void)
{
    struct power_place place = {.dir = state, .job = job, .step = step};
    int fd = power_socket_call(&place);

    if (fd < 0)
        bail("no guard: %s", strerror(errno));
    return fd;
}

/* What the guard says next. */
static const char *hear_any(int fd)
{
    static char text[POWER_PACKET_MAX];
    ssize_t n = readable(fd) ? recv(fd, text, sizeof text - 1, 0) : -1;

    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* The same, or what it says to word; but for parts, of which it speaks after a
 * limit was set. */
static const char *hear(int fd, const char *word)
{
    const char *text = "";

    if (word && send(fd, word, strlen(word), MSG_NOSIGNAL) <= 0)
        return text;
    do
        text = hear_any(fd);
    while (parts_line_is(text));
    return text;
}

static int call_and_set(const char *limit)
{
    int fd = call_guard();

    (void)hear(fd, NULL);
    (void)hear(fd, limit);
    return fd;
}

/* Has the kernel closed its socket? */
static int is_gone(void)
{
    struct power_place place = {.dir = state, .job = job, .step = step};
    int fd = power_socket_call(&place);

    if (fd < 0)
        return errno == ECONNREFUSED;
    close(fd);
    return 0;
}

/* The kernel may close the agent's connection before the guard's other files,
 * of which the next guard would then think that they are in use. */
static void kill_guard(int agent)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (getsockopt(agent, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0
        || peer.pid <= 1 || kill(peer.pid, SIGKILL) < 0)
        bail("no guard to kill");
    (void)hear(agent, NULL); /* until it hangs up */
    if (!wait_for(is_gone))
        bail("the guard does not end");
}

/* --- what must hold ------------------------------------------------------- */

static void test_sets(void)
{
    struct plugin p = begin_step();
    int agent = call_guard(), second;

    ok(is_found() && has_state(),
       "what was found is on disk, and stays as it is");
    is_str(hear(agent, NULL), "power rapl uW 120000000 30000000 150000000",
           "the agent is told what there is, and what to begin with");
    is_str(hear(agent, "60000000"), "set 60000000", "it may set a limit");
    ok(limits_are(40000000, 20000000), "which is set");
    ok(strstr(hear(agent, "29999999"),
              "29999999 is not between 30000000 and 150000000")
           && strncmp(hear(agent, "150000001"), "error ", 6) == 0,
       "out of bounds is refused, with the bounds");
    ok(strncmp(hear(agent, "-5"), "error ", 6) == 0
           && strncmp(hear(agent, "6e7"), "error ", 6) == 0
           && strncmp(hear(agent, "99999999999999999999999"), "error ", 6) == 0
           && strncmp(hear(agent, "/etc/passwd 1"), "error ", 6) == 0,
       "so is what is no number");
    ok(limits_are(40000000, 20000000), "nothing of it is set");
    is_str(hear(agent, "0"), "set 0", "it may have no limit");
    ok(is_found() && has_state(), "what was found is back");
    is_str(hear(agent, "60000000"), "set 60000000", "and one again");
    ok(limits_are(40000000, 20000000), "which is set");
    second = call_guard();
    is_str(hear(second, NULL), "", "there is one agent only");
    close(second);
    ok(tell_task(&p), "further tasks are taken");
    end_step(&p);
    ok(wait_for(is_clean), "the step ends before the agent: put back");
    close(agent);
}

static void make_counters(void)
{
    make_tree();
    put("package-0", ZONE(0) "/name", sysfs);
    put("1000", ZONE(0) "/energy_uj", sysfs);
    put("262143328850", ZONE(0) "/max_energy_range_uj", sysfs);
}

static void remove_counters(void)
{
    char path[SYSFS_PATH];

    snprintf(path, sizeof path, ZONE(0) "/name", sysfs);
    if (unlink(path) < 0)
        bail("%s: %s", path, strerror(errno));
}

static int hears_energy(int agent, uint64_t uj)
{
    char start[64];

    for (int i = 0; i < WAIT_MS / 10000 + 1; i++) {
        const char *text = hear(agent, NULL);

        snprintf(start, sizeof start, "energy %ju ", (uintmax_t)uj);
        if (strncmp(text, start, strlen(start)) == 0)
            return 1;
        if (strncmp(text, "energy ", 7) != 0)
            return 0;
    }
    return 0;
}

/* Root's counters: what others on the node do can be read from them. */
static void test_no_energy(const char *what)
{
    struct plugin p;
    int agent;

    make_counters();
    only = "--energy";
    p = start_guard();
    ok(tell_task(&p), "%s: the guard takes the first task", what);
    agent = call_guard();
    ok(strncmp(hear(agent, NULL), "off no limits", 13) == 0,
       "%s: it sets nothing", what);
    put("2000", ZONE(0) "/energy_uj", sysfs);
    end_step(&p);
    ok(!*hear(agent, NULL), "%s: no counters are told", what);
    close(agent);
    only = NULL;
    remove_counters();
}

/* Nanoseconds from the step's begin to the reading that is told next. */
static uint64_t hear_when(int agent)
{
    uint64_t uj = 0, ns = 0;

    (void)sscanf(hear(agent, NULL), "energy %" SCNu64 " %" SCNu64, &uj, &ns);
    return ns;
}

static int is_read_seldom(int agent)
{
    uint64_t before = hear_when(agent);

    return before > 0 && hear_when(agent) > before + UINT64_C(9000000000);
}

/* What is counted is told every 10 s, until the counter is of no use. */
static void test_energy(void)
{
    struct plugin p;
    int agent;

    make_counters();
    only = "--energy";
    p = start_guard();
    ok(tell_task(&p), "the guard takes the first task, and sets nothing");
    agent = call_guard();
    ok(hears_energy(agent, 0), "the agent hears of energy at once");
    ok(strncmp(hear(agent, NULL), "off no limits are asked for", 27) == 0
           && !has_state(),
       "and that there are no limits");
    put("1234", ZONE(0) "/energy_uj", sysfs);
    ok(hears_energy(agent, 234), "which is read again and again");
    ok(is_read_seldom(agent), "once in 10 s");
    ok(strncmp(hear(agent, "60000000"), "error no limit", 14) == 0
           && is_found(),
       "no limit can be set");
    put("2000", ZONE(0) "/energy_uj", sysfs);
    end_step(&p);
    ok(hears_energy(agent, 1000), "the last is told at the end of the step");
    close(agent);
    only = NULL;
    p = begin_step();
    agent = call_guard();
    ok(hears_energy(agent, 0)
           && strncmp(hear(agent, NULL), "power rapl ", 11) == 0,
       "a guard that sets limits tells of the energy, too");
    put("none", ZONE(0) "/energy_uj", sysfs);
    {
        const char *text = hear(agent, NULL);

        if (strncmp(text, "energy 0", 8) == 0)
            text = hear(agent, NULL);
        ok(strncmp(text, "noenergy energy: ", 17) == 0
               && strstr(text, "energy_uj"),
           "a counter of no use is told of: %s", text);
    }
    is_str(hear(agent, "60000000"), "set 60000000", "and limits go on");
    end_step(&p);
    close(agent);
    ok(wait_for(is_clean), "what was found is back");
    remove_counters();
}

static double seconds_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The user's orders cost root's time: some at once, and then 20 a second. */
static void test_paced(void)
{
    struct plugin p = begin_step();
    int agent = call_guard(), answers = 0;
    double begun = seconds_now();

    (void)hear(agent, NULL);
    for (int i = 0; i < 60; i++)
        if (send(agent, "x", 1, MSG_NOSIGNAL) != 1)
            bail("the guard does not take orders");
    while (answers < 60 && strncmp(hear(agent, NULL), "error ", 6) == 0)
        answers++;
    is_int(answers, 60, "each of many orders has its answer");
    ok(seconds_now() - begun > 1.5, "but no more than 20 a second");
    is_str(hear(agent, "60000000"), "set 60000000", "and the next is followed");
    end_step(&p);
    close(agent);
    ok(wait_for(is_clean), "what was found is back");
}

/* Sanitizers need more. */
static int has_little_memory(pid_t pid)
{
    struct rlimit r;

    if (prlimit(pid, RLIMIT_AS, NULL, &r) < 0)
        return 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 1;
#else
    return r.rlim_cur <= 64 << 20 && r.rlim_max <= 64 << 20;
#endif
}

/* Outside of the job's group, it uses no CPUs but those of the agent. */
static void test_cpus(void)
{
    struct allowed_cpus before, one = {{0}}, of;
    struct plugin p;
    struct ucred peer;
    socklen_t len = sizeof peer;
    unsigned cpu = 0;
    int agent;

    (void)allowed_cpus_read(&before, 0);
    while (!allowed_cpus_has(&before, cpu))
        cpu++;
    one.bits[cpu / (8 * sizeof one.bits[0])] =
        1UL << cpu % (8 * sizeof one.bits[0]);
    p = begin_step();
    (void)sched_setaffinity(0, sizeof one.bits, (const cpu_set_t *)&one);
    agent = call_guard();
    (void)hear(agent, NULL);
    (void)sched_setaffinity(0, sizeof before.bits, (const cpu_set_t *)&before);
    (void)getsockopt(agent, SOL_SOCKET, SO_PEERCRED, &peer, &len);
    ok(allowed_cpus_read(&of, peer.pid) == 0
           && memcmp(&of, &one, sizeof of) == 0,
       "the guard is where the agent is");
    ok(has_little_memory(peer.pid), "and has 64 MiB of memory at most");
    end_step(&p);
    close(agent);
    ok(wait_for(is_clean), "what was found is back");
}

/* The packages are parts, over which a limit can be divided in any way. */
static void test_parts(void)
{
    struct plugin p = begin_step();
    int agent = call_and_set("60000000");
    static struct node_parts parts;

    ok(parts_line_read(&parts, hear_any(agent)) == 0 && parts.n == 2
           && parts.part[1].most == 50000000 && parts.part[1].count == 0,
       "after a limit the agent is told over what it can be divided");
    is_str(hear(agent, "60000000 15000000 45000000"), "set 60000000",
           "it divides it");
    ok(limits_are(15000000, 45000000), "in that way");
    ok(strncmp(hear(agent, "60000000 15000001 45000000"), "error ", 6) == 0
           && strncmp(hear(agent, "60000000 9000000 50000001"), "error ", 6)
                  == 0
           && strncmp(hear(agent, "60000000 0 45000000"), "error ", 6) == 0
           && strncmp(hear(agent, "60000000 15000000 x"), "error ", 6) == 0
           && strncmp(hear(agent, "150000001 15000000 45000000"), "error ", 6)
                  == 0,
       "more than the limit is refused, and what is out of bounds");
    ok(limits_are(15000000, 45000000), "nothing of it is set");
    is_str(hear(agent, "60000000 20000000 20000000 20000000"), "set 60000000",
           "parts that are not these");
    ok(limits_are(40000000, 20000000), "are left out");
    is_str(hear(agent, "45000000 15000000 30000000"), "set 45000000",
           "node and parts at once");
    ok(limits_are(15000000, 30000000), "are set");
    ok(tell_task(&p) && limits_are(30000000, 15000000),
       "a task begins: the node has one limit again");
    is_str(hear(agent, "45000000 15000000 30000000"), "set 45000000",
           "parts of before");
    ok(limits_are(30000000, 15000000), "are left out");
    ok(parts_line_read(&parts, hear_any(agent)) == 0 && parts.n == 2,
       "and told anew");
    is_str(hear(agent, "45000000 15000000 30000000"), "set 45000000",
           "which are divided");
    kill_guard(agent);
    close(agent);
    end_step(&p);
    p = start_guard();
    ok(tell_task(&p) && is_found(),
       "kill -9 of the guard: the next one puts back what was found");
    end_step(&p);
}

/* As another user: 1 if anything is heard from the guard, or a name can be
 * made beside its socket. */
static int stranger_gets_in(void)
{
    struct power_place place = {.dir = state, .job = job, .step = step};
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int fd, listener;

        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(2);
        fd = power_socket_call(&place);
        place.step++;
        listener = power_socket_listen(&place, 65534, NULL);
        _exit(fd >= 0 || listener >= 0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)
        || WEXITSTATUS(status) > 1)
        bail("no stranger");
    return WEXITSTATUS(status);
}

static void test_stranger(void)
{
    struct plugin p;
    int agent;

    if (getuid() != 0) {
        skip("another user is not heard", "only root can be another user");
        return;
    }
    p = begin_step();
    ok(!stranger_gets_in(), "another user is not heard, and makes no socket");
    ok(is_found(), "and sets nothing");
    agent = call_guard();
    ok(strncmp(hear(agent, NULL), "power rapl ", 11) == 0,
       "nor does he keep the agent out");
    close(agent);
    end_step(&p);
    ok(wait_for(is_clean), "all is put back");
}

static void test_agent_dies(void)
{
    struct plugin p = begin_step();
    int agent = call_and_set("60000000");

    close(agent); /* as the kernel does for one that is killed */
    agent = call_guard();
    is_str(hear(agent, "60000000"), "",
           "the agent dies: nobody else may set anything");
    close(agent);
    ok(wait_for(is_found) && has_state(),
       "and it is put back while the step goes on");
    end_step(&p);
    ok(wait_for(is_clean), "and nothing is left at its end");
}

static void test_guard_dies(void)
{
    struct plugin p = begin_step();
    int agent = call_and_set("60000000");

    kill_guard(agent);
    ok(limits_are(40000000, 20000000) && has_state(),
       "kill -9 of the guard leaves what it has set");
    close(agent);
    end_step(&p);
    p = start_guard();
    ok(tell_task(&p) && is_found(),
       "the next one starts, and puts back what the first had found");
    end_step(&p);
    ok(wait_for(is_swept), "nothing is left, no state and no socket");
}

static int restore(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        execl(program, program, "--restore", "--state", state, (char *)NULL);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* The answer to a task where the guard cannot be. */
static void is_refused(const char *why, const char *fact)
{
    struct plugin p = start_guard();
    char line[POWER_LINE_MAX];
    ssize_t n = readable(p.out) ? read(p.out, line, sizeof line - 1) : 0;

    line[n > 0 ? n : 0] = '\0';
    ok(strstr(line, why) && strchr(line, '\n') == line + n - 1, "%s", fact);
    diag("%s", line);
    end_step(&p);
}

/* A socket's name that is taken already. */
static void test_name(void)
{
    struct plugin p = begin_step();
    struct power_place place = {.dir = state, .job = job, .step = step};
    int agent = call_guard(), other;

    (void)hear(agent, NULL);
    kill_guard(agent);
    close(agent);
    end_step(&p);
    step--; /* the same, as when a job is started anew */
    p = start_guard();
    ok(tell_task(&p), "a guard takes the place of one that was killed");
    agent = call_guard();
    ok(strncmp(hear(agent, NULL), "power rapl ", 11) == 0, "and is heard");
    step--;
    is_refused("Address already in use: see which evenstep-power has it",
               "where one is alive another says that it cannot be");
    ok(strncmp(hear(agent, "60000000"), "set ", 4) == 0,
       "which does not trouble the first");
    close(agent);
    end_step(&p);
    ok(wait_for(is_swept), "nothing is left");
    place.step = step + 1;
    other = power_socket_listen(&place, getuid(), NULL);
    close(other);
    ok(other >= 0 && !has_nothing() && restore() && has_nothing(),
       "an epilog removes a dead one's socket");
    if (chmod(state, 0777) < 0)
        bail("no folder");
    is_refused("Operation not permitted: let evenstep-power write there",
               "where others can make names no guard is");
    ok(power_socket_call(&place) < 0, "nor is any called");
    if (chmod(state, 0755) < 0)
        bail("no folder");
}

static void test_epilog(void)
{
    struct plugin p = begin_step();
    int agent = call_and_set("60000000");

    ok(restore() && limits_are(40000000, 20000000),
       "an epilog leaves alone what a living guard has set");
    kill_guard(agent);
    ok(restore() && is_clean(), "but puts back what a dead one has");
    close(agent);
    end_step(&p);
}

/* What is of the whole node is for who has it whole. */
static void test_shared(void)
{
    struct plugin p, second;
    int agent;

    cores = "1";
    p = begin_step();
    agent = call_guard();
    ok(strstr(hear(agent, NULL), "off other jobs may be on this node, of whose "
                                 "2 cores this one has 1: give the job whole "
                                 "nodes by --exclusive"),
       "a job that has half of the node: the agent is told");
    ok(is_clean(), "nothing is set");
    close(agent);
    end_step(&p);
    cores = "0-1";
    p = begin_step();
    second = start_guard();
    ok(tell_task(&second), "a second step of the job is on the node");
    agent = call_guard();
    is_str(
        hear(agent, NULL),
        "off another step sets the limits of this node: wait until that step "
        "has ended",
        "its agent is told");
    close(agent);
    end_step(&second);
    end_step(&p);
    p = begin_step();
    agent = call_and_set("60000000");
    ok(limits_are(40000000, 20000000), "the next step may set them again");
    end_step(&p);
    close(agent);
    ok(wait_for(is_clean), "and puts them back");
}

static void test_off(void)
{
    static const struct {
        const char *conf, *said, *what;
    } table[] = {
        {"", "off", "a site that says nothing has it off"},
        {"power {\n cap = 0.5\n}", "off", "nor does a cap set it on"},
        {"power { actuator = \"off\" }", "off", "a site may say so"},
        {"power { actuator = \"slice\" }", "for evenstep run --meter",
         "slices are not of a step"},
    };
    char said[300];
    struct plugin p;
    int agent;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        put(table[i].conf, "%s", conf);
        p = begin_step();
        agent = call_guard();
        snprintf(said, sizeof said,
                 "off the actuator is %s: as root, set actuator = \"cgroup\" "
                 "in power { } of %s",
                 table[i].said, conf);
        is_str(hear(agent, NULL), said, table[i].what);
        ok(is_clean(), "nothing is set");
        close(agent);
        end_step(&p);
    }
    put("power { actuator = \"cpufreq\" }", "%s", conf);
    p = begin_step();
    agent = call_guard();
    ok(strstr(hear(agent, NULL), "has no policy: choose another actuator"),
       "a node without the actuator: likewise");
    close(agent);
    end_step(&p);
}

static const char *answer_to_task(const struct plugin *p)
{
    static char text[POWER_PACKET_MAX];
    char line[16];
    int len = snprintf(line, sizeof line, "%d\n", (int)getpid());
    ssize_t n = -1;

    (void)!write(p->in, line, (size_t)len); /* or it has ended */
    if (readable(p->out))
        n = read(p->out, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* All at once, each with a task. */
static void test_many(void)
{
    enum { MANY = POWER_GUARDS + 4 };
    struct plugin p[MANY];
    int taken = 0, refused = 0;

    put("power { actuator = \"off\" }", "%s", conf);
    for (int i = 0; i < MANY; i++)
        p[i] = start_guard();
    for (int i = 0; i < MANY; i++) {
        const char *text = answer_to_task(&p[i]);

        taken += strcmp(text, "ok\n") == 0;
        refused += strstr(text, "8 steps of user ") != NULL
                   && strstr(text, "wait until one of them has ended") != NULL;
    }
    is_int(taken, POWER_GUARDS, "so many steps of a user have a guard");
    is_int(refused, 4, "and more are refused, with the reason");
    for (int i = 0; i < MANY; i++)
        end_step(&p[i]);
    ok(wait_for(has_nothing), "nothing is left of them");
    p[0] = start_guard();
    is_str(answer_to_task(&p[0]), "ok\n", "then there may be one again");
    end_step(&p[0]);
}

static int remove_one(const char *path,
                      const struct stat *st,
                      int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int main(void)
{
    const char *build = getenv("EVENSTEP_BUILD");

    if (!build)
        skip_all("EVENSTEP_BUILD does not say where evenstep-power is");
    if (!mkdtemp(root) || chmod(root, 0755) < 0)
        bail("no directory");
    (void)signal(SIGPIPE, SIG_IGN);
    unsetenv("EVENSTEP_CONF");
    job = (uint32_t)getpid(); /* steps of a machine share their names */
    snprintf(program, sizeof program, "%s/evenstep-power", build);
    snprintf(sysfs, sizeof sysfs, "%s/sys", root);
    snprintf(state, sizeof state, "%s/state", root);
    snprintf(conf, sizeof conf, "%s/evenstep.conf", root);
    put("power {\n actuator = \"rapl\"\n cap = 120\n floor = 0.2\n}", "%s",
        conf);
    test_sets();
    test_energy();
    cores = "0";
    test_no_energy("another job may be here");
    cores = "0-1";
    put("power { energy = off }", "%s", conf);
    test_no_energy("the site says off");
    put("power {\n actuator = \"rapl\"\n cap = 120\n floor = 0.2\n}", "%s",
        conf);
    test_paced();
    test_cpus();
    test_parts();
    test_stranger();
    test_agent_dies();
    test_guard_dies();
    test_name();
    test_epilog();
    test_shared();
    test_off();
    test_many();
    (void)nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return done();
}
