#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast -r: a folder on every node, the same in all, or none of it'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$PWD

# --- helpers -------------------------------------------------------------------
nodes() { # N: a folder for each: dst/local0, ...
	n=$1
	chmod -R u+rwx dst 2>&-
	rm -rf dst && for i in $(seq 0 $((n - 1))); do mkdir -p dst/local"$i" || return 1; done
}
# All that can be seen of a tree but its bytes.
listed() { (cd "$1" && find . ! -type p -printf '%p %y %m %T@ %s %l\n' | grep -v '^\. ' | sort); }
is_same() { # SRC COPY
	diff -r --no-dereference --exclude=pipe "$1" "$2" && listed "$1" | sed 's/ d \([0-9]*\) \([^ ]*\) [0-9]* / d \1 \2 /' >want &&
		listed "$2" | sed 's/ d \([0-9]*\) \([^ ]*\) [0-9]* / d \1 \2 /' >got && test_cmp want got
}
# The tree is on all nodes, or those that are named, and nothing else is.
arrived() { # SRC [NODE...]
	src=$1
	shift
	test $# -gt 0 || set -- $(seq -f local%g 0 $((n - 1)))
	for node; do is_same "$src" dst/"$node"/x || return 1; done
	find dst -mindepth 2 -maxdepth 2 | sort >got && for node; do echo "dst/$node/x"; done | sort >want && test_cmp want got
}
nothing_arrived() { find dst -mindepth 2 >left && test_cmp /dev/null left; }

mkdir -p src/a/b "src/empty folder" src/closed
head -c 700000 /dev/urandom >src/large
for i in $(seq 40); do head -c $((i * 997)) /dev/urandom >src/a/f"$i"; done
ln src/a/f1 src/a/b/hard
ln -s ../f2 src/a/b/link
ln -s /nowhere src/dangling
: >src/none
printf '#!/bin/sh\necho it runs\n' >src/run
chmod 750 src/run
printf 'a name of any bytes' >"src/$(printf 'new\nline \377')"
printf x | dd of=src/sparse bs=1 seek=20000000 conv=notrunc 2>/dev/null
printf secret >src/closed/x
mkfifo src/pipe
chmod 400 src/closed/x
chmod 500 src/closed
touch -d @-1.5 src/a/f3
touch -d @1234567890.5 src/a "src/empty folder" src/closed src

# --- it arrives ----------------------------------------------------------------
test_expect_success 'files that take long to open are opened by several threads, and all is as it was' '
	mkdir -p slow/a slow/b && for i in $(seq 120); do head -c $((i * 37)) src/large >slow/a/$i && echo $i >slow/b/$i || return 1; done && : >slow/none &&
	nodes 2 && env LD_PRELOAD="$EVENSTEP_BUILD/t/programs/disk.so" DISK_SLOW=2 DISK_LOG="$here/log" evenstep bcast --local 2 -r slow "$here/dst/{node}/x" &&
	arrived slow && test "$(grep -c "^slow" log)" -ge 4
'
test_expect_success 'one of anything is told as one' '
	mkdir -p lone && : >lone/file && nodes 1 && evenstep bcast --local 1 -r lone "$here/dst/{node}/x" 2>err && said "evenstep: 0 bytes in 1 file or folder to 1 node in .* s" &&
	mkdir lone/folder && nodes 2 && evenstep bcast --local 2 -r lone "$here/dst/{node}/x" 2>err && said "evenstep: 0 bytes in 2 files and folders to 2 nodes in .* s"
'
for n in 1 3 8; do
	test_expect_success "a folder is the same on $n nodes, with times, modes and links" '
		nodes $n && evenstep bcast --local $n -r src "$here/dst/{node}/x" 2>err &&
		said "evenstep: [0-9.]+ MB in 53 files and folders to $n nodes? in .* s" &&
		mentioned "sockets, pipes and devices are left out: 1" && arrived src && dst/local0/x/run >out && grep -q "it runs" out
	'
done
test_expect_success 'a pipe counts as left out where it was wanted, not where it was excluded or is not listed' '
	evenstep bcast --local 1 -r --exclude pipe src "$here/dst/{node}/no" 2>err && ! mentioned "are left out" &&
	echo a/f1 >listed && evenstep bcast --local 1 -r --files-from listed src "$here/dst/{node}/less" 2>err && ! mentioned "are left out" &&
	printf "a/f1\npipe\n" >listed && evenstep bcast --local 1 -r --files-from listed src "$here/dst/{node}/both" 2>err && mentioned "sockets, pipes and devices are left out: 1" &&
	test -e dst/local0/both/a/f1
