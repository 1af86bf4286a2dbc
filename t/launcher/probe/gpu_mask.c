/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/gpu_mask.h"
#include "tap.h"

static void is_mask(const char *list, unsigned all, const char *want)
{
    struct gpu_mask mask;
    char got[2000] = "";

    gpu_mask_read(&mask, list, all);
    for (unsigned i = 0; i < mask.n; i++) {
        const struct gpu_word *w = &mask.word[i];

        snprintf(got + strlen(got), sizeof got - strlen(got), " %.*s",
                 (int)sizeof w->text, w->text);
        if (!w->text[0])
            snprintf(got + strlen(got), sizeof got - strlen(got), "%u",
                     w->number);
    }
    ok(strcmp(got, want) == 0, "\"%s\" of %u:%s", list ? list : "(not set)",
       all, got);
}

int main(void)
{
    char long_word[100] = "GPU-", many[600] = "";

    memset(long_word + 4, 'a', 90);
    for (int i = 0; i < 100; i++)
        strcat(many, "0,");
    is_mask("x", 4, "");
    is_mask("NoDevFiles", 4, "");
    is_mask("-1", 4, "");
    is_mask("4", 4, "");
    is_mask("99999999999999999999", 4, "");
    is_mask(long_word, 4, "");
    is_mask(",0", 4, "");
    is_mask("", 4, "");
    is_mask("1,x,2", 4, " 1");
    is_mask("1,-1,2", 4, " 1");
    is_mask("3,0", 4, " 3 0");
    is_mask("0,1,", 4, " 0 1");
    is_mask("GPU-8f2a,MIG-11/2/3,2", 4, " GPU-8f2a MIG-11/2/3 2");
    is_mask(NULL, 0, "");
    is_mask(NULL, 3, " 0 1 2");
    is_mask("0", 0, "");
    struct gpu_mask mask;
    gpu_mask_read(&mask, many, 1);
    is_int(mask.n, GPU_MOST, "no more than there is room for");
    gpu_mask_read(&mask, NULL, 1000);
    is_int(mask.n, GPU_MOST, "of all, neither");
    return done();
}
