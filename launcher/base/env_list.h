/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env_list.h - an environment made from another: some of its entries, and more.
 */
#ifndef LAUNCHER_BASE_ENV_LIST_H
#define LAUNCHER_BASE_ENV_LIST_H

/*
 * Of env those entries that keeps() (NULL: all), then entry, if it is not NULL.
 * The strings stay where they are; free() the list.  NULL if memory ran out.
 */
char **env_list_make(char *const env[],
                     int (*keeps)(const char *entry),
                     char *entry);

#endif
