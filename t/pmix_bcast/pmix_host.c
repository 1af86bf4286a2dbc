/* SPDX-License-Identifier: BSD-2-Clause */
/* A PMIx server of our own: what its clients are told, and what it leaves. */
#include "pmix_bcast/pmix_host.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>

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

static void test_ranks(struct pmix_host *h)
{
    char *first = NULL;

    for (size_t rank = 0; rank < 12; rank += 11) {
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
        for (char **e = env; *e; e++)
            free(*e);
        free(env);
    }
    free(first);
}

int main(void)
{
    struct pmix_host *h = NULL;
    struct es_error err = {0};
    char none[100];

    if (!mkdtemp(dir))
        bail("no folder");
    snprintf(none, sizeof none, "%s/none", dir);
    (void)setenv("TMPDIR", none, 1);
    ok(pmix_host_start(&h, 12, &err) == -1 && !h && err.kind == ES_ENV,
       "without a folder for it there is no server");
    ok(strncmp(err.what, none, strlen(none)) == 0
           && strstr(err.mend, "set TMPDIR"),
       "and it is said which");
    (void)setenv("TMPDIR", dir, 1);
    is_int(pmix_host_start(&h, 12, &err), 0, "a server for 12 ranks starts");
    is_int(entries(), 1, "with a folder of its own");
    test_ranks(h);
    errno = 77;
    pmix_host_stop(h);
    ok(entries() == 0 && errno == 77, "which goes with it");
    pmix_host_stop(NULL);
    (void)rmdir(dir);
    return done();
}
