/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for the CUDA driver library; see stand_in.h.
 */
#include "stand_in.h"

PUBLIC int cuInit(unsigned flags);
PUBLIC int cuDeviceGetCount(int *n);
PUBLIC int cuDeviceGet(int *device, int i);
PUBLIC int cuDeviceGetName(char *name, int len, int device);
PUBLIC int cuDeviceTotalMem_v2(size_t *bytes, int device);
PUBLIC int cuCtxCreate_v2(void **context, unsigned flags, int device);
PUBLIC int cuCtxDestroy_v2(void *context);
PUBLIC int cuCtxSynchronize(void);
PUBLIC int cuMemAlloc_v2(unsigned long long *memory, size_t bytes);
PUBLIC int cuMemcpyDtoDAsync_v2(unsigned long long to,
                                unsigned long long from,
                                size_t bytes,
                                void *stream);
PUBLIC int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes);
PUBLIC int cuGetErrorName(int error, const char **name);
PUBLIC int cuModuleLoadData(void **module, const char *image);
PUBLIC int cuModuleGetFunction(void **function, void *module, const char *name);
PUBLIC int cuLaunchKernel(const void *function,
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

int cuInit(unsigned flags)
{
    behave("");
    return flags ? 1 : asked("init", 1) > 0 ? asked("init", 1) : 0;
}

int cuDeviceGetCount(int *n)
{
    *n = left_by("CUDA_VISIBLE_DEVICES");
    return 0;
}

int cuDeviceGet(int *device, int i)
{
    *device = 100 + i;
    return 0;
}

int cuDeviceGetName(char *name, int len, int device)
{
    snprintf(name, (size_t)len, "%s", device_name());
    return device < 100 ? 101 : 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = device_bytes();
    return device < 100 ? 101 : 0;
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    *context = allocated;
    return flags || device < 100 ? 1 : 0;
}

// cppcheck-suppress constParameter ; the driver's own prototype
int cuCtxDestroy_v2(void *context)
{
    release_all();
    linger();
    return context == allocated ? 0 : 201;
}

int cuCtxSynchronize(void)
{
    return 0;
}

#ifndef OLD
int cuMemAlloc_v2(unsigned long long *memory, size_t bytes)
{
    const void *p = allocate(bytes);

    *memory = (unsigned long long)(size_t)p;
    return p ? 0 : asked("alloc", 1) > 0 ? asked("alloc", 1) : 2;
}
#endif

int cuMemcpyDtoDAsync_v2(unsigned long long to,
                         unsigned long long from,
                         size_t bytes,
                         // cppcheck-suppress constParameter ; likewise
                         void *stream)
{
    copy((void *)(size_t)to, (const void *)(size_t)from, bytes);
    return stream ? 400 : 0;
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes)
{
    memcpy(to, (const void *)(size_t)from, bytes);
    return 0;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == 221 ? "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"
            : error == 999 ? "CUDA_ERROR_UNKNOWN"
                           : NULL;
    return *name ? 0 : 1;
}

#ifndef BARE
int cuModuleLoadData(void **module, const char *image)
{
    *module = &n_allocated;
    if (strncmp(image, ".version ", 9) != 0)
        return 218;
    return asked("build", 1) > 0 ? asked("build", 1) : 0;
}
#endif

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return strcmp(name, "evenstep_rate") == 0 ? 0 : 500;
}

int cuLaunchKernel(const void *function,
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
    unsigned long long out;
    uint32_t rounds;
    float by;

    if (function != &n_allocated || grid_x != 4096 || grid_y != 1 || grid_z != 1
        || block_x != 256 || block_y != 1 || block_z != 1 || shared_bytes
        || stream || extra)
        return 1;
    memcpy(&out, argument[0], sizeof out);
    memcpy(&rounds, argument[1], sizeof rounds);
    memcpy(&by, argument[2], sizeof by);
    compute((float *)(size_t)out, rounds);
    return by > 0.4F && by < 0.6F ? 0 : 1;
}
