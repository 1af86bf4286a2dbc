#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what a node can do, without Slurm: measured, kept for all users, and never trusted blindly'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD/tmp # the scratch: what is left there is ours
export TMPDIR
mkdir -p "$TMPDIR"
unset SLURM_JOB_ID SLURMD_NODENAME
printf 'probe { cache = "%s/cache" }\n' "$PWD" >own.conf
EVENSTEP_CONF=$PWD/own.conf
export EVENSTEP_CONF
test "$(id -u)" = 0 && test_set_prereq ROOT
node=$(hostname | cut -d. -f1)
kept=cache/$node.json

show() { cat out && jq -e "$@" out; }

test_expect_success 'one object; "nodes" is a metrics FILE, and evenstep plan reads it' '
	evenstep probe --fresh --json >out && show "(.nodes | length == 1) and .nodes[0].C > 0 and .outliers == []" &&
	show ".details[].elements | keys == [\"B\",\"C\",\"G\",\"I\",\"M\",\"S\"]" &&
	evenstep plan --metrics out --range 0:100 --json >plan && jq -e ".nodes[0].end == 100" plan
'
test_expect_success 'each element has a unit, what was measured or why not, and the time it took' '
	show ".details[].elements | all(.[]; (.unit | length > 0) and (.what | length > 0) and .seconds >= 0)"
'
test_expect_success 'all elements together keep to the budget' '
	for try in 1 2 3 4 5; do # others may be busy here: twice the budget, and five tries
		evenstep probe --fresh --json >out || return 1
		! show "[.details[].elements[].seconds] | add < 2" || return 0
	done
	return 1
'
test_expect_success 'no GPU is a count of 0, not an error' '
	LD_LIBRARY_PATH= evenstep probe --fresh --elements G --json >out &&
	{ nvidia-smi >/dev/null 2>&1 || show ".nodes[0].G == 0 or (.details[].elements.G.what | test(\"there is a card\"))"; }
'
test_expect_success 'the table: a line an element, with its unit and a bar' '
	evenstep probe --fresh --elements C,S >out && cat out && grep -x "C  CPU, Gop/s" out && grep -x "S  storage, MB/s" out &&
	grep -E "^  $node +[0-9.e+]+ \+-.* #{24} " out && ! grep memory out
'
test_expect_success 'nothing is left in the scratch' '
	test -z "$(ls "$TMPDIR")"
'
test_expect_success 'a scratch that is not there: not measured, with the reason' '
	TMPDIR=$PWD/none evenstep probe --fresh --elements S --json >out &&
	show ".nodes[0].S == null and (.details[].elements.S.what | test(\"none\"))"
'
test_expect_success ROOT 'a scratch that is full: not measured, or less of it, and nothing is left' '
	mkdir -p full && mount -t tmpfs -o size=64k none full && dd if=/dev/zero of=full/x bs=1k 2>&- || :
	TMPDIR=$PWD/full evenstep probe --fresh --elements S --json >out; ls full >left; umount full
	show ".details[].elements.S | .value == null and (.what | test(\"is full\"))" && echo x >want && test_cmp want left
'
test_expect_success ROOT 'a scratch that is read-only: not measured, with the reason' '
	mkdir -p fixed && mount -t tmpfs -o ro none fixed
	TMPDIR=$PWD/fixed evenstep probe --fresh --elements S --json >out; umount fixed
	show ".details[].elements.S | .value == null and (.what | test(\"is read-only\"))"
