/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu_level_zero.h - the types and values of oneAPI Level Zero that are used, as
 * in the Level Zero Specification 1.9, Core API.
 */
#ifndef LAUNCHER_PROBE_GPU_LEVEL_ZERO_H
#define LAUNCHER_PROBE_GPU_LEVEL_ZERO_H

#include <stddef.h>
#include <stdint.h>

/* ze_result_t */
enum {
    ZE_SUCCESS = 0,
    ZE_DEVICE_LOST = 0x70000001,
    ZE_OUT_OF_HOST_MEMORY = 0x70000002,
    ZE_OUT_OF_DEVICE_MEMORY = 0x70000003,
    ZE_MODULE_BUILD_FAILURE = 0x70000004,
    ZE_DEPENDENCY_UNAVAILABLE = 0x70020000,
    ZE_UNINITIALIZED = 0x78000001, /* the loader has found no driver */
    ZE_UNSUPPORTED_VERSION = 0x78000002,
};

enum { ZE_INIT_GPU_ONLY = 1, ZE_DEVICE_GPU = 1, ZE_DEVICE_INTEGRATED = 1 };
enum { ZE_QUEUE_SYNCHRONOUS = 1, ZE_GROUP_COMPUTE = 1, ZE_FORMAT_SPIRV = 0 };

/* ze_structure_type_t */
enum {
    ZE_TYPE_DEVICE_PROPERTIES = 0x3,
    ZE_TYPE_GROUP_PROPERTIES = 0x6,
    ZE_TYPE_MEMORY_PROPERTIES = 0x7,
    ZE_TYPE_CONTEXT = 0xd,
    ZE_TYPE_QUEUE = 0xe,
    ZE_TYPE_DEVICE_MEMORY = 0x15,
    ZE_TYPE_MODULE = 0x1b,
    ZE_TYPE_KERNEL = 0x1d,
};

/* How all of them begin. */
struct ze_head {
    uint32_t type;
    const void *next;
};

struct ze_device {
    struct ze_head head;
    uint32_t type, vendor, device, flags, subdevice, clock;
    uint64_t most_allocated;
    uint32_t contexts, priorities, threads, width, units, subslices, slices;
    uint64_t timer;
    uint32_t timestamp_bits, kernel_timestamp_bits;
    uint8_t uuid[16];
    char name[256];
};

struct ze_memory {
    struct ze_head head;
    uint32_t flags, clock, bus_width;
    uint64_t bytes;
    char name[256];
};

struct ze_group { /* of command queues */
    struct ze_head head;
    uint32_t flags;
    size_t fill_pattern;
    uint32_t queues;
};

struct ze_context {
    struct ze_head head;
    uint32_t flags;
};

struct ze_queue {
    struct ze_head head;
    uint32_t group, index, flags, mode, priority;
};

struct ze_allocation {
    struct ze_head head;
    uint32_t flags, ordinal;
};

struct ze_module {
    struct ze_head head;
    uint32_t format;
    size_t bytes;
    const void *code;
    const char *flags;
    const void *constants;
};

struct ze_kernel {
    struct ze_head head;
    uint32_t flags;
    const char *name;
};

struct ze_count {
    uint32_t x, y, z;
};

#endif
