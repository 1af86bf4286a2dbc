#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='without Slurm, on this machine: every unit once and in order, whatever becomes of commands and agents'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD/tmp # what is left there is ours
export TMPDIR
mkdir -p "$TMPDIR" bin
unset EVENSTEP_CONF SLURM_JOB_ID

# --- what the slices run -------------------------------------------------------
# units BEGIN END: the numbers, one a line.
cat >bin/units <<'END'
#!/bin/sh
exec seq "$1" $(($2 - 1))
END
# gated BEGIN END: says that it is there, with its number, and waits for a file.
cat >bin/gated <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $$" >>started
until test -e go; do sleep 0.05; done
exec seq "$1" $(($2 - 1))
END
# polite BEGIN END: likewise, and takes SIGTERM for a good end.
cat >bin/polite <<'END'
#!/bin/sh
trap 'exit 0' TERM
echo "$EVENSTEP_NODE $$" >>started
until test -e go; do sleep 0.05; done
exec seq "$1" $(($2 - 1))
END
# stuck: has a child, and neither ends by itself.
cat >bin/stuck <<'END'
#!/bin/sh
sleep 1000 &
echo "$EVENSTEP_NODE $$ $!" >>started
wait
END
# burn BEGIN END: some milliseconds of CPU a unit.
cat >bin/burn <<'END'
#!/bin/sh
exec awk -v b="$1" -v e="$2" 'BEGIN { for (i = b; i < e; i++) { for (k = 0; k < 30000; k++) x += k; print i } }'
END
# noise BEGIN END: a MiB a unit of bytes that look like nothing else.
cat >bin/noise <<'END'
#!/usr/bin/perl
for my $unit ($ARGV[0] .. $ARGV[1] - 1) {
	print pack 'L*', map { ($unit * 262144 + $_) * 2654435761 & 0xffffffff } 0 .. 262143;
}
END
chmod +x bin/*
units="$PWD/bin/units" gated="$PWD/bin/gated" polite="$PWD/bin/polite" stuck="$PWD/bin/stuck" burn="$PWD/bin/burn" noise="$PWD/bin/noise"

# --- helpers -------------------------------------------------------------------
agents_of() { pgrep -P "$1" -x evenstep-agent; }
# foreground COMMAND...: as a terminal's process group, in the background for us.
foreground() {
	agents='' commands=''
	behind setsid env --default-signal=INT,TERM,HUP "$@"
}
run='' agents='' commands=''
trap 'code=$?; end_ours $run $agents $commands; (exit $code); die' EXIT
trap 'exit 143' TERM
# The numbers of the commands that have said so, of the agents, and their cgroups.
note_all() {
	agents=$(agents_of "$run") && commands=$(cut -d" " -f2- started | xargs)
	cat started
}
nothing_left() {
	# shellcheck disable=SC2086 # lists of numbers
	wait_for 60 dead $run $agents $commands &&
		ls -A "$TMPDIR" >left && cat left && test ! -s left &&
		for agent in $agents; do
			find /sys/fs/cgroup -maxdepth 6 -name "evenstep-$agent" 2>&-
		done >left && cat left && test ! -s left && run='' agents='' commands=''
}

# --- units, words, environment ---------------------------------------------------
test_expect_success 'every unit comes out exactly once and in order' '
	seq 0 99 >want && evenstep run --local 4 --range 0:100 -- "$units" {begin} {end} >got 2>err &&
	test_cmp want got && said "evenstep: 1 frame in .* s, efficiency [01]\..* \(by cost\)"
'
test_expect_success 'a range need not begin at 0, nor be small' '
	seq 9223372036854775790 9223372036854775806 >want &&
	evenstep run --local 3 --range 9223372036854775790:9223372036854775807 -- \
		sh -c "seq {begin} {end} | head -n -1" >got && test_cmp want got
'
test_expect_success 'fewer units than agents: each once' '
	seq 0 1 >want && evenstep run --local 4 --range 0:2 --repeat 2 -- "$units" {begin} {end} >got &&
	cat want want >twice && test_cmp twice got
'
test_expect_success 'one agent does it all' '
	seq 0 9 >want && evenstep run --local 1 --range 0:10 -- "$units" {begin} {end} >got && test_cmp want got
'
for policy in static even canon; do
	test_expect_success "policy $policy: frames come out one after another, every unit once" '
		seq 5 44 >want && cat want want want want >all &&
		evenstep run --local 3 --range 5:45 --repeat 4 --policy $policy -- "$units" {begin} {end} >got 2>err &&
		test_cmp all got && said "evenstep: 4 frames in .* \($policy\)"
	'
done
test_expect_success 'static cuts alike, with --metrics equal so does even' '
	echo "0 1 4" >want && for how in static "even --metrics equal"; do
		evenstep run --local 4 --range 0:16 --pieces 1 --policy $how -- echo {count} >got &&
		uniq -c got | awk "{ print \$2, NR, \$1 }" >counts && echo "4 1 4" >want &&
		test_cmp want counts || return 1
	done
'
test_expect_success '{words} and EVENSTEP_ variables say the same, and what they should' '
	evenstep run --local 2 --metrics equal --range 10:20 --repeat 2 -- sh -c \
		"echo \"{begin} {end} {count} {frame} <{label}> {node}\"
		 echo \"\$EVENSTEP_BEGIN \$EVENSTEP_END \$EVENSTEP_COUNT \$EVENSTEP_FRAME <\$EVENSTEP_LABEL> \$EVENSTEP_NODE\"" >got &&
	cat got && sed -n "n;p" got >variables && sed -n "p;n" got >words && test_cmp words variables &&
	awk "{ n++; if (\$1 != (\$4 != frame || n == 1 ? 10 : end) || \$3 != \$2 - \$1 || \$5 != \"<>\") exit 1; frame = \$4; end = \$2; sum += \$3 }
	     END { exit !(sum == 20 && frame == 1) }" words &&
	cut -d" " -f6 words | sort -u >names && printf "local0\nlocal1\n" >want && test_cmp want names
'
test_expect_success 'words of CMD arrive as they were typed, other braces too' '
	evenstep run --local 1 --range 0:1 -- printf "<%s>\n" "a b" "" "{nothing}" "{begin" "\$HOME" "x{begin}y{end}z" >got &&
	printf "<%s>\n" "a b" "" "{nothing}" "{begin" "\$HOME" "x0y1z" >want && test_cmp want got
'
test_expect_success 'CMD runs here, with this environment, and nothing of the companion' '
	mkdir -p "a folder" && (cd "a folder" && WORD="two words" evenstep run --local 2 --range 0:2 -- \
		sh -c "pwd; echo \$WORD; env | cut -d= -f1 | grep -E \"^(PMIX|PMI_|EVENSTEP_(SECRET|HOME|PORTS|COMPANION|AGENT|SPEED))\"; ls /proc/self/fd | xargs") >got &&
	printf "%s\ntwo words\n0 1 2 3\n" "$PWD/a folder" >one && cat one one >want && test_cmp want got
'
test_expect_success 'CMD has no stdin: it takes nothing of what the caller has' '
	printf "mine\n" >input && { evenstep run --local 2 --range 0:2 -- cat && read -r line; } <input >got &&
	echo mine >want && echo "$line" | test_cmp want - && test ! -s got
'
test_expect_success '--grain: slices begin at its multiples behind the begin' '
	for policy in static even; do # even may give a node nothing of what takes no time
		evenstep run --local 3 --range 3:103 --grain 7 --pieces 1 --repeat 3 --policy $policy --report report -- true &&
		cat report && jq -es "map(select(.type == \"frame\")) | length == 3
			and all(.slices | (length == 3 or \"$policy\" == \"even\") and all(((.begin - 3) % 7) == 0))" report || return 1
	done
'
test_expect_success 'a grain above the range is one slice' '
	seq 0 9 >want && evenstep run --local 3 --range 0:10 --grain 1000 --report report -- "$units" {begin} {end} >got &&
	test_cmp want got && jq -es ".[0].slices | length == 1" report
'

# --- results ---------------------------------------------------------------------
test_expect_success '--gather FILE has what stdout would have, and stdout nothing' '
	seq 0 99 >want && rm -f file && echo mine >file.part &&
	evenstep run --local 4 --range 0:100 --gather file -- "$units" {begin} {end} >got &&
	test ! -s got && test_cmp want file && test "$(cat file.part)" = mine && rm file.part && test "$(ls -A | grep evenstep-)" = ""
'
test_expect_success 'a failure in the first frame leaves no FILE, nothing beside it, and the FILE of before' '
	echo before >file && cp file want &&
	test_expect_code 1 evenstep run --local 2 --range 0:10 --gather file -- false 2>err && cat err &&
	test_cmp want file && rm file &&
	test_expect_code 1 evenstep run --local 2 --range 0:10 --gather file -- false && test ! -e file && test "$(ls -A | grep evenstep-)" = ""
'
test_expect_success 'a failure later: FILE has the whole frames, and that is said' '
	seq 0 9 >once && cat once once >want && rm -f file &&
	test_expect_code 1 evenstep run --local 2 --range 0:10 --repeat 5 --gather file -- \
		sh -c "test {frame} -lt 2 && exec \"\$0\" {begin} {end}" "$units" 2>err &&
	said "evenstep: file: 2 whole frames are kept, units 0:10 of frame 3 are missing, and so is what follows frame 3" && test_cmp want file
'
test_expect_success '--gather of a link: it stays, and the file is where it leads to, with its mode' '
	mkdir -p far && echo old >far/file && chmod 640 far/file && ln -s far/file link && seq 0 9 >want &&
	evenstep run --local 2 --range 0:10 --gather link -- "$units" {begin} {end} &&
	test -L link && test_cmp want far/file && test "$(stat -c %a far/file)" = 640
'
test_expect_success '--gather /dev/stdout, a pipe and -: written to as they are' '
	for each in /dev/stdout /proc/self/fd/1 -; do
		echo before >got && evenstep run --local 2 --range 0:10 --gather $each -- "$units" {begin} {end} >>got &&
		(echo before && cat want) | test_cmp - got || return 1
	done && mkfifo pipe && { cat pipe >got & } && evenstep run --local 2 --range 0:10 --gather pipe -- "$units" {begin} {end} && wait $! &&
	test_cmp want got && test -p pipe && test ! -e ./-
'
test_expect_success '--gather of a file that another run gathers into: refused before work begins, with its pid; what that leaves when killed is no obstacle' '
	rm -f file go && foreground evenstep run --local 2 --range 0:30 --gather file -- "$gated" {begin} {end} && wait_for 60 lines started 2 &&
	ln -s file other && for each in file other; do
		test_expect_code 2 evenstep run --local 1 --range 0:1 --gather $each -- touch ran 2>err && test ! -e ran &&
		said "evenstep: --gather: $each: another run is writing it, pid $run on .*: wait for it, or name another file" || return 1
	done && note_all && kill -KILL $run && test_expect_code 137 wait $run && rm -rf "$TMPDIR"/evenstep-pmix.* && nothing_left &&
	evenstep run --local 1 --range 0:1 --gather file -- echo x && echo x | test_cmp - file && test "$(ls -A | grep evenstep-lock)" = ""
'
for option in joblog report; do
	test_expect_success "--$option of a file that another run writes: refused, and that goes on" '
		rm -f file started go && foreground evenstep run --local 2 --range 0:30 --$option file -- "$gated" {begin} {end} && wait_for 60 lines started 2 &&
		test_expect_code 2 evenstep run --local 1 --range 0:1 --$option file -- touch ran 2>err.second && test ! -e ran && mv err err.first && mv err.second err &&
		said "evenstep: --$option: file: another run is writing it: .*" && : >go && wait $run && test -s file
	'
done
# The fields of design, section 7, and what must add up.
cat >report.jq <<'END'
def frame_ok: .type == "frame" and (.frame | type) == "number" and (.adjusted | type) == "boolean"
	and .first <= .last and .first > 0 and .efficiency > 0 and .efficiency <= 1.0001
	and (.slices | all((.node | test("^local[0-3]$")) and .status == 0 and .attempt == 1 and .seconds > 0 and .begin < .end))
	and (.slices | sort_by(.begin) | map([.begin, .end]) | . as $s
		| $s[0][0] == 7 and $s[-1][1] == 107 and ([range(1; length) | $s[.][0] == $s[. - 1][1]] | all));
(.[:-1] | length == 3 and all(frame_ok) and ([.[].frame] == [0, 1, 2]))
and (.[-1] | .type == "summary" and .frames == 3 and .seconds > 0 and .efficiency > 0 and .policy == "by cost")
END
test_expect_success '--report: a JSON line a frame and a summary; slices adjoin and are the range' '
	evenstep run --local 4 --range 7:107 --repeat 3 --report report -- "$burn" {begin} {end} >got &&
	cat report && lines report 4 && jq -es -f report.jq report
'
test_expect_success 'the efficiency is ideal over time, of frames and of the run; and ideal and the rest are the time' '
	jq -es "[.[] | (.last // .seconds) as \$t | (.efficiency - .ideal / \$t | fabs < 1e-9) and (.ideal + (.rest | add) - \$t | fabs < 1e-6)
		and .ideal > 0 and .equal_parts >= .ideal * 0.999 and (.rest | keys == [\"restarts\", \"slower\", \"twice\", \"waiting\", \"wire\"])] | length == 4 and all" report &&
	jq -es ".[:-1] | all(.slices | all(.start >= 0 and .start <= .seconds))" report
'
cat >dies <<'END'
test "$EVENSTEP_NODE" = local0 || { sleep 0.9; kill -9 $PPID; exit 1; }
sleep "$(($2 - $1))e-1"
seq "$1" $(($2 - 1))
END
test_expect_success 'a node that is lost counts, and what it had was in vain' '
	evenstep run --local 2 --metrics equal --policy static --pieces 1 --range 0:20 --report lost -- sh ./dies {begin} {end} >got && seq 0 19 >want && test_cmp want got &&
	jq -es ".[-1] | .ideal < 0.7 * .seconds and .equal_parts < 0.7 * .seconds and .rest.twice > 0.4" lost &&
	jq -es ".[0].slices | map(select(.status != 0)) | length == 1 and .[0].seconds > 0.8 and .[0].back > 0.8" lost
'
# nothing: how a report tells that nothing was done.
nothing='.efficiency == null and .ideal == 0 and .equal_parts == 0'
test_expect_success 'where nothing was done there is no efficiency; a frame tells how long it was at work, and what was out' '
	rm -f begun && { env --default-signal=INT evenstep run --local 2 --metrics equal --range 0:8 --report none -- sh -c "echo >>begun; exec sleep 600" {begin} {end} 2>err & run=$!; } && wait_for 60 lines begun 2 && sleep 0.5 &&
	kill -INT $run && ! wait $run && cat none && jq -es "all($nothing) and .[-1].status == \"failed\"" none &&
	jq -es ".[0] | .last > 0.4 and .complete == false and (.last - .rest.twice - .rest.wire - .rest.waiting | fabs < 1e-6) and .rest.twice > 0.4
		and (.slices | length == 2 and all(.status != 0 and .seconds > 0.4 and .back > 0.4))" none &&
	evenstep report none >got && cat got && ! grep -q "efficiency [0-9]" got && grep -qE "^1 +0 +[0-9.]+ +0\.000 +- +0\.000 +0 +2  not done$" got && evenstep report --json none | jq -e "$nothing and (.frames | all($nothing))" &&
	evenstep report --table none | tail -n 1 | cut -f 17 | grep -x NA && evenstep report --svg none.svg --html none.html none && ! grep -E "nan|inf|-1\.0" none.svg none.html
'
test_expect_success 'nor where a run before has done all' '
	rm -f kept && evenstep run --local 2 --metrics equal --range 0:8 --journal kept -- true {begin} {end} && evenstep run --local 2 --metrics equal --range 0:8 --journal kept --resume --report none -- true {begin} {end} 2>err &&
	jq -e "$nothing and .frames == 0" none && said "evenstep: 0 frames in 0\.00 s \(by cost\)"
'
test_expect_success 'and the last two lines of a run say so' '
	evenstep run --local 4 --range 7:107 --repeat 3 -- "$burn" {begin} {end} >got 2>err && cat err &&
	tail -n 2 err | head -n 1 | grep -xE "evenstep: 3 frames in [0-9.]+ s, efficiency [01]\.[0-9]{3} \(by cost\)" &&
	tail -n 1 err | grep -xE "evenstep: ideal [0-9.]+ s(; the rest: ([a-z]+ [0-9.]+ s(, )?)+)?; equal parts [0-9.]+ s"
'
test_expect_success 'the slow one of two gets fewer units, in the first frame already' '
	for again in 1 2 3 4 5; do # a probe of 250 ms on a machine that others use, too
		evenstep run --local 2=20,5 --range 0:1000 --pieces 1 --report report -- true &&
		jq -s ".[0].slices | map({(.node): (.end - .begin)}) | add" report >got && cat got &&
		jq -e ".local0 / .local1 | . > 2 and . < 8" got && return 0
	done
	return 1
'
test_expect_success 'even brings the two to one end, static does not' '
	for again in 1 2 3 4 5; do # others may be busy here
		for policy in even static; do
			evenstep run --local 2=20,5 --range 0:60 --pieces 1 --repeat 4 --policy $policy --report $policy -- \
				"$burn" {begin} {end} >got || return 1
		done
		jq -c "[.efficiency]" even static
		! jq -es ".[-1].efficiency > 0.75" even || ! jq -es ".[-1].efficiency < 0.75" static || return 0
	done
	return 1
'
if test "$(id -u)" = 0; then
	test_expect_success 'a speed leaves no cgroup' '
		find /sys/fs/cgroup -maxdepth 6 -name "evenstep-[0-9]*" 2>&- | sort >before &&
		evenstep run --local 2=50,50 --range 0:10 -- find /sys/fs/cgroup -name "evenstep-[0-9]*" >during &&
		cat during && find /sys/fs/cgroup -maxdepth 6 -name "evenstep-[0-9]*" 2>&- | sort >after &&
		comm -13 before after >left && sort during | comm -12 - left >ours && test ! -s ours
	'
fi
# 12 slices of 4 MiB, each far above what is kept in memory.
test_expect_success '48 MiB of binary output: identical to the reference, through --gather and a pipe' '
	"$noise" 0 48 >want && rm -f file &&
	evenstep run --local 3 --range 0:48 --grain 4 --gather file -- "$noise" {begin} {end} && cmp want file && rm file &&
	evenstep run --local 2 --range 0:48 -- "$noise" {begin} {end} | cmp want - && rm want
'
test_expect_success 'output of no line, of nothing, and of a NUL' '
	evenstep run --local 2 --metrics equal --pieces 1 --range 0:4 --reads-env -- printf "{begin}\\0" >got && printf "0\\0002\\000" >want &&
	cmp want got && evenstep run --local 2 --range 0:4 -- true >got && test ! -s got
'
test_expect_success 'what a command that went well says on stderr is shown with its node' '
	evenstep run --local 2 --metrics equal --pieces 1 --range 0:2 -- sh -c "echo \"I am \$EVENSTEP_NODE\" >&2; echo out" >got 2>err &&
	said "local0: I am local0" && said "local1: I am local1" && printf "out\nout\n" >want && test_cmp want got
'

# --- a terminal ------------------------------------------------------------------
test_expect_success 'on a terminal there is a bar that goes away, and no line a frame' '
	TERM=xterm script -qec "evenstep run --local 2 --range 0:2 --repeat 3 -- true" typescript </dev/null >screen &&
	cat -v screen && grep -F "[#" screen && tail -n 1 screen | grep "ideal [0-9.]* s" && tail -n 2 screen | grep "3 frames in" &&
	grep "frame" screen >frames && ! grep "frame 1 of 3:" frames
'
test_expect_success 'beside the bar: units, rate, time left, efficiency so far; never wider than the terminal' '
	TERM=xterm script -qec "evenstep run --local 2 --range 0:2 --repeat 3 -- true" typescript </dev/null >screen && cat -v screen &&
	grep -qE "frame 2 of 3, [2-5]/6 units, [0-9.e+]+/s, [0-9]+:[0-9]{2} left, efficiency [01]\.[0-9]{2}" screen &&
	TERM=xterm script -qec "stty cols 30; evenstep run --local 2 --range 0:2 --repeat 3 -- true" typescript </dev/null >screen && cat -v screen &&
	tr "\r" "\n" <screen | sed "s/^.\[K//" | grep "frame" | grep -v "^evenstep:" >lines && test -s lines && awk "length(\$0) > 29 { exit 1 }" lines
'
test_expect_success 'not on a terminal: a plain line a frame, no control characters' '
	evenstep run --local 2 --range 0:2 --repeat 3 -- true {begin} {end} 2>err && said "evenstep: frame 1 of 3: .*" &&
	lines err 5 && test -s err && ! LC_ALL=C grep "[^ -~]" err
'
test_expect_success 'nor a line for each of very many frames: those after the 20th are told together, and none is left out' '
	evenstep run --local 1 --range 0:1 --repeat 30 -- true 2>err && cat err && grep -c "^evenstep: frame [0-9]* of 30: " err >single && test "$(cat single)" -ge 20 && test "$(wc -l <err)" -lt 31 &&
	sed -nE "s/^evenstep: frames? ([0-9]+)( to ([0-9]+))? of 30: .*/\1 \3/p" err |
		awk "\$1 != after + 0 && NR > 1 { exit 1 } { after = (NF > 1 ? \$2 : \$1) + 1 } END { exit after != 31 }"
