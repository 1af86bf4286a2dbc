/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of the nodes' answers; the nodes' part is played. */
#include "launcher/session/qualification.h"
#include "fake_session.h"
#include "fault.h"
#include "launcher/probe/probe_json.h"
#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

static struct session session;
static const struct config_profile sheet = {
    "cpu", {{0.3, 0.3, 0.2, 0.15, 0, 0}}, {0}, ""};
static const struct config_probe probe = {.budget_ms = 1000,
                                          .ttl_s = 60,
                                          .cache = "/nowhere",
                                          .elements = PROBE_CORE};
static const struct qualification_setup measuring = {
    .source = METRICS_CACHED, .probe = &probe, .profile = &sheet};

/* What a node has of each element; < 0: could not be measured. */
struct answer {
    const char *boot_id;
    double has[ELEMENTS];
};

/* Whose I is of the ring, from the cache. */
static int between[SESSION_NODES];

static void say(struct qualification *q, size_t node, const struct answer *a)
{
    struct probe_result result[ELEMENTS] = {0};
    struct msg_probed m = {.cached = 1};
    struct writer w = {0};
    char *text;

    for (int e = 0; e < ELEMENTS; e++)
        if (a->has[e] < 0)
            probe_not_measured(&result[e], "it hangs");
        else
            probe_measured(&result[e], a->has[e], 0, "measured");
    result[ELEMENT_I].between = between[node];
    json_t *json = probe_to_json(result);
    text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    if (!text)
        bail("no memory");
    m.results = (const uint8_t *)text;
    m.len = strlen(text);
    msg_write_probed(&w, &m);
    qualification_message(q, node, MSG_PROBED, w.buf, w.len);
    writer_clear(&w);
    free(text);
    json_decref(json);
}

/* On the machines of answer[], if there are any. */
static void start_on(struct qualification *q,
                     const struct qualification_setup *setup,
                     const struct answer answer[])
{
    session_make(&session);
    for (size_t i = 0; answer && i < SESSION_NODES; i++)
        snprintf(session.node[i].boot_id, sizeof session.node[i].boot_id, "%s",
                 answer[i].boot_id);
    if (qualification_start(q, &session, setup, NULL) < 0)
        bail("no qualification");
}

static void start(struct qualification *q,
                  const struct qualification_setup *setup)
{
    start_on(q, setup, NULL);
}

/* All four answer; warnings go to a file, how many bytes is returned. */
static long qualify(struct qualification *q, const struct answer answer[])
{
    FILE *file = tmpfile();
    int kept = dup(2);
    long said;

    if (!file || kept < 0 || dup2(fileno(file), 2) < 0)
        bail("no file");
    start_on(q, &measuring, answer);
    for (size_t i = 0; i < SESSION_NODES; i++)
        say(q, i, &answer[i]);
    said = (long)lseek(2, 0, SEEK_CUR);
    dup2(kept, 2);
    close(kept);
    fclose(file);
    return said;
}

static int has_loads(const struct qualification *q, const double load[])
{
    int right = q->missing == 0;

    for (size_t i = 0; i < SESSION_NODES; i++)
        right &= q->metric[i].JL > load[i] - 0.01
                 && q->metric[i].JL < load[i] + 0.01;
    return right;
}

/* The elements that the last one was asked for. */
static unsigned asked_for(void)
{
    struct msg_probe m = {0};

    (void)msg_read_probe(&m, session.body[SESSION_NODES - 1],
                         session.len[SESSION_NODES - 1]);
    return m.elements;
}

