/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intel: libze_loader.so.1, oneAPI Level Zero.  Graphics inside of a processor
 * do not count: their memory is the node's.
 */
#include "launcher/probe/gpu_level_zero.h"
#include "launcher/probe/gpu_library.h"
#include "launcher/probe/gpu_spirv.h"
#include "launcher/probe/pcie.h"

#include <stdio.h>
#include <stdlib.h>

struct ze {
    int (*init)(uint32_t flags);
    int (*driver_get)(uint32_t *n, void **driver);
    int (*device_get)(void *driver, uint32_t *n, void **device);
    int (*device_properties)(void *device, struct ze_device *p);
    int (*memory_properties)(void *device, uint32_t *n, struct ze_memory *p);
    int (*group_properties)(void *device, uint32_t *n, struct ze_group *p);
    int (*context_create)(void *driver,
                          const struct ze_context *d,
                          void **context);
    int (*context_destroy)(void *context);
    int (*list_create)(void *context,
                       void *device,
                       const struct ze_queue *d,
                       void **list);
    int (*list_destroy)(void *list);
    int (*alloc)(void *context,
                 const struct ze_allocation *d,
                 size_t bytes,
                 size_t alignment,
                 void *device,
                 void **memory);
    int (*release)(void *context, void *memory);
    int (*copy)(void *list,
                void *to,
                const void *from,
                size_t bytes,
                void *signal,
                uint32_t waits,
                void **wait);
    int (*module_create)(void *context,
                         void *device,
                         const struct ze_module *d,
                         void **module,
                         void **log);
    int (*module_destroy)(void *module);
    int (*kernel_create)(void *module,
                         const struct ze_kernel *d,
                         void **kernel);
    int (*kernel_destroy)(void *kernel);
    int (*group_size)(void *kernel, uint32_t x, uint32_t y, uint32_t z);
    int (*argument)(void *kernel, uint32_t i, size_t bytes, const void *value);
    int (*launch)(void *list,
                  void *kernel,
                  const struct ze_count *groups,
                  void *signal,
                  uint32_t waits,
                  void **wait);
    const char *no_kernel; /* what the library lacks to compute, or NULL */
    void *driver[GPU_MOST], *device[GPU_MOST]; /* of each that counts */
    void *used;                                /* the one that has begun */
    void *context, *list, *a, *b, *module, *kernel;
    size_t bytes;
};

#define SYMBOL(name, member)                                                   \
    {                                                                          \
        name, offsetof(struct ze, member)                                      \
    }

static const struct gpu_symbol needed[] = {
    SYMBOL("zeInit", init),
    SYMBOL("zeDriverGet", driver_get),
    SYMBOL("zeDeviceGet", device_get),
    SYMBOL("zeDeviceGetProperties", device_properties),
    SYMBOL("zeDeviceGetMemoryProperties", memory_properties),
    SYMBOL("zeDeviceGetCommandQueueGroupProperties", group_properties),
    SYMBOL("zeContextCreate", context_create),
    SYMBOL("zeContextDestroy", context_destroy),
    SYMBOL("zeCommandListCreateImmediate", list_create),
    SYMBOL("zeCommandListDestroy", list_destroy),
    SYMBOL("zeMemAllocDevice", alloc),
    SYMBOL("zeMemFree", release),
    SYMBOL("zeCommandListAppendMemoryCopy", copy),
};