'

# --- commands that fail ------------------------------------------------------------
test_expect_success 'a failing command: exit 1; node, frame, units, status and its last words' '
	rm -f file && test_expect_code 1 evenstep run --local 2 --policy static --pieces 1 --range 0:10 --repeat 3 --gather file -- \
		sh -c "echo fine; : {end}; test {frame}.{begin} != 1.5 || { echo \"first words\" >&2; echo \"last words\" >&2; exit 42; }" 2>err &&
	said "local1: last words" && said "local1: first words" &&
	said "evenstep: local1: frame 2, units 5:10: sh exited with status 42: see its last words above" &&
	test "$(sort -u file)" = fine && test "$(wc -l <file)" -ge 2 && test "$(wc -l <file)" -le 3
'
test_expect_success 'much on stderr: the end of it is shown, and that there was more' '
	test_expect_code 1 evenstep run --local 1 --range 0:1 -- sh -c "seq 200000 >&2; exit 3" 2>err &&
	tail -n 3 err | said "evenstep: local0: .* status 3: .*" && grep -x "local0: 200000" err &&
	grep -xE "evenstep: local0: the first [0-9]+ bytes of its stderr are left out" err && test "$(wc -c <err)" -lt 200000
'
test_expect_success 'a file that reaches the limit of ulimit -f: exit 1, says so, no piece half-written' '
	test_expect_code 1 sh -c "ulimit -f 60000; exec evenstep run --local 2 --range 0:2 --gather limited --reads-env -- seq {begin} 3000000" 2>err &&
	said "evenstep: .*limited: File too large: raise ulimit -f or name another file" && said "evenstep: limited: units 0:1 are kept, units 1:2 are missing" &&
	seq 0 3000000 | cmp - limited && test "$(ls -A | grep evenstep-)" = ""
