#!/bin/sh
test_description='what only packages have: the plugin for the Slurm that is there, units, an epilog, news'
. /usr/share/sharness/sharness.sh
S=$EVENSTEP_SRC
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs us
for tool in systemd-analyze systemd-tmpfiles; do command -v $tool >/dev/null && test_set_prereq "$(echo $tool | tr a-z- A-Z_)"; done

# A host: packages of Slurm in LIBDIR, of the versions in `owned`, and plugins for RELEASE...
lib=$PWD/lib
host() {
	rm -rf lib owned && mkdir -p lib/evenstep bin && cp "$S/contrib/packaging/link-plugin" lib/evenstep && : >owned || return
	for release; do mkdir "lib/evenstep/slurm-$release" && echo "$release" >"lib/evenstep/slurm-$release/evenstep.so" || return; done
}
# slurm FOLDER VERSION: a package of that version has the folder.
slurm() { mkdir -p "lib/$1" && : >"lib/$1/select_cons_tres.so" && { grep -v " $1 " owned; echo "slurm-$1 $1 $2"; } >new; mv new owned; }
linked() { PATH=$PWD/bin:$PATH HOST=$PWD "lib/evenstep/link-plugin" "$@" 2>said; cat said; }
# takes FOLDER RELEASE: what Slurm opens there.
takes() { echo "$2" >want && test_cmp want "lib/$1/evenstep.so" && test ! -e "lib/$1/evenstep.so.new"; }
mkdir bin
cat >bin/dpkg-query <<'END'
#!/bin/sh
case $1 in
-S) while read -r package folder version; do case $2 in */"$folder"/*) echo "$package:amd64: $2" ;; esac; done <"$HOST/owned" | grep . ;;
*) sed -n "s/^${3%:*} [^ ]* //p" "$HOST/owned" ;;
esac
END
printf '#!/bin/sh\nexit 1\n' >bin/rpm
chmod +x bin/*

test_expect_success 'link-plugin: the release of the Slurm that is there, in the packages of Debian and of SchedMD' '
	host 22.05 24.11 26.05 && slurm slurm-wlm 22.05.8-4+deb12u3 && linked >out && test_must_be_empty said && takes slurm-wlm 22.05 &&
	test ! -e lib/slurm && slurm slurm 1:24.11.5-1 && linked && takes slurm-wlm 22.05 && takes slurm 24.11
'
test_expect_success 'Slurm is upgraded: the link follows; and it stays when nothing has changed' '
	slurm slurm-wlm 26.05.1-2 && linked && takes slurm-wlm 26.05 && linked && takes slurm-wlm 26.05
'
test_expect_success 'no plugin fits: one line, and no link, so that Slurm goes on without' '
	slurm slurm-wlm 25.11.0-1 && linked && grep "no plugin for Slurm 25.11 of $lib/slurm-wlm" said && test "$(wc -l <said)" = 1 &&
	test ! -L lib/slurm-wlm/evenstep.so && takes slurm 24.11 &&
	: >owned && linked && test_must_be_empty said && test ! -L lib/slurm/evenstep.so
'
test_expect_success 'it asks rpm where dpkg does not know' '
	host 24.11 && slurm slurm x && : >owned && printf "#!/bin/sh\necho 24.11.5\n" >bin/rpm && linked && takes slurm 24.11
'
test_expect_success '--remove takes its links away, and leaves what an administrator has put there' '
	linked --remove && test ! -L lib/slurm/evenstep.so && echo mine >lib/slurm/evenstep.so && linked && takes slurm mine &&
	grep "evenstep.so is not of a package and stays" said && linked --remove && takes slurm mine
'
test_expect_success 'the epilog puts limits back, and never fails' '
	mkdir has && printf "#!/bin/sh\necho \"\$@\"; exit 1\n" >has/evenstep-power && chmod +x has/evenstep-power &&
	PATH=$PWD/has:$PATH "$S/etc/evenstep-epilog" >out && echo --restore >want && test_cmp want out &&
	env PATH=/nowhere /bin/sh "$S/etc/evenstep-epilog" >out 2>&1 && test_must_be_empty out
'
test_expect_success SYSTEMD_ANALYZE 'systemd has nothing to say of the units' '
	mkdir units && sed "s|/usr/bin/evenstep|$EVENSTEP_BUILD/evenstep|" "$S/etc/evenstep-probe.service" >units/evenstep-probe.service &&
	cp "$S/etc/evenstep-probe.timer" units && (cd units && systemd-analyze verify --man=no ./evenstep-probe.service ./evenstep-probe.timer) >out 2>&1; code=$?
	grep evenstep out; test $code = 0 && ! grep evenstep out
'
test_expect_success SYSTEMD_TMPFILES 'and makes the folder of evenstep-power, which takes it' '
	mkdir root && systemd-tmpfiles --create --root="$PWD/root" "$S/etc/evenstep-tmpfiles.conf" 2>err; cat err
	stat -c "%a %n" root/run/evenstep root/run/evenstep/power >got &&
	printf "755 root/run/evenstep\n755 root/run/evenstep/power\n" >want && test_cmp want got &&
	"$EVENSTEP_BUILD/evenstep-power" --restore --state "$PWD/root/run/evenstep/power"
'
test_expect_success 'make names what packaging needs, and its scripts do' '
	make -s -n -C "$S" deps-packages >out && for tool in debhelper dh-python lintian rpm rpmlint; do grep -w "for p in .*$tool" out || return; done &&
	for file in contrib/packaging/deb contrib/packaging/rpm spank_plugin/evenstep-site.7; do grep "make deps-packages" "$S/$file" || return; done
'
test_expect_success 'the release of the headers is what the plugin says it was built for' '
	. "$S/contrib/slurm_release.sh" && slurm_release_of_headers >release && grep -xE "[0-9]{2}\.[0-9]{2}" release &&
	offset=$(nm -D "$EVENSTEP_BUILD/evenstep.so" | sed -n "s/^0*\([0-9a-f]*\) R plugin_version$/\1/p") &&
	od -An -tu1 -j "0x$offset" -N 3 "$EVENSTEP_BUILD/evenstep.so" | while read -r micro minor major; do printf "%02d.%02d\n" "$major" "$minor"; done >built &&
	test_cmp built release
'
# The key that the news says has no use is not printed, and those that it says are new are.
test_expect_success 'the news of the configuration is true' '
	news=$S/contrib/packaging/debian/evenstep-agent.NEWS && echo "power { start = 0.8 }" >old.conf &&
	grep "power { start } has no effect" "$news" && EVENSTEP_CONF="$PWD/old.conf" "$EVENSTEP_BUILD/evenstep" config >config && ! grep "start = 0.8" config && tr -s " ;,{}=" "\n" <"$news" | grep -xE "timeout|linger|lend|job_comment|energy|cache_mb|exclude_libs|compress|scheme|transport|threads|rails" | sort -u >keys &&
	test "$(wc -l <keys)" = 12 && while read -r key; do grep -w "$key" config || return; done <keys && grep "bound = 5e-05\|bound = 0.00005" config
'
test_done
