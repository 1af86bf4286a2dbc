/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/tree_cache_name.h"
#include "pmix_bcast/file_digest.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PART    "part-"
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

void tree_cache_part(char part[TREE_CACHE_NAME], const char *folder)
{
    snprintf(part, TREE_CACHE_NAME, "%s/" PART "%08x%08x", folder,
             randombytes_random(), randombytes_random());
}

int tree_cache_is_part(const char *name)
{
    return strncmp(name, PART, strlen(PART)) == 0;
}

int tree_cache_is_stale(const struct stat *part)
{
    return part->st_mtime < time(NULL) - STALE_S;
}
