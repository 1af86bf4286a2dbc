/* SPDX-License-Identifier: BSD-2-Clause */
#include "pmix_bcast/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int es_fail(struct es_error *err,
            enum es_kind kind,
            const char *mend,
            const char *fmt,
            ...)
{
    int saved = errno;
    va_list ap;

    if (err) {
        err->kind = kind;
        snprintf(err->mend, sizeof err->mend, "%s", mend);
        va_start(ap, fmt);
        vsnprintf(err->what, sizeof err->what, fmt, ap);
        va_end(ap);
    }
    errno = saved;
    return -1;
}

int es_no_memory(struct es_error *err)
{
    return es_fail(err, ES_ENV, "free some memory", "out of memory");
}

int es_no_space(struct es_error *err)
{
    return es_fail(err, ES_WORK,
                   errno == EPIPE ? "its reader has gone" : "free some space",
                   "cannot write");
}

const char *es_mend_file(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "free some space or name another file";
    case EFBIG:
        return "raise ulimit -f or name another file";
    case EACCES:
    case EPERM:
    case EROFS:
        return "name a file that you may write";
    case ENOENT:
    case ENOTDIR:
        return "name another file, in a folder that is there";
    case ENOMEM:
        return "free some memory";
    case EPIPE:
        return "its reader has gone";
    default:
        return "name another file";
    }
}
