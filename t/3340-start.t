#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the start of a step on many nodes: its table, its inputs'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF TMPDIR
prolog=$(testbed_dir).prolog # slurm.conf takes no blank, and /tmp is of each node

one_line() { test "$(grep -c evenstep: err)" = 1; }
# count LINE N: got has that line so often.
count() { test "$(grep -cxE -e "$1" got)" = "$2"; }

test_expect_success 'up: 24 nodes, with a TMPDIR of each that a prolog of the site gives' '
	cat >"$prolog" <<-\END && chmod 755 "$prolog" &&
	#!/bin/sh
	mkdir -p "/tmp/of-$SLURMD_NODENAME" && echo "export TMPDIR=/tmp/of-$SLURMD_NODENAME"
	END
	testbed_up --nodes 24 --cpus 8 --rate none --speeds none --set TaskProlog="$prolog" --plugin "$EVENSTEP_BUILD/evenstep.so" \
		--plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
test_expect_success 'a step of 192 tasks: every node has the table of all, and it is the same' '
	on_ctl srun -N24 --ntasks-per-node=8 --evenstep-probe=off sh -c "test \$SLURM_LOCALID != 0 || cksum <\$EVENSTEP_DIR/conntable" >sums 2>err &&
	cat err && quiet err && test "$(sort -u sums | wc -l) $(wc -l <sums)" = "1 24" &&
	on_ctl srun -N24 --ntasks-per-node=8 --evenstep-probe=off sh -c "test \$SLURM_PROCID != 191 || \"$EVENSTEP_BUILD\"/evenstep conntable dump --json" >got 2>err &&
	jq -se "map(.rank) == [range(192)] and (map(.node) | unique | length) == 24 and (group_by(.node) | all(length == 8))" got
'
test_expect_success 'likewise by the published tree and pull, and a file that comes before the tasks' '
	printf "bcast {\n scheme = \"strict\"\n}\n" >strict.conf && head -c 300000 /dev/urandom >file &&
	on_ctl env EVENSTEP_CONF="$PWD/strict.conf" srun -N24 --ntasks-per-node=8 --evenstep-probe=off --evenstep-bcast="file:/tmp/strict" \
		sh -c "test \$SLURM_LOCALID != 0 || { cmp file /tmp/strict && cksum <\$EVENSTEP_DIR/conntable; }" >got 2>err
	cat err && quiet err && test "$(sort -u got | wc -l) $(wc -l <got)" = "1 24"
'
# bytes tx|rx NODE: that it has sent, or got, so far.
bytes() { on_node "$2" cat "/sys/class/net/eth0/statistics/$1_bytes"; }
# home_sends CONF OPTIONS...: what ctl sends for a step of 192 tasks: $sent.
home_sends() {
	conf=$1 before=$(bytes tx ctl)
	shift
	on_ctl env EVENSTEP_CONF="$PWD/$conf" srun -N24 --ntasks-per-node=8 --evenstep-probe=off "$@" true 2>err && quiet err && sent=$(($(bytes tx ctl) - before)) && echo "$conf: $sent"
}
# By "strict" each node of the first layer gets a chunk from home, though there is one alone.
test_expect_success 'the table goes down a tree, and home sends it once; "strict" reaches it' '
	printf "bcast {\n scheme = \"strict\"\n branches = 24\n chunk = 65536\n}\n" >all.conf && sed /scheme/d all.conf >wide.conf && : >default.conf && table=12288 &&
	home_sends default.conf && once=$sent && home_sends wide.conf && test $((sent - once)) -lt $((table * 10)) && home_sends all.conf && test $((sent - once)) -gt $((table * 20))
'
test_expect_success 'and a file that comes before the tasks' '
	head -c 60000 file >part && home_sends default.conf --evenstep-bcast=part:/tmp/once && once=$sent &&
	home_sends all.conf --evenstep-bcast=part:/tmp/more && test $((sent - once)) -gt $((60000 * 20))
'

