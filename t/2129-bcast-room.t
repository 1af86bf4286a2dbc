#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='several inputs: each node is asked for the room for all of them before the first byte of any'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
here=$(pwd -P)
dst="$here/dst/{node}"

if test "$(id -u)" != 0 || ! mkdir disk || ! mount -t tmpfs -o size=1m tmpfs disk 2>&-; then
	skip_all='cannot mount a small disk'
	test_done
fi
umount disk

# --- helpers -------------------------------------------------------------------
# nodes: a folder for each; local1 has a small disk.
nodes() { umount dst/local1/other dst/local1 2>&-; rm -rf dst && mkdir -p dst/local0 dst/local1 dst/local2 && mount -t tmpfs -o size=1m tmpfs dst/local1; }
run() { evenstep run --local 3 --metrics equal --pieces 1 --range 0:3 "$@" -- "${command:-true}" >out 2>err; }
left() { find dst -mindepth 2 >found && cat found && test_cmp /dev/null found; } # nothing is
refused() { # [RUN'S OPTIONS...]: for local1, before anything is sent
	test_expect_code 1 run "$@"; code=$? && cat err && test $code = 0 && left
}
names() { said "evenstep: local1: $here/dst/local1/$1: No space left on device: $2 kB more are needed"; } # DST AMOUNT: the one that lacks it
everywhere() { for i in 0 1 2; do diff -r "$1" "dst/local$i/$2" || return 1; done; }             # SRC DST

head -c 614400 /dev/urandom >large
head -c 307200 /dev/urandom >small
mkdir folder && cp large folder/file && echo more >folder/more

# --- they do not fit together ----------------------------------------------------
test_expect_success 'two files: the node that lacks it is named, with how much; nothing is sent, and nothing left' '
	nodes && refused --bcast "large:$dst/a" --bcast "large:$dst/b" && names b "180[.][0-9]" &&
	said "evenstep: --bcast: large:$dst/b: 1 of 3 nodes have not got it: see the lines above; none of it was sent"
'
while IFS='|' read -r what options; do
	test_expect_success "$what" 'nodes && eval "refused $options" && names b "[0-9.]+"'
done <<'END'
a file and a folder|--bcast "large:$dst/a" --bcast "folder:$dst/b"
a folder and a file|--bcast "folder:$dst/a" --bcast "large:$dst/b"
two folders|--bcast "folder:$dst/a" --bcast "folder:$dst/b"
two that are compared to what is there|--update --bcast "folder:$dst/a" --bcast "folder:$dst/b"
a file that is, and a folder|--update --bcast "large:$dst/a" --bcast "folder:$dst/b"
with a cache|--cache="$dst-cache" --bcast "large:$dst/a" --bcast "folder:$dst/b"
the last of three|--bcast "small:$dst/a" --bcast "small:$dst/c" --bcast "large:$dst/b"
END
test_expect_success 'so small that it would go with its order' '
	nodes && head -c 900000 /dev/zero >dst/local1/full && head -c 60000 small >part &&
	test_expect_code 1 run --bcast "part:$dst/a" --bcast "part:$dst/b" --bcast "part:$dst/c"; code=$? && names c "[0-9.]+" && test $code = 0 && rm dst/local1/full && left
'

# --- they do ---------------------------------------------------------------------
test_expect_success 'just the room: both come, file and folder' '
	nodes && run --bcast "large:$dst/a" --bcast "small:$dst/b" && everywhere large a && everywhere small b &&
	nodes && run --bcast "small:$dst/a" --bcast "folder:$dst/b" && everywhere small a && everywhere folder b
'
test_expect_success 'on two disks each has its own room' '
	nodes && mkdir dst/local0/other dst/local1/other dst/local2/other && mount -t tmpfs -o size=1m tmpfs dst/local1/other &&
	run --bcast "large:$dst/a" --bcast "large:$dst/other/b" && everywhere large a && everywhere large other/b && umount dst/local1/other
'
test_expect_success 'what is to be replaced stays where there is no room beside it' '
	nodes && run --bcast "small:$dst/a" --bcast "small:$dst/b" && cp small other && echo changed >>other &&
	test_expect_code 1 run --bcast "other:$dst/a" --bcast "other:$dst/b"; code=$? && names b "[0-9.]+" && test $code = 0 && everywhere small a && everywhere small b
'

# --- one within the other --------------------------------------------------------
test_expect_success 'a file into a folder that comes with it' '
	nodes && echo one >one && run --bcast "folder:$dst//a/" --bcast "one:$dst/./a/one" && everywhere one a/one && everywhere folder/more a/more
'
test_expect_success 'also where no more than the node knows where they are' '
	for a in "\$TMPDIR/{node}/a" "$dst/a" "$dst/../{node}/a"; do
		for b in "\${TMPDIR}/{node}/a/one" "$dst/a/one"; do
			nodes && TMPDIR=$here/dst run --bcast "folder:$a" --bcast "one:$b" && everywhere one a/one || return 1
		done
	done
'
test_expect_success 'two folders into one with --update; two files, or folders without it, of one DST: exit 2' '
	nodes && mkdir -p two && echo two >two/two && run --update --bcast "two:$dst/a" --bcast "folder:$dst/a" && everywhere two/two a/two && everywhere folder/more a/more &&
	fails 2 "evenstep: --bcast: two and folder have one DST: give each a DST of its own" run --bcast "two:$dst/c" --bcast "folder:$dst/c" &&
	fails 2 "evenstep: --bcast: small and one have one DST: give each a DST of its own" run --update --bcast "small:$dst/b" --bcast "one:$dst/b"
'

# --- libraries -------------------------------------------------------------------
echo 'static char pad[600000] = {1}; int inner(void) { return pad[0]; }' >inner.c
echo 'int inner(void); static volatile char pad[600000] = {1}; int main(void) { return inner() + pad[1] - 1; }' >main.c
test_expect_success 'a program and its library: a node without the room for both gets neither, the others have them' '
	compile -shared -fPIC -Wl,-soname,libinner.so.1 -o libinner.so.1 inner.c && compile -o program main.c libinner.so.1 && export LD_LIBRARY_PATH=. &&
	nodes && test_expect_code 1 evenstep bcast --local 3 --libs program "$dst/b" 2>err; code=$? && names b "[0-9.]+" && test $code = 0 &&
	said "evenstep: 1 of 3 nodes have not got the file: see the lines above; the others have it" &&
	ls -A dst/local1 >found && test_cmp /dev/null found && cmp program dst/local0/b && cmp libinner.so.1 dst/local2/b_libs/libinner.so.1
'
test_expect_success 'before a run none gets them' '
	nodes && refused --libs --bcast "program:$dst/b" && names b "[0-9.]+" && nodes && command=./program && refused --libs --exec "$dst/b" && names b "[0-9.]+"
'
command=
test_expect_success 'where there is the room all have them' '
	nodes && mount -o remount,size=2m dst/local1 && run --libs --bcast "program:$dst/b" && everywhere program b && everywhere libinner.so.1 b_libs/libinner.so.1
'
umount dst/local1
test_done
