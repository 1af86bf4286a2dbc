#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='nodes of a cluster are measured, kept, compared and used: as sites and users have it'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
printf 'probe { cache = "%s/cache" }\n' "$PWD" >own.conf
EVENSTEP_CONF=$PWD/own.conf
export EVENSTEP_CONF
in_job() { on_ctl salloc -Q "$@"; } # salloc's options, then the command
as_health() { on_node "$1" env SLURMD_NODENAME="$1" PATH="$PATH" "$EVENSTEP_SRC/etc/evenstep-health"; }

test_expect_success 'up: four nodes with 80, 40, 20 and 10 percent of a core, and the plugin' '
	testbed_up --nodes 4 --speeds 80,40,20,10 --plugin "$EVENSTEP_BUILD/evenstep.so" \
		--plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
test_expect_success 'a node alone, as root from a health check: the cache has it' '
	for node in n0 n1 n2 n3; do as_health $node || return 1; done && ls cache >got && cat got &&
	printf "n%s.json\n" 0 1 2 3 >want && test_cmp want got
'
test_expect_success 'again: what is kept holds, and nothing is measured' '
	cp cache/n0.json before && as_health n0 && cmp before cache/n0.json
'
test_expect_success 'a step takes it: every node from the cache, all elements' '
	in_job -N4 evenstep probe --nodes --json >out && jq -c ".details[] | .cached, .why" out &&
	jq -e ".details | length == 4 and all(.[]; .cached and (.elements | length == 6))" out
'
test_expect_success 'what was measured is what the node may use: in the order of the speeds' '
	for try in 1 2 3 4 5; do # others may be busy here
		jq -c "[.nodes[].C]" out && jq -e "[.nodes[].C] | . == (sort | reverse)" out && return
		rm cache/n?.json && for node in n0 n1 n2 n3; do as_health $node || return 1; done && in_job -N4 evenstep probe --nodes --json >out || return 1
	done
	return 1
'
test_expect_success 'srun --evenstep: shares from the cache sum to 1, metrics.json is the same on all nodes' '
	on_ctl srun -N4 --evenstep sh -c "echo \$EVENSTEP_SHARE; cat \$EVENSTEP_DIR/metrics.json; echo" >got 2>err && cat got err && quiet err &&
	grep -v nodes got | awk "{ sum += \$1 } END { exit !(NR == 4 && sum > 0.9999 && sum < 1.0001) }" &&
	grep nodes got | sort -u >each && test "$(wc -l <each)" = 1 &&
	jq -e ".nodes | map(.name) == [\"n0\", \"n1\", \"n2\", \"n3\"] and all(.[]; keys == [\"B\",\"C\",\"G\",\"I\",\"M\",\"S\",\"name\"])" each &&
	jq -e --slurpfile c cache/n0.json ".nodes[0].C == \$c[0].elements.C.value" each
'
test_expect_success 'where it is too large to go with the orders it comes by the tree: srun --evenstep, and evenstep run' '
	{ cat own.conf && echo "bcast { small = 0 }"; } >tree.conf && cp each want.tree &&
	EVENSTEP_CONF=$PWD/tree.conf on_ctl srun -N4 --evenstep sh -c "cat \$EVENSTEP_DIR/metrics.json; echo" >got.tree &&
	sort -u got.tree >each.tree && test "$(wc -l <got.tree)" = 4 && test_cmp want.tree each.tree &&
	EVENSTEP_CONF=$PWD/tree.conf in_job -N4 evenstep run --metrics cached --range 0:4 --policy static --pieces 1 \
		-- sh -c "cat \$EVENSTEP_DIR/metrics.json; echo" >got.tree && sort -u got.tree >each.tree &&
	test "$(wc -l <got.tree)" = 4 && test_cmp want.tree each.tree
