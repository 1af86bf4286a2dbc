#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep report: what the report of a run tells, as tables, JSON and a picture'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH="$EVENSTEP_BUILD:$PATH"

# frame NUMBER SLICES LAST IDEAL ADJUSTED
frame() { printf '{"type":"frame","frame":%s,"slices":[%s],"first":1,"last":%s,"ideal":%s,"equal_parts":6,"rest":{"restarts":0.5,"waiting":0.25,"wire":0.25},"adjusted":%s}\n' "$@"; }
# slice NODE BEGIN END SECONDS STATUS
slice() { printf '{"node":"%s","begin":%s,"end":%s,"seconds":%s,"start":0.5,"attempt":1,"status":%s}' "$@"; }
{
	frame 0 "$(slice n0 0 80 4 0),$(slice n1 80 100 2 0)" 4 3 true
	frame 1 "$(slice n0 0 60 3 0),$(slice n1 60 100 1 -1),$(slice n0 60 100 2 0)" 5 3 false
	echo '{"type":"summary","frames":2,"seconds":9.5,"efficiency":0.6,"ideal":5.7,"equal_parts":12,"rest":{"restarts":1,"waiting":2.3,"twice":0,"wire":0.5,"slower":0},"policy":"even"}'
} >two

test_expect_success 'the table: what every node did, how every frame ended, the whole' '
	evenstep report two >got && cat got &&
	grep -qE "^n0 +180 +90\.0% +9\.000 +20 +3 +0$" got && grep -qE "^n1 +20 +10\.0% +3\.000 +6\.667 +1 +1$" got &&
	grep -qE "^1 +100 +4\.000 +3\.000 +0\.750 +6\.000 +2 +0  adjusted$" got && grep -qE "^2 +100 +5\.000 +3\.000 +0\.600 +6\.000 +2 +1$" got &&
	tail -n 3 got >last && cat >want <<-\END && test_cmp want last && test "$(wc -L <got)" -le 100
	2 frames in 9.50 s, efficiency 0.600 (even)
	ideal 5.700 s; the rest: restarts 1.000 s, waiting 2.300 s, wire 0.500 s; equal parts 12.00 s
	24 % of the time nodes waited for the last one: give smaller units, and more of them
	END
