#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='programs that keep their own books: the report of a step is within 0.03 of them, and its verdict is true'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF
command -v mpicc.openmpi >/dev/null && test_set_prereq openmpi
command -v mpif90.openmpi >/dev/null && test_set_prereq f90
command -v mpicc.mpich >/dev/null && test_set_prereq mpich
/usr/bin/python3 -c "import mpi4py" 2>/dev/null && test_set_prereq mpi4py

# truth HOW MPI CASE...: a row each in rows, none of which is HOW.  Where others have
# this machine's CPUs, a rank that asks MPI again and again loses its own in between,
# so it has three tries.
truth() {
	how=$1 MPI=$2 && shift 2
	for try in 1 2 3; do
		MPI=$MPI UNIT=20 TESTBED=$testbed_name "$EVENSTEP_SRC/contrib/bench-truth" "$@" >rows 2>err
		cat rows err
		test "$(grep -cE " (near|far ) +(right|wrong)" rows)" = $# && ! grep -E " ($how)" rows && return
	done
	return 1
}
near() { truth far "$@"; }
right() { truth "far|wrong" "$@"; }

test_expect_success 'up: four nodes' '
	testbed_up --nodes 4 --speeds 40 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
test_expect_success openmpi 'a rank with four times the work, by collectives, messages and communicators' '
	right openmpi uneven halo waitall create_group
'
test_expect_success openmpi 'the end of the program: MPI_Finalize, and the stretch before it' '
	right openmpi finalize last_stretch
'
test_expect_success openmpi 'equal work, one after another, and work that goes around' '
	near openmpi even pipeline moves
'
test_expect_success openmpi 'a program that asks again and again waits, and has worked if it did between its questions' '
	right openmpi test_work && near openmpi test testsome test_sleep
'
test_expect_success openmpi 'files that all ranks write together, or one alone' '
	right openmpi write_all write_alone
'
test_expect_success openmpi 'all calls by another thread than the first' '
	near openmpi by_thread
'
test_expect_success openmpi 'others who take the CPU of a rank: its own threads, another program, a quota' '
	right openmpi own_threads && right openmpi neighbour && right openmpi quota
'
test_expect_success openmpi,f90 'mpif.h and mpi_f08' '
	right openmpi f_uneven f08_uneven && near openmpi f_test f08_test f08_write_all
'
test_expect_success openmpi,mpi4py 'mpi4py, and its pool' '
	right openmpi py_uneven && near openmpi py_futures
'
test_expect_success mpich 'MPICH: memory of others, and messages in parts' '
	near mpich win_allocate win_fence win_lock win_pscw partitioned
'
test_expect_success 'down leaves nothing' '
	wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
