/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_cache_name.h"
#include "pmix_bcast/file_digest.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PART    "part-"
#define DIGITS  16u
#define STALE_S 3600

void tree_cache_name(char name[TREE_CACHE_NAME],
                     const uint8_t digest[TREE_DIGEST])
{
    struct file_digest d;
    char hex[FILE_DIGEST_HEX];

    memcpy(d.byte, digest, sizeof d.byte);
    file_digest_to_hex(&d, hex);
    snprintf(name, TREE_CACHE_NAME, "%.2s/%s", hex, hex + 2);
}

int tree_cache_is_file(const char *folder, const char *name)
{
    struct file_digest d;
    char hex[TREE_CACHE_NAME];

    return snprintf(hex, sizeof hex, "%s%s", folder, name) < (int)sizeof hex
           && file_digest_from_hex(&d, hex) == 0;
}

void tree_cache_part(char part[TREE_CACHE_NAME], const char *folder)
{
    snprintf(part, TREE_CACHE_NAME, "%s/" PART "%08x%08x", folder,
             randombytes_random(), randombytes_random());
}

int tree_cache_is_part(const char *name)
{
    size_t len = strlen(PART);

    return strncmp(name, PART, len) == 0 && strlen(name) == len + DIGITS
           && strspn(name + len, "0123456789abcdef") == DIGITS;
}

int tree_cache_is_stale(const struct stat *part)
{
    return part->st_mtime < time(NULL) - STALE_S;
}