'
test_expect_success '--json: the same in one object' '
	evenstep report --json two >got && cat got && test $(wc -l <got) = 1 &&
	jq -e ".seconds == 9.5 and .efficiency == 0.6 and .ideal == 5.7 and .equal_parts == 12 and .rest.waiting == 2.3 and .policy == \"even\" and .ended and
		(.nodes | map([.name, .units, .slices, .failed]) == [[\"n0\", 180, 3, 0], [\"n1\", 20, 1, 1]]) and
		(.frames | map([.frame, .units, .failed, .adjusted, .ideal, .efficiency]) == [[0, 100, 0, true, 3, 0.75], [1, 100, 1, false, 3, 0.6]]) and
		(.frames | all(.equal_parts == 6 and .rest == {restarts: 0.5, waiting: 0.25, twice: 0, wire: 0.25, slower: 0}))" got
'
test_expect_success '--json of several files: one list, in their order' '
	sed "s/even\"/tree\"/" two >other && evenstep report --json two other >got && cat got &&
	jq -se "length == 1 and (.[0] | map(.policy) == [\"even\", \"tree\"])" got && evenstep report --json two | jq -e "type == \"object\""
'
test_expect_success 'what evenstep run writes it reads' '
	evenstep run --local 2 --metrics equal --range 0:10 --repeat 3 --report mine -- true && evenstep report --json mine >got &&
	jq -e "(.frames | length) == 3 and (.nodes | map(.units) | add) == 30 and .ended and .policy == \"by cost\"" got
'
test_expect_success 'so it does the journal, which does not say whether the run came to its end' '
	evenstep run --local 2 --metrics equal --range 0:10 --repeat 3 --journal kept -- true && evenstep report kept >got && cat got &&
	grep -qE "^1 +10 " got && grep -qE "^3 +10 " got && grep -qE "^3 frames in [0-9.]+ s, efficiency [0-9.]+ \(by its journal\)$" got && tail -n 1 got | grep "^ideal "
'
# did OPTION...: one more run, whose journal goes on.
did() { evenstep run --local 2 --metrics equal --pieces 4 --journal again "$@" 2>err; }
# counted UNITS FAILED...: of each frame, by the journal.
counted() { evenstep report --json again >got && printf "%s %s\n" "$@" >want && jq -r ".frames[] | \"\(.units) \(.failed)\"" got | test_cmp want -; }
test_expect_success 'of a journal only what counts in the end: not what was done before its line changed' '
	seq 40 >lines && did --lines lines -- cat >out && counted 40 0 && sed -i s/^7$/x/ lines && did --resume --lines lines -- cat >out && test_cmp lines out &&
	test "$(grep -c "\"slice\"" again)" -gt "$(evenstep report --json again | jq "[.nodes[] | .slices] | add")" && counted 40 0 &&
	evenstep report --table again | awk -F"\t" "NR > 1 { n += \$7 - \$6 } END { exit n != 40 }" &&
	evenstep replay --policy even <again >got && cat got && jq -e "(.sizes | add) == 40" got >/dev/null
'
test_expect_success 'nor of lines that are there no more' '
	seq 20 | sed s/^7$/x/ >lines && did --resume --lines lines -- cat >out && test_cmp lines out && counted 20 0
'
test_expect_success 'nor what had failed, and was done again; but what fails still does' '
	rm again && : >bad && test_expect_code 1 did --range 0:40 --keep-going -- sh -c ": {end}; test {begin} != 0 || ! test -e bad" && evenstep report --json again | jq -e ".frames[0] | .units < 40 and .failed == 1" &&
	rm bad && did --range 0:40 --resume-failed -- sh -c ": {end}; test {begin} != 0 || ! test -e bad" && counted 40 0
'
test_expect_success 'nor that whose files were lost' '
	rm again && mkdir tmp && did --range 0:40 --workdir tmp --return made-{begin} -- sh -c ": {end} >made-{begin}" && rm made-0 &&
	did --resume --range 0:40 --workdir tmp --return made-{begin} -- sh -c ": {end} >made-{begin}" && test -e made-0 && grep "\"dropped\"" again && counted 40 0
'
test_expect_success 'nor the frames of a queue that were mended, or are gone' '
	rm again && printf "0:4 a\n0:4 b\n0:4 c\n" >queue && did --queue queue -- true && counted 4 0 4 0 4 0 &&
	printf "0:4 a\n1:3 b\n" >queue && did --resume --queue queue -- true && counted 4 0 2 0
'
test_expect_success 'a run that failed has no summary: the frames are told all the same' '
	head -n 1 two >failed && evenstep report failed >got && cat got &&
	grep -qx "1 frame in 4.00 s, efficiency 0.750; the run did not come to its end" got && evenstep report --json failed | jq -e ".ended | not"
'
# ahead NUMBER BEGAN LAST EFFICIENCY IDEAL SLICES: a frame that may overlap with others.
ahead() { printf '{"type":"frame","frame":%s,"began":%s,"first":1,"last":%s,"efficiency":%s,"ideal":%s,"equal_parts":5,"rest":{"restarts":0,"waiting":0},"slices":[%s]}\n' "$@"; }
# took NODE BEGIN END SECONDS BACK
took() { printf '{"node":"%s","begin":%s,"end":%s,"seconds":%s,"start":0.5,"sent":0,"back":%s,"attempt":1,"status":0}' "$@"; }
{
	ahead 0 0 4 0.75 3 "$(took n0 0 80 4 4),$(took n1 80 100 2 2)"
	ahead 1 2 5 0.5 1.5 "$(took n1 0 50 3 3),$(took n0 50 100 3 5)"
	ahead 2 7.5 2 0.8 2 "$(took n1 0 100 2 2)"
	echo '{"type":"summary","frames":3,"seconds":9.5,"efficiency":0.8,"ideal":7.6,"equal_parts":15,"rest":{"restarts":1,"waiting":0.9},"policy":"even"}'
} >beside
test_expect_success 'frames that overlap: each has the time that its efficiency is of, and its place in the run' '
	evenstep report beside >got && cat got && grep -qE "^1 +100 +4\.000 +3\.000 +0\.750 +5\.000 " got && grep -qE "^2 +100 +3\.000 +1\.500 +0\.500 +5\.000 " got &&
	grep -qE "^3 +100 +2\.500 +2\.000 +0\.800 +5\.000 " got && grep -qx "3 frames in 9.50 s, efficiency 0.800 (even)" got &&
	evenstep report --json beside | jq -e ".frames | map([.seconds, .efficiency, .equal_parts]) == [[4, 0.75, 5], [3, 0.5, 5], [2.5, 0.8, 5]]" &&
	evenstep report --table beside | cut -f 4,5,14,17 | sort -u >got && grep -qx "1	n0	3	0.5" got && grep -qx "2	n1	2.5	0.8" got
'
test_expect_success 'and without a summary the run is as long as its frames together' '
	head -n 2 beside >cut && evenstep report cut >got && cat got && grep -q "^2 frames in 7.00 s, efficiency 0.643; " got
'
# n0 does 20 units a second, n1 10, and each command first waits 1 s: two commands where one would do.
{
	for i in 0 1 2 3; do
		slices="$(slice n0 0 40 3 0),$(slice n0 40 60 2 0),$(slice n1 60 90 4 0),$(slice n1 90 100 2 0)"
		printf '{"type":"frame","frame":%s,"slices":[%s],"last":6,"efficiency":0.92,"adjusted":false}\n' $i "$slices" | sed 's/"start":0.5,//g'
	done
	echo '{"type":"summary","frames":4,"seconds":24,"efficiency":0.92,"policy":"even"}'
} >old
test_expect_success 'a report of before, whose efficiency was that of nodes kept busy: what it is held against is worked out' '
	evenstep report --json old >got && jq -e "(.frames | all(.ideal > 4.2 and .ideal < 4.5 and .efficiency == .ideal / 6 and .equal_parts > 5.5 and .equal_parts < 6.5 and
		.rest.restarts > 0.7 and (.ideal + (.rest | add) - 6 | fabs < 1e-6))) and .efficiency > 0.7 and .efficiency < 0.75" got; jq . got | tail -30; jq -e ".ideal > 16.8" got &&
	evenstep report --svg old.svg old && test "$(grep -c "start-up [01][.][0-9]* s</title>" old.svg)" = 16
