/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/metrics_file.h"
#include "fault.h"
#include "tap.h"

#include <jansson.h>

static const struct profile cpu = {{[ELEMENT_C] = 0.3,
                                    [ELEMENT_M] = 0.3,
                                    [ELEMENT_I] = 0.2,
                                    [ELEMENT_B] = 0.15}};

static int load_text(struct metrics_file *m,
                     const char *text,
                     size_t len,
                     struct es_error *err)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, len, "r");
    int rc;

    if (!file)
        bail("fmemopen");
    rc = metrics_file_load(m, "x", file, err);
    fclose(file);
    return rc;
}

/* --- what is not ---------------------------------------------------------- */

#define NODES(x) "{\"nodes\":[" x "]}"
#define ONE      "{\"name\":\"a\",\"C\":1}"
#define NODE(x)  NODES("{\"name\":\"a\"," x "}")

static const struct {
    const char *text, *what; /* from where the file's name ends */
} bad[] = {
    {"", ": is empty"},
    {" \n", ":2:0: '[' or '{' expected near end of file"},
    {"{\"nodes\":\n[" ONE, ":2:19: ']' expected near end of file"},
    {"C=1", ":1:1: '[' or '{' expected near 'C'"},
    {NODES(ONE) "{}", ":1:31: end of file expected near '{'"},
    {"\033[31m", ":1:1: '[' or '{' expected near '?'"},
    {"[" ONE "]", ": nodes: no such list"},
    {"{}", ": nodes: no such list"},
    {"{\"nodes\":{}}", ": nodes: no such list"},
    {NODES(""), ": nodes: the list is empty"},
    {NODES("7"), ": nodes[0]: no name"},
    {NODES("{\"C\":1}"), ": nodes[0]: no name"},
    {NODES(ONE ",{\"name\":7}"), ": nodes[1]: no name"},
    {NODES("{\"name\":\"\",\"C\":1}"), ": nodes[0]: the name is none"},
    {NODES("{\"name\":\"a b\",\"C\":1}"), ": nodes[0]: the name is none"},
    {NODES("{\"name\":\"a\\n\",\"C\":1}"), ": nodes[0]: the name is none"},
    {NODES(ONE "," ONE), ": nodes[1]: \"a\" is there already"},
    {NODE("\"C\":1,\"C\":2"), ":1:31: duplicate object key near '\"C\"'"},
    {NODE("\"V\":1"), ": nodes[0]: \"V\" is no element"},
    {NODE("\"c\":1"), ": nodes[0]: \"c\" is no element"},
    {NODE("\"\":1"), ": nodes[0]: \"\" is no element"},
    {NODE("\"CM\":1"), ": nodes[0]: \"CM\" is no element"},
    {NODE("\"\\u001b[2J\":1"), ": nodes[0]: \"?[2J\" is no element"},
    {NODE("\"C\":\"1\""), ": nodes[0]: C: no number"},
    {NODE("\"C\":null"), ": nodes[0]: C: no number"},
    {NODE("\"C\":true"), ": nodes[0]: C: no number"},
    {NODE("\"C\":-1"), ": nodes[0]: C: -1 is out of range"},
    {NODE("\"C\":-1e-300"), ": nodes[0]: C: -1e-300 is out of range"},
    {NODE("\"C\":1.1e18"), ": nodes[0]: C: 1.1e+18 is out of range"},
    {NODE("\"C\":9000000000000000000"), ": nodes[0]: C: 9e+18 is out of range"},
    {NODE("\"C\":99999999999999999999"), ":1:46: too big integer"},
    {NODE("\"C\":1e999"), ":1:31: real number overflow near '1e999'"},
    {NODE("\"C\":NaN"), ":1:29: invalid token near 'NaN'"},
    {NODE("\"C\":Infinity"), ":1:34: invalid token near 'Infinity'"},
    {NODE("\"C\":1,\"CU\":30"), ": nodes[0]: CU: no object"},
    {NODE("\"C\":1,\"CU\":{\"C\":-1}"),
     ": nodes[0]: CU: C: -1 is out of range"},
    {NODE("\"C\":1,\"CU\":{\"name\":1}"),
     ": nodes[0]: CU: \"name\" is no element"},
    {NODES("{\"name\":\"a\"}"), ": every element of every node is 0"},
    {NODE("\"C\":0,\"G\":0.0"), ": every element of every node is 0"},
};

