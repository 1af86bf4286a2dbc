/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the plugin starts has no descriptors of srun's, also where libc cannot
 * close all above 2 by one word: glibc before 2.34.
 */
#define CLOSE_EACH
#include "spank_plugin/plugin_child.c"
#include "tap.h"

static const char *hear(int fd)
{
    static char text[256];
    size_t len = 0;
    ssize_t n;

    while ((n = read(fd, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    return text;
}

int main(void)
{
    char *const argv[] = {"/bin/sh", "-c", "ls /proc/$$/fd; echo $CHILD", NULL};
    struct plugin_child c;

    for (int i = 0; i < 20; i++)
        if (open("/dev/null", O_RDONLY) < 0) /* the child is to have none */
            bail("no descriptors");
    (void)alarm(60);
    is_int(plugin_child_start(&c, argv, "CHILD=here"), 0, "a child starts");
    is_str(hear(c.stdout_fd), "0\n1\n2\nhere\n", "with three descriptors");
    ok(plugin_child_stop(&c, 10000), "and ends");
    return done();
}
