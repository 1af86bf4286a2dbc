/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of all commands make sense. */
#include "launcher/commands.h"
#include "launcher/base/options.h"
#include "tap.h"

#define LARGE (1 << 20) /* bytes, more than any struct that is filled */

/* Of the member that an option of this type sets. */
static int is_width(const struct option *o)
{
    switch (o->type) {
    case OPTION_FLAG:
    case OPTION_WORD:
        return o->width == sizeof(int);
    case OPTION_COUNT:
    case OPTION_SIZE:
        return o->width == sizeof(uint32_t) || o->width == sizeof(uint64_t);
    case OPTION_RANGE:
        return o->width == sizeof(struct option_range);
    case OPTION_TEXT:
        return o->width == sizeof(char *);
    case OPTION_TAKE:
        return o->take != NULL;
    default:
        return o->width == sizeof(double);
    }
}

static const struct option *find(const struct subcommand *c,
                                 const char *name,
                                 size_t len)
{
    for (const struct option *o = c->option; o->type != OPTION_END; o++)
        if (o->type != OPTION_GROUP && strlen(o->name) == len
            && strncmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

/* Those that excludes or needs name are there. */
static int are_there(const struct subcommand *c, const char *names)
{
    while (names && *names) {
        size_t len = strcspn(names, " ");

        if (!find(c, names, len))
            return 0;
        names += len + (names[len] == ' ');
    }
    return 1;
}

/* No other has its name or letter, nor has --help. */
static int is_unique(const struct subcommand *c, const struct option *o)
{
    for (const struct option *p = c->option; p->type != OPTION_END; p++) {
        if (p == o || p->type == OPTION_GROUP)
            continue;
        if (strcmp(p->name, o->name) == 0
            || (p->letter && p->letter == o->letter)
            || (p->alias && strcmp(p->alias, o->name) == 0))
            return 0;
    }
    return strcmp(o->name, "help") != 0 && o->letter != 'h';
}

/* Is it one of the actions that the operands begin with: "this|that FILE"? */
static int is_action(const char *operands, const char *action)
{
    size_t all = strcspn(operands, " "), n = strlen(action);

    for (const char *at = operands; at < operands + all;
         at += strcspn(at, "| ") + 1)
        if (strcspn(at, "| ") == n && strncmp(at, action, n) == 0)
            return 1;
    return 0;
}

static void check_option(const struct subcommand *c, const struct option *o)
{
    struct es_error err = {0};
    void *into = calloc(1, LARGE);

    if (!into)
        bail("no memory");
    ok(is_unique(c, o), "%s --%s: a name and a letter of its own", c->name,
       o->name);
    ok(is_width(o) && o->offset + o->width < LARGE,
       "%s --%s: sets a member of its type", c->name, o->name);
    ok((o->type == OPTION_FLAG) == !o->value && o->help && *o->help,
       "%s --%s: has a value unless it is a flag, and help", c->name, o->name);
    ok(o->high == 0 || o->low < o->high, "%s --%s: low is below high", c->name,
       o->name);
    ok(!o->def || (!o->required && option_store(o, into, o->def, &err) == 0),
       "%s --%s: its default can be taken", c->name, o->name);
    ok(!o->bare || option_store(o, into, o->bare, &err) == 0,
       "%s --%s: what it has without a value can be taken", c->name, o->name);
    ok(are_there(c, o->excludes) && are_there(c, o->needs),
       "%s --%s: the others it speaks of are there", c->name, o->name);
    ok(!o->only || is_action(c->operands, o->only),
       "%s --%s: is for an action that there is", c->name, o->name);
    free(into);
}

/* Lines are ended, and short enough for a terminal. */
static int is_text(const char *text)
{
    while (text && *text) {
        size_t len = strcspn(text, "\n");

        if (len > 80 || !text[len])
            return 0;
        text += len + 1;
    }
    return 1;
}

/* Is it none of ours, of one meaning, and ours where it says so? */
static void check_habit(const struct subcommand *c,
                        const struct option_habit *h)
{
    const struct option *o = h->as ? find(c, h->as, strlen(h->as)) : NULL;
    char typed[40];
    int is_new = 1;

    if (h->name)
        snprintf(typed, sizeof typed, "--%s", h->name);
    else
        snprintf(typed, sizeof typed, "-%c", h->letter);
    for (const struct option *p = c->option; p->type != OPTION_END; p++)
        if (options_has(c, p)
            && ((h->name
                 && (strcmp(p->name, h->name) == 0
                     || (p->alias && strcmp(p->alias, h->name) == 0)))
                || (h->letter && h->letter == p->letter)))
            is_new = 0;
    for (const struct option_habit *p = c->habit; p < h; p++)
        if ((h->name && p->name && strcmp(p->name, h->name) == 0)
            || (h->letter && h->letter == p->letter))
            is_new = 0;
    ok(is_new && (h->name || h->letter), "%s %s: is no other's name", c->name,
       typed);
    ok(!h->as || (!h->answer && o && (!h->letter || o->value)),
       "%s %s: is one of ours, or there is an answer", c->name, typed);
    ok(!h->answer || strlen(h->answer) < 120, "%s %s: a short answer", c->name,
       typed);
}

static void check(const struct subcommand *c)
{
    int n = 0;

    for (const struct option_habit *h = c->habit; h && h->whose; h++)
        check_habit(c, h);
    for (const struct option *o = c->option; o->type != OPTION_END; o++, n++)
        if (o->type != OPTION_GROUP)
            check_option(c, o);
    ok(n <= OPTIONS_MAX, "%s: the parser has room for %d", c->name, n);
    ok(is_text(c->about) && c->about[0] && is_text(c->end),
       "%s: its help has whole lines that fit", c->name);
    for (size_t i = 0; c->sub && c->sub[i]; i++)
        check(c->sub[i]);
}

int main(void)
{
    struct es_error err = {0};
    size_t n = 0;

    for (; commands[n]; n++) {
        check(commands[n]);
        ok(command_find(commands[n]->name, &err) == commands[n], "%s is found",
           commands[n]->name);
    }
    is_int((intmax_t)n, 17, "seventeen commands");
    ok(!command_find("", &err) && err.kind == ES_USAGE, "\"\" is none");
    return done();
}
