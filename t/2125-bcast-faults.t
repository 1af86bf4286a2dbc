#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast --update, --compress and --cache: kills in the middle, a file of 1 TB, caches that are not to be trusted'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$PWD run=''
dst="$here/dst/{node}/x"
trap 'code=$?; end_ours $run $agents; umount cache/local0 dst/local1 2>&-; (exit $code); die' EXIT

# --- helpers -------------------------------------------------------------------
nodes() { # N: a folder for each: dst/local0, ..., and no caches
	n=$1
	rm -rf dst cache && mkdir cache && for i in $(seq 0 $((n - 1))); do mkdir -p dst/local"$i" || return 1; done
}
# at_it: each node has a tree without a name, and none has "new" yet, whose mark "old" lacks.
at_it() {
	for node in local0 local1 local2; do
		for tree in "dst/$node"/.evenstep-tree-*; do test -e "$tree" || return; done
		test ! -e dst/$node/x/mark || return
	done
}
bring() {
	nodes 3 && { test ! -e kept || cp -a kept/. cache/; } || return
	test "$without_old" || for node in local0 local1 local2; do cp -r old dst/$node/x || return; done
	exec env --default-signal=INT evenstep bcast --local 3 -r --no-sync "$@" new "$dst"
}
# held OPTIONS...: a broadcast of "new" to three nodes that have "old" (or nothing, with without_old set),
# whose agents are stopped in its middle.
held() { held_while at_it 3 bring "$@"; }
# shellcheck disable=SC2086 # lists of numbers
ended() { wait_for 60 dead $run $agents && run=''; }
# whole NODE: it has all of the one tree or all of the other, or with without_old nothing.
whole() {
	{ test "$without_old" && test ! -e dst/"$1"/x; } || diff -r old dst/"$1"/x >/dev/null || diff -r new dst/"$1"/x
}

mkdir old new
for i in $(seq 40); do head -c 500000 /dev/urandom >old/"$i" && seq "$i" 90000 >new/"$i"; done
: >old/gone
: >new/mark

