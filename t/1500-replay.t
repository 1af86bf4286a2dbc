#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep replay: the sizes that a policy would choose, event by event'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
unset EVENSTEP_CONF
PATH="$EVENSTEP_BUILD:$PATH"
vectors=$EVENSTEP_SRC/t/policy/jppf_vectors.json

# --- vectors: what JPPF itself chose -------------------------------------------
# A file a case: its trace, what must come out, and its options.
jq -r '.cases[] | .id' "$vectors" >ids
jq -c '.cases[] | {op: "open", channels, context_max: .context_max_bundle_size}, .steps[]' "$vectors" | awk '
	/^{"op":"open"/ { getline id <"ids" }
	{ print >(id ".trace") }'
jq -c '.cases[] | .id, {sizes: .initial}, (.steps[] | {sizes: .expect})' "$vectors" | awk '
	/^"/ { gsub("\"", ""); id = $0; next }
	{ print >(id ".want") }'
jq -r '.cases[] | .id + "|" + .algorithm + (.params | to_entries | map("\(.key)=\(.value)") | join(",") | if . == "" then . else ":" + . end) +
	"|" + (.random.seed_of_channel_i // "1" | split(" ")[0]) + "|" + (.random.kind // "lcg32")' "$vectors" >cases
test_expect_success 'there are vectors' '
	test "$(wc -l <ids)" -ge 60 && test "$(wc -l <cases)" = "$(wc -l <ids)"
'
while IFS='|' read -r id policy seed kind; do
	case $policy in
	*=abc*)
		test_expect_success "$id: text that is no number is an error" '
			test_expect_code 2 evenstep replay --policy "$policy" <"$id.trace" >got 2>err &&
			mentioned "^evenstep: --policy: .*\"abc\"" && test ! -s got
		'
		continue
		;;
	esac
	test "$kind" = lcg32 || policy=$policy,generator=1
	test_expect_success "$id: $(wc -l <"$id.trace") lines" '
		evenstep replay --policy "$policy" --seed "$seed" <"$id.trace" >got 2>err && test_cmp "$id.want" got
	'
done <cases

# --- what else there is -------------------------------------------------------
test_expect_success 'every line is answered at once' '
	mkfifo in out &&
	{ evenstep replay --policy manual:size=7 <in >out & } &&
	exec 7>in 8<out &&
	echo "{\"op\":\"open\",\"channels\":2}" >&7 && read -r answer <&8 && test "$answer" = "{\"sizes\":[7,7]}" &&
	echo "{\"op\":\"add_channel\"}" >&7 && read -r answer <&8 && test "$answer" = "{\"sizes\":[7,7,7]}" &&
	exec 7>&- 8<&- && wait
'
test_expect_success 'a channel that is removed is null, one that joins is the last' '
	cat >trace <<-\END &&
	{"op":"open","channels":3,"context_max":null}
	{"op":"set_job","channel":0,"job_tasks":100}
	{"op":"remove_channel","channel":1}
	{"op":"feedback","channel":0,"size":10,"time_ns":1000000}
	{"op":"add_channel"}
	END
	evenstep replay --policy proportional <trace >got && cat got &&
	cat >want <<-\END &&
	{"sizes":[10,10,10]}
	{"sizes":[10,10,10]}
	{"sizes":[10,null,10]}
	{"sizes":[99,null,1]}
	{"sizes":[99,null,1,10]}
	END
	test_cmp want got
'
test_expect_success 'a channel that was removed is added again, as new: to a bundle policy and to a size policy' '
	{ sed 5d trace && echo "{\"op\":\"add_channel\",\"channel\":1}" && echo "{\"op\":\"add_channel\"}"; } >again &&
	evenstep replay --policy proportional <again >got && cat got && tail -n2 got >last &&
	printf "%s\n" "{\"sizes\":[99,10,1]}" "{\"sizes\":[99,10,1,10]}" >want && test_cmp want last &&
	cat >trace <<-\END &&
	{"op":"open","channels":2,"context_max":90}
	{"op":"remove_channel","channel":0}
	{"op":"add_channel","channel":0}
	{"op":"add_channel","channel":2}
	END
	evenstep replay --policy even <trace >got && cat got &&
	printf "{\"sizes\":[%s]}\n" 45,45 null,90 45,45 30,30,30 >want && test_cmp want got
