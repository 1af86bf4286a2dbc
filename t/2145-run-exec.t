#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep run --exec, --libs: commands run what was brought, with its libraries'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
here=$(pwd -P)
dst="$here/dst/{node}"
unset LD_LIBRARY_PATH

# --- helpers -------------------------------------------------------------------
nodes() { rm -rf dst && mkdir -p dst/local0 dst/local1; } # a folder for each
# once [OPTION...] -- CMD...: a piece a node, in folders where nothing of ours is
once() { evenstep run --local 2 --metrics equal --pieces 1 --range 0:2 --reads-env --workdir tmp "$@" >out 2>err; }
printed() { printf '%s\n' "$@" | sort >want && sort out >got && test_cmp want got; } # these lines
build() { # OUT NAME [GCC'S WORDS...]: a library that names itself so
	build_out=$1 build_name=$2
	shift 2
	compile -shared -fPIC -Wl,-soname,"$build_name" -o "$build_out" "$@"
}

mkdir -p lib bin
echo 'int inner(void) { return 42; }' >inner.c
cat >app.c <<'END'
#include <stdio.h>
#include <unistd.h>
int inner(void);
int main(int argc, char **argv) /* app TEXT: where it is, its name, TEXT and the library's answer */
{
	char path[4096] = "";
	return readlink("/proc/self/exe", path, sizeof path - 1) < 0 || argc != 2 ||
	       printf("%s %s %s %d\n", path, argv[0], argv[1], inner()) < 0;
}
END
cat >script <<'END'
#!/bin/sh
echo "$0 $* ${LD_LIBRARY_PATH-unset}"
END
chmod +x script
test_expect_success 'a program with a library that is found from here only, and one that needs none' '
	build lib/libinner.so.1 libinner.so.1 inner.c && compile -o app app.c lib/libinner.so.1 &&
	compile -static -o static app.c inner.c && cp script bin/on-path
'

# --- it runs from there --------------------------------------------------------
export LD_LIBRARY_PATH=lib
test_expect_success 'the program runs from where it was brought, with what came with it' '
	nodes && once --exec "$dst/x" --libs -- ./app "{node}" && cat err && ! grep lost err &&
	printed "$here/dst/local0/x $here/dst/local0/x local0 42" "$here/dst/local1/x $here/dst/local1/x local1 42" &&
	ls dst/local1/x_libs >libs && echo libinner.so.1 >one && test_cmp one libs
'
test_expect_success 'so does that of tasks, --each, also where its path has a field' '
	nodes && evenstep run --local 1 -j 1 --metrics equal --each --workdir tmp --exec "$dst/x" --libs -- ./app {} ::: a "b c" >out 2>err && cat err &&
	printed "$here/dst/local0/x $here/dst/local0/x a 42" "$here/dst/local0/x $here/dst/local0/x b c 42" &&
	fails 2 "evenstep: --exec: with --shell .*" evenstep run --local 1 --each --shell --exec "$dst/x" -- "./app {}" ::: a
'
test_expect_success 'it and they stay there, and the next run replaces them' '
	echo old >dst/local0/x && touch dst/local0/x_libs/old && once --exec "$dst/x" --libs -- ./app "{node}" &&
	cmp app dst/local0/x && cmp app dst/local1/x && test ! -e dst/local0/x_libs/old
'
test_expect_success 'without --libs it finds none: the run fails, and says why' '
	nodes && test_must_fail once --exec "$dst/x" -- ./app "{node}" && mentioned "libinner.so.1: cannot open shared object file"
'
test_expect_success 'a script runs as a program of its own' '
	nodes && once --exec "$dst/s" -- ./script a "{begin}" && printed "$here/dst/local0/s a 0 lib" "$here/dst/local1/s a 1 lib"
'
test_expect_success 'a program of PATH; a folder keeps its name' '
	nodes && PATH=$here/bin:$PATH once --exec "$dst/" -- on-path "{begin}" && cmp script dst/local1/on-path &&
	printed "$here/dst/local0/on-path 0 lib" "$here/dst/local1/on-path 1 lib"
'
test_expect_success 'in the job'"'"'s folder on each node' '
	once --exec "\$TMPDIR/own-{node}" --libs -- ./app 7 && printed "$here/own-local0 $here/own-local0 7 42" "$here/own-local1 $here/own-local1 7 42" &&
	test -e own-local1_libs/libinner.so.1 && rm -r own-local*
