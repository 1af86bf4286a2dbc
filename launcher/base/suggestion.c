/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/suggestion.h"

#include <string.h>

#define NAME_LEN 40 /* of none that is suggested */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The distance of Damerau and Levenshtein, in which no part is edited twice.
 * d[i][j]: of the first i letters of a and the first j of b. */
static size_t mistakes(const char *a, size_t n, const char *b, size_t m)
{
    size_t d[NAME_LEN][NAME_LEN];

    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                            least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

int suggestion_is_near(const char *typed, const char *name, size_t most)
{
    size_t n = strlen(typed), m = strlen(name);

    return n < NAME_LEN && m < NAME_LEN && mistakes(typed, n, name, m) <= most;
}

void suggestion_try(struct suggestion *s, const char *name)
{
    size_t n = strlen(s->typed), m = strlen(name), d;

    if (n >= NAME_LEN || m >= NAME_LEN)
        return;
    d = mistakes(s->typed, n, name, m);
    if (3 * d > m || (s->name && d >= s->mistakes))
        return;
    s->name = name;
    s->mistakes = d;
}