'
# More than the room that was set aside have joined, and two of them have left and are back.
test_expect_success 'all that happened is told again with who was back' '
	{ echo "{\"op\":\"open\",\"channels\":1}" && for i in $(seq 16); do echo "{\"op\":\"add_channel\"}"; done &&
		for i in 3 16; do echo "{\"op\":\"remove_channel\",\"channel\":$i}" && echo "{\"op\":\"add_channel\",\"channel\":$i}"; done &&
		for i in $(seq 30); do echo "{\"op\":\"add_channel\"}"; done; } >many &&
	evenstep replay --policy manual:size=7 <many | tail -n1 | jq -c . >got && jq -cn "{sizes: [range(47) | 7]}" >want && test_cmp want got
'
# Channel 0 and 1 are fed the same in both; in one, many more join first, which
# takes more room than was set aside.
test_expect_success 'however many join, the sizes go on as if they had been there' '
	for i in $(seq 30); do printf "{\"op\":\"feedback\",\"channel\":%d,\"size\":%d,\"time_ns\":%d}\n" $((i % 2)) $((i % 5 + 1)) $((i * 777777)); done >feed &&
	{ echo "{\"op\":\"open\",\"channels\":2}" && echo "{\"op\":\"set_job\",\"channel\":0,\"job_tasks\":200}" && echo "{\"op\":\"set_job\",\"channel\":1,\"job_tasks\":90}" && cat feed; } >head &&
	for i in $(seq 100); do echo "{\"op\":\"add_channel\"}"; done >more &&
	for policy in rl rl2:minSamples=3,maxSamples=9 autotuned:minSamplesToAnalyse=5; do
		cat head feed | evenstep replay --policy $policy --seed 9 | tail -1 | jq -c ".sizes[:2]" >want &&
		cat head more feed | evenstep replay --policy $policy --seed 9 | tail -1 | jq -c "if (.sizes | length) == 102 then .sizes[:2] else . end" >got &&
		test_cmp want got || return 1
	done
'
test_expect_success '--seed is the parameter of that name, and matters' '
	trace="$(sed -n "s/^\(rl2[^|]*\)|.*/\1/p" cases | head -1).trace" &&
	evenstep replay --policy rl2 --seed 5 <"$trace" >one && evenstep replay --policy rl2:seed=5 <"$trace" >two && evenstep replay --policy rl2 --seed 6 <"$trace" >three &&
	test_cmp one two && ! cmp -s one three
'
test_expect_success 'what JPPF clamps is clamped, each with a warning' '
	echo "{\"op\":\"open\",\"channels\":1}" | evenstep replay --policy manual:size=-5 >got 2>err && mentioned "^evenstep: manual: size: -5 is out of range, 1 is taken$" && test "$(cat got)" = "{\"sizes\":[1]}" &&
	echo "{\"op\":\"open\",\"channels\":1}" | evenstep replay --policy rl2:minSamples=0,maxRelativeSize=2 >got 2>err && mentioned "minSamples: 0 is" && mentioned "maxRelativeSize: 2 is" &&
	test "$(wc -l <err)" = 2
'
test_expect_success 'a size policy cuts the job into slices, and adjusts when all are back' '
	cat >trace <<-\END &&
	{"op":"open","channels":2,"context_max":100}
	{"op":"feedback","channel":0,"size":50,"time_ns":1000000000}
	{"op":"feedback","channel":1,"size":50,"time_ns":4000000000}
	{"op":"set_job","channel":0,"job_tasks":1000}
	{"op":"set_threads","channel":0,"threads":4}
	{"op":"add_channel"}
	{"op":"remove_channel","channel":0}
	END
	evenstep replay --policy even <trace >got && cat got &&
	cat >want <<-\END &&
	{"sizes":[50,50]}
	{"sizes":[50,50]}
	{"sizes":[80,20]}
	{"sizes":[800,200]}
	{"sizes":[800,200]}
	{"sizes":[534,133,333]}
	{"sizes":[null,286,714]}
	END
	test_cmp want got
