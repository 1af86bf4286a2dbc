#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast and what is mounted at its destination: it stays, and that is said'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
unshare -m mount -t tmpfs none /mnt 2>&- || { skip_all='cannot mount' && test_done; }
here=$PWD dst="$PWD/dst/{node}/x" old_kernel="$EVENSTEP_BUILD/t/programs/old_kernel"
mkdir -p src/a other/in
echo new >src/a/new
echo mine >other/in/mine

# --- helpers -------------------------------------------------------------------
# In front of a command: it, with a mount on dst/local0/x/$1, which nobody else sees.
# shellcheck disable=SC2016 # of the inner shell
mounted() { unshare -m sh -c 'mount --bind other "dst/local0/$0" && exec "$@"' "$@"; }
in_memory() { unshare -m sh -c 'mount -t tmpfs none "dst/local0/$0" && mkdir "dst/local0/$0/in" && echo mine >"dst/local0/$0/in/mine" && "$@"; code=$?; cat "dst/local0/$0/in/mine"; exit $code' "$@"; }
nodes() { rm -rf dst && mkdir -p dst/local0/x/data dst/local1 && echo old >dst/local0/x/old; }
is_as_it_was() {
	(cd dst/local0 && find . | sort) >got && printf "%s\n" . ./x ./x/data ./x/old >want && test_cmp want got && test "$(cat other/in/mine)" = mine
}
arrived_at() { # NODE
	diff -r src dst/"$1"/x && ls -A dst/"$1" >got && echo x >want && test_cmp want got
}

# --- within DST ------------------------------------------------------------------
for options in -f --update '--update --delete' '-f --update'; do
	for kernel in '' "$old_kernel"; do
		test_expect_success "$options${kernel:+, on an old kernel}: a mount within DST is named on its node, which stays as it was; the others have the tree" '
			nodes && test_expect_code 1 mounted x/data $kernel evenstep bcast --local 2 -r $options src "$dst" 2>err &&
			said "evenstep: local0: data is a mount point there: unmount it first" && is_as_it_was && arrived_at local1 &&
			nodes && test_expect_code 1 in_memory x/data $kernel evenstep bcast --local 2 -r $options src "$dst" >out 2>err &&
			said "evenstep: local0: data is a mount point there: unmount it first" && is_as_it_was && test "$(cat out)" = mine
		'
	done
done
test_expect_success 'a file that is mounted far down in it, too' '
	nodes && mkdir "dst/local0/x/data/a b" && : >"dst/local0/x/data/a b/file" &&
	test_expect_code 1 unshare -m sh -c "mount --bind other/in/mine \"dst/local0/x/data/a b/file\" && exec evenstep bcast --local 1 -r -f src \"$dst\"" 2>err &&
	said "evenstep: local0: data/a b/file is a mount point there: unmount it first"
'
test_expect_success 'without the mount it is replaced' '
	nodes && evenstep bcast --local 2 -r -f src "$dst" && arrived_at local0 && arrived_at local1
'
test_expect_success 'what is mounted beside DST is of no matter' '
	nodes && mkdir dst/local0/xy && mounted xy evenstep bcast --local 1 -r -f src "$dst" && diff -r src dst/local0/x
'

# --- DST itself ------------------------------------------------------------------
is_mount='it is a mount point there, which cannot be replaced: unmount it, or give another DST'
for options in -f --update '--update --delete'; do
	test_expect_success "$options: a DST that is a folder of the same file system, mounted: refused before a byte comes" '
		nodes && test_expect_code 1 mounted x evenstep bcast --local 1 -r $options --json src "$dst" >out 2>err &&
		said "evenstep: local0: $here/dst/local0/x: $is_mount" && is_as_it_was
	'
done
for options in -f '-f -r' --update '--update -r'; do
	test_expect_success "$options: so is a file that is mounted" '
		nodes && rm -r dst/local0/x && : >dst/local0/x && head -c 30000000 /dev/zero >large &&
		test_expect_code 1 unshare -m sh -c "mount --bind other/in/mine dst/local0/x && exec evenstep bcast --local 1 $options --json large \"$dst\"" >out 2>err &&
		said "evenstep: local0: $here/dst/local0/x: $is_mount" && ls -A dst/local0 >got && echo x >want && test_cmp want got &&
		test ! -s dst/local0/x && test "$(cat other/in/mine)" = mine
	'
done
test_done