static void test_asked(void)
{
    static const struct answer one_machine[SESSION_NODES] = {
        {"a", {0}}, {"a", {0}}, {"a", {0}}, {"a", {0}}};
    static const struct config_profile storage = {
        "io", {.influence[ELEMENT_S] = 1}, {0}, ""};
    static const struct config_profile roomy = {
        "roomy", {.influence[ELEMENT_C] = 1}, {[ELEMENT_M] = 1e9}, ""};
    struct qualification_setup shown = measuring;
    struct qualification q;
    struct msg_probe m;

    start(&q, &measuring);
    ok(q.missing == 4 && session.type[3] == MSG_PROBE
           && msg_read_probe(&m, session.body[3], session.len[3]) == 0
           && !m.fresh && m.budget_ms == 1000 && m.elements == PROBE_CORE
           && strcmp(m.cache, "/nowhere") == 0,
       "every node is asked, for all elements, within the budget");
    is_int(qualification_message(&q, 0, MSG_DONE, NULL, 0), 0,
           "what is not an answer is left to others");
    qualification_clear(&q);
    shown.sparing = 1;
    start(&q, &shown);
    is_int(asked_for(),
           PROBE_CORE & ~(PROBE_BIT(ELEMENT_S) | PROBE_BIT(ELEMENT_G)),
           "a sparing one asks for what the profile counts");
    qualification_clear(&q);
    shown.profile = &storage;
    start(&q, &shown);
    is_int(asked_for(), PROBE_BIT(ELEMENT_C) | PROBE_BIT(ELEMENT_S),
           "and always for C");
    qualification_clear(&q);
    shown.profile = &roomy;
    start_on(&q, &shown, one_machine);
    is_int(asked_for(), PROBE_BIT(ELEMENT_C) | PROBE_BIT(ELEMENT_M),
           "and for what it needs some of, on nodes of one machine, too");
    qualification_clear(&q);
    shown.sparing = 0;
    shown.profile = NULL;
    start_on(&q, &shown, one_machine);
    is_int(asked_for(), PROBE_CORE, "to be shown it is asked of all the same");
    qualification_clear(&q);
}

static void test_ranked(void)
{
    static const struct answer differ[] = {{"a", {8, 8, 1, 6}},
                                           {"b", {4, 4, 1, 6}},
                                           {"c", {2, 2, 1, 6}},
                                           {"d", {2, 2, 1, 6}}},
                               shared[] = {{"a", {8, 3, 0, 6}},
                                           {"a", {4, 9, 0, 3}},
                                           {"a", {2, 1, 0, 9}},
                                           {"a", {2, 5, 0, 1}}};
    static const double load[] = {50, 25, 12.5, 12.5};
    struct qualification q;

    is_int(qualify(&q, differ), 0, "nothing is said where all is well");
    ok(has_loads(&q, load),
       "nodes are ranked by what they differ in: equal links do not count");
    is_near(q.measured[3][ELEMENT_I], 1, 0, "but are known");
    qualification_clear(&q);
    is_int(qualify(&q, shared), 0, "nothing is said of what is shared");
    ok(has_loads(&q, load), "what nodes of one machine share does not count");
    ok(asked_for()
           == (PROBE_CORE & ~(PROBE_BIT(ELEMENT_M) | PROBE_BIT(ELEMENT_B))),
       "nor is any of them asked for it, but for its link: the cache may have "
       "what the ring measured");
    is_near(q.measured[1][ELEMENT_M], 0, 0, "nor is it known");
    qualification_clear(&q);
}

/* The profile counts the links most, and so does the ring for a fresh one. */
static void test_cached_ring(void)
{
    static const struct config_profile network = {
        "network", {.influence[ELEMENT_I] = 1}, {0}, ""};
    static const struct answer kept[] = {{"a", {1, 1, 4, 1}},
                                         {"a", {1, 1, 1, 1}},
                                         {"a", {1, 1, 4, 1}},
                                         {"a", {1, 1, 4, 1}}},
                               one_tells[] = {{"a", {1, 1, 4, 1}},
                                              {"b", {1, 1, 1, 1}},
                                              {"c", {1, 1, 4, 1}},
                                              {"d", {1, 1, 100, 1}}};
    static const double slow[] = {400 / 13.0, 100 / 13.0, 400 / 13.0,
                                  400 / 13.0},
                        equal[] = {25, 25, 25, 25};
    struct qualification_setup setup = measuring;
    struct qualification q;

    setup.profile = &network;
    setup.ring = 1;
    for (size_t i = 0; i < SESSION_NODES; i++)
        between[i] = 1;
    start_on(&q, &setup, kept);
    for (size_t i = 0; i < SESSION_NODES; i++)
        say(&q, i, &kept[i]);
    ok(q.missing == 0 && !q.in_ring,
       "where the cache has what all links carried the ring is not run");
    ok(has_loads(&q, slow),
       "and the slow cable counts, on nodes of one machine, too");
    qualification_clear(&q);
    setup.ring = 0;
    setup.quiet = 1;
    between[3] = 0;
    start_on(&q, &setup, one_tells);
    for (size_t i = 0; i < SESSION_NODES; i++)
        say(&q, i, &one_tells[i]);
    ok(q.result[3][ELEMENT_I].state == PROBE_NOT_MEASURED
           && strstr(q.result[3][ELEMENT_I].what, "the others' links"),
       "what a port tells is not compared to what links carried");
    ok(has_loads(&q, equal), "one of four not known: the links do not count");
    qualification_clear(&q);
}

