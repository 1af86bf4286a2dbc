#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast to a slow disk, and to one with a quota: real file systems in files'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$(pwd -P) group=''
dst="$here/dst/{node}"
trap 'code=$?; end_ours $run; clean_up; (exit $code); die' EXIT

# --- helpers -------------------------------------------------------------------
# local1's folder is on a file system of its own.
clean_up() {
	! mountpoint -q dst/local1 || wait_for 60 umount dst/local1
	test -z "$group" || rmdir "$group"
	group=''
}
on_image() { # MKFS...: local1's folder is there
	rm -rf dst image && mkdir -p dst/local0 dst/local1 && truncate -s 256M image && "$@" image >/dev/null 2>&1 && mount -o loop image dst/local1
}
# paced RATE: a group of this script, in which local1's disk takes RATE bytes a second.
paced() {
	device=$(cat "/sys/block/$(basename "$(findmnt -no SOURCE dst/local1)")/dev") || return 1
	if test -w /sys/fs/cgroup/blkio/blkio.throttle.write_bps_device; then
		group=/sys/fs/cgroup/blkio/evenstep-t-$$ && mkdir "$group" && echo "$device $1" >"$group/blkio.throttle.write_bps_device"
	else
		grep -qsw io /sys/fs/cgroup/cgroup.subtree_control || return 1
		group=/sys/fs/cgroup/evenstep-t-$$ && mkdir "$group" && echo "$device wbps=$1" >"$group/io.max"
	fi
}
# shellcheck disable=SC2016 # of the inner shell
enter='echo $$ >"$0/cgroup.procs" && exec "$@"'
in_group() { sh -c "$enter" "$group" "$@"; }
command -v findmnt mountpoint >/dev/null && on_image mkfs.ext4 -q -F && paced 1000000 && test_set_prereq SLOW
clean_up
command -v mkfs.btrfs btrfs >/dev/null && on_image mkfs.btrfs -q -f && test_set_prereq QUOTA
clean_up
head -c 12M /dev/urandom >file
mkdir tree && for i in $(seq 60); do head -c 100000 /dev/urandom >tree/"$i" || exit 1; done

# --- a disk that takes 1.5 MB a second ------------------------------------------
test_expect_success SLOW 'up: a disk of 1.5 MB/s' 'on_image mkfs.ext4 -q -F && paced 1500000'
test_expect_success SLOW 'a node whose disk is slow is not given up, and the others do not wait for it' '
	in_group evenstep bcast --local 2 --timeout 3 --json file "$dst/x" >out 2>err; code=$?; cat out err; test $code = 0 && test ! -s err &&
	cmp file dst/local0/x && cmp file dst/local1/x && jq -e ".node_seconds.local0 < .node_seconds.local1 * 0.7" out
'
test_expect_success SLOW 'nor are those of a folder, nor with --verify' '
	in_group evenstep bcast --local 2 -r --timeout 3 tree "$dst/t" && diff -r tree dst/local1/t &&
	in_group evenstep bcast --local 2 -f --timeout 3 --verify file "$dst/x" && cmp file dst/local1/x
'
test_expect_success SLOW 'SIGINT while the slow one writes: it has nothing, or all' '
	rm -r dst/local?/t dst/local?/x && behind env --default-signal=INT sh -c "$enter" "$group" evenstep bcast --local 2 --timeout 3 file "$dst/x" &&
	wait_for 60 test -e dst/local0/x && kill -INT $run && test_expect_code 130 wait $run && run="" && wait_for 60 umount dst/local1 &&
	mount -o loop image dst/local1 && { test ! -e dst/local1/x || cmp file dst/local1/x; } && ! ls -A dst/local1 | grep evenstep
'
clean_up

# --- a quota of 4 MB --------------------------------------------------------------
test_expect_success QUOTA 'up: a quota of 4 MB' '
	on_image mkfs.btrfs -q -f && btrfs subvolume create dst/local1/own && btrfs quota enable dst/local1 && btrfs qgroup limit 4M dst/local1/own
'
dst="$here/dst/{node}/own"
test_expect_success QUOTA 'a file that is over it: one line names the node, and nothing is left there' '
	mkdir dst/local0/own && test_expect_code 1 evenstep bcast --local 2 file "$dst/x" 2>err &&
	said "evenstep: local1: $here/dst/local1/own/x: Disk quota exceeded" && grep -c "local1:" err >n && echo 1 >one && test_cmp one n &&
	cmp file dst/local0/own/x && test -z "$(ls -A dst/local1/own)"
'
test_expect_success QUOTA 'so it is of a folder, of --update, and of what run brings, before it runs anything' '
	test_expect_code 1 evenstep bcast --local 2 -r tree "$dst/t" 2>err && said "evenstep: local1: $here/dst/local1/own/t: Disk quota exceeded" &&
	diff -r tree dst/local0/own/t && test -z "$(ls -A dst/local1/own)" &&
	test_expect_code 1 evenstep bcast --local 2 -r --update tree "$dst/t" 2>err && mentioned "^evenstep: local1: $here/dst/local1/own/t.*: Disk quota exceeded" && test -z "$(ls -A dst/local1/own)" &&
	test_expect_code 1 evenstep run --local 2 --range 0:2 --bcast "file:$dst/y" -- touch ran 2>err && test ! -e ran &&
	said "evenstep: local1: $here/dst/local1/own/y: Disk quota exceeded" && test -z "$(ls -A dst/local1/own)"
'
test_expect_success QUOTA 'what is there stays as it was, and what fits comes' '
	head -c 1M file >small && evenstep bcast --local 2 -f small "$dst/x" && cmp small dst/local1/own/x &&
	test_expect_code 1 evenstep bcast --local 2 -f file "$dst/x" 2>err && said "evenstep: local1: .*: Disk quota exceeded" && cmp small dst/local1/own/x &&
	ls -A dst/local1/own >there && echo x >one && test_cmp one there
'
clean_up
test_done
