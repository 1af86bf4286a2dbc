/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * omp_tool.h - what an OpenMP runtime tells of its threads by OMPT, the tools
 * interface of OpenMP 5.0: LLVM's, and those made from it, have it.
 */
#ifndef LAUNCHER_LIBEVENSTEP_OMP_TOOL_H
#define LAUNCHER_LIBEVENSTEP_OMP_TOOL_H

/* Does the runtime tell?  Then nobody else needs to. */
int omp_tool_is_on(void);

#endif
