/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AMD: libamdhip64 computes, by a kernel that libhiprtc translates, and
 * librocm_smi64 only watches.  Types and values are those of the HIP Runtime
 * API Reference 6 (modules: initialization, device, memory, module, HIPRTC) and
 * of the ROCm SMI C API Reference.
 */
#include "launcher/probe/gpu_library.h"
#include "launcher/probe/gpu_mask.h"
#include "launcher/probe/pcie.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELSEWHERE "/opt/rocm/lib"

enum {
    HIP_SUCCESS = 0,
    HIP_ERROR_NO_DEVICE = 100,
    HIP_ERROR_INVALID_DEVICE = 101
};

struct hip {
    int (*init)(unsigned flags);
    int (*device_count)(int *n);
    int (*device_get)(int *device, int i);
    int (*device_name)(char *name, int len, int device);
    int (*device_memory)(size_t *bytes, int device);
    int (*device_set)(int i);
    int (*device_reset)(void);
    int (*synchronize)(void);
    int (*alloc)(void **memory, size_t bytes);
    int (*copy)(void *to, void *from, size_t bytes, void *stream);
    int (*copy_out)(void *to, void *from, size_t bytes);
    const char *(*error_name)(int error);
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
    /* of HIPRTC */
    int (*program_create)(void **program,
                          const char *source,
                          const char *name,
                          int headers,
                          const char **header,
                          const char **header_name);
    int (*program_compile)(void *program, int options, const char **option);
    int (*program_size)(void *program, size_t *bytes);
    int (*program_code)(void *program, char *code);
    const char *(*program_error)(int error);
    const char *no_kernel; /* what the library lacks to compute, or NULL */
    int is_set;            /* a device is; it is reset at the end */
    void *function, *a, *b;
    size_t bytes;
};

#define SYMBOL(name, member)                                                   \
    {                                                                          \
        name, offsetof(struct hip, member)                                     \
    }

static const struct gpu_symbol needed[] = {
    SYMBOL("hipInit", init),
    SYMBOL("hipGetDeviceCount", device_count),
    SYMBOL("hipDeviceGet", device_get),
    SYMBOL("hipDeviceGetName", device_name),
    SYMBOL("hipDeviceTotalMem", device_memory),
    SYMBOL("hipSetDevice", device_set),
    SYMBOL("hipDeviceReset", device_reset),
    SYMBOL("hipDeviceSynchronize", synchronize),
    SYMBOL("hipMalloc", alloc),
    SYMBOL("hipMemcpyDtoDAsync", copy),
    SYMBOL("hipMemcpyDtoH", copy_out),
    SYMBOL("hipGetErrorName", error_name),
};

static const struct gpu_symbol computing[] = {
    SYMBOL("hipModuleLoadData", module_load),
    SYMBOL("hipModuleGetFunction", module_function),
    SYMBOL("hipModuleLaunchKernel", launch),
};

