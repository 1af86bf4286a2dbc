/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_meter.h"
#include "spank_plugin/plugin_options.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- plugin program ------------------------------------------------------------ */

/* Is a task's program one that this system's dynamic loader
 * starts?  Others (linked statically, for musl, of another machine) load no library
 * of this system. */

/*
 * The loader is the one that slurmstepd itself asks for (PT_INTERP), whatever the
 * path that leads to it.  A script is what its interpreter is.  elf(5), execve(2)
 */

#define SEGMENTS_MAX 128
#define SCRIPTS_MAX  4   /* of scripts, as Linux has it */
#define HEAD         256 /* likewise, of what it looks at */

enum kind { UNKNOWN, NO_LOADER, LOADER, SCRIPT };

/* Where the loader's path is in the file. */
static enum kind find_loader(int fd, const ElfW(Ehdr) * head, char path[])
{
    ElfW(Phdr) segment[SEGMENTS_MAX];
    size_t len = head->e_phnum * sizeof *segment;

    if (head->e_phentsize != sizeof *segment || head->e_phnum > SEGMENTS_MAX
        || pread(fd, segment, len, (off_t)head->e_phoff) != (ssize_t)len)
        return UNKNOWN;
    for (int i = 0; i < head->e_phnum; i++) {
        if (segment[i].p_type != PT_INTERP)
            continue;
        len = segment[i].p_filesz;
        if (len == 0 || len > PATH_MAX
            || pread(fd, path, len, (off_t)segment[i].p_offset) != (ssize_t)len
            || path[len - 1] != '\0')
            return UNKNOWN;
        return LOADER;
    }
    return NO_LOADER;
}

static enum kind find_interpreter(char *line, char path[])
{
    char *end;

    line += strspn(line, " \t");
    end = line + strcspn(line, " \t\n");
    if (end == line || !*end)
        return UNKNOWN;
    *end = '\0';
    (void)snprintf(path, PATH_MAX, "%s", line);
    return SCRIPT;
}

static enum kind look_into(int fd, char path[])
{
    union {
        ElfW(Ehdr) elf;
        unsigned char ident[EI_NIDENT];
        char text[HEAD];
    } head;
    const int own = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    struct stat st;
    ssize_t n;

    memset(&head, 0, sizeof head);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return UNKNOWN;
    n = pread(fd, &head, sizeof head - 1, 0);
    if (n > 2 && memcmp(head.text, "#!", 2) == 0)
        return find_interpreter(head.text + 2, path);
    if (n < (ssize_t)sizeof head.elf
        || memcmp(head.ident, ELFMAG, SELFMAG) != 0)
        return UNKNOWN;
    return head.ident[EI_CLASS] == own ? find_loader(fd, &head.elf, path)
                                       : NO_LOADER;
}

/* What is behind a file: path becomes its loader's, or its interpreter's. */
static enum kind look_at(const char *file, char path[])
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum kind kind = fd < 0 ? UNKNOWN : look_into(fd, path);

    if (fd >= 0)
        (void)close(fd);
    return kind;
}

/* --- which file it is ------------------------------------------------------- */

static int is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode)
           && access(path, X_OK) == 0;
}

/* As Slurm does: by the PATH of the task. */
static int find_file(spank_t sp, const char *name, char path[PATH_MAX])
{
    char list[4 * PATH_MAX], *rest = list, *dir;

    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    if (spank_getenv(sp, "PATH", list, sizeof list) != ESPANK_SUCCESS)
        return 0;
    while ((dir = strsep(&rest, ":")))
        if (snprintf(path, PATH_MAX, "%s/%s", *dir ? dir : ".", name) < PATH_MAX
            && is_program(path))
            return 1;
    return 0;
}

/* In another class's folder there may be one of the same name. */
static int is_own_loader(const char *path)
{
    char own[PATH_MAX];
    struct stat a, b;

    return look_at("/proc/self/exe", own) != LOADER || stat(own, &a) < 0
           || (stat(path, &b) == 0 && a.st_dev == b.st_dev
               && a.st_ino == b.st_ino);
}

/* To be called in the task, as its user.  0 if it is known to be another;
 * *name is the program then, or NULL. */
