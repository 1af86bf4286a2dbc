/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for Intel's Level Zero loader; see stand_in.h.  Beside its devices
 * it has graphics inside of a processor, which are not to be counted, in a
 * driver of their own.
 */
#include "level_zero.h"
#include "stand_in.h"

enum { INVALID = 0x78000004 };

PUBLIC int zeInit(uint32_t flags);
PUBLIC int zeDriverGet(uint32_t *n, void **driver);
PUBLIC int zeDeviceGet(const void *driver, uint32_t *n, void **device);
PUBLIC int zeDeviceGetProperties(const void *device,
                                 struct device_properties *p);
PUBLIC int zeDeviceGetMemoryProperties(const void *device,
                                       uint32_t *n,
                                       struct memory_properties *p);
PUBLIC int zeDeviceGetCommandQueueGroupProperties(const void *device,
                                                  uint32_t *n,
                                                  struct group_properties *p);
PUBLIC int zeContextCreate(const void *driver,
                           const uint32_t *desc,
                           void **context);
PUBLIC int zeContextDestroy(const void *context);
PUBLIC int zeCommandListCreateImmediate(const void *context,
                                        const void *device,
                                        const struct queue_desc *desc,
                                        void **list);
PUBLIC int zeCommandListDestroy(const void *list);
PUBLIC int zeMemAllocDevice(const void *context,
                            const uint32_t *desc,
                            size_t bytes,
                            size_t alignment,
                            const void *device,
                            void **memory);
PUBLIC int zeMemFree(const void *context, const void *memory);
PUBLIC int zeCommandListAppendMemoryCopy(const void *list,
                                         void *to,
                                         const void *from,
                                         size_t bytes,
                                         const void *signal,
                                         uint32_t waits,
                                         void **wait);
PUBLIC int zeModuleCreate(const void *context,
                          const void *device,
                          const struct module_desc *desc,
                          void **module,
                          void **log);
PUBLIC int zeModuleDestroy(const void *module);
PUBLIC int zeKernelCreate(const void *module,
                          const struct kernel_desc *desc,
                          void **kernel);
PUBLIC int zeKernelDestroy(const void *kernel);
PUBLIC int zeKernelSetGroupSize(const void *kernel,
                                uint32_t x,
                                uint32_t y,
                                uint32_t z);
PUBLIC int zeKernelSetArgumentValue(const void *kernel,
                                    uint32_t i,
                                    size_t bytes,
                                    const void *value);
PUBLIC int zeCommandListAppendLaunchKernel(const void *list,
                                           const void *kernel,
                                           const struct group_count *groups,
                                           const void *signal,
                                           uint32_t waits,
                                           void **wait);

/* What handles point to. */
static char drivers[2], gpu_devices[64], graphics, the_context, the_list,
    the_module, the_kernel;
static void *argument_out;
static uint32_t argument_rounds;
static float argument_by;

int zeInit(uint32_t flags)
{
    behave("");
    if (flags != 1)
        return INVALID;
    return asked("init", 1) > 0 ? asked("init", 1) : 0;
}

int zeDriverGet(uint32_t *n, void **driver)
{
    if (*n < 2)
        return INVALID;
    *n = 2;
    driver[0] = &drivers[0];
    driver[1] = &drivers[1];
    return 0;
}

int zeDeviceGet(const void *driver, uint32_t *n, void **device)
{
    uint32_t ours = (uint32_t)left_by("ZE_AFFINITY_MASK");

    if (driver == &drivers[0]) {
        *n = 1;
        device[0] = &graphics;
        return 0;
    }
    *n = *n < ours ? *n : ours;
    for (uint32_t i = 0; i < *n; i++)
        device[i] = &gpu_devices[i];
    return 0;
}

int zeDeviceGetProperties(const void *device, struct device_properties *p)
{
    if (p->stype != 0x3 || p->next)
        return INVALID;
    p->type = 1;
    p->flags = device == &graphics;
    snprintf(p->name, sizeof p->name, "%s", device_name());
    return 0;
}

/* In two halves. */
int zeDeviceGetMemoryProperties(const void *device,
                                uint32_t *n,
                                struct memory_properties *p)
{
    if (device == &graphics || *n < 2 || p[1].stype != 0x7 || p[1].next)
        return INVALID;
    *n = 2;
    p[0].total_size = p[1].total_size = device_bytes() / 2;
    return 0;
}