'
# evenstep with stand-ins for the drivers' libraries: which, how they behave (see
# t/drivers/stand_in.h), and what Slurm leaves the step.
gpus() {
	drivers=$1 behaviour=$2 mask=$3; shift 3
	LD_LIBRARY_PATH=$EVENSTEP_BUILD/t/drivers/$drivers STAND_IN_GPU=$behaviour CUDA_VISIBLE_DEVICES=$mask \
		ROCR_VISIBLE_DEVICES=$mask ZE_AFFINITY_MASK=$mask EVENSTEP_CONF=$PWD/gpu.conf evenstep "$@"
}
printf 'probe { cache = "%s/cache" budget_ms = 3000 }\nprofile "some" { C = 1 G = 1 need { G = "100MB" } }\nprofile "much" { C = 1 need { G = "1GB" } }\n' "$PWD" >gpu.conf
while read -r maker; do
	test_expect_success "GPUs of $maker: number, memory, and how fast they copy and compute" '
		gpus $maker devices=2 0,1 probe --fresh --elements G --json >out && show ".nodes[0].G > 0" &&
		show ".details[].elements.G | .unit == \"GB/s\" and .value > 0 and .compute > 0 and .count == 2 and .capacity_bytes == 134217728" &&
		evenstep plan --metrics out --profile gpu --range 0:100 --json >plan && jq -e ".nodes[0].end == 100" plan
	'
	test_expect_success "a step sees those of $maker that are its own" '
		gpus $maker devices=4 1,2 probe --fresh --elements G --json >out && show ".details[].elements.G.count == 2" &&
		gpus $maker devices=4 NoDevFiles probe --fresh --elements G --json >out && show ".nodes[0].G == 0"
	'
	test_expect_success "they count in a run, and its report has them ($maker)" '
		gpus $maker devices=2 0,1 run --local 2 --profile some --metrics probe --range 0:10 --report report -- true &&
		head -n 1 report | jq -e "[.report.nodes[] | .counted.G > 0 and .probe.G.compute > 0 and .probe.G.count == 2] | all and length == 2"
	'
	test_expect_success "nodes with too little of their memory get nothing ($maker)" '
		test_expect_code 3 gpus $maker devices=2 0,1 run --local 2 --profile much --range 0:10 -- true 2>err; cat err &&
		grep "local0 has 0.1 GB of GPU, and the profile much needs 1.0 GB: it gets nothing" err
	'
	test_expect_success "a library of another version: not measured, in one line, and no run suffers ($maker)" '
		gpus $maker-old devices=1 0 probe --fresh --elements G --json >out &&
		show ".nodes[0].G == null and (.details[].elements.G | .value == null and .compute == null and (.what | test(\"is of another version, without .*: update the driver\")))" &&
		gpus $maker-old devices=1 0 run --local 2 --profile gpu --metrics probe --range 0:10 -- echo {begin} {end} >out 2>err && cat err && test -s out &&
		grep "^evenstep: warning: the GPU of local0 and of 1 more could not be measured (.*is of another version, without .*): it does not count$" err
	'
	test_expect_success "one that cannot compute: that is not measured, the rest is ($maker)" '
		gpus $maker-bare devices=1 0 probe --fresh --elements G >out && cat out && grep "computing not measured: .* lacks " out &&
		gpus $maker-bare devices=1 0 probe --fresh --elements G --json >out && show ".details[].elements.G | .value > 0 and .compute == null"
	'
	test_expect_success "a driver that dies: not measured, with the signal ($maker)" '
		gpus $maker crash 0 probe --fresh --elements C,G --json >out &&
		show ".nodes[0].C > 0 and .nodes[0].G == null and (.details[].elements.G.what | test(\"ended by signal 11\"))"
	'
	test_expect_success "one that dies computing has copied ($maker)" '
		gpus $maker crash-kernel 0 probe --fresh --elements G --json >out &&
		show ".details[].elements.G | .value > 0 and .compute == null and (.what | test(\"the kernel has not ended\"))"
	'
done <<'END'
nvidia
amd
intel
END
test_expect_success 'a driver that hangs: bounded, marked as not measured, the others measured' '
	for try in 1 2 3 4 5; do # others may be busy here, and C has but its part of the budget
		LD_LIBRARY_PATH=$EVENSTEP_BUILD/t/drivers/nvidia STAND_IN_GPU=hang evenstep probe --fresh --elements C,G --json >out || return 1
		! show ".nodes[0].C > 0 and .nodes[0].G == null and (.details[].elements.G.what | test(\"no result after\"))" || return 0
	done
	return 1
'

# --- elements of the site's own ---------------------------------------------------
cat >site.conf <<-EOF
	probe { cache = "$PWD/cache"
	  element "X" { command = "cat '$PWD/seats'" name = "licences" unit = "seats" }
	  element "Z" { command = "echo 8" better = "less" } }
	profile "seats" { X = 1 }
