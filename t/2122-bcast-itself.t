#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast where DST is the source, holds it or is in it: nothing of the source is lost'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$PWD

# --- helpers -------------------------------------------------------------------
# A tree on the first of two nodes, which is where home has it, too; the second has
# other things there.
trees() {
	rm -rf dst && mkdir -p dst/local0/x/src/in dst/local1/x/src/in && for i in local0 local1; do
		echo $i >dst/$i/x/other && echo $i >dst/$i/x/src/a && echo $i >dst/$i/x/src/b.o &&
			echo $i >dst/$i/x/src/in/a && ln dst/$i/x/src/a dst/$i/x/src/hard && mkfifo dst/$i/x/pipe dst/$i/x/src/pipe || return 1
	done && seen local0 >before
}
# Inodes, contents, all times that matter, and that nothing is left beside it.
seen() { # NODE
	(cd dst/"$1" && find . -printf '%p %i %y %m %n %s %T@ %C@\n' | sort && find . -type f -exec sha256sum {} + | sort)
}
untouched() { seen local0 >after && test_cmp before after; }
bcast() { evenstep bcast --local "$n" --no-sync "$@"; }
# The first node refuses, and its tree is as it was.
refused() { # MESSAGE COMMAND...
	message=$1 && shift && test_expect_code 1 "$@" 2>err && said "evenstep: local0: $here/.*/x.* is $message another DST" &&
		test "$(grep -c "another DST" err)" = 1 && untouched
}
its=dst/local0/x
is="the source itself: give --update, which keeps it, or"
whole="the source itself: give"
holds="a folder that holds the source: give"
within="within the source: give"

# --- the source itself ---------------------------------------------------------
test_expect_success 'a folder onto itself: refused there, and the other node gets it' '
	trees && n=2 && refused "$is" bcast -r -f --exclude "*.o" $its/src "$here/dst/{node}/x/src" &&
	said "evenstep: 1 of 2 nodes have not got the tree: .*" && test "$(cat dst/local1/x/src/a)" = local0 && test ! -e dst/local1/x/src/b.o
'
test_expect_success 'all of it, a list of it, by other names, with a cache: refused' '
	trees && n=1 && dst="$here/dst/{node}/x/src" && refused "$is" bcast -r -f $its/src "$dst" &&
	echo a >list && refused "$is" bcast -r -f --files-from list $its/src "$dst" &&
	ln -s "$here/$its" other && refused "$is" bcast -r -f other/src "$dst" && refused "$is" bcast -r -f $its/src/ "$here/other/../x/src" &&
	ln -s src $its/link && seen local0 >before && refused "$is" bcast -r -f $its/link "$dst" &&
	mkdir cache && refused "$is" bcast -r -f --cache="$here/cache" $its/src "$dst"
'
test_expect_success 'a link to the source is replaced as any other thing' '
	trees && ln -s x/src dst/local0/link && n=1 && bcast -r -f $its/src "$here/dst/{node}/link" && test ! -L dst/local0/link &&
	test "$(cat dst/local0/link/a)" = local0 && rm -r dst/local0/link && rm $its/src/pipe && diff -r $its/src dst/local1/x/src >diff; test -s diff
'
test_expect_success '--update onto itself: allowed where nothing is lost, else refused' '
	trees && n=1 && dst="$here/dst/{node}/x/src" && bcast -r --update --exclude "*.o" $its/src "$dst" && test -p $its/src/pipe && test -f $its/src/b.o &&
	seen local0 >before && refused "$whole" bcast -r --update --delete $its/src "$dst" && rm $its/src/pipe && bcast -r --update --delete $its/src "$dst" &&
	seen local0 >before && refused "$whole" bcast -r --update --delete --exclude "*.o" $its/src "$dst" && refused "$whole" bcast -r --update --delete --files-from list $its/src "$dst"
