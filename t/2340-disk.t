#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what is told to be done is on the disk, and no file is taken for what it is not'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
disk=$EVENSTEP_BUILD/t/programs/disk.so
TMPDIR=$PWD
export TMPDIR
unset EVENSTEP_CONF SLURM_JOB_ID
seq 0 29 >want
with='' # words for env(1)
# shellcheck disable=SC2086 # words
job() { env $with evenstep run --local 2 --metrics equal --range 0:30 "$@" -- sh -c 'seq {begin} $(({end} - 1))'; }
# watched COMMAND...: what it brings to the disk, and what it names, is in log.
watched() {
	rm -f log
	env LD_PRELOAD="$disk" DISK_LOG=log "$@"
	code=$?
	cat log
	return $code
}
# order LINE...: these lines of log, extended regular expressions, came one after the other.
order() {
	at=0
	for want; do
		line=$(tail -n "+$((at + 1))" log | grep -nxE -m 1 -e "$want" | cut -d: -f1)
		test -n "$line" || { echo "no $want behind line $at" && return 1; }
		at=$((at + line))
	done
}
here=$(printf %s "$PWD" | sed 's/[][\.*^$+?(){}|]/\\&/g')

# --- lines that go away -------------------------------------------------------------------
for left in 0 1000; do
	test_expect_success "--lines: a file that is cut to $left bytes while it is used: exit 1, says so" '
		seq -f "line %.0f" 200000 >lines &&
		test_expect_code 1 evenstep run --local 2 --metrics equal --pieces 64 --lines lines -- sh -c "truncate -s $left lines; cat" >got 2>err &&
		said "evenstep: --lines: lines: has become shorter since the start; [0-9]+ of its 200000 units are done, by the text of before: leave it as it is until the run is over"
	'
done
test_expect_success '--lines: a file that grows is what it was at the start' '
	seq 3000 >lines && cp lines want.lines &&
	evenstep run --local 2 --metrics equal --pieces 8 --lines lines -- sh -c "echo more >>lines; cat" >got 2>err && cmp want.lines got &&
	said "evenstep: warning: --lines: lines has grown since the start: what was added is in no unit of this run; --journal and --resume do it alone"
'
# rewritten HOW: pieces that come later find lines so.
rewritten() {
	seq 1000 1999 >lines && cp lines want.lines && rm -rf once && evenstep run --local 2 --metrics equal --pieces 20 --lines lines -- sh -c "if mkdir once 2>&-; then $1; fi; cat" >got 2>err
}
# Who writes it empties it first, and that may be all that is seen.
test_expect_success '--lines: a file that is rewritten in place: exit 1, names what is done, and nothing is of the new text' '
	test_expect_code 1 rewritten "seq 5000 5999 >new; cat new >lines" && said "evenstep: --lines: lines: (was rewritten|has become shorter) since the start; [0-9]+ of its 1000 units are done, by the text of before: leave it as it is until the run is over" &&
	! grep ^5 got && test_expect_code 1 rewritten "sed s/1999/2000/ <lines >new; cp new lines" && mentioned "(was rewritten|has become shorter) since the start" && ! grep 2000 got
'
test_expect_success '--lines: one that is touched is the same; one that is replaced was what it was' '
	rewritten "touch lines; chmod 600 lines" && cmp want.lines got && ! grep warning err &&
	rewritten "seq 5000 5999 >new; mv new lines" && cmp want.lines got && said "evenstep: warning: --lines: lines was replaced by another file: this run is of the one that was there at the start" &&
	rewritten "rm lines" && cmp want.lines got && ! grep warning err