'
printf '\001\002\n' >nonsense && chmod +x nonsense
test_expect_success 'why a program that is there cannot be run: said, with what mends it' '
	mkdir -p no && printf "#!/nowhere/sh\n" >no/shell && printf "#!/bin/sh\r\ntrue\r\n" >no/unix && printf "#!no/right\n" >no/runner && chmod +x no/* &&
	printf "#!/bin/sh\n" >no/right && for each in "shell needs /nowhere/sh, which is not there on this node" "unix has lines that end with CR: sed -i .* mends it" \
		"runner needs no/right, which may not be run on this node" "right may not be run, by its mode: chmod .x"; do
		test_expect_code 1 evenstep run --local 1 --range 0:1 -- "no/${each%% *}" {begin} 2>err && said "local0: evenstep: no/$each" &&
		said "evenstep: local0: .* could not be started: .*: see why above" || return 1
	done && PATH=$PWD/no:$PATH test_expect_code 1 evenstep run --local 1 --range 0:1 -- shell {begin} 2>err && said "local0: evenstep: .*/no/shell needs /nowhere/sh, .*"
'
if test "$(id -u)" = 0 && mkdir -p noexec && unshare -m mount -t tmpfs -o noexec none noexec 2>/dev/null; then
	test_set_prereq MOUNT
