#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 3600
# Targets that exit, call exec, fork, change their user or lose their main thread, in the middle of what they do: with their
# starter and with all of the machine each recording comes to its end, its ledger closes, what ran before and after has its
# name, and neither memory nor descriptors grow with their number. With -p on one of them alone a recording ends by itself,
# or as it was told. By day 40 of each kind, and not each kind in each way; at night 1,000.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3 setpriv
need_prog changes
count=${NIGHTLY:+1000}
count=${count:-40}
alone=${NIGHTLY:+10}
alone=${alone:-1}
bpftool=$("$ROOT/tools/find-bpftool.sh")
cd "$TMP" || exit 1

ids() {
	"$bpftool" -j prog show | python3 -c 'import json, sys; print(*[p["id"] for p in json.load(sys.stdin)], sep="\n")' | sort
}
ids >before
peak() {
	sed -n 's/.*peak memory \([0-9.]*\) MB.*/\1/p' "$ERR"
}
# The most descriptors that process $1 had, until it ends.
most_descriptors() {
	local most=0 fds

	while kill -0 "$1" 2>/dev/null; do
		fds=(/proc/"$1"/fd/*)
		[ "${#fds[@]}" -le "$most" ] || most=${#fds[@]}
		sleep 0.1
	done
	echo "$most"
}
all_changed() { # KIND: what the program says
	check_is "$(awk '$1 == "changed" { print $2 }' did)" "$1" "targets that ended as they should"
}
# Of 2 ms each, before and after.
named() { # DESC KIND
	local before after

	before=$(folded_pct x.folded '(^|;)before_it(;|$)')
	after=$(folded_pct x.folded '(^|;)after_it(;|$)')
	check_between "$before" "$([ "$2" = exit ] && echo 60 || echo 25)" 100 "$1: percent in before_it"
	[ "$2" = exit ] || check_between "$after" 25 75 "$1: percent in after_it"
}

for kind in exit exec fork setuid leader; do
	# Told of by their starter, whose children they are.
	check "$kind: oncpu, few" "$BPFPROF" oncpu -v -F 997 -o x.folded -o x.json -- "$PROGS/changes" $kind 10
	few=$(peak)
	env --default-signal=INT "$BPFPROF" oncpu -v -F 997 -o x.folded -o x.json -- "$PROGS/changes" $kind "$count" >did 2>"$ERR" &
	recorder=$!
	most=$(most_descriptors "$recorder")
	wait "$recorder"
	check_is $? 0 "$kind: oncpu of $count"
	all_changed "$count"
	check_ledger_closes x.json
	named "$kind" "$kind"
	check_between "$(awk -v a="$(peak)" -v b="$few" 'BEGIN { print a - b }')" -20 8 "$kind: MB more than of 10"
	check_between "$most" 5 300 "$kind: descriptors at the most"

	# All of the machine, when they run.
	[ -n "${NIGHTLY:-}" ] || [[ $kind == @(exec|leader) ]] || continue
	check "$kind: wall of all" "$BPFPROF" wall -a -o x.folded -o x.json -- "$PROGS/changes" $kind "$count"
	cp "$OUT" did
	all_changed "$count"
	check_ledger_closes x.json
	check_grep "before_it" x.folded "$kind: wall has before_it"
	[ $kind = exit ] || check_grep "after_it" x.folded "$kind: wall has after_it"

	# One of them alone. What it does after exec is its own, and what a forked child does; the main thread may be gone.
	for ((i = 0; i < alone; i++)); do
		start "$PROGS/changes" $kind 1 1500
		child=$(cat "/proc/$PID/task/$PID/children")
		check "$kind: -p of one alone" timeout 20 "$BPFPROF" oncpu -F 499 -p "${child%% *}" -o x.folded -o x.json 4
		check_ledger_closes x.json
		check_grep "before_it" x.folded
		[ $kind = exit ] || check_grep "after_it" x.folded
		wait_for "$PID"
		check_is "$STATUS" 0 "$kind: the target's exit status"
	done
done
# Programs that have come since, and that no process has: others may profile this host too.
none_left() {
	! comm -13 before <(ids) | grep -qvxF -f <(sed -n 's/^prog_id:[[:space:]]*//p' /proc/[0-9]*/fdinfo/* 2>/dev/null)
}
check "no program is left in the kernel" wait_until 10 none_left
finish
