#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='power caps: watts go to the node that comes last, their sum is never above the budget, and all is put back'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
conf=$(testbed_dir)/power.conf # a path without a space, as those below
bin=$(testbed_dir)/bin
trees=$(testbed_dir)/sys # each node's own sysfs, as its guard sees it
limit() { echo "$trees/n$1/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"; }
limits="$(limit 0) $(limit 1) $(limit 2) $(limit 3)"
# make_tree NODE CORES: one package of 120 W, with a limit of 100 W.
make_tree() {
	mkdir -p "$trees/$1/class/powercap/intel-rapl:0" &&
		echo 120000000 >"$trees/$1/class/powercap/intel-rapl:0/constraint_0_max_power_uw" &&
		echo 100000000 >"$trees/$1/class/powercap/intel-rapl:0/constraint_0_power_limit_uw" &&
		for i in $(seq 0 $(($2 - 1))); do
			mkdir -p "$trees/$1/devices/system/cpu/cpu$i/topology" && echo "$i" >"$trees/$1/devices/system/cpu/cpu$i/topology/thread_siblings_list" || return 1
		done
}
# see: all limits in $seen, by the shell itself: it is fast.
see() {
	seen=''
	for each in $limits; do
		watts=''
		read -r watts <"$each" || test -n "$watts" || watts=-1 # it is being written
		seen="$seen $watts"
	done
}
# watch: until the file "enough" is there, a line for each state of the limits
# that differs from the one before, and is seen twice in a row: at an instant.
watch() {
	last=''
	until test -e enough; do
		see
		case $seen in *-1*) continue ;; esac
		first=$seen
		see
		if test "$first" = "$seen" && test "$seen" != "$last"; then
			last=$seen
			echo "$seen"
		fi
	done >states
}
# are WATTS...: the limits, one a node.
are() {
	see
	test "$seen" = " $1 $2 $3 $4"
}
have_begun() { see && ! echo " $seen " | grep -q -e -1 -e " 100000000 "; }
is_steered() { see && ! echo "$seen" | grep -q -e -1 && echo "$seen" | awk '{ exit !($4 > 65000000 && $4 > $1 + 10000000) }'; }
agents() {
	for each in $(pgrep -x evenstep-agent); do
		! grep -qzsxF "EVENSTEP_TESTBED=$testbed_name" "/proc/$each/environ" || echo "$each"
	done
}
none_left() { test -z "$(agents)" && test -z "$(on_ctl squeue -h)" && no_states; }
begin() { # srun's words...: in the background, until its first region is told
	rm -f out
	"$testbed" exec --name "$testbed_name" -- srun -N4 --exclusive --mpi=pmix "$@" >out 2>err 3>&- 4>&- 5>&- &
	step=$!
	wait_for 60 test -s out
}
end() { on_ctl scancel -u root && { wait "$step" || true; } && wait_for 60 none_left; }

test_expect_success 'up: four nodes, each with a package whose power can be capped' '
	mpicc -O1 -I"$EVENSTEP_SRC" -o regions "$EVENSTEP_SRC/t/programs/regions.c" -L"$B" -Wl,-rpath,"$B" -levenstep &&
	testbed_up --nodes 4 --speeds 40 --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep config=$conf" &&
	printf "power {\n actuator = \"rapl\"\n start = 0.5\n floor = 0.25\n}\n" >"$conf" && mkdir "$bin" && ln -s "$B/evenstep" "$bin/evenstep" &&
	printf "#!/bin/sh\nexec \"%s\" \"\$@\" --sysfs \"%s/\$(hostname)\"\n" "$B/evenstep-power" "$trees" >"$bin/evenstep-power" && chmod +x "$bin/evenstep-power" &&
	for i in 0 1 2 3; do make_tree n$i 1 || return 1; done
'
test_expect_success 'every node begins with 50 W at its first tick, and the last rank is given more' '
	rm -f enough && begin --evenstep-power=pair ./regions 100000 50 1,1,1,1.6 && wait_for 60 have_begun && { watch & watcher=$!; } && wait_for 120 is_steered; rc=$?; see; echo "$seen"; cat err; test $rc = 0
'
agent_of() {
	for each in $(agents); do
		! grep -qzsxF "SLURMD_NODENAME=$1" "/proc/$each/environ" || echo "$each"
	done
}
is_back() { see && test "${seen% * * *}" = " 100000000"; }
# Of the lost node's part nobody has anything: the other three keep to theirs.
within() { awk '{ n++; sum = $1 + $2 + $3 + $4; back = $1 == 100000000; if (sum - back * $1 > (back ? 150000000 : 200000000)) { print; bad = 1 } } END { exit bad || n < 3 || !back }' states; }
test_expect_success 'kill -9 of an agent: its node is put back while the step goes on' '
	kill -KILL "$(agent_of n0)" && wait_for 60 is_back && kill -0 $step
'
test_expect_success 'at no instant was the sum above the budget of 200 W, nor then the sum of the others above 150 W' '
	wait_for 60 grep -q "^ 100000000" states; : >enough; wait $watcher && tail -n 3 states && within
'
test_expect_success 'scancel: what was found is back on every node, no state is left' '
	end && are 100000000 100000000 100000000 100000000
'
test_expect_success 'a node on which other jobs may be: one line, nothing is set, and the step runs' '
	make_tree n0 64 && on_ctl srun -N2 -n2 --evenstep-power=pair sh -c "sleep 1; echo ran" >got 2>err && mentioned "evenstep: warning: n[0-3]: no power is steered: other jobs may be on this node, of whose 64 cores this one has [0-9]+: give the job whole nodes by --exclusive" &&
	test $(grep -c ran got) = 2 && wait_for 60 none_left && are 100000000 100000000 100000000 100000000
'
test_expect_success 'a limit that cannot be written: one line, and the step runs' '
	make_tree n0 1 && rm -r "$trees/n0/devices/system/cpu/cpu"[1-9]* && rm "$(limit 0)" && ln -s "$(limit 1)" "$(limit 0)" && on_ctl srun -N1 -w n0 --exclusive --evenstep-power=pair sh -c "sleep 1; echo ran" >got 2>err &&
	mentioned "evenstep: warning: n0: no power is steered: .*constraint_0_power_limit_uw: " && grep -q ran got && wait_for 60 none_left && are 100000000 100000000 100000000 100000000
'
test_expect_success 'down leaves nothing' 'wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name'
test_done
