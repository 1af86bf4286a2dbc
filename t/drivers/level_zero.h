/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * level_zero.h - types of Level Zero, not those of launcher/probe, so that a slip
 * in one of them shows.
 */
#ifndef T_DRIVERS_LEVEL_ZERO_H
#define T_DRIVERS_LEVEL_ZERO_H

#include <stddef.h>
#include <stdint.h>

struct device_properties { /* ze_device_properties_t */
    uint32_t stype;
    void *next;
    uint32_t type, vendor_id, device_id, flags, subdevice_id, core_clock_rate;
    uint64_t max_mem_alloc_size;
    uint32_t max_hardware_contexts, max_command_queue_priority;
    uint32_t num_threads_per_eu, physical_eu_simd_width;
    uint32_t num_eus_per_subslice, num_subslices_per_slice, num_slices;
    uint64_t timer_resolution;
    uint32_t timestamp_valid_bits, kernel_timestamp_valid_bits;
    uint8_t uuid[16];
    char name[256];
};

struct memory_properties { /* ze_device_memory_properties_t */
    uint32_t stype;
    void *next;
    uint32_t flags, max_clock_rate, max_bus_width;
    uint64_t total_size;
    char name[256];
};

struct group_properties { /* ze_command_queue_group_properties_t */
    uint32_t stype;
    void *next;
    uint32_t flags;
    size_t max_memory_fill_pattern_size;
    uint32_t num_queues;
};

struct queue_desc { /* ze_command_queue_desc_t */
    uint32_t stype;
    const void *next;
    uint32_t ordinal, index, flags, mode, priority;
};

struct module_desc { /* ze_module_desc_t */
    uint32_t stype;
    const void *next;
    uint32_t format;
    size_t input_size;
    const uint32_t *input_module;
    const char *build_flags;
    const void *constants;
};

struct kernel_desc { /* ze_kernel_desc_t */
    uint32_t stype;
    const void *next;
    uint32_t flags;
    const char *name;
};

struct group_count {
    uint32_t x, y, z;
};

#endif