'
cat >report <<\END
{"type":"frame","frame":0,"slices":[{"node":"n0","begin":0,"end":300,"seconds":1,"attempt":1,"status":0},{"node":"n1","begin":300,"end":600,"seconds":3,"attempt":1,"status":0}],"first":1,"last":3,"efficiency":0.67,"adjusted":true}
{"type":"frame","frame":1,"slices":[{"node":"n1","begin":0,"end":150,"seconds":1.5,"attempt":1,"status":0},{"node":"n0","begin":150,"end":300,"seconds":0.5,"attempt":1,"status":0},{"node":"n2","begin":300,"end":500,"seconds":9,"attempt":1,"status":-1},{"node":"n0","begin":300,"end":600,"seconds":1,"attempt":2,"status":0}],"first":1,"last":1.5,"efficiency":1,"adjusted":false}
{"type":"summary","frames":2,"seconds":5,"efficiency":0.8,"policy":"even"}
END
test_expect_success 'the report of a run is a trace, for a size policy' '
	evenstep replay --policy even <report >got && cat got &&
	cat >want <<-\END &&
	{"sizes":[450,150]}
	{"sizes":[450,150]}
	{"sizes":[450,150]}
	END
	test_cmp want got
'
test_expect_success 'and for a bundle policy, a slice being a bundle' '
	evenstep replay --policy proportional <report >got && cat got &&
	cat >trace <<-\END &&
	{"op":"open","channels":2}
	{"op":"set_job","channel":0,"job_tasks":600}
	{"op":"set_job","channel":1,"job_tasks":600}
	{"op":"feedback","channel":0,"size":300,"time_ns":1000000000}
	{"op":"feedback","channel":1,"size":300,"time_ns":3000000000}
	{"op":"feedback","channel":1,"size":150,"time_ns":1500000000}
	{"op":"feedback","channel":0,"size":150,"time_ns":500000000}
	{"op":"feedback","channel":0,"size":300,"time_ns":1000000000}
	END
	evenstep replay --policy proportional <trace | sed -n "5p;8p" >want && sed -n "8p" want >>want && test "$(wc -l <got)" = 3 && sed 3d got >first && test_cmp want first
'
test_expect_success 'tasks that are left to be sent may be given; they must be a number' '
	open="{\"op\":\"open\",\"channels\":1}" && job="{\"op\":\"set_job\",\"channel\":0,\"job_tasks\":9" &&
	printf "%s\n%s}\n%s,\"left\":4}\n" "$open" "$job" "$job" | evenstep replay --policy manual >got && test "$(wc -l <got)" = 3 &&
	printf "%s\n%s,\"left\":\"all\"}\n" "$open" "$job" | test_expect_code 2 evenstep replay --policy manual >got 2>err &&
	grep "^evenstep: trace, line 2: \"left\" is no number" err
'
test_expect_success 'a real run, replayed' '
	evenstep run --local 2 --metrics equal --range 0:60 --repeat 3 --report real -- true &&
	for policy in even static canon manual proportional rl; do
		evenstep replay --policy $policy <real >got && test "$(wc -l <got)" = "$(wc -l <real)" && jq -e "(.sizes | length) == 2" got >/dev/null || return 1
	done
'
test_expect_success 'its journal, too: a line a frame, as after the report' '
	evenstep run --local 2 --metrics equal --range 0:60 --repeat 3 --pieces 3 --report report2 --journal journal -- printf "%070000d%.0s" {begin} {end} >got && grep -c "\"output\"" journal &&
	for policy in even static canon; do
		evenstep replay --policy $policy <report2 | head -3 >want && evenstep replay --policy $policy <journal >got && test_cmp want got || return 1
	done && evenstep replay --policy rl <journal >got && test "$(wc -l <got)" = 3
'
test_expect_success 'what a crash has left at the end of a journal is passed over' '
	head -c -30 journal >torn && evenstep replay --policy static <torn >got && test "$(wc -l <got)" = 3 &&
	head -1 journal >none && test_expect_code 2 evenstep replay --policy static <none >got 2>err && mentioned "^evenstep: the trace is empty: " && test ! -s got
'
test_expect_success 'a journal that was changed: exit 2' '
	{ head -1 journal; echo "{\"type\":\"slice\",\"frame\":0}"; } >bad && test_expect_code 2 evenstep replay --policy static <bad >got 2>err && mentioned "^evenstep: trace, line 3: \"node\" is no name: " &&
	{ head -1 journal; echo "no JSON"; } >bad && test_expect_code 2 evenstep replay --policy static <bad >got 2>err && mentioned "^evenstep: trace, line 2:[0-9]+: "
