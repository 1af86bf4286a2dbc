/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/json_member.h"

json_t *json_member(json_t *object, const char *key, json_t *value)
{
    /* json_object_set_new() releases the value in any case. */
    if (json_object_set_new(object, key, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}
