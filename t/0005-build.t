#!/bin/sh
test_description='the tarball, what make says where something is missing, and an installation for one user'
. /usr/share/sharness/sharness.sh
S=$EVENSTEP_SRC
unset MAKEFLAGS MFLAGS MAKELEVEL PREFIX # of the make that runs us
export CCACHE_DISABLE=1 # it would keep files in $HOME
version=$(make -s -C "$S" version)
# make knows no folder with a space in its name.
W=$(mktemp -d) && chmod 755 "$W"
trap 'code=$?; rm -rf "$W"; (exit $code); die' EXIT

test_expect_success 'the version is the one of CHANGELOG.md and of the programs' '
	grep -m 1 "^## " "$S/CHANGELOG.md" >newest && echo "## $version" >want && test_cmp want newest &&
	"$EVENSTEP_BUILD/evenstep" -V >told && echo "evenstep $version" >want && test_cmp want told
'
# EasyBuild reads a number in the file and its name, Spack one in the file.
test_expect_success 'so is the one of the recipes, and Python takes them' '
	(cd "$S/contrib/packaging" && grep "^    version(\"$version\")$" spack/package.py && grep "^version = .$version.$" easybuild/evenstep-"$version"-*.eb &&
	python3 -c "import ast, sys; [ast.parse(open(name).read(), name) for name in sys.argv[1:]]" spack/package.py easybuild/*.eb)
'
test_expect_success 'make dist: the files of the tree, and where there is no git the same' '
	SOURCE_DATE_EPOCH=1000000000 make -s -C "$S" B="$W/dist" dist && tar -xf "$W/dist/evenstep-$version.tar.gz" -C "$W" &&
	mv "$W/evenstep-$version" "$W/tree" && test ! -e "$W/tree/.git" && test -x "$W/tree/t/0005-build.t" && test ! -e "$W/tree/build" &&
	SOURCE_DATE_EPOCH=1000000000 make -s -C "$W/tree" B="$W/again" dist &&
	cmp "$W/dist/evenstep-$version.tar.gz" "$W/again/evenstep-$version.tar.gz"
'

# lacks NAME DEBIAN EL: make says so in one line, without that library.
lacks() {
	rm -rf pc && mkdir pc || return
	pkg-config --variable pc_path pkg-config | tr : "\n" | while read -r folder; do
		cp -Ln "$folder"/*.pc pc 2>&-
	done
	rm "pc/$1.pc" || return
	PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$PWD/pc test_expect_code 2 make -n -C "$W/tree" B="$W/none" install-user >out 2>err || return
	grep "^evenstep: " err >named
	echo "evenstep: $1 is missing: install $2 (Debian) or $3 (Enterprise Linux)" >want && test_cmp want named
}
test_expect_success 'make names a missing library with its packages' '
	lacks pmix libpmix-dev pmix-devel && lacks libevent_core libevent-dev libevent-devel &&
	lacks libsodium libsodium-dev libsodium-devel && lacks libcrypto libssl-dev openssl-devel &&
	lacks libxxhash libxxhash-dev xxhash-devel && lacks liblz4 liblz4-dev lz4-devel && lacks libzstd libzstd-dev libzstd-devel && lacks jansson libjansson-dev jansson-devel &&
	lacks libconfuse libconfuse-dev libconfuse-devel && lacks libcgraph libgraphviz-dev graphviz-devel &&
	lacks hwloc libhwloc-dev hwloc-devel && lacks ncursesw libncurses-dev ncurses-devel
'
test_expect_success 'make names all that are missing at once, and pkg-config' '
	mkdir empty && PKG_CONFIG_PATH="" PKG_CONFIG_LIBDIR=$PWD/empty test_expect_code 2 make -n -C "$W/tree" B="$W/none" all 2>err &&
	test "$(grep -c "^evenstep: .* is missing: install " err)" -ge 10 &&
	mkdir few && for each in make sh echo mkdir find; do ln -s "$(command -v $each)" few || return; done &&
	PATH=$PWD/few test_expect_code 2 make -n -C "$W/tree" B="$W/none" all 2>err &&
	grep "^evenstep: pkg-config is missing: install pkg-config (Debian) or pkgconf-pkg-config (Enterprise Linux)$" err
'
test_expect_success 'make names the package of Slurm, which only the plugin needs' '
	printf "#!/bin/sh\nlast=; for last; do :; done\ntest x\$last != x- || { echo none >&2; exit 1; }\nexec cc \"\$@\"\n" >"$W/no-slurm" && chmod +x "$W/no-slurm" &&
	test_expect_code 2 make -n -C "$W/tree" B="$W/none" CC="$W/no-slurm" all 2>err >&2 &&
	grep "^evenstep: slurm/spank.h is missing: install libslurm-dev (Debian) or slurm-devel (Enterprise Linux)$" err &&
	grep "make install-user. needs no Slurm" err && ! grep "(Debian)" err | grep -v spank
'

# A user's own tree, with what is already built of it but for the plugin; as root
# we are somebody else, who sees no header of Slurm.
if test "$(id -u)" = 0 && unshare -m true 2>/dev/null; then
	slurm=$(dirname "$(echo '#include <slurm/spank.h>' | cc -E -M - | tr ' ' '\n' | grep -m 1 'slurm/spank.h$')")
	as_user() { unshare -m sh -c 'mount -t tmpfs none "$0" && exec setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"' "$slurm" "$@"; }
else
	as_user() { "$@"; }
fi
user=$W/user
test_expect_success 'make install-user: works as it is, and puts nothing outside $HOME/.local' '
	mkdir "$user" && cp -a "$W/tree" "$user/tree" && find "$user/tree" -type f -exec touch -d @1000000000 {} + && mkdir "$user/tree/build" "$user/home" &&
	(cd "$EVENSTEP_BUILD" && tar -c --exclude "./t" --exclude "./fuzz" --exclude "*spank_plugin*" --exclude "*.d" launcher pmix_bcast policy pic) |
		tar -x -C "$user/tree/build" && { test "$(id -u)" != 0 || chown -R 65534:65534 "$user"; } &&
	as_user env HOME="$user/home" make -C "$user/tree" install-user >out 2>&1 </dev/null &&
	! grep spank_plugin/ out && test ! -e "$user/tree/build/evenstep.so" &&
	bin=$user/home/.local/bin && strings -a "$bin/evenstep" | grep -x "$user/home/.local/etc/evenstep/evenstep.conf" &&
	as_user env HOME="$user/home" TMPDIR="$user" "$bin/evenstep" run --local 2 --range 0:4 -- echo {begin} {end} >out 2>err </dev/null &&
	cat err && test -s out && test -f "$user/home/.local/etc/evenstep/evenstep.conf" &&
	(cd "$user" && find . -type f ! -path "./tree/*" ! -path "./home/.local/*") >outside && test_cmp /dev/null outside
'
test_expect_success 'the user has a configuration of their own, and a key of a newer version is told in one line' '
	echo "hardly_known = 1" >>"$user/home/.local/etc/evenstep/evenstep.conf" &&
	test_expect_code 2 "$user/home/.local/bin/evenstep" config 2>err && cat err && test "$(wc -l <err)" = 1 && grep hardly_known err
'
test_expect_success 'make uninstall-user leaves the configuration only' '
	as_user env HOME="$user/home" make -s -C "$user/tree" uninstall-user &&
	(cd "$user/home/.local" && find bin lib include etc share -type f) >left && echo etc/evenstep/evenstep.conf >want && test_cmp want left
'
test_done
