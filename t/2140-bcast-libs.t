#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast --libs: a program comes with the shared objects that it needs'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
here=$(pwd -P)
unset LD_LIBRARY_PATH

# --- helpers -------------------------------------------------------------------
nodes() { # N: a folder for each: dst/local0, ...
	n=$1
	rm -rf dst && for i in $(seq 0 $((n - 1))); do mkdir -p dst/local"$i" || return 1; done
}
bring() { # [OPTION...] SRC, to x
	evenstep bcast --local "$n" "$@" "$here/dst/{node}/x" 2>err
}
bring_nothing() { evenstep bcast --local 1 "$@" "$here/dst/{node}/x"; } # for fails
libs() { # NAME...: these and no others are in each node's folder
	for name; do echo "$name"; done >want
	for i in $(seq 0 $((n - 1))); do ls dst/local"$i"/x_libs >got && test_cmp want got || return 1; done
}
runs() { # each node's program with its libraries says 42
	for i in $(seq 0 $((n - 1))); do
		LD_LIBRARY_PATH=$here/dst/local$i/x_libs dst/local"$i"/x >out && test "$(cat out)" = 42 || return 1
	done
}
build() { # OUT NAME [GCC'S WORDS...]: a library that names itself so
	build_out=$1 build_name=$2
	shift 2
	compile -shared -fPIC -Wl,-soname,"$build_name" -o "$build_out" "$@"
}

mkdir -p lib deep 'odd => name (0x1)'
echo 'int inner(void) { return 42; }' >inner.c
echo 'int inner(void); int outer(void) { return inner(); }' >outer.c
echo 'int outer(void); int printf(const char *, ...); int main(void) { return printf("%d", outer()) < 0; }' >main.c
echo 'int main(void) { return 0; }' >plain.c
echo '#include <fcntl.h>
__attribute__((constructor)) static void mark(void) { (void)!creat("was_run", 0600); }' >marks.c
test_expect_success 'a program that needs a library that needs another' '
	build deep/libinner.so.1 libinner.so.1 inner.c && ln -s libinner.so.1 deep/libinner.so &&
	build lib/libouter.so.2 libouter.so.2 outer.c marks.c -Ldeep -linner -Wl,-rpath,"$here/deep" &&
	compile -o program main.c marks.c lib/libouter.so.2 -Wl,-rpath-link,deep &&
	compile -static -o static main.c outer.c inner.c && compile -o plain plain.c
'

# --- what it needs -------------------------------------------------------------
export LD_LIBRARY_PATH=lib
for n in 1 3; do
	test_expect_success "on $n nodes it runs with what came with it" '
		nodes $n && bring --libs program && said "evenstep: [0-9.]+ (bytes|kB) \(libraries: 2\) to $n nodes? in .* s" &&
		libs libinner.so.1 libouter.so.2 && mv deep away && runs && rm was_run; code=$?; mv away deep; test $code = 0
	'
done
test_expect_success 'neither it nor its libraries are run to find them' 'nodes 1 && bring --libs program && test ! -e was_run'
test_expect_success 'what is asked of the loader otherwise changes nothing' '
	nodes 1 && LD_PRELOAD=$here/lib/libouter.so.2 LD_DEBUG=libs LD_VERBOSE=1 LD_BIND_NOW=1 bring --libs program 2>&1 &&
	libs libinner.so.1 libouter.so.2
'
test_expect_success 'a name that looks like a line of the list' '
	cp lib/libouter.so.2 "odd => name (0x1)" && nodes 1 && LD_LIBRARY_PATH="odd => name (0x1)" bring --libs program &&
	libs libinner.so.1 libouter.so.2
'
test_expect_success 'a program that is a link' '
	ln -s program link && nodes 1 && bring --libs link && libs libinner.so.1 libouter.so.2 && runs && rm was_run
'
test_expect_success '--json says how many there are, and where' '
	nodes 2 && bring --json --libs program >out && jq -e ".libs == 2 and .libs_folder == \"$here/dst/{node}/x_libs\" and .bytes > 40000" out
'
test_expect_success '--json, where it has a name of any bytes' '
	name=$(printf "l\377\303\244") && nodes 1 && evenstep bcast --local 1 --libs --json program "$here/dst/{node}/$name" >out &&
	jq -e ".libs == 2 and (.libs_folder | endswith(\"/dst/{node}/l???_libs\"))" out && test -e "dst/local0/${name}_libs/libouter.so.2"
'
test_expect_success 'one that needs none that a node has not got' '
	for program in static plain; do
		nodes 2 && bring --libs $program && said "evenstep: --libs: $program needs none that the nodes have not got" &&
			test ! -e dst/local0/x_libs && cmp $program dst/local1/x || return 1; done
'

# --- what is left out ----------------------------------------------------------
test_expect_success '--exclude-libs, and a folder that is another by its links' '
	nodes 1 && bring --libs --exclude-libs /usr,"$here/deep" program && libs libouter.so.2 &&
	nodes 1 && bring --libs --exclude-libs "$here/deep/,/nowhere,$here/li" program && ls dst/local0/x_libs && test -e dst/local0/x_libs/libouter.so.2 &&
	test ! -e dst/local0/x_libs/libinner.so.1 &&
	nodes 1 && LD_LIBRARY_PATH="$here/deep/../lib" bring --libs --exclude-libs "$here/lib,/usr,/lib" program && libs libinner.so.1
