/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * speculation.h - a piece that is late is done twice at once, and the first good
 * answer counts.
 *
 * When all of a frame is sent, it ends with the piece that ends last.  Where a
 * node is idle that would have done the same units sooner, from their begin, it
 * gets a copy of that piece:
 *
 *   end(piece) - (now + seconds(node)) > max(1 s, 2 spreads of the difference)
 *
 *   seconds   what it takes there by its costs (cost.h), with its start; while
 *             they are not known, units / the node's speed, which none has that
 *             has done nothing yet
 *   end       begun + seconds, or with a meter as fast as it was so far.  What
 *             takes longer than two spreads more is late for a reason that
 *             nobody knows, and is taken to last as long again.
 *
 * The piece that ends last is looked at alone: while it cannot be helped, nothing
 * else makes the frame end sooner.  A piece and its copy are on two machines.
 * There is one copy at a time: when one of the two fails, that does not count,
 * and there is no other copy; when one is lost with its node, there may be.
 *
 * What a node has not done in the time that it was beaten in counts as if it had
 * just done it, for its costs: they are that at least, and so it has less to do in
 * the next frame.
 *
 * A node that hangs so costs as much time again as another takes for its piece,
 * and nothing where no node is idle.  Only for commands that may run twice at
 * once.
 */
#ifndef POLICY_SPECULATION_H
#define POLICY_SPECULATION_H

#include "policy/dispatch.h"

#define SPECULATION_LEAST_S 1.0 /* gain */
#define SPECULATION_NOISES  2.0
/* Of what nothing is known but a node's mean speed. */
#define SPECULATION_NOISE 0.25

#endif