'
test_expect_success 'a last line that is cut off is left out, with one line that says so' '
	head -n 1 two >torn && printf "{\"type\":\"fra" >>torn && evenstep report torn >got 2>err && grep -q "^1 frame in" got &&
	mentioned "^evenstep: torn: its last line is not whole, and is ignored$" && test $(wc -l <err) = 1
'

# boxes FILE: beginning and width of every slice that is drawn, one a line, in pixels; a run is 880 wide.
boxes() { sed -n 's/.*<title>frame [0-9]*, units.*<rect x="\([0-9]*\)[.0-9]*" y="[^"]*" width="\([0-9]*\).*/\1 \2/p' "$1"; }
test_expect_success '--svg: a picture that is whole, a box a slice where it was in time' '
	evenstep report --svg two.svg two >got && xmllint --noout two.svg && head -n 1 two.svg | grep -q "^<svg xmlns=\"http://www.w3.org/2000/svg\"" && tail -n 1 two.svg | grep -x "</svg>" &&
	boxes two.svg >got && printf "120 391\n120 195\n511 293\n804 195\n511 97\n" >want && test_cmp want got && grep -q "units 60:100, 1.000 s, start-up 0.500 s, failed</title>" two.svg
'
test_expect_success 'frames that overlap have a lane each, and slices say whose they are, where they were in time' '
	evenstep report --svg beside.svg beside >got && xmllint --noout beside.svg && boxes beside.svg >got &&
	printf "120 370\n120 185\n305 277\n490 277\n814 185\n" >want && test_cmp want got &&
	sed -n "s/.*<title>frame \([0-9]\), from \([0-9.]*\) s to \([0-9.]*\) s<.*<rect x=\"[0-9.]*\" y=\"\([0-9]*\).*/\1 \2 \3 \4/p" beside.svg >lanes && cat lanes &&
	printf "1 0.000 4.000 34\n2 2.000 7.000 51\n3 7.500 9.500 34\n" >want && test_cmp want lanes &&
	grep -q ">50 (2)</text>" beside.svg && grep -q ">100 (3)</text>" beside.svg && grep -q "its frame" beside.svg && ! grep -q "its frame" two.svg && grep -q ">80</text>" two.svg