EOF
test_expect_success 'an element of the site: its command, its name, what less is better of' '
	echo 12.5 >seats && EVENSTEP_CONF=$PWD/site.conf evenstep probe --fresh --elements X,Z --json >out &&
	show ".nodes[0] | .X == 12.5 and .Z == 0.125" &&
	show ".details[].elements | .X.unit == \"seats\" and .Z.value == 8 and .Z.better == \"less\"" &&
	EVENSTEP_CONF=$PWD/site.conf evenstep plan --metrics out --profile seats --range 0:100 >plan && head -n 1 plan | grep "G      W      X      Y      Z     JL"
'
test_expect_success 'its line in the table' '
	EVENSTEP_CONF=$PWD/site.conf evenstep probe --elements X,Z >out && cat out &&
	grep -x "X  licences, seats" out && grep -x "Z  element Z; less is better" out && ! grep memory out
'
test_expect_success 'agents run it, and slices go by it' '
	EVENSTEP_CONF=$PWD/site.conf evenstep run --local 3 --profile seats --metrics probe --range 0:30 \
		--report report -- echo {begin}:{end} >out && cat out report && test -s out &&
	head -n 1 report | jq -e "[.report.nodes[] | .counted.X == 12.5 and .probe.X.name == \"licences\"] | all and length == 3"
'
test_expect_success 'one that fails: not measured, with the reason; nothing else suffers' '
	rm seats && EVENSTEP_CONF=$PWD/site.conf evenstep probe --fresh --elements X,Z --json >out &&
	show ".nodes[0] | .Z == 0.125 and (has(\"X\") | not)" &&
	show ".details[].elements.X | .value == null and (.what | test(\"status 1: cat:.*No such file\"))"
'

cat >need.conf <<-EOF
	probe { cache = "$PWD/cache" }
	profile "modest" { C = 1 need { M = "1kB" S = "1B" } }
	profile "greedy" { C = 1 need { M = "900PB" } }
EOF
test_expect_success 'nodes that have what the profile needs do the work' '
	EVENSTEP_CONF=$PWD/need.conf evenstep run --local 2 --profile modest --range 0:10 -- echo {begin} {end} >out 2>err &&
	cat err && ! grep "gets nothing" err && awk "{ n += \$2 - \$1 } END { exit n != 10 }" out
'
test_expect_success 'nobody has: a line each, 3, and how to mend it' '
	test_expect_code 3 env EVENSTEP_CONF="$PWD/need.conf" evenstep run --local 2 --profile greedy --range 0:10 -- echo {begin} {end} >out 2>err
	cat err && test ! -s out && grep "^evenstep: no node has what the profile greedy needs: give nodes that have it, or another --profile$" err &&
	grep -E "local0 has [0-9.]+ GB of memory, and the profile greedy needs 900000000.0 GB: it gets nothing" err && grep "local1 has" err
'

# --- the cache ------------------------------------------------------------------
test_expect_success ROOT 'root, outside of a job: what was measured is kept, and comes back' '
	rm -rf cache && evenstep probe --json >first && jq -e ".details[].cached == false" first && cat $kept &&
	evenstep probe --json >out && show ".details[].cached == true" &&
	jq .nodes first >want && jq .nodes out >got && test_cmp want got
'
test_expect_success ROOT 'agents take it, too, C by the CPU that they have' '
	evenstep probe --local 2 --json >out && show ".details | length == 2 and all(.[]; .cached)"
'
test_expect_success ROOT 'some of the elements are not kept: they would hide the others' '
	cp $kept before && evenstep probe --fresh --elements C >out && cmp before $kept
'
test_expect_success ROOT 'nor what is measured within a job' '
	SLURM_JOB_ID=1 evenstep probe --fresh >out && cmp before $kept
'
test_expect_success ROOT 'nor what a user measures; what root has kept he reads' '
	chmod 755 "$PWD" && setpriv --reuid 12345 --clear-groups "$EVENSTEP_BUILD/evenstep" probe --fresh --elements C >out 2>err; cmp before $kept
'
test_expect_success ROOT 'what could not be measured then is measured anew, and that is kept' '
	rm -f $kept && gpus nvidia-old devices=1 0 probe --json >out && show ".nodes[0].G == null" && cp $kept old &&
	SLURM_JOB_ID=1 gpus nvidia devices=1 0 probe --json >out && show ".nodes[0].G > 0 and .details[].cached == true" && cmp old $kept && gpus nvidia devices=1 0 probe --json >out &&
	show ".nodes[0].G > 0 and (.details[] | .cached == false and (.why | test(\"^cache .*: G could not be measured then$\")))" &&
	gpus nvidia devices=1 0 probe --json >out && show ".nodes[0].G > 0 and .details[].cached == true"; code=$?; cp before $kept && test $code = 0
