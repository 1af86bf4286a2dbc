/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as the history of a user's runs: what is added up is finite, and a
 * profile that is fitted to it can be used; and what commands have cost is in
 * range. */
#include "launcher/run/history.h"
#include "launcher/run/cost_history.h"
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

static void look_at_cost(const struct cost_record *r)
{
    must(r->match == COST_STRANGER || r->terms.each > 0);
    must(isfinite(r->terms.each) && isfinite(r->noise) && r->noise >= 0);
    must(isfinite(r->terms.wait) && r->terms.wait >= 0);
    must(isfinite(r->terms.burn) && r->terms.burn >= 0);
    must((r->profile.n > 0) == (r->profile.units > 0));
    must(r->profile.n <= COST_PROFILE && r->lags <= COST_LAGS);
    for (size_t i = 0; i < r->lags; i++)
        must(isfinite(r->lag[i].seconds) && strlen(r->lag[i].node) > 0
             && strlen(r->lag[i].node) < sizeof r->lag[i].node);
    for (size_t i = 0; i < r->profile.n; i++)
        must(r->profile.seen[i].begin >= 0 && r->profile.seen[i].end <= 1
             && r->profile.seen[i].end > r->profile.seen[i].begin
             && isfinite(r->profile.seen[i].mean)
             && r->profile.seen[i].deviation > 0
             && isfinite(r->profile.seen[i].deviation));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cost_key key = {"python3", "a.py", "0123456789abcdef"};
    struct cost_record cost = {.match = COST_STRANGER};
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
        cost_history_line(&cost, &key, line);
        look_at_cost(&cost);
        lines++;
    }
    must(any.runs <= lines && mine.runs <= any.runs);
    look(&any);
    look(&mine);
    free(text);
    return 0;
}
