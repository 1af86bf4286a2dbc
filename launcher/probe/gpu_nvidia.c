/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA: libcuda.so.1 computes, libnvidia-ml.so.1 only watches.  Types and
 * values are those of the CUDA Driver API Reference Manual 12 and of the NVML
 * API Reference Guide 12; names without a version are version 1.
 */
#include "launcher/probe/gpu_library.h"
#include "launcher/probe/gpu_mask.h"
#include "launcher/probe/pcie.h"

#include <stdlib.h>

enum { CUDA_SUCCESS = 0, CUDA_ERROR_NO_DEVICE = 100 };

typedef int device_id;
typedef unsigned long long device_ptr;

/* handles: of contexts, modules and functions */
struct cuda {
    int (*init)(unsigned flags);
    int (*device_count)(int *n);
    int (*device_get)(device_id *device, int i);
    int (*device_name)(char *name, int len, device_id device);
    int (*device_memory)(size_t *bytes, device_id device);
    int (*context_create)(void **context, unsigned flags, device_id device);
    int (*context_destroy)(void *context);
    int (*synchronize)(void);
    int (*alloc)(device_ptr *memory, size_t bytes);
    int (*copy)(device_ptr to, device_ptr from, size_t bytes, void *stream);
    int (*copy_out)(void *to, device_ptr from, size_t bytes);
    int (*error_name)(int error, const char **name);
    int (*module_load)(void **module, const void *image);
    int (*module_function)(void **function, void *module, const char *name);
    int (*launch)(void *function,
                  unsigned grid_x,
                  unsigned grid_y,
                  unsigned grid_z,
                  unsigned block_x,
                  unsigned block_y,
                  unsigned block_z,
                  unsigned shared_bytes,
                  void *stream,
                  void **argument,
                  void **extra);
    const char *no_kernel; /* what the library lacks to compute, or NULL */
    void *context, *function;
    device_ptr a, b;
    size_t bytes;
};

#define SYMBOL(name, member)                                                   \
    {                                                                          \
        name, offsetof(struct cuda, member)                                    \
    }

static const struct gpu_symbol needed[] = {
    SYMBOL("cuInit", init),
    SYMBOL("cuDeviceGetCount", device_count),
    SYMBOL("cuDeviceGet", device_get),
    SYMBOL("cuDeviceGetName", device_name),
    SYMBOL("cuDeviceTotalMem_v2", device_memory),
    SYMBOL("cuCtxCreate_v2", context_create),
    SYMBOL("cuCtxDestroy_v2", context_destroy),
    SYMBOL("cuCtxSynchronize", synchronize),
    SYMBOL("cuMemAlloc_v2", alloc),
    SYMBOL("cuMemcpyDtoDAsync_v2", copy),
    SYMBOL("cuMemcpyDtoH_v2", copy_out),
    SYMBOL("cuGetErrorName", error_name),
};

