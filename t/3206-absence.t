#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='an agent that is not there is named at once, with the words of Slurm or its own'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF

cat >units <<'END'
#!/bin/sh
exec seq "$1" $(($2 - 1))
END
chmod +x units
slices=$EVENSTEP_BUILD/t/programs/slices
# Nodes have a /tmp each: there the agent is another's on each.
agent=/tmp/evenstep-absence/agent
printf 'plugin { agent_path = "%s" }\nwireup = "tcp"\nagents { timeout = 25 }\nbcast { port_range = "61000-61100" }\n' "$agent" >absence.conf
grep -v wireup absence.conf >by-pmix.conf
version=$(evenstep --version | cut -d" " -f2)
put_agents() {
	for node in ctl n0 n1 n2 n3; do
		on_node $node install -D "$EVENSTEP_BUILD/evenstep-agent" "$agent" || return 1
	done
}
# asked COMMAND...: in a job of four nodes, by that agent; no start waited until its time was over, or was made twice.
asked() { on_ctl salloc -Q -N4 env EVENSTEP_CONF="$PWD/absence.conf" "$@" >got 2>err; }
at_once() { cat err && ! grep -E "within [0-9]+ s|once more" err; }
nothing_left() { wait_for 60 no_agents && wait_for 60 no_jobs; }

# Nodes share it, and Slurm takes no space.  srun waits for the launch, and so for a prolog, MessageTimeout.
prolog=/var/tmp/evenstep-absence-$$
printf '#!/bin/sh\nif test "$SLURMD_NODENAME" = n2 && test -e %s.slow; then sleep 20; fi\n' "$prolog" >"$prolog"
chmod +x "$prolog"

test_expect_success 'up: four nodes with an agent each' '
	testbed_up --nodes 4 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep" --set "Prolog=$prolog" --set MessageTimeout=100 && put_agents && asked evenstep probe --nodes && on_ctl rm -rf /tmp/evenstep-absence.file
'
test_expect_success 'no agent on n2: exit 3, n2 and why' '
	on_node n2 rm "$agent" && test_expect_code 3 asked evenstep probe --nodes && at_once &&
	said "evenstep: n2: its agent does not start: execve\(\): $agent: No such file or directory: install .* on n2.*" && nothing_left
'
test_expect_success 'bcast likewise, and nothing was written' '
	echo text >file && test_expect_code 3 asked evenstep bcast file /tmp/evenstep-absence.file && at_once &&
	said "evenstep: n2: its agent does not start: .*" && on_node n0 test ! -e /tmp/evenstep-absence.file && nothing_left
'
test_expect_success 'a run goes on without n2, every unit once, and says why' '
	asked evenstep run --range 0:400 -- ./units {begin} {end} && seq 0 399 >want && test_cmp want got && at_once &&
	said "evenstep: n2 is lost \(its agent does not start: execve\(\): $agent: No such file or directory\).*" && nothing_left
'
for option in "--pieces 4" "--policy static" "--slots 2" "--power pair" "--persistent" "--exec /tmp/evenstep-absence.units" "--bcast file:/tmp/evenstep-absence.brought"; do
	test_expect_success "a run with $option, too: the others are started without n2, and nobody else is named" '
		if test "$option" = --persistent; then set -- "$slices"; else set -- ./units {begin} {end}; fi &&
		{ asked evenstep run $option --range 0:400 -- "$@"; code=$?; cat err; test $code = 0; } && seq 0 399 >want && test_cmp want got && at_once &&
		said "evenstep: warning: no agent on n2 \(execve\(\): $agent: No such file or directory\): going on without, on 3 of 4 nodes" && test $(grep -c warning err) = 1 && nothing_left
	'
done
test_expect_success 'one to whose srun the user gives words does not: exit 3, n2 and why' '
	test_expect_code 3 asked evenstep run --srun -n4 --range 0:400 -- ./units {begin} {end} && at_once && test ! -s got &&
	said "evenstep: n2: its agent does not start: execve.*: No such file or directory: install .* on n2.*" && nothing_left
