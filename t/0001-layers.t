#!/bin/sh
test_description='arrows between the folders point one way'
. /usr/share/sharness/sharness.sh
S=$EVENSTEP_SRC
# Of policy, what makes and destroys the workspace of task graphs and frames.
workspaces='account|balance|cost_memory|density|determination|dispatch_frames|dispatch_pieces|graph|graph_paths|graph_plan|grouping|list_schedule|needs|replan|schedule|sizing|unit_pool|window_simulation'

test_expect_success 'policy uses libm only, and nothing that remembers' '
	nm -uA "$EVENSTEP_BUILD"/policy/*.o | sed "s|.*/policy/||" |
		grep -vE "^($workspaces)\.o: +U (calloc|realloc|free)$" |
		awk "{print \$NF}" | sort -u >used &&
	test -s used &&
	awk "!/^[a-z][a-z0-9]*_/ || /^__/" used |
		grep -vxE "_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|(exp|log|pow|floor|ceil|fmin|fmax|sqrt|fabs|ldexp|frexp|mem(cpy|move|set|cmp)|strcmp|strchr|strlen)|__(a|t|ub)san_.*" >impure;
	cat impure; test ! -s impure
'
test_expect_success 'what else policy uses is its own' '
	nm --defined-only "$EVENSTEP_BUILD"/policy/*.o | awk "NF==3{print \$3}" | sort -u >own &&
	awk "/^[a-z][a-z0-9]*_/ && !/^__/" used | grep -vxFf own >foreign;
	cat foreign; test ! -s foreign
'
test_expect_success 'policy keeps no writable data' '
	objdump -t "$EVENSTEP_BUILD"/policy/*.o >symbols && grep -q " O " symbols &&
	grep -E "(\.data|\.bss|\*COM\*)" symbols | grep " O " | grep -v "\.data\.rel\.ro" >state;
	cat state; test ! -s state
'
test_expect_success 'policy and pmix_bcast do not know each other, nor their callers' '
	ls "$S"/policy/*.h "$S"/pmix_bcast/*.h &&
	! grep -nE "include \"(pmix_bcast|launcher|spank_plugin)/" "$S"/policy/*.[ch] &&
	! grep -nE "include \"(policy|launcher|spank_plugin)/" "$S"/pmix_bcast/*.[ch]
'
test_expect_success 'the launcher and the plugin meet only by exec' '
	ls "$S"/launcher/*/*.h "$S"/spank_plugin/*.h &&
	! grep -rnE "include \"spank_plugin/" "$S"/launcher &&
	! grep -nE "include \"(policy|pmix_bcast|launcher)/" "$S"/spank_plugin/*.[ch]
'
# The rooms of launcher/, and which others each may include.  An arrow that
# nobody needs any more is taken out: the test fails until it is.
cat >rooms <<END
base:
libevenstep: base
probe: base
meter: base libevenstep
wire: base meter probe
exec: base wire
config: base meter probe wire
power: base exec wire
agent: base exec libevenstep meter power probe wire
session: base config exec probe wire
run: base config exec session wire
graph: base config exec session wire
whatif: base config run session wire
command: base config probe run session wire
END
test_expect_success 'what a room of launcher includes is in the table of rooms' '
	sed "s/:.*//" rooms | sort >named && (cd "$S/launcher" && ls -d */ | tr -d /) | sort >there && test_cmp there named &&
	sed "s/://" rooms | awk "{for (i = 2; i <= NF; i++) print \$1, \$i}" | sort >allowed &&
	(cd "$S/launcher" && grep -oE "^#include \"launcher/[a-z]+/" */*.[ch]) |
		sed -E "s|/[^/]*launcher/| |; s|/$||" | awk "\$1 != \$2" | sort -u >drawn &&
	test -s drawn && test_cmp allowed drawn
'
test_expect_success 'nothing in a room knows the programs above it, but for the list of commands' '
	! grep -nE "include \"launcher/[a-z_]+\.h" "$S"/launcher/*/*.[ch] | grep -v "launcher/commands.h"
'
# Within a room files may call each other as they need.
test_expect_success 'rooms make no circle, neither by what they include nor by what they call' '
	(cd "$S" && grep -H "^#include \"[^\"]*/" launcher/*/*.[ch] policy/*.[ch] pmix_bcast/*.[ch]) |
		sed -E "s|/[^/]*:#include \"([^\"]*)/[^/]*|\t\1|" | awk -F "\t" "\$1 != \$2" | sort -u >included &&
	grep -q "^launcher/run	launcher/session$" included && tsort included >/dev/null &&
	(cd "$S" && ls launcher/*.c launcher/*/*.c policy/*.c pmix_bcast/*.c spank_plugin/*.c) | sed "s|c$|o|" >objects &&
	(cd "$EVENSTEP_BUILD" && xargs nm -A -P) <objects | sed "s/\.o: / /" >names &&
	awk "\$3 ~ /^[A-TV-Z]$/ { print \$2, \$1 }" names | sort -u >defined && awk "\$3 == \"U\" { print \$2, \$1 }" names | sort -u >used &&
	join used defined | awk "{ sub(/\/[^\/]*\$/, \"\", \$2); sub(/\/[^\/]*\$/, \"\", \$3) } \$2 != \$3 && \$2 != \"launcher\" { print \$2, \$3 }" | sort -u >called &&
	grep -q "^launcher/run launcher/session$" called && tsort called >/dev/null
'
# What falls short of the law of rooms, in t/rooms-allowed: it only gets less.
held() { comm -23 "$2" "$1" >new; comm -13 "$2" "$1" >gone; sed "s/^/new: /" new; sed "s/^/take out of t\/rooms-allowed: /" gone; test ! -s new && test ! -s gone; }
test_expect_success 'a public function has a user outside its file that is no test' '
	ours="^(MPI_|mpi_|GOMP_|ompt_|evenstep_|slurm_spank_|main\$)" &&
	awk "\$3 == \"T\" { print \$2 }" names | grep -vE "$ours" | sort -u >public && join used defined | awk "\$2 != \$3 { print \$1 }" | sort -u >needed &&
	comm -23 public needed >alone && sed -n "s/^alone //p" "$S/t/rooms-allowed" >may && held may alone
'
test_expect_success 'a room shows three headers' '
	(cd "$S" && grep -HE "^#include \"(launcher/[a-z]+|policy|pmix_bcast)/[a-z0-9_]+\.h\"" launcher/*.[ch] launcher/*/*.[ch] policy/*.[ch] pmix_bcast/*.[ch]) |
		sed -E "s|/[^/:]*:#include \"([^\"]*)\"|\t\1|" | awk -F "\t" "{ room = \$2; sub(/\/[^\/]*\$/, \"\", room); if (\$1 != room) print room, \$2 }" | sort -u |
		awk "{ n[\$1]++ } END { for (room in n) if (n[room] > 3) print room, n[room] }" | sort >shown && sed -n "s/^shows //p" "$S/t/rooms-allowed" >may && held may shown
'
test_expect_success 'the plugin needs nothing but libc' '
	objdump -p "$EVENSTEP_BUILD/evenstep.so" | awk "/NEEDED/{print \$2}" >needed &&
	echo libc.so.6 >want && test_cmp want needed
'
test_expect_success 'the plugin exports what Slurm looks up, no more' '
	nm -D --defined-only "$EVENSTEP_BUILD/evenstep.so" | awk "{print \$3}" >exported &&
	test -s exported &&
	grep -vE "^(plugin_(name|type|version)|spank_(plugin_version|options)|slurm_spank_.*)$" exported >extra;
	cat extra; test ! -s extra
'
test_expect_success 'libevenstep needs libc and xxHash only, and exports what its header says' '
	objdump -p "$EVENSTEP_BUILD/libevenstep.so" | awk "/NEEDED/{print \$2}" | sort >needed &&
	printf "libc.so.6\nlibxxhash.so.0\n" >want && test_cmp want needed &&
	nm -D --defined-only "$EVENSTEP_BUILD/libevenstep.so" | awk "{print \$3}" | sort >exported &&
	sed -n "s/^[a-z][a-z0-9_ ]*[ *]\(evenstep_[a-z_]*\)(.*/\1/p" "$S/launcher/libevenstep/evenstep.h" | sort >declared && test -s declared &&
	test_cmp declared exported
'
# It stands in front of programs that nobody changed.
test_expect_success 'libevenstep-mpi needs no library by name, and exports no name but those of MPI and the one of libevenstep that it watches' '
	objdump -p "$EVENSTEP_BUILD/libevenstep-mpi.so" | awk "/NEEDED/{print \$2}" >needed && test ! -s needed &&
	nm -D --defined-only "$EVENSTEP_BUILD/libevenstep-mpi.so" | awk "{print \$3}" >exported && grep -qx MPI_Barrier exported &&
	grep -vE "^(MPI_[A-Z][a-z_]*|mpi_[a-z0-9_]*_|GOMP_[a-z_]*)$" exported >extra; printf "%s\n" evenstep_work ompt_start_tool >want && test_cmp want extra
'
# On every compute node: what draws, plans and reads the site's file stays away.
test_expect_success 'evenstep-agent needs no ncurses, cgraph, libconfuse or HTTP' '
	objdump -p "$EVENSTEP_BUILD/evenstep-agent" | awk "/NEEDED/{print \$2}" >needed && grep libpmix needed &&
	! grep -E "ncurses|tinfo|cgraph|cdt|confuse|libevent_extra" needed
'
# It runs as root.
test_expect_success 'evenstep-power needs libevent, libconfuse, libm and libc, no more' '
	objdump -p "$EVENSTEP_BUILD/evenstep-power" | awk "/NEEDED/{print \$2}" | sed "s/[-.0-9]*\.so.*//" | sort >needed &&
	printf "libc\nlibconfuse\nlibevent_core\nlibm\n" >want && test_cmp want needed
'
test_expect_success 'the plugin neither ends nor locks its host process' '
	nm -u "$EVENSTEP_BUILD"/spank_plugin/*.o | awk "/ U /{print \$2}" | sort -u >used &&
	test -s used &&
	grep -xE "exit|abort|__assert_fail|setlocale|pthread_.*|signal|printf|puts" used >banned;
	cat banned; test ! -s banned
'
test_done