'
long_queue() { awk "BEGIN { for (i = 0; i < 2000; i++) print \"0:4 $1\" i }" >queue; }
queued() { rm -rf once && evenstep run --local 2 --metrics equal --ahead 0 ${2:+"$2"} --queue queue -- sh -c "if mkdir once 2>&-; then $1; fi; echo {label}" >got 2>err; }
test_expect_success '--queue: likewise, with the lines that are of the text of before' '
	long_queue old && test_expect_code 1 queued "sed s/old/new/ <queue >new; cat new >queue" && said "evenstep: --queue: queue: was rewritten since the start: lines 1 to [0-9]+ are of the text of before: add lines at its end, and change none" && ! grep new got &&
	long_queue old && test_expect_code 1 queued ": >queue" && mentioned "was rewritten since the start" &&
	echo 0:4 >queue && queued "echo 0:8 x >>queue" && said "evenstep: warning: --queue: queue has grown since its end was read: what was added is not done; --follow waits for more" &&
	echo 0:4 >queue && queued "echo 0:8 >new; mv new queue" && said "evenstep: warning: --queue: queue was replaced by another file: this run is of the one that was there at the start"
'
test_expect_success '--queue --follow: lines may come at the end; a file in whose place another one is gets none, which is an error' '
	echo 0:4 >queue && rm -rf twice && test_expect_code 1 queued "echo 0:4 a >>queue; fi; if test \"{label}\" && mkdir twice; then cp queue new; echo 0:4 b >>new; mv new queue" --follow && grep -qx a got &&
	said "evenstep: --queue: queue: was replaced by another file: lines 1 to 2 are of the one before: add lines at the end of the file itself"
'
test_expect_success '--resume --stdout: a file of the same size and other content is written again' '
	seq 20 >lines && again() { evenstep run --local 2 --metrics equal --policy manual:size=10 --lines lines --journal again --stdout part-{begin} "$@" -- cat; } &&
	again && cp part-0 want.part && tr 1 2 <want.part >part-0 && ! cmp -s want.part part-0 && again --resume && cmp want.part part-0 && rm part-0 && ln -s want.part part-0 && again --resume && test -L part-0 && cmp want.part part-0
'

# --- locks that are not there -------------------------------------------------------------
for error in ENOLCK:37 EOPNOTSUPP:95; do
	test_expect_success "a journal where there are no locks (${error%:*}): a warning, and the run goes on" '
		rm -f journal && with="DISK_FLOCK=${error#*:} LD_PRELOAD=$disk" && job --journal journal >got 2>err && test_cmp want got &&
		said "evenstep: warning: journal: its file system has no locks: make sure that no other run uses it"
	'
done
test_expect_success 'an error of the lock that says something else is told' '
	rm -f journal && with="DISK_FLOCK=9 LD_PRELOAD=$disk" && test_expect_code 2 job --journal journal >got 2>err &&
	said "evenstep: --journal: journal: Bad file descriptor: name a file that you may write"
'

with=''
# --- files of others ----------------------------------------------------------------------
if test "$(id -u)" = 0; then
	test_set_prereq ROOT
