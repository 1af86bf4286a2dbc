/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as the history of a user's runs: what is added up is finite, and a
 * profile that is fitted to it can be used. */
#include "launcher/run/history.h"
#include "policy/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void look(const struct fit *fit)
{
    struct profile p;

    for (int i = 0; i < ELEMENTS; i++) {
        must(isfinite(fit->xy[i]));
        for (int k = 0; k < ELEMENTS; k++)
            must(isfinite(fit->xx[i][k]));
    }
    if (fit_profile(fit, &p) < 0)
        return;
    must(profile_sum(&p) > 0);
    for (int i = 0; i < ELEMENTS; i++)
        must(p.influence[i] >= 0 && p.influence[i] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fit any = {.runs = 0}, mine = {.runs = 0};
    char *text = malloc(size + 1), *rest = text, *line;
    size_t lines = 0;

    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL) {
        history_add_line(&any, line, NULL);
        history_add_line(&mine, line, "/usr/bin/povray");
        lines++;
    }
    must(any.runs <= lines && mine.runs <= any.runs);
    look(&any);
    look(&mine);
    free(text);
    return 0;
}
