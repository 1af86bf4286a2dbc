#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='Snakemake, and what Nextflow calls: their jobs are tasks of one evenstep'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
ends_with_test
W=$EVENSTEP_SRC/contrib/workflow
S=$W/snakemake
mkdir .snakemake

# sidecar: it runs, and the others know its folder.
sidecar() {
	behind_to folder "$S/evenstep-sidecar" && wait_for 60 test -s folder && SNAKEMAKE_CLUSTER_SIDECAR_VARS=$(cat folder) && export SNAKEMAKE_CLUSTER_SIDECAR_VARS &&
		agents=$(cat "$SNAKEMAKE_CLUSTER_SIDECAR_VARS/pid")
}
# job N LINES: N.id has its id
job() {
	echo "$2" >"it's job $1.sh" && "$S/evenstep-submit" "$PWD/it's job $1.sh" >"$1.id"
}
is() { "$S/evenstep-status" "$(cat "$1.id")" >is 2>err && echo "$2" | cmp -s - is; }
no_evenstep() { dead "$(cat "$SNAKEMAKE_CLUSTER_SIDECAR_VARS/pid")"; }

test_expect_success 'each job is run, once; one that fails or is killed has failed, with what it printed' '
	sidecar && for i in $(seq 12); do job $i "echo $i >>done.$i" || return 1; done &&
	job fails "echo why >&2; exit 3" && job killed "kill -9 \$\$" && job waits "until test -e go; do sleep 0.1; done" &&
	for i in $(seq 12); do wait_for 60 is $i success && echo $i | test_cmp - done.$i || return 1; done &&
	wait_for 60 is fails failed && echo why | test_cmp - err && wait_for 60 is killed failed && is waits running && touch go && wait_for 60 is waits success
'
test_expect_success 'it ends with Snakemake; a job that has begun is waited for, and one of an evenstep that is no more has failed' '
	rm go && job last "until test -e go; do sleep 0.1; done" && kill -TERM $run && wait_for 60 grep -q "^#EVENSTEP end" "$SNAKEMAKE_CLUSTER_SIDECAR_VARS/list" && ! job late "touch late" && touch go && test_expect_code 1 wait $run && is last success && no_evenstep && test ! -e late &&
	cp last.id never.id && echo "$(cat last.id)0" >never.id && is never failed
'
test_expect_success 'Snakemake is killed: so are its jobs' '
	rm -f go folder && cat >snakemake.sh <<-END && behind_to folder sh snakemake.sh && wait_for 60 test -s folder && SNAKEMAKE_CLUSTER_SIDECAR_VARS=$(cat folder) && agents=$(cat "$SNAKEMAKE_CLUSTER_SIDECAR_VARS/pid") && job goes "touch began; sleep 1000" && wait_for 60 test -e began && is goes running && kill -9 $run && wait_for 60 no_evenstep && is goes failed
		"$S/evenstep-sidecar"
		:
	END
'

command -v snakemake >/dev/null && test_set_prereq SNAKEMAKE
cat >Snakefile <<'END'
rule all:
    input: "sum"
rule square:
    output: "square.{n}"
    shell: "test {wildcards.n} != 3 -o -e mended && echo $(({wildcards.n} * {wildcards.n})) >{output}"
rule sum:
    input: expand("square.{n}", n=range(6))
    output: "sum"
    shell: "cat {input} >{output}"
END
# Without CI Snakemake looks every 10 s.
snakes() { CI=true timeout 300 snakemake --profile "$S" "$@" >out 2>err; }
test_expect_success SNAKEMAKE 'Snakemake: it sees the job that fails, and the others are done; mended, the rest is' '
	! snakes --keep-going && mentioned "Error executing rule square on cluster .*external: .*/job\\.[^,]+," && test ! -e sum && test -e square.5 && test ! -e square.3 &&
	touch mended && snakes && printf "%s\n" 0 1 4 9 16 25 | test_cmp - sum && mentioned "Cluster sidecar process has terminated .retcode=0."
'

hq() { "$W/nextflow/bin/hq" --output-mode=quiet "$@"; }
listed() { hq job list --all >got && printf "%s\n" "$@" | cmp -s - got; }
test_expect_success 'what Nextflow calls of HyperQueue: submit, and who has ended' '
	mkdir task && echo "echo here; touch ran" >task/.command.run && : >list && EVENSTEP_LIST=$PWD/list && export EVENSTEP_LIST && rm -f go &&
	behind evenstep tasks --follow list --unordered --joblog list.joblog && (cd task && hq submit --directives=file .command.run) >id && echo 1 | test_cmp - id &&
	wait_for 60 listed "1 FINISHED" && test -e task/ran && echo here | test_cmp - task/.command.log &&
	echo "until test -e ../go; do sleep 0.1; done" >task/.command.run && (cd task && hq submit --directives=file .command.run) && listed "1 FINISHED" "2 RUNNING" && touch go && wait_for 60 listed "1 FINISHED" "2 FINISHED" && ! hq job cancel 2 &&
	evenstep tasks --close list && wait $run
'
test_done
