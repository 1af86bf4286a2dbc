/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * on_error.h - what happens to a step that evenstep cannot start beside: the
 * site's choice in plugin { on_error }.  Pure.
 */
#ifndef LAUNCHER_BASE_ON_ERROR_H
#define LAUNCHER_BASE_ON_ERROR_H

enum on_error {
    ON_ERROR_INPUT,    /* it starts, unless a file for it is missing */
    ON_ERROR_CONTINUE, /* it starts without evenstep */
    ON_ERROR_FAIL,     /* it does not start */
    ON_ERRORS,
};

/* Find one by its name; ON_ERRORS if there is none of that name. */
enum on_error on_error_find(const char *name);
const char *on_error_name(enum on_error on);

#endif
