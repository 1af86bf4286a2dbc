/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stand-in for AMD's HIPRTC, whose code is a word; see stand_in.h.  compile=E
 * is its error.
 */
#include "stand_in.h"

PUBLIC int hiprtcCreateProgram(void **program,
                               const char *source,
                               const char *name,
                               int headers,
                               const char **header,
                               const char **header_name);
PUBLIC int hiprtcCompileProgram(const void *program,
                                int options,
                                const char **option);
PUBLIC int hiprtcGetCodeSize(const void *program, size_t *bytes);
PUBLIC int hiprtcGetCode(const void *program, char *code);
PUBLIC const char *hiprtcGetErrorString(int error);

static const char code_word[] = "translated";

int hiprtcCreateProgram(void **program,
                        const char *source,
                        const char *name,
                        int headers,
                        const char **header,
                        const char **header_name)
{
    *program = &n_allocated;
    return strstr(source, "__global__ void evenstep_rate(") && name
                   && headers == 0 && !header && !header_name
               ? 0
               : 3;
}

int hiprtcCompileProgram(const void *program, int options, const char **option)
{
    if (program != &n_allocated || options != 0 || option)
        return 4;
    return asked("compile", 1) > 0 ? asked("compile", 1) : 0;
}

int hiprtcGetCodeSize(const void *program, size_t *bytes)
{
    *bytes = sizeof code_word;
    return program == &n_allocated ? 0 : 4;
}

int hiprtcGetCode(const void *program, char *code)
{
    memcpy(code, code_word, sizeof code_word);
    return program == &n_allocated ? 0 : 4;
}

const char *hiprtcGetErrorString(int error)
{
    return error == 6 ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR_INPUT";
}