# --- kills ---------------------------------------------------------------------
for signal in INT:130 TERM:143; do
	test_expect_success "SIG${signal%:*} in the middle of --update --delete: each node has all of what it had" '
		without_old="" && held --update --delete && kill -s ${signal%:*} $run && kill -CONT $agents && test_expect_code ${signal#*:} wait $run && ended &&
		for each in local0 local1 local2; do diff -r old dst/$each/x || return 1; done
	'
done
# killed OPTIONS...: each of the agents in turn, and two at once.
# shellcheck disable=SC2086 # likewise
killed() {
	for which in 1 2 3 "1 3"; do
		held "$@" && set_agents=$agents || return 1
		for each in $which; do kill -KILL "$(echo $set_agents | cut -d" " -f"$each")" || return 1; done
		kill -CONT $set_agents 2>&-
		test_expect_code 1 wait $run && ended || return 1
		left=0
		for each in local0 local1 local2; do
			whole $each || return 1
			! diff -r new dst/$each/x >/dev/null 2>&1 || left=$((left + 1))
		done
		test $left = $((3 - $(echo $which | wc -w))) || { cat err && return 1; }
	done
}
test_expect_success 'agents killed in the middle of --update --delete: the others have all of it, and they what they had' '
	without_old="" && killed --update --delete
'
test_expect_success 'of --compress: the others have all of it, and they nothing' '
	without_old=1 && killed --compress=zstd && killed --compress=auto
'
test_expect_success 'of both, and with a cache' '
	without_old="" && killed --update --delete --compress=lz4 --cache="$here/cache/{node}"
'

test_expect_success 'of one that two of the three have in their caches' '
	nodes 3 && cp -r old dst/local0/x && cp -r old dst/local1/x && cp -r old dst/local2/x &&
	evenstep bcast --local 3 -r --no-sync --update --cache="$here/cache/{node}" new "$dst" && rm -r cache/local2 && mv cache kept &&
	without_old="" && killed --update --delete --cache="$here/cache/{node}"
'

# shellcheck disable=SC2046 # numbers
is_known() { # the agent of local2, as $victim
	victim=$(grep -lzsx EVENSTEP_AGENT=local2 /dev/null $(pgrep -P $run -x evenstep-agent | sed "s,.*,/proc/&/environ,") | cut -d/ -f3)
	test "$victim"
}
has_file() { # local2 has one of its tree
	for file in dst/local2/.evenstep-tree-*/[0-9]*; do ! test -s "$file" || return 0; done
	return 1
}
# last_killed: the agent that alone lacks it, in the middle; that may be too late.  To wait
# for it would take longer than is waited here.
last_killed() {
	without_old=1 agents=''
	for again in $(seq 20); do
		behind bring -t 100 --cache="$here/cache/{node}"
		until is_known || dead $run; do :; done
		until has_file || dead $run; do :; done
		kill -KILL "$victim"
		wait_for 60 dead $run || return
		wait $run || { run='' && return; }
	done
	return 1
}
test_expect_success 'with the last that lacks it gone nobody is served any more, nor waited for' '
	last_killed && diff -r new dst/local0/x && diff -r new dst/local1/x && test ! -e dst/local2/x && rm -r kept
'

# --- large, and not to be trusted ------------------------------------------------
is_byte() { # FILE
	test "$(stat -c %s "$1")" = 1099511627776 && test "$(stat -c %b "$1")" -lt 100 &&
		test "$(dd if="$1" bs=1 skip=700000000000 count=1 2>/dev/null)" = x
}
test_expect_success 'a file of 1 TB that is a hole but for its middle' '
	nodes 2 && mkdir tera && truncate -s 1T tera/byte && printf x | dd of=tera/byte bs=1 seek=700000000000 conv=notrunc 2>/dev/null &&
	evenstep bcast --local 2 -r --json tera "$dst" >out && for each in local0 local1; do is_byte dst/$each/x/byte || return 1; done
'
test_expect_success 'without -r, too, and before a run' '
	nodes 2 && evenstep bcast --local 2 tera/byte "$dst" 2>err && said "evenstep: [0-9.]+ (bytes|kB) to 2 nodes in .* s" &&
	evenstep run --local 2 --metrics equal --range 0:2 --bcast "tera/byte:$dst.run" -- true "{begin}" "{end}" &&
	for each in dst/*/*; do is_byte $each || return 1; done && ls -d dst/*/* >left && lines left 4
'
test_expect_success 'where a file system has no holes it does not fit: each node is named before a byte is written, and nothing is left' '
	nodes 2 && rm -f log && for options in "" "--update"; do
		test_expect_code 1 env LD_PRELOAD="$EVENSTEP_BUILD/t/programs/disk.so" DISK_DENSE=100000000 DISK_LOG="$here/log" evenstep bcast --local 2 $options tera/byte "$dst" 2>err &&
			said "evenstep: local0: .*: No space left on device: [0-9.]+ [kMG]B more are needed" && said "evenstep: local1: .*: No space left on device: [0-9.]+ [kMG]B more are needed" &&
			said "evenstep: 2 of 2 nodes have not got the file: see the lines above" || return 1
	done && find dst -mindepth 2 >left && test_cmp /dev/null left && ! grep ^full log
'
if test "$(id -u)" = 0 && mkdir -p disk && mount -t tmpfs tmpfs disk 2>&-; then
	umount disk && test_set_prereq MOUNT
fi
test_expect_success MOUNT 'a cache in memory is told, one of another user is not used' '
	nodes 2 && mkdir -m 700 cache/local0 cache/local1 && mount -t tmpfs -o mode=700 tmpfs cache/local0 && chown 1 cache/local1 &&
	evenstep bcast --local 2 -r --cache="$here/cache/{node}" new "$dst" 2>err && diff -r new dst/local0/x && diff -r new dst/local1/x &&
	said "evenstep: local0: the cache .*/cache/local0 is in memory .tmpfs., where it takes what jobs may need" &&
	said "evenstep: local1: the cache .*/cache/local1 is not used: it is not this user.s alone" &&
	find cache/local1 -type f >kept && test_cmp /dev/null kept
'
umount cache/local0 2>&-
test_expect_success MOUNT "one node's disk is read-only: named, the others have the file, and the folder" '
	nodes 3 && mount -t tmpfs -o ro tmpfs dst/local1 &&
	{ evenstep bcast --local 3 new/1 "$dst" 2>err; test $? = 1; } && said "evenstep: local1: .*/dst/local1/x: Read-only file system" && cmp new/1 dst/local2/x &&
	rm dst/local0/x dst/local2/x && { evenstep bcast --local 3 -r new "$dst" 2>err; test $? = 1; } &&
	said "evenstep: local1: .*/dst/local1/x: Read-only file system" && diff -r new dst/local0/x && diff -r new dst/local2/x &&
	{ evenstep bcast --local 3 -r --update new "$dst" 2>err; test $? = 1; } && said "evenstep: local1: .*/dst/local1/x: Read-only file system" &&
	test -z "$(ls -A dst/local1)"
'
umount dst/local1 2>&-
test_done
