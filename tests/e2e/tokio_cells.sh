# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# long
# Waits of tests/progs/tokio, build by build: each of its blocking functions in each build is a cell. For scripts that have
# read lib.sh and waits.sh.

# Of a name server that does not answer, two seconds are enough.
export RES_OPTIONS='timeout:1 attempts:1'
cells=0 right_contexts=0 right_kinds=0

# VARIANT; sets $app, or fails.
build_cells() {
	local status
	app=$("$ROOT/tests/progs/tokio/build.sh" "$1" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$1 is built" && show && return 1; }
}

# NAME TRUTH COMMAND...: it is recorded as $TMP/NAME.bpfprof and compared with what it says of itself.
record_cells() {
	local name=$1 truth=$2 stolen taken nr contexts kinds
	shift 2
	stolen=$(stolen_us) taken=$(taken_us)
	run "$BPFPROF" offcpu -o "$TMP/$name.bpfprof" -- "$@"
	stolen=$(($(stolen_us) - stolen)) taken=$(taken_since "$taken")
	# shellcheck disable=SC2153
	[ "$STATUS" -eq 0 ] || { fail "$name is recorded" && show && return; }
	"$BPFPROF" report -f "$TMP/$name.bpfprof" >"$TMP/$name.folded"
	"$BPFPROF" report -f --frames=all "$TMP/$name.bpfprof" >"$TMP/$name.all"
	"$BPFPROF" report --json "$TMP/$name.bpfprof" >"$TMP/$name.json"
	check_folded "$TMP/$name.folded"
	check_no_grep '(^|;)(_ZN|_R[NIM]v)|[.]llvm[.]|17h[0-9a-f]{16}E|[{][{]closure[}][}] ' "$TMP/$name.folded" \
		"$name: names are demangled and clean"
	drive tokio_waits.py "$name" "$truth" "$TMP/$name.folded" "$TMP/$name.all" "$TMP/$name.json" "$stolen" "$taken"
	read -r contexts kinds nr < <(sed -nE 's/^cells: .*: ([0-9]+) contexts and ([0-9]+) kinds of ([0-9]+) are right$/\1 \2 \3/p' "$OUT")
	cells=$((cells + ${nr:-0})) right_contexts=$((right_contexts + ${contexts:-0})) right_kinds=$((right_kinds + ${kinds:-0}))
}

# VARIANT: with several workers
several_workers() {
	build_cells "$1" || return
	mkdir -p "$TMP/$1"
	record_cells "$1" "$TMP/$1.truth" "$app" 2 --workers 28 --dir "$TMP/$1" --truth "$TMP/$1.truth"
}

# VARIANT: a program for each function, since one that blocks keeps the others from waiting. All but those that block in place,
# which is for runtimes of several threads.
one_thread() {
	local leaves="std_mutex pl_mutex rwlock_read rwlock_write blocking_sleep condvar channel_recv thread_park thread_join"
	leaves+=" executor_block_on pool_job file_read fsync mmap_read dns tcp_read pipe_read flock child poll select nested_sleep"
	build_cells "$1" || return
	mkdir -p "$TMP/$1.current"
	# shellcheck disable=SC2016,SC2086 # a script; words
	record_cells "$1.current" "$TMP/$1.current" bash -c 'app=$1 dir=$2
		shift 2
		for leaf; do
			"$app" 3 --current --leaves "$leaf" --dir "$dir" --truth "$dir/$leaf.truth" &
		done
		wait' cells "$app" "$TMP/$1.current" $leaves
}

say_cells() {
	echo "# figure: of $cells cells $right_contexts contexts and $right_kinds kinds are right"
}
