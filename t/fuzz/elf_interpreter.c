/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a program: where its loader's path is said to be is no more than
 * a path's length, and can be read there. */
#include "launcher/base/elf_interpreter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_segments s;
    struct elf_place path;
    uint8_t *table;
    size_t len;

    if (elf_segments(&s, data, size) < 0)
        return 0;
    if (s.table.len > (size_t)ELF_SEGMENTS_MAX * ELF_SEGMENT_MAX)
        abort();
    len = s.table.at < size ? size - s.table.at : 0;
    if (len > s.table.len)
        len = s.table.len;
    table = malloc(len > 0 ? len : 1); /* so that ASan sees its end */
    if (!table)
        return 0;
    if (len > 0)
        memcpy(table, data + s.table.at, len);
    if (elf_find_interpreter(&path, &s, table, len) == 1
        && (path.len < 2 || path.len > ELF_PATH_MAX || path.at > INT64_MAX))
        abort();
    free(table);
    return 0;
}
