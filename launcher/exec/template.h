/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * template.h - what CMD becomes for one slice: {begin} {end} {count} {frame}
 * {label} {node} in its words are filled in, and EVENSTEP_BEGIN, _END,
 * _COUNT, _FRAME, _LABEL, _NODE set (design, section 7).  Any other text in
 * braces stays as it is.
 */
#ifndef LAUNCHER_EXEC_TEMPLATE_H
#define LAUNCHER_EXEC_TEMPLATE_H

#include "launcher/wire/protocol.h"

/*
 * The words of argv filled in, or the environment env without its EVENSTEP_
 * slice variables and with this slice's.  NULL-ended, owned by the caller,
 * ended with template_free(); NULL if memory ran out.
 */
char **template_argv(char *const argv[],
                     const struct msg_run *slice,
                     const char *node);
char **template_environ(char *const env[],
                        const struct msg_run *slice,
                        const char *node);
void template_free(char **words);

#endif