fi
test_expect_success MOUNT 'a program where nothing may be run is not told to be made one that may' '
	test_expect_code 1 unshare -m sh -c "mount -t tmpfs -o noexec none noexec && cp /bin/true noexec/t && exec evenstep run --local 1 --range 0:1 -- noexec/t {begin}" 2>err &&
	said "local0: evenstep: noexec/t is on a file system that is mounted noexec: copy it to another" && ! grep chmod err
'
while IFS='|' read -r what command message; do
	test_expect_success "$what: exit 1, says so" '
		eval "set -- $command" &&
		test_expect_code 1 evenstep run --local 2 --range 0:4 -- "$@" >got 2>err && test ! -s got &&
		said "evenstep: local[01]: frame 1, units [0-9]+:[0-9]+: $message"
	'
done <<'END'
a command that is not there|no-such-command|no-such-command could not be started: No such file or directory: .*
a file that is not executable|./report.jq|./report.jq could not be started: Permission denied: see why above
a folder|./tmp|./tmp could not be started: Permission denied: .*
a file of no known format|./nonsense|./nonsense could not be started: Exec format error: .*
a command that is killed|sh -c "kill -SEGV \$\$"|sh was killed by signal 11 \(Segmentation fault\): it printed nothing on stderr
a command that exits as if it was killed|sh -c "exit 139"|sh exited with status 139: it printed nothing on stderr
END
test_expect_success 'a failure ends the other commands, too' '
	foreground evenstep run --local 2 --metrics equal --range 0:10 -- sh -c \
		": {end}; test {begin} = 0 || exec \"\$0\"; until test -e go; do sleep 0.05; done; exit 9" "$stuck" &&
	wait_for 60 lines started 1 && note_all && : >go && test_expect_code 1 wait $run &&
	said "evenstep: local0: .* exited with status 9: .*" && nothing_left
