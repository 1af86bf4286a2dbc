#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep beside an unchanged program: it runs as without, and knows its nodes'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF

one_line() { test "$(grep -c evenstep: err)" = 1; }
no_line() { test -e "$2" && ! grep -E -e "$1" "$2"; }
in_job() { on_ctl salloc -Q "$@"; }
fewer() { test "$(ours evenstep-agent | wc -l)" -lt 4; } # of four agents
nothing_left() { wait_for 60 none_of evenstep-agent && wait_for 60 none_of evenstep && wait_for 60 no_jobs && wait_for 60 no_step_dir; }

test_expect_success 'up: four nodes with the plugin; an Open MPI program is compiled' '
	mpicc -O1 -o ring "$EVENSTEP_SRC/t/programs/ring.c" &&
	testbed_up --nodes 4 --speeds 80,40,20,10 --plugin "$EVENSTEP_BUILD/evenstep.so" \
		--plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
test_expect_success 'without evenstep the ring closes over 8 ranks' '
	on_ctl srun -N4 --ntasks-per-node=2 --mpi=pmix ./ring >want && cat want &&
	awk "\$2 != NR - 1 || \$4 != \"8:\" || \$6 != (NR == 1 ? 36 : NR * (NR + 1) / 2) \",\" || \$7 != 65536 { exit 1 } END { exit NR != 8 }" want
'
# hash: PMIx 4.2's other store fails now and then without a modex, see evenstep-plugin(8)
for modex in "" "OMPI_MCA_pmix_base_async_modex=1 OMPI_MCA_pmix_base_collect_data=0 PMIX_MCA_gds=hash"; do
	test_expect_success "with it: the same output, nothing on stderr (${modex:-as Open MPI comes})" '
		on_ctl env $modex srun -N4 --ntasks-per-node=2 --mpi=pmix --evenstep ./ring >got 2>err &&
		cat err && test_cmp want got && { grep -v "all ranks have waited for" err >other; no_line evenstep other; } # on a busy machine they have
	'
done
test_expect_success 'with it: the same exit status' '
	test_expect_code 42 on_ctl srun -N4 --ntasks-per-node=2 --mpi=pmix ./ring 42 >got 2>plain &&
	test_expect_code 42 on_ctl srun -N4 --ntasks-per-node=2 --mpi=pmix --evenstep ./ring 42 >got 2>err &&
	test_cmp want got && no_line evenstep: err
'
test_expect_success 'nothing is left on the nodes' nothing_left

# see: what a task has; one a node.
cat >see <<'END'
#!/bin/sh
echo "$SLURMD_NODENAME $EVENSTEP_SHARE $EVENSTEP_NODE_COUNT $(stat -c '%a %u %U' "$EVENSTEP_DIR") $(stat -c '%a' "$(dirname "$EVENSTEP_DIR")") $EVENSTEP_DIR"
cp "$EVENSTEP_DIR/metrics.json" "metrics.$SLURMD_NODENAME" && cp "$EVENSTEP_DIR/env" "env.$SLURMD_NODENAME"
END
chmod +x see
test_expect_success 'shares follow the speeds and sum to 1; the directories are the user'"'"'s alone' '
	for try in 1 2 3 4 5; do # others may be busy here
		on_ctl srun -N4 --evenstep ./see >got 2>err && cat err && sort got >sorted && cat sorted &&
			awk "\$3 != 4 || \$4 != 700 || \$5 != 0 || \$7 != 700 { exit 1 }
			     { sum += \$2 } END { exit !(NR == 4 && sum > 0.99999 && sum < 1.00001) }" sorted || return 1
		sort -c -k2,2gr -u sorted && return
	done
	return 1
'
test_expect_success 'EVENSTEP_DIR is named after the job and the step, and is gone afterwards' '
	awk "\$8 !~ \"^/dev/shm/evenstep-0/[0-9]+[.]0\$\" { exit 1 }" sorted && nothing_left
'
test_expect_success 'metrics.json is the same on all nodes and names each with its speed' '
	for node in 0 1 2 3; do test_cmp metrics.n0 metrics.n$node || return 1; done && cat metrics.n0 &&
	jq -e "[.nodes[].name] == [\"n0\", \"n1\", \"n2\", \"n3\"] and ([.nodes[].C] | . == (sort | reverse) and .[-1] > 0)" metrics.n0
