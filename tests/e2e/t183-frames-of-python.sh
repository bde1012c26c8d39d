#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it removes maps of generated code from /tmp, of whomever
# timeout: 400
# Functions of Python stand in the place of the evaluator, on CPU and off: for each version that this machine has (or
# $PYTHONS names), with shares, exact waits, names and lines; also of threads that slept before the recording began.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
SHARES=$ROOT/tests/e2e/python/shares.py

# Interpreters of versions 3.8 to 3.14, one of each build; by day the newest, and of the oldest and that of the system a part.
pythons() {
	if [ -n "${PYTHONS:-}" ] || ((${NIGHTLY:-0})); then
		all_pythons
	else
		{
			all_pythons | awk -F / '{ print $NF, $0 }' | sort -V | sed -n '1s/.* //p'
			all_pythons | awk -F / '{ print $NF, $0 }' | sort -V | tail -n 1 | sed 's/.* //'
			all_pythons | grep '^/usr/bin/python[0-9.]*$'
		} | sort -u
	fi
}

all_pythons() {
	local python

	for python in ${PYTHONS:-/usr/bin/python3 /usr/bin/python3.[0-9]* /usr/local/bin/python3 $HOME/.pyenv/versions/3.*/bin/python3}; do
		[[ $python != *-config ]] && "$python" -c 'import sys, os
v = sys.version_info
if (3, 8) <= v < (3, 15): print(os.path.realpath(sys.executable))' 2>/dev/null
	done | sort -u
}

burns() { # PYTHON NAME
	check "$2: oncpu" "$BPFPROF" oncpu -u -F 999 --no-inline -o x.folded -o x.txt -o x.json -- "$1" "$SHARES" burn 1.5 0.3
	grep -F ';burn (shares.py);' x.folded >burns.folded
	check_pct burns.folded 'burn_half \(shares\.py\)' 50 3
	check_pct burns.folded '(Third\.)?burn_third \(shares\.py\)' 30 3
	check_pct burns.folded 'burn_fifth \(shares\.py\)' 20 3
	check_pct burns.folded 'spend \(shares\.py\)' 100 2
	[ -n "${IN_GUEST:-}" ] || check_pct x.folded 'burn \(shares\.py\)' 94 6 # a guest takes long to begin, and a busy machine
	check_grep '^stacks .*(9[5-9]|100)\.[0-9]% of the samples in complete stacks' x.txt "$2: stacks stay complete"
}

waits() { # PYTHON NAME
	local name us

	check "$2: offcpu" "$BPFPROF" offcpu --no-inline -o x.folded -o x.txt -- "$1" "$SHARES" sleep 1.5 0.3
	grep -E '^(short|deep) [0-9]+$' "$OUT" >told
	while read -r name us; do
		check_near "$(awk -v name=";$name (shares.py);" 'index($0, name) { sum += $NF } END { print int(sum) }' x.folded)" \
			"$us" $((us / 100)) "$2: microseconds off the CPU in $name()"
	done <told
	check_near "$(wc -l <told)" 2 0 "$2: places"
	check_grep '[0-9]+ walked, [1-9][0-9]+ found unchanged' x.txt "$2: waits are remembered"
	check "$2: audited" "$BPFPROF" offcpu --no-inline --audit -o x.folded -o x.txt -- "$1" "$SHARES" sleep 0.5
	check_no_grep 'differ|disagree' x.txt "$2: as a walk finds them"
	check_near "$(grep -c ';nap (shares.py);.*EvalFrameDefault' x.folded)" 0 0 "$2: evaluators left"
}

# Two threads that sleep all the while in a known chain of functions, and nothing else of interest.
asleep() { # PYTHON NAME
	local us

	start "$1" -c 'if 1:
		import threading, time
		def outer(): inner()
		def inner(): time.sleep(100)
		for i in range(2): threading.Thread(target=outer, daemon=True).start()
		time.sleep(100)'
	sleep 0.5
	check "$2: offcpu of sleepers" "$BPFPROF" offcpu -p "$PID" --no-inline -o x.folded -o x.json 1
	us=$(awk -v s="$(json x.json profile duration_s)" 'BEGIN { printf "%.0f", s * 1000000 }')
	check_between "$us" 1000000 3000000 "$2: microseconds recorded"
	check_near "$(grep -E 'outer \(<string>\);(.*;)?inner \(<string>\);' x.folded | awk '{ sum += $NF } END { print int(sum) }')" \
		$((2 * us)) $((us / 50)) "$2: microseconds of two threads that slept before"
	kill "$PID"
}