'
test_expect_success 'the picture tells what equal parts would have taken' '
	grep -q ">The run took 9.50 s; ideal 5.70 s; in equal parts 12.00 s, 1.26 times as long</text>" two.svg
'
test_expect_success 'start-ups are hatched, and what the rest of a frame went to is there in its colours' '
	test "$(grep -c "stroke=\"#555\" d=\"M" two.svg)" = 8 &&
	grep -o "<title>frame 2, [a-z]*: [0-9.]* s, [0-9.]*%" two.svg >got && cat >want <<-\END && test_cmp want got &&
	<title>frame 2, ideal: 3.000 s, 60.0%
	<title>frame 2, restarts: 0.500 s, 10.0%
	<title>frame 2, waiting: 0.250 s, 5.0%
	<title>frame 2, wire: 0.250 s, 5.0%
	END
	for word in ideal restarts waiting twice wire slower; do grep -q ">$word</text>" two.svg || return 1; done
'
test_expect_success 'it takes nothing from elsewhere' '
	grep -q "<text" two.svg && ! grep -E "(href|url\(|<script|<style|<image)" two.svg
'
test_expect_success 'names that XML cannot hold as they are do not break it' '
	frame 0 "$(slice "n<0>&\\\"1\\u0001" 0 10 1 0)" 1 1 false >odd && evenstep report --svg odd.svg odd >got && xmllint --noout odd.svg &&
	grep -q ">n&lt;0&gt;&amp;&quot;1?</text>" odd.svg
'
test_expect_success '--frames: only these in the picture' '
	for i in 0 1 2 3 4 5; do frame $i "$(slice n0 0 10 1 0)" 1 1 false; done >six &&
	evenstep report --svg six.svg --frames 2:4 six >got && grep -o "frame [0-9]*, units" six.svg | sort -u >got && printf "frame 3, units\nframe 4, units\n" >want && test_cmp want got
'
test_expect_success 'thousands of frames: the first 400 are drawn, and one line says so' '
	i=0 && one="$(slice n0 0 10 1 0)" && while test $i -lt 1000; do printf "{\"type\":\"frame\",\"frame\":%d,\"slices\":[%s],\"first\":1,\"last\":1,\"efficiency\":1,\"adjusted\":false}\n" $i "$one"; i=$((i + 1)); done >many &&
	evenstep report --svg many.svg many >got 2>err && mentioned "^evenstep: the picture has the first 400 of 1000 frames: --frames chooses others$" && xmllint --noout many.svg &&
	test $(grep -c "units 0:10" many.svg) = 400 && grep -q "^999 " got
