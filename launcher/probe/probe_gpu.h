/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_gpu.h - core element G: the GPUs of all makers, their memory, and how
 * fast they copy it and compute.
 *
 * It asks the makers' drivers (gpu_maker.h), whose libraries are opened at run
 * time, and so sees the devices that CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES
 * and ZE_AFFINITY_MASK leave us.  A node without a driver's library or without
 * a device has 0 of it: that is measured.  What has not been measured says why:
 * a card that no library is there for, a library of another version, a driver
 * that fails.
 */
#ifndef LAUNCHER_PROBE_PROBE_GPU_H
#define LAUNCHER_PROBE_PROBE_GPU_H

#include "launcher/probe/probe_result.h"

/*
 * The probe.  value is in GB/s, read and written by copies on the device: that
 * needs no program compiled for the card (containers often have a driver
 * without its compiler), limits most work on GPUs, and is in every data sheet.
 * compute is in Gflop/s of single-precision multiply-adds, of which one counts
 * as two, by a kernel that the driver translates; where it does not, "what"
 * says why.  Both, count and capacity_bytes are of all devices together.
 * Devices are measured one by one while there is time, at least one; the others
 * count as the mean.
 */
void probe_gpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r);

#endif
