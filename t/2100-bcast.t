#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast --local: the same file on every node, or none and the reason'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD/tmp # what is left there is ours
export TMPDIR
mkdir -p "$TMPDIR"
unset EVENSTEP_CONF SLURM_JOB_ID
here=$PWD

# --- helpers -------------------------------------------------------------------
# A folder for each of N nodes: dst/local0, ...
nodes() { # N
	n=$1
	rm -rf dst && for i in $(seq 0 $(($1 - 1))); do mkdir -p dst/local"$i" || return 1; done
}
# The file is on all nodes, or those that are named, and nothing else is.
arrived() { # SRC [NODE...]
	src=$1
	shift
	test $# -gt 0 || set -- $(seq -f local%g 0 $((n - 1)))
	for node; do cmp "$src" dst/"$node"/x || return 1; done
	find dst ! -type d | sort >got && for node; do echo "dst/$node/x"; done | sort >want && test_cmp want got
}
nothing_arrived() { find dst ! -type d >left && test_cmp /dev/null left; }
# An agent has opened the file of its node, which has no name yet.
begun() { opened 1 "$here/dst/local*/*"; }
bring() { rm -f dst/*/x && exec env --default-signal=INT evenstep bcast --local "$n" "$@" large "$here/dst/{node}/x"; }
# shellcheck disable=SC2086 # lists of numbers
# held OPTIONS: a broadcast of "large" to all nodes that is stopped in its middle.
held() {
	end_ours $run $agents # of a test that failed
	held_while begun "$n" bring "$@"
}
# shellcheck disable=SC2086
go_on() { kill -CONT $agents; }
# shellcheck disable=SC2086
nothing_left() {
	wait_for 60 dead $run $agents && ls -A "$TMPDIR" >left && test_cmp /dev/null left && run='' agents=''
}
run='' agents=''
trap 'code=$?; end_ours $run $agents; (exit $code); die' EXIT
trap 'exit 143' TERM

head -c 3000000 /dev/urandom >file
chmod 640 file

# --- it arrives ----------------------------------------------------------------
for n in 1 2 3 8; do
	test_expect_success "a file is the same on $n nodes, with its mode" '
		nodes $n && evenstep bcast --local $n file "$here/dst/{node}/x" 2>err &&
		said "evenstep: 3\.0 MB to $n nodes? in .* s" && lines=$(wc -l <err) && test $lines = 1 &&
		arrived file && stat -c %a dst/*/x | sort -u >got && echo 640 >want && test_cmp want got
	'
done
# A file of 5 MB with a hole in front and one behind.
truncate -s 5M holes && printf data | dd of=holes bs=1 seek=3000000 conv=notrunc 2>/dev/null && chmod 750 holes && touch -d @1234567890.5 holes
has_holes() { for each in dst/*/x; do test "$(stat -c %b "$each")" -lt 100 || return 1; done; }
for options in "" -r -p "-p --no-sync --verify" "--strict -F 1" --compress=zstd; do
	times=0 && test "$options" = "${options#-p}" || times=3
	test_expect_success "holes of a file stay holes, and are not sent, with ${options:-no option}" '
		nodes 3 && evenstep bcast --local 3 $options --json --report report holes "$here/dst/{node}/x" >out && arrived holes && has_holes &&
		test "$(stat -c %a dst/local2/x)" = 750 && test "$(stat -c %Y dst/*/x | grep -c "^1234567890$")" = $times &&
		jq -e ".bytes > 0 and .bytes < 70000 and .home_bytes_sent < 400000 and (has(\"files\") or has(\"left_out\") or has(\"sent_bytes\") | not)" out &&
		jq -es ".[0].type == \"bcast\" and (.[0] | has(\"files\") | not)" report
	'
done
test_expect_success 'one that has no byte besides, and one that is there already' '
	nodes 3 && truncate -s 3M hollow && evenstep bcast --local 3 hollow "$here/dst/{node}/x" && arrived hollow && has_holes && rm dst/local0/x dst/local2/x &&
	test_expect_code 1 evenstep bcast --local 3 holes "$here/dst/{node}/x" 2>err && said "evenstep: local1: .*/dst/local1/x: File exists" &&
	said "evenstep: 1 of 3 nodes have not got the file: see the lines above; the others have it; -f replaces what is there" && cmp hollow dst/local1/x &&
	cmp holes dst/local0/x && evenstep bcast --local 3 -f holes "$here/dst/{node}/x" && arrived holes && rm dst/local0/x && mkdir dst/local0/x &&
	test_expect_code 1 evenstep bcast --local 3 -f holes "$here/dst/{node}/x" 2>err && said "evenstep: local0: .*/dst/local0/x: Is a directory" &&
	said "evenstep: 1 of 3 nodes have not got the file: .*; DST is the name of the copy, not that of its folder"
'
test_expect_success 'run --bcast keeps them, too' '
	nodes 2 && evenstep run --local 2 --metrics equal --range 0:2 --bcast "holes:$here/dst/{node}/x" -- true "{begin}" "{end}" && arrived holes && has_holes
'
for n in 1 5; do
	test_expect_success "to $n nodes: files of no byte, one, and around whole chunks" '
		for bytes in 0 1 1023 1024 1025 4095 4096 4097 8191 8192 8193 24575 24576 24577 65537; do
			head -c $bytes file >part && nodes $n && evenstep bcast --local $n part "$here/dst/{node}/x" 2>err &&
				arrived part && lines err 1 || { echo "$bytes bytes"; cat err; return 1; }
		done
	'
	test_expect_success "to $n nodes: the same in chunks of 1 KiB" '
		for bytes in 0 1 1023 1024 1025 2047 2048 3000 4096 4097 9217; do
			head -c $bytes file >part && nodes $n && evenstep bcast --local $n -s 1Ki part "$here/dst/{node}/x" 2>err &&
				arrived part && lines err 1 || { echo "$bytes bytes"; cat err; return 1; }
		done
	'
done
for options in --verify --strict '--strict --pull chunk' '--strict --pull node' '--strict --pull turn' '--branches 1' '-F 2' '--fanout 6' \
	'--branches 99' '-s 4Ki' '--size 1M' '--chunk 4MiB' '--strict -s 16k --pull node' '--strict -F 1' '--strict -F 6 -s 100000' \
	'--verify --strict -p -f -s 64k'; do
	test_expect_success "with $options" '
		nodes 6 && evenstep bcast --local 6 $options file "$here/dst/{node}/x" 2>err && arrived file
	'
done
# How close to once is tested in simulation; here agents may have to wait for a CPU.
test_expect_success 'large: home sends it about once, not to each node' '
	head -c 20M /dev/zero >large && nodes 4 && evenstep bcast --local 4 --json large "$here/dst/{node}/x" >out &&
	cat out && arrived large && jq -e ".bytes == 20971520 and .home_bytes_sent >= .bytes and .home_bytes_sent <= 1.5 * .bytes" out
'
test_expect_success '--json: one object with what was done' '
	nodes 3 && evenstep bcast --local 3 --json -s 64Ki file "$here/dst/{node}/x" >out 2>err && cat out && test ! -s err &&
	jq -es "length == 1 and (.[0] | .bytes == 3000000 and .nodes == 3 and .seconds > 0 and .chunk_bytes == 65536
		and .chunks > 45 and .home_bytes_sent >= .bytes and .duplicate_bytes >= 0 and .pulls >= 0 and .refused_pulls >= 0
		and (.node_seconds | keys == [\"local0\", \"local1\", \"local2\"])
		and (.seconds as \$s | .node_seconds | all(. > 0 and . <= \$s)))" out
'
test_expect_success '-p keeps the time of change, also 0 and before; without it is now' '
	for time in @0 @-1.5 @1234567890.123456789; do
		touch -d $time file && nodes 2 && evenstep bcast --local 2 -p file "$here/dst/{node}/x" &&
			stat -c %.Y file file >want && stat -c %.Y dst/*/x >got && test_cmp want got || return 1
	done &&
	nodes 1 && evenstep bcast --local 1 file "$here/dst/{node}/x" && test dst/local0/x -nt out
'
test_expect_success 'DST that is there: refused on that node, whole on the others; -f replaces it' '
	nodes 3 && echo old >dst/local1/x && cp dst/local1/x old &&
	test_expect_code 1 evenstep bcast --local 3 file "$here/dst/{node}/x" 2>err &&
	said "evenstep: local1: .*/dst/local1/x: File exists" && cmp old dst/local1/x &&
	said "evenstep: 1 of 3 nodes have not got the file: see the lines above; the others have it; -f replaces what is there" && cmp file dst/local0/x && cmp file dst/local2/x &&
	evenstep bcast --local 3 -f file "$here/dst/{node}/x" && arrived file
'
test_expect_success 'a folder that the nodes share: one has made the copy, and that is said' '
	nodes 3 && rmdir dst/local1 dst/local2 && ln -s local0 dst/local1 && ln -s local0 dst/local2 &&
	test_expect_code 1 evenstep bcast --local 3 file "$here/dst/{node}/x" 2>err && cmp file dst/local0/x &&
	said "evenstep: 2 of 3 nodes have not got the file: see the lines above; the others have it; -f replaces what was there; if the nodes share the folder, that copy is there for all"
'
test_expect_success '-f replaces a link, not what it points to' '
	nodes 1 && cp old target && ln -s "$here/target" dst/local0/x &&
	evenstep bcast --local 1 -f file "$here/dst/{node}/x" && cmp old target && test ! -L dst/local0/x && arrived file
'
test_expect_success 'SRC may be a link, and DST relative' '
	nodes 2 && ln -sf file link && evenstep bcast --local 2 link "dst/{node}/x" && arrived file
'
test_expect_success 'one after another, and two at once' '
	nodes 4 && mkdir dst2 && for i in 0 1 2 3; do mkdir dst2/local$i; done &&
	{ evenstep bcast --local 4 file "$here/dst/{node}/x" 3>&- 4>&- 5>&- & other=$!; } &&
	evenstep bcast --local 4 large "$here/dst2/{node}/x" && wait $other && n=4 arrived file &&
	for i in 0 1 2 3; do cmp large dst2/local$i/x || return 1; done && rm -r dst2
'
test_expect_success 'many small chunks to one node' '
	nodes 1 && evenstep bcast --local 1 -s 1Ki large "$here/dst/{node}/x" && arrived large
'

# --- bad input -----------------------------------------------------------------
mkdir folder
mkfifo pipe
while IFS='|' read -r what code options message; do
	test_expect_success "$what: exit $code, says so, and nothing arrives" '
		nodes 2 && eval "set -- $options" && test_expect_code $code evenstep bcast "$@" >out 2>err && test ! -s out &&
		said "evenstep: $message" && nothing_arrived
	'
done <<'END'
SRC that is not there|2|--local 2 nowhere dst/{node}/x|nowhere: No such file or directory: give a file that can be read
SRC that is a folder|1|--local 2 folder dst/{node}/x|folder: it is a directory: give -r to bring all that is in it
SRC that is a pipe|1|--local 2 pipe dst/{node}/x|pipe: it is not a regular file: write it to a file first
SRC that is a device|1|--local 2 /dev/zero dst/{node}/x|/dev/zero: it is not a regular file: write it to a file first
an empty SRC|2|--local 2 "" dst/{node}/x|: No such file or directory: give a file that can be read
no DST|2|--local 2 file|bcast: no DST: see .*
a third name, without {node}|2|--local 2 file dst/{node}/x y|with --local all nodes would write the same file: .*
DST that names a folder|2|--local 2 file dst/{node}/|DST "dst/\{node\}/" names no file: give the file's whole name
an empty DST|2|--local 2 file ""|DST "" names no file: .*
DST without {node}|2|--local 2 file dst/x|with --local all nodes would write the same file: give DST with \{node\} in it
chunks of 0|2|--local 2 -s 0 file dst/{node}/x|--size: "0" is out of range: give bytes from 1Ki to 4Mi, as .*
chunks below the limit|2|--local 2 -s 1023 file dst/{node}/x|--size: "1023" is out of range: give bytes from 1Ki to 4Mi, as .*
chunks over the limit|2|--local 2 -s 4097Ki file dst/{node}/x|--size: "4097Ki" is out of range: give bytes from 1Ki to 4Mi, as .*
chunks of 2^64 bytes|2|--local 2 -s 18446744073709551616 file dst/{node}/x|--size: .* is out of range: give bytes from 1Ki to 4Mi, as .*
chunks of a word|2|--local 2 -s k file dst/{node}/x|--size: "k" is no size: give bytes from 1Ki to 4Mi, as 125k or 1MiB
a fanout of 0|2|--local 2 -F 0 file dst/{node}/x|--fanout: "0" is out of range: give a whole number from 1 to 65536
a fanout of -1|2|--local 2 --branches=-1 file dst/{node}/x|--fanout: "-1" is out of range: give a whole number from 1 to 65536
a timeout of 0|2|--local 2 -t 0 file dst/{node}/x|--timeout: "0" is out of range: .*
a timeout that a healthy node could miss|2|--local 2 -t 2.9 file dst/{node}/x|--timeout: "2.9" is out of range: give seconds from 3 to 1000000, as .*
a timeout of nan|2|--local 2 -t nan file dst/{node}/x|--timeout: "nan" is no time: .*
an unknown pull|2|--local 2 --pull all file dst/{node}/x|--pull: "all" is unknown: give turn, chunk or node
an unknown option|2|--local 2 --fast file dst/{node}/x|--fast: no such option: see .*
a value that is missing|2|--local 2 file dst/{node}/x -s|--size: a value is missing: give --size SIZE
no nodes|2|--local 0 file dst/{node}/x|--local: "0" is out of range: .*
no allocation|3|file dst/x|no allocation: run it inside salloc or sbatch, or give --local N
END
test_expect_success 'a DST that is too long is refused' '
	long=$(head -c 4096 /dev/zero | tr "\0" x) &&
	test_expect_code 2 evenstep bcast --local 1 file "/$long" 2>err && said "evenstep: DST is longer than 4095 bytes: .*" &&
	test_expect_code 1 evenstep bcast --local 1 file "$here/${long%"${long#????????????????????????????????????????????????????????????????????????????????????????????????????}"}/x" 2>err &&
	said "evenstep: local0: .*: No such file or directory"
'
test_expect_success 'a name of any bytes is shown in one line, which a terminal does not obey' '
	nodes 2 && odd=$(printf "a\nb\033[31m\303\244") && test_expect_code 2 evenstep bcast --local 1 "$odd" "$here/dst/{node}/x" 2>err &&
	printf "%s\n" "evenstep: a\\nb\\033[31mä: No such file or directory: give a file that can be read" >want && test_cmp want err &&
	mkdir "dst/local1/$odd" && test_expect_code 1 evenstep bcast --local 2 file "$here/dst/{node}/$odd" 2>err &&
	said "evenstep: local1: .*/dst/local1/a\\\\nb\\\\033\[31mä: Is a directory" && test "$(wc -l <err)" = 2 &&
	cmp file "dst/local0/$odd"
'
while IFS='|' read -r what spoil reason mend; do
	test_expect_success "one node's DST is $what: named, the others have it, nothing half-written" '
		nodes 4 && eval "$spoil" && test_expect_code 1 evenstep bcast --local 4 file "$here/dst/{node}/x" 2>err &&
		said "evenstep: local2: .*/dst/local2/x: $reason" && said "evenstep: 1 of 4 nodes have not got the file: see the lines above; the others have it$mend" &&
		{ test ! -f dst/local2 || rm dst/local2; } && arrived file local0 local1 local3
	'
done <<'END'
in a folder that is not there|rmdir dst/local2|No such file or directory|; the folder of DST must be there
in what is no folder|rmdir dst/local2 && : >dst/local2|Not a directory|
a folder|mkdir dst/local2/x|Is a directory|; DST is the name of the copy, not that of its folder
END

# --- a disk that is full, a source that changes ----------------------------------
if test "$(id -u)" = 0 && mkdir -p disk && mount -t tmpfs -o size=256k tmpfs disk 2>&-; then
	umount disk
	test_set_prereq MOUNT
fi
test_expect_success MOUNT "one node's disk is full: named, the others have it, nothing half-written" '
	nodes 4 && mount -t tmpfs -o size=256k tmpfs dst/local1 &&
	test_expect_code 1 evenstep bcast --local 4 file "$here/dst/{node}/x" 2>err; code=$? &&
	find dst/local1 ! -type d >left; umount dst/local1 && test $code = 0 && test_cmp /dev/null left &&
	said "evenstep: local1: .*/dst/local1/x: No space left on device: [0-9.]+ [kM]B more are needed" && arrived file local0 local2 local3
'
head -c 300M /dev/zero >large
while IFS='|' read -r what change; do
	test_expect_success "SRC $what while it is read: exit 1, says so, and nothing arrives" '
		head -c 300M /dev/zero >large && nodes 1 && held && eval "$change" && go_on && test_expect_code 1 wait $run &&
		said "evenstep: large: it changes while it is read: broadcast it when nobody writes to it" &&
		nothing_left && nothing_arrived
	'
done <<'END'
grows|echo more >>large
shrinks|truncate -s 1M large
is written to|printf x | dd of=large conv=notrunc bs=1 seek=100000 2>dd
END
top_knows() {
	evenstep top --once >top.now 2>&1 && sed -n "/^bcast (pid $run) large: 2 nodes, /,\$p" top.now >seen &&
		grep -qE "^\[[#.]{20}\] .* of 629 MB" seen && test "$(grep -cE '^local[01] +working [#.]{10} .*/315 MB .*%' seen)" = 2
}
test_expect_success 'evenstep top shows how much of it each node has, while it is held' '
	head -c 300M /dev/zero >large && nodes 2 && held && wait_for 60 top_knows; code=$?; cat seen top.now; go_on && wait $run && { pid=$run; nothing_left; } && test $code = 0 &&
	test ! -e "/dev/shm/evenstep-$(id -u)/run-$pid"
'
test_expect_success 'SRC that is removed while it is read arrives' '
	nodes 1 && ln large same && held && rm large && go_on && wait $run && nothing_left &&
	mv same large && arrived large
'

# --- agents that die, the user who leaves ------------------------------------------
test_expect_success 'an agent killed in the middle: named, it leaves nothing, the others have it' '
	nodes 3 && held && set -- $agents && kill -KILL $2 && kill -CONT $1 $3 && test_expect_code 1 wait $run &&
	said "evenstep: local[0-2]: .*" && said "evenstep: 1 of 3 nodes have not got the file: .*" &&
	nothing_left && find dst ! -type d >got && cat got && test "$(wc -l <got)" = 2 && for x in dst/*/x; do cmp large $x || return 1; done
'
test_expect_success 'an agent that hangs: named after the timeout, the others have it' '
	nodes 3 && held -t 3 && set -- $agents && kill -CONT $1 $3 && test_expect_code 1 wait $run &&
	kill -CONT $2; said "evenstep: local[0-2]: no progress for 3 s" && nothing_left &&
	find dst ! -type d >got && cat got && test "$(wc -l <got)" = 2 && for x in dst/*/x; do cmp large $x || return 1; done
'
for signal in INT:130 TERM:143; do
	test_expect_success "SIG${signal%:*}: ends by it, and nothing is left" '
		nodes 2 && held && kill -s ${signal%:*} $run && go_on && test_expect_code ${signal#*:} wait $run &&
		said "evenstep: .*: nothing is left half-written" && nothing_left && nothing_arrived
	'
done
test_expect_success 'SIGHUP at an agent: it leaves nothing, the others have it' '
	nodes 2 && held && set -- $agents && kill -HUP $1 && go_on && test_expect_code 1 wait $run &&
	said "evenstep: 1 of 2 nodes have not got the file: .*" && nothing_left &&
	find dst ! -type d >got && cat got && test "$(wc -l <got)" = 1 && cmp large "$(cat got)"
'
test_expect_success 'kill -9 of evenstep: the agents go and leave nothing' '
	nodes 2 && held && kill -STOP $run && go_on && kill -KILL $run && test_expect_code 137 wait $run &&
	wait_for 60 dead $agents && rm -rf "$TMPDIR"/* && nothing_left && nothing_arrived
'

# --- without root -------------------------------------------------------------------
if test "$(id -u)" = 0; then
	chmod 755 . && cp file nobodys && chmod 600 nobodys
	as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups env TMPDIR="$here/nobody" "$@"; }
	mkdir nobody && chown nobody nobody
	if as_nobody sh -c 'test -w "$1" && "$0" --version' "$EVENSTEP_BUILD/evenstep" "$here/nobody" >out 2>err; then
		test_set_prereq NOBODY
	else
		say "skipping what needs no root: nobody cannot enter $PWD or $EVENSTEP_BUILD"
	fi
fi
test_expect_success NOBODY 'without root: a SRC that may not be read: exit 1, says so' '
	nodes 2 && chmod 777 dst/* && test_expect_code 1 as_nobody evenstep bcast --local 2 nobodys "$here/dst/{node}/x" 2>err &&
	said "evenstep: nobodys: Permission denied: give a file that can be read" && nothing_arrived
'
test_expect_success NOBODY "without root: one node's DST may not be written: named, the others have it" '
	nodes 3 && chmod 777 dst/* && chmod 755 dst/local1 && chmod 644 file &&
	test_expect_code 1 as_nobody evenstep bcast --local 3 file "$here/dst/{node}/x" 2>err &&
	said "evenstep: local1: .*/dst/local1/x: Permission denied" && arrived file local0 local2
'
test_expect_success NOBODY 'without root: a folder that may be written but not read is written' '
	nodes 2 && chmod 1733 dst/* && as_nobody evenstep bcast --local 2 file "$here/dst/{node}/x" && arrived file
'
while IFS='|' read -r options change nodes; do
	test_expect_success "other users may replace the copy ($options $change): one line" '
		nodes 3 && $change && evenstep bcast --local 3 $options file "$here/dst/{node}/x" 2>err && arrived file &&
		if test "$nodes"; then
			said "evenstep: $nodes: warning: other users may replace the copy: give a destination in a directory that only you may write to" && lines err 2
		else
			lines err 1
		fi
	'
done <<'END'
|chmod 777 dst/local0 dst/local1 dst/local2|local0 and 2 more
--update|chmod 777 dst/local0 dst/local1 dst/local2|local0 and 2 more
|chmod 707 dst/local1|local1
|chmod 1777 dst/local1|
|chmod 775 dst/local1|
END
test_expect_success NOBODY "also where it belongs to another, and all may write with the sticky bit" '
	nodes 2 && chown nobody dst/local1 && chmod 1777 dst/local1 && evenstep bcast --local 2 file "$here/dst/{node}/x" 2>err && arrived file &&
	said "evenstep: local1: warning: other users may replace the copy: .*" && lines err 2
'
test_expect_success 'no temporary file is left' '
	ls -A "$TMPDIR" >left && test_cmp /dev/null left
'
# Of 900,000 bytes to nine nodes the published tree makes three chunks.
test_expect_success 'bcast { scheme = "strict" }: the published tree, also for what run brings' '
	printf "bcast {\n scheme = \"strict\"\n}\n" >strict.conf && head -c 900000 /dev/urandom >nine && rm -rf to && mkdir to &&
	evenstep bcast --local 9 --json nine "$PWD/to/{node}" >got && jq -e ".chunks > 3 and .nodes == 9" got &&
	EVENSTEP_CONF=strict.conf evenstep bcast --local 9 --json -f nine "$PWD/to/{node}" >got && cat got && jq -e ".chunks == 3 and .pulls > 0" got &&
	for each in $(seq 0 8); do cmp nine to/local$each || return 1; done &&
	EVENSTEP_CONF=strict.conf evenstep run --local 9 --metrics equal --bcast "nine:$PWD/to/run-{node}" --range 0:9 --pieces 1 \
		-- cmp nine "$PWD/to/run-{node}"
'
in_the_middle() { test ! -e to/local1 && opened 20 "$here/to/*"; } # those below agent 1, too, have begun
bring_24() { rm -rf to pid && mkdir to && exec env EVENSTEP_CONF=noting.conf evenstep bcast --local 24 large "$here/to/{node}"; }
# Agent 1 has the orders of 16 to 23 to pass on.
test_expect_success 'an agent with others below it is killed in the middle: they have it, and nothing is half' '
	cat >noting <<-END && chmod +x noting && echo "plugin { agent_path = \"$PWD/noting\" }" >noting.conf &&
	#!/bin/sh
	test \$EVENSTEP_AGENT != local1 || echo \$\$ >"$PWD/pid"
	exec "$EVENSTEP_BUILD/evenstep-agent"
	END
	head -c 40000000 /dev/urandom >large && held_while in_the_middle 24 bring_24 && kill -KILL "$(cat pid)" &&
	kill -CONT $agents 2>&-; test_expect_code 1 wait $run && run= && said "evenstep: local1: .*" &&
	for each in 0 $(seq 2 23); do cmp large to/local$each || return 1; done && test ! -e to/local1 && rm large to/*
'
test_done
