#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the arguments of tasks are those that GNU parallel makes'
. /usr/share/sharness/sharness.sh

command -v parallel >/dev/null && test_set_prereq PARALLEL
PATH=$PWD:$EVENSTEP_BUILD/t/programs:$PATH
LC_ALL=C.UTF-8 SHELL=/bin/sh
export LC_ALL SHELL

# What a command gets: how many words, and each.
cat >got <<'END'
#!/bin/sh
printf '%s' "$#"
for a do printf ' <%s>' "$a"; done
echo
END
chmod +x got
printf 'fig.png\nsub dir/b.tar.gz\n\n/abs/c\n' >files
printf '1\n2\n3\n' >numbers
printf 'p\nq\n' >letters
printf 'red\tapple pie\t3\nblue\tsea\t7\n' >table
printf 'red;apple pie;3\nblue;d/sea.x;7\n' >semicolons
printf 'name\tage\tfile\nAnn\t31\tx/a.txt\nBob B.\t7\ty/b.c.txt\n' >people
printf 'one two\0three\nfour\0-five\0' >zero
printf '%s\n' "it's" '"q"' 'a  b ' '$HOME `x` \t \\ ' '*' '~' '-n' '#' 'a;b&c|d' '(x)' '{}' '{1}' 'é' '!' 'A=b' >odd
cat >commands <<'END'
echo a; echo "b  c"
got "$((1+1))" | tr 2 3
(exit 3) || got $?
got 'x y' {} {1} '{{}}'
for i in 1 2; do got $i; done
x='a  b'; got "$x" $x # 'a comment
END