'
# What is done to the file | the reason.
while IFS='|' read -r what how why; do
	test_expect_success ROOT "a kept file that is $what: ignored, with the reason" '
		cp before $kept && eval "$how" &&
		evenstep probe --local 1 --json >out && jq -c "[.details[] | .cached, .why]" out &&
		show ".details[] | .cached == false and (.why | test(\"$why\"))" &&
		rm -rf $kept
	'
done <<'END'
truncated|head -c 500 before >$kept|is truncated
empty|: >$kept|is truncated
from another boot|sed -i "s/\"boot_id\": \"./\"boot_id\": \"x/" $kept|is from another boot
from the future|sed -i "s/\"time\": 1/\"time\": 9/" $kept|is from the future
too old|sed -i "s/\"time\": [0-9]*/\"time\": 1000/" $kept|is older than its ttl
of other hardware|sed -i "s/\"hardware\": \"/&x/" $kept|is of other hardware
a symbolic link|mv $kept there && ln -s "$PWD/there" $kept|is a symbolic link
somebody else's|chown 12345 $kept|is not root.s
open to others|chmod 666 $kept|can be written by others
another node's|sed -i "s/\"node\": \"/&x/" $kept|is another node.s
END
test_expect_success ROOT 'a cache directory that others may write to is not filled: exit 3, with the reason' '
	chmod 777 cache && fails 3 "evenstep: cache .*cache: can be written by others .*: make it a directory of root.s, mode 0755" \
		evenstep probe --fresh && chmod 755 cache
'

# --- in a run -------------------------------------------------------------------
test_expect_success 'run --metrics FILE: the first slices are its, by the profile' '
	echo "{\"nodes\":[{\"name\":\"local1\",\"G\":1,\"C\":1},{\"name\":\"local0\",\"G\":0,\"C\":3}]}" >m.json &&
	evenstep run --local 2 --metrics m.json --range 0:400 --pieces 1 --report report -- true &&
	jq -es ".[0].slices | map(.end - .begin) == [300, 100]" report &&
	printf "profile \"cards\" { G = 1 }\n" >cards.conf &&
	EVENSTEP_CONF=cards.conf evenstep run --local 2 --metrics m.json --profile cards --range 0:400 --pieces 1 --report report -- true &&
	jq -es ".[0].slices | map([.node, .end - .begin]) == [[\"local1\", 400]]" report
