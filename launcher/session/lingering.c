/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/lingering.h"
#include "launcher/session/agent_environ.h"
#include "launcher/wire/protocol.h"
#include "pmix_bcast/array.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME  "agents"
#define FILE_MAX   (1 << 25) /* 65,536 endpoints of some 400 bytes at most */
#define NAME_BYTES 16

static int64_t now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec;
}

/* --- for whom they are ---------------------------------------------------- */

/* Does it change with each command, and mean nothing to others? */
static int is_of_shell(const char *entry)
{
    return strncmp(entry, "_=", 2) == 0 || strncmp(entry, "SHLVL=", 6) == 0
           || strncmp(entry, "OLDPWD=", 7) == 0;
}

static void add(crypto_generichash_state *h, const char *text)
{
    if (text)
        crypto_generichash_update(h, (const uint8_t *)text, strlen(text));
    crypto_generichash_update(h, (const uint8_t *)"", 1);
}

static void add_number(crypto_generichash_state *h, int64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)number);
    add(h, text);
}

/* What the agents hand on to commands. */
static void add_surroundings(crypto_generichash_state *h)
{
    char here[4096];

    for (char **e = environ; e && *e; e++)
        if (!companion_drops(*e) && !is_of_shell(*e))
            add(h, *e);
    add(h, getcwd(here, sizeof here));
}

static void add_setup(crypto_generichash_state *h,
                      const struct session_setup *s)
{
    add(h, EVENSTEP_VERSION);
    add_number(h, PROTOCOL_VERSION);
    add(h, s->agent_path);
    add_number(h, (int64_t)s->local);
    for (size_t i = 0; s->local_speed && i < s->local; i++)
        add_number(h, s->local_speed[i]);
    add_number(h, s->wireup);
    add_number(h, s->encrypt != 0);
    add_number(h, s->guard);
    add_number(h, s->energy);
    add_number(h, s->ports.low);
    add_number(h, s->ports.high);
    add_number(h, s->place.job);
    add_number(h, s->place.n_nodes);
    add(h, s->place.n_nodes ? s->place.nodes : NULL);
    add(h, s->place.srun_args);
}

void lingering_name(char name[STEP_NAME_MAX], const struct session_setup *setup)
{
    uint8_t digest[NAME_BYTES];
    char hex[2 * NAME_BYTES + 1];
    crypto_generichash_state h;

    (void)crypto_generichash_init(&h, NULL, 0, sizeof digest);
    add_setup(&h, setup);
    add_surroundings(&h);
    (void)crypto_generichash_final(&h, digest, sizeof digest);
    snprintf(name, STEP_NAME_MAX, "linger-%u-%s", companion_job_from_environ(),
             sodium_bin2hex(hex, sizeof hex, digest, sizeof digest));
}

/* --- the file ------------------------------------------------------------- */

int lingering_prepare(const char *name, char path[STEP_PATH_MAX])
{
    return step_dir_put(name, "", NULL, 0) == 0
                   && step_dir_path(path, name, FILE_NAME) == 0
               ? 0
               : -1;
}

static void write_all(struct writer *w, const struct lingering *l)
{
    write_u64(w, (uint64_t)l->until_s);
    write_u32(w, l->secret.encrypt);
    write_u32(w, (uint32_t)l->keeper);
    write_u32(w, l->number);
    write_u32(w, l->n);
    for (uint32_t i = 0; i < l->n; i++)
        endpoint_write(w, &l->agent[i]);
}

static int read_all(struct lingering *l, const uint8_t *text, size_t len)
{
    struct reader r = {.at = text, .left = len};
    uint32_t encrypt, keeper;

    l->until_s = (int64_t)read_u64(&r);
    encrypt = read_u32(&r);
    keeper = read_u32(&r);
    l->number = read_u32(&r);
    l->n = read_u32(&r);
    if (r.bad || keeper > INT_MAX || l->n == 0 || l->n > AGENTS_MAX
        || agent_environ_secret(&l->secret, (pid_t)keeper) < 0)
        return -1;
    l->keeper = (pid_t)keeper;
    l->secret.encrypt = encrypt != 0;
    l->agent = calloc(l->n, sizeof *l->agent);
    for (uint32_t i = 0; l->agent && i < l->n && !r.bad; i++)
        endpoint_read(&r, &l->agent[i]);
    return l->agent && read_end(&r) == 0 && l->until_s > now_s() ? 0 : -1;
}

static uint8_t *read_file(const char *path, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    uint8_t *text = NULL;
    struct stat st;
    ssize_t n = -1;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()
        && st.st_size > 0 && st.st_size <= FILE_MAX)
        text = malloc((size_t)st.st_size);
    if (text)
        n = read(fd, text, (size_t)st.st_size);
    close(fd);
    if (n > 0 && n == st.st_size) {
        *len = (size_t)n;
        return text;
    }
    free(text);
    return NULL;
}

/* Of those who read it the one that removes it has it. */
int lingering_take(const char *name, struct lingering *l)
{
    char path[STEP_PATH_MAX];
    uint8_t *text;
    size_t len;
    int rc = -1;

    memset(l, 0, sizeof *l);
    if (step_dir_path(path, name, FILE_NAME) < 0)
        return -1;
    text = read_file(path, &len);
    if (!text)
        return -1;
    if (unlink(path) == 0)
        rc = read_all(l, text, len);
    free(text);
    if (rc < 0)
        lingering_clear(l);
    return rc;
}

int lingering_put(const char *name, struct lingering *l, uint32_t seconds)
{
    char path[STEP_PATH_MAX];
    struct writer w = {0};
    int rc = -1;

    if (lingering_prepare(name, path) < 0 || access(path, F_OK) == 0)
        return -1;
    l->until_s = now_s() + seconds;
    write_all(&w, l);
    if (!w.bad)
        rc = step_dir_put(name, FILE_NAME, w.buf, w.len) == 0 ? 0 : -1;
    writer_clear(&w);
    return rc;
}

void lingering_clear(struct lingering *l)
{
    free(l->agent);
    sodium_memzero(l, sizeof *l);
}
