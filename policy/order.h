/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.h - a stable sort of indices by their keys.
 */
#ifndef POLICY_ORDER_H
#define POLICY_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sort index[0 .. n) so that key[index[i]] descends; equals stay as they are.
 * scratch has room for n.  O(n log n).
 */
void order_descending(uint32_t index[],
                      uint32_t scratch[],
                      size_t n,
                      const int64_t key[]);

#endif
