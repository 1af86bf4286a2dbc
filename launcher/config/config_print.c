/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the configuration in force, in the syntax of the file. */
#include "launcher/config/config.h"
#include "launcher/config/policy_option.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* As libconfuse reads it between single quotes: nothing is expanded there. */
static void print_text(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

/* With the least digits that read as the same number. */
static void print_number(double v)
{
    char text[32];
    int digits = 15;

    do
        snprintf(text, sizeof text, "%.*g", digits, v);
    while (++digits <= 17 && strtod(text, NULL) != v);
    fputs(text, stdout);
}

static void print_value(const char *key, double v)
{
    printf("  %s = ", key);
    print_number(v);
    putchar('\n');
}

static void print_power(const struct config_power *p)
{
    printf("power {\n  actuator = \"%s\"\n  aggregate = \"%s\"\n"
           "  interval_ms = %d\n  within_nodes = %s\n"
           "  energy = %s\n",
           p->actuator, aggregate_name(p->aggregate), p->interval_ms,
           p->within_nodes ? "true" : "false", p->energy ? "true" : "false");
    if (p->cap > 0)
        print_value("cap", p->cap);
    print_value("floor", p->floor);
    print_value("bound", p->bound);
    print_value("band", p->band);
    print_value("gain", p->gain);
    for (size_t i = 0; i < p->budgets; i++) {
        printf("  budget \"%s\" {\n    most = ", p->budget[i].rack);
        print_number(p->budget[i].most);
        puts("\n  }");
    }
    puts("}");
}

static void print_need(const double need[ELEMENTS])
{
    int any = 0;

    for (enum element e = 0; e < ELEMENTS; e++)
        if (need[e] > 0)
            printf("%s %c = \"%.0f\"", any++ ? "" : "  need {",
                   element_letter(e), need[e]);
    if (any)
        puts(" }");
}

static void print_profile(const struct config_profile *p)
{
    printf("profile \"%s\" {\n", p->name);
    for (enum element e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter(e), '\0'};

        if (e < ELEMENT_SITE || p->profile.influence[e] > 0)
            print_value(key, p->profile.influence[e]);
    }
    if (p->policy[0])
        printf("  policy = \"%s\"\n", p->policy);
    print_need(p->need);
    puts("}");
}

static void print_site(const struct probe_site *site)
{
    printf("\n    name = ");
    print_text(site->name);
    if (site->unit[0]) {
        printf("\n    unit = ");
        print_text(site->unit);
    }
    printf("\n    command = ");
    print_text(site->command);
    printf("\n    better = \"%s\"\n    budget_ms = %d",
           site->less ? "less" : "more", site->budget_ms);
}

static void print_probe(const struct config_probe *p)
{
    printf("probe {\n  budget_ms = %d\n  ttl = %lld\n  cache = ", p->budget_ms,
           (long long)p->ttl_s);
    print_text(p->cache);
    printf("\n  rank_by = \"%s\"\n", rank_by_name(p->rank_by));
    for (enum element e = 0; e < ELEMENTS; e++) {
        if (e >= ELEMENT_SITE && !p->site[e - ELEMENT_SITE].name[0])
            continue;
        printf("  element \"%c\" {\n    measure = %s\n    outlier = ",
               element_letter(e),
               p->elements & PROBE_BIT(e) ? "true" : "false");
        print_number(p->outlier[e]);
        if (e == ELEMENT_S && p->scratch[0]) {
            printf("\n    scratch = ");
            print_text(p->scratch);
        }
        if (e >= ELEMENT_SITE)
            print_site(&p->site[e - ELEMENT_SITE]);
        puts("\n  }");
    }
    puts("}");
}

static void print_watts(const char *key, double v, int is_given)
{
    if (!is_given)
        printf("  #");
    print_value(key, v);
}

/* Those of the example are no model of the site's nodes, so they are no
 * values. */
