/* SPDX-License-Identifier: BSD-2-Clause */
/* A program's loader, and what files that are none, or lie, come to. */
#include "launcher/base/elf_interpreter.h"
#include "tap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LOADER "/lib/ld-test.so.1"

struct program { /* of 64 bits, with two segments */
    Elf64_Ehdr head;
    Elf64_Phdr segment[2];
    char path[64];
};

static struct program whole(void)
{
    struct program p;

    memset(&p, 0, sizeof p);
    memcpy(p.head.e_ident, ELFMAG, SELFMAG);
    p.head.e_ident[EI_CLASS] = ELFCLASS64;
    p.head.e_ident[EI_DATA] =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    p.head.e_phoff = offsetof(struct program, segment);
    p.head.e_phnum = 2;
    p.head.e_phentsize = sizeof(Elf64_Phdr);
    p.segment[0].p_type = PT_PHDR;
    p.segment[1].p_type = PT_INTERP;
    p.segment[1].p_offset = offsetof(struct program, path);
    p.segment[1].p_filesz = sizeof LOADER;
    strcpy(p.path, LOADER);
    return p;
}

/* Of a file with the first len bytes of the program. */
static int look(const struct program *p, size_t len, char path[PATH_MAX])
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0600), found = -2, why;

    if (fd >= 0 && write(fd, p, len) == (ssize_t)len)
        found = elf_interpreter(fd, path);
    why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return found;
}

static void check_lies(void)
{
    struct {
        const char *name;
        struct program p;
        int found;
    } lies[] = {
        {"a segment table beyond its end", whole(), -1},
        {"a segment table beyond all ends", whole(), -1},
        {"too many segments", whole(), -1},
        {"segments of another size", whole(), -1},
        {"a path beyond its end", whole(), -1},
        {"a path that is too long", whole(), -1},
        {"an empty path", whole(), -1},
        {"a path without its NUL", whole(), -1},
        {"a path from here on", whole(), -1},
        {"the other byte order", whole(), -1},
        {"no known class", whole(), -1},
        {"no loader", whole(), 0},
        {"no segments", whole(), 0},
    };
    char path[PATH_MAX];

    lies[0].p.head.e_phoff = 4096;
    lies[1].p.head.e_phoff = UINT64_MAX - 8;
    lies[2].p.head.e_phnum = UINT16_MAX;
    lies[3].p.head.e_phentsize = 1;
    lies[4].p.segment[1].p_offset = 4096;
    lies[5].p.segment[1].p_filesz = UINT64_MAX;
    lies[6].p.segment[1].p_filesz = 1;
    lies[7].p.segment[1].p_filesz = sizeof LOADER - 1;
    lies[8].p.path[0] = 'l';
    lies[9].p.head.e_ident[EI_DATA] ^= 3;
    lies[10].p.head.e_ident[EI_CLASS] = 3;
    lies[11].p.segment[1].p_type = PT_LOAD;
    lies[12].p.head.e_phnum = 0;
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        int found = look(&lies[i].p, sizeof lies[i].p, path);

        ok(found == lies[i].found && (found == 0 || errno == ENOEXEC), "%s",
           lies[i].name);
    }
}

static void check_prefixes(void)
{
    const size_t needed = offsetof(struct program, path) + sizeof LOADER;
    const struct program p = whole();
    char path[PATH_MAX];
    size_t right = 0;

    for (size_t len = 0; len < needed; len++)
        right += look(&p, len, path) == -1 && errno == ENOEXEC;
    is_int((long)right, (long)needed, "what is cut off anywhere is no program");
    ok(look(&p, needed, path) == 1 && strcmp(path, LOADER) == 0,
       "the whole has its loader");
}

static void check_narrow(void)
{
    struct {
        Elf32_Ehdr head;
        Elf32_Phdr segment;
        char path[32];
    } n;
    struct program p;
    char path[PATH_MAX];

    memset(&n, 0, sizeof n);
    memcpy(&n.head, &(const Elf64_Ehdr){0}, sizeof n.head);
    p = whole();
    memcpy(n.head.e_ident, p.head.e_ident, EI_NIDENT);
    n.head.e_ident[EI_CLASS] = ELFCLASS32;
    n.head.e_phoff = sizeof n.head;
    n.head.e_phnum = 1;
    n.head.e_phentsize = sizeof n.segment;
    n.segment.p_type = PT_INTERP;
    n.segment.p_offset = sizeof n.head + sizeof n.segment;
    n.segment.p_filesz = sizeof LOADER;
    strcpy(n.path, LOADER);
    memset(&p, 0, sizeof p);
    memcpy(&p, &n, sizeof n);
    ok(look(&p, sizeof p, path) == 1 && strcmp(path, LOADER) == 0,
       "a program of 32 bits");
}

int main(void)
{
    char path[PATH_MAX];
    int fd;

    check_lies();
    check_prefixes();
    check_narrow();
    fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ok(elf_interpreter(fd, path) == 1 && access(path, X_OK) == 0,
       "this program's loader is there");
    close(fd);
    fd = open("/", O_RDONLY | O_CLOEXEC);
    ok(elf_interpreter(fd, path) == -1 && errno == EISDIR,
       "a folder has none, and says why");
    close(fd);
    return done();
}
