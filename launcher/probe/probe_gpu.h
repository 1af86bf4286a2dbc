/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_gpu.h - core element G: the number of GPUs, the size of their memory
 * and its bandwidth.
 *
 * It uses the CUDA driver library, which is opened at run time; evenstep is
 * built and runs without it.  Without a library or a device the result is 0. 
 * If the driver fails, the element is not measured, and the driver's error says
 * why.  The value is the bandwidth of the device memory: that needs no program
 * compiled for the card (containers often have a driver without its compiler),
 * limits most work on GPUs, and is in every data sheet.
 */
#ifndef LAUNCHER_PROBE_PROBE_GPU_H
#define LAUNCHER_PROBE_PROBE_GPU_H

#include "launcher/probe/probe_result.h"

#define PROBE_GPU_LIBRARY "libcuda.so.1"

/*
 * The probe, in GB/s read and written by copies on the device.  value, count
 * and capacity_bytes are for all devices together.  Devices are measured one by
 * one while there is time, at least one; the others count as the mean.
 */
void probe_gpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r);

#endif
