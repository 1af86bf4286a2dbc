/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/step_env.h"
#include "launcher/base/step_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int step_env_put(const char *step, const void *lines, size_t len)
{
    char dir[STEP_PATH_MAX], socket[STEP_PATH_MAX],
        head[2 * STEP_PATH_MAX + 64];
    size_t head_len;
    char *text;
    int why = step_dir_put(step, "", NULL, 0);

    if (why)
        return why;
    if (step_dir_path(dir, step, "") < 0
        || step_dir_path(socket, step, STEP_SOCKET) < 0)
        return errno;
    snprintf(head, sizeof head, "EVENSTEP_DIR=%s\nEVENSTEP_SOCKET=%s\n", dir,
             socket);
    head_len = strlen(head);
    text = malloc(head_len + len);
    if (!text)
        return ENOMEM;
    memcpy(text, head, head_len);
    memcpy(text + head_len, lines, len);
    why = step_dir_put(step, STEP_ENV, text, head_len + len);
    free(text);
    return why;
}