'
# A file as `evenstep probe --json` prints it, of two nodes that differ in C only.
first() { jq -cs ".[0].slices | map([.node, .begin, .end]) | sort" report; }
planned() { jq -c "[.nodes[] | select(.end > .begin) | [.name, .begin, .end]] | sort" plan; }
test_expect_success 'evenstep probe --json | evenstep plan is the first frame of the run, by either rule' '
	evenstep probe --json >out && jq ".nodes[0] as \$n | {nodes: [
		(\$n | .name = \"local0\" | .C *= 3 | .M //= 5), (\$n | .name = \"local1\" | .M //= 5)]}" out >measured.json &&
	for by in different all; do
		echo "probe { rank_by = \"$by\" }" >by.conf &&
		EVENSTEP_CONF=by.conf evenstep plan --metrics measured.json --range 0:4000 --json >plan &&
		EVENSTEP_CONF=by.conf evenstep run --local 2 --metrics measured.json --range 0:4000 --pieces 1 --report report -- true &&
		first >first.$by && planned >planned.$by && cat first.$by && test_cmp planned.$by first.$by &&
		jq -es --slurpfile plan plan ".[-1].rank_by == \"$by\" and .[-1].elements == \$plan[0].elements" report || return 1
	done && jq -e ". == [[\"local0\", 0, 3000], [\"local1\", 3000, 4000]]" first.different && ! cmp first.different first.all
'
# What is wrong with it | the file | status and message.
while IFS='|' read -r what text message; do
	test_expect_success "a metrics file with $what: exit 2, with the reason" '
		printf "%s\n" "$text" >bad.json &&
		fails 2 "evenstep: bad.json: $message" evenstep run --local 2 --metrics bad.json --range 0:4 -- true
	'
done <<'END'
a missing node|{"nodes":[{"name":"local0","C":1}]}|node local1 is missing: give every node of the allocation
an unknown element|{"nodes":[{"name":"local0","V":1}]}|nodes\[0\]: "V" is no element: .*
a negative number|{"nodes":[{"name":"local0","C":-1}]}|nodes\[0\]: C: -1 is out of range: .*
a huge number|{"nodes":[{"name":"local0","C":1e300}]}|nodes\[0\]: C: 1e\+300 is out of range: .*
zeros alone|{"nodes":[{"name":"local0","C":0},{"name":"local1"}]}|every element of every node is 0: .*
nothing that the profile counts|{"nodes":[{"name":"local0","S":1},{"name":"local1"}]}|no node has any load by the profile cpu: .*
END
test_expect_success 'every node has metrics.json in its step directory while its commands run, and nothing after' '
	evenstep run --local 2 --metrics m.json --range 0:8 --pieces 1 -- sh -c "cat \$EVENSTEP_DIR/metrics.json; echo; echo \$EVENSTEP_DIR >>dirs" >got &&
	cat got dirs && jq -es "length == 2 and .[0] == .[1] and (.[0].nodes | map([.name, .C]) == [[\"local0\", 3], [\"local1\", 1]])" got &&
	sort -u dirs >each && test "$(wc -l <each)" = 2 && while read -r dir; do test ! -e "$dir" || return 1; done <each
'
test_expect_success 'what a node has not measured does not stand in it as a surprise: all six elements are there' '
	evenstep run --local 2 --range 0:8 -- sh -c "cat \$EVENSTEP_DIR/metrics.json; echo" >got && cat got &&
	jq -es "all(.[].nodes[]; keys == [\"B\",\"C\",\"G\",\"I\",\"M\",\"S\",\"name\"])" got
'
test_expect_success 'NaN in a metrics file is no JSON: exit 2' '
	echo "{\"nodes\":[{\"name\":\"local0\",\"C\":NaN}]}" >bad.json &&
	fails 2 "evenstep: bad.json:1:.*: give JSON that is whole" evenstep run --local 2 --metrics bad.json --range 0:4 -- true {begin} {end}
'
test_expect_success 'nothing could be measured: one warning, slices all alike, and the work is done' '
	printf "probe {\n" >none.conf && for e in C M I B; do printf "element \"$e\" { measure = false }\n" >>none.conf; done &&
	echo "}" >>none.conf && EVENSTEP_CONF=none.conf evenstep run --local 2 --range 0:4 --pieces 1 --report report -- true 2>err &&
	cat err && grep "no node could be measured in what the profile cpu counts: the first slices are all alike" err &&
	jq -es ".[0].slices | map(.end - .begin) == [2, 2]" report
'

# --- the profile auto -----------------------------------------------------------
mkdir -p state
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME
history=state/evenstep/history
# worked: five runs of a command whose rate goes with M alone, whatever C is.
worked() {
	rm -rf state/evenstep && mkdir state/evenstep &&
	for i in 1 2 3 4 5; do
		echo "{\"command\":\"$1\",\"nodes\":[{\"C\":8,\"M\":1,\"I\":0,\"B\":0,\"S\":0,\"G\":0,\"rate\":10},{\"C\":$i,\"M\":3,\"I\":0,\"B\":0,\"S\":0,\"G\":0,\"rate\":30}]}"
	done >$history
}
echo "{\"nodes\":[{\"name\":\"local0\",\"C\":3,\"M\":1},{\"name\":\"local1\",\"C\":1,\"M\":3}]}" >cm.json
auto() { evenstep run --local 2 --metrics cm.json --profile auto --range 0:400 --pieces 1 --report report -- "$@" >got 2>err; cat err; }

test_expect_success 'a run is kept, a line, with what its nodes measured and did' '
	rm -rf state/evenstep && evenstep run --local 2 --metrics m.json --range 0:400 -- sleep 0.1 && cat $history &&
	jq -es "length == 1 and .[0].command == \"sleep\" and (.[0].nodes | map(.C) == [3, 1] and all(.[]; .rate > 0))" $history &&
	test "$(stat -c %a $history)" = 600
'
test_expect_success 'not one of equal nodes, nor one that failed' '
	cp $history before && evenstep run --local 2 --metrics equal --range 0:4 -- true &&
	test_expect_code 1 evenstep run --local 2 --metrics m.json --range 0:4 -- false && cmp before $history
'
test_expect_success 'auto without enough runs: the default, and it says how many there are' '
	auto true && grep -x "evenstep: profile auto: 0 earlier runs are too few to fit it (5): taking cpu" err
'
test_expect_success 'auto with five runs of the command: fitted, and it says so' '
	worked true && auto true && grep -x "evenstep: profile auto: fitted to 5 runs: M 1" err &&
	jq -es ".[0].slices | map(.end - .begin) == [100, 300]" report
'
test_expect_success 'runs of another command are not looked at' '
	worked other && auto true && grep "0 earlier runs are too few" err
'
test_expect_success 'evenstep plan has no command: runs of any count' '
	worked other && evenstep plan --metrics cm.json --range 0:400 --profile auto --json >out && show ".nodes[0].end == 100"
'
test_expect_success 'lines that are none of ours are passed over' '
	worked true && { echo rubbish; echo "{\"command\":\"true\"}"; echo "{\"command\":\"true\",\"nodes\":[{\"rate\":-1}]}"; } >>$history &&
	auto true && grep "fitted to 5 runs" err
'
test_expect_success 'a history that is a link is neither read nor written, and the run goes on' '
	worked true && mv $history there && cp there before && ln -s ../../there $history && auto true &&
	grep "0 earlier runs are too few" err && cmp there before
'
test_expect_success 'nowhere to keep it: the run goes on' '
	XDG_STATE_HOME=/nonexistent auto true && grep "1 frame in" err
'
test_expect_success 'a profile of the site may not be called auto: exit 2' '
	printf "profile \"auto\" { C = 1 }\n" >auto.conf &&
	fails 2 "evenstep: auto.conf:1: profile \"auto\": is fitted, not given: give another name" env EVENSTEP_CONF=auto.conf evenstep config
'

test_expect_success 'agents with speeds, as evenstep run has them' '
	evenstep probe --local 2=80,20 --elements C --fresh --json >out && show ".nodes | length == 2 and all(.[]; .C > 0)"
'

# --- usage ----------------------------------------------------------------------
while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2, with the reason" '
		eval "fails 2 \"\$message\" evenstep probe $arguments"
	'
done <<'END'
an unknown element|--elements C,V|evenstep: --elements: "C,V" is no list of elements: give some of C,M,I,B,S,G, or W,X,Y,Z of the site's
one that the site has not|--elements C,Y|evenstep: --elements: no element Y is configured: define it .*
no element|--elements ""|evenstep: --elements: "" is no list of elements: .*
elements without a comma|--elements CM|evenstep: --elements: "CM" is no list of elements: .*
no agents|--local 0|evenstep: --local: "0" is out of range: give 1 to 1024 agents
both kinds of nodes|--local 2 --nodes|evenstep: --nodes and --local exclude each other: give one of them
srun for nobody|--srun -N2|evenstep: --srun: there is no --nodes: give --nodes, too
a word too many|here|evenstep: probe: unexpected argument "here": .*
an unknown option|--odd|evenstep: --odd: no such option: .*
END
test_expect_success '--nodes without an allocation: exit 3, with the reason' '
	fails 3 "evenstep: --nodes: no allocation: run it inside salloc or sbatch" evenstep probe --nodes
'
test_expect_success '--help names every option' '
	evenstep probe --help >out && for option in nodes local elements fresh json check srun; do
		grep -e "--$option" out || return 1
	done
'
test_expect_success 'the process of the agent: bad arguments are refused' '
	for bad in "" "1000" "100 C" "1000 X" "1000 C" "1000 C /tmp more" "x C /tmp" "1000 X /tmp n u more 300" \
		"1000 X /tmp n u more 3 c"; do
		fails 2 "evenstep-agent: --probe: bad arguments: give BUDGET_MS ELEMENTS SCRATCH, .*" evenstep-agent --probe $bad || return 1
	done
'
test_done