'
test_expect_success 'a graph likewise' '
	echo "{\"tasks\": [{\"id\": \"a\", \"time\": 1, \"command\": \"true\"}]}" >graph.json && { asked evenstep graph run graph.json; code=$?; cat err; test $code = 0; } &&
	said "evenstep: warning: no agent on n2 .*: going on without, on 3 of 4 nodes" && nothing_left
'
test_expect_success 'an agent that may not be executed on n2: likewise' '
	put_agents && on_node n2 chmod a-x "$agent" && test_expect_code 3 asked evenstep probe --nodes && at_once &&
	said "evenstep: n2: its agent does not start: execve\(\): $agent: Permission denied: .*chmod 755.* on n2, or leave it out .*" && nothing_left
'
test_expect_success 'two nodes without: both are named' '
	on_node n1 chmod a-x "$agent" && test_expect_code 3 asked evenstep probe --nodes && at_once &&
	said "evenstep: n(1|2|\[1-2\]): its agent does not start: .*" && nothing_left
'
test_expect_success 'a run goes on without both, and says so once' '
	{ asked evenstep run --pieces 4 --range 0:400 -- ./units {begin} {end}; code=$?; cat err; test $code = 0; } && test_cmp want got && at_once &&
	said "evenstep: warning: no agent on n(1,n2|2,n1|\[1-2\]) .*: going on without, on 2 of 4 nodes" && test $(grep -c warning err) = 1 && nothing_left
'
test_expect_success 'none on any node: it fails' '
	for node in n0 n3; do on_node $node chmod a-x "$agent" || return 1; done && test_expect_code 3 asked evenstep run --pieces 4 --range 0:400 -- ./units {begin} {end} &&
	said "evenstep: n.*: its agent does not start: .*" && nothing_left
'
test_expect_success 'an agent that ends before it calls: a second start, then n2 and its last words' '
	put_agents && printf "#!/bin/sh\necho no luck today >&2\nexit 5\n" >ends && chmod +x ends && on_node n2 cp "$PWD/ends" "$agent" &&
	test_expect_code 3 asked evenstep probe --nodes &&
	said "evenstep: warning: n2: its agent has ended: no luck today: starting them once more" &&
	said "evenstep: n2: its agent has ended: no luck today: .*" && nothing_left
'
test_expect_success 'an agent of another version on n2: exit 3, both versions' '
	put_agents && sed "s/$(echo "$version" | sed "s/[.]/[.]/g")/0.1.9/g" "$EVENSTEP_BUILD/evenstep-agent" >old && on_node n2 cp "$PWD/old" "$agent" &&
	test_expect_code 3 asked evenstep probe --nodes && at_once &&
	said "evenstep: n2: its evenstep-agent is 0[.]1[.]9 [(]protocol [0-9]+[)], this evenstep is $version [(]protocol [0-9]+[)]: install the same version on all nodes" && nothing_left
'
test_expect_success RULES 'n2 cannot reach this host at its port: it is named, with address and port' '
	put_agents && on_node n2 ip rule add ipproto tcp dport 61000-61100 prohibit &&
	{ test_expect_code 3 asked evenstep probe --nodes; code=$?; on_node n2 ip rule del ipproto tcp dport 61000-61100 prohibit; test $code = 0; } && at_once &&
	said "evenstep: n2: its agent has ended: .*cannot call [0-9.]+:610[0-9]+: Permission denied: see the firewalls between, and SrunPortRange in slurm.conf" && nothing_left
'
test_expect_success RULES 'the others cannot reach n2 at its port: that is said, and the broadcast ends' '
	on_node n2 sh -c "ip rule add pref 90 lookup local && ip rule add pref 50 iif eth0 ipproto tcp dport 61000-61100 prohibit && ip rule del pref 0" &&
	head -c 60000000 /dev/urandom >file && asked evenstep bcast file /tmp/evenstep-absence.file; code=$?; on_node n2 ip rule del pref 50; at_once; test $code = 0 &&
	said "evenstep: warning: n[013] cannot reach n2 at [0-9.]+:610[0-9]+: .*" && on_node n2 cmp "$PWD/file" /tmp/evenstep-absence.file && nothing_left