'
test_expect_success '/ as the source: what is listed and excluded has its path below it' '
	echo "${here#/}/src/a" >listed && evenstep bcast --local 1 -r --files-from listed --exclude "${here#/}/src/a/f3" / "$here/dst/{node}/root" 2>err &&
	cmp "dst/local0/root$here/src/a/f1" src/a/f1 && test ! -e "dst/local0/root$here/src/a/f3"
'
if unshare -m mount --bind / / 2>/dev/null; then test_set_prereq MOUNT; fi
test_expect_success MOUNT 'a folder that is within itself is told as such' '
	mkdir -p ring/in && test_expect_code 1 unshare -m sh -c "mount --bind ring ring/in && exec evenstep bcast --local 1 -r ring \"$here/dst/{node}/ring\"" 2>err &&
	{ said "evenstep: ring/in: this folder is within itself: leave it out with --exclude" || said "evenstep: ring/in/in: this folder is within itself: leave it out with --exclude"; }
'
test_expect_success 'hard links stay one file, and holes stay holes' '
	test dst/local0/x/a/f1 -ef dst/local0/x/a/b/hard && test "$(stat -c %b dst/local0/x/sparse)" -lt 1000
'
for options in --verify --strict '--strict --pull chunk -F 2' '-s 1Ki' '-s 1M --no-sync' '--branches 1 -p'; do
	test_expect_success "with $options" '
		nodes 3 && evenstep bcast --local 3 -r $options src "$here/dst/{node}/x" 2>err && arrived src
	'
done
test_expect_success 'an empty folder, and one of which nothing has bytes' '
	mkdir empty && nodes 2 && evenstep bcast --local 2 -r empty "$here/dst/{node}/x" && arrived empty &&
	mkdir hollow && : >hollow/a && ln -s a hollow/b && nodes 2 && evenstep bcast --local 2 -r hollow "$here/dst/{node}/x" && arrived hollow
'
test_expect_success 'several sources are in DST, under their names' '
	nodes 2 && evenstep bcast --local 2 -r src/a src/large "src/empty folder/" "$here/dst/{node}/x/" &&
	for i in 0 1; do is_same src/a dst/local$i/x/a && cmp src/large dst/local$i/x/large &&
		ls dst/local$i/x >got && test "$(wc -l <got)" = 3 || return 1; done
'
test_expect_success 'several files need no -r; a file with -r is a file' '
	nodes 1 && evenstep bcast --local 1 src/large src/run "$here/dst/{node}/x" && cmp src/run dst/local0/x/run &&
	nodes 1 && evenstep bcast --local 1 -r src/large "$here/dst/{node}/x" && cmp src/large dst/local0/x
'
test_expect_success '--exclude: by name, and by path' '
	nodes 1 && evenstep bcast --local 1 -r --exclude "f1*" --exclude a/b --exclude closed src "$here/dst/{node}/x" &&
	test ! -e dst/local0/x/a/f10 && test ! -e dst/local0/x/a/b && test ! -e dst/local0/x/closed && test -e dst/local0/x/a/f2
'
test_expect_success '--json: what was done' '
	nodes 2 && evenstep bcast --local 2 -r --json src "$here/dst/{node}/x" >out && cat out &&
	jq -e ".files == 53 and .left_out == 1 and .nodes == 2 and .bytes > 1500000 and .bytes < 1600000
		and .home_bytes_sent >= .bytes and .seconds > 0 and (.node_seconds | length == 2)" out
'
test_expect_success 'a source that is a link is followed' '
	ln -s src/a link && nodes 1 && evenstep bcast --local 1 -r link "$here/dst/{node}/x" && arrived src/a
'
test_expect_success 'run --bcast brings folders, too' '
	nodes 2 && evenstep run --local 2 --bcast "src/a:$here/dst/{node}/x" --range 0:2 -- true && arrived src/a
'

# --- what is there -------------------------------------------------------------
test_expect_success 'DST that is there: refused on that node, the others have it; -f replaces all of it' '
	nodes 3 && mkdir -p dst/local1/x/old && echo old >dst/local1/x/old/file && chmod 500 dst/local1/x/old &&
	test_expect_code 1 evenstep bcast --local 3 -r src "$here/dst/{node}/x" 2>err &&
	said "evenstep: local1: .*/dst/local1/x: File exists" && said "evenstep: 1 of 3 nodes have not got the tree: see the lines above; the others have it; -f replaces what is there" &&
	test "$(cat dst/local1/x/old/file)" = old && is_same src dst/local0/x && is_same src dst/local2/x &&
	evenstep bcast --local 3 -r -f src "$here/dst/{node}/x" && arrived src
