#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='nodes whose own name is 127.0.1.1 to them, as on any Debian: nobody is told a loopback address'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF

# batch: a job of all four nodes, on the first of them; what it says in the file said.
batch() {
	{
		printf '#!/bin/sh\nPATH=%s:$PATH; export PATH\n' "$EVENSTEP_BUILD"
		cat
	} >script && rm -f said && "$testbed" exec --name "$testbed_name" -- sbatch -Q -W -N4 -o said script
}
all_have() { for each in n0 n1 n2 n3; do on_node $each cmp "$PWD/input" /tmp/input || return 1; done; }
seq 100000 >input

test_expect_success 'up: four nodes, each with 127.0.1.1 for its own name, in its own /etc/hosts only' '
	testbed_up --nodes 4 --loopback-names --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$(realpath "$EVENSTEP_BUILD/evenstep")" &&
	for each in n0 n3; do
		test "$(on_node $each getent hosts $each | cut -d" " -f1) $(on_node $each getent hosts n1 | cut -d" " -f1)" = "127.0.1.1 10.11.1.2" || return 1
	done && test "$(on_ctl getent hosts n0 | cut -d" " -f1)" = 10.11.1.1 && ! grep -w 127.0.1.1.*n0 /etc/hosts
'
test_expect_success 'a batch job: srun is at a loopback address for the task beside it' '
	batch <<-\END &&
		srun -N1 -w n0 sh -c "echo \$SLURM_LAUNCH_NODE_IPADDR"
	END
	cat said && test "$(cat said)" = 127.0.0.1
'
test_expect_success 'it sends a file to all nodes, and none of them cannot reach another' '
	batch <<-\END && cat said && all_have && test "$(sed "s/evenstep: 0.6 MB to 4 nodes in [0-9.]* s//" said)" = ""
		exec evenstep bcast input /tmp/input
	END
'
test_expect_success 'each task of a step in it is in the table with an address that others can call' '
	batch <<-\END && cat said && test "$(sed 1d said | sed "s/.* //" | xargs)" = "10.11.1.1 10.11.1.2 10.11.1.3 10.11.1.4"
		srun --evenstep=required sh -c "test \$SLURM_PROCID != 2 || evenstep conntable dump"
	END
'
test_expect_success 'a step on the node of the batch script alone: likewise' '
	batch <<-\END && cat said && test "$(sed 1d said | sed "s/.* //" | xargs)" = "10.11.1.1"
		srun -N1 -n1 -w n0 --evenstep=required evenstep conntable dump
	END
'
test_done
