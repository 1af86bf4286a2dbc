/* SPDX-License-Identifier: BSD-2-Clause */
/* A PMIx server of our own: what its clients are told, and what it leaves. */
#include "pmix_bcast/pmix_host.h"
#include "pmix_bcast/wireup.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

#define CLIENTS 12u

static char dir[] = "/tmp/pmix_host.XXXXXX";

static int entries(void)
{
    DIR *d = opendir(dir);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2; /* . and .. */
}

/* The value of a name of *env, or "". */
static const char *value_of(char **env, const char *name)
{
    size_t len = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return "";
}

static void free_environ(char **env)
{
    for (char **e = env; *e; e++)
        free(*e);
    free(env);
}

static void test_ranks(struct pmix_host *h)
{
    char *first = NULL;

    for (size_t rank = 0; rank < CLIENTS; rank += CLIENTS - 1) {
        char **env = calloc(1, sizeof *env), text[8];
        struct es_error err = {0};

        if (!env)
            bail("no memory");
        snprintf(text, sizeof text, "%zu", rank);
        ok(pmix_host_environ(h, rank, &env, &err) == 0
               && strcmp(value_of(env, "PMIX_RANK"), text) == 0,
           "rank %zu is told who it is", rank);
        if (!first)
            first = strdup(value_of(env, "PMIX_NAMESPACE"));
        ok(first && first[0]
               && strcmp(first, value_of(env, "PMIX_NAMESPACE")) == 0,
           "and of one namespace");
        free_environ(env);
    }
    free(first);
}

/* A client: 0 if it gets to know all others. */
static int be_client(void)
{
    struct endpoint mine = {.node = "n", .address = "127.0.0.1"};
    struct wireup w = {0};
    struct es_error err = {0};
    int wrong;

    mine.port = (uint16_t)(1000 + atoi(getenv("PMIX_RANK")));
    if (wireup_join(&w, &mine, &err) < 0 || wireup_exchange(&w, &err) < 0) {
        diag("%s", err.what);
        return 1;
    }
    wrong = w.size != CLIENTS || w.rank + 1000 != mine.port;
    for (uint32_t i = 0; i < w.size; i++)
        wrong |= w.agent[i].port != 1000 + i;
    wireup_clear(&w);
    return wrong || w.agent ? 2 : 0;
}

/* A copy of our own, which pmix_host_environ() may add to. */
static char **copy_environ(void)
{
    size_t n = 0;
    char **env;

    while (environ[n])
        n++;
    env = calloc(n + 1, sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        env[i] = strdup(environ[i]);
    return env;
}

static void test_wireup(struct pmix_host *h, char *self)
{
    char *argv[] = {self, (char[]){"client"}, NULL};
    pid_t pid[CLIENTS];
    int bad = 0;

    for (size_t rank = 0; rank < CLIENTS; rank++) {
        char **env = copy_environ();

        if (!env || pmix_host_environ(h, rank, &env, NULL) < 0
            || posix_spawn(&pid[rank], self, NULL, NULL, argv, env) != 0)
            bail("no client");
        free_environ(env);
    }
    for (size_t rank = 0; rank < CLIENTS; rank++) {
        int status = -1;

        bad += waitpid(pid[rank], &status, 0) < 0 || status != 0;
    }
    is_int(bad, 0, "its clients get to know each other");
}

int main(int argc, char **argv)
{
    struct pmix_host *h = NULL;
    struct es_error err = {0};
    char none[100];

    if (argc > 1)
        return be_client();
    if (!mkdtemp(dir))
        bail("no folder");
    snprintf(none, sizeof none, "%s/none", dir);
    (void)setenv("TMPDIR", none, 1);
    ok(pmix_host_start(&h, CLIENTS, &err) == -1 && !h && err.kind == ES_ENV,
       "without a folder for it there is no server");
    ok(strncmp(err.what, none, strlen(none)) == 0
           && strstr(err.mend, "set TMPDIR"),
       "and it is said which");
    (void)setenv("TMPDIR", dir, 1);
    is_int(pmix_host_start(&h, CLIENTS, &err), 0,
           "a server for 12 ranks starts");
    is_int(entries(), 1, "with a folder of its own");
    test_ranks(h);
    test_wireup(h, argv[0]);
    errno = 77;
    pmix_host_stop(h);
    ok(entries() == 0 && errno == 77, "which goes with it");
    pmix_host_stop(NULL);
    (void)rmdir(dir);
    return done();
}