'
printf '{"type":"frame","report":{"format":3}}\n' >later
printf '{"type":"journal","version":3,"work":"w","sum":"0"}\n' >journal
# What was done, as a journal has it: with what cannot be.
work='{"type":"journal","version":2,"work":"w","sum":"0"}'
printf '%s\n' "$work" '{"type":"dropped","slice":0}' >dropped
printf '%s\n' "$work" '{"type":"queued","frame":1}' >queued
printf '%s\n' "$work" '{"type":"slice","frame":0,"node":"n0","begin":0,"end":4,"seconds":1,"status":0}' '{"type":"slice","frame":0,"node":"n1","begin":2,"end":6,"seconds":1,"status":0}' >twice
printf '{"type":"frame","report":{"kind":"run"}}\n' >nothing
printf '{"type":"probe","report":{"format":2,"kind":"probe"}}\n' >probed
{
	echo '{"type":"bcast","source":"a<b>","bytes":2000000,"nodes":2,"seconds":2,"home_bytes_sent":2000000,"report":{"format":2,"kind":"bcast","host":"<script>alert(1)</script>","job":7}}'
	echo '{"type":"node","node":"n0","seconds":1}'
	echo '{"type":"node","node":"<script>alert(2)</script>","seconds":null,"why":"lost & gone"}'
	echo '{"type":"later"}'
} >cast
head -c 180 cast >half && printf ',\n' >>half
sed 's/lost/\\u001b[2J/' cast | sed 's/^{"type":"node","node":"n0".*//' | grep . >tricks
test_expect_success 'the first line says what the report is, and what the nodes were measured at' '
	evenstep run --local 2 --range 0:10 --repeat 2 --report measured -- true && jq -es ".[0].report | .format == 2 and .kind == \"run\" and .command == \"true\" and (.written > 1e9)
		and (.nodes | map(.node) == [\"local0\", \"local1\"] and all(.JL > 0 and .probe.C.value > 0 and .counted.C >= 0))" measured &&
	jq -es ".[1:] | any(has(\"report\")) | not" measured && evenstep replay --policy even <measured >sizes && test "$(wc -l <sizes)" = 3
'
test_expect_success 'a trace of a later format is refused, too' '
	sed "1s/\"format\":2/\"format\":99/" measured >newer && test_expect_code 2 evenstep replay --policy even <newer 2>err && mentioned "^evenstep: trace, line 1: is of format 99, of a later evenstep; "
'
test_expect_success '--html: one page, whole, with the gain, the pictures and the tables, that takes nothing from elsewhere' '
	evenstep report --html page two >got && test ! -s got && xmllint --html --noout page 2>err; grep -v "Tag .* invalid" err | grep "error :"; tail -n 1 page | grep -x "</html>" &&
	grep -F "<strong>1.26×</strong> as fast as equal parts" page && test $(grep -c "<svg viewBox" page) -ge 5 && grep -F "restarts" page &&
	for what in "Who worked when" "What each frame" "Shares by node" "default-src .none." "prefers-color-scheme:dark" "<caption>" "tabindex=\"0\""; do grep -q "$what" page || return 1; done &&
	! grep -E "(href=\"[^#]|src=|<script|<link|@import|http:|https:)" page
'
test_expect_success 'several reports are side by side, whatever they are of' '
	evenstep report --html page two old measured cast && grep -q "The runs side by side" page && grep -q "href=\"#r4\"" page && grep -q "id=\"r4\"" page && grep -q "by its journal\|done" page
'
test_expect_success 'what is from a file stays text in the page: names of nodes, hosts, files' '
	frame 0 "$(slice "<script>n0" 0 10 1 0),$(slice "n1\\\">&" 10 20 2 9)" 1 1 false >"<img src=x>" && evenstep report --html page "<img src=x>" cast && ! grep -E "<script|<img" page &&
	grep -q "&lt;script&gt;n0" page && grep -q "n1&quot;&gt;&amp;" page && grep -q "&lt;script&gt;alert(1)" page && grep -q "alert(2)" page && grep -q "&lt;img src=x&gt;" page
'
test_expect_success '--table: a row for each node of each frame, NA for what is not known' '
	evenstep report --table two two >got && cat got && test $(wc -l <got) = 9 && awk -F"\t" "NF != 32 {exit 1}" got &&
	sed -n 2p got | cut -f 1,4,5,6,7,8,9,10,11,14,15,16,17,31 | tr "\t" " " >row && echo "two 0 n0 NA 80 0.8 1 0 4 4 3 6 0.75 NA" >want && test_cmp want row &&
	sed -n 5p got | cut -f 5,7,9,10 | tr "\t" " " >row && echo "n1 0 0 1" >want && test_cmp want row &&
	evenstep report --table measured | awk -F"\t" "NR > 1 && !(\$18 > 0) {exit 1}" && evenstep report --table cast | tail -n 1 | tr "\t" " " >row && echo "cast 7 <script>alert(2)</script> 2000000 NA" >want && test_cmp want row
'
test_expect_success 'a broadcast: text, JSON and a picture' '
	evenstep report --svg cast.svg cast >got && grep -qE "^n0 +1[.]000 +2[.]0$" got && grep -q "lost & gone" got && grep -q "2.0 MB to 2 nodes in 2.000 s" got && xmllint --noout cast.svg && grep -q ">1.000 s</text>" cast.svg &&
	evenstep report --json cast | jq -e ".bcast.bytes == 2000000 and (.nodes | length == 2)"
'
test_expect_success 'what bcast, probe and graph run write it reads, as text, JSON, a table and a page' '
	echo data >source && evenstep bcast --local 2 --report cast1 source "$PWD/to.{node}" && evenstep probe --local 2 --elements C --report probe1 >got &&
	echo "{\"tasks\":[{\"id\":\"<b>\",\"time\":0.01,\"command\":\"true\"}],\"edges\":[]}" >graph && evenstep graph run --local 1 --report graph1 graph >got &&
	evenstep report cast1 >got && grep -qE "^local1 +[0-9.]+ +[0-9.]+$" got && evenstep report probe1 >got && grep -qE "^local1 +[0-9.]+ +-" got && evenstep report graph1 --svg graph.svg >got && grep -qE "^<b> +local0 +0 " got && xmllint --noout graph.svg &&
	for kind in cast1:bcast probe1:probe graph1:graph; do jq -es ".[0].report.kind == \"${kind#*:}\" and .[0].report.format == 2" "${kind%:*}" && evenstep report --json "${kind%:*}" | jq -e "has(\"${kind#*:}\")" && evenstep report --table "${kind%:*}" >got && head -n 1 got | grep "^report.job" && awk -F"\t" "NR == 1 {n = NF} NF != n {exit 1}" got || return 1; done &&
	evenstep report --html page cast1 probe1 graph1 && grep -F "links" page && grep "C: CPU, Gop/s" page && grep "&lt;b&gt;" page && ! grep "<b>" page
'
test_expect_success 'their reports are refused where they cannot be written' '
	test_expect_code 2 evenstep bcast --local 2 --report nowhere/x source "$PWD/to.{node}" 2>err && mentioned "^evenstep: --report: nowhere/x: No such file or directory: name a file that you may write$" &&
	test_expect_code 1 evenstep probe --elements C --report /dev/full >got 2>err && mentioned "^evenstep: --report: /dev/full: No space left on device: "
'
test_expect_success '--help tells every option' '
	evenstep report --help >got && evenstep --help | grep -q "^  report " && for option in svg frames html json table; do grep -qE "^  --$option( |$)" got || return 1; done
'

printf '{"type":"frame","frame":0,"slices":[]}\n' >missing
printf '{"type":"tree"}\n' >version
printf '{"op":"open","channels":4}\n' >trace
printf '{"type":"frame"\nno JSON\n' >corrupt
{
	cat two
	frame 3 "$(slice n0 0 10 1 0)" 1 1 false
} >after
frame 0 "$(slice n0 10 0 1 0)" 1 1 false >backwards
frame 0 "$(slice n0 0 10 soon 0)" 1 1 false | sed 's/soon/"soon"/' >text
: >empty
# What | arguments | message
while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2" '
		test_expect_code 2 evenstep report $arguments >got 2>err && mentioned "^evenstep: $message" && test ! -s got
	'
done <<\END
no file||report: no FILE: see
a picture of two files|two two --svg x|--svg: there are 2 reports: give one FILE, or --html PAGE$
a report of a later format|later|report: later: is of format 3, of a later evenstep; this one reads up to 2: read it with that evenstep$
a journal of a later version|journal|report: journal: trace, line 1: the journal is of version 3, of a later evenstep; this one reads up to 2: read it with that evenstep$
a journal that drops what it has not|dropped|report: dropped: trace, line 2: "slice" is none of those before: give a journal as it was written$
a journal whose frames are not in order|queued|report: queued: trace, line 2: "frame" is neither known nor the next: give a journal as it was written$
a journal that has units twice|twice|report: twice: trace: the journal has units twice: give a journal as it was written$
a report whose head says nothing|nothing|report: nothing: its "report" has no "format": give a report as it was written$
tables of two kinds|--table two cast|--table: two is of a run, cast of a bcast: give those of one kind$
a table in JSON|--table --json two|--json and --table exclude each other: give one of them$
a broadcast that is cut off|half|report: half: line 2 is none of a report, or is not whole: give a report as it was written$
a name that plays tricks on a terminal|tricks|report: tricks: line 2 is none of a report
frames of a broadcast|--svg x --frames 0:1 cast|--frames: the report of a bcast has no frames: leave it out$
a picture of probes|--svg x probed|--svg: there is no picture of probes: give --html PAGE$
a file that is not there|nowhere|report: nowhere: No such file or directory: name a file that you may read$
a folder|.|report: \.: trace, line 1: Is a directory: 
a file without a frame|empty|report: empty: there is no frame in it: give the file of `evenstep run --report` or --journal$
a file that is no JSON|corrupt|report: corrupt: trace, line 1:[0-9]+: 
a line of another version|version|report: version: trace, line 1: "tree" is no type: give frame or summary$
a frame without its times|missing|report: missing: trace, line 1: "last" is missing: give a number from 0 to
a slice that ends before it begins|backwards|report: backwards: trace, line 1: "end" is below begin: 
a time that is no number|text|report: text: trace, line 1: "seconds" is no number: 
a trace of ops|trace|report: trace: line 1: is of a trace, not of a report: 
a frame behind the summary|after|report: after: line 4: comes after the summary: 
frames that are not there|--svg x.svg --frames 7:9 two|--frames: there are none from 7 to below 9: 
frames that are none|--svg x.svg --frames all two|--frames: "all" is no range: give BEGIN:END, 
frames of no picture|--frames 0:1 two|--frames: there is no --svg: give --svg PICTURE, too$
an unknown option|--magic two|--magic: no such option: 
a value that is missing|two --svg|--svg: a value is missing: 
END
test_expect_success 'a picture that cannot be written: exit 1' '
	test_expect_code 1 evenstep report --svg nowhere/x two >got 2>err && mentioned "^evenstep: --svg: nowhere/x: No such file or directory: name a file that you may write$" && test ! -s got &&
	test_expect_code 1 evenstep report --svg /dev/full two 2>err && mentioned "^evenstep: --svg: /dev/full: No space left on device: "
'
test_expect_success 'from stdin; a picture or a page to stdout has nothing beside it' '
	evenstep report two >want && evenstep report - <two >got && test_cmp want got && cat two | evenstep report - >got && test_cmp want got &&
	evenstep report --svg - two >got && head -n 1 got | grep "^<svg" && tail -n 1 got | grep "^</svg>$" &&
	evenstep report --html - - <two >got && head -n 1 got | grep -i "^<!doctype" && tail -n 1 got | grep -i "^</html>$" && test ! -e ./-
'
test_expect_success '--svg, --html: a link stays, and the file behind it keeps its mode' '
	mkdir far && echo old >far/svg && echo old >far/html && chmod 640 far/* && ln -s far/svg far/html . && evenstep report --svg svg two && evenstep report --html html two &&
	grep "^</svg>$" far/svg && grep -i "^</html>$" far/html && test -L svg && test -L html && test "$(stat -c %a far/*)" = "$(printf "640\n640")"
'
test_expect_success 'a full disk is told' '
	test_expect_code 1 evenstep report two >/dev/full 2>err && mentioned "^evenstep: cannot write: "
'
test_done
