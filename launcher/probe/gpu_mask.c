/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/gpu_mask.h"

#include <stdlib.h>
#include <string.h>

/* 0, or -1 if it is no GPU's. */
static int take_word(struct gpu_word *word,
                     const char *text,
                     size_t len,
                     unsigned all)
{
    memset(word, 0, sizeof *word);
    if (len >= sizeof word->text)
        return -1;
    if (strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0) {
        memcpy(word->text, text, len);
        return 0;
    }
    if (len == 0 || len > 4 || strspn(text, "0123456789") != len)
        return -1;
    word->number = (unsigned)strtoul(text, NULL, 10); /* of up to 4 digits */
    return word->number < all ? 0 : -1;
}

void gpu_mask_read(struct gpu_mask *mask, const char *list, unsigned all)
{
    mask->n = 0;
    while (!list && mask->n < all && mask->n < GPU_MOST) {
        mask->word[mask->n] = (struct gpu_word){.number = mask->n};
        mask->n++;
    }
    while (list && *list && mask->n < GPU_MOST) {
        size_t len = strcspn(list, ",");

        if (take_word(&mask->word[mask->n], list, len, all) < 0)
            return;
        mask->n++;
        list += len + (list[len] == ',');
    }
}
