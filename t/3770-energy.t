#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep-report and evenstep graph run: joules that the nodes have used, by counters, by Slurm, by the model of the site, or not at all'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
PATH=$B:$PATH
conf=$(testbed_dir)/power.conf # a path without a space, as those below
bin=$(testbed_dir)/bin
trees=$(testbed_dir)/sys # each node's own sysfs, as its guard sees it
zone() { echo "$trees/n$1/class/powercap/intel-rapl:0"; }
# make_tree NODE: one core, which a job has whole; one package, whose counter is about to begin again.
make_tree() {
	mkdir -p "$trees/n$1/devices/system/cpu/cpu0/topology" && echo 0 >"$trees/n$1/devices/system/cpu/cpu0/topology/thread_siblings_list" &&
	mkdir -p "$(zone "$1")" && echo package-0 >"$(zone "$1")/name" && echo 262143328850 >"$(zone "$1")/max_energy_range_uj" && echo 262143000000 >"$(zone "$1")/energy_uj"
}
# count NODE JOULES: the package has used so many since the start.
count() { echo $(($2 * 1000000 - 328850)) >"$(zone "$1")/new" && mv "$(zone "$1")/new" "$(zone "$1")/energy_uj"; }
# are_read: both counters, since they were made; first_reading: by the guards, before more is counted.  Where
# nothing notes when a file was read there is only to wait.
is_read() { test "$(stat -c %x "$1")" != "$(stat -c %y "$1")"; }
are_read() { is_read "$(zone 0)/energy_uj" && is_read "$(zone 1)/energy_uj"; }
first_reading() { if test_have_prereq ATIME; then wait_for 60 are_read; else sleep 5; fi; }
none_left() { test -z "$(on_ctl squeue -h)" && ! pgrep -f "$bin/evenstep-power --job" >pids; }
# step SRUN-WORDS...: a step that ends when the file "enough" is there; its report is in FILE, what evenstep says in err.
begin() {
	rm -f enough began
	on_ctl srun --mpi=none --evenstep-meter=cpu "$@" sh -c "touch '$PWD/began'; until test -e '$PWD/enough'; do :; done" 2>err &
	step=$!
	wait_for 60 test -e began
}
end() { : >enough && wait "$step"; rc=$?; cat err; wait_for 60 none_left && return $rc; }
# says JOULES...: the report, of all nodes or of each, tells so many, measured.
says() { mentioned "^evenstep: step [0-9]+[.]0: its nodes have used $1 kJ in [0-9.]+ s, [0-9.]+ W \\($2"; }

test_expect_success 'up: two nodes, each with a package that counts what it uses' '
	testbed_up --nodes 2 --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep config=$conf" &&
	: >"$conf" && mkdir "$bin" && ln -s "$B/evenstep" "$B/evenstep-agent" "$B"/libevenstep* "$bin" &&
	printf "#!/bin/sh\nexec \"%s\" \"\$@\" --sysfs \"%s/\$(hostname)\"\n" "$B/evenstep-power" "$trees" >"$bin/evenstep-power" && chmod +x "$bin/evenstep-power"
'
mkdir "$trees" && echo x >"$trees/seen" && sleep 0.1 && cat "$trees/seen" && is_read "$trees/seen" && test_set_prereq ATIME
test_expect_success 'the joules that both have counted are told, though a counter has begun again' '
	make_tree 0 && make_tree 1 && begin -N2 --evenstep-report && first_reading && count 0 300 && count 1 700 && end && says "1" "measured: CPUs and memory" && test "$(grep -c "have used" err)" = 1
'
# The guards read every 10 s: once within 12 s, twice within 22.
stopped() { test "$(grep -cE "^evenstep: warning: n$1: energy: .*energy_uj$2.*; $3$" err)" = 1; }
test_expect_success 'a counter vanishes in the middle: one line, what was counted is told, and the step goes on' '
	make_tree 0 && make_tree 1 && begin -N2 --evenstep-report && first_reading && count 0 300 && count 1 700 && sleep 12 && rm "$(zone 0)/energy_uj" && sleep 12 && end &&
	stopped 0 ": No such file or directory" "no more is known of it" && says "1" "measured: CPUs and memory"
'
test_expect_success 'one jumps to what no node can use: likewise, and the model of the site goes on' '
	make_tree 0 && make_tree 1 && echo "energy { busy = 1 idle = 0 base = 50 }" >"$conf" && begin -N2 --evenstep-report && first_reading && count 0 300 && count 1 700 && sleep 12 && count 1 200000 && sleep 12 && end &&
	stopped 1 " has jumped from" "modelled from here on" && says "[1-4][.][0-9]+" "modelled" && : >"$conf"
