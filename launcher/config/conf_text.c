/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/config/conf_text.h"

#include <stdio.h>
#include <string.h>

#define NOT_IN_WORD " \t\r\n\"'#{}()=,+*"

/* --- tokens, as libconfuse's lexer has them ------------------------------- */

static const char *skip_string(const char *p)
{
    char quote = *p++;

    while (*p && *p != quote)
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p ? p + 1 : p;
}

static const char *skip_comment(const char *p)
{
    const char *end;

    if (*p == '#' || (p[0] == '/' && p[1] == '/'))
        return p + strcspn(p, "\n");
    if (p[0] != '/' || p[1] != '*')
        return p;
    end = strstr(p + 2, "*/");
    return end ? end + 2 : p + strlen(p);
}

/* Space and comments. */
static const char *skip_space(const char *p)
{
    for (;;) {
        const char *after = skip_comment(p + strspn(p, " \t\r\n"));

        if (after == p)
            return p;
        p = after;
    }
}

/* One token, which is more than nothing unless the text ends. */
static const char *skip_token(const char *p)
{
    size_t word = strcspn(p, NOT_IN_WORD);

    if (*p == '"' || *p == '\'')
        return skip_string(p);
    if (word > 0)
        return p + word;
    return *p ? p + 1 : p;
}

/* From a '{' behind its '}'; NULL: it has none. */
static const char *skip_braces(const char *p)
{
    int depth = 0;

    while (*p) {
        depth += (*p == '{') - (*p == '}');
        p = skip_token(p);
        if (depth == 0)
            return p;
        p = skip_space(p);
    }
    return NULL;
}

/* What follows a key: `= value`, `+= { list }`, or `"title" { section }`. */
static const char *skip_value(const char *p)
{
    p = skip_space(p);
    if (*p == '"' || *p == '\'')
        p = skip_space(skip_string(p));
    else if (*p == '=' || (p[0] == '+' && p[1] == '='))
        p = skip_space(p + (*p == '+' ? 2 : 1));
    else if (*p != '{')
        return NULL;
    if (*p == '{')
        return skip_braces(p);
    return *p && *p != '}' ? skip_token(p) : NULL;
}

static void blank(char *from, const char *end)
{
    for (; from < end; from++)
        if (*from != '\n')
            *from = ' ';
}

void conf_text_blank_comments(char *text)
{
    char *p = text;

    while (*p) {
        const char *after = skip_comment(p);

        if (after == p) {
            p += skip_token(p) - p;
        } else {
            if (*after || p[1] != '*' || (after[-2] == '*' && after - p >= 4))
                blank(p, after);
            p += after - p;
        }
    }
}

/* --- versions ------------------------------------------------------------- */

static int read_version(unsigned v[3], const char *text)
{
    int len = 0, n;

    v[0] = v[1] = v[2] = 0;
    n = sscanf(text, "%4u.%4u%n.%4u%n", &v[0], &v[1], &len, &v[2], &len);
    return n >= 2 ? len : 0;
}

int conf_text_is_version(const char *text)
{
    unsigned v[3];
    int len = read_version(v, text);

    return len > 0 && text[len] == '\0'
           && strspn(text, "0123456789.") == (size_t)len;
}

static int is_after(const char *text, const char *ours)
{
    unsigned theirs[3], own[3];

    if (!read_version(theirs, text) || !read_version(own, ours))
        return 0;
    for (int i = 0; i < 3; i++)
        if (theirs[i] != own[i])
            return theirs[i] > own[i];
    return 0;
}

/* The key that is not within a section. */
int conf_text_is_newer(const char *text, const char *ours)
{
    static const char key[] = "version";
    const char *p = skip_space(text);
    int depth = 0;

    while (*p) {
        const char *after = skip_token(p), *value = skip_space(after);

        if (depth == 0 && (size_t)(after - p) == strlen(key)
            && strncmp(p, key, strlen(key)) == 0 && *value == '=') {
            value = skip_space(value + 1);
            return *value == '"' && is_after(value + 1, ours);
        }
        depth += (*p == '{') - (*p == '}');
        p = skip_space(after);
    }
    return 0;
}

int conf_text_blank_key(char *text, int line, const char *key)
{
    const char *p = skip_space(text), *counted = text, *end;

    for (int at = 1; *p; p = skip_space(skip_token(p))) {
        size_t len = (size_t)(skip_token(p) - p);

        for (; counted < p; counted++)
            at += *counted == '\n';
        if (at > line)
            return -1;
        if (at < line || len != strlen(key) || strncmp(p, key, len) != 0)
            continue;
        end = skip_value(p + len);
        if (!end)
            return -1;
        blank(text + (p - text), end);
        return 0;
    }
    return -1;
}
