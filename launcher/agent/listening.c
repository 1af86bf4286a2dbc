/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/listening.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LISTEN 0x0au /* TCP_LISTEN of the kernel's tcp_states.h */
#define LINE   256   /* bytes; they have 150 */

/* Addresses are in words of the machine's byte order, which hold the bytes as
 * they go over the wire. */
static int read_address(uint8_t ip[16], const char *hex, size_t len)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    uint32_t word[4];

    if (len == 32) {
        if (sscanf(hex, "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 "%8" SCNx32,
                   &word[0], &word[1], &word[2], &word[3])
            != 4)
            return -1;
        memcpy(ip, word, sizeof word);
        return 0;
    }
    if (len != 8 || sscanf(hex, "%8" SCNx32, &word[0]) != 1)
        return -1;
    memcpy(ip, mapped, sizeof mapped);
    memcpy(ip + 12, word, sizeof word[0]);
    return 0;
}

/* 0.0.0.0 or :: */
static int is_any(const uint8_t ip[16])
{
    static const uint8_t none[16], v4[16] = {[10] = 0xff, [11] = 0xff};

    return memcmp(ip, none, 16) == 0 || memcmp(ip, v4, 16) == 0;
}

int listening_line(const char *line, const uint8_t ip[16], uint16_t port)
{
    char address[33];
    uint8_t at[16];
    unsigned its_port, state;

    return sscanf(line, " %*u: %32[0-9A-F]:%4x %*[0-9A-F]:%*4x %2x", address,
                  &its_port, &state)
               == 3
           && state == LISTEN && its_port == port
           && read_address(at, address, strlen(address)) == 0
           && (is_any(at) || memcmp(at, ip, 16) == 0);
}

static enum listening look_in(const char *file,
                              const uint8_t ip[16],
                              uint16_t port)
{
    FILE *f = fopen(file, "re");
    enum listening found = LISTENING_NO;
    char line[LINE];

    if (!f)
        return LISTENING_UNKNOWN;
    while (found == LISTENING_NO && fgets(line, sizeof line, f))
        if (listening_line(line, ip, port))
            found = LISTENING_YES;
    (void)fclose(f); /* only read from */
    return found;
}

enum listening listening_at(const uint8_t ip[16], uint16_t port)
{
    enum listening v4 = look_in("/proc/self/net/tcp", ip, port);
    enum listening v6 = v4 == LISTENING_YES
                            ? LISTENING_YES
                            : look_in("/proc/self/net/tcp6", ip, port);

    /* Without IPv6 there is no such file. */
    return v6 == LISTENING_YES ? v6 : v4;
}
