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
	printf "power {\n actuator = \"rapl\"\n cap = 50\n floor = 0.25\n}\n" >"$conf" && mkdir "$bin" && ln -s "$B/evenstep" "$bin/evenstep" &&
	printf "#!/bin/sh\nexec \"%s\" \"\$@\" --sysfs \"%s/\$(hostname)\"\n" "$B/evenstep-power" "$trees" >"$bin/evenstep-power" && chmod +x "$bin/evenstep-power" &&
	for i in 0 1 2 3; do make_tree n$i 1 || return 1; done
'
test_expect_success 'every node begins with 50 W at its first tick, and the last rank is given more' '
	rm -f enough && begin --evenstep-power=pair ./regions 100000 50 1,1,1,1.6 && wait_for 60 have_begun && { watch & watcher=$!; } && wait_for 300 is_steered; rc=$?; see; echo "$seen"; cat err; test $rc = 0
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
# Four nodes whose packages need a fifth of their 120 W idle, and the rest with the
# cube of their frequency: a program that is as fast as its packages' limits let it
# be, see packages.c.  Work 1, 1, 1.3, 1.6: in the time of the last one the others
# need (1/1.6)^3, twice, and (1.3/1.6)^3 of what is above idle, and take 0.4 s of it.
counted() { # NODE
	make_tree "n$1" 1 && echo package-0 >"$trees/n$1/class/powercap/intel-rapl:0/name" && echo 120000000 >"$(limit "$1")" &&
		echo 0 >"$trees/n$1/class/powercap/intel-rapl:0/energy_uj" && echo 262143328850 >"$trees/n$1/class/powercap/intel-rapl:0/max_energy_range_uj"
}
predicted=$(awk 'BEGIN { print 0.4 * 96 * (3 - 2 / 1.6 ^ 3 - (1.3 / 1.6) ^ 3) }')
# It is looked back now and then, and after 5 s may be so just now.
# saved: by each of the last eight regions, in parts of what is predicted; and how long they took.
saved() { tail -n 8 out >last && awk -v goal="$predicted" 'NR == FNR { if (FNR == 1) { s = $1; j = $2 } next } { n++; saved += (j - $2) / goal; long = $1 / s > long ? $1 / s : long } END { print saved / n, long; exit !(n == 8) }' out last; }
is_saved() { saved >got && awk '{ exit !($1 >= 0.95) }' got; }
test_expect_success 'save: regions take as long, and the joules of all are less by what the skew predicts, within 5 %' '
	mpicc -O1 -o packages "$EVENSTEP_SRC/t/programs/packages.c" -lm && counted 0 && counted 1 && counted 2 && counted 3 && printf "power {\n actuator = \"rapl\"\n floor = 0.1\n}\n" >"$conf" &&
	begin --evenstep-meter=mpi --evenstep-power=save "--evenstep-report=$PWD/report" ./packages "$trees" 0.25 1,1,1.3,1.6 "$PWD/over" && wait_for 300 is_saved; rc=$?; head -n 1 out; cat last err; test $rc = 0 && sleep 5 && wait_for 60 is_saved && echo "# $(cat got) of $predicted J" &&
	awk "{ exit !(\$1 >= 0.95 && \$1 <= 1.05 && \$2 <= 1.03) }" got
'
# Counters are read once a second: of the first and the last one nothing may be known.
test_expect_success 'the report says how many joules that were, in all' '
	: >over && wait $step && wait_for 60 none_left && cat err report && jq -es "map(select(.type == \"step\")) | .[0] | .joules_saved > 0 and .energy == \"measured\"" report &&
	made=$(awk "NR == 1 { first = \$4 / \$3 } { sum += first * \$3 - \$4 } END { print sum }" out) && echo "# by the model: $made" && jq -es --argjson made "$made" ".[0].joules_saved / \$made | . > 0.85 and . < 1.15" report