static int plugin_program_is_of_system(spank_t sp, const char **name)
{
    char file[PATH_MAX], path[PATH_MAX], **argv = NULL;
    enum kind kind;
    int argc = 0;

    *name = NULL;
    if (spank_get_item(sp, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS
        || argc < 1 || !argv || !find_file(sp, argv[0], file))
        return 1;
    *name = argv[0];
    kind = look_at(file, path);
    for (int i = 0; kind == SCRIPT && i < SCRIPTS_MAX; i++) {
        memcpy(file, path, sizeof file);
        kind = look_at(file, path);
    }
    return kind == LOADER ? is_own_loader(path) : kind != NO_LOADER;
}

/* --- plugin meter -------------------------------------------------------------- */

#define LIBRARY "libevenstep-mpi.so"
#ifndef EVENSTEP_LIBDIR
#    define EVENSTEP_LIBDIR "/usr/local/lib/evenstep"
#endif

#define LIST_SIZE  (4 * PATH_MAX) /* of what the user has in a variable */
#define SEPARATORS ": "           /* of LD_PRELOAD, see ld.so(8) */

/* Is this a step of which the agent has said so, and has it a page? */
static int is_wanted(spank_t sp)
{
    char word[8], dir[PATH_MAX - sizeof "/meter"], page[PATH_MAX];

    if (spank_getenv(sp, "EVENSTEP_METER", word, sizeof word) != ESPANK_SUCCESS
        || strcmp(word, "mpi") != 0
        || spank_getenv(sp, "EVENSTEP_DIR", dir, sizeof dir) != ESPANK_SUCCESS)
        return 0;
    (void)snprintf(page, sizeof page, "%s/meter", dir);
    return access(page, R_OK | W_OK) == 0;
}

/* Beside the program evenstep, as in a build, or where it is installed. */
static int find_library(char path[PATH_MAX])
{
    char launcher[PATH_MAX];
    const char *slash;
    int n;

    if (realpath(plugin_options_get().launcher, launcher)) {
        slash = strrchr(launcher, '/');
        n = snprintf(path, PATH_MAX, "%.*s/" LIBRARY, (int)(slash - launcher),
                     launcher);
        if (n < PATH_MAX && access(path, R_OK) == 0)
            return 0;
    }
    (void)snprintf(path, PATH_MAX, "%s", EVENSTEP_LIBDIR "/" LIBRARY);
    return access(path, R_OK);
}

/* One line a node. */
static void complain(spank_t sp, const char *path, const char *what)
{
    int task;

    if (spank_get_item(sp, S_TASK_ID, &task) == ESPANK_SUCCESS && task != 0)
        return;
    slurm_error("evenstep: this node's tasks are not metered: %s %s", path,
                what);
}

/* A task of a task may have been given it already. */
static int is_in(const char *list, const char *path)
{
    size_t len = strlen(path), part;

    for (; *list; list += part + strspn(list + part, SEPARATORS)) {
        part = strcspn(list, SEPARATORS);
        if (part == len && strncmp(list, path, len) == 0)
            return 1;
    }
    return 0;
}

/* Put a word in front of what a variable lists.  0, or -1 if it is too long. */
static int put_first(spank_t sp, const char *name, const char *word)
{
    char list[LIST_SIZE], all[LIST_SIZE + PATH_MAX];
    spank_err_t rc = spank_getenv(sp, name, list, sizeof list);

    if (rc == ESPANK_ENV_NOEXIST)
        list[0] = '\0';
    else if (rc != ESPANK_SUCCESS)
        return -1;
    if (is_in(list, word))
        return 0;
    (void)snprintf(all, sizeof all, "%s%s%s", word, list[0] ? ":" : "", list);
    return spank_setenv(sp, name, all, 1) == ESPANK_SUCCESS ? 0 : -1;
}

/* gcc's AddressSanitizer ends a program in which any library comes before it,
 * unless it is told not to look: ours takes none of its functions. */
static void preload(spank_t sp, const char *path)
{
    if (put_first(sp, "ASAN_OPTIONS", "verify_asan_link_order=0") < 0)
        complain(sp, path, "is left out: ASAN_OPTIONS is too long");
    else if (put_first(sp, "LD_PRELOAD", path) < 0)
        complain(sp, path, "is left out: LD_PRELOAD is too long");
}

/* Whoever has asked for no meter is not troubled by its absence. */
static void complain_if_asked(spank_t sp, const char *program)
{
    const struct plugin_options o = plugin_options_get();

    if (o.meter || o.report)
        complain(sp, program,
                 "is linked statically, or not for this system's C library: "
                 "give --evenstep-meter=cpu, or link it with that");
}

void plugin_meter_preload(spank_t sp)
{
    char path[PATH_MAX];
    const char *program;

    if (!is_wanted(sp))
        return;
    if (!plugin_program_is_of_system(sp, &program)) {
        complain_if_asked(sp, program);
        return;
    }
    if (find_library(path) < 0)
        complain(sp, path,
                 "is missing: install it there, or beside the program that "
                 "launcher= in plugstack.conf names (or give "
                 "--evenstep-meter=none)");
    else if (strpbrk(path, SEPARATORS))
        complain(sp, path,
                 "has a blank or a colon in its path, which LD_PRELOAD does "
                 "not take: install it elsewhere");
    else
        preload(sp, path);
}