'
test_expect_success 'a static program needs no libraries, and the path of others stays' '
	nodes && once --exec "$dst/x" --libs -- ./static "{node}" && grep "/local1/x .* local1 42" out && test ! -e dst/local0/x_libs &&
	once --exec "$dst/x" --bcast "static:$dst/y" --libs -- ./script "{begin}" && printed "$here/dst/local0/x 0 lib" "$here/dst/local1/x 1 lib"
'
test_expect_success 'the libraries of what --bcast brings come first in LD_LIBRARY_PATH; of scripts and data there are none' '
	nodes && once --bcast "app:$dst/x" --bcast "app.c:$dst/c" --bcast "lib:$dst/lib" --libs -- sh -c "echo {node} \$LD_LIBRARY_PATH; exec \"$dst/x\" {begin}" &&
	grep -qx "local1 $here/dst/local1/x_libs:lib" out && grep -q "/local0/x .* 0 42$" out && grep -q "/local1/x .* 1 42$" out
'
test_expect_success 'LD_LIBRARY_PATH that is empty or not set has no folder behind them' '
	nodes && build "$here/bin/libinner.so.1" libinner.so.1 inner.c && compile -o runs app.c lib/libinner.so.1 -Wl,-rpath,"$here/bin" &&
	for path in "-u LD_LIBRARY_PATH" LD_LIBRARY_PATH=; do
		env $path evenstep run --local 2 --metrics equal --pieces 1 --range 0:2 --bcast "runs:$dst/x" --libs -- sh -c "echo \$LD_LIBRARY_PATH; : {begin} {end}" >out &&
			printed "$here/dst/local0/x_libs" "$here/dst/local1/x_libs" || return 1; done
'
test_expect_success 'of two programs both folders' '
	nodes && once --bcast "app:$dst/b" --exec "$dst/x" --libs -- ./app "{node}" && grep -q "/local0/x .* local0 42$" out &&
	nodes &&
	once --bcast "app:$dst/b" --bcast "app:$dst/a" --libs -- sh -c "echo \$LD_LIBRARY_PATH {begin}" &&
	printed "$here/dst/local0/b_libs:$here/dst/local0/a_libs:lib 0" "$here/dst/local1/b_libs:$here/dst/local1/a_libs:lib 1"
'
test_expect_success '--exclude-libs, and as the configuration says' '
	nodes && once --exec "$dst/x" --libs --exclude-libs "$here/lib" --keep-going -- ./app 1; test ! -e dst/local0/x_libs && nodes &&
	printf "bcast { exclude_libs = \"%s\" }\n" "$here/lib" >conf && EVENSTEP_CONF=$here/conf test_must_fail once --exec "$dst/x" --libs -- ./app 1 && test ! -e dst/local0/x_libs
'

# --- with other options --------------------------------------------------------
test_expect_success '--update and --cache bring what is not there, and it runs' '
	nodes && for how in --update --update "--cache=$here/cache.{node}" "--cache=$here/cache.{node}"; do
		once --exec "$dst/x" --libs --compress zstd "$how" -- ./app "{node}" && grep -q "/local1/x .* local1 42$" out && cmp app dst/local0/x || return 1; done
'
test_expect_success '--dry-run says what would run, and brings nothing' '
	nodes && once --exec "$dst/x" --libs --dry-run -- ./app "{begin}" && cat out && grep -q "^local1: .$here/dst/local1/x. 1 " out && test ! -e dst/local0/x
'
test_expect_success 'the job log and the journal are of the command as it was given; another DST may go on' '
	nodes && once --exec "$dst/x" --libs --joblog log --journal journal -- ./app "{begin}" && grep -q "	./app 0	" log &&
	once --exec "$dst/y" --libs --journal journal --resume -- ./app "{begin}" && grep -q "/local0/x .* 0 42" out
'
test_expect_success 'a type of --works has its own program, and finds the libraries' '
	nodes && printf "work \"own\" { command = {\"%s\", \"{label}\"} }\n" "$here/app" >works && printf "%s\n" "0:1 one" "0:1 two @own" >queue &&
	evenstep run --local 1 --metrics equal --workdir tmp --queue queue --works works --exec "$here/dst/x" --libs -- ./app "{label}" >out 2>err &&
	printed "$here/dst/x $here/dst/x one 42" "$here/app $here/app two 42"
