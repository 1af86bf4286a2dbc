/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/transport.h"
#include "tap.h"

#include <string.h>

int main(void)
{
    static const char *const fast[] = {"verbs;ofi_rxm", "verbs", "cxi", "efa",
                                       "opx",           "psm2",  "psm3"};
    static const char *const slow[] = {
        "tcp;ofi_rxm", "tcp", "net", "udp;ofi_rxd", "sockets", "shm",
        "verbsy",      "ver", "",    ";verbs"};
    unsigned n = 0;

    for (int t = TRANSPORT_TCP; t <= TRANSPORT_OFI; t++)
        n += transport_find(transport_name((enum transport)t)) == t;
    ok(n == 3, "each transport is found by its name");
    ok(transport_find("udp") == -1 && transport_find("") == -1,
       "and nothing else");
    n = 0;
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
        n += transport_is_fast(fast[i]) != 0;
    ok(n == sizeof fast / sizeof fast[0],
       "providers of fast networks are told, whatever they are layered on");
    n = 0;
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++)
        n += transport_is_fast(slow[i]) != 0;
    ok(n == 0, "from those over sockets, and within a host");
    done();
}