test_expect_success 'all 192 say where they listen (evenstep_listen), and have connections to all others' '
	cc -O2 -Wall -Wextra -Werror -I"$EVENSTEP_SRC/launcher/libevenstep" -o connect "$EVENSTEP_SRC/contrib/connect/connect.c" -L"$EVENSTEP_BUILD" -levenstep &&
	on_ctl env LD_LIBRARY_PATH="$EVENSTEP_BUILD" srun -N24 --ntasks-per-node=8 --evenstep ./connect >got 2>err
	cat err && quiet err && seq 0 191 | sed "s/.*/unit &: connections to 191 others/" | sort >want && sort got | test_cmp want -
'

test_expect_success 'evenstep-bcast twice: a file and a folder, into the TMPDIR of each node and by its name' '
	head -c 300000 /dev/urandom >file && mkdir -p folder/sub && echo deep >folder/sub/file &&
	on_ctl srun -N24 --evenstep-probe=off --evenstep-bcast="file:\$TMPDIR/brought" --evenstep-bcast="folder:/tmp/of-{node}/folder" \
		sh -c "cmp file \$TMPDIR/brought && cat /tmp/of-\$SLURMD_NODENAME/folder/sub/file" >got 2>err
	cat got err && count deep 24 && quiet err
'
test_expect_success 'of two one that is not there: no step without its input' '
	test_expect_code 1 on_ctl srun -N2 --evenstep-bcast=file:/tmp/first --evenstep-bcast=/nosuch:/tmp/x echo ran >got 2>err && one_line && test ! -s got &&
	grep "evenstep: /nosuch: No such file or directory: .*; the step is not started without its input" err
'
test_expect_success 'of two one that a node has no room for: it is named by its path there, before a byte is sent' '
	on_node n1 sh -c "mkdir /tmp/small && mount -t tmpfs -o size=4m none /tmp/small" && on_node n0 mkdir /tmp/small &&
	head -c 8000000 /dev/urandom >large && before=$(bytes rx n1) &&
	test_expect_code 1 on_ctl srun -w n0,n1 --evenstep-bcast=/etc/hosts:/tmp/hosts --evenstep-bcast="large:/tmp/small/{node}" echo ran >got 2>err
	cat err && test ! -s got && grep "evenstep: n1: /tmp/small/n1: No space left on device" err && test $(($(bytes rx n1) - before)) -lt 2000000 &&
	grep "; the step is not started without its input" err && on_node n1 umount /tmp/small
'
test_expect_success 'in a script of sbatch: evenstep bcast, and srun --evenstep-bcast' '
	cat >batch.sh <<-\END &&
	#!/bin/sh
	evenstep bcast file "\$TMPDIR/in.{node}" && srun --evenstep-bcast=file:/tmp/second \
		sh -c "cmp file \$TMPDIR/in.\$SLURMD_NODENAME && cmp file /tmp/second && echo same"
	END
	on_ctl env PATH="$EVENSTEP_BUILD:$PATH" sbatch -Q -W -N2 --ntasks-per-node=1 -o "$PWD/got" batch.sh; cat got && count same 2
'

cat >twice.sh <<'END'
bring="--evenstep-probe=off --evenstep-bcast=text:/tmp/of-{node}/text --evenstep-bcast=folder:/tmp/of-{node}/twice/"
srun $bring sh -c 'cd /tmp/of-$SLURMD_NODENAME && cat text twice/sub/file && echo own >twice/own && date -r text +%F'
echo second >text && echo new >folder/sub/new
srun $bring sh -c 'cd /tmp/of-$SLURMD_NODENAME && cat text twice/sub/file twice/sub/new twice/own'
END
test_expect_success 'a second step brings to the same places: a file is replaced, a folder gets what it lacks' '
	rm -rf folder && mkdir -p folder/sub && echo deep >folder/sub/file && echo first >text && touch -d 2001-02-03 text &&
	on_ctl salloc -Q -N2 --ntasks-per-node=1 sh twice.sh >got 2>err
	cat got err && quiet err && printf "%s\n" first deep 2001-02-03 second deep new own >want &&
	for line in $(sort -u want); do test $(grep -cx -e "$line" got) = $((2 * $(grep -cx -e "$line" want))) || return 1; done
'

