/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/power/actuator_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int actuator_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_TRUNC);
    size_t len = strlen(text);
    int why = 0;

    if (fd < 0)
        return -1;
    if (write(fd, text, len)
        != (ssize_t)len) /* an attribute takes all or nothing */
        why = errno ? errno : EIO;
    if (close(fd) < 0 && !why)
        why = errno;
    errno = why;
    return why ? -1 : 0;
}

void actuator_add_run(struct actuator *a, pid_t pid, uint32_t part)
{
    if (a->parts.tasks == PART_TASKS_MAX)
        return;
    a->parts.task[a->parts.tasks].pid = pid;
    a->parts.task[a->parts.tasks++].part = part;
}

int actuator_add(struct actuator *a,
                 const char *path,
                 uint64_t least,
                 uint64_t most,
                 struct es_error *err)
{
    struct knob *more, *knob;
    char line[SYSFS_LINE];

    if (a->n == KNOBS_MAX || strlen(path) >= sizeof knob->path)
        return es_fail(err, ES_ENV, "report this", "%s: one knob too many",
                       path);
    if (sysfs_read(line, "%s", path) < 0 || strlen(line) >= KNOB_TEXT)
        return es_fail(err, ES_ENV, "choose another actuator", "%s: %s", path,
                       strerror(errno));
    more = reallocarray(a->knob, a->n + 1, sizeof *more);
    if (!more)
        return es_no_memory(err);
    a->knob = more;
    knob = &more[a->n++];
    memset(knob, 0, sizeof *knob);
    memcpy(knob->path, path, strlen(path) + 1);
    memcpy(knob->found, line, strlen(line) + 1);
    memcpy(knob->now, line, strlen(line) + 1);
    knob->least = least;
    knob->most = most;
    knob->part = PART_NONE;
    return 0;
}
