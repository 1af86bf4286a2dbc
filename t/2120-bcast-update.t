#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast --update and --cache: only what is not there comes, and all is right'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$PWD
dst="$here/dst/{node}/x" cache="$here/cache/{node}"

# --- helpers -------------------------------------------------------------------
nodes() { # N: a folder for each: dst/local0, ..., and no caches
	n=$1
	rm -rf dst cache && mkdir cache && for i in $(seq 0 $((n - 1))); do mkdir -p dst/local"$i" || return 1; done
}
bcast() { evenstep bcast --local "$n" --no-sync "$@"; }
sent() { test "$(jq .sent_bytes out)" = "$1" || { cat out && false; }; }
sent_below() { jq -e ".sent_bytes > 0 and .sent_bytes < $1" out || { cat out && false; }; }
# The tree is on all nodes, and nothing is left beside it.
arrived() { # SRC
	for i in $(seq 0 $((n - 1))); do diff -r --no-dereference "$1" dst/local"$i"/x || return 1; done
	find dst -mindepth 2 -name ".evenstep*" >left && test_cmp /dev/null left
}
listed() { (cd "$1" && find . -printf '%p %y %m %T@ %l\n' | sort); }

mkdir -p src/a/b src/empty
for i in $(seq 100); do head -c $((i * 97)) /dev/urandom >src/a/f"$i"; done
ln src/a/f1 src/a/b/hard
ln -s ../f2 src/a/b/link
: >src/none
printf x | dd of=src/sparse bs=1 seek=20000000 conv=notrunc 2>/dev/null
touch -d @1234567890.5 src/a/f3 src/a
all=$(find src -type f ! -name hard ! -name sparse -printf '%s\n' | awk '{n += $1} END {print n + 1}')
image=image.sif
head -c 3000000 /dev/urandom >$image

# --- update --------------------------------------------------------------------
test_expect_success '--update: without a DST all comes, then nothing, then what has changed' '
	nodes 3 && bcast -r --update --json src "$dst" >out && arrived src && jq -e ".sent_bytes >= $all" out &&
	bcast -r --update --json src "$dst" >out && arrived src && sent 0 && listed src >want && listed dst/local2/x >got && test_cmp want got &&
	printf other >src/a/f7 && head -c 97 /dev/urandom >src/a/f1 && printf new >src/a/f101 && chmod 600 src/a/f9 &&
	bcast -r --update --json src "$dst" >out && arrived src && sent 105 && test "$(stat -c %a dst/local1/x/a/f9)" = 600
'
test_expect_success 'each node gets what it lacks, whichever node that is' '
	printf wrong >dst/local0/x/a/f2 && head -c 194 /dev/zero >dst/local1/x/a/f2 && rm dst/local2/x/a/f3 && rm -r dst/local2/x/a/b &&
	bcast -r --update --json src "$dst" >out && arrived src && sent $((97 + 194 + 291))
'
test_expect_success 'a file of the same size and time is another one if its bytes differ' '
	head -c 388 /dev/zero >dst/local1/x/a/f4 && touch -r src/a/f4 dst/local1/x/a/f4 &&
	bcast -r --update --json src "$dst" >out && arrived src && sent 388
'
test_expect_success 'with --strict, --verify, -s 1Ki' '
	for options in "--strict --verify" "-s 1Ki"; do
		for i in 10 20 30; do head -c 1000 /dev/urandom >src/a/f$i; done
		bcast -r --update $options --json src "$dst" >out && arrived src && sent 3000 || return 1
	done
'
test_expect_success 'holes stay holes, and hard links stay one file' '
	test "$(stat -c %b dst/local0/x/sparse)" -lt 1000 && test dst/local0/x/a/f1 -ef dst/local0/x/a/b/hard &&
	printf data | dd of=dst/local0/x/sparse bs=1 seek=5000000 conv=notrunc 2>/dev/null &&
	bcast -r --update src "$dst" && cmp src/sparse dst/local0/x/sparse && test "$(stat -c %b dst/local0/x/sparse)" -lt 1000
