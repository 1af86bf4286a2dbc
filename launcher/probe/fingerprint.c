/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/fingerprint.h"
#include "launcher/base/sysfs.h"
#include "launcher/probe/pcie.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Append to a text, behind a comma if it is not empty. */
__attribute__((format(printf, 2, 3))) static void append(
    char text[FINGERPRINT_MAX], const char *fmt, ...)
{
    size_t len = strlen(text);
    va_list ap;

    if (len > 0 && len + 3 < FINGERPRINT_MAX) {
        memcpy(text + len, ", ", 3);
        len += 2;
    }
    va_start(ap, fmt);
    (void)vsnprintf(text + len, FINGERPRINT_MAX - len, fmt, ap); /* cut */
    va_end(ap);
}

/* Add the first CPU of /proc/cpuinfo: its name, or on Arm its numbers. */
static void add_cpu(char text[FINGERPRINT_MAX], const char *proc)
{
    static const char *const key[] = {"model name", "CPU part"};
    char line[SYSFS_LINE];

    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++)
        if (sysfs_find(line, key[i], "%s/cpuinfo", proc) == 0) {
            const char *name = line + strspn(line, " \t:");
            append(text, "%s", name);
            return;
        }
}

/* Round to the nearest eighth of the highest power of two below.  Sizes of
 * memory modules are near these values, so nodes alike are rounded alike. */
static uint64_t round_memory(uint64_t mib)
{
    uint64_t eighth = 1;

    while (eighth <= mib / 16)
        eighth *= 2;
    return (mib + eighth / 2) / eighth * eighth;
}

static int same_model(const struct pcie_device *a, const struct pcie_device *b)
{
    return a->vendor == b->vendor && a->model == b->model;
}

/* Each model and how many there are, in the order in which they are found. */
static void add_accelerators(char text[FINGERPRINT_MAX], const char *sysfs)
{
    struct pcie_device found[PCIE_MOST];
    size_t n = pcie_accelerators(sysfs, found);

    for (size_t i = 0; i < n; i++) {
        unsigned before = 0, all = 0;

        for (size_t k = 0; k < n; k++) {
            all += (unsigned)same_model(&found[i], &found[k]);
            before += (unsigned)(k < i && same_model(&found[i], &found[k]));
        }
        if (before == 0)
            append(text, "%u x %04x:%04x", all, found[i].vendor,
                   found[i].model);
    }
}

void fingerprint_take(char text[FINGERPRINT_MAX],
                      const char *proc,
                      const char *sysfs)
{
    char cpus[SYSFS_LINE];
    uint64_t kib;

    text[0] = '\0';
    add_cpu(text, proc);
    if (sysfs_read(cpus, "%s/devices/system/cpu/present", sysfs) == 0)
        append(text, "CPUs %s", cpus);
    if (sysfs_find_u64(&kib, "MemTotal:", "%s/meminfo", proc) == 0)
        append(text, "%.4g GiB", (double)round_memory(kib / 1024) / 1024);
    add_accelerators(text, sysfs);
}
