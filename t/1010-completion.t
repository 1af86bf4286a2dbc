#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='TAB completes commands, options, values and files in bash, zsh and fish'
. /usr/share/sharness/sharness.sh

unset EVENSTEP_CONF SLURM_JOB_ID
PATH=$EVENSTEP_BUILD:$PATH
for shell in bash zsh fish; do command -v $shell >/dev/null && test_set_prereq $shell; done

# What is typed in front of TAB | what the line is then.
cat >rows <<'END'
pl|plan
si|simulate
run --gr|run --grain
run --policy gui|run --policy guided
run --policy=gui|run --policy=guided
run --metrics cac|run --metrics cached
run --range 0:5 --metrics af|run --range 0:5 --metrics afile.json
run --persistent --lo|run --persistent --local
run --keep-going --pers|run --keep-going --persistent
run --range 0:5 -- af|run --range 0:5 -- afile.json
run ls --pol|run ls --pol
run --profile mem|run --profile memory
bcast --si|bcast --size
bcast --chu|bcast --chu
bcast -f --pre|bcast -f --preserve
bcast -fs 4Ki --pre|bcast -fs 4Ki --preserve
bcast af|bcast afile.json
bcast --pull no|bcast --pull node
graph pl|graph plan
graph run --jo|graph run --journal
graph plan --jo|graph plan --jo
simulate bal|simulate balance
simulate bcast --scheme scat|simulate bcast --scheme scatter-allgather
simulate balance --power --wo|simulate balance --power --work
simulate balance --wo|simulate balance --wo
conntable dump af|conntable dump afile.json
help conn|help conntable
completion fi|completion fish
attend --jo|attend --job
nothing --jo|nothing --jo
END
cut -d'|' -f1 rows >typed
# As a shell runs each line: "RUN <word> <word>".
cut -d'|' -f2 rows | sed 's/^/RUN /' >want

# What is entered at the prompt: the line, TAB, and Enter.
keys() { while read -r line; do printf 'evenstep %s\t\n' "$line"; done <typed; printf 'exit\n'; }
# What the lines come to; what TAB asks goes to the program.
echo 'evenstep() { if [ "$1 $2" = "completion words" ]; then command evenstep "$@"; else echo "RUN $*"; fi; }' >instead
run_lines() { tr -d '\r' <screen | grep -a '^RUN ' | sed 's/ *$//'; }

test_expect_success 'there is one file to complete, and the rows are there' '
	touch afile.json other && test "$(wc -l <rows)" -gt 20
'
test_expect_success bash 'bash: TAB by TAB' '
	{ echo "PS1="; echo ". <(command evenstep completion bash)"; cat instead; } >rc &&
	keys | TERM=dumb script -qec "bash --noprofile --rcfile rc -i" /dev/null >screen && run_lines >got && test_cmp want got
'
test_expect_success zsh 'zsh: TAB by TAB' '
	mkdir -p dot && { echo "PS1="; echo "autoload -U compinit; compinit -u -D"; echo ". <(command evenstep completion zsh)"; cat instead; } >dot/.zshrc &&
	keys | ZDOTDIR=$PWD/dot TERM=dumb script -qec "zsh -i" /dev/null >screen && run_lines >got && test_cmp want got
'
# fish says itself what it would complete: nothing, or the last word.
test_expect_success fish 'fish: what it offers for each line' '
	evenstep completion fish >rc.fish && awk -F"|" "{ n = split(\$2, w, \" \"); print \$1 == \$2 ? \"\" : w[n] }" rows >want.fish &&
	while read -r line; do
		HOME=$PWD fish --no-config -c "source rc.fish; complete -C \"evenstep $line\"" | cut -f1 | head -2 | paste -sd" " || return 1
	done <typed >got && test_cmp want.fish got
'
test_expect_success 'commands are offered as --help tells them, each with its meaning' '
	evenstep --help | sed -n "/^commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1\t\2/p" >want && test -s want &&
	evenstep completion words "" >got && test_cmp want got
'
for command in $(evenstep completion words "" | cut -f1); do
	test_expect_success "$command: the options offered are those of --help, and --help" '
		{ evenstep $command --help | sed -nE "s/^  (-., )?(--[a-z0-9-]+)([[ ].*)?$/\2/p"; echo --help; } | sort >want &&
		{ evenstep completion words $command --; for action in plan run import; do evenstep completion words $command $action --; done; } |
			cut -f1 | grep -v "^:files" | sort -u >got && test_cmp want got
	'
done
test_expect_success 'nothing is offered for a command that is none, and no error told' '
	evenstep completion words nothing "" >got 2>err && test ! -s got && test ! -s err
'
test_done