'
test_expect_success 'what only DST has stays as it is; with --delete it goes' '
	mkdir -p dst/local1/x/own/deep && printf mine >dst/local1/x/own/deep/file && ln -s nowhere dst/local1/x/a/own && mkfifo dst/local1/x/pipe &&
	chmod 750 dst/local1/x/own && touch -d @1000000000 dst/local1/x/own/deep/file dst/local1/x/own/deep dst/local1/x/own &&
	inode=$(stat -c %i dst/local1/x/own/deep/file) && listed dst/local1/x/own >want && echo 1 >>src/a/f50 &&
	bcast -r --update src "$dst" && listed dst/local1/x/own >got && test_cmp want got && test "$(stat -c %i dst/local1/x/own/deep/file)" = $inode &&
	test -L dst/local1/x/a/own && test -p dst/local1/x/pipe && cmp src/a/f50 dst/local1/x/a/f50 &&
	bcast -r --update --delete src "$dst" && arrived src
'
test_expect_success 'a file where DST has a folder: refused and named; with --delete it is replaced' '
	mkdir dst/local1/x/a/f60.d && mv dst/local1/x/a/f60 dst/local1/x/a/f60.d && mv dst/local1/x/a/f60.d dst/local1/x/a/f60 &&
	test_expect_code 1 bcast -r --update src "$dst" 2>err && said "evenstep: local1: .*a/f60 is a folder there, and none in SRC: give --delete" &&
	test -e dst/local1/x/a/f60/f60 && bcast -r --update --delete src "$dst" && arrived src
'
test_expect_success 'a folder where DST has a file, and a link' '
	rm -r dst/local0/x/a/b dst/local2/x/empty && printf file >dst/local0/x/a/b && ln -s / dst/local2/x/empty &&
	bcast -r --update src "$dst" && arrived src
'
test_expect_success 'DST is a file, or a link: refused, with --force replaced' '
	nodes 2 && printf file >dst/local0/x && ln -s local0 dst/local1/x &&
	test_expect_code 1 bcast -r --update src "$dst" 2>err && said "evenstep: local0: .*: Not a directory" && said "evenstep: local1: .*: Not a directory" &&
	test "$(cat dst/local0/x)" = file && bcast -r --update --force src "$dst" && arrived src && test ! -L dst/local1/x
'
test_expect_success 'links in DST that lead out: nothing is written there' '
	mkdir -p outside/b && printf mine >outside/f1 && rm -r dst/local0/x/a && ln -s "$here/outside" dst/local0/x/a &&
	ln -s / dst/local0/x/own && bcast -r --update src "$dst" && ls outside >got && printf "b\nf1\n" >want && test_cmp want got &&
	test "$(cat outside/f1)" = mine && test -L dst/local0/x/own && bcast -r --update --delete src "$dst" && arrived src && test "$(cat outside/f1)" = mine
'
test_expect_success 'several sources, and the source itself' '
	nodes 2 && bcast --update -r src/a $image "$dst" && bcast --update -r --json src/a $image "$dst" >out && sent 0 && cmp $image dst/local1/x/$image &&
	mkdir -p self/local0 && cp -a src self/local0/x && evenstep bcast --local 1 -r --update --delete --json self/local0/x "$here/self/{node}/x" >out &&
	sent 0 && diff -r --no-dereference src self/local0/x
'
test_expect_success 'a single file' '
	nodes 2 && bcast --update --json $image "$dst" >out && sent 3000000 && arrived $image && bcast --update --json $image "$dst" >out && sent 0 &&
	printf x >>$image && test_expect_code 1 bcast $image "$dst" && bcast --update --json -p $image "$dst" >out && sent_below 1048578 && arrived $image &&
	test "$(stat -c %Y $image)" = "$(stat -c %Y dst/local1/x)" && rm dst/local0/x && mkdir dst/local0/x &&
	test_expect_code 1 bcast --update $image "$dst" 2>err && said "evenstep: local0: .*: Is a directory"
