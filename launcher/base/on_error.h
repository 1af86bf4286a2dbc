/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * on_error.h - what becomes of a step that cannot be attended, as the site
 * says it in plugin { on_error }.  Pure.
 */
#ifndef LAUNCHER_BASE_ON_ERROR_H
#define LAUNCHER_BASE_ON_ERROR_H

enum on_error {
    ON_ERROR_INPUT,    /* it goes on, but not without its input */
    ON_ERROR_CONTINUE, /* it goes on */
    ON_ERROR_FAIL,     /* it is not started */
    ON_ERRORS,
};

/* By its name; ON_ERRORS if it is none. */
enum on_error on_error_find(const char *name);
const char *on_error_name(enum on_error on);

#endif
