#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep-power within a node: CPU time goes to the rank that comes last, within what the node has, and all is put back'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
conf=$(testbed_dir)/power.conf # a path without a space, as the next: arguments of the plugin
bin=$(testbed_dir)/bin

guards() { # evenstep-power on the nodes, but those that have ended
	for each in $(pgrep -x -r R,S,D,T evenstep-power); do
		! grep -qsF "/evenstep-testbed.$testbed_name/" "/proc/$each/cgroup" || echo "$each"
	done
}
no_guards() { test -z "$(guards)"; }
# quotas: of the step, then of each of its tasks, or threads: microseconds in a period of 10000.
depth=2 # of tasks below the step's group, 3 of threads
quotas() { cat "$groups"/n0/evenstep-power-*/cpu.cfs_quota_us && find "$groups"/n0/evenstep-power-* -mindepth $depth -maxdepth $depth -name cpu.cfs_quota_us -exec cat {} +; } 2>&-
# quotas_at_once: into got; seen twice in a row, so that they were so at an instant.
quotas_at_once() {
	until quotas >got && quotas | cmp -s - got; do :; done
}
no_groups() { ! ls -d "$groups"/n*/evenstep-power-* 2>&-; }
no_states() { test -z "$(on_node n0 sh -c 'ls -A /run/evenstep/power 2>&-')"; }
nothing_left() { wait_for 60 none_of evenstep-agent && wait_for 60 no_jobs && wait_for 60 no_groups && wait_for 60 no_states && wait_for 60 no_guards; }
# is_divided LOW HIGH: the one with more to do has that part of what both have.
is_divided() { quotas_at_once && awk -v low="$1" -v high="$2" 'NR == 1 { all = $1 } NR > 1 { sum += $1; if ($1 > most) most = $1 } END { exit !(NR == 3 && all == -1 && most > low * sum && most < high * sum) }' got; }
is_within() { awk 'NR > 1 { sum += $1; if ($1 < 0) free = 1 } NR == 1 { all = $1 } END { exit !(free ? all == -1 || (all > 0 && all <= 8000) : sum <= 8000) }' got; }
# limits_of_tasks: what their quotas were until the step had ended, each once.
limits_of_tasks() {
	while kill -0 "$step"; do
		cat "$groups"/n0/evenstep-power-*/task-*/cpu.cfs_quota_us
		sleep 0.1
	done 2>&- | sort -u
}
no_thread_groups() { ! ls -d "$groups"/n0/evenstep-power-*/task-*/evenstep-thread-* 2>&-; }
no_limits() { quotas_at_once && test "$(grep -cx -e -1 got)" = 3; }
begin() { # srun's words...: in the background, until its first region is told
	rm -f out
	"$testbed" exec --name "$testbed_name" -- srun -N1 -n2 --mpi=pmix --evenstep-power=pair "$@" >out 2>err 3>&- 4>&- 5>&- &
	step=$!
	wait_for 60 test -s out
}
# Threads that spin while they wait: only of those a limit makes the other one faster, so that it stays.
omp='OMP_PROC_BIND=true OMP_WAIT_POLICY=active'
end() { on_ctl scancel -u root && { wait "$step" || true; } && nothing_left; }

test_expect_success 'up: a node of 80 %; Open MPI programs, one with meters, one unchanged' '
	mpicc -O1 -I"$EVENSTEP_SRC" -o regions "$EVENSTEP_SRC/t/programs/regions.c" -L"$B" -Wl,-rpath,"$B" -levenstep &&
	mpicc -O1 -o uneven "$EVENSTEP_SRC/t/programs/uneven.c" &&
	gcc -O1 -D_GNU_SOURCE -pthread -I"$EVENSTEP_SRC" -o pinned "$EVENSTEP_SRC/t/programs/pinned.c" -L"$B" -Wl,-rpath,"$B" -levenstep &&
	mpicc -O1 -fopenmp -D_GNU_SOURCE -o omp_mpi "$EVENSTEP_SRC/t/programs/omp_pinned.c" &&
	testbed_up --nodes 1 --speeds 80 --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep config=$conf" &&
	mkdir "$bin" && ln -s "$B/evenstep" "$B/evenstep-power" "$B/libevenstep-mpi.so" "$bin" &&
	printf "power {\n actuator = \"cgroup\"\n floor = 0.25\n}\n" >"$conf" &&
	groups=$(testbed_cgroups "$testbed_name" | head -n 1) && ls -d "$groups"/n0