'
test_expect_success 'two steps at once have a directory each' '
	cat >two.sh <<-\END && in_job -N4 -n8 --ntasks-per-node=2 sh two.sh >got 2>err && cat got err &&
	srun -N4 -n4 --overlap --evenstep sh -c "echo \$EVENSTEP_DIR; test -e \$EVENSTEP_DIR/env" & first=$!
	srun -N4 -n4 --overlap --evenstep sh -c "echo \$EVENSTEP_DIR; test -e \$EVENSTEP_DIR/env" && wait $first
	END
	sort got | uniq -c | awk "\$1 != 4 { exit 1 } END { exit NR != 2 }" && nothing_left
'
test_expect_success 'Slurm tells of the tasks when the agents have long come: all is there all the same' '
	mkdir slow && printf "#!/bin/sh\nsleep 2\nexec %s \"\$@\"\n" "$(command -v sattach)" >slow/sattach && chmod +x slow/sattach &&
	on_ctl env "PATH=$PWD/slow:$PATH" srun -N4 --evenstep sh -c "test -s \$EVENSTEP_DIR/conntable && test -n \"\$EVENSTEP_SHARE\" && echo ran" >got 2>err &&
	cat err && test "$(grep -cx ran got)" = 4 && no_line evenstep err
'
test_expect_success '--evenstep-probe=off: equal shares' '
	on_ctl srun -N4 --evenstep --evenstep-probe=off printenv EVENSTEP_SHARE >got && printf "0.250000\n%.0s" 1 2 3 4 >want4 && test_cmp want4 got
'
test_expect_success 'a step on some of the job'"'"'s nodes knows these only' '
	in_job -N4 srun -N2 -w n1,n3 --evenstep sh -c "echo \$SLURMD_NODENAME \$EVENSTEP_NODE_COUNT" >got && sort got >sorted &&
	printf "n1 2\nn3 2\n" >want2 && test_cmp want2 sorted
'
cat >look <<\END
#!/bin/sh
# what the table says of this rank is what Slurm says of it
evenstep conntable lookup $SLURM_PROCID --json >entry.$SLURM_PROCID &&
jq -e ".rank == $SLURM_PROCID and .node == $SLURM_NODEID and .local_rank == $SLURM_LOCALID and .tcp_port > 0 and
	(.ip | IN($(ip -j -4 addr | jq -c '[.[].addr_info[].local]')[]))" entry.$SLURM_PROCID >&2 || exit 1
cksum <"$EVENSTEP_DIR/conntable"
stat -c %A "$EVENSTEP_DIR/conntable"
END
chmod +x look
test_expect_success 'a program finds its peers by libevenstep: each message comes to who was meant' '
	mpicc -O1 -I"$EVENSTEP_SRC/launcher/libevenstep" -o peers "$EVENSTEP_SRC/t/programs/peers.c" -L"$EVENSTEP_BUILD" -Wl,-rpath,"$EVENSTEP_BUILD" -levenstep &&
	on_ctl srun -n7 -N4 -m cyclic --mpi=pmix --evenstep ./peers >got 2>err && cat got err && test "$(cat got)" = "7 ranks know their peers" &&
	on_ctl srun -n7 -N4 --mpi=pmix ./peers >got 2>err && cat got && test "$(cat got)" = "no table: No such file or directory"
'
# Slurm 24.11 takes no -N beside "arbitrary": -w names every node.
for how in 'block -N4' 'cyclic -N4' 'arbitrary -w n0,n2,n1,n3,n1,n0,n2'; do
	test_expect_success "the connection table: each rank is where Slurm has put it ($how)" '
		on_ctl env PATH="$EVENSTEP_BUILD:$PATH" srun -n7 -m $how --evenstep ./look >got 2>err && cat got err && sort -u got >same &&
		test $(wc -l <got) = 14 && test $(wc -l <same) = 2 && grep -qx -e "-r--r--r--" same
	'
done
test_expect_success 'an InfiniBand port goes before the interface that reaches home' '
	port="$PWD/sys/class/infiniband/mlx5_0/ports/1" && mkdir -p "$port/gids" && echo "4: ACTIVE" >"$port/state" && echo InfiniBand >"$port/link_layer" &&
	echo 0x1f >"$port/lid" && echo 2 >"$port/lid_mask_count" && echo "100 Gb/sec (4X EDR)" >"$port/rate" &&
	echo fe80:0000:0000:0000:0002:c903:00e0:ab01 >"$port/gids/0" &&
	on_ctl env PATH="$EVENSTEP_BUILD:$PATH" EVENSTEP_SYSFS="$PWD/sys" srun -N2 --evenstep evenstep conntable lookup 1 --json >got && cat got &&
	jq -se "length == 2 and all(.link == \"infiniband\" and .lid == 31 and .lmc == 2 and .port == 1 and .rank == 1)" got