'

# --- agents that are killed -----------------------------------------------------------
test_expect_success 'an agent killed in the middle of a frame: the others do its part, exit 0' '
	foreground evenstep run --local 3 --metrics equal --range 0:30 --report report -- "$gated" {begin} {end} &&
	wait_for 60 lines started 3 && note_all && set -- $agents && kill -KILL $2 &&
	wait_for 60 grep -q "is lost" err && : >go && wait $run && said "evenstep: local[0-2] is lost \(.*\): the other nodes do its part" &&
	seq 0 29 >want && test_cmp want out && nothing_left
'
test_expect_success 'the report tells the second attempt, and still adds up to the range' '
	cat report && jq -es ".[0].slices | (map(select(.status == 0) | .end - .begin) | add == 30)
		and any(.attempt == 2 and .status == 0) and any(.attempt == 1 and .status != 0)" report
'
test_expect_success 'an agent that is sent away: what its command calls a good end is none' '
	foreground evenstep run --local 3 --metrics equal --range 0:30 -- "$polite" {begin} {end} &&
	wait_for 60 lines started 3 && note_all && set -- $agents && kill -TERM $2 &&
	wait_for 60 grep -q "is lost" err && : >go && wait $run && seq 0 29 >want && test_cmp want out && nothing_left
'
test_expect_success 'two of three killed, one after the other: the last does it all' '
	foreground evenstep run --local 3 --range 0:30 --repeat 2 -- "$gated" {begin} {end} &&
	wait_for 60 lines started 3 && note_all && set -- $agents && kill -KILL $1 && wait_for 60 grep -q "is lost" err &&
	kill -KILL $3 && wait_for 60 sh -c "test \$(grep -c \"is lost\" err) = 2" && : >go && wait $run &&
	seq 0 29 >once && cat once once >want && test_cmp want out && nothing_left