/* The second computes. */
int zeDeviceGetCommandQueueGroupProperties(const void *device,
                                           uint32_t *n,
                                           struct group_properties *p)
{
    if (device == &graphics || *n < 2 || p[1].stype != 0x6 || p[1].next)
        return INVALID;
    *n = 2;
    p[0].flags = 2;
    p[1].flags = 3;
    p[0].num_queues = p[1].num_queues = 1;
    return 0;
}

int zeContextCreate(const void *driver, const uint32_t *desc, void **context)
{
    *context = &the_context;
    return driver == &drivers[1] && desc[0] == 0xd ? 0 : INVALID;
}

int zeContextDestroy(const void *context)
{
    release_all();
    return context == &the_context ? 0 : INVALID;
}

int zeCommandListCreateImmediate(const void *context,
                                 const void *device,
                                 const struct queue_desc *desc,
                                 void **list)
{
    *list = &the_list;
    return context == &the_context && device != &graphics && desc->stype == 0xe
                   && desc->ordinal == 1 && desc->index == 0 && desc->mode == 1
               ? 0
               : INVALID;
}

int zeCommandListDestroy(const void *list)
{
    return list == &the_list ? 0 : INVALID;
}

#ifndef OLD
int zeMemAllocDevice(const void *context,
                     const uint32_t *desc,
                     size_t bytes,
                     size_t alignment,
                     const void *device,
                     void **memory)
{
    *memory = allocate(bytes);
    if (context != &the_context || desc[0] != 0x15 || alignment
        || device == &graphics)
        return INVALID;
    if (asked("alloc", 1) > 0)
        return asked("alloc", 1);
    return *memory ? 0 : 0x70000003;
}
#endif

int zeMemFree(const void *context, const void *memory)
{
    return context == &the_context && memory ? 0 : INVALID;
}

int zeCommandListAppendMemoryCopy(const void *list,
                                  void *to,
                                  const void *from,
                                  size_t bytes,
                                  const void *signal,
                                  uint32_t waits,
                                  void **wait)
{
    if (bytes == sizeof(float))
        memcpy(to, from, bytes);
    else
        copy(to, from, bytes);
    return list == &the_list && !signal && !waits && !wait ? 0 : INVALID;
}

#ifndef BARE
int zeModuleCreate(const void *context,
                   const void *device,
                   const struct module_desc *desc,
                   void **module,
                   void **log)
{
    *module = &the_module;
    if (context != &the_context || device == &graphics || desc->stype != 0x1b
        || desc->format != 0 || desc->input_module[0] != 0x07230203
        || desc->input_size % 4 != 0 || desc->build_flags || log)
        return INVALID;
    return asked("build", 1) > 0 ? asked("build", 1) : 0;
}
#endif

int zeModuleDestroy(const void *module)
{
    return module == &the_module ? 0 : INVALID;
}

int zeKernelCreate(const void *module,
                   const struct kernel_desc *desc,
                   void **kernel)
{
    *kernel = &the_kernel;
    return module == &the_module && desc->stype == 0x1d
                   && strcmp(desc->name, "evenstep_rate") == 0
               ? 0
               : INVALID;
}

int zeKernelDestroy(const void *kernel)
{
    return kernel == &the_kernel ? 0 : INVALID;
}

int zeKernelSetGroupSize(const void *kernel, uint32_t x, uint32_t y, uint32_t z)
{
    return kernel == &the_kernel && x == 256 && y == 1 && z == 1 ? 0 : INVALID;
}

int zeKernelSetArgumentValue(const void *kernel,
                             uint32_t i,
                             size_t bytes,
                             const void *value)
{
    void *const into[] = {&argument_out, &argument_rounds, &argument_by};
    const size_t size[] = {sizeof argument_out, sizeof argument_rounds,
                           sizeof argument_by};

    if (kernel != &the_kernel || i > 2 || bytes != size[i])
        return INVALID;
    memcpy(into[i], value, bytes);
    return 0;
}

int zeCommandListAppendLaunchKernel(const void *list,
                                    const void *kernel,
                                    const struct group_count *groups,
                                    const void *signal,
                                    uint32_t waits,
                                    void **wait)
{
    if (list != &the_list || kernel != &the_kernel || groups->x != 4096
        || groups->y != 1 || groups->z != 1 || signal || waits || wait
        || !(argument_by > 0.4F && argument_by < 0.6F))
        return INVALID;
    compute(argument_out, argument_rounds);
    return 0;
}
