/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/probe/probe_gpu.h"
#include "launcher/probe/probe_crew.h"
#include "launcher/probe/probe_rate.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* --- the part of the driver's interface that is used ---------------------- */

/* CUDA Driver API, "Error Handling"; names without a version are version 1. */
enum { CUDA_SUCCESS = 0, CUDA_ERROR_NO_DEVICE = 100 };

typedef int device_id;
typedef unsigned long long device_ptr;
typedef struct opaque_context *context_ptr;

struct cuda {
    int (*init)(unsigned flags);
    int (*device_count)(int *n);
    int (*device_get)(device_id *device, int i);
    int (*device_name)(char *name, int len, device_id device);
    int (*device_memory)(size_t *bytes, device_id device);
    int (*context_create)(context_ptr *context,
                          unsigned flags,
                          device_id device);
    int (*context_destroy)(context_ptr context);
    int (*synchronize)(void);
    int (*alloc)(device_ptr *memory, size_t bytes);
    int (*copy)(device_ptr to, device_ptr from, size_t bytes, void *stream);
    int (*error_name)(int error, const char **name);
};

/* ISO C cannot cast the address of an object to that of a function; POSIX
 * promises that they have the same form (dlsym). */
static int bind_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol ? 0 : -1;
}

static int bind_all(struct cuda *cuda, void *lib)
{
    return bind_symbol(lib, "cuInit", &cuda->init)
           | bind_symbol(lib, "cuDeviceGetCount", &cuda->device_count)
           | bind_symbol(lib, "cuDeviceGet", &cuda->device_get)
           | bind_symbol(lib, "cuDeviceGetName", &cuda->device_name)
           | bind_symbol(lib, "cuDeviceTotalMem_v2", &cuda->device_memory)
           | bind_symbol(lib, "cuCtxCreate_v2", &cuda->context_create)
           | bind_symbol(lib, "cuCtxDestroy_v2", &cuda->context_destroy)
           | bind_symbol(lib, "cuCtxSynchronize", &cuda->synchronize)
           | bind_symbol(lib, "cuMemAlloc_v2", &cuda->alloc)
           | bind_symbol(lib, "cuMemcpyDtoDAsync_v2", &cuda->copy)
           | bind_symbol(lib, "cuGetErrorName", &cuda->error_name);
}

static const char *error_text(const struct cuda *cuda, int error)
{
    const char *name = NULL;

    if (cuda->error_name(error, &name) == CUDA_SUCCESS && name)
        return name;
    return "an error without a name";
}

/* --- one device ----------------------------------------------------------- */

#define COPY_BYTES ((size_t)256 << 20) /* several times any L2 cache of 2026 */
#define COPY_PART  8                   /* at most this part of the memory */
#define COPIES     16  /* between two looks at the clock: 2 ms at 4 TB/s */
#define SAMPLES    256 /* at most */

/* Copy in the current context until end_ns.  *rate is bytes a second, read and
 * written.  Returns 0 or the driver's error. */
static int copy_until(const struct cuda *cuda,
                      size_t bytes,
                      int64_t end_ns,
                      double *bytes_per_s,
                      double *spread)
{
    double rate[SAMPLES];
    device_ptr a, b;
    size_t n = 0;
    int rc = cuda->alloc(&a, bytes);

    if (rc == CUDA_SUCCESS)
        rc = cuda->alloc(&b, bytes);
    if (rc == CUDA_SUCCESS)
        rc = cuda->copy(b, a, bytes, NULL); /* not timed: it warms up */
    if (rc == CUDA_SUCCESS)
        rc = cuda->synchronize();
    while (rc == CUDA_SUCCESS && n < SAMPLES
           && (n == 0 || probe_now_ns() < end_ns)) {
        int64_t begin = probe_now_ns(), ns;

        for (int i = 0; i < COPIES && rc == CUDA_SUCCESS; i++)
            rc = cuda->copy(b, a, bytes, NULL);
        if (rc == CUDA_SUCCESS)
            rc = cuda->synchronize();
        ns = probe_now_ns() - begin;
        rate[n++] = 2.0 * COPIES * (double)bytes / (double)(ns > 0 ? ns : 1);
    }
    if (rc == CUDA_SUCCESS)
        *bytes_per_s = probe_mean(rate, n, spread) * 1e9;
    return rc;
}

