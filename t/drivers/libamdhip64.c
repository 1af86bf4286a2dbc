/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for AMD's HIP runtime; see stand_in.h.
 */
#include "stand_in.h"

PUBLIC int hipInit(unsigned flags);
PUBLIC int hipGetDeviceCount(int *n);
PUBLIC int hipDeviceGet(int *device, int i);
PUBLIC int hipDeviceGetName(char *name, int len, int device);
PUBLIC int hipDeviceTotalMem(size_t *bytes, int device);
PUBLIC int hipSetDevice(int i);
PUBLIC int hipDeviceReset(void);
PUBLIC int hipDeviceSynchronize(void);
PUBLIC int hipMalloc(void **memory, size_t bytes);
PUBLIC int hipMemcpyDtoDAsync(void *to,
                              const void *from,
                              size_t bytes,
                              const void *stream);
PUBLIC int hipMemcpyDtoH(void *to, const void *from, size_t bytes);
PUBLIC const char *hipGetErrorName(int error);
PUBLIC int hipModuleLoadData(void **module, const char *image);
PUBLIC int hipModuleGetFunction(void **function,
                                void *module,
                                const char *name);
PUBLIC int hipModuleLaunchKernel(const void *function,
                                 unsigned grid_x,
                                 unsigned grid_y,
                                 unsigned grid_z,
                                 unsigned block_x,
                                 unsigned block_y,
                                 unsigned block_z,
                                 unsigned shared_bytes,
                                 const void *stream,
                                 void **argument,
                                 void **extra);

int hipInit(unsigned flags)
{
    behave("");
    return flags ? 1 : asked("init", 1) > 0 ? asked("init", 1) : 0;
}

/* As the driver, none is an error. */
int hipGetDeviceCount(int *n)
{
    *n = left_by("ROCR_VISIBLE_DEVICES");
    return *n > 0 ? 0 : 100;
}

int hipDeviceGet(int *device, int i)
{
    *device = i;
    return i < devices() ? 0 : 101;
}

int hipDeviceGetName(char *name, int len, int device)
{
    snprintf(name, (size_t)len, "%s", device_name());
    return device < devices() ? 0 : 101;
}

int hipDeviceTotalMem(size_t *bytes, int device)
{
    *bytes = device_bytes();
    return device < devices() ? 0 : 101;
}

int hipSetDevice(int i)
{
    return i < devices() ? 0 : 101;
}

int hipDeviceReset(void)
{
    release_all();
    return 0;
}

int hipDeviceSynchronize(void)
{
    return 0;
}

#ifndef OLD
int hipMalloc(void **memory, size_t bytes)
{
    *memory = allocate(bytes);
    return *memory ? 0 : asked("alloc", 1) > 0 ? asked("alloc", 1) : 2;
}
#endif

int hipMemcpyDtoDAsync(void *to,
                       const void *from,
                       size_t bytes,
                       const void *stream)
{
    copy(to, from, bytes);
    return stream ? 400 : 0;
}

int hipMemcpyDtoH(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}

const char *hipGetErrorName(int error)
{
    return error == 2     ? "hipErrorOutOfMemory"
           : error == 3   ? "hipErrorNotInitialized"
           : error == 209 ? "hipErrorNoBinaryForGpu"
                          : NULL;
}

#ifndef BARE
int hipModuleLoadData(void **module, const char *image)
{
    *module = &n_allocated;
    if (strcmp(image, "translated") != 0)
        return 209;
    return asked("build", 1) > 0 ? asked("build", 1) : 0;
}
#endif

int hipModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return strcmp(name, "evenstep_rate") == 0 ? 0 : 500;
}

int hipModuleLaunchKernel(const void *function,
                          unsigned grid_x,
                          unsigned grid_y,
                          unsigned grid_z,
                          unsigned block_x,
                          unsigned block_y,
                          unsigned block_z,
                          unsigned shared_bytes,
                          const void *stream,
                          void **argument,
                          void **extra)
{
    uint32_t rounds;
    float by, *out;

    if (function != &n_allocated || grid_x != 4096 || grid_y != 1 || grid_z != 1
        || block_x != 256 || block_y != 1 || block_z != 1 || shared_bytes
        || stream || extra)
        return 1;
    memcpy(&out, argument[0], sizeof out);
    memcpy(&rounds, argument[1], sizeof rounds);
    memcpy(&by, argument[2], sizeof by);
    compute(out, rounds);
    return by > 0.4F && by < 0.6F ? 0 : 1;
}
