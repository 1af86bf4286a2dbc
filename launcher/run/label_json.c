/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/label_json.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

json_t *label_to_json(const char *label)
{
    json_t *text = json_string(label);
    size_t len = strlen(label);
    char hex[2 * LABEL_MAX];

    if (text || len >= LABEL_MAX)
        return text;
    sodium_bin2hex(hex, sizeof hex, (const unsigned char *)label, len);
    return json_pack("{s:s}", "hex", hex);
}

int label_from_json(char label[LABEL_MAX], const json_t *json)
{
    const char *text = json_string_value(json), *end;
    const char *hex = json_string_value(json_object_get(json, "hex"));
    size_t len;

    if (text && strlen(text) < LABEL_MAX) {
        snprintf(label, LABEL_MAX, "%s", text);
        return 0;
    }
    if (!hex
        || sodium_hex2bin((unsigned char *)label, LABEL_MAX - 1, hex,
                          strlen(hex), NULL, &len, &end)
               < 0
        || *end || memchr(label, '\0', len))
        return -1;
    label[len] = '\0';
    return 0;
}