/* Measure a device.  Its memory is released with the context.  Returns 0 or the
 * driver's error. */
static int measure_device(const struct cuda *cuda,
                          device_id device,
                          int64_t end_ns,
                          double *bytes_per_s,
                          double *spread)
{
    context_ptr context = NULL;
    size_t total = 0, bytes;
    int rc = cuda->device_memory(&total, device);

    if (rc != CUDA_SUCCESS)
        return rc;
    bytes = total / COPY_PART < COPY_BYTES ? total / COPY_PART : COPY_BYTES;
    rc = cuda->context_create(&context, 0, device);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = copy_until(cuda, bytes, end_ns, bytes_per_s, spread);
    (void)cuda->context_destroy(context); /* the result is there already */
    return rc;
}

/* --- all of them ---------------------------------------------------------- */

/* Find the number of devices, their memory and the first one's name.  Returns 0
 * or the driver's error. */
static int find_devices(const struct cuda *cuda,
                        struct probe_result *r,
                        char *name,
                        int len)
{
    int n = 0, rc = cuda->device_count(&n);

    for (int i = 0; i < n && rc == CUDA_SUCCESS; i++) {
        device_id device;
        size_t bytes = 0;

        rc = cuda->device_get(&device, i);
        if (rc == CUDA_SUCCESS)
            rc = cuda->device_memory(&bytes, device);
        if (rc == CUDA_SUCCESS && i == 0)
            rc = cuda->device_name(name, len, device);
        r->capacity_bytes += bytes;
    }
    r->count = n > 0 ? (uint32_t)n : 0;
    return rc;
}

/* Each device gets an equal part of the time that is left. */
static void measure_devices(const struct cuda *cuda,
                            int64_t end_ns,
                            const char *name,
                            struct probe_result *r)
{
    double sum = 0, widest = 0;
    unsigned done = 0;

    while (done < r->count && (done == 0 || probe_now_ns() < end_ns)) {
        int64_t now = probe_now_ns();
        int64_t until = now + (end_ns - now) / (r->count - done);
        double rate = 0, spread = 0;
        device_id device;
        int rc = cuda->device_get(&device, (int)done);

        if (rc == CUDA_SUCCESS)
            rc = measure_device(cuda, device, until, &rate, &spread);
        if (rc != CUDA_SUCCESS) {
            probe_not_measured(r, "GPU %u of %u (%s): the driver says %s", done,
                               r->count, name, error_text(cuda, rc));
            return;
        }
        sum += rate;
        widest = spread > widest ? spread : widest;
        done++;
    }
    probe_measured(r, sum / done * r->count / 1e9, widest,
                   "%u x %s, %.1f GB in all; %u measured", r->count, name,
                   (double)r->capacity_bytes / 1e9, done);
}

void probe_gpu_measure(const struct probe_setup *setup,
                       int budget_ms,
                       struct probe_result *r)
{
    int64_t end_ns = probe_now_ns() + (int64_t)budget_ms * 1000000;
    void *library = dlopen(setup->cuda, RTLD_NOW | RTLD_LOCAL);
    char name[64] = "";
    struct cuda cuda;
    int rc;

    if (!library) {
        probe_measured(r, 0, 0, "no GPU: there is no %s", setup->cuda);
        return;
    }
    if (bind_all(&cuda, library) < 0) {
        probe_not_measured(r, "%s is too old: update the driver", setup->cuda);
        return;
    }
    rc = cuda.init(0);
    if (rc == CUDA_SUCCESS)
        rc = find_devices(&cuda, r, name, (int)sizeof name);
    if (rc == CUDA_ERROR_NO_DEVICE || (rc == CUDA_SUCCESS && r->count == 0))
        probe_measured(r, 0, 0, "no GPU: the driver has none for us");
    else if (rc != CUDA_SUCCESS)
        probe_not_measured(r, "the driver says %s: look at nvidia-smi",
                           error_text(&cuda, rc));
    else
        measure_devices(&cuda, end_ns, name, r);
    /* The library stays open, as threads of the driver may still run in it.
     * This process ends now. */
}
