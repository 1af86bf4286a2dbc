/* SPDX-License-Identifier: BSD-2-Clause */
/* A label of any bytes comes back from a journal as it was. */
#include "launcher/run/label_json.h"
#include "tap.h"

#include <string.h>

static void test_there_and_back(const char *label, const char *want)
{
    char got[LABEL_MAX] = "none";
    json_t *json = label_to_json(label);
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);

    if (want)
        is_str(text, want, "it is kept so");
    is_int(label_from_json(got, json), 0, "and can be read");
    is_str(got, label, "as it was");
    free(text);
    json_decref(json);
}

static void test_all(void)
{
    char label[LABEL_MAX];

    test_there_and_back("", "\"\"");
    test_there_and_back("Stra\303\237e 1", "\"Stra\303\237e 1\"");
    test_there_and_back("l\377", "{\"hex\":\"6cff\"}");
    memset(label, 0xff, sizeof label);
    label[sizeof label - 1] = '\0';
    test_there_and_back(label, NULL);
    memset(label, 'l', sizeof label - 1);
    test_there_and_back(label, NULL);
}

static const char *const bad[] = {
    "7",
    "null",
    "{}",
    "{\"hex\":7}",
    "{\"hex\":\"6\"}",
    "{\"hex\":\"6cfg\"}",
    "{\"hex\":\"6c00\"}",
};

static void test_bad(void)
{
    char label[LABEL_MAX], text[2 * LABEL_MAX + 20];
    json_t *json;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        json = json_loads(bad[i], JSON_DECODE_ANY, NULL);
        ok(label_from_json(label, json) < 0, "%s is none", bad[i]);
        json_decref(json);
    }
    snprintf(text, sizeof text, "\"%0*d\"", (int)LABEL_MAX, 0);
    json = json_loads(text, JSON_DECODE_ANY, NULL);
    is_int(label_from_json(label, json), -1, "nor is one that is too long");
    json_decref(json);
    snprintf(text, sizeof text, "{\"hex\":\"%0*d\"}", 2 * (int)LABEL_MAX, 0);
    json = json_loads(text, 0, NULL);
    is_int(label_from_json(label, json), -1, "in hex neither");
    json_decref(json);
}

int main(void)
{
    test_all();
    test_bad();
    return done();
}