static const struct gpu_symbol translating[] = {
    SYMBOL("hiprtcCreateProgram", program_create),
    SYMBOL("hiprtcCompileProgram", program_compile),
    SYMBOL("hiprtcGetCodeSize", program_size),
    SYMBOL("hiprtcGetCode", program_code),
    SYMBOL("hiprtcGetErrorString", program_error),
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const char kernel[] =
    "extern \"C\" __global__ void " GPU_KERNEL "(\n"
    "    float *out, unsigned rounds, float by)\n"
    "{\n"
    "    float a = (float)threadIdx.x, b = a + by, c = b + by, d = c + by;\n"
    "    float e = d + by, f = e + by, g = f + by, h = g + by;\n"
    "    for (; rounds > 0; rounds--) {\n"
    "        a = __builtin_fmaf(a, by, by);\n"
    "        b = __builtin_fmaf(b, by, by);\n"
    "        c = __builtin_fmaf(c, by, by);\n"
    "        d = __builtin_fmaf(d, by, by);\n"
    "        e = __builtin_fmaf(e, by, by);\n"
    "        f = __builtin_fmaf(f, by, by);\n"
    "        g = __builtin_fmaf(g, by, by);\n"
    "        h = __builtin_fmaf(h, by, by);\n"
    "    }\n"
    "    out[threadIdx.x] = a + b + c + d + e + f + g + h;\n"
    "}\n";

/* 0, or -1 with why. */
static int check(struct gpu *g, const struct hip *hip, int rc)
{
    const char *name = rc == HIP_SUCCESS ? NULL : hip->error_name(rc);

    if (rc == HIP_SUCCESS)
        return 0;
    if (!name || !*name)
        return gpu_fail(g, "the driver says error %d", rc);
    return gpu_fail(g, "the driver says %s", name);
}

/* --- which there are ------------------------------------------------------ */

static int add_device(struct gpu *g, const struct hip *hip, unsigned i)
{
    size_t bytes = 0;
    int device, rc = hip->device_get(&device, (int)i);

    if (rc == HIP_SUCCESS)
        rc = hip->device_memory(&bytes, device);
    if (rc == HIP_SUCCESS && i == 0)
        rc = hip->device_name(g->first, sizeof g->first, device);
    g->bytes[i] = bytes;
    return check(g, hip, rc);
}

/* ROCm 5.7 says "invalid" of a machine that has none. */
static int is_none(int rc)
{
    return rc == HIP_ERROR_NO_DEVICE || rc == HIP_ERROR_INVALID_DEVICE;
}

static enum gpu_state find_devices(struct gpu *g, const struct hip *hip)
{
    int n = 0, rc = hip->init(0);

    if (rc == HIP_SUCCESS)
        rc = hip->device_count(&n);
    if (is_none(rc))
        return GPU_THERE;
    if (check(g, hip, rc) < 0)
        return GPU_FAILED;
    g->n = n < 0 ? 0 : n < GPU_MOST ? (unsigned)n : GPU_MOST;
    for (unsigned i = 0; i < g->n; i++)
        if (add_device(g, hip, i) < 0)
            return GPU_FAILED;
    return GPU_THERE;
}

static enum gpu_state amd_open(struct gpu *g)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so.5", "libamdhip64.so",
                                        NULL};
    void *library = gpu_library_open(g, names, ELSEWHERE);
    struct hip *hip;

    if (!library)
        return g->why[0] ? GPU_FAILED : GPU_ABSENT;
    hip = calloc(1, sizeof *hip);
    if (!hip) {
        (void)gpu_fail(g, "no memory");
        return GPU_FAILED;
    }
    g->driver = hip;
    if (gpu_library_need(g, library, needed, LENGTH(needed), hip) < 0)
        return GPU_FAILED;
    hip->no_kernel =
        gpu_library_bind(library, computing, LENGTH(computing), hip);
    return find_devices(g, hip);
}

/* --- one of them ---------------------------------------------------------- */

static int amd_begin(struct gpu *g, unsigned i, size_t bytes)
{
    struct hip *hip = g->driver;
    int rc = hip->device_set((int)i);

    hip->is_set = rc == HIP_SUCCESS;
    hip->bytes = bytes;
    if (rc == HIP_SUCCESS)
        rc = hip->alloc(&hip->a, bytes);
    if (rc == HIP_SUCCESS)
        rc = hip->alloc(&hip->b, bytes);
    return check(g, hip, rc);
}

static int amd_copy(struct gpu *g, unsigned times)
{
    const struct hip *hip = g->driver;
    int rc = HIP_SUCCESS;

    while (rc == HIP_SUCCESS && times-- > 0)
        rc = hip->copy(hip->b, hip->a, hip->bytes, NULL);
    if (rc == HIP_SUCCESS)
        rc = hip->synchronize();
    return check(g, hip, rc);
}

/* Find the functions of HIPRTC. */
static int open_translator(struct gpu *g, struct hip *hip)
{
    static const char *const names[] = {"libhiprtc.so.7", "libhiprtc.so.6",
                                        "libhiprtc.so.5", "libhiprtc.so", NULL};
    void *library;

    if (hip->no_kernel)
        return gpu_fail(g, "%s lacks %s: update the driver", g->library,
                        hip->no_kernel);
    library = gpu_library_open(g, names, ELSEWHERE);
    if (!library)
        return g->why[0] ? -1 : gpu_fail(g, "there is no libhiprtc.so");
    return gpu_library_need(g, library, translating, LENGTH(translating), hip);
}

/* The kernel for the device that is set, owned by the caller; NULL with why. */
static char *translate(struct gpu *g, const struct hip *hip)
{
    void *program = NULL;
    char *code = NULL;
    size_t bytes = 0;
    int rc =
        hip->program_create(&program, kernel, GPU_KERNEL ".hip", 0, NULL, NULL);

    if (rc == 0)
        rc = hip->program_compile(program, 0, NULL);
    if (rc == 0)
        rc = hip->program_size(program, &bytes);
    if (rc == 0)
        code = malloc(bytes ? bytes : 1);
    if (code)
        rc = hip->program_code(program, code);
    if (rc == 0 && code)
        return code; /* the process ends, and the program with it */
    (void)gpu_fail(g, "the compiler says %s",
                   rc == 0 ? "no memory" : hip->program_error(rc));
    free(code);
    return NULL;
}

