# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
#
# slurm_release.sh - what differs between releases of Slurm, for the testbed, the
# tests and the packages, which source it; in C it is in spank_plugin/slurm_release.c.

# slurm_is_since RELEASE: the Slurm of this machine is that or a later one.
slurm_is_since() {
    # slurm-wlm 22.05.8
    printf '%s\n' "$1" "$(slurmd -V | sed 's/^[^0-9]*//')" | sort -CV
}

# slurm_release_of_headers: that for which a plugin is built here, as 22.05, or nothing.
slurm_release_of_headers() {
    printf '#include <slurm/slurm_version.h>\nof SLURM_VERSION_NUMBER\n' | cc -E -P - 2>/dev/null |
        sed -n 's/^of \(0x[0-9a-f]*\)$/\1/p' | while read -r number; do
        printf '%02d.%02d\n' $((number >> 16 & 255)) $((number >> 8 & 255))
    done
}

# slurm_without_cgroups: a cgroup.conf that keeps Slurm from using cgroups.  Its v2
# plugin starts even if nothing needs it, and systemd then moves the tasks out of
# the node's group, which limits its speed.  The v1 plugin is not used by anything
# in the testbed's slurm.conf, and since 24.05 there need be none.
slurm_without_cgroups() {
    if slurm_is_since 24.05; then
        echo "CgroupPlugin=disabled"
    else
        echo "CgroupPlugin=cgroup/v1"
    fi
}

# slurm_plugin NAME: a plugin's file, or nothing.
slurm_plugin() {
    find /usr/lib /usr/lib64 /usr/local/lib /opt -name "$1.so" -print -quit 2>/dev/null
}

# slurm_has_pmix: Debian has built it without since 26.05.
slurm_has_pmix() { test -n "$(slurm_plugin 'mpi_pmix*')"; }

# slurm_pmix_fence: which collective is to be PMIx's fence under MPI programs.  The
# ring of 22.05 now and then lets some through and leaves the others in it; its tree
# lets each through at once.  That is no harm to Open MPI 4, but in Open MPI 5 a rank
# that is sent to while it is still in MPI_Init crashes there (its issue 12495).
# 24.11: 48 of 48 runs under the ring and 22 of 24 under the tree were through.
slurm_pmix_fence() {
    if slurm_is_since 24.11; then
        echo ring
    else
        echo tree
    fi
}