static void test_not_measured(void)
{
    static const struct answer one[] = {{"a", {8, -1, 0, 6}},
                                        {"b", {4, 9, 0, 6}},
                                        {"c", {2, 1, 0, 6}},
                                        {"d", {2, 5, 0, 6}}},
                               none[] = {{"a", {-1, -1, -1, -1}},
                                         {"b", {-1, -1, -1, -1}},
                                         {"c", {-1, -1, -1, -1}},
                                         {"d", {-1, -1, -1, -1}}};
    static const double load[] = {50, 25, 12.5, 12.5},
                        equal[] = {25, 25, 25, 25};
    struct qualification q;

    ok(qualify(&q, one) > 0, "an element that one node lacks is told");
    ok(has_loads(&q, load), "and left out");
    qualification_clear(&q);
    ok(qualify(&q, none) > 0, "nodes of which nothing is known are told");
    ok(has_loads(&q, equal), "and alike");
    qualification_clear(&q);
}

static void test_faults(void)
{
    static const struct answer good = {"a", {8, 8, 1, 6}};
    struct qualification_setup quiet = measuring;
    struct qualification q;

    quiet.quiet = 1;
    start(&q, &quiet);
    qualification_message(&q, 0, MSG_PROBED, (const uint8_t *)"x", 1);
    ok(q.missing == 3 && q.result[0][ELEMENT_C].state == PROBE_NOT_MEASURED,
       "an answer that cannot be read is one: nothing measured");
    say(&q, 0, &good);
    ok(q.missing == 3 && q.result[0][ELEMENT_C].state == PROBE_NOT_MEASURED,
       "a second one is not heard");
    qualification_lost(&q, 1);
    qualification_lost(&q, 1);
    is_int((long)q.missing, 2, "who is lost is not waited for, once");
    say(&q, 2, &good);
    say(&q, 3, &good);
    ok(q.missing == 0 && q.metric[2].JL > 0, "and the others are ranked");
    qualification_clear(&q);
}

/* What the nodes have measured before, NULL: nothing. */
static json_t *before[SESSION_NODES];

static json_t *know(void *arg, const struct node *node, const char **hardware)
{
    const struct session *own = arg;

    *hardware = "iron";
    return before[node - own->node];
}

static json_t *make_before(double c, double m)
{
    struct probe_result result[ELEMENTS] = {0};

    probe_measured(&result[ELEMENT_C], c, 0, "measured");
    if (m > 0)
        probe_measured(&result[ELEMENT_M], m, 0, "measured");
    return probe_to_json(result);
}

static void forget_before(void)
{
    for (size_t i = 0; i < SESSION_NODES; i++) {
        json_decref(before[i]);
        before[i] = NULL;
    }
}

static void test_known(void)
{
    static const struct config_profile computing = {
        "computing", {.influence[ELEMENT_C] = 1}, {0}, ""};
    static const struct config_profile roomy = {
        "roomy", {.influence[ELEMENT_C] = 1}, {[ELEMENT_M] = 1e9}, ""};
    static const struct answer last = {"d", {2}};
    static const double load[] = {50, 25, 12.5, 12.5};
    struct qualification_setup setup = measuring;
    struct qualification q;

    setup.sparing = 1;
    setup.profile = &computing;
    setup.known = know;
    setup.known_arg = &session;
    before[0] = make_before(8, 4);
    before[1] = make_before(4, 4);
    before[2] = make_before(2, 4);
    start(&q, &setup);
    ok(q.missing == 1 && session.sent[0] == 0 && session.sent[3] == 1,
       "only a node of which nothing is known is asked");
    say(&q, 3, &last);
    ok(has_loads(&q, load), "and what is known counts like its answer");
    ok(q.answer[0].cached && strcmp(q.answer[0].hardware, "iron") == 0,
       "it is told that it was known");
    qualification_clear(&q);

    before[3] = make_before(2, 4);
    start(&q, &setup);
    ok(session.sent[3] == 0 && has_loads(&q, load),
       "all are known: nobody is asked, and all is done at once");
    ok(qualification_again(&q, 3) == 1 && session.sent[3] == 1,
       "but one that was lost and is back is");
    qualification_clear(&q);

    setup.profile = &roomy;
    start(&q, &setup);
    ok(q.missing == 4, "how much there is of a thing is asked for again");
    qualification_clear(&q);

    setup.profile = &sheet;
    start(&q, &setup);
    ok(q.missing == 4, "as is what was not measured before");
    qualification_clear(&q);

    setup.profile = &computing;
    json_object_set_new(before[2], "C", json_integer(1));
    start(&q, &setup);
    ok(q.missing == 1 && session.sent[2] == 1,
       "and who has what cannot be read");
    qualification_clear(&q);
    forget_before();
}

