#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep run --meter: how far a program is that cannot be changed'
. "$EVENSTEP_SRC/t/lib/own_shm.sh"
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID
# rows BEGIN END: a unit a line on stdout; how far it is on stderr, in one line
# that is redrawn, or on stdout; half-way it waits for the file "go".
cat >rows <<'END1'
#!/bin/sh
n=$(($2 - $1)) i=0
while test $i -lt $n; do
	test $((2 * i)) -lt $n || until test -e go; do sleep 0.05; done
	seq $(($1 + i)) $(($1 + i))
	i=$((i + 1))
	test "$3" = out && echo "row $i of $n" || printf 'row %d of %d\r' $i $n >&2
done
END1
chmod +x rows
go_on() {
	: >go
	wait "$run"
}
ends_with_test
# are_half: the two nodes of a run wait half-way, and top knows; no_view: it has ended, and its file is gone.
are_half() { evenstep top --once >top.now 2>&4 && test "$(grep -cE "^local[01] +#{5}[.]{5} " top.now)" = 2 && ! no_view; }
no_view() { test ! -e "/dev/shm/evenstep-$(id -u)/run-$run/top.json"; }
pattern='cmd:row ([0-9]+) of ([0-9]+)'

seq 0 15 >want
test_expect_success 'what a program prints tells how far it is: on stderr, redrawn' '
	behind_to got evenstep run --local 2 --metrics equal --range 0:16 --pieces 1 --meter "$pattern" -- ./rows {begin} {end} err && wait_for 60 are_half; rc=$?; go_on && cat top.now && test $rc = 0 &&
	test_cmp want got && grep -q "^step 0[.]0: 2 nodes, skew 0[.]0*, metered by cmd$" top.now
'
# terminal KEYS: what evenstep top draws until the keys have ended it.
terminal() { printf %s "$1" | TERM=vt100 timeout 120 script -qec "evenstep top" /dev/null; }
test_expect_success 'on a terminal: a line a node, keys sort, q ends' '
	behind_to got evenstep run --local 2 --metrics equal --range 0:16 --pieces 1 --meter "$pattern" -- ./rows {begin} {end} err && wait_for 60 are_half && terminal swlnq >screen; rc=$?; go_on && tr -d "\000" <screen && test $rc = 0 &&
	grep -q local0 screen && grep -q local1 screen && grep -q "q)uit" screen
'
for i in $(seq 0 15); do echo "$i"; echo "row $((i % 8 + 1)) of 8"; done >want.out
test_expect_success 'on stdout: what is printed comes out unchanged' '
	behind_to got evenstep run --local 2 --metrics equal --range 0:16 --pieces 1 --meter "$pattern" -- ./rows {begin} {end} out && wait_for 60 are_half; rc=$?; go_on && test $rc = 0 && test_cmp want.out got
'
test_expect_success 'by the pieces: half of them are done' '
	cat >late <<-\END && chmod +x late && rm -f go
	#!/bin/sh
	test $(($1 % 8)) -lt 4 || until test -e go; do sleep 0.05; done
	exec seq $1 $(($2 - 1))
	END
	behind_to got evenstep run --local 2 --metrics equal --range 0:16 --grain 4 --pieces 2 --meter units -- ./late {begin} {end} && wait_for 60 are_half; rc=$?; go_on && cat top.now && test $rc = 0 && test_cmp want got && grep -q "metered by units$" top.now
'
test_expect_success 'by CPU time: named a proxy, and the output is whole' '
	behind_to got evenstep run --local 2 --metrics equal --range 0:16 --pieces 1 --meter cpu -- ./rows {begin} {end} none && wait_for 60 sh -c "evenstep top --once >top.now 2>&1 && grep -q \"metered by cpu (a proxy)$\" top.now"; rc=$?; go_on && test $rc = 0 && test_cmp want got
'
test_expect_success 'without --meter: how far the run is, in units' '
	rm -f go && behind_to got evenstep run --local 2 --metrics equal --range 0:16 --repeat 3 --pieces 1 -- ./rows {begin} {end} none &&
	wait_for 60 sh -c "evenstep top --once 2>&1 | grep -x \"\\[[.]*\\] frame 1 of 3, 0/48 units\""; rc=$?; go_on && test $rc = 0 && cat want want want >three && test_cmp three got && no_view
'
# Not where it is missing, nor where the library wants a sanitizer in the process.
python3 -c "import ctypes; ctypes.CDLL('$EVENSTEP_BUILD/libevenstep.so')" 2>&- && test_set_prereq PYTHON
test_expect_success PYTHON 'a program that stays alive is metered, too' '
	cat >stays.py <<-END && behind_to got evenstep run --local 1 --persistent --pieces 1 --metrics equal --range 0:4 --meter "$pattern" -- python3 stays.py && wait_for 60 sh -c "evenstep top --once 2>&1 | grep -qE \"^local0 +#{5}[.]\""; rc=$?; go_on; cat err; test $rc = 0
	import ctypes, os, sys, time
	es = ctypes.CDLL("$EVENSTEP_BUILD/libevenstep.so")
	es.evenstep_open(ctypes.c_uint64(4), ctypes.c_uint64(1))
	b, e = ctypes.c_uint64(), ctypes.c_uint64()
	while es.evenstep_next(ctypes.byref(b), ctypes.byref(e)) > 0:
	    print("row 1 of 2", file=sys.stderr, flush=True)
	    while not os.path.exists("go"):
	        time.sleep(0.05)
	    es.evenstep_done()
	END
'
test_expect_success 'nothing of it is left' 'wait_for 60 no_view'
test_expect_success 'progress that makes no sense is told once a node, and does no harm' '
	: >go && evenstep run --local 2 --metrics equal --range 0:16 --pieces 1 --meter "cmd:([0-9]+)%" -- sh -c "echo 50%; echo 40%; echo 120%; sleep 0.5; exit 0" >got 2>err && cat err &&
	test $(grep -c "evenstep: warning: local[01]: progress that makes no sense is left out" err) = 2 && test $(grep -c 120% got) = 2
'
# What | value | message
while IFS='|' read -r what value message; do
	test_expect_success "$what" '
		test_expect_code 2 evenstep run --local 2 --range 0:4 --meter "$value" -- true 2>err; cat err && grep -qF -e "evenstep: --meter: $message" err
	'
done <<'END'
a meter that is none|pieces|"pieces" is not allowed: give units, cmd:PATTERN or cpu
a pattern without a group|cmd:row|"row" has 0 groups: give an extended regular expression with one or two groups
a pattern that is none|cmd:(row|"(row": 
END
test_expect_success 'the report has what the meter told of each node, and so have its page and its table' '
	evenstep run --local 2 --metrics equal --range 0:16 --repeat 2 --pieces 1 --meter cpu --report live -- true {begin} {end} &&
	jq -es "map(select(.type == \"frame\").meters | map(.node)) == [[\"local0\", \"local1\"], [\"local0\", \"local1\"]]" live &&
	evenstep report --html page live && grep -q "Progress and limits as the last frame ended" page && ! grep -i "nan" page &&
	evenstep report --table live >table && awk -F"\t" "NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"progress\") p = i } NR > 1 && \$p + 0 >= 1 { n++ } END { exit !n }" table
'
test_done