'
test_expect_success 'two at once into one DST: one of the two, whole' '
	nodes 2 && cp -a src other && printf other >other/a/f1 && bcast -r --update src "$dst" &&
	{ bcast -r --update --delete other "$dst" 2>err1 & } && bcast -r --update --delete src "$dst" 2>err2; wait $!; cat err1 err2
	for i in 0 1; do diff -r --no-dereference src dst/local$i/x >d || diff -r --no-dereference other dst/local$i/x >d || return 1; done &&
	bcast -r --update --delete src "$dst" && arrived src
'
# deep FOLDER N: a file within N folders, each in the one before.
down() { seq "$1" | sed 's/.*/d/' | tr '\n' /; }
deep() { mkdir -p "$1/$(down "$2")" && echo "$2" >"$1/$(down "$2")file"; }
is_deep() { test "$(cat "$1/$(down "$2")file")" = "$2"; }
nothing_beside() { ls -A dst/local0 >got && echo x >want && test_cmp want got; }
test_expect_success 'folders that are 300 deep: brought, updated, kept and replaced, and nothing is left beside' '
	n=1 && nodes 1 && mkdir low && : >low/file && deep deepest 300 && bcast -r deepest "$dst" && is_deep dst/local0/x 300 &&
	echo other >deepest/more && bcast -r --update deepest "$dst" && is_deep dst/local0/x 300 && cmp deepest/more dst/local0/x/more && nothing_beside &&
	bcast -r --update low "$dst" && is_deep dst/local0/x 300 && nothing_beside &&
	bcast -r --update --delete low "$dst" && diff -r low dst/local0/x && nothing_beside
'
test_expect_success 'so are 900, with more files than may be open; and what an agent has left that was killed' '
	nodes 1 && deep dst/local0/x 900 && (ulimit -n 200 && bcast -r --update low "$dst") && rm low/file && echo low >low/low &&
	is_deep dst/local0/x 900 && nothing_beside &&
	bcast -r -f low "$dst" && diff -r low dst/local0/x && nothing_beside &&
	left=dst/local0/.evenstep-tree-0123-$(hostname) && deep $left 600 && touch -d "2 minutes ago" $left && bcast -r -f low "$dst" && nothing_beside
'
fails_with() { # OPTIONS MESSAGE
	fails 2 "$2" eval "evenstep bcast --local 1 $1 src '$dst'"
}
test_expect_success 'wrong uses' '
	fails_with "-r --delete" "evenstep: --delete: there is no --update: give --update, too" &&
	fails_with "-r --cache=here" "evenstep: --cache: \"here\" depends on where a node is: give a whole path"
'

# --- a list --------------------------------------------------------------------
test_expect_success '--files-from: what it names, and the folders that lead there' '
	nodes 2 && printf "a/f5\n\n./a//b/\nsparse\n" | bcast -r --files-from - src "$dst" &&
	(cd dst/local1/x && find . ! -type d | sort) >got && printf "%s\n" ./a/b/hard ./a/b/link ./a/f5 ./sparse >want && test_cmp want got &&
	mkdir strange && : >"strange/$(printf "new\nline")" && : >strange/other && printf "new\nline\0" >list &&
	bcast -r -f --null --files-from list strange "$dst" && test "$(ls -A dst/local0/x | wc -l)" = 2
'
test_expect_success '--files-from: what is not there, and what leads out, is refused' '
	nodes 2 && echo a/nowhere | test_expect_code 1 evenstep bcast --local 2 -r --files-from - src "$dst" 2>err &&
	said "evenstep: --files-from: a/nowhere: No such file or directory: give what is in SRC" &&
	echo a/../../x | test_expect_code 2 evenstep bcast --local 2 -r --files-from - src "$dst" 2>err &&
	said "evenstep: --files-from: \"a/../../x\" may lead out of SRC: give paths from SRC on" && find dst -mindepth 2 >left && test_cmp /dev/null left
