/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nodethreads.h - JPPF's nodethreads: a bundle for each thread of the node.
 *
 * size = threads * multiplicator, in 32 bits that wrap; 1 until the threads are
 * known.  Neither the job nor what comes back changes it.
 */
#ifndef POLICY_NODETHREADS_H
#define POLICY_NODETHREADS_H

#include "policy/policy.h"

extern const struct policy_kind nodethreads_kind;

#endif
