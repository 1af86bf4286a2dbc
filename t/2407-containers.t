#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep run with commands, persistent programs and itself inside of an image: a tree of files, by chroot'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
unset EVENSTEP_SOCKET
in_tree="$EVENSTEP_SRC/contrib/containers/in-tree"
run() { timeout 200 evenstep run --local 3 --metrics equal "$@"; }

# into TREE PROGRAM...: these, at the same places, with the libraries that they need.
into() {
	into_tree=$1
	shift
	for each in "$@" $(ldd "$@" | grep -oE "/[^ :]+( |$)" | sort -u); do
		mkdir -p "$into_tree$(dirname "$each")" && cp -L "$each" "$into_tree$each" || return 1
	done
}
busybox=$(command -v busybox) || { skip_all='busybox is not installed: make deps' && test_done; }
mkdir -p image/bin image/etc image/usr/bin && echo "a system of its own" >image/etc/image && into image "$busybox" && cp "$busybox" image/bin/busybox &&
	for each in sh cat echo seq test sleep env pwd; do ln -s busybox "image/bin/$each"; done
"$in_tree" image /bin/sh -c : 2>why || { skip_all="cannot mount: $(tail -n 1 why)" && test_done; }

test_expect_success 'the image is another system' '
	test ! -e /etc/image && "$in_tree" image cat /etc/image >out && echo "a system of its own" | test_cmp - out
'
test_expect_success 'commands run in it: each unit once and in order, with the environment and the folder' '
	run --range 0:30 -- "$in_tree" image sh -c "seq {begin} \$((EVENSTEP_END - 1)); cat /etc/image >&2; test -e image/etc/image" >out 2>err && seq 0 29 | test_cmp - out && mentioned "a system of its own"
'
test_expect_success 'a command that fails there, and an image that is none' '
	test_expect_code 1 run --range 0:3 -- "$in_tree" image sh -c "exit 7" 2>err && mentioned "exited with status 7" &&
	test_expect_code 1 run --range 0:3 -- "$in_tree" nothing true 2>err && mentioned "usage: in-tree TREE COMMAND"
'
test_expect_success 'a program that stays alive finds its agent from inside' '
	cat >stays.c <<-\END && gcc -I"$EVENSTEP_SRC/launcher/libevenstep" -o stays stays.c -L"$EVENSTEP_BUILD" -levenstep -Wl,-rpath,"$EVENSTEP_BUILD" && into image "$PWD/stays" &&
	#include <evenstep.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(void)
	{
	    uint64_t begin, end;
	    if (access("/etc/image", F_OK) != 0 || evenstep_open(1, 1) != 1)
	        return 1;
	    while (evenstep_next(&begin, &end) > 0) {
	        while (begin < end)
	            printf("%d\n", (int)begin++);
	        if (evenstep_done() < 0)
	            return 1;
	    }
	    evenstep_close();
	    return 0;
	}
	END
	run --persistent --range 0:30 --repeat 2 -- "$in_tree" image "$PWD/stays" >out && { seq 0 29; seq 0 29; } | test_cmp - out
'
test_expect_success 'interrupted: nothing of it is left' '
	behind env --default-signal=INT evenstep run --local 2 --metrics equal --range 0:2 -- "$in_tree" image sh -c "echo x >>started; exec sleep 4321" && wait_for 60 lines started 2 &&
	kill -INT $run && test_expect_code 130 wait $run && test -z "$(pgrep -f "^sleep 4321")"
'
test_expect_success 'evenstep run itself, with its agents, in the image' '
	into image "$EVENSTEP_BUILD/evenstep" "$EVENSTEP_BUILD/evenstep-agent" &&
	HOME=/tmp timeout 200 "$in_tree" image "$EVENSTEP_BUILD/evenstep" run --local 3 --metrics equal --range 0:30 -- /bin/sh -c "seq {begin} \$((EVENSTEP_END - 1)); cat /etc/image >&2" >out 2>err; cat err; seq 0 29 | test_cmp - out && mentioned "a system of its own"
'
test_done