'
test_expect_success 'a program that stays alive runs from there' '
	nodes && cat >stays.c <<-\END && compile -I"$EVENSTEP_SRC/launcher/libevenstep" -o stays stays.c -L"$EVENSTEP_BUILD" -levenstep &&
	#include <evenstep.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(void)
	{
		char path[4096] = "";
		uint64_t begin, end;
		if (evenstep_open(1, 0) < 0 || readlink("/proc/self/exe", path, sizeof path - 1) < 0)
			return 1;
		while (evenstep_next(&begin, &end) > 0) {
			printf("%s %d\n", path, (int)begin);
			fflush(stdout);
			evenstep_done();
		}
		return 0;
	}
	END
	LD_LIBRARY_PATH=$EVENSTEP_BUILD evenstep run --local 2 --metrics equal --pieces 1 --range 0:2 --persistent --exec "$dst/p" --libs -- ./stays >out 2>err &&
	printed "$here/dst/local0/p 0" "$here/dst/local1/p 1" && test -e dst/local0/p_libs/libevenstep.so.0
'

# --- what cannot be done -------------------------------------------------------
run() { evenstep run --local 1 --range 0:2 "$@"; }
test_expect_success 'a program that is not there, or may not be run, before anything starts' '
	rm -rf dst && mkdir dst &&
	fails 2 "evenstep: --exec: ./nowhere: No such file or directory: give a program of this host behind --" run --exec "$here/dst/x" -- ./nowhere &&
	fails 2 "evenstep: --exec: nowhere-at-all: No such file or directory: give a program of this host behind --" run --exec "$here/dst/x" -- nowhere-at-all &&
	fails 1 "evenstep: --exec: ./lib: Is a directory: give a program of this host behind --" run --exec "$here/dst/x" -- ./lib &&
	fails 1 "evenstep: --exec: ./app.c: Permission denied: give a program, or make it one by chmod \+x" run --exec "$here/dst/x" -- ./app.c &&
	fails 1 "evenstep: --libs: .*libinner.so.1: .*: set LD_LIBRARY_PATH, or load the module, that it runs with here" env LD_LIBRARY_PATH= \
		evenstep run --local 1 --range 0:2 --exec "$here/dst/x" --libs -- ./app 1 && test ! -e dst/x
'
test_expect_success 'the command line' '
	fails 2 "evenstep: --libs: no file that is brought is a program: leave it out, or bring the program itself" run --exec "$here/dst/x" --libs -- ./script &&
	fails 2 "evenstep: --libs: there is no --bcast or --exec: give --bcast SRC:DST, too" run --libs -- ./app &&
	fails 2 "evenstep: --exclude-libs: there is no --libs: give --libs, too" run --exec "$here/dst/x" --exclude-libs /lib -- ./app &&
	fails 2 "evenstep: --exclude-libs \"lib\" is no list of folders: give folders as in \"/lib,/usr/lib\", or none" run --exec "$here/dst/x" --libs --exclude-libs lib -- ./app &&
	fails 2 "evenstep: --exec: with --local all nodes would write the same file: give DST with {node} in it" \
		evenstep run --local 2 --range 0:2 --exec "$here/dst/x" -- ./app &&
	printf "work \"own\" { command = \"true\" }\n" >works &&
	fails 2 "evenstep: --exec: no command: give it after --, or bring the programs of --works by --bcast" \
		evenstep run --local 1 --queue queue --works works --exec "$here/dst/x"
'
test_expect_success 'DST that is a folder on one node: it is named, and nothing runs' '
	nodes && mkdir dst/local1/x && test_expect_code 1 once --exec "$dst/x" -- ./script ran && test ! -s out &&
	mentioned "^evenstep: local1: $here/dst/local1/x: Is a directory" && mentioned "^evenstep: --exec: ./script:$here/dst/{node}/x: 1 of 2 nodes have not got it: see the lines above" && test -d dst/local1/x
'
test_expect_success 'DST where nothing may be run' '
	nodes && mkdir -p noexec && if mount -t tmpfs -o noexec none noexec 2>/dev/null; then
		evenstep run --local 1 --range 0:1 --exec "$here/noexec/x" -- ./script >out 2>err; code=$?; umount noexec
		test $code = 1 && said "evenstep: local0: frame 1, units 0:1: $here/noexec/x could not be started: Permission denied: bring it to where a node may run it, .*"; fi
'
test_expect_success 'a script whose own program no node has' '
	nodes && printf "#!/nowhere/interpreter\n" >strange && chmod +x strange && test_expect_code 1 once --exec "$dst/x" -- ./strange "{begin}" &&
	mentioned "dst/{node}/x could not be started: No such file or directory: .* a script.s own program to every node"
'
test_done
