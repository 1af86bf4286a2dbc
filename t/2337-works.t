#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a queue mixes types of work, each with a command, a profile and a policy of its own'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME
mkdir state # nobody else makes it
cat >works.conf <<'END'
work "render" {
  command = {"echo", "render", "{begin}", "{end}", "{label}"}
  policy = "manual:size=3"
}
work "scan" {
  command = "echo scan {begin} {end} \"$EVENSTEP_LABEL\""
  profile = "memory"
}
END
printf '0:6 a @render\n0:4 @scan\n6:9 b\n0:5 b c	@render  \n' >frames
# Each line's units, without where the pieces are cut.
cat >want <<'END'
render 0 1 2 3 4 5 a
scan 0 1 2 3
own 6 7 8 b
render 0 1 2 3 4 b c
END
units() { awk '{ key = $1; label = $0; sub(/^[^ ]+ [0-9]+ [0-9]+ ?/, "", label); key = $1 "|" label
	if (key != last) { if (NR > 1) print line (tail ? " " tail : ""); line = $1; last = key; tail = label }
	for (i = $2; i < $3; i++) line = line " " i } END { print line (tail ? " " tail : "") }' "$1"; }

test_expect_success 'frames come out in order of arrival, each done by the command of its type' '
	evenstep run --local 2 --metrics equal --works works.conf --queue frames --report report --joblog log -- echo own {begin} {end} {label} >out &&
	units out >got && test_cmp want got
'
test_expect_success 'each type is sized by its own policy; report and joblog tell which it was' '
	jq -es "map(select(.type == \"frame\")) | map(.work) == [\"render\", \"scan\", null, \"render\"]
		and (.[0].slices | map(.end - .begin)) == [3, 3] and (.[3].slices | map(.end - .begin)) == [3, 2]" report &&
	grep "	echo render 0 3 a	0:3	0	a$" log && grep "	/bin/sh -c .echo scan 0 " log && grep "	echo own 6 " log && test "$(tail -n +2 log | cut -f1 | sort -u | wc -l)" = "$(tail -n +2 log | wc -l)"
'
test_expect_success 'without a command of its own every line names a type' '
	grep @ frames >typed && evenstep run --local 2 --metrics equal --works works.conf --queue typed >out && units out >got && grep -v own want | test_cmp - got
'
test_expect_success 'two sources are one queue, whatever their types' '
	echo "10:14 x @scan" >second && evenstep run --local 2 --metrics equal --works works.conf --queue typed --queue second >out && units out | sort >got &&
	{ grep -v own want; echo "scan 10 11 12 13 x"; } | sort | test_cmp - got
'
# A type whose node 1 is slow beside one whose node 0 is: one sleeps there, the other here.
cat >apart <<'END'
#!/bin/sh
# apart NODE BEGIN END: NODE takes five times as long for a unit.
test "$EVENSTEP_NODE" = "$1" && each=0.05 || each=0.01
sleep "$(awk "BEGIN { print $each * ($3 - $2) }")"
END
chmod +x apart
cat >apart.conf <<'END'
work "here" { command = {"./apart", "local0", "{begin}", "{end}"} }
work "there" { command = {"./apart", "local1", "{begin}", "{end}"} }
END
test_expect_success 'none learns from another: of one type a node gets most, of the other the least' '
	for i in 1 2 3 4; do echo "0:60 $i @here"; echo "0:60 $i @there"; done >both &&
	evenstep run --local 2 --metrics equal --works apart.conf --queue both --report report >out &&
	jq -cs "map(select(.type == \"frame\")) | .[-2:] | map(reduce .slices[] as \$s ({}; .[\$s.node] += \$s.end - \$s.begin))" report >units && cat units &&
	jq -e "(.[0].local1 > 2 * .[0].local0) and (.[1].local0 > 2 * .[1].local1)" units
'
test_expect_success 'what each has cost is kept for itself' '
	grep "\"command\":\"apart\"" state/evenstep/costs >lines && test "$(jq -r .line lines | sort -u | wc -l)" = 2