'
test_expect_success 'what nodes of one machine share, as these, does not count: the shares are those of C' '
	grep -v nodes got | sort -gr | jq -sc . >shares && cat shares &&
	jq -e "all(.nodes[]; .M == 0 and .B == 0)" each &&
	jq -e --slurpfile share shares "([.nodes[].C] | add) as \$all |
		[.nodes[].C / \$all] | [., \$share[0]] | transpose | all(.[]; .[0] - .[1] | fabs < 0.00001)" each
'
test_expect_success 'a node that has less than the profile needs gets nothing, and one line says so' '
	cat >need.conf <<-EOF &&
	probe { cache = "$PWD/none" element "S" { scratch = "/tmp/own" } }
	profile "room" { C = 1 need { S = "100MB" } }
	EOF
	for node in n0 n1 n2 n3; do on_node $node mkdir -p /tmp/own || return 1; done &&
	on_node n2 mount -t tmpfs -o size=20m none /tmp/own &&
	EVENSTEP_CONF=$PWD/need.conf in_job -N4 evenstep run --profile room --range 0:40 --report report -- true {begin} {end} 2>err; rc=$?; cat err
	on_node n2 umount /tmp/own && test $rc = 0 &&
	grep -E "n2 has 0.0 GB of storage, and the profile room needs 0.1 GB: it gets nothing" err && test "$(grep -c "gets nothing" err)" = 1 &&
	jq -es "[.[0].slices[] | .node] | index(\"n2\") == null" report &&
	jq -es "[.[0].slices[] | .end - .begin] | add == 40" report
'
test_expect_success 'likewise under srun: its tasks have a share of 0, the other shares are the whole' '
	on_node n2 mount -t tmpfs -o size=20m none /tmp/own &&
	EVENSTEP_CONF=$PWD/need.conf on_ctl srun -N4 --evenstep-profile=room sh -c "echo \$SLURMD_NODENAME \$EVENSTEP_SHARE" >got 2>err; rc=$?; cat got err
	on_node n2 umount /tmp/own && test $rc = 0 && grep -x "n2 0.000000" got && awk "{ s += \$2 } END { exit s < 0.999 || s > 1.001 }" got &&
	test "$(grep -c "n2 has 0.0 GB of storage, and the profile room needs 0.1 GB: it gets nothing" err)" = 1 &&
	sed "s/100MB/900PB/" need.conf >much.conf && ! EVENSTEP_CONF=$PWD/much.conf on_ctl srun -N4 --evenstep=required --evenstep-profile=room true 2>err; cat err
	grep "no node has what the profile room needs" err
'
test_expect_success 'canon: from equal slices each frame takes a step from the node that comes last' '
	in_job -N4 evenstep run --policy canon --metrics equal --pieces 1 --range 0:400 --repeat 4 --report report -- \
		sh -c "test {count} = 0 || case {node} in n3) sleep 1;; *) sleep 0.1;; esac" &&
	jq -c "select(.slices) | [.slices[] | .end - .begin]" report >got && printf "[%s]\n" 100,100,100,100 102,102,102,94 104,104,104,88 106,106,106,82 >want && test_cmp want got
'
test_expect_success 'run --metrics cached: the first slices are in the order of the speeds, and are the work' '
	in_job -N4 evenstep run --metrics cached --range 0:4000 --pieces 1 --report report -- true &&
	jq -es ".[0].slices | map(.end - .begin) | (. == (sort | reverse)) and add == 4000" report
'
# Between nodes `evenstep probe` measures the links, too, which a run by this profile does not.
test_expect_success 'evenstep probe --json | evenstep plan is the first frame of that run' '
	{ cat own.conf && echo "probe { element \"I\" { measure = false } }"; } >links.conf &&
	EVENSTEP_CONF=$PWD/links.conf in_job -N4 evenstep probe --nodes --json >out &&
	EVENSTEP_CONF=$PWD/links.conf in_job -N4 evenstep run --metrics cached --range 0:4000 --pieces 1 --report report -- true &&
	EVENSTEP_CONF=$PWD/links.conf evenstep plan --metrics /dev/stdin --range 0:4000 --json <out >plan && cat plan &&
	jq -c "[.nodes[] | [.name, .begin, .end]] | sort" plan >want && jq -cs ".[0].slices | map([.node, .begin, .end]) | sort" report >got &&
	test_cmp want got && jq -es --slurpfile plan plan ".[-1].elements == \$plan[0].elements and .[-1].rank_by == \"different\"" report
