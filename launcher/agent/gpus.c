/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/gpus.h"
#include "launcher/base/sysfs.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CUDA "CUDA_VISIBLE_DEVICES"
#define ROCR "ROCR_VISIBLE_DEVICES"

/* --- named by the environment --------------------------------------------- */

static const char *value_of(char *const environment[], const char *name)
{
    size_t len = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, len) == 0 && (*environment)[len] == '=')
            return *environment + len + 1;
    return NULL;
}

/* Numbers and UUIDs; as in the CUDA guide, what is neither ends the list: so
 * does Slurm's NoDevFiles. */
static void take_words(struct gpus *g, const char *list)
{
    while (*list && g->n < GPUS_MAX) {
        size_t len = strcspn(list, ",");
        int is_word = (*list >= '0' && *list <= '9')
                      || strncmp(list, "GPU-", 4) == 0
                      || strncmp(list, "MIG-", 4) == 0;

        if (!is_word || len >= GPU_WORD)
            return;
        memcpy(g->gpu[g->n++].word, list, len);
        list += len + (list[len] == ',');
    }
}

/* --- there ---------------------------------------------------------------- */

static int is_nvidia(const struct dirent *d)
{
    return strncmp(d->d_name, "nvidia", 6) == 0 && d->d_name[6] >= '0'
           && d->d_name[6] <= '9';
}

/* Device files may be there of GPUs that others have. */
static size_t count_nvidia(const char *root)
{
    char path[PATH_MAX];
    struct dirent **file;
    size_t n = 0;
    int files;

    snprintf(path, sizeof path, "%s/dev", root);
    files = scandir(path, &file, is_nvidia, NULL);
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, "%s/dev/%s", root, file[i]->d_name);
        n += access(path, R_OK | W_OK) == 0;
        free(file[i]);
    }
    if (files >= 0)
        free(file);
    return n;
}

/* AMD's driver has a node for each GPU, in the order of their numbers; those of CPUs
 * have no gpu_id. */
struct kfd {
    char folder[PATH_MAX];
    struct dirent **node;
    int n;
};

static void kfd_open(struct kfd *k, const char *root)
{
    snprintf(k->folder, sizeof k->folder, "%s/sys/class/kfd/kfd/topology/nodes",
             root);
    k->n = scandir(k->folder, &k->node, NULL, versionsort);
}

static void kfd_close(struct kfd *k)
{
    for (int i = 0; i < k->n; i++)
        free(k->node[i]);
    if (k->n >= 0)
        free(k->node);
}

static int is_amd(const struct kfd *k, int i)
{
    uint64_t id;

    return k->node[i]->d_name[0] != '.'
           && sysfs_read_u64(&id, "%s/%s/gpu_id", k->folder, k->node[i]->d_name)
                  == 0
           && id > 0;
}

static size_t count_amd(const char *root)
{
    struct kfd k;
    size_t n = 0;

    kfd_open(&k, root);
    for (int i = 0; i < k.n; i++)
        n += is_amd(&k, i) ? 1 : 0;
    kfd_close(&k);
    return n;
}

static void count(struct gpus *g, int has_amd, const char *root)
{
    size_t n = has_amd ? count_amd(root) : count_nvidia(root);

    g->variable = has_amd ? ROCR : CUDA;
    g->n = n < GPUS_MAX ? n : GPUS_MAX;
    for (size_t i = 0; i < g->n; i++)
        snprintf(g->gpu[i].word, sizeof g->gpu[i].word, "%zu", i);
}

/* --- where ---------------------------------------------------------------- */

/* The k-th, or the one with a UUID. */
static int is_meant(const struct gpu *g, long k, int has_uuid)
{
    int is_number = g->word[0] >= '0' && g->word[0] <= '9';

    return is_number ? strtol(g->word, NULL, 10) == k : has_uuid;
}

static void take_near(struct gpu *g, const char *root, const char *address)
{
    char line[SYSFS_LINE];

    if (sysfs_read(line, "%s/sys/bus/pci/devices/%s/local_cpulist", root,
                   address)
        == 0)
        memcpy(g->near, line, sizeof g->near);
}

/* Has NVIDIA's GPU at a PCI address that UUID? */
static int has_uuid(const char *folder, const char *address, const char *uuid)
{
    char line[SYSFS_LINE];

    return sysfs_find(line, "GPU UUID:", "%s/%s/information", folder, address)
               == 0
           && strstr(line, uuid);
}

/* The PCI addresses in their order are the numbers, as with
 * CUDA_DEVICE_ORDER=PCI_BUS_ID. */
static void find_near_nvidia(struct gpu *g, const char *root)
{
    char folder[PATH_MAX];
    struct dirent **address;
    int files;
    long k = 0;

    snprintf(folder, sizeof folder, "%s/proc/driver/nvidia/gpus", root);
    files = scandir(folder, &address, NULL, alphasort);
    for (int i = 0; i < files; i++) {
        const char *name = address[i]->d_name;

        if (name[0] != '.' && is_meant(g, k++, has_uuid(folder, name, g->word)))
            take_near(g, root, name);
        free(address[i]);
    }
    if (files >= 0)
        free(address);
}

/* A property of an AMD GPU; 0: it has none. */
static uint64_t property(const struct kfd *k, int i, const char *name)
{
    uint64_t value = 0;

    (void)sysfs_find_u64(&value, name, "%s/%s/properties", k->folder,
                         k->node[i]->d_name);
    return value;
}

/* Its UUID is its unique_id in hexadecimal; its location_id has bus, device and
 * function of its PCI address. */
static void find_near_amd(struct gpu *g, const char *root)
{
    struct kfd k;
    long number = 0;

    kfd_open(&k, root);
    for (int i = 0; i < k.n; i++) {
        char uuid[GPU_WORD], address[32];
        uint64_t at;

        if (!is_amd(&k, i))
            continue;
        snprintf(uuid, sizeof uuid, "GPU-%016" PRIx64,
                 property(&k, i, "unique_id "));
        at = property(&k, i, "location_id ");
        snprintf(address, sizeof address, "%04x:%02x:%02x.%x",
                 (unsigned)property(&k, i, "domain "),
                 (unsigned)(at >> 8 & 0xff), (unsigned)(at >> 3 & 0x1f),
                 (unsigned)(at & 7));
        if (is_meant(g, number++, strcasecmp(uuid, g->word) == 0))
            take_near(g, root, address);
    }
    kfd_close(&k);
}

/* Slurm sets the variables of all makers, unless it knows which one a GPU has. */
void gpus_find(struct gpus *g, char *const environment[], const char *root)
{
    int has_amd = count_nvidia(root) == 0 && count_amd(root) > 0;
    const char *lists[][2] = {
        {CUDA, CUDA}, {ROCR, ROCR}, {"SLURM_STEP_GPUS", has_amd ? ROCR : CUDA}};
    const char *list = has_amd ? value_of(environment, ROCR) : NULL;

    memset(g, 0, sizeof *g);
    g->variable = ROCR;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !list; i++) {
        list = value_of(environment, lists[i][0]);
        g->variable = list ? lists[i][1] : CUDA;
    }
    if (list)
        take_words(g, list);
    else
        count(g, has_amd, root);
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->variable, CUDA) == 0)
            find_near_nvidia(&g->gpu[i], root);
        else
            find_near_amd(&g->gpu[i], root);
}