'
test_expect_success 'none: all but the C library and the loader' '
	nodes 1 && bring --libs --exclude-libs none "$EVENSTEP_BUILD/evenstep" && ls dst/local0/x_libs >got && grep -q "^libevent" got &&
	! grep -E "^(ld-|libc\.|libm\.|libdl\.|libpthread\.|linux-vdso)" got
'
test_expect_success 'as the configuration says' '
	printf "bcast { exclude_libs = \"%s\" }\n" "/usr,/lib,/lib64,$here/deep" >conf &&
	nodes 1 && EVENSTEP_CONF=$here/conf bring --libs program && libs libouter.so.2 &&
	EVENSTEP_CONF=$here/conf evenstep config >printed && grep -qx "  exclude_libs = ./usr,/lib,/lib64,$here/deep." printed &&
	printf "bcast { exclude_libs = \"usr\" }\n" >bad &&
	EVENSTEP_CONF=$here/bad fails 2 "evenstep: .*/bad:1: bcast: exclude_libs is no list of folders: give folders as in \"/lib,/usr/lib\", or \"none\"" evenstep config
'

# --- with other options --------------------------------------------------------
test_expect_success 'a second time only with -f, which replaces both' '
	nodes 2 && bring --libs program && echo old >dst/local0/x_libs/old && test_must_fail bring --libs program &&
	mentioned "local0: .*/x_libs: File exists" && test -e dst/local0/x_libs/old && bring -f --libs program && libs libinner.so.1 libouter.so.2
'
test_expect_success '--cache brings them once, --update what differs' '
	nodes 2 && bring --cache="$here/cache.{node}" --libs program && bring -f --json --cache="$here/cache.{node}" --libs program >out &&
	jq -e ".sent_bytes == 0" out && bring -u --json --libs program >out && jq -e ".sent_bytes == 0" out && libs libinner.so.1 libouter.so.2 && runs
'
test_expect_success '$TMPDIR and {node} in DST are of the libraries, too' '
	nodes 1 && mkdir -p tmp && TMPDIR=$here/tmp evenstep bcast --local 1 --libs program "\$TMPDIR/p.{node}" && test -e tmp/p.local0_libs/libouter.so.2
'
test_expect_success 'a program of one library, from many' '
	build lib/libouter.so.3 libouter.so.3 outer.c inner.c && compile -o one main.c lib/libouter.so.3 &&
	nodes 3 && bring --libs one && libs libouter.so.3 && runs
'

# --- what cannot be done -------------------------------------------------------
test_expect_success 'a library that is not found here' '
	nodes 1 && LD_LIBRARY_PATH= fails 1 "evenstep: --libs: .*libouter.so.2: .*: set LD_LIBRARY_PATH, or load the module, that it runs with here" \
		bring_nothing --libs program && test ! -e dst/local0/x
'
test_expect_success 'what is no program' '
	printf "#!/bin/sh\n" >script && chmod +x script && : >empty && head -c 64 program >cut && cp program broken &&
	printf "\377\377\377\377\377\377\377\177" | dd of=broken bs=1 seek=32 conv=notrunc 2>/dev/null &&
	for file in script empty cut broken main.c; do
		fails 1 "evenstep: --libs: $file: it is no program of this kind of machine: give --libs with programs only, not with scripts or data" \
			bring_nothing --libs $file || return 1; done
'
test_expect_success 'a loader that is another one'"'"'s, or no loader, is not run' '
	printf "#!/bin/sh\ntouch %s/loader_was_run\n" "$here" >evil && cp evil ld-evil && chmod 755 evil && chmod 777 ld-evil &&
	for loader in evil ld-evil; do
		compile -o asks main.c inner.c outer.c -Wl,--dynamic-linker="$here/$loader" &&
			fails 1 "evenstep: --libs: asks: its loader .*/$loader is not run: it must be called ld..., be root.s or your own, and nobody else.s to write" \
				bring_nothing --libs asks || return 1; done &&
	compile -o asks main.c inner.c outer.c -Wl,--dynamic-linker=/nowhere/ld.so &&
	fails 1 "evenstep: --libs: asks: its loader /nowhere/ld.so: No such file or directory: find the libraries on a host that has it" \
		bring_nothing --libs asks && test ! -e loader_was_run
'
test_expect_success 'a loader that says something else' '
	printf "#!/bin/sh\necho \${0##*/} runs\n" >ld-other && chmod 755 ld-other &&
	compile -o asks main.c inner.c outer.c -Wl,--dynamic-linker="$here/ld-other" &&
	fails 1 "evenstep: --libs: .*/ld-other says what is not understood: \"ld-other runs\": bring its libraries as a folder, with -r" bring_nothing --libs asks
'
test_expect_success 'the command line' '
	fails 2 "evenstep: --libs is of one program: bring them one after the other" evenstep bcast --local 1 --libs program plain "$here/dst/{node}/x" &&
	fails 2 "evenstep: --libs: DST \"/a:b\" cannot be in LD_LIBRARY_PATH: give a shorter one, without a colon" evenstep bcast --local 1 --libs program /a:b &&
	fails 2 "evenstep: --exclude-libs \"lib\" is no list of folders: give folders as in \"/lib,/usr/lib\", or none" evenstep bcast --local 1 --libs --exclude-libs lib program /x &&
	fails 2 "evenstep: --exclude-libs: there is no --libs: give --libs, too" evenstep bcast --local 1 --exclude-libs /lib program /x
'
test_done
