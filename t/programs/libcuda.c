/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for the CUDA driver library: devices of 64 MiB whose copies are
 * copies in memory.  $STAND_IN_CUDA says how it behaves:
 *
 *   devices=N   it has N devices
 *   init=E      cuInit() fails with error E
 *   alloc=E     cuMemAlloc() does
 *   name        a device's name holds a line feed
 *   hang        cuInit() never returns
 *   crash       it dies of a bad access
 *   huge        it copies in no time and says that memory is 2^63 bytes
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

#define DEVICE_BYTES ((size_t)64 << 20)

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
PUBLIC int cuGetErrorName(int error, const char **name);

/* The number after "word=", or none; -1 if the word is not there. */
static int asked(const char *word, int none)
{
    const char *text = getenv("STAND_IN_CUDA");
    size_t len = strlen(word);

    if (!text || strncmp(text, word, len) != 0)
        return -1;
    return text[len] == '=' ? atoi(text + len + 1) : none;
}

static void *allocated[16];
static size_t n_allocated;

int cuInit(unsigned flags)
{
    (void)flags;
    while (asked("hang", 1) > 0)
        pause();
    if (asked("crash", 1) > 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler is not the point */
        raise(SIGSEGV);
    }
    return asked("init", 1) > 0 ? asked("init", 1) : 0;
}

int cuDeviceGetCount(int *n)
{
    *n = asked("devices", 1) >= 0 ? asked("devices", 1) : 1;
    return 0;
}

int cuDeviceGet(int *device, int i)
{
    *device = 100 + i;
    return 0;
}

int cuDeviceGetName(char *name, int len, int device)
{
    if (device < 100)
        return 101;
    snprintf(name, (size_t)len, "Stand-in%sH1",
             asked("name", 1) > 0 ? "\n" : " ");
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = asked("huge", 1) > 0 ? (size_t)1 << 63 : DEVICE_BYTES;
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
    while (n_allocated > 0)
        free(allocated[--n_allocated]);
    return context == allocated ? 0 : 201;
}

int cuCtxSynchronize(void)
{
    return 0;
}

int cuMemAlloc_v2(unsigned long long *memory, size_t bytes)
{
    void *p;

    if (asked("alloc", 1) > 0)
        return asked("alloc", 1);
    p = n_allocated < 16 ? calloc(1, bytes) : NULL;
    if (!p)
        return 2;
    allocated[n_allocated++] = p;
    *memory = (unsigned long long)(size_t)p;
    return 0;
}

int cuMemcpyDtoDAsync_v2(unsigned long long to,
                         unsigned long long from,
                         size_t bytes,
                         // cppcheck-suppress constParameter ; likewise
                         void *stream)
{
    if (asked("huge", 1) < 0)
        memcpy((void *)(size_t)to, (void *)(size_t)from, bytes);
    return stream ? 400 : 0;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == 999 ? "CUDA_ERROR_UNKNOWN"
                           : NULL;
    return *name ? 0 : 1;
}
