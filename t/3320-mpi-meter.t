#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep-meter=mpi before unchanged programs of each MPI: their output is as without, whatever happens to them'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF
SLURM_PMIX_FENCE=$(slurm_pmix_fence)
export SLURM_PMIX_FENCE
for mpi in openmpi mpich; do
	command -v "mpicc.$mpi" >/dev/null && test_set_prereq "$mpi"
	command -v "mpif90.$mpi" >/dev/null && test_set_prereq "f90_$mpi"
done
step() { on_ctl timeout -k 5 30 srun -N2 --ntasks-per-node=2 "$@"; }
# plain OPTION... PROGRAM: into want; metered: into got, and its report.
plain() { step "$@" >want 2>err && cat want err; }
metered() { rm -f report && step --evenstep-meter=mpi "--evenstep-report=$PWD/report" "$@" >got 2>err; code=$?; cat got err; return $code; }
# regions N: four ranks have ended so many, together.
regions() { jq -es "(map(select(.type == \"rank\").rank) | sort) == [0, 1, 2, 3] and map(select(.type == \"step\").regions) == [$1]" report || { cat report; false; }; }
# ends_alike: as without.  Of 20 MPI_Aborts of MPICH, by pmi2, one ends with all that was
# printed and status 0, without the meter, too: Slurm 24.11.  One has hung without it: what a step
# leaves that was ended late holds the nodes, and goes before the next.
ends_alike() {
	step -K "$how" ./all "$why" >want 2>err; code=$?
	test $code != 0 && test $code != 124 && test_expect_code $code metered -K "$how" ./all "$why" && test_cmp want got
}

again() { on_ctl scancel -u "$(id -un)" && wait_for 60 no_jobs && ends_alike; }

test_expect_success 'up: two nodes' '
	testbed_up --nodes 2 --speeds none --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
for mpi in openmpi mpich; do
	how=--mpi=pmix
	test $mpi = openmpi || how=--mpi=pmi2
	test_expect_success "$mpi" "C, $mpi, $how: the same output, and all regions are told" '
		mpicc.$mpi -std=gnu11 -O1 -o all "$EVENSTEP_SRC/t/programs/mpi_all.c" && plain $how ./all && metered $how ./all && test_cmp want got && regions 41
	'
	test_expect_success "f90_$mpi" "Fortran, $mpi, mpi_f08: likewise" '
		mpif90.$mpi -O1 -DF08 -o fortran "$EVENSTEP_SRC/t/programs/mpi_fortran.F90" && plain $how ./fortran && metered $how ./fortran && test_cmp want got && regions 21
	'
	test_expect_success "$mpi" "$mpi: an agent is killed in the middle: the program goes on as if nothing were" '
		plain $how ./all && { metered $how ./all agent || test $? != 124; } && test_cmp want got
	'
	test_expect_success "$mpi" "$mpi: MPI_Abort, and a rank that is killed, end it with the status that they have without" '
		for why in abort kill; do
			ends_alike || again || again || return 1
		done
	'
done
test_expect_success 'down leaves nothing' '
	wait_for 60 none_of evenstep-agent && wait_for 60 no_jobs && wait_for 60 nodes_idle 2 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