'
test_expect_success 'a run that resumes goes on with the types' '
	rm -f j && evenstep run --local 2 --metrics equal --works works.conf --queue frames --journal j -- echo own {begin} {end} {label} >first &&
	evenstep run --local 2 --metrics equal --works works.conf --queue frames --journal j --resume -- echo own {begin} {end} {label} >out && test_cmp first out &&
	sed "s/render/rendered/" works.conf >other.conf &&
	test_expect_code 2 evenstep run --local 2 --works other.conf --queue frames --journal j --resume -- echo own {begin} {end} {label} 2>err && grep "^evenstep: .*journal" err
'
test_expect_success 'where a node is lost, the others do its part of every type' '
	printf "0:40 a @slow\n0:40 b @slow\n0:9 @quick\n" >lost && rm -f started go &&
	echo "work \"slow\" { command = \"echo x >>started; until test -e go; do sleep 0.1; done; seq {begin} \$(({end} - 1))\" policy = \"manual:size=5\" } work \"quick\" { command = \"seq {begin} \$(({end} - 1))\" }" >lost.conf &&
	evenstep run --local 3 --metrics equal --works lost.conf --queue lost >got 2>err 3>&- &
	run=$! && wait_for 60 lines started 3 && kill -KILL $(pgrep -P $run -x evenstep-agent | head -n 1) &&
	wait_for 60 grep "is lost" err; : >go && wait $run && { seq 0 39; seq 0 39; seq 0 8; } >all && test_cmp all got && grep "is lost" err
'
test_expect_success 'without --works a word with @ is part of the label, as ever' '
	echo "0:1 joe @home" >plain && evenstep run --local 1 --queue plain -- echo {label} >out && echo "joe @home" | test_cmp - out
'
test_expect_success 'the same units of two types are no mistake, but of one they are' '
	printf "0:3 @render\n0:3 @scan\n" >two && evenstep run --local 1 --works works.conf --queue two >out && test "$(wc -l <out)" -ge 2 &&
	printf "0:3 @render\n2:4 @render\n" >two && test_expect_code 2 evenstep run --local 1 --works works.conf --queue two 2>err >out && grep "two:2: 2:4 overlaps line 1 of two" err
'
while IFS='|' read -r name line text message; do
	test_expect_success "$name: one line, exit status 2" '
		printf "%b" "$text" >bad.conf && echo "$line" >bad.frames &&
		test_expect_code 2 evenstep run --local 1 --works bad.conf --queue bad.frames 2>err >out && test ! -s out &&
		test "$(wc -l <err)" = 1 && grep -E -e "^evenstep: $message" err
	'
done <<'END'
a type that is not defined|0:3 a @bogus|work "render" { command = "x" }|bad.frames:1: work @bogus is not defined: give one of: @render$
a line without a type|0:3 a|work "render" { command = "x" }|bad.frames:1: names no work, and there is no command: give one of: @render$
a type without a command|0:3 @render|work "render" {\n profile = "cpu"\n}|bad.conf:3: work "render" has no command: .*
an empty command|0:3 @render|work "render" { command = "" }|bad.conf:1: work "render": command is empty: .*
an unknown key|0:3 @render|work "render" { comand = "x" }|bad.conf:1: no such option 'comand': .*
an unknown profile|0:3 @render|work "render" { command = "x" profile = "bogus" }|bad.conf: work "render": "bogus" is unknown: give one of: cpu .*
an unknown policy|0:3 @render|work "render" { command = "x" policy = "bogus" }|bad.conf: work "render": --policy: "bogus" is unknown: give one of: even .*
a name that is none|0:3 @a.b|work "a.b" { command = "x" }|bad.conf:1: work: the name is out of range: .*
a type given twice|0:3 @a|work "a" { command = "x" }\nwork "a" { command = "y" }|bad.conf:2: found duplicate title 'a': .*
a file without works|0:3 @a|# nothing\n|bad.conf: has no work: .*
an open section|0:3 @a|work "a" { command = "x"|bad.conf: a section or comment is open at its end: close it$
END
test_expect_success 'a file that is not there is told' '
	test_expect_code 2 evenstep run --local 1 --works nowhere --queue frames 2>err && grep "^evenstep: --works: nowhere: No such file" err
'
for with in --persistent "--ahead 1" --dry-run; do
	test_expect_success "--works and $with exclude each other" '
		test_expect_code 2 evenstep run --local 1 --works works.conf --queue frames $with -- true 2>err && grep "exclude each other" err
	'
done
test_done