'
test_expect_success 'no node can have it: each says why' '
	nodes 2 && mkdir dst/local0/x dst/local1/x && test_expect_code 1 evenstep bcast --local 2 -r src "$here/dst/{node}/x" 2>err &&
	said "evenstep: local0: .*: File exists" && said "evenstep: local1: .*: File exists" && said "evenstep: 2 of 2 nodes have not got the tree: see the lines above; -f replaces what is there" &&
	rmdir dst/*/x && nothing_arrived
'

# --- bad input -----------------------------------------------------------------
test_expect_success 'absolute links into the source: one line names them; --relocate-links makes them lead into the copy' '
	mkdir -p env/lib/deep other && echo real >env/lib/real && echo far >far && ln -s "$PWD/env/lib/real" env/lib/abs && ln -s "$PWD/env//lib/real" env/lib/deep/abs && ln -s "$PWD/env" env/self &&
	ln -s "$PWD/env/none" env/dangling && ln -s "$PWD/far" env/out && ln -s lib/real env/rel && ln -s "$PWD/environment" env/near && ln -s "$PWD/env/lib" other/lib &&
	rm -rf copy && evenstep bcast --local 1 -r env "$PWD/copy" 2>err &&
	said "evenstep: warning: dangling and 3 more: absolute links into what is brought: in the copy they lead to the source: evenstep bcast --relocate-links makes them relative" && test "$(readlink copy/lib/abs)" = "$PWD/env/lib/real" &&
	rm -rf copy && evenstep bcast --local 1 -r --relocate-links env "$PWD/copy" 2>err && ! grep absolute err &&
	for each in lib/abs:lib/real lib/deep/abs:../lib/real self:. dangling:none "out:$PWD/far" rel:lib/real "near:$PWD/environment"; do
		case $each in lib/abs:*) want=../lib/real ;; lib/deep/abs:*) want=../../lib/real ;; *) want=${each#*:} ;; esac
		test "$(readlink "copy/${each%%:*}")" = "$want" || { echo "$each: $(readlink "copy/${each%%:*}")" && return 1; }
	done && test "$(cat copy/lib/deep/abs copy/lib/abs)" = "real
real" &&
	rm -rf copy && evenstep bcast --local 1 -r --relocate-links env other "$PWD/copy" 2>err && test "$(readlink copy/other/lib)" = ../env/lib && test -e copy/other/lib/real &&
	ln -s env alias && rm -rf copy && evenstep bcast --local 1 -r --relocate-links alias "$PWD/copy" 2>err && test "$(readlink copy/lib/abs)" = ../lib/real &&
	rm -rf copy && evenstep run --local 1 --range 0:1 --bcast "env:$PWD/copy" -- true 2>err && said "evenstep: warning: dangling and 3 more: .*"
'
while IFS='|' read -r what code options message; do
	test_expect_success "$what: exit $code, says so, and nothing arrives" '
		nodes 2 && eval "set -- $options" && test_expect_code $code evenstep bcast "$@" >out 2>err && test ! -s out &&
		said "evenstep: $message" && nothing_arrived
	'
done <<'END'
--relocate-links alone|2|--local 2 --relocate-links src dst/{node}/x|--relocate-links: there is no --recursive: give --recursive, too
a folder without -r|1|--local 2 src dst/{node}/x|src: it is a directory: give -r to bring all that is in it
no SRC|2|--local 2 -r|bcast: no SRC: see .*
no DST|2|--local 2 -r src|bcast: no DST: see .*
files of the kernel, which have more than their size|1|--local 2 -r /proc/sys/kernel/random dst/{node}/x|/proc/sys/kernel/random/[a-z_]*: it has more bytes than its size of 0, as files of /proc and /sys may: write what it has to a file first, or leave it out
one of them, by itself|1|--local 2 -r /proc/version dst/{node}/x|/proc/version: it has more bytes than its size of 0, .*
one of them beside others|1|--local 2 -r src/a /proc/version dst/{node}/x|/proc/version: it has more bytes than its size of 0, .*
one that has less|1|--local 2 --cache=cache.{node} /sys/kernel/mm/transparent_hugepage/enabled dst/{node}/x|/sys/kernel/mm/transparent_hugepage/enabled: it has fewer bytes than its size of 4096, .*
a SRC that is not there|2|--local 2 -r src nowhere dst/{node}/x|nowhere: No such file or directory: .*
two of one name|2|--local 2 -r src/a ./src/../src/a/ dst/{node}/x|src/a and ./src/../src/a would both be DST/a: .*
one that has no name|2|--local 2 -r src/a src/.. dst/{node}/x|src/.. has no name that it could have in DST: give its whole path
--exclude alone|2|--local 2 --exclude x src dst/{node}/x|--exclude: there is no --recursive: give --recursive, too
DST without {node}|2|--local 2 -r src dst/x|with --local all nodes would write the same file: .*
END
test_expect_success '--exclude: a folder, from the root; a pattern by which nothing is left out is named' '
	mkdir -p ex/.git ex/sub/.git && : >ex/.git/big && : >ex/sub/f && for p in .git/ /.git; do
		nodes 1 && evenstep bcast --local 1 -r --exclude "$p" ex "$here/dst/{node}/x" 2>err && test ! -e dst/local0/x/.git && test -e dst/local0/x/sub/f && ! grep exclude err || return 1; done &&
	for p in ./.git ex/.git; do
		nodes 1 && evenstep bcast --local 1 -r --exclude "$p" ex "$here/dst/{node}/x" 2>err && test -e dst/local0/x/.git/big &&
		grep -qx "evenstep: --exclude $p: nothing was left out: a path begins in SRC: give \"/.git\"" err || return 1; done
'
test_expect_success 'links in a circle are copied as links' '
	mkdir circle && ln -s ../circle circle/again && nodes 1 && evenstep bcast --local 1 -r circle "$here/dst/{node}/x" && arrived circle
'
test_expect_success 'a folder of 20 million bytes that is brought into itself' '
	mkdir into && cp src/sparse into && evenstep bcast --local 1 -r into "$here/into/{node}" && is_same src/sparse into/local0/sparse
'

# --- faults --------------------------------------------------------------------
at_it() { # each agent is at work on its tree
	for node in local0 local1; do
		for tree in "dst/$node"/.evenstep-tree-*; do test -e "$tree" || return; done
	done
}
bring() { nodes 2 && exec evenstep bcast --local 2 -r many "$here/dst/{node}/x"; }
held() { n=2 && held_while at_it 2 bring; } # a broadcast of "many" that is stopped in its middle
has_content() { # of some file each has bytes, and neither has a name yet
	for node in local0 local1; do
		test ! -e dst/$node/x/60 && find dst/$node/.evenstep-tree-*/ -name "[0-9]*" -size +0 2>&- | grep -q . || return
	done
}
bring_over() {
	nodes 2 && cp -a src/a dst/local0/x && cp -a src/a dst/local1/x || return
	exec env --default-signal=INT evenstep bcast --local 2 -r -f many "$here/dst/{node}/x"
}
# shellcheck disable=SC2086
ended() { wait_for 60 dead $run $agents && run=''; }
mkdir many
for i in $(seq 60); do truncate -s 1M many/"$i" && printf %s "$i" >>many/"$i" && head -c 1M /dev/zero | tr '\0' "$i" >>many/"$i"; done
test_expect_success 'SIGTERM in the middle: nothing is left' '
	held && kill $run && kill -CONT $agents && test_expect_code 143 wait $run && ended && nothing_arrived
