/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as what scontrol prints: no value, or one word of the text, behind
 * its key; no ports, or a range of them. */
#include "launcher/base/scontrol_output.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

static void look(const char *text, const char *key, size_t size)
{
    char *value = malloc(size); /* of its own, so that a byte more is seen */

    must(value != NULL);
    if (scontrol_value(text, key, value, size) == 0) {
        must(strlen(value) < size && !strpbrk(value, " \t\n"));
        must(strstr(text, key) && strstr(text, value));
    }
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct port_range ports;
    char *text = malloc(size + 1);

    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    look(text, "NodeList", 4096);
    look(text, "Nodes", 16);
    ports = scontrol_ports(text);
    must(ports.low <= ports.high && (ports.low > 0 || ports.high == 0));
    free(text);
    return 0;
}