static void print_energy(const struct power *p, int is_given)
{
    puts("energy {");
    if (!is_given)
        puts("  # busy, idle and base are those of an example:");
    print_watts("busy", p->busy, is_given);
    print_watts("idle", p->idle, is_given);
    print_watts("base", p->base, is_given);
    print_value("link", p->link);
    puts("}");
}

static void print_threshold(const struct threshold_rule *rule)
{
    printf("  threshold = \"");
    if (rule->unit == THRESHOLD_AUTO)
        printf("auto");
    else
        print_number(rule->value);
    printf("%s\"\n", rule->unit == THRESHOLD_PERCENT ? "%" : "");
}

static void print_plugin(const struct config *c)
{
    printf("plugin {\n  on_error = \"%s\"\n", on_error_name(c->on_error));
    if (c->agent_path[0]) {
        printf("  agent_path = ");
        print_text(c->agent_path);
        putchar('\n');
    }
    printf("  policy = \"%s\"\n", c->step_policy);
    print_threshold(&c->step_threshold);
    printf("  patience = %d\n", c->step_patience_s);
    printf("  meter = \"%s\"\n", step_meter_name(c->step_meter));
    printf("  lend = %s\n", c->step_lend ? "true" : "false");
    printf("  report = %s\n", c->step_report ? "true" : "false");
    puts("}");
}

static void print_params(const char *name,
                         const struct policy_kind *kind,
                         const double value[])
{
    char span[POLICY_SPAN];

    printf("policy \"%s\" {\n", name);
    if (!kinds_find(name))
        printf("  kind = \"%s\"\n", kind->name);
    for (size_t k = 0; k < kind->n_params; k++) {
        printf("  %s = ", kind->params[k].key);
        print_number(value[k]);
        policy_option_span(&kind->params[k], span);
        printf(" # %s; %s\n", kind->params[k].help, span);
    }
    puts("}");
}

int config_print(const struct config *c)
{
    const struct policy_kind *kind;
    char text[8];

    printf("encrypt = %s\n", c->encrypt ? "true" : "false");
    printf("wireup = \"%s\"\n", wireup_way_name(c->wireup));
    print_plugin(c);
    print_probe(&c->probe);
    printf("slurm {\n  drain_interval = %d\n  job_comment = %s\n}\n",
           c->slurm.drain_interval_s, c->slurm.job_comment ? "true" : "false");
    printf("agents {\n  timeout = %d\n  linger = %d\n}\n", c->timeout_s,
           c->linger_s);
    printf("bcast {\n  branches = %u\n  chunk = %u\n  small = %u\n",
           c->bcast.branches, c->bcast.chunk, c->bcast.small);
    printf("  cache = \"%s\"\n  cache_mb = %" PRIu64 "\n", c->bcast.cache,
           c->bcast.cache_bytes / 1000000);
    printf("  exclude_libs = ");
    print_text(c->bcast.exclude_libs);
    printf("\n  compress = \"%s\"\n", pack_name(c->bcast.compress));
    printf("  transport = \"%s\"\n", transport_name(c->bcast.transport));
    printf("  threads = \"%s\"\n", threads_write(text, c->bcast.threads));
    printf("  scheme = \"%s\"\n", c->bcast.strict ? "strict" : "overlap");
    if (c->bcast.ports.high > 0)
        printf("  port_range = \"%u-%u\"\n", c->bcast.ports.low,
               c->bcast.ports.high);
    if (c->bcast.interface[0])
        printf("  interface = \"%s\"\n", c->bcast.interface);
    printf("  rails = %s\n}\n", c->bcast.rails ? "true" : "false");
    print_power(&c->power);
    print_energy(&c->energy, c->has_energy);
    for (size_t i = 0; i < c->profiles; i++)
        print_profile(&c->profile[i]);
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++)
        print_params(kind->name, kind, c->policy[i]);
    for (size_t i = 0; i < c->sets; i++)
        print_params(c->set[i].name, c->set[i].kind, c->set[i].value);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}
