/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evenstep_r.c - libevenstep for R's .Call(); evenstep.R says how it is built.
 * Numbers are doubles, as R's are: exact up to 2^53.
 */
#include <R.h>
#include <Rinternals.h>
#include <errno.h>
#include <evenstep.h>
#include <string.h>

SEXP es_open(SEXP units, SEXP frames)
{
    double n = Rf_asReal(units), k = Rf_asReal(frames);
    int rc = -1;

    errno = EINVAL;
    if (n >= 1 && n <= 0x1p53 && k >= 0 && k <= 0x1p53)
        rc = evenstep_open((uint64_t)n, (uint64_t)k);
    if (rc < 0)
        Rf_error("evenstep_open: %s", strerror(errno));
    return Rf_ScalarLogical(rc == 1);
}

/* c(begin, end, frame), or NULL: there are no more. */
SEXP es_next(void)
{
    uint64_t begin, end;
    int rc = evenstep_next(&begin, &end);
    SEXP slice;

    if (rc < 0)
        Rf_error("evenstep_next: %s", strerror(errno));
    if (rc == 0)
        return R_NilValue;
    slice = PROTECT(Rf_allocVector(REALSXP, 3));
    REAL(slice)[0] = (double)begin;
    REAL(slice)[1] = (double)end;
    REAL(slice)[2] = (double)evenstep_frame();
    UNPROTECT(1);
    return slice;
}

SEXP es_done(void)
{
    if (evenstep_done() < 0)
        Rf_error("evenstep_done: %s", strerror(errno));
    return R_NilValue;
}

SEXP es_close(void)
{
    evenstep_close();
    return R_NilValue;
}
