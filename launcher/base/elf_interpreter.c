/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/elf_interpreter.h"
#include "pmix_bcast/file_io.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#    define OUR_ORDER ELFDATA2LSB
#else
#    define OUR_ORDER ELFDATA2MSB
#endif

struct table { /* as both classes say it */
    uint64_t at;
    size_t n, entry;
};

static struct table table_of(const uint8_t *head, int is_64)
{
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;

    if (is_64) {
        memcpy(&wide, head, sizeof wide);
        return (struct table){wide.e_phoff, wide.e_phnum, wide.e_phentsize};
    }
    memcpy(&narrow, head, sizeof narrow);
    return (struct table){narrow.e_phoff, narrow.e_phnum, narrow.e_phentsize};
}

int elf_segments(struct elf_segments *s, const uint8_t *head, size_t len)
{
    struct table t;

    *s = (struct elf_segments){{0, 0}, 0};
    if (len < EI_NIDENT || memcmp(head, ELFMAG, SELFMAG) != 0
        || head[EI_DATA] != OUR_ORDER
        || (head[EI_CLASS] != ELFCLASS64 && head[EI_CLASS] != ELFCLASS32))
        return -1;
    s->is_64 = head[EI_CLASS] == ELFCLASS64;
    if (len < (s->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
        return -1;
    t = table_of(head, s->is_64);
    if (t.n > ELF_SEGMENTS_MAX || t.at > INT64_MAX - PATH_MAX
        || t.entry != (s->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
        return -1;
    s->table = (struct elf_place){t.at, t.n * t.entry};
    return 0;
}

/* Where a segment's bytes are, if it is the loader's path. */
static int read_segment(struct elf_place *place, const uint8_t *at, int is_64)
{
    Elf64_Phdr wide;
    Elf32_Phdr narrow;

    if (is_64) {
        memcpy(&wide, at, sizeof wide);
        *place = (struct elf_place){wide.p_offset, wide.p_filesz};
        return wide.p_type == PT_INTERP;
    }
    memcpy(&narrow, at, sizeof narrow);
    *place = (struct elf_place){narrow.p_offset, narrow.p_filesz};
    return narrow.p_type == PT_INTERP;
}

int elf_find_interpreter(struct elf_place *path,
                         const struct elf_segments *s,
                         const uint8_t *table,
                         size_t len)
{
    size_t entry = s->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

    for (size_t at = 0; at + entry <= len; at += entry) {
        if (!read_segment(path, table + at, s->is_64))
            continue;
        return path->len >= 2 && path->len <= ELF_PATH_MAX
                       && path->at <= INT64_MAX - PATH_MAX
                   ? 1
                   : -1;
    }
    return 0;
}

static int read_at(int fd, void *out, struct elf_place place)
{
    int why = file_read_at(fd, out, place.len, place.at);

    errno = why == ENODATA ? ENOEXEC : why; /* it is too short */
    return why ? -1 : 0;
}

static int not_elf(void)
{
    errno = ENOEXEC;
    return -1;
}

int elf_interpreter(int fd, char path[PATH_MAX])
{
    uint8_t head[ELF_HEAD_MAX], table[ELF_SEGMENTS_MAX * ELF_SEGMENT_MAX];
    struct elf_segments s;
    struct elf_place place;
    int found;

    if (read_at(fd, head, (struct elf_place){0, sizeof head}) < 0)
        return -1;
    if (elf_segments(&s, head, sizeof head) < 0)
        return not_elf();
    if (read_at(fd, table, s.table) < 0)
        return -1;
    found = elf_find_interpreter(&place, &s, table, s.table.len);
    if (found <= 0)
        return found == 0 ? 0 : not_elf();
    if (read_at(fd, path, place) < 0)
        return -1;
    return path[place.len - 1] == '\0' && path[0] == '/' ? 1 : not_elf();
}
