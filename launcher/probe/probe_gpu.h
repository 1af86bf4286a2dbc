/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_gpu.h - core element G: how many GPUs, their memory, and how fast
 * they move it.
 *
 * By the CUDA driver library, opened at run time: evenstep is built and runs
 * without one.  No library or no device is 0, measured; a driver that fails
 * is not measured, with its own word for why.  The bandwidth of the device
 * memory is the figure because it needs no program compiled for the card (a
 * driver without its compiler is common in containers), bounds most of what
 * is done on GPUs, and stands in every data sheet.
 */
#ifndef LAUNCHER_PROBE_PROBE_GPU_H
#define LAUNCHER_PROBE_PROBE_GPU_H

#include "launcher/probe/probe_result.h"

#define PROBE_GPU_LIBRARY "libcuda.so.1"

/*
 * GB/s read and written in copies on the device, of all devices together;
 * count and capacity_bytes likewise.  Devices are taken in turn as long as
 * there is time, at least one; the others count as their mean.
 */
void probe_gpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r);

#endif
