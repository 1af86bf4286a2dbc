/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preloaded: whether this program has been given the functions of MPI, which it
 * is not linked with.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    puts(dlsym(RTLD_DEFAULT, "MPI_Barrier") ? "preloaded" : "plain");
    return 0;
}
