/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for the NVIDIA Management Library, which sees all devices,
 * whatever the environment says; see stand_in.h.
 */
#include "stand_in.h"

PUBLIC int nvmlInit_v2(void);
PUBLIC int nvmlDeviceGetCount_v2(unsigned *n);
PUBLIC int nvmlDeviceGetHandleByIndex_v2(unsigned i, const void **device);
PUBLIC int nvmlDeviceGetHandleByUUID(const char *uuid, const void **device);
PUBLIC int nvmlDeviceGetMemoryInfo(const void *device,
                                   unsigned long long memory[3]);

int nvmlInit_v2(void)
{
    behave("-watch");
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = (unsigned)devices();
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, const void **device)
{
    *device = allocated;
    return i < (unsigned)devices() ? 0 : 2;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, const void **device)
{
    *device = allocated;
    return strncmp(uuid, "GPU-", 4) == 0 ? 0 : 6;
}

int nvmlDeviceGetMemoryInfo(const void *device, unsigned long long memory[3])
{
    memory[0] = device_bytes(); /* total; free and used follow */
    memory[1] = memory[0];
    memory[2] = 0;
    return device == allocated ? 0 : 2;
}
