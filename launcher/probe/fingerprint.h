/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fingerprint.h - what a node is made of, as one line of text: nodes with the
 * same line are of one kind and should measure alike.  When the line of a node
 * has changed, its earlier results are not used.
 *
 * "AMD EPYC 9654 96-Core Processor, CPUs 0-383, 768 GiB, 4 x 10de:2335"
 */
#ifndef LAUNCHER_PROBE_FINGERPRINT_H
#define LAUNCHER_PROBE_FINGERPRINT_H

#define FINGERPRINT_MAX 256 /* with its NUL; longer ones are cut */
#define BOOT_ID_MAX     40  /* a UUID, its NUL included, and some */

/*
 * Of the whole machine, whatever part of it this process may use.  Memory is
 * rounded to an eighth of its magnitude, because what firmware and kernel keep
 * differs by a little between nodes and boots.  What cannot be read is left
 * out.  Below a millisecond.
 */
void fingerprint_take(char text[FINGERPRINT_MAX],
                      const char *proc,
                      const char *sysfs);

#endif
