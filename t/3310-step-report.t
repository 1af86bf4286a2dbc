#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep-report: an unchanged program'"'"'s efficiency, who made the others wait, and why'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF

# report NODES W0,W1,... FILE: two ranks a node; what they print is in got, what evenstep says in err.
report() {
	on_ctl srun -w "$1" --ntasks-per-node=2 --mpi=pmix --evenstep-meter=mpi "--evenstep-report=$PWD/$3" ./uneven 25 10 "$2" >got 2>err
	code=$?
	cat err
	cat "$3"
	return $code
}
step() { jq -es "map(select(.type == \"step\")) | length == 1 and (.[0] | $1)" "$2"; }

test_expect_success 'up: four nodes, of which the last is slow; an Open MPI program' '
	mpicc -O1 -o uneven "$EVENSTEP_SRC/t/programs/uneven.c" &&
	testbed_up --nodes 4 --speeds 30,30,30,15 --plugin "$EVENSTEP_BUILD/evenstep.so" \
		--plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
test_expect_success 'a slow node is named, and that it is slow' '
	report "n[0-3]" 1 slow && mentioned "^evenstep: step [0-9]+[.]0: parallel efficiency 0[.][0-9]+ = load balance 0[.][0-9]+ x communication [01][.][0-9]+, over 4 nodes, 8 ranks, [0-9]+ regions of " &&
	mentioned "^evenstep: n3 came last in [0-9]+ of them, and made the others wait for .* node-seconds: it is slow [(]0[.][0-9]+ of the others. speed[)]" &&
	step ".worst.node == \"n3\" and .worst.cause == \"slow node\" and .ranks == 8 and .load_balance < 0.9" slow && cp err slow.err
'
test_expect_success 'the file has each node and each rank, and every iteration' '
	jq -es "(map(select(.type == \"node\").node) == [\"n0\", \"n1\", \"n2\", \"n3\"]) and (map(select(.type == \"rank\").rank) | sort == [range(8)])" slow &&
	step ".regions >= 25 and .seen > 0 and .region_seconds > 0" slow
'
test_expect_success 'the iterations are found: 25 ends have 24 between them' '
	step ".iterations == 24 and .iteration_regions == 1 and .iteration_seconds > 0 and .iteration_skew > 0 and .iteration_skew_most >= .iteration_skew" slow &&
	grep -E "^evenstep: 24 iterations were found, of 1 region and [0-9.]+ m?s [(]median[)]: in one the busiest rank works " slow.err
'
test_expect_success 'evenstep report shows it' '
	"$EVENSTEP_BUILD/evenstep" report slow --svg slow.svg >out && cat out && grep -qE "^n3 +2 " out && grep -qE "^n3 came last in [0-9]+ of them, and made the others wait for .* node-seconds: it is slow" out && xmllint --noout slow.svg
'
test_expect_success 'one rank with more to do is named' '
	report "n[0-2]" 1,1,1,1,1,2 rank && mentioned "^evenstep: n2 came last in .*: its rank 5 has [0-9.]+ times as much to do as the others there; check: " && mentioned "^evenstep: lost rank-seconds: [0-9.]+ between nodes [(]0[.][0-9]+[)], [0-9.]+ within nodes [(]0[.]" &&
	step ".worst.node == \"n2\" and .worst.rank == 5 and .worst.cause == \"work of rank\" and .verdict.cause == \"more work\" and .verdict.node == \"n2\" and .verdict.rank == 5" rank &&
	step "(.balance_nodes * .balance_within - .load_balance | fabs) < 1e-9 and (.serialisation * .transfer - .communication | fabs) < 1e-9 and (([.lost_seconds[]] | add) - .ranks * .elapsed * (1 - .parallel) | fabs) < 1e-6" rank &&
	step ".report.command == \"./uneven\" and .report.user == \"root\" and .report.nodes_list == \"n0,n1,n2\" and .report.ranks == 6" rank
'
test_expect_success 'of ranks with OpenMP threads it has their part, too' '
	mpicc -O1 -fopenmp -o threads "$EVENSTEP_SRC/t/programs/mpi_threads.c" &&
	{ on_ctl srun -w "n[0-1]" --mpi=pmix --evenstep-meter=mpi "--evenstep-report=$PWD/hybrid" ./threads first >got 2>err; code=$?; cat err hybrid; test $code = 0; } &&
	mentioned "^evenstep: step [0-9]+[.]0: parallel efficiency 0[.][0-9]+ = load balance [01][.][0-9]+ x communication [01][.][0-9]+ x threads 0[.][0-9]+, over 2 nodes, 2 ranks with 4 threads, 5 regions of " &&
	step ".threads == 4 and .thread_efficiency >= 0.4 and .thread_efficiency < 0.9" hybrid && jq -es "map(select(.type == \"rank\").threads) == [2, 2]" hybrid
'
top_tells() { on_ctl "$EVENSTEP_BUILD/evenstep" top --once >shown 2>&4 && grep -qE "^step [0-9]+[.]0 uneven: 3 nodes, .*, efficiency 0[.][0-9]+ [(]balance 0[.]" shown && grep -qE "^n2 +2 +[0-9.]+% +[0-9.]+% " shown; }
test_expect_success 'while it runs evenstep top shows how much of the time is useful, and waited' '
	{ "$testbed" exec --name "$testbed_name" -- srun -w "n[0-2]" --ntasks-per-node=2 --mpi=pmix --evenstep-meter=mpi ./uneven 100000 10 1,1,1,1,1,2 >got 2>err 3>&- 4>&- 5>&- & running=$!; } &&
	wait_for 60 top_tells; code=$?; cat shown; on_ctl scancel -u root; wait $running; test $code = 0 && wait_for 60 no_jobs
'
test_expect_success 'a report that is the program, or what is brought: not written, and that is said' '
	cp /bin/true program && on_ctl srun -N2 "--evenstep-report=$PWD/program" "$PWD/program" 2>err && mentioned "evenstep: --evenstep-report .*/program: is the program: name another" && cmp program /bin/true &&
	echo data >data && ln -s data link && { on_ctl srun -N2 "--evenstep-report=$PWD/link" "--evenstep-bcast=$PWD/data:/tmp/data" true 2>err; test $? != 0; } &&
	mentioned "evenstep: --evenstep-report .*/link: is the file of --evenstep-bcast: name another; the step is not started" && test "$(cat data)" = data
'
test_expect_success '--evenstep-report by a link: it stays' '
	mkdir far && ln -s far/report linked && on_ctl srun -N2 --evenstep-meter=none "--evenstep-report=$PWD/linked" true 2>err && test -L linked && test -f far/report
'
test_expect_success 'a program that is not metered, and a file that cannot be written: one line each' '
	on_ctl srun -N2 --evenstep-report=/nowhere/report --evenstep-meter=none true 2>err && mentioned "^evenstep: warning: no report is written: /nowhere/report: " &&
	mentioned "^evenstep: step [0-9]+[.]0: nothing was metered: " && test $(grep -c evenstep: err) = 2
'
test_expect_success 'down leaves nothing' '
	wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
