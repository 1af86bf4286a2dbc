/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team_thread.h - what each thread of a rank's OpenMP team does, in a slot of its
 * own in the meter page: so the agent sees them one by one.
 *
 * Of the one team that the metered thread leads.  Where teams are nested, or several
 * at a time, or a thread calls MPI besides the metered one, the threads' times do
 * not say who is waited for: then none of them is told any more.
 *
 * No call takes a lock, or memory but a slot of the page, once a thread.
 */
#ifndef LAUNCHER_LIBEVENSTEP_TEAM_THREAD_H
#define LAUNCHER_LIBEVENSTEP_TEAM_THREAD_H

#include "launcher/libevenstep/meter_page.h"

/* Regions are those that the entry beside this slot counts, from now on. */
void team_thread_start(struct meter_page *page, uint32_t slot);
/* No thread is told any more. */
void team_thread_stop(void);
/* In a child after fork(): the page is the parent's. */
void team_thread_forget(void);

/* This thread begins its part in a team of several. */
void team_thread_enter(int is_metered, int is_first, uint64_t now_ns);
/* Within it, it waits, and goes on. */
void team_thread_wait(uint64_t now_ns);
void team_thread_resume(uint64_t now_ns);
/* It has left it. */
void team_thread_leave(void);
/* It calls MPI. */
void team_thread_call(void);

#endif
