#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast --compress: fewer bytes on the wire, the same bytes on the nodes'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$PWD

# --- helpers -------------------------------------------------------------------
seq 400000 >soft                     # 2.7 MB
head -c 2000000 /dev/urandom >hard
cat soft hard soft >mixed
mkdir -p tree/a && cp soft hard tree && head -c 100000 soft >tree/a/part && : >tree/empty

nodes() { # N: a folder for each
	n=$1
	rm -rf dst && for i in $(seq 0 $((n - 1))); do mkdir -p dst/local"$i" || return 1; done
}
arrived() { # SRC: it is on all of them
	for i in $(seq 0 $((n - 1))); do diff -r "$1" dst/local"$i"/x || return 1; done
}
value() { sed "s/.*\"$1\":\([0-9.]*\).*/\1/" out; }
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }
bcast() { evenstep bcast --local "$n" --no-sync --json "$@" "$here/dst/{node}/x" >out 2>err; }

# --- what arrives --------------------------------------------------------------
for n in 1 3 8; do
	for way in lz4 zstd; do
		test_expect_success "$way to $n nodes: all have the file, and fewer bytes were sent" '
			nodes $n && bcast --compress=$way mixed && arrived mixed &&
			below $(value compressed_to) 0.8 && below $(value home_bytes_sent) $((n < 3 ? 7000000 : 8000000))
		'
	done
	test_expect_success "auto to $n nodes: all have the file" '
		nodes $n && bcast --compress=auto mixed && arrived mixed && below 0 $(value compressed_to)
	'
done
n=4
test_expect_success 'what does not get smaller goes as it is' '
	nodes 4 && bcast --compress=zstd hard && arrived hard && test "$(value compressed_to)" = 1.0
'
test_expect_success 'without it nothing is compressed, and nothing is said of it' '
	nodes 4 && bcast soft && arrived soft && ! grep compressed out && below 2600000 $(value home_bytes_sent)
'
test_expect_success 'a file of any size' '
	for size in 0 1 4096 4097 70000; do
		head -c $size soft >part && nodes 4 && bcast --compress=lz4 part && arrived part || return 1
	done
'
test_expect_success 'in chunks of any size' '
	for size in 1Ki 4Ki 300Ki 4Mi; do nodes 4 && bcast --compress=zstd -s $size mixed && arrived mixed || return 1; done
'
test_expect_success 'a folder, with and without a cache, and an update of it' '
	nodes 4 && bcast --compress=zstd -r tree && arrived tree && below $(value compressed_to) 0.8 &&
	bcast --compress=zstd -r --cache="$here/cache-{node}" -f tree && arrived tree &&
	seq 5 >tree/new && bcast --compress=zstd -r --update -f tree && arrived tree
'
test_expect_success 'by the tree and the pull as published, and read back' '
	nodes 8 && bcast --compress=lz4 --strict --verify mixed && arrived mixed
'
test_expect_success 'with all connections encrypted' '
	echo "encrypt = true" >conf && nodes 4 && EVENSTEP_CONF=$here/conf bcast --compress=zstd soft && arrived soft &&
	below $(value home_bytes_sent) 1300000
'
test_expect_success 'as the configuration says, but for what is asked for' '
	echo "bcast { compress = \"lz4\" }" >conf && EVENSTEP_CONF=$here/conf evenstep config | grep -qx "  compress = .lz4." &&
	nodes 4 && EVENSTEP_CONF=$here/conf bcast soft && arrived soft && below $(value compressed_to) 0.9 &&
	EVENSTEP_CONF=$here/conf bcast -f --compress=none soft && arrived soft && ! grep compressed out
'
test_expect_success 'one line tells of it, and so does the report' '
	nodes 2 && evenstep bcast --local 2 --compress=zstd --report=r soft "$here/dst/{node}/x" 2>err &&
	said "evenstep: 2.7 MB, compressed to [0-9]+ %, to 2 nodes in .* s" && grep -q "\"compressed_to\":0\.[0-9]*" r
'
test_expect_success 'for the files of a run, too' '
	echo "bcast { compress = \"zstd\" }" >conf && nodes 2 &&
	EVENSTEP_CONF=$here/conf evenstep run --local 2 --range 0:4 --bcast soft:"$here/dst/{node}/x" -- true {begin} {end} && n=2 && arrived soft
'

# --- bad input -----------------------------------------------------------------
test_expect_success 'a method that there is not is refused, by option and by configuration' '
	fails 2 "evenstep: --compress: .*gzip.*none.*lz4.*zstd.*auto.*" evenstep bcast --local 1 --compress=gzip soft /x &&
	echo "bcast { compress = \"gzip\" }" >bad && EVENSTEP_CONF=$here/bad \
		fails 2 "evenstep: .*/bad:1: bcast: compress is out of range: give \"none\", \"lz4\", \"zstd\" or \"auto\"" evenstep config
'

test_done