# What calls the evaluator is a part of it, where it is inlined and as a trampoline's; so is a call that only begins, or that
# frees what its function had. Of stacks with frames of Python, as others are from before the interpreter was found.
calls() { # PYTHON NAME [OPTION...]
	start "$1" "${@:3}" -c 'if 1:
		class Node:
			__slots__ = ("v", "next")
			def __init__(self, v): self.v = v
		def lists(n): return len([Node(i) for i in range(n)]) + len({str(i): i for i in range(n)})
		def gen(n):
			for i in range(n): yield i
		while True:
			lists(300)
			sum(gen(300))
			sorted(range(300), key=lambda x: -x)'
	sleep 1
	for _ in {1..3}; do # on a busy machine its memory may not be read in time
		check "$2: ${3:+$3 $4, }calls" "$BPFPROF" oncpu -u -A -F 999 -p "$PID" -o x.folded 1.5
		! grep -F '<module> (<string>)' x.folded >calls.folded || break
	done
	stop "$PID"
	check "$2: there are frames of Python" test -s calls.folded
	# Some 0.1 % are where one call more has no frame; of a thousand samples that may be four.
	check_near "$(awk '/;_PyEval_EvalFrameDefault/ { sum += $NF } { all += $NF } END { print 100 * (sum > 3 ? sum - 3 : 0) / all }' calls.folded)" \
		0 0.3 "$2: % in stacks with the evaluator, beyond three samples"
	check_near "$(grep -c ';_PyEval_EvalFrame_\[i\]' calls.folded)" 0 0 "$2: stacks with what calls it"
	# Samples in a trampoline itself, or in what finds it, have no other name.
	check_between "$(awk '/;py_trampoline_evaluator/ { sum += $NF } { all += $NF } END { print 100 * sum / all }' calls.folded)" \
		0 6 "$2: % in stacks with what calls trampolines"
}

plain() { # PYTHON NAME
	check "$2: --no-python" "$BPFPROF" oncpu -u -F 499 --no-inline --no-python -o x.folded -- "$1" "$SHARES" burn 0.3
	check_no_grep 'shares\.py' x.folded "$2: native frames only"
	check_grep '_PyEval_EvalFrameDefault' x.folded "$2: of the evaluator"
}

# More frames than a stack has room for are told. Until 3.10 the native ones alone are too many.
deep() { # PYTHON NAME
	[[ ! $2 =~ ^3\.([89]|10)\. ]] || return
	check "$2: deep" "$BPFPROF" oncpu -v -u -F 999 --no-inline -o x.folded -- "$1" -c 'if 1:
		import sys, time
		def down(n, end):
			if n:
				return down(n - 1, end)
			while time.time() < end:
				pass
		sys.setrecursionlimit(2000)
		down(1200, time.time() + 1.5)'
	check_grep 'Python: [0-9]+ stacks, of which [1-9][0-9]* could not be followed' "$ERR" "$2: what is cut is told"
	check_grep 'down \(<string>\);down \(<string>\) [0-9]+$' x.folded "$2: the newest frames are there"
}