static const struct gpu_symbol computing[] = {
    SYMBOL("cuModuleLoadData", module_load),
    SYMBOL("cuModuleGetFunction", module_function),
    SYMBOL("cuLaunchKernel", launch),
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* PTX ISA 6.0 for compute capability 5.0, of 2014: the driver translates it for
 * what it has.  The parameters: where to, how often, and GPU_FACTOR. */
static const char kernel[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry " GPU_KERNEL "(\n"
    ".param .u64 out, .param .u32 rounds, .param .f32 by)\n"
    "{\n"
    ".reg .pred %p;\n"
    ".reg .b32 %r<2>;\n"
    ".reg .f32 %x<8>, %b, %s;\n"
    ".reg .b64 %d<2>;\n"
    "ld.param.u64 %d0, [out];\n"
    "ld.param.u32 %r0, [rounds];\n"
    "ld.param.f32 %b, [by];\n"
    "mov.u32 %r1, %tid.x;\n"
    "cvt.rn.f32.u32 %x0, %r1;\n"
    "add.f32 %x1, %x0, %b;\n"
    "add.f32 %x2, %x1, %b;\n"
    "add.f32 %x3, %x2, %b;\n"
    "add.f32 %x4, %x3, %b;\n"
    "add.f32 %x5, %x4, %b;\n"
    "add.f32 %x6, %x5, %b;\n"
    "add.f32 %x7, %x6, %b;\n"
    "again:\n"
    "fma.rn.f32 %x0, %x0, %b, %b;\n"
    "fma.rn.f32 %x1, %x1, %b, %b;\n"
    "fma.rn.f32 %x2, %x2, %b, %b;\n"
    "fma.rn.f32 %x3, %x3, %b, %b;\n"
    "fma.rn.f32 %x4, %x4, %b, %b;\n"
    "fma.rn.f32 %x5, %x5, %b, %b;\n"
    "fma.rn.f32 %x6, %x6, %b, %b;\n"
    "fma.rn.f32 %x7, %x7, %b, %b;\n"
    "sub.u32 %r0, %r0, 1;\n"
    "setp.ne.u32 %p, %r0, 0;\n"
    "@%p bra again;\n"
    "add.f32 %s, %x0, %x1;\n"
    "add.f32 %s, %s, %x2;\n"
    "add.f32 %s, %s, %x3;\n"
    "add.f32 %s, %s, %x4;\n"
    "add.f32 %s, %s, %x5;\n"
    "add.f32 %s, %s, %x6;\n"
    "add.f32 %s, %s, %x7;\n"
    "cvta.to.global.u64 %d0, %d0;\n"
    "mul.wide.u32 %d1, %r1, 4;\n"
    "add.u64 %d0, %d0, %d1;\n"
    "st.global.f32 [%d0], %s;\n"
    "ret;\n"
    "}\n";

/* 0, or -1 with why. */
static int check(struct gpu *g, const struct cuda *cuda, int rc)
{
    const char *name = NULL;

    if (rc == CUDA_SUCCESS)
        return 0;
    if (cuda->error_name(rc, &name) != CUDA_SUCCESS || !name)
        return gpu_fail(g, "the driver says error %d", rc);
    return gpu_fail(g, "the driver says %s", name);
}

/* --- which there are ------------------------------------------------------ */

static int add_device(struct gpu *g, const struct cuda *cuda, unsigned i)
{
    device_id device;
    size_t bytes = 0;
    int rc = cuda->device_get(&device, (int)i);

    if (rc == CUDA_SUCCESS)
        rc = cuda->device_memory(&bytes, device);
    if (rc == CUDA_SUCCESS && i == 0)
        rc = cuda->device_name(g->first, sizeof g->first, device);
    g->bytes[i] = bytes;
    return check(g, cuda, rc);
}

static enum gpu_state find_devices(struct gpu *g, const struct cuda *cuda)
{
    int n = 0, rc = cuda->init(0);

    if (rc == CUDA_SUCCESS)
        rc = cuda->device_count(&n);
    if (rc == CUDA_ERROR_NO_DEVICE)
        return GPU_THERE;
    if (check(g, cuda, rc) < 0)
        return GPU_FAILED;
    g->n = n < 0 ? 0 : n < GPU_MOST ? (unsigned)n : GPU_MOST;
    for (unsigned i = 0; i < g->n; i++)
        if (add_device(g, cuda, i) < 0)
            return GPU_FAILED;
    return GPU_THERE;
}

static enum gpu_state nvidia_open(struct gpu *g)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    void *library = gpu_library_open(g, names, NULL);
    struct cuda *cuda;

    if (!library)
        return g->why[0] ? GPU_FAILED : GPU_ABSENT;
    cuda = calloc(1, sizeof *cuda);
    if (!cuda) {
        (void)gpu_fail(g, "no memory");
        return GPU_FAILED;
    }
    g->driver = cuda;
    if (gpu_library_need(g, library, needed, LENGTH(needed), cuda) < 0)
        return GPU_FAILED;
    cuda->no_kernel =
        gpu_library_bind(library, computing, LENGTH(computing), cuda);
    return find_devices(g, cuda);
}

/* --- one of them ---------------------------------------------------------- */

static int nvidia_begin(struct gpu *g, unsigned i, size_t bytes)
{
    struct cuda *cuda = g->driver;
    device_id device;
    int rc = cuda->device_get(&device, (int)i);

    cuda->bytes = bytes;
    if (rc == CUDA_SUCCESS)
        rc = cuda->context_create(&cuda->context, 0, device);
    if (rc == CUDA_SUCCESS)
        rc = cuda->alloc(&cuda->a, bytes);
    if (rc == CUDA_SUCCESS)
        rc = cuda->alloc(&cuda->b, bytes);
    return check(g, cuda, rc);
}

static int nvidia_copy(struct gpu *g, unsigned times)
{
    const struct cuda *cuda = g->driver;
    int rc = CUDA_SUCCESS;

    while (rc == CUDA_SUCCESS && times-- > 0)
        rc = cuda->copy(cuda->b, cuda->a, cuda->bytes, NULL);
    if (rc == CUDA_SUCCESS)
        rc = cuda->synchronize();
    return check(g, cuda, rc);
}

static int nvidia_build(struct gpu *g)
{
    struct cuda *cuda = g->driver;
    void *module = NULL;
    int rc;

    if (cuda->no_kernel)
        return gpu_fail(g, "%s lacks %s: update the driver", g->library,
                        cuda->no_kernel);
    rc = cuda->module_load(&module, kernel);
    if (rc == CUDA_SUCCESS)
        rc = cuda->module_function(&cuda->function, module, GPU_KERNEL);
    return check(g, cuda, rc);
}

static int nvidia_compute(struct gpu *g, uint32_t rounds, float *stored)
{
    struct cuda *cuda = g->driver;
    float by = GPU_FACTOR;
    void *argument[] = {&cuda->a, &rounds, &by};
    int rc = cuda->launch(cuda->function, GPU_BLOCKS, 1, 1, GPU_THREADS, 1, 1,
                          0, NULL, argument, NULL);

    if (rc == CUDA_SUCCESS)
        rc = cuda->synchronize();
    if (rc == CUDA_SUCCESS)
        rc = cuda->copy_out(stored, cuda->a, sizeof *stored);
    return check(g, cuda, rc);
}

/* Memory and module go with the context. */
static void nvidia_end(struct gpu *g)
{
    struct cuda *cuda = g->driver;

    if (cuda->context)
        (void)cuda->context_destroy(cuda->context); /* we have the result */
    cuda->context = NULL;
}

/* --- without it ----------------------------------------------------------- */

/* nvmlMemory_t: total, free and used. */
enum { NVML_TOTAL, NVML_MEMORY = 3 };

struct nvml {
    int (*init)(void);
    int (*device_count)(unsigned *n);
    int (*by_index)(unsigned i, void **device);
    int (*by_uuid)(const char *uuid, void **device);
    int (*memory)(void *device, unsigned long long memory[NVML_MEMORY]);
};

#define NVML(name, member)                                                     \
    {                                                                          \
        name, offsetof(struct nvml, member)                                    \
    }

static const struct gpu_symbol watching[] = {
    NVML("nvmlInit_v2", init),
    NVML("nvmlDeviceGetCount_v2", device_count),
    NVML("nvmlDeviceGetHandleByIndex_v2", by_index),
    NVML("nvmlDeviceGetHandleByUUID", by_uuid),
    NVML("nvmlDeviceGetMemoryInfo", memory),
};

static int add_watched(struct gpu *g,
                       const struct nvml *nvml,
                       const struct gpu_word *word)
{
    unsigned long long memory[NVML_MEMORY] = {0};
    void *device = NULL;
    int rc = word->text[0] ? nvml->by_uuid(word->text, &device)
                           : nvml->by_index(word->number, &device);

    if (rc != 0 || nvml->memory(device, memory) != 0)
        return -1;
    g->bytes[g->n++] = memory[NVML_TOTAL];
    return 0;
}

/* It knows nothing of CUDA_VISIBLE_DEVICES. */
static int nvidia_watch(struct gpu *g)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    void *library = gpu_library_open(g, names, NULL);
    struct gpu_mask mask;
    struct nvml nvml;
    unsigned n = 0;

    if (!library || gpu_library_bind(library, watching, LENGTH(watching), &nvml)
        || nvml.init() != 0 || nvml.device_count(&n) != 0)
        return -1;
    gpu_mask_read(&mask, getenv("CUDA_VISIBLE_DEVICES"), n);
    for (unsigned i = 0; i < mask.n; i++)
        if (add_watched(g, &nvml, &mask.word[i]) < 0)
            return -1;
    return 0;
}

const struct gpu_maker gpu_nvidia = {
    .name = "NVIDIA",
    .vendor = PCIE_VENDOR_NVIDIA,
    .library = "libcuda.so.1",
    .open = nvidia_open,
    .watch = nvidia_watch,
    .begin = nvidia_begin,
    .copy = nvidia_copy,
    .build = nvidia_build,
    .compute = nvidia_compute,
    .end = nvidia_end,
};
