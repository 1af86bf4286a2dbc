#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a configless cluster: nodes have the plugin, and what slurmctld sends them'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF

test_expect_success 'up: plugstack.conf comes to the nodes with slurm.conf' '
	testbed_up --nodes 2 --configless --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep" &&
	on_node n1 cmp /run/slurm/conf/plugstack.conf "$(testbed_dir)/plugstack.conf" && on_node n1 sh -c "test -z \"\$SLURM_CONF\""
'
test_expect_success 'srun of a node: the step is attended' '
	on_node n1 srun -N2 --evenstep-probe=off sh -c "echo \$SLURMD_NODENAME \$EVENSTEP_SHARE" >got && sort got >is &&
	printf "n0 0.500000\nn1 0.500000\n" >want && test_cmp want is
'
test_expect_success 'a run, begun on a node, and one on the host of slurmctld' '
	seq 0 9 >want && on_node n0 salloc -Q -N2 evenstep run --range 0:10 -- sh -c "seq {begin} \$(({end} - 1))" >got && test_cmp want got &&
	on_ctl salloc -Q -N2 evenstep run --range 0:10 -- sh -c "seq {begin} \$(({end} - 1))" >got && test_cmp want got
'
test_done
