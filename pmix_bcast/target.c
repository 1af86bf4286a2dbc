/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int target_open(struct target *p, const char *path)
{
    char *text = strdup(path);
    char *slash = text ? strrchr(text, '/') : NULL;
    int why = 0;

    *p = TARGET_CLOSED;
    if (!slash)
        why = text ? EINVAL : ENOMEM;
    else if (slash[1] == '\0' || strcmp(slash + 1, ".") == 0
             || strcmp(slash + 1, "..") == 0)
        why = EISDIR;
    else if (strlen(slash + 1) >= sizeof p->name)
        why = ENAMETOOLONG;
    if (why == 0) {
        snprintf(p->name, sizeof p->name, "%s", slash + 1);
        slash[slash == text] = '\0';
        p->folder = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (p->folder < 0)
            why = errno;
    }
    free(text);
    return why;
}

/* A name is on the disk when its folder is.  One that we may not read, though
 * we may write there, goes with all of its file system. */
int target_sync(const struct target *p, int fd)
{
    int folder = openat(p->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int why = 0;

    if (folder < 0)
        return syncfs(fd) < 0 ? errno : 0;
    if (fsync(folder) < 0 && errno != EINVAL) /* some have no such thing */
        why = errno;
    close(folder);
    return why;
}

/* Where all may write, the sticky bit keeps names their owners'; the directory's own
 * owner may always change them.  Who shares a group shares it on purpose. */
const char *target_note(const struct target *p)
{
    struct stat st;

    if (p->folder < 0 || fstat(p->folder, &st) < 0
        || ((!(st.st_mode & S_IWOTH) || st.st_mode & S_ISVTX)
            && (st.st_uid == 0 || st.st_uid == geteuid())))
        return "";
    return "warning: other users may replace the copy: give a destination in a "
           "directory that only you may write to";
}

void target_close(struct target *p)
{
    if (p->folder >= 0)
        close(p->folder);
    *p = TARGET_CLOSED;
}
