/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of parameters: what is taken from text, what is refused with which
 * message, and what JPPF makes of a value out of range.
 */
#include "launcher/config/policy_option.h"
#include "policy/kinds.h"
#include "tap.h"

static const struct {
    const char *name, *text, *what, *mend;
} bad[] = {
    {"no such policy", "odd", "\"odd\" is unknown",
     "give one of: even canon static "},
    {"no policy at all", "", "\"\" is unknown", "give one of:"},
    {"no such parameter", "rl:speed=1", "rl has no parameter \"speed\"",
     "--help"},
    {"a parameter without a value", "rl:maxActionRange",
     "\"maxActionRange\" has no value", "NAME:key=value"},
    {"nothing behind the colon", "rl:", "\"\" has no value", "NAME:key=value"},
    {"no number", "manual:size=abc", "manual: size: \"abc\" is out of range",
     "give a whole number from 1 to 2147483647"},
    {"an empty value", "manual:size=", "\"\" is out of range", "from 1 to"},
    {"an infinite value", "manual:size=inf", "is out of range", "from 1 to"},
    {"a size of 0", "manual:size=0", "size: \"0\" is out of range",
     "give a whole number from 1 to 2147483647"},
    {"a size that is no int", "manual:size=2147483648", "is out of range",
     "to 2147483647"},
    {"a fraction of a task", "manual:size=1.5", "is out of range",
     "give a whole number"},
    {"no threads", "nodethreads:multiplicator=-1", "is out of range",
     "from 1 to 2147483647"},
    {"a share of 0", "rl2:maxRelativeSize=0", "is out of range",
     "give a number above 0, to 1"},
    {"a share above 1", "rl2:maxRelativeSize=1.01", "is out of range",
     "above 0, to 1"},
    {"no time", "proportional:initialMeanTime=0", "is out of range",
     "give a number above 0"},
    {"a negative seed", "autotuned:seed=-1", "is out of range",
     "from 0 to 9007199254740992"},
    {"a third generator", "rl2:generator=2", "is out of range", "from 0 to 1"},
    {"eleven elements", "canon:elements=11", "is out of range", "from 1 to 10"},
    {"the second of two", "rl:maxActionRange=3,performanceCacheSize=x",
     "performanceCacheSize: \"x\" is out of range", "from -2147483648 to"},
    {"more text than any key has",
     "rl:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa="
     "1",
     "has no parameter", "--help"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct policy_option o = {0};
        struct es_error err = {0};
        int rc =
            policy_option_parse(&o, NULL, bad[i].text, POLICY_STRICT, &err);

        ok(rc < 0 && err.kind == ES_USAGE && !o.kind
               && strstr(err.what, bad[i].what)
               && strstr(err.mend, bad[i].mend),
           "%s is refused", bad[i].name);
        if (rc == 0 || !strstr(err.what, bad[i].what)
            || !strstr(err.mend, bad[i].mend))
            diag("said \"%s: %s\"", err.what, err.mend);
    }
}

/* Every parameter of every policy: a bound is taken, what lies beyond is
   refused, and the message names both bounds. */
static void test_bounds(const struct policy_kind *kind)
{
    for (size_t k = 0; k < kind->n_params; k++) {
        const struct policy_param *p = &kind->params[k];
        struct policy_option o = {.kind = kind};
        struct es_error err = {0};
        char text[100], range[100];
        int taken;

        policy_defaults(kind, o.value);
        snprintf(text, sizeof text, "%s=%.17g", p->key, p->max);
        taken = policy_option_set(&o, text, POLICY_STRICT, NULL) == 0
                && !(o.value[k] < p->max);
        snprintf(text, sizeof text, "%s=%.17g", p->key, p->min);
        taken &= policy_option_set(&o, text, POLICY_STRICT, NULL) == 0
                 && !(o.value[k] > p->min);
        ok(taken, "%s takes the bounds of %s", kind->name, p->key);
        if (!(p->max < 1e300))
            continue; /* nothing lies beyond */
        snprintf(text, sizeof text, "%s=%.17g", p->key, p->max * 2 + 1);
        policy_option_range(p, range, sizeof range);
        ok(policy_option_set(&o, text, POLICY_STRICT, &err) < 0
               && strcmp(err.mend, range) == 0 && !(o.value[k] > p->min),
           "and nothing beyond: %s", err.mend);
    }
}

