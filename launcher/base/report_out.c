/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/report_out.h"
#include "launcher/base/user_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int out_fail(const struct report_out *r, struct es_error *err)
{
    return es_fail(err, ES_WORK, es_mend_file(errno), "--report: %s: %s",
                   r->path, strerror(errno));
}

int report_out_open(struct report_out *r,
                    const char *path,
                    struct es_error *err)
{
    const char *why;
    int fd;

    *r = (struct report_out){.path = path};
    if (!path)
        return 0;
    fd = user_file_create(path, 0, &why);
    r->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (r->file)
        return 0;
    if (fd >= 0) {
        why = strerror(errno);
        close(fd);
    }
    return es_fail(err, ES_USAGE, "name a file that you may write",
                   "--report: %s: %s", path, why);
}

/* A frame of 1,000 slices is 100 KB: json_dumpf() would write it word by
 * word. */
int report_out_line(struct report_out *r, json_t *line, struct es_error *err)
{
    char *text = NULL;
    int rc = -1;

    if (r->file && line)
        text = json_dumps(line, JSON_COMPACT);
    errno = ENOMEM;
    if (!r->file
        || (text && fputs(text, r->file) != EOF && putc('\n', r->file) != EOF
            && fflush(r->file) == 0))
        rc = 0;
    free(text);
    json_decref(line);
    return rc == 0 ? 0 : out_fail(r, err);
}

int report_out_close(struct report_out *r, struct es_error *err)
{
    FILE *file = r->file;

    r->file = NULL;
    if (file && fclose(file) != 0)
        return out_fail(r, err);
    return 0;
}