'
test_expect_success 'SIGINT in the middle of what the files hold: what was there stays whole' '
	n=2 && held_while has_content 2 bring_over && kill -INT $run && kill -CONT $agents && test_expect_code 130 wait $run && ended &&
	said "evenstep: .*: nothing is left half-written" && arrived src/a
'
test_expect_success 'an agent killed in the middle: named, the other has it whole; the next one cleans up' '
	held && set -- $agents && kill -KILL $1 && kill -CONT $2 && test_expect_code 1 wait $run && ended &&
	said "evenstep: 1 of 2 nodes have not got the tree: .*" && ls -d dst/*/x >got && lines got 1 && is_same many "$(cat got)" &&
	touch -d "2 minutes ago" dst/*/.evenstep-tree-* && evenstep bcast --local 2 -r -f many "$here/dst/{node}/x" && arrived many
'
# bring_slow: the reading of what is in the tree waits for the file go.
bring_slow() { nodes 2 && exec env LD_PRELOAD="$EVENSTEP_BUILD/t/programs/disk.so" DISK_LOG="$here/log" DISK_GATE="$here/go" evenstep bcast --local 2 -r slow_many "$here/dst/{node}/x"; }
while IFS='|' read -r what change; do
	test_expect_success "a file that $what while it is read: exit 1, says so, and nothing arrives" '
		rm -rf slow_many log && cp -r many slow_many && behind bring_slow && wait_for 60 grep -qs "^slow" log && agents=$(pgrep -P $run -x evenstep-agent) &&
		eval "$change" && : >go && test_expect_code 1 wait $run && ended &&
		said "evenstep: slow_many/60: it changes while it is read: broadcast it when nobody writes to it" && nothing_arrived
	'