# A job of the tests below runs COMMANDS with agents that stay; what ran where: got.
in_job() {
	echo "agents { linger = 600 }" >stay.conf
	on_ctl env EVENSTEP_CONF="$PWD/stay.conf" PATH="$EVENSTEP_BUILD:$PATH" salloc -Q "$@" >got 2>err
}
cat >steps.sh <<'END'
steps() { squeue -h -s -j $SLURM_JOB_ID -o "%i %j" | grep -c evenstep; }
evenstep bcast file "/tmp/of-{node}/one" && steps && evenstep bcast file "/tmp/of-{node}/two" && evenstep run --metrics equal --range 0:8 true && steps
evenstep run --metrics equal --range 0:8 -- sh -c 'cmp /tmp/of-$EVENSTEP_NODE/one /tmp/of-$EVENSTEP_NODE/two && echo same'
find /dev/shm -name "linger-$SLURM_JOB_ID-*" | wc -l
END
test_expect_success 'agents that stay: four commands of a job have one step; nothing is left of it when the job ends' '
	in_job -N8 sh steps.sh; cat got err && test "$(grep -cx 1 got)" = 3 && count same 8 &&
	wait_for 60 no_agents && wait_for 60 no_jobs && test -z "$(on_ctl find /dev/shm -name "linger-*")"
'
cat >attended.sh <<'END'
steps() { squeue -h -s -j $SLURM_JOB_ID -o "%i %j" | grep -c evenstep; }
attend() { srun --evenstep --evenstep-bcast=file:/tmp/attended "$@" sh -c 'cmp file /tmp/attended && test -s $EVENSTEP_DIR/conntable && echo $SLURM_NTASKS && rm /tmp/attended'; steps; }
attend && attend && attend -n3 -N3 && attend
END
test_expect_success 'likewise steps that are attended: those of one set of nodes share theirs' '
	in_job -N4 --ntasks-per-node=1 sh attended.sh; cat got err && quiet err && printf "%s\n" 4 4 4 4 1 4 4 4 4 1 3 3 3 2 4 4 4 4 2 >want &&
	test_cmp want got && wait_for 60 no_agents && wait_for 60 no_jobs && test -z "$(on_ctl find /dev/shm -name "linger-*")"
'
# By sbatch: a salloc of Slurm 22.05 whose command cancels it may spin for ever.
test_expect_success 'likewise after scancel' '
	! on_ctl env EVENSTEP_CONF="$PWD/stay.conf" PATH="$EVENSTEP_BUILD:$PATH" sbatch -Q -W -N2 -o /dev/null --wrap "evenstep bcast -f file /tmp/x && touch \"$PWD/brought\" && scancel \$SLURM_JOB_ID && sleep 60" &&
	test -e brought &&
	wait_for 60 no_agents && wait_for 60 no_jobs && test -z "$(on_ctl find /dev/shm -name "linger-*")"
'
unattended() { test -z "$(ours -f "evenstep attend")"; }
# Each library takes five seconds of the disk, which no signal ends, and all are in one chunk: it
# is to be seen between two of them, before so many are open that threads do the others.
test_expect_success 'a step that is interrupted while its libraries are read: all ends long before they are' '
	mkdir slow && echo "int none;" >none.c && cc -shared -o slow/lib1.so none.c && for i in $(seq 2 16); do cp slow/lib1.so slow/lib$i.so || return 1; done && echo "int main(void) { return 0; }" >app.c &&
	cc -o app app.c -Wl,--no-as-needed -L slow $(printf -- "-l:lib%d.so " $(seq 16)) -Wl,-rpath,"$PWD/slow" && rm -f log &&
	{ "$testbed" exec --name "$testbed_name" -- env --default-signal=INT LD_PRELOAD="$EVENSTEP_BUILD/t/programs/disk.so" DISK_SLOW=5000 DISK_LOG="$PWD/log" \
		srun -N2 --evenstep-probe=off --evenstep-libs --evenstep-bcast=app:/tmp/app /tmp/app >out 2>err 3>&- 4>&- 5>&- & } && run=$! &&
	wait_for 60 grep -qs "^slow" log && kill -INT $run && { test_must_fail wait $run; mentioned "evenstep: interrupted while it started; the step is not started"; } &&
	wait_for 60 unattended && wait_for 60 no_agents && cat log && test "$(grep -c "^slow" log)" = 1
'
test_expect_success 'nothing is left' 'rm "$prolog"; wait_for 60 none_of evenstep-agent && wait_for 60 none_of evenstep'

test_done
