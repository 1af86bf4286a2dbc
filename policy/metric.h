/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metric.h - from what the nodes measured to their job load metric.
 *
 * Steps 4 to 7 and 12 of the loop of US 8,645,454, with its words and
 * letters.
 * Pure: no allocation, no I/O, no clock, no globals.
 */
#ifndef POLICY_METRIC_H
#define POLICY_METRIC_H

#include <stddef.h>

/*
 * The six core elements, and after them those that a site adds to suit its kind
 * of work, as US 8,645,454 allows.  They index every array [ELEMENTS]; what
 * nobody measures is 0 for all nodes and has no part in anything.
 */
enum element {
    ELEMENT_C,    /* CPU */
    ELEMENT_M,    /* system memory */
    ELEMENT_I,    /* interconnect */
    ELEMENT_B,    /* system bus */
    ELEMENT_S,    /* storage */
    ELEMENT_G,    /* GPU */
    ELEMENT_SITE, /* W, the first of the site's own */
    ELEMENTS = ELEMENT_SITE + 4
};

#define SITE_ELEMENTS   (ELEMENTS - ELEMENT_SITE)
#define ELEMENT_LETTERS "CMIBSGWXYZ" /* in the order of the enum */

/* How much an element matters to the work: I_j, each finite and >= 0. */
struct profile {
    double influence[ELEMENTS];
};

/* One node's numbers, all in percent (CU in percent points). */
struct metric {
    double X[ELEMENTS];  /* share of what all nodes measured */
    double CM[ELEMENTS]; /* capability metric */
    double CU[ELEMENTS]; /* capacity utilization; what adjusting changes */
    double JL;           /* job load metric; adds up to 100 over the nodes */
};

/*
 * Rank n nodes by their qualification results.
 *
 *   measured  n rows; any unit per element, finite and >= 0, more is better;
 *             0 where a node has no such element
 *   m         n results
 *
 * 4. X = 100 * measured / sum over the nodes; 0 everywhere if nobody has any.
 * 5. CM = X * I.
 * 6. CU = 100 * CM / X, and 100 * I where X is 0: so 100 * I for all.
 * 7. JL = sum over the elements of CU * X * I, scaled to add up to 100.
 *
 * Returns 0, or -1 if n is 0, a value breaks the rules above, or no node has
 * any load: nothing was measured in an element with influence (m untouched).
 * O(n).
 */
int metric_rank(const double measured[][ELEMENTS],
                const struct profile *p,
                struct metric m[],
                size_t n);

/* An element that more than this part of the nodes could not measure is left
 * out: with a guess for so many it would say more about the probe. */
#define METRIC_UNKNOWN_MOST 0.1

/*
 * Fill in what could not be measured: a value that is NaN becomes the median
 * of what the other nodes measured in that element.  Not 0: a probe that
 * failed says nothing against its node.  But where more than
 * METRIC_UNKNOWN_MOST of the nodes have none, the element is 0 for all and so
 * has no part in their JL.
 *
 *   scratch  room for n values
 *   left_out set to 1 for elements that were measured and left out all the
 *            same, else to 0
 *
 * O(n).
 */
void metric_complete(double measured[][ELEMENTS],
                     double scratch[],
                     int left_out[ELEMENTS],
                     size_t n);

/* Nodes whose values of an element differ by no more than this factor are
 * alike in it: more than two probes of the same memory differ by. */
#define METRIC_ALIKE 1.2

/*
 * Leave out, as 0 for all, the elements with influence in which the nodes are
 * alike, but for the one that counts most: of those with the highest influence
 * that anybody measured the first, as in step 11.
 *
 * JL adds up shares.  What all nodes have the same of says nothing about who
 * can do more, and draws together the shares of those that differ: with equal
 * links, memory and buses the publication's CPU-heavy profile (C 0.3, M 0.3,
 * I 0.2, B 0.15) would give the nodes at 80, 40, 20 and 10 % of a core 36, 26,
 * 21 and 18 % of the work.  But where the element that counts most is what
 * they are alike in, they are alike for this work.  O(n).
 *
 * Unlike US 8,645,454, which ranks by all elements that have influence.
 */
void metric_leave_out_alike(double measured[][ELEMENTS],
                            const struct profile *p,
                            size_t n);

/*
 * Recompute JL of n nodes from their X and CU.
 *
 * Returns 0, or -1 if no node has any load or a value is not finite or
 * negative (m untouched).  O(n).
 */
int metric_load(struct metric m[], const struct profile *p, size_t n);

/* The element of a letter of ELEMENT_LETTERS, or ELEMENTS if it is none. */
enum element element_of(char letter);

/* The letter of an element; e < ELEMENTS. */
char element_letter(enum element e);

#endif
