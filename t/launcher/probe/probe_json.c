/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_json.h"
#include "tap.h"

static void fill(struct probe_result r[ELEMENTS])
{
    memset(r, 0, ELEMENTS * sizeof *r);
    probe_measured(&r[ELEMENT_C], 11.75, 0.01, "2 CPUs on 2 cores");
    r[ELEMENT_C].seconds = 0.25;
    r[ELEMENT_C].count = 2;
    probe_measured(&r[ELEMENT_I], 0.09, 0.5, "a flow each way, 3 rounds");
    r[ELEMENT_I].between = 1;
    probe_measured(&r[ELEMENT_M], 40.5, 0.1, "triad \"over\" 134 MB");
    r[ELEMENT_M].capacity_bytes = UINT64_C(25300000000);
    probe_not_measured(&r[ELEMENT_S], "scratch /tmp is full");
    probe_measured(&r[ELEMENT_G], 0, 0, "no GPU");
    probe_measured(&r[ELEMENT_SITE + 3], 12, 0, "seats --free");
    strcpy(r[ELEMENT_SITE + 3].name, "licences");
}

static void test_round_trip(void)
{
    struct probe_result r[ELEMENTS], back[ELEMENTS];
    struct es_error err;
    json_t *json;

    fill(r);
    json = probe_to_json(r);
    is_int((long)json_object_size(json), 6,
           "what was left out is not in the results");
    ok(json_is_null(json_object_get(json_object_get(json, "S"), "value")),
       "what was not measured has no value");
    is_str(
        json_string_value(json_object_get(json_object_get(json, "C"), "unit")),
        "Gop/s", "a value has its unit");
    is_int(probe_from_json(back, json, &err), 0, "they are read back");
    ok(memcmp(r, back, sizeof r) == 0, "all the same");
    json_decref(json);
    memcpy(r[ELEMENT_C].what, "\xff\xfe", 3);
    json = probe_to_json(r);
    is_str(
        json_string_value(json_object_get(json_object_get(json, "C"), "what")),
        "(not in UTF-8)", "text that JSON cannot hold is left out");
    json_decref(json);
}

#define C(value, spread, seconds, count, capacity, what)                       \
    "{\"C\": {\"name\": \"CPU\", \"unit\": \"Gop/s\", \"value\": " value       \
    ", \"spread\": " spread ", \"seconds\": " seconds ", \"count\": " count    \
    ", \"capacity_bytes\": " capacity ", \"what\": " what "}}"

#define G(value, compute)                                                      \
    "{\"G\": {\"name\": \"GPU\", \"unit\": \"GB/s\", \"value\": " value        \
    ", \"spread\": 0, \"seconds\": 0, \"count\": 1, \"capacity_bytes\": 0, "   \
    "\"what\": \"\", \"compute\": " compute "}}"

#define SITE(name, unit, value, better)                                        \
    "{\"X\": {\"name\": \"" name "\", \"unit\": \"" unit                       \
    "\", \"value\": " value ", \"spread\": 0, \"seconds\": 0, \"count\": 0, "  \
    "\"capacity_bytes\": 0, \"what\": \"\", \"better\": \"" better "\"}}"

static const struct {
    const char *name, *text, *why;
} bad[] = {
    {"no object", "[1]", "results are no object"},
    {"an unknown element", "{\"Q\": {}}", "\"Q\" is no element"},
    {"a long one", "{\"CM\": {}}", "\"CM\" is no element"},
    {"one without a name", "{\"\": {}}", "\"\" is no element"},
    {"an element that is a number", "{\"C\": 7}", "C: Expected object"},
    {"a missing key", "{\"C\": {\"name\": \"CPU\"}}", "C: Object item not"},
    {"a key too many",
     "{\"C\": {\"name\": \"CPU\", \"unit\": \"Gop/s\", \"value\": 1, "
     "\"spread\": 0, \"seconds\": 0, \"count\": 0, \"capacity_bytes\": 0, "
     "\"what\": \"\", \"who\": 1}}",
     "C: 1 object item"},
    {"another unit",
     "{\"C\": {\"name\": \"CPU\", \"unit\": \"GHz\", \"value\": 1, "
     "\"spread\": 0, \"seconds\": 0, \"count\": 0, \"capacity_bytes\": 0, "
     "\"what\": \"\"}}",
     "C: CPU in GHz is not known"},
    {"a negative value", C("-1", "0", "0", "0", "0", "\"\""), "out of range"},
    {"a value that is text", C("\"7\"", "0", "0", "0", "0", "\"\""),
     "out of range"},
    {"a value of true", C("true", "0", "0", "0", "0", "\"\""), "out of range"},
    {"a negative spread", C("1", "-1", "0", "0", "0", "\"\""), "out of range"},
    {"a negative time", C("1", "0", "-1", "0", "0", "\"\""), "out of range"},
    {"a negative count", C("1", "0", "0", "-1", "0", "\"\""), "out of range"},
    {"a huge count", C("1", "0", "0", "4294967296", "0", "\"\""),
     "out of range"},
    {"half a count", C("1", "0", "0", "1.5", "0", "\"\""), "C: Expected int"},
    {"a negative capacity", C("1", "0", "0", "0", "-1", "\"\""),
     "out of range"},
    {"a line feed", C("1", "0", "0", "0", "0", "\"a\\nb\""), "out of range"},
    {"a number as text", C("1", "0", "0", "0", "0", "7"), "C: Expected str"},
    {"a negative rate of computing", G("1", "-1"), "out of range"},
    {"one that is text", G("1", "\"9\""), "out of range"},
    {"one of what was not measured", G("null", "9"), "out of range"},
    {"one of a CPU", C("1", "0", "0", "0", "0", "\"\", \"compute\": 9"),
     "out of range"},
};

