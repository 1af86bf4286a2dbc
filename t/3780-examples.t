#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what the README and the manuals tell a reader to type works: what needs Slurm'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
. "$EVENSTEP_SRC/t/lib/examples.sh"
unset EVENSTEP_CONF
PATH=$EVENSTEP_BUILD:$PATH
SLURM_PMIX_FENCE=$(slurm_pmix_fence)
export SLURM_PMIX_FENCE

test_expect_success 'up: four nodes' '
	testbed_up --nodes 4 --speeds 40,40,40,40 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
! on_ctl srun --mpi=list 2>&1 | grep -qw pmix || test_set_prereq PMIX
type_all slurm on_ctl timeout -k 5 120
test_expect_success 'down leaves nothing' '
	wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
