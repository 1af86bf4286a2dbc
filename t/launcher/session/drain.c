/* SPDX-License-Identifier: BSD-2-Clause */
/* Which nodes drain: by a sinfo of the test's own. */
#include "launcher/session/drain.h"
#include "tap.h"

#include <event2/event.h>
#include <sys/stat.h>

#define MANY 20000 /* lines: more than are kept at once */

static char folder[64], program[96], words[96];
static struct event_base *base;
static struct drain *drain;
static int heard;
static char names[200];

static void sinfo_is(const char *script)
{
    FILE *f = fopen(program, "w");

    if (!f)
        bail("no program");
    fprintf(f, "#!/bin/sh\necho \"$*\" >>%s\n%s\n", words, script);
    if (fclose(f) != 0 || chmod(program, 0700) < 0)
        bail("no program");
    (void)unlink(words);
}

static const char *asked(void)
{
    static char line[200];
    FILE *f = fopen(words, "r");

    if (!f || !fgets(line, sizeof line, f))
        line[0] = '\0';
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static void on_drain(void *arg, const char *node)
{
    size_t len = strlen(names);

    (void)arg;
    heard++;
    snprintf(names + len, sizeof names - len, "%s ", node);
}

/* Ask until something is heard, or so often. */
static void listen_for(int most)
{
    struct stat st;
    int times = 0;

    heard = 0;
    names[0] = '\0';
    drain = drain_watch(base, 1, on_drain, NULL);
    if (!drain)
        bail("no memory");
    while (!heard && times < most) {
        (void)event_base_loop(base, EVLOOP_ONCE);
        if (stat(words, &st) == 0 && asked()[0])
            times = (int)((size_t)st.st_size / (strlen(asked()) + 1));
    }
    drain_stop(drain);
}

int main(void)
{
    char path[4096];

    (void)alarm(120);
    snprintf(folder, sizeof folder, "/tmp/evenstep-drain.XXXXXX");
    if (!mkdtemp(folder))
        bail("no folder");
    snprintf(program, sizeof program, "%s/sinfo", folder);
    snprintf(words, sizeof words, "%s/words", folder);
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    base = event_base_new();

    setenv("SLURM_JOB_NODELIST", "n[0-3]", 1);
    sinfo_is("printf 'n1\\nn3\\n'");
    listen_for(100);
    is_str(names, "n1 n3 ", "nodes that drain are heard of");
    is_str(asked(), "-h -N -t drain -o %N -n n[0-3]",
           "only those of the allocation are asked for");
    unsetenv("SLURM_JOB_NODELIST");
    sinfo_is("printf 'n2\\nn3'");
    listen_for(100);
    is_str(names, "n2 ", "a line without its end is not a name yet");
    is_str(asked(), "-h -N -t drain -o %N", "without an allocation: of all");
    sinfo_is("echo n1; exit 1");
    listen_for(2);
    is_int(heard, 0, "a sinfo that fails says nothing, and is asked again");
    sinfo_is("yes node | head -n 20000");
    listen_for(100);
    ok(heard > 10000 && heard < MANY, "of too many nodes some come later");
    drain_stop(NULL);

    event_base_free(base);
    (void)unlink(program);
    (void)unlink(words);
    (void)rmdir(folder);
    return done();
}