'
case $(ls "$groups/n0") in
*cfs_quota*) test_set_prereq V1 ;; # quotas() reads these
esac
test_expect_success V1 'two ranks, 1 : 1.6 of work: each gets a limit of its own, as it has to do' '
	begin ./regions 100000 50 1,1.6 && wait_for 60 is_divided 0.57 0.66; code=$?; cat got; test $code = 0
'
test_expect_success V1 'at no instant do both have more than the node' '
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do quotas_at_once && is_within || { cat got; return 1; }; done
'
test_expect_success V1 'kill -9 of the agent: the node is put back while the step goes on' '
	kill -KILL $(ours evenstep-agent) && wait_for 60 no_limits && kill -0 $step && end
'
test_expect_success V1 'an unchanged program, started by a shell: likewise' '
	begin --evenstep-meter=mpi sh -c "./uneven 100000 50 1,1.6; exit" && wait_for 60 is_divided 0.57 0.66; code=$?; cat got; test $code = 0
'
test_expect_success V1 'kill -9 of the guard: the step goes on, and the next one cleans the node' '
	kill -KILL $(guards) && wait_for 60 no_guards && kill -0 $step && on_ctl scancel -u root && { wait "$step" || true; } && wait_for 60 no_jobs && ls -d "$groups"/n0/evenstep-power-*/task-* &&
	on_ctl srun -N1 --evenstep-power=pair true && nothing_left
'
test_expect_success V1 'one rank of two pinned threads, 1 : 1.6: each thread gets a limit of its own, its rank none' '
	depth=3 && begin -n1 ./pinned 100000 50 1,1.6 && wait_for 60 is_divided 0.57 0.66; code=$?; cat got; test $code = 0 &&
	echo -1 >unlimited && cat "$groups"/n0/evenstep-power-*/task-*/cpu.cfs_quota_us >rank && test_cmp unlimited rank && test ! -s "$(echo "$groups"/n0/evenstep-power-*/task-*/tasks)"
'
test_expect_success V1 'at no instant do both threads have more than the node' '
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do quotas_at_once && is_within || { cat got; return 1; }; done
'
test_expect_success V1 'kill -9 of the agent: the threads are put back while the step goes on' '
	kill -KILL $(ours evenstep-agent) && wait_for 60 no_limits && kill -0 $step && end
'
test_expect_success V1 'kill -9 of the guard of threads: the step goes on, and the next one cleans the node' '
	begin -n1 ./pinned 100000 50 1,1.6 && wait_for 60 is_divided 0.57 0.66; code=$?; cat got; test $code = 0 &&
	kill -KILL $(guards) && wait_for 60 no_guards && kill -0 $step && on_ctl srun --overlap -N1 --evenstep-power=pair true && wait_for 60 no_groups && kill -0 $step && on_ctl scancel -u root && { wait "$step" || true; } && nothing_left
'
test_expect_success V1 'an unchanged MPI program with two pinned OpenMP threads, 1 : 1.6: likewise' '
	begin -n1 --evenstep-meter=mpi env $omp ./omp_mpi regions 100000 50 1,1.6 && wait_for 60 is_divided 0.57 0.66; code=$?; cat got; test $code = 0 && end
'
test_expect_success V1 'as its teams are nested, its threads are put back' '
	begin -n1 --evenstep-meter=mpi env $omp ./omp_mpi later 120 50 1,1.6 && wait_for 60 is_divided 0.52 0.68 && kill -0 $step && wait_for 60 no_thread_groups; code=$?; cat out; test $code = 0 && end
'
test_expect_success V1 'threads that are not pinned share the limit of the node' '
	begin -n1 --evenstep-meter=mpi ./omp_mpi regions 40 50 1,1.6 && no_thread_groups && wait "$step" && test "$(wc -l <out)" = 40 && nothing_left
'
test_expect_success V1 'the site has it off within nodes: the ranks share the limit of the node' '
	depth=2 && printf "power {\n actuator = \"cgroup\"\n within_nodes = false\n}\n" >"$conf" && begin ./regions 20 50 1,1.6 && limits_of_tasks >got; cat got; wait $step && echo -1 >unlimited && test_cmp unlimited got && nothing_left
'
test_expect_success 'the daemons have lived through it, down leaves nothing' '
	wait_for 60 nodes_idle 1 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