done <<'END'
grows|echo more >>slow_many/60
shrinks|truncate -s 1000 slow_many/60
is removed|rm slow_many/60
END
if test "$(id -u)" = 0 && mkdir -p disk && mount -t tmpfs -o size=256k tmpfs disk 2>&-; then
	umount disk
	test_set_prereq MOUNT
fi
test_expect_success MOUNT "one node's disk has no room: named before the first byte, the others have it" '
	nodes 3 && mount -t tmpfs -o size=256k tmpfs dst/local1 &&
	test_expect_code 1 evenstep bcast --local 3 -r src "$here/dst/{node}/x" 2>err; code=$? &&
	find dst/local1 -mindepth 1 >left; umount dst/local1 && test $code = 0 && test_cmp /dev/null left &&
	said "evenstep: local1: .*/dst/local1/x: No space left on device: [0-9.]+ [kM]B more are needed" && arrived src local0 local2
'
test_expect_success MOUNT 'where no node has the room only the index is sent' '
	nodes 2 && mount -t tmpfs -o size=1m tmpfs dst && mkdir dst/local0 dst/local1 &&
	test_expect_code 1 evenstep bcast --local 2 -r --json src "$here/dst/{node}/x" >out 2>err; code=$?; umount dst && cat out && test $code = 0 &&
	said "evenstep: local0: .*/dst/local0/x: No space left on device: [0-9.]+ [kM]B more are needed" && jq -e ".bytes > 1500000 and .home_bytes_sent > 0 and .home_bytes_sent < 50000" out
'
test_expect_success MOUNT 'a DST that is a mount point cannot be replaced, and says so' '
	nodes 2 && mkdir dst/local1/x && mount -t tmpfs tmpfs dst/local1/x &&
	test_expect_code 1 evenstep bcast --local 2 -r -f src "$here/dst/{node}/x" 2>err; code=$?; umount dst/local1/x && test $code = 0 &&
	said "evenstep: local1: .*/dst/local1/x: it is a mount point there, which cannot be replaced: unmount it, or give another DST" && rmdir dst/local1/x && arrived src local0
'
overlay() { mount -t overlay -o "xino=off,lowerdir=$here/under,upperdir=$here/disk/upper,workdir=$here/disk/work" overlay "$1"; }
mkdir -p under over
if test_have_prereq MOUNT && mount -t tmpfs tmpfs disk && mkdir disk/upper disk/work && overlay over; then
	umount over
	test_set_prereq OVERLAY
fi
test_expect_success OVERLAY 'on an overlay, where a file has another device than its folder, it is replaced' '
	nodes 1 && overlay dst/local0 && echo old >dst/local0/x &&
	test "$(stat -c %d dst/local0)" != "$(stat -c %d dst/local0/x)" &&
	evenstep bcast --local 1 -r -f src "$here/dst/{node}/x" && arrived src
	code=$?; umount dst/local0; test $code = 0
'
test ! -d disk/upper || umount disk
if test "$(id -u)" = 0; then
	chmod 755 . && as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups env TMPDIR="$here/nobody" "$@"; }
	mkdir nobody && chown nobody nobody
	if as_nobody sh -c 'test -w "$1" && "$0" --version' "$EVENSTEP_BUILD/evenstep" "$here/nobody" >out 2>err; then
		test_set_prereq NOBODY
	else
		say "skipping what needs no root: nobody cannot enter $PWD or $EVENSTEP_BUILD"
	fi
fi
test_expect_success NOBODY 'without root: folders closed to writing arrive, and are replaced' '
	cp -a src nobodys && chown -R nobody nobodys && nodes 2 && chmod 777 dst/* &&
	as_nobody evenstep bcast --local 2 -r nobodys "$here/dst/{node}/x" && arrived nobodys &&
	as_nobody evenstep bcast --local 2 -r -f nobodys "$here/dst/{node}/x" && arrived nobodys
'
test_expect_success NOBODY 'without root: a file that may not be read: exit 1, named, nothing arrives' '
	nodes 2 && chmod 777 dst/* && test_expect_code 1 as_nobody evenstep bcast --local 2 -r src "$here/dst/{node}/x" 2>err &&
	said "evenstep: src/closed.*: Permission denied: give files that can be read" && nothing_arrived
'
test_done