'
test_expect_success 'a file onto itself: its copy has all that it has, and the other node gets it' '
	trees && n=2 && head -c 3000000 /dev/urandom >$its/src/a && dst="$here/dst/{node}/x/src/a" && sum=$(sha256sum <$its/src/a) &&
	for options in -f "-f -p" "-r -f" --update; do
		echo else >dst/local1/x/src/a && bcast $options $its/src/a "$dst" && cmp $its/src/a dst/local1/x/src/a && test "$(sha256sum <$its/src/a)" = "$sum" || return 1
	done && bcast -f --cache="$here/cache" $its/src/a "$dst" && test "$(sha256sum <$its/src/a)" = "$sum"
'
test_expect_success 'one of several sources' '
	trees && n=1 && refused "$whole" bcast -r -f $its/src/in $its/other "$here/dst/{node}/x/other" &&
	refused "$whole" bcast -r --update $its/other $its/src "$here/dst/{node}/x/src"
'

# --- around it, and in it ------------------------------------------------------
test_expect_success 'a folder that holds the source' '
	trees && n=1 && for options in "-r -f" "-r --update" "-r --update --delete" "-r -f --update"; do
		refused "$holds" bcast $options $its/src "$here/dst/{node}/x" && refused "$holds" bcast $options $its/src/in "$here/dst/{node}/x" &&
			refused "$holds" bcast $options $its/src/a $its/src/b.o "$here/dst/{node}/x" || return 1
	done
'
test_expect_success 'a folder, a file and a link in the source' '
	trees && ln -s in $its/src/link && seen local0 >before && n=1 && for options in "-r -f" "-r --update --force" "-r --update --delete --force"; do
		for name in in a link in/a; do refused "$within" bcast $options $its/src "$here/dst/{node}/x/src/$name" || return 1; done &&
			refused "$within" bcast $options --exclude in $its/src "$here/dst/{node}/x/src/in" || return 1
	done
'
test_expect_success 'beside the source, and new within it: as ever' '
	trees && n=1 && bcast -r -f $its/src "$here/dst/{node}/x/copy" && bcast -r -f $its/src "$here/dst/{node}/x/copy" && test "$(cat $its/copy/a)" = local0 &&
	bcast -r -f $its/src/in "$here/dst/{node}/x/copy" && test ! -e $its/copy/b.o && bcast -f $its/src/a "$here/dst/{node}/x/src/in/a" &&
	bcast -r -f $its/src/in "$here/dst/{node}/x/src/in2" && bcast -r -f --exclude new $its/src "$here/dst/{node}/x/src/new" && test -f $its/src/new/b.o &&
	bcast -r --update $its/src/in "$here/dst/{node}/x/src/in2"
'
test_expect_success 'what is refused anyway says so' '
	trees && n=1 && test_expect_code 1 bcast -r $its/src "$here/dst/{node}/x" 2>err && said "evenstep: local0: $here/$its: File exists" &&
	test_expect_code 1 bcast -f $its/src/a "$here/dst/{node}/x" 2>err && said "evenstep: local0: $here/$its: Is a directory" && untouched
'
test_expect_success 'names that no message can hold' '
	trees && n=1 && long=$(printf %0250d 0) && mkdir -p $its/$long/$long/$long && seen local0 >before &&
	test_expect_code 1 bcast -r -f $its "$here/dst/{node}/x/$long/$long/$long" 2>err &&
	said "evenstep: local0: .*0\.\.\. is within the source: give another DST" && untouched
'

# --- of a run ------------------------------------------------------------------
# A command that is not to be started: its input is not there.
run() { evenstep run --local "$n" --metrics equal --range 0:2 "$@" -- touch "$here/ran"; }
test_expect_success 'run --bcast: the run does not begin' '
	trees && n=1 && refused "$is" run --bcast "$its/src:$here/dst/{node}/x/src" && run --bcast "$its/src/a:$here/dst/{node}/x/src/a" && rm -f ran && seen local0 >before &&
	refused "$holds" run --bcast "$its/src:$here/dst/{node}/x" && refused "$holds" run --update --bcast "$its/src:$here/dst/{node}/x" &&
	refused "$within" run --bcast "$its/src:$here/dst/{node}/x/src/in" && test ! -e ran &&
	run --update --bcast "$its/src:$here/dst/{node}/x/src" && test -e ran && test -p $its/src/pipe
'
test_done