fi
mkdir sticky && chmod 1777 sticky
for what in journal:journal gather:gather report:report; do
	option=${what%:*} file=sticky/${what#*:}
	test_expect_success ROOT "--$option: another user's file in a sticky folder is refused, and left as it is" '
		echo his >$file && chown 65534 $file && chmod 666 $file && test_expect_code 2 job --$option sticky/$option 2>err >got &&
		said "evenstep: --$option: $file: another user has created it, in a folder that all may write to: .*" &&
		echo his | test_cmp - $file && test ! -s got
	'
done
test_expect_success ROOT '--gather: nor is a pipe of his written to' '
	mkfifo sticky/pipe && chown 65534 sticky/pipe && chmod 666 sticky/pipe && exec 9<>sticky/pipe &&
	test_expect_code 2 job --gather sticky/pipe 2>err && said "evenstep: --gather: sticky/pipe: another user has created it, .*" && exec 9>&-
'
test_expect_success ROOT 'where not everybody may make files, and with files of our own, all is as it was' '
	mkdir -p plain && : >plain/report && chown 65534 plain/report && : >sticky/mine && job --report plain/report --gather sticky/mine &&
	test -s plain/report && test_cmp want sticky/mine
'

# --- files that a command line names twice ------------------------------------------------
mkdir named named/far && (cd named && seq 20 >tasks && cp tasks data-3 && ln tasks hard && ln -s tasks soft && ln -s ../tasks far/up && ln -s . here &&
	echo 0:4 >queue && cp /bin/echo prog && echo "print(1)" >script.py && echo "echo x >made" >task && echo "[policy]" >conf &&
	echo "work \"w\" { command = {\"./prog\", \"{begin}\", \"{end}\"} }" >works &&
	echo "{\"tasks\":[{\"id\":1,\"time\":1,\"command\":\"cat in >out\",\"inputs\":[\"in\"],\"outputs\":[\"out\"]}],\"edges\":[]}" >graph.json && echo i >in && ln -s in in-link)
r='evenstep run --local 2 --metrics equal'
while IFS='|' read -r command message; do
	test_expect_success "$command: refused before anything is opened" '
		rm -rf there && cp -a named there && eval "set -- $command" && (cd there && test_expect_code 2 "$@" >got 2>err && cat err) && test ! -s there/got &&
		cp there/err err && said "evenstep: $message" && rm there/got there/err && diff -r --no-dereference named there
	'
done <<'END'
$r --lines tasks --joblog tasks -- cat|--joblog tasks: is the file of --lines: name another
$r --lines tasks --joblog tasks --journal j --resume -- cat|--joblog tasks: is the file of --lines: name another
$r --lines tasks --report hard -- cat|--report hard: is the file of --lines: name another
$r --lines far/up --gather soft -- cat|--gather soft: is the file of --lines: name another
$r --lines tasks --journal here/tasks -- cat|--journal here/tasks: is the file of --lines: name another
$r --queue queue --joblog "$PWD/there/queue" -- echo|--joblog .*/queue: is the file of --queue: name another
$r --queue queue --works works --report works|--report works: is the file of --works: name another
$r --queue queue --works works --report prog|--report prog: is the program: name another
$r --range 0:4 --metrics data-3 --report data-3 -- echo|--report data-3: is the file of --metrics: name another
$r --range 0:4 --journal new --report here/./new -- echo|--report here/./new: is the file of --journal: name another
$r --range 0:4 --gather new --joblog new -- echo|--joblog new: is the file of --gather: name another
$r --range 0:4 --gather prog -- ./prog {begin} {end}|--gather prog: is the program: name another
$r --range 0:4 --report script.py -- python3 script.py {begin} {end}|--report script.py: is what the program reads: name another
$r --range 0:4 --bcast tasks:/tmp/none-{node} --report soft -- echo|--report soft: is the file of --bcast: name another
$r --range 0:4 --stdout new-{begin} --joblog new-2 -- echo|--stdout new-\{begin\}: a piece may have the file of --joblog, new-2: name it unlike that
$r --lines data-3 --stdout here/data-{begin} -- cat|--stdout here/data-\{begin\}: a piece may have the file of --lines, data-3: name it unlike that
$r --lines data-3 --return data-{begin} -- cat|--return data-\{begin\}: a piece may have the file of --lines, data-3: name it unlike that
$r --range 0:4 --stdout o-{begin} --return o-{end} -- echo|--stdout and --return: o-\{begin\} may be one file: name them unlike each other
$r --range 0:4 --bcast tasks:/tmp/d-{node} --bcast queue:/tmp/./d-{node} -- echo|--bcast: tasks and queue have one DST: give each a DST of its own
env EVENSTEP_CONF=conf $r --range 0:4 --report conf -- echo|--report conf: is the configuration: name another
evenstep bcast --local 1 --report soft tasks /tmp/none|--report soft: is SRC: name another
evenstep bcast -r --local 1 --files-from tasks --report tasks far /tmp/none|--report tasks: is the file of --files-from: name another
evenstep graph run --local 1 --report graph.json graph.json|--report graph.json: is the graph: name another
evenstep graph run --local 1 --report in-link graph.json|--report in-link: is an input of the graph: name another
evenstep graph run --local 1 --journal out graph.json|--journal out: is what a task makes: name another
evenstep graph run --local 1 --journal new --report new graph.json|--report new: is the file of --journal: name another
evenstep graph plan --svg here/graph.json graph.json|--svg here/graph.json: is the graph: name another
evenstep graph import --to graph.json graph.json|--to graph.json: is the graph: name another
$r --lines - --metrics - -- cat|--metrics -: stdin is that of --lines already: name a file
$r --queue - --works -|--queue -: stdin is that of --works already: name a file
evenstep report - -|the report -: stdin is that of the report already: name a file
evenstep report --html tasks tasks|--html tasks: is the report: name another
evenstep report --svg new --html new tasks|--html new: is the file of --svg: name another
evenstep top --once --metrics-file ""|--metrics-file: the name is empty: name a file
evenstep probe --local 1 --report ""|--report: the name is empty: name a file
$r --range 0:4 --gather "" -- touch ran|--gather: the name is empty: name a file
$r --lines "" -- cat|--lines: the name is empty: name a file
$r --queue "" -- echo|--queue: the name is empty: name a file
END
test_expect_success 'devices and pipes may be named twice, and - is no file of that name' '
	job --report /dev/null --joblog /dev/null --gather /dev/null >got 2>err && test ! -s got && seq 4 >./- && job --report ./- --gather - >got 2>err && test_cmp want got && rm ./-
'

test_expect_success '- is stdin, of metrics and works, too, and stdout' '
	seq 0 3 >four && echo "0:4 @w" >queue && echo "work \"w\" { command = {\"echo\", \"{begin}\"} }" | evenstep run --local 1 --pieces 1 --policy manual:size=1 --queue queue --works - >got && test_cmp four got &&
	echo "{\"nodes\": [{\"name\": \"local0\", \"C\": 1}, {\"name\": \"local1\", \"C\": 3}]}" | evenstep run --local 2 --range 0:4 --pieces 1 --metrics - -- echo {begin} {end} >got && printf "0 1\n1 4\n" | test_cmp - got &&
	job --gather file --report - >got 2>err && tail -n 1 got | grep "^{\"type\":\"summary\"" && job --gather file --joblog - >got 2>err && head -n 1 got | grep "^Seq" && test ! -e ./-
'
test_expect_success '--report, --joblog, --journal by a link: it stays, and the file is where it leads to' '
	mkdir links && for each in report joblog journal; do ln -s "$PWD/links/$each" link.$each && job --$each link.$each >got 2>err && test_cmp want got && test -L link.$each && test -s links/$each || return 1; done &&
	job --journal link.journal --resume >got 2>err && test_cmp want got
'

# --- on the disk --------------------------------------------------------------------------
test_expect_success '--gather: the file is on the disk before it has its name, and then the name' '
	rm -f file && watched evenstep run --local 2 --range 0:30 --gather file -- seq {begin} {end} &&
	order "sync $here/.*(deleted|evenstep).*" "name file" "sync $here"
'
test_expect_success '--no-sync: neither' '
	rm -f file && : >log && watched evenstep run --local 2 --range 0:30 --gather file --no-sync -- seq {begin} {end} &&
	order "name file" && test_must_fail grep sync log
'

case $(stat -f -c %T .) in
tmpfs | ramfs) ;;
*) test_set_prereq DISK ;;
esac
mkdir to
for size in 10 3000000; do
	test_expect_success DISK "bcast of $size bytes: DST is on the disk before it is told, and then its name" '
		head -c $size /dev/urandom >from && rm -f to/* && watched evenstep bcast --local 2 from "$PWD/to/{node}" && cmp from to/local1 &&
		order "sync $here/to/.*(deleted|part).*" "sync $here/to" && test "$(grep -c "^sync $here/to$" log)" = 2
	'
	test_expect_success "bcast of $size bytes, --no-sync: neither" '
		rm -f to/* && watched evenstep bcast --no-sync --local 2 from "$PWD/to/{node}" && cmp from to/local1 && test_must_fail grep sync log
	'
done
if mkdir -p memory && unshare -m mount -t tmpfs none memory 2>/dev/null; then
	test_set_prereq MOUNT
fi
cat >memory.sh <<'END'
mount -t tmpfs none memory || exit 1
. ./watched
watched evenstep bcast --local 2 from "$PWD/memory/{node}" && cmp from memory/local1 && ! grep sync log
END
cat >watched <<END
watched() { rm -f log; env LD_PRELOAD="$disk" DISK_LOG=log "\$@"; }
END
test_expect_success MOUNT 'bcast into memory: there is nothing to wait for' '
	unshare -m sh memory.sh
'
test_done