'
address_of() { on_node "$1" ip -4 -o addr show eth0 | sed "s/.*inet \([0-9.]*\).*/\1/"; }
test_expect_success RULES 'their calls to it fail at once, with EINVAL: it is named all the same' '
	to=$(address_of n2) && for node in n0 n1 n3; do on_node $node ip rule add to $to ipproto tcp dport 61000-61100 blackhole || return 1; done &&
	asked evenstep bcast file /tmp/evenstep-absence.other; code=$?; for node in n0 n1 n3; do on_node $node ip rule del to $to ipproto tcp dport 61000-61100 blackhole; done; at_once; test $code = 0 &&
	said "evenstep: warning: n[013] cannot reach n2 at $to:610[0-9]+: this node cannot use that address: .*" && ! grep -E "cannot reach [^n]" err && on_node n2 cmp "$PWD/file" /tmp/evenstep-absence.other && nothing_left
'
test_expect_success RULES 'the calls of the others to n2 are dropped without an answer: it is named long before they are given up, and has all of the file' '
	on_node n2 ip rule add pref 50 iif eth0 ipproto tcp dport 61000-61100 blackhole &&
	asked evenstep bcast file /tmp/evenstep-absence.dropped; code=$?; on_node n2 ip rule del pref 50; at_once; test $code = 0 &&
	said "evenstep: warning: n[013] cannot reach n2 at [0-9.]+:610[0-9]+: no answer within 1[.]5 s: .*" && test $(grep -c "cannot reach" err) = 1 && on_node n2 cmp "$PWD/file" /tmp/evenstep-absence.dropped && nothing_left
'
test_expect_success RULES 'the calls of n2 to this host are dropped without an answer: it is named, with address and port' '
	from=$(address_of n2) && on_ctl sh -c "ip rule add pref 90 lookup local && ip rule add pref 50 iif eth0 from $from ipproto tcp dport 61000-61100 blackhole && ip rule del pref 0" &&
	{ test_expect_code 3 asked evenstep probe --nodes; code=$?; on_ctl ip rule del pref 50; cat err; test $code = 0; } &&
	said "evenstep: n2: its agent has ended: .*no front end at [0-9.]+:610[0-9]+: no answer within 5 s: see the firewalls between, .*" && said "evenstep: waiting for the agent of n2, [0-9]+ s at most: see slurmd.s log there" && ! grep "once more" err && nothing_left
'
test_expect_success 'a node that Slurm cannot reach: it is named, not one that srun ended for it' '
	put_agents && "$testbed" fault --name "$testbed_name" cut n2 &&
	test_expect_code 3 asked evenstep probe --nodes; "$testbed" fault --name "$testbed_name" heal n2; at_once &&
	said "evenstep: n2: its agent does not start: Communication connection failure: see that slurmd runs on n2 .*"
'
test_expect_success 'bcast likewise: n2 is named while Slurm tries, and then why' '
	wait_for 60 no_jobs && wait_for 60 nodes_idle 4 && testbed_fault cut n2 && test_expect_code 3 asked evenstep bcast file /tmp/evenstep-absence.cut; code=$?; testbed_fault heal n2; grep -v "waiting for" err; test $code = 0 &&
	said "evenstep: waiting for the agent of n2, .*" && said "evenstep: n2: its agent does not start: Communication connection failure: .*" && on_node n0 test ! -e /tmp/evenstep-absence.cut
'
said_once_more() { grep -q "starting agents once more on" err; }
cut_n2() { wait_for 60 no_jobs && wait_for 60 nodes_idle 4 && testbed_fault cut n2; }
test_expect_success 'a run that waits for all goes on without it' '
	cut_n2 && { asked evenstep run --pieces 4 --range 0:400 -- ./units {begin} {end}; code=$?; testbed_fault heal n2; cat err; test $code = 0; } && test_cmp want got && at_once &&
	said "evenstep: warning: no agent on n2 \(Communication connection failure\): going on without, on 3 of 4 nodes"
