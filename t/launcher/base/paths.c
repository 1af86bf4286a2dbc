/* SPDX-License-Identifier: BSD-2-Clause */
/* Which agent is started: the one of the site, or that beside this program. */
#include "launcher/base/paths.h"
#include "tree.h"

#include <sys/wait.h>

/* This program, under another name. */
static void copy_self(const char *copy)
{
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    char block[65536];
    ssize_t n = -1;

    while (from >= 0 && (n = read(from, block, sizeof block)) > 0)
        if (write(to, block, (size_t)n) != n)
            bail("%s: %s", copy, strerror(errno));
    if (n < 0 || close(to) < 0)
        bail("%s: %s", copy, strerror(errno));
    close(from);
}

/* What a copy of this test in a folder of its own says. */
static int run_copy(const char *copy, const char *want)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        execl(copy, copy, want, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        bail("fork");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The copy: 0 if the agent is the one wanted, 1 if it is another, 2 if there
 * is none. */
static int be_copy(const char *want)
{
    char path[1024];
    struct es_error err = {0};

    if (path_of_agent(path, sizeof path, "", &err) < 0)
        return err.kind == ES_ENV ? 2 : 3;
    return strcmp(path, want) != 0;
}

static void put_program(const char *name)
{
    tree_put(name, "#!/bin/sh\n");
    if (chmod(tree_path(name), 0755) < 0)
        bail("chmod");
}

static void test_beside(void)
{
    char copy[600], agent[600];

    snprintf(copy, sizeof copy, "%s", tree_path("bin/evenstep"));
    snprintf(agent, sizeof agent, "%s", tree_path("bin/evenstep-agent"));
    tree_dirs("bin/x");
    copy_self(copy);
    is_int(run_copy(copy, agent), 2, "without an agent beside it: ES_ENV");
    put_program("bin/evenstep-agent");
    is_int(run_copy(copy, agent), 0, "the agent beside the program is taken");
}

static void test_configured(void)
{
    struct es_error err = {0};
    char path[600], small[8], site[600];

    put_program("site/agent");
    snprintf(site, sizeof site, "%s", tree_path("site/agent"));
    ok(path_of_agent(path, sizeof path, site, &err) == 0
           && strcmp(path, site) == 0,
       "the site's agent is taken");
    ok(path_of_agent(small, sizeof small, site, &err) == -1
           && err.kind == ES_ENV,
       "a path that does not fit is an error");
    ok(path_of_agent(path, sizeof path, tree_path("site/none"), &err) == -1
           && strstr(err.what, "site/none: no such program"),
       "so is one that is not there: \"%s\"", err.what);
    tree_put("site/text", "no program\n");
    ok(path_of_agent(path, sizeof path, tree_path("site/text"), &err) == -1
           && strstr(err.what, "site/text: not executable: Permission denied")
           && strstr(err.mend, "chmod 755"),
       "one that may not be executed: \"%s\"", err.what);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return be_copy(argv[1]);
    tree_make();
    test_beside();
    test_configured();
    tree_remove();
    return done();
}
