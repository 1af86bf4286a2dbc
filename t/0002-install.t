#!/bin/sh
test_description='what install puts, uninstall takes away'
. /usr/share/sharness/sharness.sh
S=$EVENSTEP_SRC
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs us
# For another prefix some is built anew, which other tests must not see: a copy, as
# make knows no folder with a space in its name.
B=$(mktemp -d) || exit
trap 'code=$?; rm -rf "$B"; (exit $code); die' EXIT
trap 'exit 143' TERM
(cd "$EVENSTEP_BUILD" && tar -c --exclude ./t --exclude ./fuzz --exclude ./deb --exclude ./rpm --exclude "*.d" .) | tar -x -C "$B" || exit

test_expect_success 'install, then uninstall, leaves the site its configuration only' '
	make -s -C "$S" B="$B" DESTDIR="$PWD/root" PREFIX=/usr install &&
	test -x root/usr/bin/evenstep && test -x root/usr/bin/evenstep-agent &&
	echo "#include <evenstep.h>
	int main(void) { struct evenstep_peer p; return evenstep_peer(0, &p) == -1 ? 0 : 1; }" >app.c &&
	cc -Iroot/usr/include -o app app.c -Lroot/usr/lib -levenstep && env -u EVENSTEP_DIR LD_LIBRARY_PATH=root/usr/lib ./app &&
	export PKG_CONFIG_PATH=root/usr/lib/pkgconfig && test "$(pkg-config --variable=libdir evenstep)" = /usr/lib &&
	pkg-config --define-variable=includedir=root/usr/include --define-variable=libdir=root/usr/lib --cflags --libs evenstep >flags &&
	g++ -std=c++17 -o app "$S/contrib/cxx/squares.cpp" $(cat flags) && LD_LIBRARY_PATH=root/usr/lib ./app | grep -x 9801 &&
	(cd root && find . -name evenstep.so) >plugin && grep slurm plugin &&
	strings -a "root/$(cat plugin)" >strings && grep -x /usr/bin/evenstep strings &&
	test -r "root$(grep -x "/usr/lib/evenstep/libevenstep-mpi[.]so" strings)" &&
	make -s -C "$S" B="$B" DESTDIR="$PWD/root" PREFIX=/usr uninstall &&
	(cd root && find . -type f) >left && echo ./etc/evenstep/evenstep.conf >want && test_cmp want left
'
test_expect_success 'install leaves a configuration that is there as it is' '
	echo "# mine" >root/etc/evenstep/evenstep.conf &&
	make -s -C "$S" B="$B" DESTDIR="$PWD/root" PREFIX=/usr install &&
	echo "# mine" >want && test_cmp want root/etc/evenstep/evenstep.conf
'
test_expect_success 'the shipped configuration is the built-in one' '
	EVENSTEP_CONF=/dev/null; unset EVENSTEP_CONF
	"$EVENSTEP_BUILD/evenstep" config >builtin &&
	EVENSTEP_CONF="$S/etc/evenstep.conf" "$EVENSTEP_BUILD/evenstep" config >shipped &&
	grep budget_ms shipped && test_cmp builtin shipped
'
test_expect_success 'what evenstep config prints can be read again' '
	EVENSTEP_CONF="$PWD/shipped" "$EVENSTEP_BUILD/evenstep" config >again && test_cmp shipped again
'
test_done
