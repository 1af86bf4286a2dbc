/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/slurm_release.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>

#define MAJOR(number) (((unsigned)(number) >> 16) & 0xff)
#define MINOR(number) (((unsigned)(number) >> 8) & 0xff)

/* The first number of its library's version, and the release that had it first.
 * From 24.05 on there is one each May and November. */
static const struct {
    unsigned api, year, month;
} known[] = {{37, 21, 8}, {38, 22, 5}, {39, 23, 2}, {40, 23, 11}};
#define FIRST_API  41u
#define FIRST_YEAR 24u

void slurm_release_of_api(long api, char *out, size_t size)
{
    unsigned current = api < 0 ? 0 : MAJOR(api), since;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].api == current)
            snprintf(out, size, "%u.%02u", known[i].year, known[i].month);
    if (current < FIRST_API)
        return;
    since = current - FIRST_API;
    snprintf(out, size, "%u.%02u", FIRST_YEAR + since / 2,
             since % 2 ? 11u : 5u);
}

void slurm_release_of_number(uint32_t number, char *out, size_t size)
{
    snprintf(out, size, "%u.%02u", MAJOR(number), MINOR(number));
}

int slurm_release_refuse(uint32_t number, long api)
{
    char ours[16], theirs[16];

    slurm_release_of_number(number, ours, sizeof ours);
    slurm_release_of_api(api, theirs, sizeof theirs);
    if (!theirs[0] || strcmp(ours, theirs) == 0)
        return 0;
    slurm_error("evenstep: this is Slurm %s, and the plugin was built for "
                "Slurm %s: build it with the headers of Slurm %s, and install "
                "that",
                theirs, ours, theirs);
    return -1;
}

/* It stands in Slurm's library; not where tests link the plugin. */
#pragma weak slurm_api_version
extern const unsigned int plugin_version;
#pragma weak plugin_version

/*
 * Slurm asks for plugin_version before it calls anything here, and goes no
 * further with one of another release; so this is said when it is opened.
 */
static void __attribute__((constructor)) at_opening(void)
{
    if (slurm_api_version && &plugin_version)
        (void)slurm_release_refuse(plugin_version, slurm_api_version());
}