# With -X perf each call goes by code that Python generates, which keeps no frame pointer. It has the name of the function,
# which is there already.
trampolines() { # PYTHON NAME
	local how hows=() name us

	[[ ! $2 =~ ^3\.(1[2-4])\. ]] || hows+=(perf)
	[[ ! $2 =~ ^3\.(1[34])\. ]] || hows+=(perf_jit)
	# By day the one that came last; t180 has names of both kinds.
	[ -n "${NIGHTLY:-}" ] || hows=("${hows[@]: -1}")
	touch begin
	for how in "${hows[@]}"; do
		calls "$1" "$2" -X "$how"
		check "$2: -X $how" "$BPFPROF" oncpu -u -F 999 --no-inline -o x.folded -o x.txt -- "$1" -X "$how" "$SHARES" burn 1.5 0.3
		check_pct x.folded '_start;.*;<module> \(shares\.py\);.*;burn \(shares\.py\);.*;burn_half \(shares\.py\)' 50 3
		check_pct x.folded '<module> \(shares\.py\);.*;burn \(shares\.py\);.*;(Third\.)?burn_third \(shares\.py\)' 30 3
		# A sample within the trampoline itself has nothing else.
		check_between "$(awk '{ n = $NF; all += n } /;py::(burn|spend)/ { twice += n } END { print all ? 100 * twice / all : 100 }' x.folded)" \
			0 1 "$2: -X $how: % where functions have two frames"
		check_grep '^stacks .*(9[89]|100)\.[0-9]% of the samples in complete stacks' x.txt "$2: -X $how: stacks stay complete"
		check "$2: -X $how: native" "$BPFPROF" oncpu -u -F 999 --no-inline --no-python -o x.folded -o x.txt -- \
			"$1" -X "$how" "$SHARES" burn 0.5 0.3
		check_grep ';py::burn:.*shares.py;.*;py::spend:.*shares.py' x.folded "$2: -X $how: by what it wrote"
		check_grep '^stacks .*(9[89]|100)\.[0-9]% of the samples in complete stacks' x.txt "$2: -X $how: native stacks, too"
		check "$2: -X $how: offcpu" "$BPFPROF" offcpu --no-inline --audit -o x.folded -o x.txt -- "$1" -X "$how" "$SHARES" sleep 0.5 0.3
		grep -E '^(short|deep) [0-9]+$' "$OUT" >told
		while read -r name us; do
			check_near "$(awk -v name=";$name (shares.py);" 'index($0, name) && /;nap \(shares/ { sum += $NF } END { print int(sum) }' \
				x.folded)" "$us" $((us / 100)) "$2: -X $how: microseconds off the CPU in $name()"
		done <told
		check_no_grep 'differ|disagree' x.txt "$2: -X $how: as a walk finds them"
	done
	find /tmp -maxdepth 1 \( -name 'perf-*.map' -o -name 'jit-*.dump' \) -newer begin -delete
}

# From 3.13 on an interpreter says where its things lie. A user whose tell other tales takes a part of the rows at most.
crowd() { # PYTHON NAME
	[[ $2 = 3.13.* ]] || return
	start "$1" -c 'if 1:
		import ctypes, os, time
		def burn():
			end = time.time() + 60
			while time.time() < end:
				pass
		at = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
		offsets = (ctypes.c_uint64 * 34).from_address(at)
		for i in range(24):
			if not os.fork():
				os.setuid(54321)
				ctypes.CDLL(None).prctl(1, 9) # PR_SET_PDEATHSIG
				offsets[31] = i % 8 * 8  # of the instruction
				offsets[33] = 68 + i // 8 # of the owner
				burn()
		print("ready", flush=True)
		time.sleep(60)'
	wait_until 10 grep -q ready "$LOG"
	check "$2: crowd" "$BPFPROF" oncpu -v -F 199 --no-inline -o x.folded 3
	check_near "$(grep -c 'Python 3\.13$' "$ERR")" 16 1 "$2: layouts of one user, and ours"
	check_grep 'Python 3\.13: no room for its layout' "$ERR" "$2: he finds no more room"
	stop "$PID" KILL
}

cd "$TMP" || exit 1
pythons >found
[ -s found ] || skip "no Python 3.8 to 3.14"
newest=$(awk -F / '{ print $NF, $0 }' found | sort -V | tail -n 1 | sed 's/.* //')
while read -r python <&3; do
	name=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
	burns "$python" "$name"
	waits "$python" "$name"
	[ -n "${NIGHTLY:-}${PYTHONS:-}" ] || [ "$python" = "$newest" ] || continue
	asleep "$python" "$name"
	calls "$python" "$name"
	plain "$python" "$name"
	deep "$python" "$name"
	trampolines "$python" "$name"
	crowd "$python" "$name"
done 3<found
finish