static int is_empty(const struct metrics_file *m)
{
    return m->n == 0 && !m->name && !m->measured && !m->utilization;
}

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct metrics_file m;
        struct es_error err = {0};
        int refused = load_text(&m, bad[i].text, strlen(bad[i].text), &err) < 0;

        if (!ok(refused && is_empty(&m) && err.kind == ES_USAGE
                    && err.what[0] == 'x'
                    && strncmp(err.what + 1, bad[i].what, strlen(bad[i].what))
                           == 0
                    && err.mend[0],
                "refused:%s", bad[i].what + 1))
            diag("%s: %s", err.what, err.mend);
    }
}

/* A name of len bytes; what metrics_file_load() makes of it. */
static int load_name(size_t len)
{
    char text[2 * NODE_NAME_MAX], name[NODE_NAME_MAX + 1] = "";
    struct metrics_file m;
    int rc;

    memset(name, 'n', len);
    snprintf(text, sizeof text, NODES("{\"name\":\"%s\",\"C\":1}"), name);
    rc = load_text(&m, text, strlen(text), NULL);
    metrics_file_clear(&m);
    return rc;
}

/* So many nodes, each with a name of its own; owned by the caller. */
static char *many(size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        bail("open_memstream");
    fputs("{\"nodes\":[", to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s{\"name\":\"n%zu\",\"C\":%zu}", i ? "," : "", i, i);
    fputs("]}", to);
    fclose(to);
    return text;
}

static void test_bounds(void)
{
    struct metrics_file m;
    struct es_error err = {0};
    size_t len = METRICS_FILE_MAX + 1;
    char *text = many(METRICS_NODES_MAX);

    is_int(load_name(NODE_NAME_MAX), -1, "a name that is too long is refused");
    is_int(load_name(NODE_NAME_MAX - 1), 0, "the longest is read");
    is_int(load_text(&m, text, strlen(text), &err), 0, "65536 nodes are read");
    ok(m.n == METRICS_NODES_MAX && strcmp(m.name[65535], "n65535") == 0
           && m.measured[65535][ELEMENT_C] == 65535,
       "up to the last");
    metrics_file_clear(&m);
    free(text);
    text = many(METRICS_NODES_MAX + 1);
    ok(load_text(&m, text, strlen(text), &err) < 0 && is_empty(&m)
           && strcmp(err.what, "x: nodes: 65537 are too many") == 0,
       "one more is refused");
    free(text);
    text = malloc(len);
    if (!text)
        bail("malloc");
    memset(text, ' ', len);
    memcpy(text, NODES(ONE), strlen(NODES(ONE)));
    ok(load_text(&m, text, len, &err) < 0 && is_empty(&m)
           && strcmp(err.what, "x: longer than 33554432 bytes") == 0,
       "a byte over 32 MiB is refused");
    is_int(load_text(&m, text, len - 1, &err), 0, "32 MiB are read");
    metrics_file_clear(&m);
    free(text);
}

static void test_files(void)
{
    struct metrics_file m;
    struct es_error err = {0};

    ok(metrics_file_read(&m, "/no/such/file", &err) == -1 && is_empty(&m)
           && err.kind == ES_USAGE
           && strcmp(err.what, "/no/such/file: No such file or directory") == 0,
       "a file that is not there");
    ok(metrics_file_read(&m, "/", &err) == -1 && is_empty(&m)
           && err.kind == ES_USAGE
           && strcmp(err.what, "/: Is a directory") == 0,
       "a directory");
}

/* --- what is -------------------------------------------------------------- */

static const char good[] =
    "{\"when\":\"today\",\"nodes\":[{\"name\":\"n0\",\"C\":1,\"M\":2.5,"
    "\"I\":3,\"B\":4,\"S\":5,\"G\":6},\n"
    "{\"G\":0,\"Y\":8,\"name\":\"n1.site\",\"C\":3,\"CU\":{\"C\":15}}]}";

static void test_good(void)
{
    struct metrics_file m;
    struct es_error err = {0};
    int counted = 1, given = 0;

    if (load_text(&m, good, strlen(good), &err) < 0)
        bail("%s", err.what);
    ok(m.n == 2 && strcmp(m.name[0], "n0") == 0
           && strcmp(m.name[1], "n1.site") == 0,
       "two nodes; what else the object has is passed over");
    for (int e = 0; e < ELEMENT_SITE; e++) {
        counted &= m.measured[0][e] == e + 1 + (e == ELEMENT_M ? 0.5 : 0);
        given += !isnan(m.utilization[0][e]) + !isnan(m.utilization[1][e]);
    }
    ok(counted, "every element in its place, integers and others");
    is_near(m.measured[1][ELEMENT_SITE + 2], 8, 0, "and the site's own");
    is_near(m.measured[1][ELEMENT_M], 0, 0, "an absent element is 0");
    is_near(m.utilization[1][ELEMENT_C], 15, 0, "a utilization is taken");
    is_int(given, 1, "where there is none it says so");
    metrics_file_clear(&m);
    ok(is_empty(&m), "released, it is empty");
}

static void test_rank(void)
{
    static const struct profile bus = {{[ELEMENT_B] = 1}};
    struct metrics_file m;
    struct metric metric[2], plain[2];
    const double measured[2][ELEMENTS] = {{1}, {3}};
    static const char two[] = NODES("{\"name\":\"a\",\"C\":1},"
                                    "{\"name\":\"b\",\"C\":3}");
    static const char half[] = NODES("{\"name\":\"a\",\"C\":1},{\"name\":\"b\","
                                     "\"C\":3,\"CU\":{\"C\":10}}");
    static const char none[] = NODES("{\"name\":\"a\",\"C\":1,"
                                     "\"CU\":{\"C\":0}}");

    if (metric_rank(measured, &cpu, plain, 2) < 0
        || load_text(&m, two, strlen(two), NULL) < 0)
        bail("refused");
    ok(metrics_file_rank(&m, &cpu, RANK_BY_ALL, metric) == 0
           && memcmp(metric, plain, sizeof metric) == 0,
       "without a CU it is metric_rank()");
    is_int(metrics_file_rank(&m, &bus, RANK_BY_ALL, metric), -1,
           "influence on what nobody has ranks nobody");
    metrics_file_clear(&m);
    if (load_text(&m, half, strlen(half), NULL) < 0)
        bail("refused");
    ok(metrics_file_rank(&m, &cpu, RANK_BY_ALL, metric) == 0
           && metric[0].CU[ELEMENT_C] == plain[0].CU[ELEMENT_C]
           && metric[1].CU[ELEMENT_C] == 10,
       "a CU that is given replaces the first one, of that node");
    is_near(metric[0].JL, 50, 1e-12, "7. JL follows: 30 * 25 against 10 * 75");
    metrics_file_clear(&m);
    if (load_text(&m, none, strlen(none), NULL) < 0)
        bail("refused");
    is_int(metrics_file_rank(&m, &cpu, RANK_BY_ALL, metric), -1,
           "a CU of 0 ranks nobody");
    metrics_file_clear(&m);
}

/* --- memory --------------------------------------------------------------- */

static void test_faults(void)
{
    struct metrics_file m;
    struct es_error err;
    FILE *file = fmemopen((void *)(uintptr_t)good, strlen(good), "r");
    int rc, told = 1;
    long n = 0, ours = 0;

    if (!file)
        bail("fmemopen");
    json_set_alloc_funcs(malloc, free); /* jansson's are to fail, too */
    do {
        rewind(file);
        err = (struct es_error){0};
        fault_at = n++;
        rc = metrics_file_load(&m, "x", file, &err);
        fault_at = -1;
        told &= rc == 0 || (err.what[0] && err.mend[0] && is_empty(&m));
        ours += err.kind == ES_ENV; /* jansson takes some for bad tokens */
    } while (rc < 0 && n < 1000);
    metrics_file_clear(&m);
    fclose(file);
    ok(rc == 0 && n > 10 && told && ours > n / 2,
       "each of %ld allocations that fails is told, cleanly", n - 1);
}

int main(void)
{
    test_bad();
    test_bounds();
    test_files();
    test_good();
    test_rank();
    test_faults();
    return done();
}
