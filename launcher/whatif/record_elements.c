/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/whatif/record_elements.h"
#include "launcher/whatif/record_file.h"

static int has_any(const json_t *nodes, const char *member, const char *key)
{
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (json_object_get(json_object_get(json_array_get(nodes, i), member),
                            key))
            return 1;
    return 0;
}

void record_elements(char letters[ELEMENTS + 1],
                     const json_t *nodes,
                     const char *member)
{
    size_t len = 0;

    for (int e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter((enum element)e), '\0'};

        if (e < ELEMENT_SITE || has_any(nodes, member, key))
            letters[len++] = *key;
    }
    letters[len] = '\0';
}

const char *record_element_name(char letter, const json_t *nodes)
{
    static const char *const core[ELEMENT_SITE] = {
        [ELEMENT_C] = "CPU",          [ELEMENT_M] = "memory",
        [ELEMENT_I] = "interconnect", [ELEMENT_B] = "bus",
        [ELEMENT_S] = "storage",      [ELEMENT_G] = "GPU"};
    const char key[] = {letter, '\0'};

    if (element_of(letter) < ELEMENT_SITE)
        return core[element_of(letter)];
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *probe =
            json_object_get(json_array_get(nodes, i), "probe");
        const char *name = record_text(json_object_get(probe, key), "name");

        if (*name)
            return name;
    }
    return "";
}