'
# The two packages of n0, and a CPU on each: with half of their power each a region
# takes 0.333 s, and 0.285 s where each has what its rank needs.
limits_of_packages() { for p in 0 1; do cat "$trees/n0/class/powercap/intel-rapl:$p/constraint_0_power_limit_uw"; echo; done | xargs; }
packages_at_once() { now=$(limits_of_packages) && test "$(limits_of_packages)" = "$now" && echo "$now"; } # or nothing
are_balanced() { packages_at_once >got && awk '{ exit !(NF == 2 && $1 + $2 <= 120000000 && $2 > 1.3 * $1 && $2 < 4 * $1) }' got && tail -n 4 out | awk '{ n++; sum += $1 } END { exit !(sum / n < 0.3) }'; }
taskset -c 0,1 true 2>/dev/null && test_set_prereq CPUS
test_expect_success CPUS 'sockets: of two packages of a node the one whose rank comes last is given more, within what the node has' '
	rm -r "$trees/n0" && make_tree n0 2 && cp -r "$trees/n0/class/powercap/intel-rapl:0" "$trees/n0/class/powercap/intel-rapl:1" && for p in 0 1; do
		echo package-$p >"$trees/n0/class/powercap/intel-rapl:$p/name" && echo $p >"$trees/n0/devices/system/cpu/cpu$p/topology/physical_package_id" && echo 120000000 >"$trees/n0/class/powercap/intel-rapl:$p/constraint_0_power_limit_uw" || return 1
	done &&
	printf "power {\n actuator = \"rapl\"\n cap = 120\n floor = 0.25\n}\n" >"$conf" &&
	rm -f over && begin -N1 -w n0 -n2 --evenstep-meter=mpi --evenstep-power=pair sh -c "exec taskset -c \$SLURM_LOCALID ./packages \"$trees\" 0.15 1,1.6 \"$PWD/over\"" && wait_for 300 are_balanced; rc=$?; head -n 2 out; tail -n 2 out; cat got err; test $rc = 0
'
test_expect_success CPUS 'at no instant do both have more than the node, and all is put back' '
	for i in 1 2 3 4 5 6 7 8 9 10; do wait_for 60 packages_at_once >got && awk "{ exit \$1 + \$2 > 120000000 }" got || { cat got; return 1; }; done && : >over && wait $step && wait_for 60 none_left && test "$(limits_of_packages)" = "120000000 120000000"; code=$?
	rm -r "$trees/n0"; for i in 0 1 2 3; do make_tree n$i 1 || return 1; done; printf "power {\n actuator = \"rapl\"\n cap = 50\n floor = 0.25\n}\n" >"$conf"; test $code = 0
'
# Frequencies of a step: a policy of each node's CPU, of 0.8 to 2.4 GHz.
speeds_dir() { echo "$trees/n$1/devices/system/cpu/cpufreq/policy0"; }
make_policy() { # NODE
	mkdir -p "$(speeds_dir "$1")" && echo 800000 >"$(speeds_dir "$1")/cpuinfo_min_freq" && echo 2400000 >"$(speeds_dir "$1")/scaling_max_freq" &&
		echo 0 >"$(speeds_dir "$1")/affected_cpus"
}
# frequencies: of all nodes, in MHz, seen twice in a row; or nothing.
frequencies() { for i in 0 1 2 3; do cat "$(speeds_dir $i)/scaling_max_freq"; echo; done | awk 'NF { printf "%s%d", n++ ? " " : "", $1 / 1000 }'; }
are_frequencies() { # AWK-CONDITION
	got=$(frequencies) && test "$(frequencies)" = "$got" && echo "$got" | awk "{ exit !(NF == 4 && ($1)) }"
}
test_expect_success 'cpufreq: every node begins with the cap of 1.6 GHz, the last rank is given more, within 4 x 1.6 GHz' '
	for i in 0 1 2 3; do make_policy $i || return 1; done && printf "power {\n actuator = \"cpufreq\"\n cap = 1600\n floor = 0.34\n}\n" >"$conf" &&
	begin --evenstep-power=pair ./regions 100000 50 1,1,1,1.6 && wait_for 60 are_frequencies "\$1 == 1600 && \$4 == 1600" && wait_for 300 are_frequencies "\$4 > 1610 && \$1 + \$2 + \$3 + \$4 <= 6400"; rc=$?; echo "$got"; cat err; test $rc = 0
'
test_expect_success 'cpufreq: after scancel all are as they were' '
	end && are_frequencies "\$1 == 2400 && \$2 == 2400 && \$3 == 2400 && \$4 == 2400"; rc=$?
	printf "power {\n actuator = \"rapl\"\n cap = 50\n floor = 0.25\n}\n" >"$conf"; test $rc = 0
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