'
test_expect_success 'a file of another boot in the cache: that node is measured, and the reason is told' '
	sed -i "s/\"boot_id\": \"./\"boot_id\": \"x/" cache/n1.json && in_job -N4 evenstep probe --nodes --json >out &&
	jq -c ".details[] | .cached, .why" out &&
	jq -e ".details | .n0.cached and (.n1.cached | not) and (.n1.why | test(\"is from another boot\"))" out
'
test_expect_success 'run --metrics FILE without a node: exit 2, names it' '
	echo "{\"nodes\":[{\"name\":\"n0\",\"C\":1},{\"name\":\"n1\",\"C\":1},{\"name\":\"n2\",\"C\":1}]}" >bad.json &&
	test_expect_code 2 in_job -N4 evenstep run --metrics bad.json --range 0:4 -- true 2>err && cat err &&
	grep -x "evenstep: bad.json: node n3 is missing: give every node of the allocation" err
'

# --- what a job's earlier runs have measured --------------------------------------
# ran N [OPTION...]: report.N has a run, and whether each node was known before.
cat >runs.sh <<'END'
ran() { n=$1; shift; evenstep run "$@" --range 0:4000 --pieces 1 --report report.$n -- true; }
ran 1 && ran 2 && ran 3 --metrics probe && ran 4 --profile io && ran 5 --profile io
END
known() { jq -cs '.[] | select(.report.nodes) | [.report.nodes[].cached] | unique' "report.$1"; }
test_expect_success 'the next run of a job measures nothing again, but what it is asked for' '
	mkdir of-runs && in_job -N4 env XDG_STATE_HOME="$PWD/of-runs" PATH="$EVENSTEP_BUILD:$PATH" sh runs.sh 2>err; cat err &&
	for n in 1 2 3 4 5; do known $n; done >got && printf "%s\n" "[false]" "[true]" "[false]" "[false]" "[true]" >want && test_cmp want got &&
	for n in 1 2; do jq -cs ".[] | select(.report.nodes) | [.report.nodes[] | .node, .JL]" report.$n; done | uniq | wc -l | grep -x 1
'
test_expect_success 'the next job does' '
	in_job -N4 env XDG_STATE_HOME="$PWD/of-runs" evenstep run --pieces 1 --range 0:4 --report report.6 -- true && known 6 | grep -xF "[false]"
'
test_expect_success 'agents that stay are those of the same step: what they have measured holds, too' '
	{ cat own.conf && echo "agents { linger = 60 }"; } >stay.conf &&
	printf "for n in 7 8; do evenstep run --pieces 1 --range 0:4 --report report.\$n -- true; done\n" >stay.sh && cat stay.sh &&
	EVENSTEP_CONF=$PWD/stay.conf in_job -N4 env XDG_STATE_HOME="$PWD/of-runs" sh stay.sh >got &&
	for n in 7 8; do jq -s ".[0].report.step" report.$n; done | grep -v null | uniq | wc -l | grep -x 1 &&
	known 7 | grep -xF "[false]" && known 8 | grep -xF "[true]"
'