static void test_compute(void)
{
    struct probe_result r[ELEMENTS];
    json_t *json = json_loads(G("1500", "60000"), 0, NULL), *g;

    is_int(probe_from_json(r, json, NULL), 0,
           "how fast a GPU computes is read");
    is_near(r[ELEMENT_G].compute, 60000, 0, "beside how fast it copies");
    json_decref(json);
    json = json_loads(G("1500", "null"), 0, NULL);
    is_int(probe_from_json(r, json, NULL), 0, "or that it was not measured");
    json_decref(json);
    json = probe_to_json(r);
    g = json_object_get(json, "G");
    ok(json_is_null(json_object_get(g, "compute")) && r[ELEMENT_G].value > 0,
       "which is null, and never 0");
    json_decref(json);
}

static void test_site(void)
{
    static const struct {
        const char *name, *text;
    } refused[] = {
        {"less of nothing, as it cannot be ranked",
         SITE("a", "b", "0", "less")},
        {"another word than less", SITE("a", "b", "1", "worse")},
        {"no name", SITE("", "b", "1", "less")},
        {"a name of two lines", SITE("a\\nb", "b", "1", "less")},
        {"a unit that is too long", SITE("a", "1234567890123456", "1", "less")},
    };
    const enum element x = ELEMENT_SITE + 1;
    struct probe_result r[ELEMENTS];
    json_t *json = json_loads(SITE("a", "", "4", "less"), 0, NULL);

    is_int(probe_from_json(r, json, NULL), 0, "an element of the site's");
    ok(r[x].value == 4 && r[x].less && strcmp(r[x].name, "a") == 0,
       "has a name, and of what less is better");
    is_near(probe_amount(&r[x]), 0.25, 0, "a node is ranked by the inverse");
    json_decref(json);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        json = json_loads(refused[i].text, 0, NULL);
        if (!json)
            bail("%s is no JSON", refused[i].name);
        ok(probe_from_json(r, json, NULL) == -1, "%s is refused",
           refused[i].name);
        json_decref(json);
    }
}

static void test_bad(void)
{
    struct probe_result r[ELEMENTS], before[ELEMENTS];
    char text[1000], what[PROBE_WHAT_MAX + 3];
    struct es_error err;
    json_t *json;

    fill(r);
    fill(before);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err = (struct es_error){ES_OK, "", ""};
        json = json_loads(bad[i].text, 0, NULL);
        if (!json)
            bail("%s is no JSON", bad[i].name);
        if (!ok(probe_from_json(r, json, &err) == -1 && err.kind == ES_WORK
                    && strstr(err.what, bad[i].why)
                    && memcmp(r, before, sizeof r) == 0,
                "%s is refused, nothing changed", bad[i].name))
            diag("%s", err.what);
        json_decref(json);
    }
    is_int(probe_from_json(r, NULL, NULL), -1, "no JSON at all is refused");
    for (int extra = 0; extra < 2; extra++) {
        snprintf(what, sizeof what, "\"%0*d\"", PROBE_WHAT_MAX - 1 + extra, 0);
        snprintf(text, sizeof text,
                 "{\"C\": {\"name\": \"CPU\", \"unit\": \"Gop/s\", \"value\": "
                 "1e300, \"spread\": 0, \"seconds\": 0, \"count\": 0, "
                 "\"capacity_bytes\": 0, \"what\": %s}}",
                 what);
        json = json_loads(text, 0, NULL);
        is_int(probe_from_json(r, json, NULL), -extra,
               extra ? "a line too long is refused"
                     : "the longest line is taken, and a huge value");
        json_decref(json);
    }
}

int main(void)
{
    test_round_trip();
    test_compute();
    test_site();
    test_bad();
    return done();
}