static const struct {
    const char *text;
    double want;
} settled[] = {
    {"manual:size=-5", 1},
    {"manual:size=1.9", 1},
    {"manual:size=1e3", 1000},
    {"manual:size=3e9", 2147483647},
    {"manual:size= 7\t", 7},
    {"nodethreads:multiplicator=0", 1},
    {"autotuned:size=0", 1},
    {"autotuned:maxGuessToStable=-2.9", -2},
    {"proportional:initialSize=-1", 1},
    {"proportional:initialMeanTime=-1", 0x1p-1074},
    {"rl:maxActionRange=-3", -3},
    {"rl2:performanceCacheSize=-1", 2000},
    {"rl2:performanceVariationThreshold=0", 0.75},
    {"rl2:minSamples=0", 10},
    {"rl2:maxSamples=-7", 1},
    {"rl2:maxRelativeSize=2", 0.5},
    {"rl2:maxRelativeSize=-1", 0.5},
};

static void test_settled(void)
{
    struct policy_option o;

    for (size_t i = 0; i < sizeof settled / sizeof settled[0]; i++) {
        const char *key = strchr(settled[i].text, ':') + 1;
        char name[64];
        size_t k;
        int rc =
            policy_option_parse(&o, NULL, settled[i].text, POLICY_SETTLE, NULL);

        snprintf(name, sizeof name, "%.*s", (int)strcspn(key, "="), key);
        if (rc < 0)
            bail("%s is refused", settled[i].text);
        k = policy_param_find(o.kind, name);
        ok(!(o.value[k] < settled[i].want) && !(o.value[k] > settled[i].want),
           "JPPF makes %g of %s", settled[i].want, settled[i].text);
    }
    ok(strstr(o.warnings, "rl2: maxRelativeSize: -1 is out of range, 0.5 is"),
       "and a warning says so");
    (void)policy_option_parse(&o, NULL, "manual:size=2", POLICY_SETTLE, NULL);
    is_str(o.warnings, "", "there is none for a value in range");
    (void)policy_option_parse(&o, NULL, "rl2:minSamples=0,maxRelativeSize=2",
                              POLICY_SETTLE, NULL);
    is_str(o.warnings,
           "rl2: minSamples: 0 is out of range, 10 is taken\n"
           "rl2: maxRelativeSize: 2 is out of range, 0.5 is taken\n",
           "one for each of several");
    is_int(
        policy_option_parse(&o, NULL, "manual:size=7 8", POLICY_SETTLE, NULL),
        -1, "two numbers are none");
    is_int(policy_option_parse(&o, NULL, "canon:step=0", POLICY_SETTLE, NULL),
           -1, "what is not JPPF's is refused all the same");
    is_int(policy_option_parse(&o, NULL, "rl2:seed=-1", POLICY_SETTLE, NULL),
           -1, "so is a seed, which is ours");
}

static void test_configured(void)
{
    static struct config c; /* 1.3 KiB */
    struct policy_option o;

    for (size_t i = 0; kinds_at(i); i++)
        policy_defaults(kinds_at(i), c.policy[i]);
    c.policy[0][1] = 0.25;
    is_int(policy_option_parse(&o, &c, "even:gain=0.5", POLICY_STRICT, NULL), 0,
           "a policy is taken");
    is_near(o.value[0], 0.5, 0, "with what is said");
    is_near(o.value[1], 0.25, 0, "with what is configured");
    is_near(o.value[2], kinds_at(0)->params[2].def, 0, "and else defaults");
}

int main(void)
{
    test_bad();
    for (size_t i = 0; kinds_at(i); i++)
        test_bounds(kinds_at(i));
    test_settled();
    test_configured();
    return done();
}