test_expect_success 'srun --evenstep: what a step has measured where the cache has nothing holds for the next steps and runs of the job' '
	echo "probe { cache = \"$PWD/none\" }" >none.conf && cat >steps.sh <<-\END && mkdir of-steps &&
	step() { srun -N4 --evenstep "$@" true && wc -l <"$XDG_STATE_HOME/evenstep/nodes"; }
	step && step && step --evenstep-probe=fresh && step && evenstep run --pieces 1 --range 0:4 --report report.9 -- true
	END
	EVENSTEP_CONF=$PWD/none.conf in_job -N4 env XDG_STATE_HOME="$PWD/of-steps" sh steps.sh >got 2>err; cat err &&
	known 9 >>got && printf "%s\n" 1 1 2 2 "[true]" >want && test_cmp want got
'

# --- srun: what its steps have done is kept, as that of runs -----------------------
cat >burn.c <<'END'
#include <evenstep.h>
#include <time.h>
int main(void)
{
	uint64_t begin, end;
	if (evenstep_open(400, 3) < 0)
		return 9;
	while (evenstep_next(&begin, &end) > 0) {
		for (; begin < end; begin++)
			for (clock_t until = clock() + CLOCKS_PER_SEC / 1000; clock() < until;)
				;
		if (evenstep_done() < 0)
			return 9;
	}
	evenstep_close();
	return 0;
}
END
sliced() { on_ctl env XDG_STATE_HOME="$PWD/state" srun -N4 --evenstep "$@" ./burn 2>err; code=$?; cat err; return $code; }
test_expect_success 'a step whose program asks for slices leaves a line in the history, its rates in the order of the speeds' '
	gcc -Wall -Werror -I"$EVENSTEP_SRC/launcher/libevenstep" -o burn burn.c -L"$EVENSTEP_BUILD" -Wl,-rpath,"$EVENSTEP_BUILD" -levenstep &&
	for try in 1 2 3 4 5; do # others may be busy here
		rm -rf state && mkdir state && sliced && sliced --evenstep-probe=off && on_ctl env XDG_STATE_HOME="$PWD/state" srun -N4 --evenstep true && cat state/evenstep/history &&
			jq -es "length == 1 and .[0].command == \"burn\"" state/evenstep/history || return 1
		jq -e ".nodes | map(.rate) == (map(.rate) | sort | reverse) and map(.C) == (map(.C) | sort | reverse)" state/evenstep/history && return
	done
	return 1
'
test_expect_success 'after five of them the profile auto is fitted to them, for srun, too' '
	sliced --evenstep-profile=auto && mentioned "profile auto: 1 earlier runs are too few to fit it" &&
	for again in 3 4 5; do sliced || return 1; done && sliced --evenstep-profile=auto && mentioned "^evenstep: profile auto: fitted to 5 runs: " &&
	test "$(wc -l <state/evenstep/history)" = 6
'

# The links: n2 has a quarter of what the others have.
links() { in_job -N4 evenstep probe --nodes --fresh --elements I "$@" >out 2>err; }
slow() { # within 15 percent of what the shaper lets through of a frame's payload, 1448 of 1514 bytes
	jq -c '[.nodes[].I]' out && jq -e '.nodes | map(.I * 1000 * 1514 / 1448)
		| (.[2] | . > 25 * 0.85 and . < 25 * 1.15) and all(.[0, 1, 3]; . > 85 and . < 115)' out
}
test_expect_success 'a slow link shows, and its node is named as an outlier' '
	testbed_fault rate n2 25mbit && for try in 1 2 3 4 5; do # others are busy here
		links --json && slow && break
	done && slow && cat err &&
	grep -E "^evenstep: warning: n2: the interconnect is [0-9]+ % below the median of its kind" err
'
test_expect_success 'root keeps what the links carried in the cache, and a health check keeps that: srun knows the slow cable, and nothing is measured' '
	for node in n0 n1 n2 n3; do as_health $node || return 1; done && jq -c "{ring, I: .elements.I}" cache/n2.json &&
	jq -e ".ring.elements.I | .between and .value > 0.015 and .value < 0.035" cache/n2.json && cp cache/n2.json before &&
	on_ctl srun -N4 --evenstep --evenstep-profile=network sh -c "echo \$SLURMD_NODENAME \$EVENSTEP_SHARE" >got 2>err && cat got err && quiet err &&
	sort -k2g got | sed -n "1s/ .*//p" >least && echo n2 >want && test_cmp want least && cmp before cache/n2.json &&
	awk "{ sum += \$2; share[\$1] = \$2 } END { exit !(share[\"n2\"] < 0.14 && sum > 0.9999 && sum < 1.0001) }" got