'
test_expect_success 'all agents killed: exit 3, says that no node is left, and no FILE' '
	rm -f file && foreground evenstep run --local 2 --range 0:30 --gather file -- "$gated" {begin} {end} &&
	wait_for 60 lines started 2 && note_all && kill -KILL $agents && test_expect_code 3 wait $run &&
	said "evenstep: no node is left to work: .*" && test ! -e file && nothing_left
'
test_expect_success 'an agent that is only stopped for a while loses nothing' '
	foreground evenstep run --local 2 --range 0:30 -- "$gated" {begin} {end} &&
	wait_for 60 lines started 2 && note_all && set -- $agents && kill -STOP $1 && : >go &&
	kill -CONT $1 && wait $run && seq 0 29 >want && test_cmp want out
'

# --- the end of the run by the user -----------------------------------------------------
for signal in INT:130 HUP:129; do
	test_expect_success "SIG${signal%:*}: ends by it, with every command and its children" '
		rm -f file && foreground evenstep run --local 3=50,50,50 --range 0:30 --gather file -- "$stuck" &&
		wait_for 60 lines started 3 && note_all && kill -s ${signal%:*} -- -$run &&
		test_expect_code ${signal#*:} wait $run && said "evenstep: .*: nothing is left running" &&
		test ! -e file && nothing_left
	'
done
test_expect_success 'what is ignored at the start stays so: SIGHUP by nohup, SIGINT of a shell in the background' '
	behind env --ignore-signal=INT,HUP evenstep run --local 2 --metrics equal --range 0:4 -- "$gated" {begin} {end} &&
	wait_for 60 lines started 2 && kill -HUP $run && kill -INT $run && : >go && wait $run && seq 0 3 >want && test_cmp want out
'
test_expect_success 'Ctrl-C at once, while agents still start: nothing is left' '
	foreground evenstep run --local 3 --range 0:30 -- "$stuck" && wait_for 60 agents_of $run >agents &&
	agents=$(cat agents) commands= && kill -INT $run && test_expect_code 130 wait $run && nothing_left
'
test_expect_success 'a command that ignores SIGTERM is killed' '
	foreground evenstep run --local 1 --range 0:1 -- sh -c "trap : TERM INT; echo x \$\$ >>started; while :; do sleep 1; done" &&
	wait_for 60 lines started 1 && note_all && kill -INT $run && test_expect_code 130 wait $run && nothing_left
'
test_expect_success 'kill -9 of evenstep: agents, commands and their cgroups are gone in 15 s' '
	foreground evenstep run --local 3=50,50,50 --range 0:30 -- "$stuck" &&
	wait_for 60 lines started 3 && note_all && kill -KILL $run && test_expect_code 137 wait $run &&
	rm -rf "$TMPDIR"/evenstep-pmix.* && nothing_left
'
test_expect_success 'a reader who has left (head -1): no hang, exit 1 with the reason' '
	{ evenstep run --local 2 --range 0:200000 --repeat 20 -- "$units" {begin} {end} 2>err; echo $? >status; } | head -n 1 >got &&
	echo 0 >want && test_cmp want got && echo 1 >want && test_cmp want status &&
	said "evenstep: stdout: Broken pipe: .*"
'
test_expect_success 'a full file system: exit 1 with the reason' '
	test_expect_code 1 evenstep run --local 2 --range 0:20 -- "$units" {begin} {end} >/dev/full 2>err &&
	said "evenstep: stdout: No space left on device: .*"
'
test_expect_success 'two runs at once do not meet' '
	seq 0 99 >want && evenstep run --local 3 --range 0:100 --repeat 1 -- "$units" {begin} {end} >first 3>&- 4>&- 5>&- & other=$! &&
	seq 500 599 >want2 && evenstep run --local 3 --range 500:600 -- "$units" {begin} {end} >second &&
	wait $other && seq 0 99 >want && test_cmp want first && test_cmp want2 second
'

# --- without root -------------------------------------------------------------------------
if test "$(id -u)" = 0; then
	mkdir -p nobody && chown nobody nobody && chmod 755 . nobody
	as_nobody() {
		(cd nobody && TMPDIR=$PWD setpriv --reuid nobody --regid nogroup --clear-groups "$@")
	}
	if as_nobody sh -c "\"\$0\" --version && \"\$1\" 0 1" "$EVENSTEP_BUILD/evenstep" "$units" >out 2>err; then # setpriv itself could enter
		test_set_prereq NOBODY
	else
		say "skipping what needs no root: nobody cannot enter $PWD or $EVENSTEP_BUILD"
	fi
	test_expect_success NOBODY 'without root: every unit once, and speeds by the duty cycle' '
		seq 0 99 >want && as_nobody evenstep run --local 4 --range 0:100 -- "$units" {begin} {end} >got && test_cmp want got &&
		for again in 1 2 3 4 5; do # others may be busy here
			as_nobody evenstep run --local 2=20,5 --range 0:1000 --pieces 1 --report report -- true 2>err && cat err &&
			jq -s ".[0].slices | map({(.node): (.end - .begin)}) | add" nobody/report >got && cat got &&
			jq -e ".local0 / .local1 | . > 2 and . < 10" got && return 0
		done
		return 1
	'
	test_expect_success NOBODY 'without root: an agent killed, the run goes on and leaves nothing' '
		rm -f nobody/started nobody/go &&
		(cd nobody && TMPDIR=$PWD exec setpriv --reuid nobody --regid nogroup --clear-groups \
			evenstep run --local 2=50,50 --range 0:30 -- "$gated" {begin} {end}) >out 2>err 3>&- 4>&- 5>&- & run=$! &&
		wait_for 60 lines nobody/started 2 && agents=$(agents_of $run) && commands=$(cut -d" " -f2 nobody/started) &&
		set -- $agents && kill -KILL $1 && wait_for 60 grep -q "is lost" err && : >nobody/go && wait $run &&
		seq 0 29 >want && test_cmp want out && wait_for 60 dead $agents $commands
	'
	test_expect_success NOBODY 'without root: Ctrl-C leaves nothing' '
		rm -f nobody/started &&
		(cd nobody && TMPDIR=$PWD exec setpriv --reuid nobody --regid nogroup --clear-groups \
			env --default-signal=INT evenstep run --local 2=50,50 --range 0:30 -- "$stuck") >out 2>err 3>&- 4>&- 5>&- & run=$! &&
		wait_for 60 lines nobody/started 2 && agents=$(agents_of $run) && commands=$(cut -d" " -f2- nobody/started | xargs) &&
		kill -INT $run && test_expect_code 130 wait $run && wait_for 60 dead $agents $commands &&
		find nobody -name "evenstep-pmix*" >left && test ! -s left
	'
fi
test_done