static void test_again(void)
{
    static const struct answer four[] = {{"a", {4, 4, 1, 6}},
                                         {"b", {4, 4, 1, 6}},
                                         {"c", {4, 4, 1, 6}},
                                         {"d", {4, 4, 1, 6}}},
                               slow = {"d", {2, 4, 1, 6}};
    static const double load[] = {2 / .07, 2 / .07, 2 / .07, 1 / .07};
    struct qualification q;

    (void)qualify(&q, four);
    ok(qualification_again(&q, 3) == 1 && qualification_is_again(&q, 3),
       "a node that is back is asked once more");
    say(&q, 3, &slow);
    ok(has_loads(&q, load) && !qualification_is_again(&q, 3),
       "and all are ranked anew");
    qualification_clear(&q);
}

static json_t *guess(void *arg, const struct session *s, size_t node)
{
    const char *hardware;

    return know(arg, session_node(s, node), &hardware);
}

static void test_go_on(void)
{
    static const struct config_profile computing = {
        "computing", {.influence[ELEMENT_C] = 1}, {0}, ""};
    static const struct answer second = {"b", {4}}, third = {"c", {2}};
    static const double load[] = {40, 20, 20, 20};
    struct qualification_setup setup = measuring;
    struct qualification q;

    setup.sparing = 1;
    setup.profile = &computing;
    setup.guess = guess;
    setup.known_arg = &session;
    before[0] = make_before(8, 4);
    before[2] = make_before(4, 4);
    before[3] = make_before(4, 4);
    start(&q, &setup);
    ok(q.missing == 4 && session.sent[0] == 1,
       "what is guessed of a node spares it nothing");
    say(&q, 1, &second);
    ok(qualification_may_guess(&q, 0), "it can be guessed");
    json_decref(before[0]);
    before[0] = NULL;
    ok(!qualification_may_guess(&q, 0), "or not");
    before[0] = make_before(8, 4);
    qualification_go_on(&q);
    ok(q.missing == 0 && has_loads(&q, load) && qualification_is_again(&q, 0)
           && !qualification_is_again(&q, 1),
       "who has not answered counts as guessed");
    say(&q, 2, &third);
    say(&q, 0, &(struct answer){"a", {16}});
    qualification_lost(&q, 3);
    ok(!qualification_is_again(&q, 0) && !qualification_is_again(&q, 3)
           && q.metric[0].JL > 3.9 * q.metric[1].JL
           && q.metric[0].JL < 4.1 * q.metric[1].JL
           && q.metric[1].JL > 1.9 * q.metric[2].JL,
       "until it does, or is lost");
    qualification_clear(&q);
    forget_before();
}

static void test_equal(void)
{
    static const double equal[] = {25, 25, 25, 25};
    struct qualification_setup setup = measuring;
    struct qualification q;

    setup.source = METRICS_EQUAL;
    start(&q, &setup);
    ok(has_loads(&q, equal) && session.sent[0] == 0, "equal: nobody is asked");
    is_int(qualification_again(&q, 0), 0, "nor later");
    qualification_clear(&q);
}

static void test_no_memory(void)
{
    struct es_error err = {ES_OK, "", ""};
    struct qualification q;
    long n;

    session_make(&session);
    for (fault_at = n = 0;
         qualification_start(&q, &session, &measuring, &err) < 0;
         fault_at = ++n) {
        qualification_clear(&q);
        if (err.kind != ES_ENV)
            break;
    }
    fault_at = -1;
    ok(n >= 9 && q.missing == 4, "each allocation that fails is told");
    qualification_clear(&q);
}

int main(void)
{
    test_asked();
    test_ranked();
    test_cached_ring();
    test_not_measured();
    test_faults();
    test_known();
    test_again();
    test_go_on();
    test_equal();
    test_no_memory();
    return done();
}
