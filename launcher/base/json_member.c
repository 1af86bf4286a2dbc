/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/json_member.h"

#include <stdlib.h>
#include <string.h>

json_t *json_member(json_t *object, const char *key, json_t *value)
{
    /* json_object_set_new() releases the value in any case. */
    if (json_object_set_new(object, key, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *json_text(const char *text)
{
    json_t *value = json_string(text);
    char *plain = value ? NULL : strdup(text);

    if (!plain)
        return value;
    for (char *p = plain; *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    value = json_string(plain);
    free(plain);
    return value;
}
