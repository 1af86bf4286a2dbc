/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/agent/gpus.h"
#include "launcher/base/sysfs.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The driver's nodes; those of CPUs have no gpu_id. */
static size_t count_amd(const char *root)
{
    const char *nodes = "/sys/class/kfd/kfd/topology/nodes";
    char path[PATH_MAX], line[SYSFS_LINE];
    struct dirent **node;
    size_t n = 0;
    int files;

    snprintf(path, sizeof path, "%s%s", root, nodes);
    files = scandir(path, &node, NULL, NULL);
    for (int i = 0; i < files; i++) {
        n += node[i]->d_name[0] != '.'
             && sysfs_read(line, "%s/%s/gpu_id", path, node[i]->d_name) == 0
             && strtoul(line, NULL, 10) > 0;
        free(node[i]);
    }
    if (files >= 0)
        free(node);
    return n;
}

static void count(struct gpus *g, const char *root)
{
    size_t n = count_nvidia(root);

    if (n == 0) {
        n = count_amd(root);
        g->variable = n > 0 ? ROCR : CUDA;
    }
    g->n = n < GPUS_MAX ? n : GPUS_MAX;
    for (size_t i = 0; i < g->n; i++)
        snprintf(g->gpu[i].word, sizeof g->gpu[i].word, "%zu", i);
}

/* --- where ---------------------------------------------------------------- */

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
static void find_near(struct gpu *g, const char *root)
{
    int is_number = g->word[0] >= '0' && g->word[0] <= '9';
    long number = is_number ? strtol(g->word, NULL, 10) : -1;
    char folder[PATH_MAX], line[SYSFS_LINE];
    struct dirent **address;
    int files, k = 0;

    snprintf(folder, sizeof folder, "%s/proc/driver/nvidia/gpus", root);
    files = scandir(folder, &address, NULL, alphasort);
    for (int i = 0; i < files; i++) {
        const char *name = address[i]->d_name;

        if (name[0] != '.'
            && (is_number ? k++ == number : has_uuid(folder, name, g->word))
            && sysfs_read(line, "%s/sys/bus/pci/devices/%s/local_cpulist", root,
                          name)
                   == 0)
            memcpy(g->near, line, sizeof g->near);
        free(address[i]);
    }
    if (files >= 0)
        free(address);
}

void gpus_find(struct gpus *g, char *const environment[], const char *root)
{
    static const char *const lists[][2] = {
        {CUDA, CUDA}, {ROCR, ROCR}, {"SLURM_STEP_GPUS", CUDA}};
    const char *list = NULL;

    memset(g, 0, sizeof *g);
    g->variable = CUDA;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !list; i++) {
        list = value_of(environment, lists[i][0]);
        g->variable = list ? lists[i][1] : CUDA;
    }
    if (list)
        take_words(g, list);
    else
        count(g, root);
    for (size_t i = 0; i < g->n && strcmp(g->variable, CUDA) == 0; i++)
        find_near(&g->gpu[i], root);
}
