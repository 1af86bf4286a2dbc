#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast where a bit flips on its way: the chunk comes again, and every file is whole'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$PWD

nodes() { # N: a folder for each: dst/local0, ...
	n=$1
	rm -rf dst log && for i in $(seq 0 $((n - 1))); do mkdir -p dst/local"$i" || return 1; done
}
# flipping IN AT N OPTIONS...: "bytes" to all, with so many flips (t/programs/flip.c).
flipping() {
	flip="FLIP_IN=$1 FLIP_AT=$2 FLIP_N=$3" && shift 3
	# shellcheck disable=SC2086 # words
	timeout 60 env LD_PRELOAD="$EVENSTEP_BUILD/t/programs/flip.so" FLIP_LOG="$here/log" $flip \
		evenstep bcast --local $n --no-sync "$@" bytes "$here/dst/{node}/x" >out 2>err
}
# whole WAY HOW: every node has it, and there were flips, of that kind only.
whole() {
	cat err
	for i in $(seq 0 $((n - 1))); do cmp bytes dst/local"$i"/x || return 1; done
	test "$(sort -u log)" = "$1 $2"
}

seq 400000 | head -c 2000000 >bytes
while IFS='|' read -r nodes in how options; do
	for at in 1 2 7; do
		test_expect_success "one in what goes by $in, $how, piece $at, $nodes nodes, $options" '
			nodes $nodes && flipping $in $at 1 -s 64Ki $options && whole $in $how
		'
	done
done <<'END'
1|home|plain|--compress=none
3|home|plain|--compress=none
1|home|packed|--compress=zstd
3|home|packed|--compress=lz4
3|home|plain|--strict
3|home|plain|-r
3|tree|plain|--compress=none
3|tree|plain|-r
3|tree|packed|--compress=lz4
3|tree|packed|--compress=zstd
4|pull|plain|--strict
4|pull|packed|--strict --compress=lz4
4|pull|packed|--strict --compress=zstd
END
for conf in 'encrypt = true' 'bcast { threads = "3" }' 'bcast { threads = "1" }'; do
	test_expect_success "with $conf" '
		echo "$conf" >conf && for nodes in 1 3; do
			nodes $nodes && EVENSTEP_CONF=$here/conf flipping home 2 1 -s 64Ki && whole home plain || return 1
		done &&
		nodes 3 && EVENSTEP_CONF=$here/conf flipping tree 2 1 -s 64Ki --compress=zstd && whole tree packed
	'
done
test_expect_success 'five, one after the other' '
	nodes 2 && flipping home 3 5 -s 64Ki && whole home plain
'
for pack in none zstd; do
	test_expect_success "where all between nodes is damaged, the front end sends it: $pack" '
		nodes 3 && flipping tree 1 1000000 -s 64Ki --compress=$pack && whole tree "$(test $pack = none && echo plain || echo packed)"
	'
	test_expect_success "where none comes whole: it ends, and says why, not that the file changes: $pack" '
		nodes 1 && test_expect_code 1 flipping home 1 1000000 -s 64Ki --compress=$pack &&
		said "evenstep: local0: too many chunks were damaged on their way from the front end: check this node.s memory and network" &&
		! mentioned "it changes" && test ! -e dst/local0/x
	'
done
test_done