'
# Each frame waits until it is told to end.
frame_begins() { wait_for 60 test -e "began.$1"; }
frame_ends() { sleep 22 && on_ctl "$B/evenstep" top --once >shown && cat shown && : >"enough.$1"; }
test_expect_success 'evenstep run tells those of each frame and node, and their watts; top and the table, too' '
	make_tree 0 && make_tree 1 && rm -f began.* enough.* &&
	{ "$testbed" exec --name "$testbed_name" -- salloc -Q -N2 "$bin/evenstep" run --metrics equal --pieces 1 --range 0:2 --repeat 2 --report frames -- sh -c "touch \"$PWD/began.{frame}\"; until test -e \"$PWD/enough.{frame}\"; do sleep 0.1; done" 2>err 3>&- 4>&- 5>&- & step=$!; } &&
	frame_begins 0 && first_reading && count 0 30 && count 1 70 && frame_ends 0 && grep -E "W, 0.1 kJ measured" shown &&
	frame_begins 1 && count 0 90 && count 1 100 && frame_ends 1 && grep -E "W, 0.19 kJ measured" shown && wait $step && wait_for 60 none_left && cat frames &&
	jq -ces "[.[] | select(.type == \"frame\") | .energy | map(.joules)] == [[30, 70], [60, 30]]" frames &&
	jq -es "all(.[] | select(.type == \"frame\") | .energy[]; .source == \"measured\" and .joules / .watts > 2 and .joules / .watts < 60)" frames &&
	jq -es ".[-1].energy | .joules == 190 and .watts > 3 and .source == \"measured\"" frames &&
	evenstep report --table frames | cut -f 5,31,32 >got && cat got && test "$(awk "{ print \$2 }" got | xargs)" = "joules 30 70 60 30" && awk "NR > 1 && !(\$3 > 0) { exit 1 }" got
'
test_expect_success 'a task graph tells it, too, beside what its model says' '
	make_tree 0 && make_tree 1 && rm -f enough began &&
	cat >graph.json <<-END &&
	{"tasks": [{"id": "a", "time": 1, "command": "touch \\"$PWD/began\\"; until test -e \\"$PWD/enough\\"; do sleep 0.1; done"}], "edges": []}
	END
	{ "$testbed" exec --name "$testbed_name" -- salloc -Q -N2 "$bin/evenstep" graph run --json graph.json >out 2>err 3>&- 4>&- 5>&- & step=$!; } &&
	wait_for 60 test -e began && first_reading && count 0 30 && count 1 70 && sleep 12 && end && cat out && jq -e ".used.joules == 100 and .used.source == \"measured\"" out
'
# learn NODE: a task is at work for 17 s on one of two nodes; that one uses 70 J, the other 30 J.
learn() {
	make_tree 0 && make_tree 1 && rm -f enough began &&
	{ "$testbed" exec --name "$testbed_name" -- salloc -Q -N2 "$bin/evenstep" graph run --metrics equal --learn "$@" graph.json >out 2>err 3>&- 4>&- 5>&- & step=$!; } &&
	wait_for 60 test -e began && first_reading && count 0 70 && count 1 30 && sleep 12 && end && cat out
}
test_expect_success 'graph run --learn: two runs are enough to say what a core draws, and the next plan is by it' '
	learn && jq -ce ".watts | .points == 2 and (has(\"busy\") | not) and (.sums | length == 5)" graph.json &&
	learn --json && jq -c .watts out graph.json && jq -e ".watts | .points == 4 and .busy / .idle > 2.5 and .busy / .idle < 10" out &&
	jq -e --slurpfile out out ".watts | .points == 4 and .busy == \$out[0].watts.busy and .idle == \$out[0].watts.idle" graph.json &&
	evenstep graph plan --cores 1 --json graph.json >plan && jq -e --slurpfile g graph.json "(.energy.busy / .makespan - \$g[0].watts.busy) | fabs < 0.001" plan &&
	evenstep graph plan --cores 1 --power 7,1,0,0 --json graph.json >plan && jq -e "(.energy.busy / .makespan - 7) | fabs < 0.001" plan &&
	learn && grep -E "^so a core draws [0-9.]+ W at work and [0-9.]+ W idle; planned with [0-9.]+ W and [0-9.]+ W$" out
'
# add_core NODE: of which the job has not all.
add_core() { mkdir "$trees/n$1/devices/system/cpu/cpu1" "$trees/n$1/devices/system/cpu/cpu1/topology" && echo 1 >"$trees/n$1/devices/system/cpu/cpu1/topology/thread_siblings_list"; }
test_expect_success 'nodes that other jobs may use: nobody is told what those use' '
	: >"$conf" && make_tree 0 && make_tree 1 && add_core 0 && add_core 1 && begin -N2 -n2 -c1 --evenstep-report && count 0 300 && count 1 700 && end && ! grep -q "have used" err
'
test_expect_success 'the key energy = off: nor of whole nodes' '
	rm -r "$trees/n0" "$trees/n1" && make_tree 0 && make_tree 1 && echo "power { energy = off }" >"$conf" && begin -N2 --evenstep-report && count 0 300 && count 1 700 && end && ! grep -q "have used" err
'
test_expect_success 'no counters and no model: nothing is made up' '
	rm -r "$trees/n0" "$trees/n1" && : >"$conf" && begin -N2 --evenstep-report && end && ! grep -q "have used" err
'
test_expect_success 'down leaves nothing' 'wait_for 60 nodes_idle 2 && testbed_down && testbed_nothing_left $testbed_name'
test_done
