/* SPDX-License-Identifier: BSD-2-Clause */
/* Whoever built the plugin for another Slurm is told both, and what to do. */
#include "spank_plugin/slurm_release.h"
#include "fake_spank.h"
#include "tap.h"

static const struct {
    long api;
    const char *release;
} apis[] = {
    {-1, ""},
    {0, ""},
    {30L << 16, ""},
    {37L << 16, "21.08"},
    {38L << 16, "22.05"},
    {40L << 16, "23.11"},
    {41L << 16, "24.05"},
    {(42L << 16) | 1, "24.11"},
    {45L << 16, "26.05"},
};

int main(void)
{
    char text[16];

    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        slurm_release_of_api(apis[i].api, text, sizeof text);
        is_str(text, apis[i].release, "the release of a library's version");
    }
    slurm_release_of_number(0x180b05, text, sizeof text);
    is_str(text, "24.11", "the release of a program's version");

    ok(slurm_release_refuse(0x180b05, 42L << 16) == 0
           && slurm_release_refuse(0x160508, 38L << 16) == 0
           && fake_spank.errors == 0,
       "nothing is said where the releases are the same");
    ok(slurm_release_refuse(0x180b05, 1L << 16) == 0 && fake_spank.errors == 0,
       "nor of a release that is not known");
    ok(slurm_release_refuse(0x160508, 42L << 16) == -1
           && fake_spank.errors == 1,
       "another release is refused in one line");
    is_str(fake_spank.said,
           "evenstep: this is Slurm 24.11, and the plugin was built for Slurm "
           "22.05: build it with the headers of Slurm 24.11, and install that",
           "which names both and says what to do");
    return done();
}
