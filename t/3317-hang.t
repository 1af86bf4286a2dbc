#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a step that hangs, or of which a rank has died: who, of what, and who waits for it'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF

# run HOW [SRUN-OPTION...]: in the background; err has what is said.
run() {
	how=$1
	shift
	{ "$testbed" exec --name "$testbed_name" -- srun -N3 --mpi=pmix --evenstep-meter=mpi "--evenstep-report=$PWD/$how.json" "$@" ./mpi_hang "$how" 1 >got 2>err 3>&- 4>&- 5>&- & running=$!; }
}
end() { on_ctl scancel -u root; wait "$running"; wait_for 60 no_jobs && cat err "$how.json" && test -s "$how.json"; }
# What is said of a rank when all is over; of several that died at once, of which no
# one knows who was the first.
told() { grep -qE "^evenstep: (step [0-9]+[.]0: )?($1|all 3 ranks .*: one (died|was killed), or the step was cancelled or reached its time limit)$" err; }
said() { grep -qE "^evenstep: step [0-9]+[.]0: $1" err; }
ranks() { jq -es "map(select(.type == \"rank\")) | sort_by(.rank) | $1" "$how.json"; }

# That a rank is gone is seen at once, how it ended when slurmstepd has told the plugin,
# which may be later: then it is said to have ended.  The report has it.
# Ranks of Open MPI 5 do not wait for one that has died: they end.
others="; ranks 0 and 1 wait in MPI_Allreduce since then"
mpirun.openmpi --version | grep -q ") [1-4][.]" || others=
who="2 on n2" exit=3 # and of these any may be seen first
test -n "$others" || { who="[0-2] on n[0-2]" && exit="[0-9]+"; }

test_expect_success 'up: three nodes, an MPI program' '
	mpicc -O1 -o mpi_hang "$EVENSTEP_SRC/t/programs/mpi_hang.c" &&
	testbed_up --nodes 3 --speeds 40,40,40 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
test_expect_success 'all wait: after ten seconds that is said, with their calls' '
	run recv && wait_for 60 said "all ranks have waited for 1[0-9] s: .*rank 2 in MPI_Recv"; code=$?; end && test $code = 0 &&
	said "all ranks have waited .*ranks 0 and 1 in MPI_Allreduce" && test $(grep -c "have waited" err) = 1
'
test_expect_success 'the report counts a call that did not end' '
	ranks "all(.waiting > 9) and .[2].useful < 9"
'
test_expect_success 'a rank that was killed is named at once, with the signal and who waits' '
	run kill --kill-on-bad-exit=0 && if test -n "$others"; then wait_for 60 said "rank 2 on n2 (was killed by signal 9|ended) after [0-9.]+ s(, without MPI_Finalize)?$others"; code=$?; else code=0; fi; sleep 3; end && test $code = 0 &&
	told "rank 2 on n2 was killed by signal 9 after [0-9.]+ s.*|all 3 ranks .*, rank 2 on n2 first: it was killed, or .*"
'
test_expect_success 'the report: its time ends there, that of the others goes on' '
	ranks ".[2].state == \"died\" and .[2].signal == 9" &&
	{ test -z "$others" || ranks ".[2].useful + .[2].waiting + 2 < .[0].waiting + .[0].useful and .[2].since > 2"; } &&
	ranks "all(.cpu > 0 and .rss > 1000000 and (.bins.useful | length) > 1)"
'
test_expect_success 'one that exits without MPI_Finalize has its status' '
	run exit --kill-on-bad-exit=0 && if test -n "$others"; then wait_for 60 said "rank 2 on n2 (exited with status 3|ended) after [0-9.]+ s, without MPI_Finalize; ranks 0 and 1 wait in "; code=$?; else sleep 3; code=0; fi; end && test $code = 0 &&
	told "rank $who exited with status $exit after [0-9.]+ s, without MPI_Finalize.*" && ranks ".[2].exit == 3"
'
test_expect_success 'one that computes for long is no hang' '
	run long && wait $running && cat err && ! said "all ranks" && ! said "rank 2 on" && ranks "all(.state == \"left\") and .[2].cpu > 1"
'
test_expect_success 'down leaves nothing' '
	wait_for 60 nodes_idle 3 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
