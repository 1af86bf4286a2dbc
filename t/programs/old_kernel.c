/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * old_kernel CMD [ARG...]: CMD on a kernel that has no system call which is
 * newer than Linux 4.18's: pidfd_open, clone3, close_range and so on.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FIRST_NEW 424 /* of 5.1; from there on the same on every machine */

int main(int argc, char **argv)
{
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_NEW, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    static const struct sock_fprog filter = {sizeof code / sizeof *code, code};

    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0) {
        perror("old_kernel");
        return 2;
    }
    (void)execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
