/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for AMD's ROCm SMI, which sees all devices, whatever the
 * environment says; see stand_in.h.  A device's id is 0x8f00 and its number.
 */
#include "stand_in.h"

PUBLIC int rsmi_init(uint64_t flags);
PUBLIC int rsmi_num_monitor_devices(uint32_t *n);
PUBLIC int rsmi_dev_unique_id_get(uint32_t i, uint64_t *id);
PUBLIC int rsmi_dev_memory_total_get(uint32_t i, int type, uint64_t *bytes);

int rsmi_init(uint64_t flags)
{
    behave("-watch");
    return flags ? 1 : 0;
}

int rsmi_num_monitor_devices(uint32_t *n)
{
    *n = (uint32_t)devices();
    return 0;
}

int rsmi_dev_unique_id_get(uint32_t i, uint64_t *id)
{
    *id = 0x8f00 + i;
    return 0;
}

int rsmi_dev_memory_total_get(uint32_t i, int type, uint64_t *bytes)
{
    *bytes = device_bytes();
    return i < (uint32_t)devices() && type == 0 ? 0 : 1;
}