'
test_expect_success 'probe --nodes shows it from the cache' '
	in_job -N4 evenstep probe --nodes --json >out && jq -c ".details[] | [.cached, .elements.I.what]" out &&
	jq -e ".details | all(.[]; .cached and .elements.I.between)" out &&
	jq -e --slurpfile c cache/n2.json ".nodes[2].I == \$c[0].ring.elements.I.value" out
'
test_expect_success '--check: exit 1; without it 0' '
	for try in 1 2 3 4 5; do
		links; code=$? && cat err && test $code = 0 || return 1
		in_job -N4 evenstep probe --nodes --fresh --elements I --check >out 2>err; code=$?
		cat err && test $code = 1 && grep "results are outliers: look at the nodes named above" err && return
	done
	return 1
'
test_expect_success 'no node is drained for it' '
	wait_for 60 nodes_idle 4
'
test_expect_success 'network work: run has the ring, and the node with the slow link gets the least' '
	for try in 1 2 3 4 5; do
		in_job -N4 evenstep run --profile network --range 0:4000 --pieces 1 --report report -- true || return 1
		jq -c ".slices" report
		jq -es ".[0].slices | map({(.node): (.end - .begin)}) | add | .n2 < .n0 and .n2 < .n1" report && return
	done
	return 1
'
# A GPU that the CPU plays would not be done in time on a tenth of a core.
test_expect_success 'the slow nodes get more of their cores' '
	for n in n2 n3; do "$testbed" fault --name "$testbed_name" speed $n 40 || return 1; done
'
# Stand-ins for the drivers of three makers (t/drivers): these nodes have no GPU.
for maker in nvidia amd intel; do
	test_expect_success "GPUs of $maker: probe --nodes has those of all nodes, and a run counts them" '
		with_gpus() { LD_LIBRARY_PATH=$EVENSTEP_BUILD/t/drivers/$maker STAND_IN_GPU=devices=2 in_job -N4 evenstep "$@"; } &&
		with_gpus probe --nodes --fresh --elements G --json >out && jq -c "[.details[].elements.G | {value, compute, count}]" out &&
		jq -e "[.details[].elements.G | .value > 0 and .compute > 0 and .count == 2] | all and length == 4" out &&
		with_gpus run --profile gpu --metrics probe --range 0:400 --report report -- true &&
		head -n 1 report | jq -e "[.report.nodes[].counted.G > 0] | all and length == 4"
	'
done
test_expect_success "an element of the site'\''s own: each node'\''s number, in probe, and in the slices of a run" '
	{ cat own.conf && echo "probe { element \"W\" { command = \"expr 1 + \$(hostname | tr -d n)\" name = \"licences\" unit = \"seats\" } }" &&
		echo "profile \"seats\" { W = 1 }"; } >seats.conf && cat seats.conf &&
	EVENSTEP_CONF=$PWD/seats.conf in_job -N4 evenstep probe --nodes --fresh --elements W --json >out && jq -c .nodes out &&
	jq -e "[.nodes[] | .W] == [1, 2, 3, 4]" out &&
	EVENSTEP_CONF=$PWD/seats.conf in_job -N4 evenstep run --profile seats --metrics probe --range 0:1000 --pieces 1 --report report -- true &&
	jq -cs ".[0].slices | map(.end - .begin)" report >got && echo "[100,200,300,400]" >want && test_cmp want got
'
test_expect_success 'down leaves nothing' '
	wait_for 60 no_jobs && testbed_down && testbed_nothing_left $testbed_name
'
test_done
