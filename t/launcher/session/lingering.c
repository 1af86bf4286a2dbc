/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the agents are that wait for the next command. */
#include "launcher/session/lingering.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[STEP_NAME_MAX];
static pid_t keeper;
static struct secret secret;

/* A process in whose environment the secret is, as srun's is. */
static void start_keeper(void)
{
    char entry[sizeof "EVENSTEP_SECRET=" + SECRET_HEX_LEN];
    char *env[] = {(char[]){"A=1"}, entry, NULL}, end;
    int ready[2];

    (void)memcpy(entry, "EVENSTEP_SECRET=", sizeof "EVENSTEP_SECRET=");
    if (secret_make(&secret) < 0 || pipe2(ready, O_CLOEXEC) < 0)
        bail("no secret");
    secret.encrypt = 1;
    secret_to_hex(&secret, entry + strlen(entry));
    keeper = fork();
    if (keeper == 0) {
        execle("/bin/sleep", "sleep", "60", (char *)NULL, env);
        _exit(127);
    }
    close(ready[1]);
    (void)read(ready[0], &end, 1); /* it is executed */
    close(ready[0]);
}

static void end_keeper(void)
{
    (void)kill(keeper, SIGKILL);
    (void)waitpid(keeper, NULL, 0);
}

static struct lingering make(void)
{
    struct lingering l = {
        .secret = secret, .keeper = keeper, .number = 7, .n = 2};

    l.agent = calloc(2, sizeof *l.agent);
    if (!l.agent)
        bail("no memory");
    for (int i = 0; i < 2; i++)
        l.agent[i] = (struct endpoint){
            .node = "n0", .address = "10.0.0.1", .port = 4711};
    return l;
}

static void test_round(void)
{
    struct lingering l = make(), got;
    char path[STEP_PATH_MAX];
    struct stat st;

    ok(lingering_take(name, &got) < 0, "there are none");
    ok(lingering_prepare(name, path) == 0 && access(path, F_OK) < 0,
       "where they will be");
    is_int(lingering_put(name, &l, 60), 0, "they stay");
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600,
       "which only the user can read");
    is_int(lingering_put(name, &l, 60), -1, "others are there: these leave");
    is_int(lingering_take(name, &got), 0, "one takes them");
    ok(got.n == 2 && got.number == 7 && got.agent[1].port == 4711
           && got.secret.encrypt == 1 && got.keeper == keeper
           && memcmp(got.secret.key, l.secret.key, SECRET_BYTES) == 0,
       "all of it, and the secret");
    lingering_clear(&got);
    ok(lingering_take(name, &got) < 0, "the next does not");
    is_int(lingering_put(name, &l, 0), 0, "they stay for no time");
    ok(lingering_take(name, &got) < 0 && access(path, F_OK) < 0,
       "they have gone");
    lingering_clear(&l);
}

/* Every prefix of a record, and one with a byte more. */
static void test_bad(void)
{
    struct lingering l = make(), got;
    char path[STEP_PATH_MAX], whole[4096];
    ssize_t len = -1;
    int taken = 0, fd;

    (void)lingering_put(name, &l, 60);
    if (lingering_prepare(name, path) < 0)
        bail("no folder");
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        len = read(fd, whole, sizeof whole - 1);
    if (len < 0)
        bail("no record");
    close(fd);
    ok(len > 0 && !memmem(whole, (size_t)len, secret.key, SECRET_BYTES),
       "the secret is not in the file");
    whole[len] = 'x';
    for (ssize_t n = 0; n <= len + 1; n++) {
        if (n == len)
            continue;
        (void)step_dir_put(name, "agents", whole, (size_t)n);
        taken += lingering_take(name, &got) == 0;
    }
    is_int(taken, 0, "what is cut off, or longer, is none");
    (void)step_dir_put(name, "agents", whole, (size_t)len);
    is_int(lingering_take(name, &got), 0, "the whole is one");
    lingering_clear(&got);
    lingering_clear(&l);
}

/* The secret ends with who keeps it. */
static void test_keeper(void)
{
    struct lingering l = make(), got;

    l.keeper = getpid(); /* not started so */
    is_int(lingering_put(name, &l, 60), 0, "they stay");
    ok(lingering_take(name, &got) < 0, "one who has no secret keeps none");
    l.keeper = keeper;
    is_int(lingering_put(name, &l, 60), 0, "they stay");
    end_keeper();
    ok(lingering_take(name, &got) < 0 && got.secret.key[0] == 0,
       "whose keeper has gone are not found");
    lingering_clear(&l);
}

static void test_name(void)
{
    struct session_setup s = {.local = 3, .agent_path = "/a"};
    char other[STEP_NAME_MAX];

    lingering_name(other, &s);
    s.local = 4;
    lingering_name(name, &s);
    ok(strcmp(name, other) != 0, "another number of agents");
    s.local = 3;
    lingering_name(name, &s);
    is_str(name, other, "the same again");
    s.encrypt = 1;
    lingering_name(name, &s);
    ok(strcmp(name, other) != 0, "another option");
    s.encrypt = 0;
    (void)setenv("SHLVL", "7", 1);
    lingering_name(name, &s);
    is_str(name, other, "what each shell changes does not count");
    (void)setenv("MY_OWN", "1", 1);
    lingering_name(name, &s);
    ok(strcmp(name, other) != 0, "another environment");
    (void)unsetenv("MY_OWN");
    (void)chdir("/");
    lingering_name(name, &s);
    ok(strcmp(name, other) != 0, "another folder");
}

int main(void)
{
    (void)snprintf(name, sizeof name, "linger-test-%d", (int)getpid());
    start_keeper();
    test_round();
    test_bad();
    test_keeper();
    step_dir_remove(name);
    test_name();
    return done();
}