'

# --- attributes ----------------------------------------------------------------
# Where the file system of the test has none there are none on both sides.
mkdir attributes && : >attributes/f
python3 -c 'import os; os.setxattr("attributes/f", "user.colour", b"blue"); os.setxattr("attributes", "user.x", b"y")' 2>&-
# An access control list: user 1 may read.
python3 -c 'import os, struct; os.setxattr("attributes/f", "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in
	[(1, 6, 2**32 - 1), (2, 4, 1), (4, 4, 2**32 - 1), (16, 4, 2**32 - 1), (32, 0, 2**32 - 1)]))' 2>&-
attributes() { python3 -c 'import os, sys; p = sys.argv[1]; print([(n, os.getxattr(p, n)) for n in sorted(os.listxattr(p))])' "$1" | grep -v security; }
test_expect_success '--xattrs: of files and folders, and access control lists' '
	nodes 2 && bcast -r --xattrs --update attributes "$dst" && arrived attributes &&
	for i in /f ""; do attributes attributes$i >want; attributes dst/local1/x$i >got; test_cmp want got || return 1; done &&
	bcast -r -f attributes "$dst" && attributes dst/local1/x/f >got && ! grep -E "colour|posix_acl" got
'

test_expect_success '--xattrs: of one file, without -r' '
	for option in --verify -p -u --cache="$cache"; do
		nodes 2 && bcast --xattrs "$option" attributes/f "$dst" && cmp attributes/f dst/local0/x &&
		attributes attributes/f >want && attributes dst/local1/x >got && test_cmp want got || return 1; done
'

# --- cache ---------------------------------------------------------------------
test_expect_success '--cache: what came once does not come again, of folders and files' '
	nodes 3 && bcast -r --cache="$cache" --json src "$dst" >out && arrived src && jq -e ".sent_bytes > 400000" out && rm -rf dst/*/x &&
	bcast -r --cache="$cache" --json src "$dst" >out && arrived src && sent 0 && rm -rf dst/*/x && listed dst >got &&
	bcast --cache="$cache" --json $image "$dst" >out && sent 3000001 && rm dst/*/x && cp $image renamed &&
	bcast --cache="$cache" --json renamed "$dst" >out && sent 0 && arrived $image
'
test_expect_success 'a node whose cache is empty gets it, and the others stay right' '
	rm -rf dst/*/x cache/local1 && bcast --cache="$cache" --json $image "$dst" >out && sent 3000001 && arrived $image
'
test_expect_success 'a damaged entry is found, said, and comes again' '
	rm dst/*/x && entry=$(find cache/local2 -size 3000001c) && printf damaged | dd of="$entry" bs=1 seek=1000 conv=notrunc 2>/dev/null &&
	bcast --cache="$cache" --json $image "$dst" >out 2>err && sent_below 1048577 && arrived $image &&
	said "evenstep: local2: what was damaged in the cache was removed" && rm dst/*/x &&
	bcast --cache="$cache" --json $image "$dst" >out && sent 0
'
test_expect_success 'what is written into DST later does not come back' '
	printf mine | dd of=dst/local0/x bs=1 conv=notrunc 2>/dev/null && bcast --force --cache="$cache" --json $image "$dst" >out && sent 0 && arrived $image