static int amd_build(struct gpu *g)
{
    struct hip *hip = g->driver;
    void *module = NULL;
    char *code;
    int rc;

    if (open_translator(g, hip) < 0)
        return -1;
    code = translate(g, hip);
    if (!code)
        return -1;
    rc = hip->module_load(&module, code);
    if (rc == HIP_SUCCESS)
        rc = hip->module_function(&hip->function, module, GPU_KERNEL);
    free(code);
    return check(g, hip, rc);
}

static int amd_compute(struct gpu *g, uint32_t rounds, float *stored)
{
    struct hip *hip = g->driver;
    float by = GPU_FACTOR;
    void *argument[] = {&hip->a, &rounds, &by};
    int rc = hip->launch(hip->function, GPU_BLOCKS, 1, 1, GPU_THREADS, 1, 1, 0,
                         NULL, argument, NULL);

    if (rc == HIP_SUCCESS)
        rc = hip->synchronize();
    if (rc == HIP_SUCCESS)
        rc = hip->copy_out(stored, hip->a, sizeof *stored);
    return check(g, hip, rc);
}

/* Memory and module go with it. */
static void amd_end(struct gpu *g)
{
    struct hip *hip = g->driver;

    if (hip->is_set)
        (void)hip->device_reset(); /* we have the result */
    hip->is_set = 0;
}

/* --- without it ----------------------------------------------------------- */

enum { RSMI_MEM_TYPE_VRAM = 0 };

struct rsmi {
    int (*init)(uint64_t flags);
    int (*device_count)(uint32_t *n);
    int (*unique_id)(uint32_t i, uint64_t *id);
    int (*memory)(uint32_t i, int type, uint64_t *bytes);
};

#define RSMI(name, member)                                                     \
    {                                                                          \
        name, offsetof(struct rsmi, member)                                    \
    }

static const struct gpu_symbol watching[] = {
    RSMI("rsmi_init", init),
    RSMI("rsmi_num_monitor_devices", device_count),
    RSMI("rsmi_dev_unique_id_get", unique_id),
    RSMI("rsmi_dev_memory_total_get", memory),
};

/* The number of the device that a word names; n if none has it. */
static uint32_t find_named(const struct rsmi *rsmi,
                           const struct gpu_word *word,
                           uint32_t n)
{
    char name[GPU_WORD];
    uint64_t id = 0;

    if (!word->text[0])
        return word->number;
    for (uint32_t i = 0; i < n; i++) {
        if (rsmi->unique_id(i, &id) != 0)
            continue;
        (void)snprintf(name, sizeof name, "GPU-%016" PRIx64, id);
        if (strcmp(name, word->text) == 0)
            return i;
    }
    return n;
}

/* It knows nothing of ROCR_VISIBLE_DEVICES, nor of HIP_VISIBLE_DEVICES, which
 * counts from what that has left. */
static int amd_watch(struct gpu *g)
{
    static const char *const names[] = {
        "librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
        "librocm_smi64.so.1", "librocm_smi64.so",   NULL};
    void *library = gpu_library_open(g, names, ELSEWHERE);
    struct gpu_mask left, mask;
    struct rsmi rsmi;
    uint32_t n = 0;

    if (!library || gpu_library_bind(library, watching, LENGTH(watching), &rsmi)
        || rsmi.init(0) != 0 || rsmi.device_count(&n) != 0)
        return -1;
    gpu_mask_read(&left, getenv("ROCR_VISIBLE_DEVICES"), n);
    gpu_mask_read(&mask, getenv("HIP_VISIBLE_DEVICES"), left.n);
    for (unsigned i = 0; i < mask.n; i++) {
        const struct gpu_word *word = mask.word[i].text[0]
                                          ? &mask.word[i]
                                          : &left.word[mask.word[i].number];
        uint32_t device = find_named(&rsmi, word, n);

        if (device >= n
            || rsmi.memory(device, RSMI_MEM_TYPE_VRAM, &g->bytes[i]) != 0)
            return -1;
        g->n++;
    }
    return 0;
}

const struct gpu_maker gpu_amd = {
    .name = "AMD",
    .vendor = PCIE_VENDOR_AMD,
    .library = "libamdhip64.so",
    .open = amd_open,
    .watch = amd_watch,
    .begin = amd_begin,
    .copy = amd_copy,
    .build = amd_build,
    .compute = amd_compute,
    .end = amd_end,
};
