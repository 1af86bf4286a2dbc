/* SPDX-License-Identifier: BSD-2-Clause */
#include "spank_plugin/plugin_libs.h"

#include <stdio.h>
#include <string.h>

#include "spank_plugin/env_file.h"

#define VARIABLE  "EVENSTEP_LIBS"
#define PATHS     "LD_LIBRARY_PATH"
#define LIST_SIZE 32768 /* of what the user has in it */

/* One line a node. */
static void complain(spank_t sp)
{
    int task;

    if (spank_get_item(sp, S_TASK_ID, &task) == ESPANK_SUCCESS && task != 0)
        return;
    slurm_error("evenstep: this node's tasks do not look where "
                "--evenstep-libs has put their libraries: " PATHS
                " is too long: shorten it");
}

/* A task of a task has them in front already. */
static int is_first(const char *list, const char *folders)
{
    size_t len = strlen(folders);

    return strncmp(list, folders, len) == 0
           && (list[len] == ':' || list[len] == '\0');
}

/* An empty list has no colon behind it: that would be the working directory. */
static int put_first(spank_t sp, const char *folders)
{
    char list[LIST_SIZE], all[LIST_SIZE + ENV_VALUE_LEN + 2];
    spank_err_t rc = spank_getenv(sp, PATHS, list, sizeof list);

    if (rc == ESPANK_ENV_NOEXIST)
        list[0] = '\0';
    else if (rc != ESPANK_SUCCESS)
        return -1;
    if (is_first(list, folders))
        return 0;
    (void)snprintf(all, sizeof all, "%s%s%s", folders, list[0] ? ":" : "",
                   list);
    return spank_setenv(sp, PATHS, all, 1) == ESPANK_SUCCESS ? 0 : -1;
}

void plugin_libs_add(spank_t sp)
{
    char folders[ENV_VALUE_LEN + 1];

    if (spank_getenv(sp, VARIABLE, folders, sizeof folders) != ESPANK_SUCCESS)
        return;
    (void)spank_unsetenv(sp, VARIABLE);
    if (folders[0] && put_first(sp, folders) < 0)
        complain(sp);
}