'
# Slurm ends a step that it cannot start on one of its nodes, on all of them.
cat >gated <<'END'
#!/bin/sh
until test -e go; do sleep 0.1; done
exec seq "$1" $(($2 - 1))
END
chmod +x gated
test_expect_success 'a run that has begun without it: the others are lost with it, are started once more, and do all' '
	cut_n2 && rm -f go && { asked evenstep run --range 0:400 -- ./gated {begin} {end} & } && run=$! && wait_for 80 said_once_more; : >go; wait $run; code=$?; testbed_fault heal n2; cat err; test $code = 0 && test_cmp want got &&
	said "evenstep: waiting for the agent of n2, .*" && said "evenstep: n2 is lost \(Communication connection failure\): the other nodes do its part" && said "evenstep: n0 is lost \(Slurm could not start the agents. step on n2 and has ended it on all nodes\): the other nodes do its part" &&
	said "evenstep: warning: Slurm has ended the agents. step: starting agents once more on n0,n1,n3" && said "evenstep: n[013] is back" && ! grep "n2 is back" err && nothing_left
'
test_expect_success 'a node whose agent never calls: in the end it is named, with the address that it was to call' '
	wait_for 60 no_jobs; wait_for 60 nodes_idle 4; printf "#!/bin/sh\nexec sleep 100\n" >sleeps && chmod +x sleeps && on_node n2 cp "$PWD/sleeps" "$agent" &&
	test_expect_code 3 asked evenstep probe --nodes &&
	said "evenstep: n2 did not come: only 3 of 4 agents came within 25 s: see slurmd.s log there, .* [0-9.]+, port [0-9]+ .*" && nothing_left
'
test_expect_success 'a run goes on without it then' '
	{ asked evenstep run --pieces 4 --range 0:400 -- ./units {begin} {end}; code=$?; cat err; test $code = 0; } && test_cmp want got &&
	said "evenstep: warning: no agent on n2 \(only 3 of 4 agents came within 25 s\): going on without, on 3 of 4 nodes" && nothing_left
'
test_expect_success 'a node whose prolog takes 20 s: the others wait for it, and are started once' '
	put_agents && : >"$prolog.slow" && asked evenstep probe --nodes; code=$?; rm "$prolog.slow"; cat got; at_once &&
	test $code = 0 && for node in n0 n1 n2 n3; do grep -q "^ *$node " got || return 1; done && nothing_left &&
	said "evenstep: waiting for the agent of n2, [0-9]+ s at most: see slurmd.s log there"
'
test_expect_success PMIX 'likewise of a step with PMIx that srun attends' '
	: >"$prolog.slow" && EVENSTEP_CONF="$PWD/by-pmix.conf" on_ctl srun -N4 --mpi=pmix --evenstep=required sh -c "test -e \$EVENSTEP_DIR/conntable && echo attended" >got 2>err; code=$?; rm "$prolog.slow"; cat got; at_once &&
	test $code = 0 && test $(grep -c attended got) = 4 && nothing_left
'
test_expect_success 'slurmd of n2 is stopped: in the end n2 is named' '
	stopped=$(ours -f "slurmd.* n2( |$)") && test -n "$stopped" && kill -STOP $stopped && { test_expect_code 3 asked evenstep probe --nodes; code=$?; kill -CONT $stopped; cat err; test $code = 0; } &&
	said "evenstep: n2( [(].*[)])? did not come: .*" && nothing_left &&
	said "evenstep: waiting for the agent of n2, [0-9]+ s at most: see slurmd.s log there"
'
test_expect_success 'down' '
	for node in ctl n0 n1 n2 n3; do on_node $node rm -rf "${agent%/*}"; done; rm -f "$prolog" "$prolog.slow"; testbed_down
'
test_done
