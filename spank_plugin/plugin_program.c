/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader is the one that slurmstepd itself asks for (PT_INTERP), whatever the
 * path that leads to it.  A script is what its interpreter is.  elf(5), execve(2)
 */
#include "spank_plugin/plugin_program.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int plugin_program_is_of_system(spank_t sp, const char **name)
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
