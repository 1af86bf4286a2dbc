/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/network.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IPV4_BITS 96u /* of ::ffff:0:0 */

static int is_ipv4(const uint8_t ip[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(ip, mapped, sizeof mapped) == 0;
}

static int is_link_local(const uint8_t ip[16])
{
    return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

static int same_bits(const uint8_t a[16], const uint8_t b[16], unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    return memcmp(a, b, whole) == 0
           && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

/* --- a list --------------------------------------------------------------- */

static int parse_number(const char *text, unsigned long high, unsigned long *v)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) || strlen(text) > 10)
        return -1;
    *v = strtoul(text, &end, 10);
    return *end == '\0' && *v <= high ? 0 : -1;
}

/* "10.1.0.0/16", "fd00::/8" */
static int parse_net(const char *text, uint8_t ip[16], unsigned *prefix)
{
    char address[ADDRESS_MAX];
    size_t len = strcspn(text, "/");
    struct address a;
    unsigned long bits;

    if (text[len] != '/' || len >= sizeof address)
        return -1;
    memcpy(address, text, len);
    address[len] = '\0';
    if (strchr(address, '%') || address_parse(&a, address, 0) < 0
        || address_bytes(ip, (const struct sockaddr *)&a.at) < 0
        || parse_number(text + len + 1, a.at.ss_family == AF_INET ? 32 : 128,
                        &bits)
               < 0)
        return -1;
    *prefix = (unsigned)bits + (a.at.ss_family == AF_INET ? IPV4_BITS : 0);
    return 0;
}

/* The next word of a list; 0 at its end, -1 if it is none. */
static int next_word(const char **list, char word[ADDRESS_MAX])
{
    size_t len;

    *list += strspn(*list, " ,");
    len = strcspn(*list, " ,");
    if (len == 0)
        return 0;
    if (len >= ADDRESS_MAX)
        return -1;
    memcpy(word, *list, len);
    word[len] = '\0';
    *list += len;
    return 1;
}

static int is_word(const char *word)
{
    uint8_t ip[16];
    unsigned prefix;

    return strchr(word, '/')
               ? parse_net(word, ip, &prefix) == 0
               : strlen(word) < NETWORK_NAME_MAX && !strchr(word, ':');
}

int network_list_check(const char *list)
{
    char word[ADDRESS_MAX];
    unsigned n = 0;
    int rc;

    if (strlen(list) >= NETWORK_LIST_MAX)
        return -1;
    while ((rc = next_word(&list, word)) > 0)
        if (!is_word(word) || ++n > UINT8_MAX)
            return -1;
    return rc;
}

int network_place(const char *list, const char *name, const uint8_t ip[16])
{
    char word[ADDRESS_MAX];
    uint8_t net[16];
    unsigned prefix;

    for (int place = 0; next_word(&list, word) > 0; place++)
        if (strchr(word, '/') ? parse_net(word, net, &prefix) == 0
                                    && same_bits(net, ip, prefix)
                              : fnmatch(word, name, 0) == 0)
            return place;
    return -1;
}

/* --- those of a node ------------------------------------------------------ */

static int is_better(const struct network *a, const struct network *b)
{
    if (a->mbps != b->mbps)
        return a->mbps > b->mbps;
    if (a->place != b->place)
        return a->place < b->place;
    return is_ipv4(a->ip) && !is_ipv4(b->ip);
}

static void take_out(struct networks *all, uint32_t i)
{
    all->n--;
    memmove(all->at + i, all->at + i + 1, (all->n - i) * sizeof *all->at);
}

/* Is b needless beside a, or 0? */
static int covers(const struct network *a, const struct network *b)
{
    if (strcmp(a->name, b->name) != 0)
        return 0;
    if (is_link_local(b->ip))
        return 1;
    return is_ipv4(a->ip) == is_ipv4(b->ip) && !is_link_local(a->ip);
}

void networks_add(struct networks *all, const struct network *one)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < all->n; i++)
        if (covers(&all->at[i], one))
            return;
    for (uint32_t i = all->n; i > 0; i--)
        if (covers(one, &all->at[i - 1]))
            take_out(all, i - 1);
    while (at < all->n && !is_better(one, &all->at[at]))
        at++;
    if (at == NETWORKS_MAX)
        return;
    if (all->n == NETWORKS_MAX)
        all->n--;
    memmove(all->at + at + 1, all->at + at, (all->n - at) * sizeof *all->at);
    all->at[at] = *one;
    all->n++;
}

/* --- two nodes ------------------------------------------------------------ */

static int are_together(const struct network *a, const struct network *b)
{
    return a->prefix == b->prefix && same_bits(a->ip, b->ip, a->prefix)
           && (!is_link_local(a->ip) || strcmp(a->name, b->name) == 0);
}