static const struct gpu_symbol computing[] = {
    SYMBOL("zeModuleCreate", module_create),
    SYMBOL("zeModuleDestroy", module_destroy),
    SYMBOL("zeKernelCreate", kernel_create),
    SYMBOL("zeKernelDestroy", kernel_destroy),
    SYMBOL("zeKernelSetGroupSize", group_size),
    SYMBOL("zeKernelSetArgumentValue", argument),
    SYMBOL("zeCommandListAppendLaunchKernel", launch),
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* 0, or -1 with why. */
static int check(struct gpu *g, int rc)
{
    static const struct {
        int rc;
        const char *name;
    } names[] = {
        {ZE_DEVICE_LOST, "DEVICE_LOST"},
        {ZE_OUT_OF_HOST_MEMORY, "OUT_OF_HOST_MEMORY"},
        {ZE_OUT_OF_DEVICE_MEMORY, "OUT_OF_DEVICE_MEMORY"},
        {ZE_MODULE_BUILD_FAILURE, "MODULE_BUILD_FAILURE"},
        {ZE_DEPENDENCY_UNAVAILABLE, "DEPENDENCY_UNAVAILABLE"},
        {ZE_UNSUPPORTED_VERSION, "UNSUPPORTED_VERSION"},
    };

    for (size_t i = 0; i < LENGTH(names); i++)
        if (rc == names[i].rc)
            return gpu_fail(g, "the driver says ZE_RESULT_ERROR_%s",
                            names[i].name);
    if (rc == ZE_SUCCESS)
        return 0;
    return gpu_fail(g, "the driver says error 0x%x", (unsigned)rc);
}

/* --- which there are ------------------------------------------------------ */

#define SEVERAL 64 /* memories or groups of queues of a device, at most */

/* Of all its memories. */
static int add_memory(struct gpu *g, const struct ze *ze, void *device)
{
    struct ze_memory memory[SEVERAL] = {0};
    uint32_t n = SEVERAL;
    int rc;

    for (size_t i = 0; i < SEVERAL; i++)
        memory[i].head.type = ZE_TYPE_MEMORY_PROPERTIES;
    rc = ze->memory_properties(device, &n, memory);
    for (uint32_t i = 0; rc == ZE_SUCCESS && i < n && i < SEVERAL; i++)
        g->bytes[g->n] += memory[i].bytes;
    return rc;
}

static int add_device(struct gpu *g, struct ze *ze, void *driver, void *device)
{
    struct ze_device p = {.head = {ZE_TYPE_DEVICE_PROPERTIES, NULL}};
    int rc = ze->device_properties(device, &p);

    if (rc != ZE_SUCCESS || p.type != ZE_DEVICE_GPU
        || (p.flags & ZE_DEVICE_INTEGRATED) || g->n == GPU_MOST)
        return rc;
    rc = add_memory(g, ze, device);
    if (rc != ZE_SUCCESS)
        return rc;
    if (g->n == 0)
        (void)snprintf(g->first, sizeof g->first, "%.*s",
                       (int)sizeof g->first - 1, p.name);
    ze->driver[g->n] = driver;
    ze->device[g->n++] = device;
    return rc;
}

static int add_driver(struct gpu *g, struct ze *ze, void *driver)
{
    void *device[GPU_MOST] = {NULL};
    uint32_t n = GPU_MOST;
    int rc = ze->device_get(driver, &n, device);

    for (uint32_t i = 0; rc == ZE_SUCCESS && i < n && i < GPU_MOST; i++)
        rc = add_device(g, ze, driver, device[i]);
    return rc;
}

static enum gpu_state find_devices(struct gpu *g, struct ze *ze)
{
    void *driver[GPU_MOST] = {NULL};
    uint32_t n = GPU_MOST;
    int rc = ze->init(ZE_INIT_GPU_ONLY);

    if (rc == ZE_UNINITIALIZED)
        return GPU_THERE;
    if (rc == ZE_SUCCESS)
        rc = ze->driver_get(&n, driver);
    for (uint32_t i = 0; rc == ZE_SUCCESS && i < n && i < GPU_MOST; i++)
        rc = add_driver(g, ze, driver[i]);
    return check(g, rc) < 0 ? GPU_FAILED : GPU_THERE;
}

static enum gpu_state intel_open(struct gpu *g)
{
    static const char *const names[] = {"libze_loader.so.1", NULL};
    void *library = gpu_library_open(g, names, NULL);
    struct ze *ze;

    if (!library)
        return g->why[0] ? GPU_FAILED : GPU_ABSENT;
    ze = calloc(1, sizeof *ze);
    if (!ze) {
        (void)gpu_fail(g, "no memory");
        return GPU_FAILED;
    }
    g->driver = ze;
    if (gpu_library_need(g, library, needed, LENGTH(needed), ze) < 0)
        return GPU_FAILED;
    ze->no_kernel = gpu_library_bind(library, computing, LENGTH(computing), ze);
    return find_devices(g, ze);
}

/* --- one of them ---------------------------------------------------------- */

/* The first group of queues that computes, which copies, too; 0 if none says
 * that it does. */
static uint32_t find_group(const struct ze *ze)
{
    struct ze_group group[SEVERAL] = {0};
    uint32_t n = SEVERAL;

    for (size_t i = 0; i < SEVERAL; i++)
        group[i].head.type = ZE_TYPE_GROUP_PROPERTIES;
    if (ze->group_properties(ze->used, &n, group) != ZE_SUCCESS)
        return 0;
    for (uint32_t i = 0; i < n && i < SEVERAL; i++)
        if (group[i].flags & ZE_GROUP_COMPUTE)
            return i;
    return 0;
}

static int intel_begin(struct gpu *g, unsigned i, size_t bytes)
{
    struct ze *ze = g->driver;
    const struct ze_context context = {{ZE_TYPE_CONTEXT, NULL}, 0};
    const struct ze_allocation memory = {{ZE_TYPE_DEVICE_MEMORY, NULL}, 0, 0};
    struct ze_queue queue = {.head = {ZE_TYPE_QUEUE, NULL},
                             .mode = ZE_QUEUE_SYNCHRONOUS};
    int rc;

    ze->used = ze->device[i];
    ze->bytes = bytes;
    queue.group = find_group(ze);
    rc = ze->context_create(ze->driver[i], &context, &ze->context);
    if (rc == ZE_SUCCESS)
        rc = ze->list_create(ze->context, ze->used, &queue, &ze->list);
    if (rc == ZE_SUCCESS)
        rc = ze->alloc(ze->context, &memory, bytes, 0, ze->used, &ze->a);
    if (rc == ZE_SUCCESS)
        rc = ze->alloc(ze->context, &memory, bytes, 0, ze->used, &ze->b);
    return check(g, rc);
}

/* What is put into the list has ended when the call returns. */
static int intel_copy(struct gpu *g, unsigned times)
{
    const struct ze *ze = g->driver;
    int rc = ZE_SUCCESS;

    while (rc == ZE_SUCCESS && times-- > 0)
        rc = ze->copy(ze->list, ze->b, ze->a, ze->bytes, NULL, 0, NULL);
    return check(g, rc);
}

static int intel_build(struct gpu *g)
{
    struct ze *ze = g->driver;
    const struct ze_module module = {.head = {ZE_TYPE_MODULE, NULL},
                                     .format = ZE_FORMAT_SPIRV,
                                     .bytes = sizeof gpu_spirv,
                                     .code = gpu_spirv};
    const struct ze_kernel kernel = {{ZE_TYPE_KERNEL, NULL}, 0, GPU_KERNEL};
    const float by = GPU_FACTOR;
    int rc;

    if (ze->no_kernel)
        return gpu_fail(g, "%s lacks %s: update the driver", g->library,
                        ze->no_kernel);
    rc = ze->module_create(ze->context, ze->used, &module, &ze->module, NULL);
    if (rc == ZE_SUCCESS)
        rc = ze->kernel_create(ze->module, &kernel, &ze->kernel);
    if (rc == ZE_SUCCESS)
        rc = ze->group_size(ze->kernel, GPU_THREADS, 1, 1);
    if (rc == ZE_SUCCESS)
        rc = ze->argument(ze->kernel, 0, sizeof ze->a, &ze->a);
    if (rc == ZE_SUCCESS)
        rc = ze->argument(ze->kernel, 2, sizeof by, &by);
    return check(g, rc);
}

static int intel_compute(struct gpu *g, uint32_t rounds, float *stored)
{
    const struct ze *ze = g->driver;
    const struct ze_count groups = {GPU_BLOCKS, 1, 1};
    int rc = ze->argument(ze->kernel, 1, sizeof rounds, &rounds);

    if (rc == ZE_SUCCESS)
        rc = ze->launch(ze->list, ze->kernel, &groups, NULL, 0, NULL);
    if (rc == ZE_SUCCESS)
        rc = ze->copy(ze->list, stored, ze->a, sizeof *stored, NULL, 0, NULL);
    return check(g, rc);
}

/* We have the result: whether it all goes well does not matter. */
static void intel_end(struct gpu *g)
{
    struct ze *ze = g->driver;

    if (ze->kernel)
        (void)ze->kernel_destroy(ze->kernel);
    if (ze->module)
        (void)ze->module_destroy(ze->module);
    if (ze->a)
        (void)ze->release(ze->context, ze->a);
    if (ze->b)
        (void)ze->release(ze->context, ze->b);
    if (ze->list)
        (void)ze->list_destroy(ze->list);
    if (ze->context)
        (void)ze->context_destroy(ze->context);
    ze->kernel = ze->module = ze->a = ze->b = ze->list = ze->context = NULL;
}

const struct gpu_maker gpu_intel = {
    .name = "Intel",
    .vendor = PCIE_VENDOR_INTEL,
    .library = "libze_loader.so.1",
    .open = intel_open,
    .begin = intel_begin,
    .copy = intel_copy,
    .build = intel_build,
    .compute = intel_compute,
    .end = intel_end,
};