'
test_expect_success 'frames of 2^62 units' '
	echo "{\"type\":\"frame\",\"frame\":0,\"slices\":[{\"node\":\"a\",\"begin\":0,\"end\":2305843009213693952,\"seconds\":1,\"attempt\":1,\"status\":0},{\"node\":\"b\",\"begin\":2305843009213693952,\"end\":4611686018427387904,\"seconds\":1,\"attempt\":1,\"status\":0}]}" >huge &&
	evenstep replay --policy even <huge >got && cat got && test "$(cat got)" = "{\"sizes\":[2305843009213693952,2305843009213693952]}" &&
	evenstep replay --policy manual <huge >got && cat got && test "$(cat got)" = "{\"sizes\":[4294967296,4294967296]}"
'
test_expect_success 'the last line needs no end, and --help tells the ops' '
	printf "{\"op\":\"open\",\"channels\":1}" | evenstep replay --policy manual >got && test "$(cat got)" = "{\"sizes\":[1]}" &&
	evenstep replay --help >got && for op in open set_job feedback feedback4 set_threads add_channel remove_channel; do grep -q "\"$op\"" got || return 1; done
'

# --- what is typed wrong ------------------------------------------------------
open='{"op":"open","channels":2}'
# What | arguments | message
while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2" '
		echo "$open" | test_expect_code 2 evenstep replay $arguments >got 2>err && mentioned "^evenstep: $message" && test ! -s got
	'
done <<\END
no policy||replay: --policy is missing: give --policy NAME
an unknown policy|--policy bogus|--policy: "bogus" is unknown: give one of: .*rl2
an unknown parameter|--policy rl:magic=1|--policy: rl has no parameter "magic": 
a parameter that is no number|--policy rl:maxActionRange=abc|--policy: rl: maxActionRange: "abc" .*: give a whole number from
an empty parameter|--policy rl:maxActionRange=|--policy: rl: maxActionRange: "" 
a parameter of ours out of range|--policy canon:step=0|--policy: canon: step: "0" is out of range: 
a seed that is no number|--policy rl2 --seed x|--seed: "x" is no whole number: give a whole number from 0 to 9007199254740992$
a seed that is negative|--policy rl2 --seed -1|--seed: "-1" is out of range: 
a seed that is a fraction|--policy manual --seed 1.5|--seed: "1.5" is no whole number: 
a file's name|--policy rl trace|replay: unexpected argument "trace": give options alone
an unknown option|--policy rl --magic|--magic: no such option: 
a value that is missing|--policy|--policy: a value is missing: 
END

# What | line after "open" | message
while IFS='|' read -r what line message; do
	test_expect_success "$what: exit 2, with the line's number" '
		printf "%s\n%s\n" "$open" "$line" | test_expect_code 2 evenstep replay --policy proportional >got 2>err && mentioned "^evenstep: trace, line 2:? ?$message" && test "$(wc -l <got)" = 1
	'