'
test_expect_success '--evenstep-bcast brings a file to /tmp of every node' '
	head -c 300000 /dev/urandom >file && on_ctl srun -N4 --evenstep-bcast=file:/tmp/brought cksum /tmp/brought >got 2>err &&
	cat got err && cksum file | sed "s|file|/tmp/brought|" >one && cat one one one one >want4 && test_cmp want4 got &&
	on_ctl sh -c "ls /tmp" >got && no_line brought got
'
test_expect_success '--evenstep-libs brings what a program needs, and its tasks look there first' '
	echo "int inner(void) { return 42; }" >inner.c && mkdir -p lib && cc -shared -fPIC -Wl,-soname,libinner.so.1 -o lib/libinner.so.1 inner.c &&
	echo "int inner(void); int main(void) { return inner(); }" >outer.c && cc -o outer outer.c lib/libinner.so.1 &&
	on_ctl env LD_LIBRARY_PATH="$PWD/lib:/user" srun -N4 --evenstep-bcast="outer:/tmp/of-{node}" --evenstep-bcast=file:/tmp/data --evenstep-libs \
		sh -c "mv lib/libinner.so.1 lib/away 2>/dev/null; ls /tmp/of-*_libs; echo \$LD_LIBRARY_PATH \${EVENSTEP_LIBS-unset}; LD_LIBRARY_PATH=\${LD_LIBRARY_PATH%%:*} /tmp/of-\$SLURMD_NODENAME; echo \$?" >got 2>err &&
	cat got err && test $(grep -cx libinner.so.1 got) = 4 && test $(grep -cx 42 got) = 4 &&
	for node in n0 n1 n2 n3; do grep -qx "/tmp/of-${node}_libs:$PWD/lib:/user unset" got || return 1; done
'
test_expect_success 'nor do they start where it brings no program, or one that lacks a library' '
	test_expect_code 1 on_ctl srun -N4 --evenstep-bcast=file:/tmp/x --evenstep-libs echo ran >got 2>err && one_line && test ! -s got &&
	mentioned "evenstep: --evenstep-libs: no file that is brought is a program: .*; the step is not started without its input" &&
	test_expect_code 1 on_ctl srun -N4 --evenstep-bcast=outer:/tmp/x --evenstep-libs echo ran >got 2>err && one_line && test ! -s got &&
	mentioned "libinner.so.1.*; the step is not started without its input"
'
test_expect_success '--evenstep-bcast of a file that is not there: no step without its input, one line, exit 1' '
	test_expect_code 1 on_ctl srun -N4 --evenstep-bcast=/nosuch:/tmp/x echo ran >got 2>err && one_line && test ! -s got &&
	mentioned "evenstep: /nosuch: No such file or directory: give a file that can be read; the step is not started without its input"
'
test_expect_success 'nor of one that a node does not get' '
	on_node n2 mkdir /tmp/x && test_expect_code 1 on_ctl srun -N4 --evenstep-bcast=file:/tmp/x echo ran >got 2>err && cat err && test ! -s got &&
	grep "evenstep: n2: /tmp/x: Is a directory" err && grep "evenstep: 1 of 4 nodes have not got the file: .*; the step is not started without its input" err &&
	on_node n2 rmdir /tmp/x && for node in n0 n1 n3; do on_node $node rm /tmp/x || return 1; done
'
test_expect_success 'nor if the agents do not come at all; in an allocation its next step runs' '
	printf "%s\n" "plugin { agent_path = \"/bin/true\" }" >site.conf && cat >input.sh <<-\END &&
	EVENSTEP_CONF=$PWD/site.conf srun --evenstep-bcast=file:/tmp/x echo ran; echo status $?
	srun --evenstep echo next
	END
	in_job -N2 sh input.sh >got 2>err && cat got err && grep -x "status 1" got && no_line ran got && test $(grep -c next got) = 2 &&
	grep "evenstep: the agents ended before they were ready: .*; the step is not started without its input" err
'
test_expect_success 'on_error = "continue": the step goes on without its input, after one line' '
	printf "%s\n" "plugin { on_error = \"continue\" }" >site.conf &&
	on_ctl env EVENSTEP_CONF="$PWD/site.conf" srun -N4 --evenstep-bcast=/nosuch:/tmp/x echo ran >got 2>err &&
	mentioned "evenstep: /nosuch: No such file or directory: give a file that can be read" && one_line && test $(grep -c ran got) = 4
'

