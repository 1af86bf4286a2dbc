/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * canon.h - a fixed amount from the last node to the others, as in US
 * 8,645,454.
 *
 * First loads are JL.  After a frame whose difference is over the threshold,
 * the launcher's and `threshold`:
 *
 * 11. The core element with the highest influence factor is adjusted (a tie:
 *     the first of C M I B S G).  The last node's CU of it goes down by
 *     `step` percent points; what was taken is given to the other nodes, each
 *     in proportion to its present CU of it.  The sum stays.  Variants: the
 *     CU of the `worst` last nodes goes down, and that of the rest up; so it
 *     is done with each of the `elements` of the highest influence.
 * 12. JL is recomputed from the adjusted CU.
 *
 * What the publication leaves open:
 *  a. CU never goes below 0: what is given is what was really taken.
 *  b. Times of nodes without a slice do not count; of two equally late nodes
 *     the lower index is last.  One node that had a slice is never among the
 *     worst, if there are two.
 *  c. If the CU of all others is 0 there is no proportion: equal parts.
 *  d. With nobody else there, nothing moves.
 *  e. A node that leaves takes its CU with it (all elements become 0), and 12
 *     follows at once, threshold or not: JL's scaling to 100 hands its share
 *     to the rest in proportion to their JL.
 *  f. A node whose JL is 0 gets no slice and so never is last; it stays among
 *     those that are given to (11), but if its CU is 0 too, only a new
 *     qualification brings it back.
 *
 * Unlike there, an element that no node has is passed over in 11, because moving
 * its CU would change no JL, ever.  Its Table 5 is the test's vector.
 */
#ifndef POLICY_CANON_H
#define POLICY_CANON_H

#include "policy/policy.h"

#define CANON_STEP 5 /* percent points moved at a time, as in Table 5 */

extern const struct policy_kind canon_kind;

/*
 * Step 11 alone, on the CU of element j of n nodes.
 *
 *   m       CU[j] is changed, nothing else
 *   c       presence says who is given to
 *   late    n values; not 0 = is taken from
 *   points  percent points to take from each
 *
 * Returns 1 if something moved, else 0.  O(n).
 */
int canon_move(struct metric m[],
               const struct completion c[],
               size_t n,
               enum element j,
               const unsigned char late[],
               double points);

#endif
