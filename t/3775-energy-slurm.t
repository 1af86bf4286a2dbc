#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep-report: watts that Slurm gathers, by acct_gather_energy/pm_counters as on a Cray, where nodes have no counters of their own'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
bin=$(testbed_dir)/bin # a path without a space, as an argument of the plugin
# Each node's /sys/cray/pm_counters, in a place that nodes see.  Slurm counts from
# what is there when slurmd starts.
trees=$(mktemp -d "${EVENSTEP_TESTBED_DIR:-/run}/evenstep-sys.XXXXXX")
trap 'testbed_code=$?; testbed_end; rm -rf "$trees"; (exit $testbed_code); die' EXIT
# counters NODE JOULES WATTS
counters() {
	mkdir -p "$trees/n$1/cray/pm_counters" && echo "$2 J 1700000000000000 us" >"$trees/n$1/cray/pm_counters/energy" && echo "$3 W 1700000000000000 us" >"$trees/n$1/cray/pm_counters/power"
}
watts_are() { test "$(on_ctl scontrol show node -o | grep -o "CurrentWatts=[^ ]*" | tr "\n" " ")" = "CurrentWatts=$1 CurrentWatts=$2 "; }
begin() {
	rm -f enough began report
	on_ctl srun --mpi=none --evenstep-meter=cpu -N2 "--evenstep-report=$PWD/report" sh -c "touch '$PWD/began'; until test -e '$PWD/enough'; do sleep 0.2; done" 2>err &
	step=$!
	wait_for 60 test -e began
}
end() { : >enough && wait "$step"; rc=$?; cat err report; return $rc; }

test_expect_success 'up: two nodes with the counters of a Cray, which slurmctld asks for every second' '
	counters 0 1000 215 && counters 1 5000 430 &&
	testbed_up --nodes 2 --sys "$trees" --set AcctGatherEnergyType=acct_gather_energy/pm_counters --set AcctGatherNodeFreq=1 --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep" &&
	mkdir "$bin" && ln -s "$B/evenstep" "$B/evenstep-agent" "$B/evenstep-power" "$B"/libevenstep* "$bin" &&
	on_node n1 cat /sys/cray/pm_counters/power && on_node n1 test -e /sys/class/net/eth0 && wait_for 60 watts_are 215 430
'
# The front end asks Slurm when it has heard of no counters for 5 s, and then 5 to 10 s later.
test_expect_success 'they are told of a step, each node its own, and marked as of Slurm' '
	begin && sleep 22 && end && mentioned "^evenstep: step [0-9]+[.]0: its nodes have used [0-9.]+ kJ in [0-9.]+ s, [0-9.]+ W [(]by Slurm.s watts of its nodes[)]" &&
	jq -es "map(select(.type == \"node\") | .energy) == [\"slurm\", \"slurm\"]" report &&
	jq -es "[.[] | select(.type == \"node\") | .watts] | .[0] > 214.9 and .[0] < 215.1 and .[1] > 429.9 and .[1] < 430.1" report
'
test_expect_success 'the counters tell of no watts any more: Slurm has none, and nothing is made up' '
	counters 0 1000 0 && counters 1 5000 0 && wait_for 60 watts_are 0 0 && begin && sleep 18 && end && ! grep -q "have used" err && jq -es "all(.[]; has(\"joules\") | not)" report
'
test_expect_success 'down leaves nothing' 'wait_for 60 nodes_idle 2 && testbed_down && testbed_nothing_left $testbed_name'
test_done
