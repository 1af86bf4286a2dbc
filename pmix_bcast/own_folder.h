/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_folder.h - folders that an agent makes on a node, of the user alone: made,
 * removed with all that is in them, and removed for an agent that was killed.
 *
 * An agent locks its folder (flock(2)) for as long as it lives.
 */
#ifndef PMIX_BCAST_OWN_FOLDER_H
#define PMIX_BCAST_OWN_FOLDER_H

/* Create or take over a folder that is ours alone; a descriptor, or -1 with
 * errno. */
int own_folder_open(int at, const char *name);
/* Open a folder that is there and no mount point; a descriptor, or -1 with
 * errno: EXDEV if it is one. */
int own_folder_enter(int at, const char *name);
/* Remove as much as possible of it, at any depth; what is left does no harm.
 * What is mounted in it stays as it is. */
void own_folder_remove(int at, const char *name);
/* Remove the folders called <prefix>...-<node> in a folder which are ours, and
 * locked by nobody; but not one that has a file `kept` (NULL: all).  Those of
 * other nodes stay: their locks may not be visible here. */
void own_folder_sweep(const char *folder,
                      const char *prefix,
                      const char *node,
                      const char *kept);

#endif