/* The best of what is not used yet, as bits; -1: none. */
static int best_pair(const struct networks *a,
                     const struct networks *b,
                     unsigned used_a,
                     unsigned used_b,
                     uint32_t pair[2])
{
    struct network best = {0};
    int found = -1;

    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t j = 0; j < b->n; j++) {
            struct network here = a->at[i];

            if (used_a >> i & 1 || used_b >> j & 1
                || !are_together(&here, &b->at[j]))
                continue;
            if (b->at[j].mbps < here.mbps)
                here.mbps = b->at[j].mbps;
            if (found == 0 && !is_better(&here, &best))
                continue;
            best = here;
            pair[0] = i;
            pair[1] = j;
            found = 0;
        }
    return found;
}

/* The addresses of one interface, as bits. */
static unsigned of_interface(const struct networks *all, uint32_t one)
{
    unsigned bits = 0;

    for (uint32_t i = 0; i < all->n; i++)
        if (strcmp(all->at[i].name, all->at[one].name) == 0)
            bits |= 1u << i;
    return bits;
}

int networks_common(const struct networks *mine,
                    const struct networks *theirs,
                    unsigned rail,
                    const struct network **here,
                    const struct network **there)
{
    unsigned used_a = 0, used_b = 0;
    uint32_t pair[2] = {0, 0};

    for (unsigned i = 0; i <= rail; i++) {
        if (best_pair(mine, theirs, used_a, used_b, pair) < 0)
            return -1;
        used_a |= of_interface(mine, pair[0]);
        used_b |= of_interface(theirs, pair[1]);
    }
    *here = &mine->at[pair[0]];
    *there = &theirs->at[pair[1]];
    return 0;
}

void network_address(struct address *a,
                     const struct network *there,
                     uint32_t scope,
                     uint16_t port)
{
    address_of_bytes(a, there->ip, is_link_local(there->ip) ? scope : 0, port);
}

/* --- text ----------------------------------------------------------------- */

static unsigned prefix_as_written(const struct network *n)
{
    return is_ipv4(n->ip) && n->prefix >= IPV4_BITS ? n->prefix - IPV4_BITS
                                                    : n->prefix;
}

void networks_format(const struct networks *all, char *text, size_t size)
{
    size_t len = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < all->n && len < size; i++) {
        const struct network *n = &all->at[i];
        char address[ADDRESS_MAX];
        struct address a;

        address_of_bytes(&a, n->ip, 0, 0);
        (void)address_format(address, (const struct sockaddr *)&a.at);
        len +=
            (size_t)snprintf(text + len, size - len, " %s/%u,%u,%u,%s", address,
                             prefix_as_written(n), n->mbps, n->place, n->name);
    }
}

/* A number up to c, which is passed. */
static int take_number(char **at, char c, unsigned long high, unsigned long *v)
{
    char *end = strchr(*at, c);
    int rc;

    if (!end)
        return -1;
    *end = '\0';
    rc = parse_number(*at, high, v);
    *at = end + 1;
    return rc;
}

/* One word of it, which is taken apart. */
static int parse_one(struct network *n, char *word)
{
    char *comma = strchr(word, ',');
    unsigned prefix;
    unsigned long mbps, place;

    memset(n, 0, sizeof *n);
    if (!comma)
        return -1;
    *comma++ = '\0';
    if (parse_net(word, n->ip, &prefix) < 0
        || take_number(&comma, ',', UINT32_MAX, &mbps) < 0
        || take_number(&comma, ',', UINT8_MAX, &place) < 0 || !*comma
        || strlen(comma) >= sizeof n->name)
        return -1;
    n->prefix = (uint8_t)prefix;
    n->mbps = (uint32_t)mbps;
    n->place = (uint8_t)place;
    memcpy(n->name, comma, strlen(comma) + 1);
    return 0;
}

/* Are these just what the text says, and no other text says? */
static int is_written_so(const struct networks *all, const char *text)
{
    char again[NETWORKS_TEXT_MAX];

    networks_format(all, again, sizeof again);
    return strcmp(again, text) == 0;
}

int networks_parse(struct networks *all, const char *text)
{
    const char *whole = text;
    char word[NETWORK_TEXT_MAX];

    memset(all, 0, sizeof *all);
    while (*text) {
        size_t len = *text == ' ' ? strcspn(text + 1, " ") : 0;

        if (len == 0 || len >= sizeof word || all->n == NETWORKS_MAX)
            break;
        memcpy(word, text + 1, len);
        word[len] = '\0';
        if (parse_one(&all->at[all->n], word) < 0)
            break;
        all->n++;
        text += len + 1;
    }
    if (*text == '\0' && is_written_so(all, whole))
        return 0;
    memset(all, 0, sizeof *all);
    return -1;
}