# What goes wrong | srun options | configuration | message
while IFS='|' read -r what options text message; do
	printf '%s\n' "$text" >site.conf
	test_expect_success "$what, on_error continue: one line, and the step" '
		printf "%s\n" "$text" >site.conf && cat site.conf &&
		on_ctl env EVENSTEP_CONF="$PWD/site.conf" srun -N2 --evenstep $options echo ran >got 2>err &&
		mentioned "$message" && one_line && test $(grep -c ran got) = 2
	'
	test_expect_success "$what, --evenstep=required: no step, exit 1" '
		test_expect_code 1 on_ctl env EVENSTEP_CONF="$PWD/site.conf" srun -N2 $options --evenstep=required echo ran >got 2>err &&
		mentioned "$message" && one_line && test ! -s got
	'
	test_expect_success "$what, on_error fail: no step, exit 1" '
		printf "%s\nplugin { on_error = \"fail\" }\n" "$text" >site.conf &&
		test_expect_code 1 on_ctl env EVENSTEP_CONF="$PWD/site.conf" srun -N2 --evenstep $options echo ran >got 2>err &&
		mentioned "$message" && one_line && test ! -s got
	'
done <<'END'
an unknown profile|--evenstep-profile=warp||evenstep: --evenstep-profile: "warp" is unknown: give one of: cpu memory network io gpu auto
an agent that is not there||plugin { agent_path = "/nowhere/agent" }|evenstep: /nowhere/agent: no such program: 
an agent that ends at once||plugin { agent_path = "/bin/true" }|evenstep: the agents ended before they were ready: 
END
test_expect_success 'a configuration with a fault: one line, and the step' '
	echo "nonsense = 1" >site.conf && on_ctl env EVENSTEP_CONF="$PWD/site.conf" srun -N2 --evenstep echo ran >got 2>err &&
	mentioned "evenstep: .*no such option .nonsense." && one_line && test $(grep -c ran got) = 2
'
test_expect_success 'nothing is left of all these' nothing_left

# stuck: a step in the middle of its work.
cat >stuck <<'END'
#!/bin/sh
echo "$SLURMD_NODENAME $EVENSTEP_SHARE" >>started
exec sleep 1000
END
chmod +x stuck
have_shares() { test -e started && test "$(grep -c " 0[.]" started)" = "$1"; }
begin_stuck() {
	rm -f started
	"$testbed" exec --name "$testbed_name" -- env --default-signal=INT srun -N4 --evenstep "$PWD/stuck" >out 2>err 3>&- 4>&- 5>&- &
	step=$!
	wait_for 60 have_shares 4 && test "$(ours evenstep-agent | wc -l)" = 4
}
test_expect_success 'scancel of the job: no agent is left, no directory' '
	begin_stuck && on_ctl scancel $(on_ctl squeue -h -o %i) && nothing_left && { wait $step; test $? != 0; }
'
test_expect_success 'kill -9 of srun: no agent is left, no directory' '
	begin_stuck && kill -KILL $step && wait_for 60 none_of evenstep-agent && test_expect_code 137 wait $step &&
	on_ctl scancel -u root && nothing_left
'
test_expect_success 'kill -9 of the front end: the step goes on, the agents leave' '
	begin_stuck && kill -KILL $(ours evenstep) && wait_for 60 none_of evenstep-agent && wait_for 60 no_step_dir &&
	kill -0 $step && on_ctl scancel -u root && nothing_left
'
test_expect_success 'kill -9 of an agent: the step goes on, and its directory goes with it' '
	begin_stuck && kill -KILL $(ours evenstep-agent | head -n 1) && wait_for 60 fewer &&
	kill -0 $step && on_ctl scancel -u root && nothing_left
'
# Of n2 the file of the plugin is empty, so slurmstepd there goes without it.
without_plugin() {
	plugin=$(cut -d" " -f2 "$(testbed_dir)/plugstack.conf") && on_node n2 mount --bind /dev/null "$plugin" && on_ctl srun -N4 "$@" sh -c "test -e \$EVENSTEP_DIR/conntable && echo attended || echo alone; sleep $seconds; echo over" >got 2>err; code=$?
	on_node n2 umount "$plugin" && cat got err && return $code
}
test_expect_success 'a node that has not loaded the plugin: it is named at once, and the step runs as without evenstep' '
	seconds=0 && without_plugin --evenstep && test $(grep -c alone got) = 4 && test $(grep -c over got) = 4 && one_line &&
	grep "srun: error: evenstep: n2: the plugin is not loaded, so tasks would run without evenstep on 1 of 4 nodes: see the line of evenstep.so in plugstack.conf there, and slurmd.s log" err && nothing_left
'
# The task on n2 cannot be kept from starting: it is ended.
test_expect_success 'likewise a step that requires evenstep: it is ended' '
	seconds=30 && ! without_plugin --evenstep=required && ! grep over got && grep "srun: error: evenstep: n2: the plugin is not loaded, .*" err && nothing_left
'
test_expect_success 'the daemons have lived through it, down leaves nothing' '
	wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