# vector: without a shell, and with one; shell: the command is typed for one;
# commands: each argument is a command.
cat >rows <<'END'
vector|got ::: a b c
vector|got {} ::: 'a b' c
vector|got x{}y ::: 'a b' c
vector|got {} {} ::: a
vector|got --in={} --out={}.o ::: 'a b'
vector|got ::: '' a
vector|got ::: '*' '$HOME' '`x`' '"' "'" '\' '~' ';' '-n' '--' '{}' '{1}'
vector|got :::: odd
vector|-a odd got {} pre-{}-post
vector|got {1} {2} ::: a b ::: 1 2 3
vector|got {2} {1} ::: a b ::: 1 2 3
vector|got ::: a b ::: 1 2 ::: x y
vector|got {} ::: 'a b' ::: '1 2'
vector|got {3}{1} ::: a ::: b ::: c d
vector|got ::: a b c :::+ 1 2 3
vector|got ::: a b c :::+ 1 2
vector|got ::: a b :::+ 1 2 3
vector|got ::: a b :::+ 1 2 ::: x y
vector|got ::: x y ::: a b :::+ 1 2
vector|got ::: a b :::+ 1 2 :::+ p q
vector|got :::: numbers
vector|got :::: numbers letters
vector|got :::: numbers ::: x y
vector|got ::: x y :::: numbers
vector|got :::: numbers ::::+ letters
vector|got ::: x y z ::::+ letters
vector|got ::: x y z ::::+ letters numbers
vector|got :::: numbers ::::+ letters ::: x y
vector|got :::: - <numbers
vector|got ::: x y :::: - <letters
vector|got <numbers
vector|-a numbers got
vector|-a - got <numbers
vector|-a numbers -a letters got {2} {1}
vector|-a numbers got ::: x
vector|-a files got
vector|-a files got {/} {//} {.} {/.}
vector|-0 -a zero got
vector|-0 got <zero
vector|-a numbers -n 2 got
vector|-a numbers -n 2 got {2} {1}
vector|-a numbers -N 2 got {1}-{2} {}
vector|-a numbers -N 2 got x{}y
vector|-a numbers -n 5 got
vector|-n 2 got ::: a b ::: 1 2
vector|-N 3 got {-1} {3} {#} ::: a b c d
vector|-N 2 got {1.}-{2/} ::: a.x d/b.y c.z
vector|-N 0 got x ::: a b c
vector|-X -j 1 got ::: a 'b c' d
vector|-X -j 1 got pre{}post {1} ::: a 'b c' d
vector|-X -j 1 got {/.}{.} ::: d/a.x b.y
vector|-X -j 1 -n 2 got x{} ::: a b c
vector|got {#} ::: a b c
vector|got {#}:{} ::: a b c
vector|-j 1 got {%} ::: a
vector|got {.} ::: a.b a a.b.c .x d.e/f d.e/f.g a. ''
vector|got {/} ::: a d/a.b d/e/f.g d/ / ''
vector|got {//} ::: a d/a.b d/e/f.g d/ / //x d//e a//b// ''
vector|got {/.} ::: a.b d.e/f d.e/f.g .x d/.x 'd d/a b.c'
vector|got {.}.o {/}:{//} ::: 'd d/a b.c'
vector|got {1.} {2/} {1//} {2/.} ::: a.x d/b.y ::: e/f.z
vector|got {.} {/} ::: d/a.x ::: e/b.y
vector|got {-1} {-2} ::: a ::: b
vector|got {-1.} {-2/} ::: a/b.c ::: d/e.f
vector|got {01} ::: a
vector|--colsep '\t' -a table got
vector|--colsep '\t' -a table got {3} {1}
vector|--colsep '\t' -a table got {} {-1} {1}
shell|--colsep '\t' -a table got x{}y
vector|--colsep ';' -a semicolons got {2} {1/}
vector|--colsep ';' -a semicolons got {2/.}-{-1}
vector|--colsep '\t' -a table got {2}-{4} ::: x y
vector|--colsep , got {2} {1} ::: a,b 'c d,e'
vector|--colsep ' ' got {2} ::: 'a b' 'c  d'
vector|--colsep :: got {1} {2} ::: a::b:c
vector|--colsep '\|' got {1} {2} ::: 'a|b'
vector|--colsep , got {1} {2} {3} ::: a,b ::: c d
vector|--colsep '\t' -n 2 -a table got
vector|--header : --colsep '\t' -a people got {name} {age} {file}
vector|--header : --colsep '\t' -a people got {file.} {file/} {file//} {file/.} {2}
vector|--header : --colsep '\t' -a people got
vector|--header : got {f} {g} ::: f a b ::: g 1 2
vector|--header : got {2} {f} ::: f a b ::: g 1
vector|--header : got {f}{g}{h} ::: f a b ::: g 1 2 :::+ h x y
vector|--arg-sep ,, got {1} {2} ,, a b ,, c
vector|--arg-sep ,, got {1} {2} ,, a b ,,+ c d
shell|'got {}; got {.}' ::: 'a b.c'
shell|'got {} | tr a-z A-Z' ::: 'x y' "it's"
shell|'x={}; got "$x"' :::: odd
shell|got {} '>' out{#} ';' cat out{#} ::: a 'b c'
shell|got '"$HOME"' '*.nope' '$((1+1))' ::: a
shell|'for i in 1 2; do got $i {}; done' ::: a 'b c'
shell|'cat {} | got -' ::: numbers letters
shell|-N 2 got x{} ::: 'a b' c d
commands|<commands
commands|-a commands
commands|::: 'got a "b c"' 'got d | cat'
END

test_expect_success 'there are more than fifty rows' '
	test "$(wc -l <rows)" -gt 90 && test "$(sort -u rows | wc -l)" = "$(wc -l <rows)"
'

# theirs ARGUMENTS, ours KIND ARGUMENTS: what the commands say, in the order of tasks.
theirs() {
	(HOME=$PWD eval "parallel --will-cite -k $1") 2>/dev/null
}
ours() {
	case $1 in
	vector) (eval "task_args --run $2") ;;
	*) (eval "task_args --$1 --run $2") ;;
	esac
}
# compare KIND ARGUMENTS: with what is in want.
compare() {
	ours "$1" "$2" <stdin >have 2>err || cat err >>have
	test -s want && cmp -s want have && return
	printf '%s: %s\n' "$1" "$2" >>unlike
	diff want have >>unlike
	return 0
}
compare_all() {
	while IFS='|' read -r kind words; do
		theirs "$words" <stdin >want
		compare "$kind" "$words"
		test "$kind" != vector || compare shell "$words"
	done <rows
}
: >stdin
test_expect_success PARALLEL 'each row does the same by GNU parallel and by task_words.h' '
	: >unlike && compare_all && cat unlike && test ! -s unlike
'
test_expect_success PARALLEL 'a value of two lines is one argument' '
	two=$(printf "two\nlines") && parallel --will-cite -k -0 got {} a{}b ::: "$two" x <stdin >want &&
	task_args --run got {} a{}b ::: "$two" x <stdin >have && test_cmp want have &&
	task_args --shell --run got {} a{}b ::: "$two" x >have && test_cmp want have
'
# The lines that are shown, pasted into a shell.
test_expect_success 'what is shown for a shell does the same when it is typed' '
	task_args --shell got {} pre-{.} {#} :::: odd >typed && test "$(grep -c ^got typed)" = 15 &&
	task_args --run got {} pre-{.} {#} :::: odd >want && sh typed >have && test_cmp want have
'
test_expect_success 'lines that end with CR LF are warned of, once, and the rows of a table need no CR' '
	printf "a\r\nb\r\n" >dos && task_args -a dos got >out 2>err && test "$(grep -c "^evenstep: warning: --arg-file: dos: .*CR LF" err)" = 1 && test "$(wc -l <err)" = 1 &&
	printf "<got> <a\r>\n<got> <b\r>\n" >want && test_cmp want out &&
	task_args -a dos --colsep , got >out 2>err && test_must_be_empty err && printf "<got> <a>\n<got> <b>\n" >want && test_cmp want out
'
test_expect_success 'a packed file is read' '
	gzip <numbers >numbers.gz && task_args -a numbers.gz got >out 2>err && grep "is gzip" err && task_args -a numbers got >want && test_cmp want out
'
test_expect_success 'there are no tasks without an argument, and what a kernel does not take is refused by its line' '
	test_expect_code 2 task_args got <stdin 2>err && grep "^--lines: -: no tasks" err &&
	{ echo a && head -c 131072 /dev/zero | tr "\0" x; } >long && test_expect_code 2 task_args -a long got 2>err >out &&
	grep "^--arg-file: long:2: 131072 bytes" err && test_must_be_empty out &&
	{ echo a && head -c 131071 /dev/zero | tr "\0" x; } >long && task_args --run -a long got >out && test "$(tail -n 1 out | wc -c)" = 131076
'
test_done