done <<\END
no JSON|hello|.*: give a JSON object a line
JSON that is cut off|{"op":"feedback","channel":0|.*: give a JSON object a line
two objects on a line|{"op":"add_channel"} {"op":"add_channel"}|.*: give a JSON object a line
an empty line||.*: give a JSON object a line
no object|[1,2]|has no "op": 
no op|{"channel":1}|has no "op": 
an unknown op|{"op":"dance"}|"dance" is no op: give open, set_job, 
a channel that is there|{"op":"add_channel","channel":1}|channel 1 is there already: give one that was removed, or none
a channel that leaves a gap|{"op":"add_channel","channel":3}|channel 3 does not exist: give one that is there
an op that is a number|{"op":7}|"op" is no op: 
an unknown type|{"type":"farme"}|"farme" is no type: give frame or summary
no channel|{"op":"set_job","job_tasks":5}|"channel" is missing: 
a channel that is none|{"op":"set_job","channel":2,"job_tasks":5}|channel 2 does not exist: give one that is there
a negative channel|{"op":"remove_channel","channel":-1}|"channel" is out of range: 
a channel that is a fraction|{"op":"remove_channel","channel":0.5}|"channel" is no whole number: 
a channel that is text|{"op":"remove_channel","channel":"0"}|"channel" is no number: 
no tasks|{"op":"set_job","channel":0}|"job_tasks" is missing: 
a size above an int|{"op":"feedback","channel":0,"size":2147483648,"time_ns":1}|"size" is out of range: give a number from -2147483648 to 2147483647
a number above 64 bits|{"op":"feedback","channel":0,"size":99999999999999999999,"time_ns":1}|.*too big integer
a number above a double|{"op":"feedback","channel":0,"size":1,"time_ns":1e999}|.*real number overflow
a negative time|{"op":"feedback","channel":0,"size":1,"time_ns":-1}|"time_ns" is out of range: 
no time|{"op":"feedback","channel":0,"size":1}|"time_ns" is missing: 
threads that are text|{"op":"set_threads","channel":0,"threads":"4"}|"threads" is no number: 
no overhead|{"op":"feedback4","channel":0,"size":1,"accumulated_ns":1}|"overhead_ns" is missing: 
a second open|{"op":"open","channels":2}|"open" comes twice: 
a slice without a node|{"type":"frame","slices":[{"begin":0,"end":1,"seconds":1,"status":0}]}|"node" is no name: 
slices that are none|{"type":"frame","slices":7}|"slices" is no list: 
a slice that ends before it begins|{"type":"frame","slices":[{"node":"a","begin":5,"end":1,"seconds":1,"status":0}]}|"end" is below begin: 
a slice of a negative CPU time|{"type":"frame","slices":[{"node":"a","begin":0,"end":1,"seconds":1,"cpu":-1,"status":0}]}|"cpu" is out of range: 
a slice of a negative time|{"type":"frame","slices":[{"node":"a","begin":0,"end":1,"seconds":-1,"status":0}]}|"seconds" is out of range: 
END
test_expect_success 'a channel that was removed' '
	printf "%s\n" "$open" "{\"op\":\"remove_channel\",\"channel\":1}" "{\"op\":\"remove_channel\",\"channel\":1}" | test_expect_code 2 evenstep replay --policy rl >got 2>err &&
	mentioned "^evenstep: trace, line 3: channel 1 was removed: " && test "$(wc -l <got)" = 2
'
test_expect_success 'nothing open, or too much' '
	echo "{\"op\":\"add_channel\"}" | test_expect_code 2 evenstep replay --policy rl 2>err && mentioned "^evenstep: trace, line 1: nothing is open: " &&
	echo "{\"op\":\"open\",\"channels\":0}" | test_expect_code 2 evenstep replay --policy rl 2>err && mentioned "line 1: \"channels\" is out of range: give a number from 1 to 65536" &&
	echo "{\"op\":\"open\",\"channels\":65537}" | test_expect_code 2 evenstep replay --policy rl 2>err && mentioned "line 1: \"channels\" is out of range: "
'
test_expect_success 'an empty trace' '
	test_expect_code 2 evenstep replay --policy rl </dev/null >got 2>err && mentioned "^evenstep: the trace is empty: give JSON lines on stdin" && test ! -s got
'
test_expect_success 'a byte 0, a line without an end, a folder' '
	printf "%s\n\0\n" "$open" | test_expect_code 2 evenstep replay --policy rl 2>err && mentioned "^evenstep: trace, line 2" &&
	head -c 70000000 /dev/zero | test_expect_code 2 evenstep replay --policy rl 2>err && mentioned "^evenstep: trace, line 1: is over 67108864 bytes: " &&
	test_expect_code 2 evenstep replay --policy rl </ 2>err && mentioned "^evenstep: trace, line 1: Is a directory: "
'
test_expect_success 'a full disk and a reader that has gone are told' '
	echo "$open" | test_expect_code 1 evenstep replay --policy rl >/dev/full 2>err && mentioned "^evenstep: cannot write: No space left" &&
	mkfifo gone && { : <gone & } && { sleep 0 >gone; wait; while echo "$open"; do :; done | test_expect_code 1 evenstep replay --policy rl 2>err >&-; } && mentioned "^evenstep: cannot write: "
'
test_done