'
# What is late is asked for again, of home or of a peer, and may then come twice: on a machine
# that is at work this is much, and no part of what home has to send.
served_by() { # PART OPTIONS...: the image to all nodes, of which home sends less than PART
	part=$1 && shift && rm -f dst/*/x && bcast --cache="$cache" --json "$@" $image "$dst" >out && sent 3000001 && arrived $image &&
	cat out && jq -e ".home_bytes_sent - .duplicate_bytes < $part * .bytes and .duplicate_bytes < 0.3 * .bytes" out
}
test_expect_success 'nodes that have it serve it: home sends what they are not the root of' '
	nodes 4 && bcast --cache="$cache" $image "$dst" && echo "encrypt = true" >secret && echo "bcast { threads = \"3\" }" >threads && : >plain &&
	for conf in plain secret threads; do
		rm -rf cache/local1 && EVENSTEP_CONF=$here/$conf served_by 0.35 &&
			rm -rf cache/local0 cache/local3 && EVENSTEP_CONF=$here/$conf served_by 0.85 --compress=zstd || return 1
	done &&
	rm -rf cache/local2 && served_by 1.1 --strict && rm -rf cache/* && served_by 1.1
'
test_expect_success 'of folders, each node what the others lack' '
	nodes 3 && bcast -r --cache="$cache" src "$dst" && rm -rf dst/*/x && find cache/local0 -type f | sed 1~2d | xargs rm && find cache/local2 -type f | sed 2~3d | xargs rm &&
	bcast -r --cache="$cache" --json -s 2Ki src "$dst" >out && arrived src && cat out && jq -e ".home_bytes_sent - .duplicate_bytes < 0.9 * .sent_bytes" out
'
test_expect_success 'it is bounded: what was not used for longest goes' '
	nodes 1 && printf "bcast {\n cache = \"$here/cache\"\n cache_mb = 7\n}\n" >conf && export EVENSTEP_CONF="$here/conf" &&
	mkdir -p cache/evenstep-cache-$(id -u)/ab && chmod 700 cache/evenstep-cache-$(id -u) && head -c 9000000 /dev/zero >cache/evenstep-cache-$(id -u)/ab/own &&
	for i in 1 2 3 1 4; do head -c 3000000 /dev/zero | tr "\0" $i >big$i && bcast -f --cache --json big$i "$dst" >out$i || return 1; done &&
	test -e cache/evenstep-cache-$(id -u)/ab/own && unset EVENSTEP_CONF && test "$(jq .sent_bytes out1)" = 3000000 && rm -r cache/evenstep-cache-$(id -u)/ab/own &&
	mv cache/evenstep-cache-$(id -u) bounded && ls bounded/segments >got && lines got 2 && for i in $(cat got); do
		test -f bounded/$(echo $i | cut -c1-2)/$(echo $i | cut -c3-) || return 1; done && test "$(find bounded -type f ! -path "*/segments/*" | wc -l)" = 2
'
# Of two commands at once, which bring what differs but for a file; each has an agent for each node.
both() {
	nodes 2 && { bcast -r --cache="$here/cache/all" one "$here/dst/{node}/one" 2>err1 & } && bcast -r --cache="$here/cache/all" two "$here/dst/{node}/two" 2>err2
	code=$?; wait $! && cat err1 err2 && test $code = 0 && test -s err1 && ! grep -E "damaged|could not" err1 err2 &&
	for i in 0 1; do diff -r one dst/local$i/one && diff -r two dst/local$i/two || return; done
}
in_bounds() { # MOST: the cache has so many bytes, and something
	test "$(find cache -type f -printf "%b\n" | awk '{n += $1 * 512} END {print n}')" -le "$1" && test -n "$(find cache -size 1000000c)"
}
test_expect_success 'one folder of four agents at once: all is right, and the bound is kept' '
	printf "bcast {\n cache_mb = 5\n}\n" >conf && mkdir one two && for i in 1 2 3; do head -c 1000000 /dev/urandom >one/$i && head -c 1000000 /dev/urandom >two/$i || return 1; done &&
	cp one/1 two/1 && head -c 1000000 /dev/urandom >two/4 && for turn in 1 2 3 4 5; do EVENSTEP_CONF=$here/conf both && in_bounds 5000000 || return 1; done &&
	bcast -r --cache="$here/cache/all" --json one "$here/dst/{node}/again" >out 2>err && diff -r one dst/local0/again && diff -r one dst/local1/again &&
	jq -e ".sent_bytes < 3000000" out && ! mentioned damaged
'
test_expect_success 'with --update, too: from DST or the cache' '
	nodes 2 && bcast -r --update --cache="$cache" src "$dst" && rm dst/local0/x/a/f8 && cp src/a/f9 dst/local1/x/a/f10 &&
	bcast -r --update --cache="$cache" --json src "$dst" >out && sent 0 && arrived src
'
test_expect_success 'a cache that is not ours alone, or a link, is not used, and that is said' '
	nodes 2 && mkdir cache/local0 elsewhere && chmod 755 cache/local0 && ln -s "$here/elsewhere" cache/local1 &&
	bcast --cache="$cache" $image "$dst" 2>err && arrived $image && said "evenstep: local0: the cache .*/cache/local0 is not used: it is not this user.s alone" &&
	said "evenstep: local1: the cache .*/cache/local1 is not used: it is no folder" && ls cache/local0 elsewhere/ >got && lines got 3
'
test_expect_success 'nor one in a folder that is not there' '
	nodes 2 && bcast --cache="$here/nowhere/{node}" $image "$dst" 2>err && arrived $image &&
	said "evenstep: local1: the cache .*/nowhere/local1 is not used: make the folder that it is to be in" && test ! -e nowhere
'

# --- the same twice ------------------------------------------------------------
# The content of two files, each three times: a large one, and a small one, once closed to its reader.
mkdir -p twins/a twins/b && head -c 2500000 /dev/urandom >twins/a/large && head -c 5000 /dev/urandom >twins/a/small
for each in large small; do cp twins/a/$each twins/b/$each && cp twins/a/$each twins/$each; done
truncate -s 4M twins/holes && cp --sparse=always twins/holes twins/b/holes && for each in twins/holes twins/b/holes; do printf x | dd of=$each bs=1 seek=1000000 conv=notrunc 2>/dev/null; done
chmod 40 twins/a/small && chmod 755 twins/b/small && touch -d @1234567890.5 twins/b/large && ln twins/small twins/hard
held_once=$((2500000 + 5000 + $(stat -c %b twins/holes) * 512))
is_twin() {
	for i in $(seq 0 $((n - 1))); do
		listed twins >want && listed dst/local"$i"/x >got && test_cmp want got && test "$(stat -c %b dst/local"$i"/x/b/holes)" -lt 100 || return 1
	done
	arrived twins
}
# shellcheck disable=SC2086 # lists of options
with() { case $options in cache*) bcast -r --cache="$cache" ${options#cache} "$@" ;; *) bcast -r $options "$@" ;; esac; }
for options in --update "cache --strict" "cache --update --verify --compress=zstd" "--update -s 1Ki"; do
	test_expect_success "what is in a tree more than once comes once, with $options" '
		nodes 3 && with --json twins "$dst" >out && sent $held_once && is_twin && rm -rf cache/local1 dst/local1/x &&
		with -f --json twins "$dst" >out && sent $held_once && is_twin
	'
done
test_expect_success 'what a node has under another name it makes of that' '
	nodes 3 && bcast -r --update twins "$dst" && rm dst/local0/x/large dst/local1/x/b/large dst/local2/x/a/small dst/local2/x/b/small && printf other >dst/local0/x/a/large &&
	bcast -r --update --json twins "$dst" >out && sent 0 && is_twin && rm dst/local2/x/*large dst/local2/x/?/large &&
	bcast -r --update --json twins "$dst" >out && sent 2500000 && is_twin
'
for options in --update "--update --verify" "--update --strict"; do
	test_expect_success "and serves what another node lacks, with $options" '
		nodes 3 && bcast -r --update twins "$dst" && find dst/local0/x -name large ! -path "*/b/*" -exec rm {} + && find dst/local1/x -name large -exec rm {} + &&
		with --json twins "$dst" >out && sent 2500000 && is_twin
	'
done
if test "$(id -u)" = 0 && command -v setpriv >/dev/null && setpriv --reuid 1 --regid 1 --clear-groups test -x "$EVENSTEP_BUILD/evenstep" -a -x "$here"; then
	test_set_prereq USER
fi
test_expect_success USER 'also where its owner may not read it' '
	nodes 2 && mkdir theirs && echo content >theirs/a && cp theirs/a theirs/b && chgrp -R 1 theirs && chmod 40 theirs/? && chown 1 dst/*/ && mkdir -m 1777 tmp &&
	TMPDIR=$here/tmp HOME=$here/tmp setpriv --reuid 1 --regid 1 --clear-groups evenstep bcast --local 2 -r --update --json theirs "$dst" >out && sent 8 && arrived theirs &&
	stat -c %a dst/local?/x/? | sort -u >got && echo 40 >want && test_cmp want got
'

# --- segments of large files ---------------------------------------------------
# What differs costs its own segment, of at most 1 MiB, and perhaps the next one.
image_of() { # FILE SEED MB: bytes by chance, always the same
	openssl enc -aes-128-ctr -nosalt -K "$(printf %032x "$2")" -iv 0 </dev/zero 2>/dev/null | head -c $(($3 * 1000000)) >"$1"
}
insert() { # FILE AT TEXT
	{ head -c "$2" "$1" && printf %s "$3" && tail -c +$(($2 + 1)) "$1"; } >inserted && mv inserted "$1"
}
test_expect_success '--cache: of a new image what the old one does not have, wherever it stands' '
	nodes 3 && image_of large 1 30 && bcast --cache="$cache" --json large "$dst" >out && sent 30000000 && rm dst/*/x &&
	insert large 100 "a line more" && insert large 7000000 another && bcast --cache="$cache" --json large "$dst" >out && sent_below 4194305 && arrived large &&
	rm dst/*/x && bcast --cache="$cache" --json large "$dst" >out && sent 0 && arrived large
'
test_expect_success 'nodes lack different parts of it' '
	rm -rf dst/*/x cache/local2 && printf "in place" | dd of=large bs=1 seek=3000000 conv=notrunc 2>/dev/null &&
	bcast --cache="$cache" --json large "$dst" >out && sent 30000018 && arrived large && jq -e ".home_bytes_sent < 0.9 * .bytes" out && rm dst/*/x &&
	for conf in "" --strict --verify --compress=zstd "-s 2Ki"; do
		echo "with $conf" | dd of=large bs=1 seek=5000000 conv=notrunc 2>/dev/null && rm -f dst/*/x &&
			bcast --cache="$cache" $conf --json large "$dst" >out && sent_below 2097153 && arrived large || return 1
	done
'
test_expect_success '--update: of a large file in DST, in folders, too; the old one stays until it is whole' '
	nodes 2 && mkdir images && image_of images/one 2 5 && image_of images/two 3 3 && ln images/one images/hard && chmod 400 images/one && : >images/none && bcast -r --update images "$dst" &&
	insert images/one 2500000 more && chmod 400 images/one && ln -f images/one images/hard && truncate -s 2900000 images/two && inode=$(stat -c %i dst/local0/x/one) &&
	bcast -r --update --json images "$dst" >out && sent_below 4194305 && arrived images && test dst/local1/x/one -ef dst/local1/x/hard && test "$(stat -c %a dst/local1/x/hard)" = 400 && test "$(stat -c %i dst/local0/x/one)" != $inode &&
	bcast -r --update --json images "$dst" >out && sent 0 && image_of images/one 4 5 && ln -f images/one images/hard && bcast -r --update --json images "$dst" >out && sent 5000000 && arrived images
'
test_expect_success 'holes stay holes' '
	nodes 2 && truncate -s 100000000 sparse && image_of part 5 3 && dd if=part of=sparse bs=1M seek=8 conv=notrunc 2>/dev/null && bcast --cache="$cache" --json sparse "$dst" >out &&
	sent_below 3200000 && printf data | dd of=sparse bs=1M seek=50 conv=notrunc 2>/dev/null && printf changed | dd of=sparse bs=1M seek=9 conv=notrunc 2>/dev/null &&
	bcast --update --cache="$cache" --json sparse "$dst" >out && sent_below 2200000 && arrived sparse && test "$(stat -c %b dst/local1/x)" -lt 10000
'
test_expect_success 'a damaged file of the cache: what is not right in it comes, and that is said' '
	nodes 2 && image_of large 6 5 && bcast --cache="$cache" large "$dst" && rm dst/*/x &&
	printf damaged | dd of="$(find cache/local1 -size 5000000c)" bs=1 seek=4000000 conv=notrunc 2>/dev/null && insert large 1000000 x &&
	bcast --cache="$cache" --json large "$dst" >out 2>err && sent_below 4194305 && arrived large && said "evenstep: local1: what was damaged in the cache was removed" &&
	test -z "$(find cache/local1 -size 5000000c)" && test -n "$(find cache/local0 -size 5000000c)" &&
	rm dst/*/x && bcast --cache="$cache" --json large "$dst" >out && sent 0 && printf damaged | dd of="$(find cache/local0 -size 5000001c)" bs=1 seek=2000000 conv=notrunc 2>/dev/null &&
	rm dst/*/x && bcast --cache="$cache" --json large "$dst" >out 2>err && sent 0 && arrived large && said "evenstep: local0: what was damaged in the cache was removed" &&
	rm dst/*/x && bcast --cache="$cache" --json large "$dst" >out && sent 0 &&
	rm cache/*/segments/* && printf damaged | dd of="$(find cache/local0 -size 5000001c)" bs=1 seek=2000000 conv=notrunc 2>/dev/null &&
	rm dst/*/x && bcast --cache="$cache" --json large "$dst" >out && sent 5000001 && rm dst/*/x && bcast --cache="$cache" --json large "$dst" >out && sent 0 &&
	printf rubbish | tee cache/local0/segments/* >out && insert large 3000000 y && bcast -f --cache="$cache" --json large "$dst" >out && sent 5000002 && arrived large
'

# --- run --bcast ---------------------------------------------------------------
# run OPTIONS...: src to all nodes, and a command that is of no matter.
run() { evenstep run --local "$n" --metrics equal --range 0:"$n" --bcast "src:$dst" "$@" -- true "{begin}" "{end}"; }
test_expect_success 'run --bcast --update: what differs is brought, and what only DST has stays' '
	nodes 2 && run --update && arrived src && : >dst/local0/x/own && printf mended >src/a/f20 &&
	run --update && test -e dst/local0/x/own && rm dst/local0/x/own && arrived src &&
	: >dst/local0/x/own && run && arrived src
'
test_expect_success 'run --bcast --cache, of a folder and of a file' '
	nodes 2 && run --cache="$cache" && arrived src && find cache/local1 -type f >kept && test -s kept &&
	evenstep run --local 2 --range 0:2 --bcast "$image:$dst.sif" --cache="$cache" --compress zstd -- true "{begin}" "{end}" && cmp $image dst/local1/x.sif &&
	find cache/local1 -type f >more && test "$(wc -l <more)" -gt "$(wc -l <kept)"
'
test_expect_success 'which are of --bcast alone' '
	test_expect_code 2 evenstep run --local 1 --range 0:2 --update -- true "{begin}" "{end}" 2>err && grep "^evenstep: --update: there is no --bcast" err &&
	test_expect_code 2 run --cache=here 2>err && grep "^evenstep: --cache: \"here\" depends on where a node is: give a whole path" err &&
	test_expect_code 2 run --compress gzip 2>err && grep "^evenstep: --compress: \"gzip\" is unknown: give none, lz4, zstd or auto" err
'
test_done
