#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# alone: it needs the CPUs for itself
# timeout: 600
# Tasks are named by the code of their polls as a build with v0 names says by their types; what is no program of Tokio, is
# stripped, or was not said gets one sentence.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 cargo nm
[ -z "${IN_GUEST:-}" ] || skip "guests have no cargo"

build() { # VARIANT
	local status
	app=$("$ROOT/tests/progs/tokio/build.sh" "$1" "$PROGS/tokio" 2>"$ERR")
	status=$?
	[ $status -ne 77 ] || skip "$(cat "$ERR")"
	[ $status -eq 0 ] || { fail "$1 is built" && show; }
}

# Older names do not number closures, and a name that is not unique has its place.
plain() {
	sed -E 's/@\+0x[0-9a-f]+//; s/[?]$//; s/[{]closure#[0-9]+[}]/{{closure}}/g; s/::[{][{]closure[}][}]$//' | sort
}

# As the linker has them: the first generic argument, but for jobs of the pool.
build v0
nm -C "$app" | sed -n 's/.* tokio::runtime::task::raw::poll::<//p' | grep -v '^tokio::runtime::blocking' |
	python3 -c 'import sys
for line in sys.stdin:
    depth = 0
    for i, c in enumerate(line):
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            break
    print(line[:i])' | plain >"$TMP/types"
check "the oracle has instances" test "$(grep -c '^tokio_waits::' "$TMP/types")" -ge 60

for variant in v0 ${NIGHTLY:+release} fat; do
	build "$variant"
	check "$variant" "$BPFPROF" polls -v -s -- "$app" 1 --polls 1
	cp "$ERR" "$TMP/err"
	sed -n 's/^bpfprof: \(.*\): by the .*/\1/p; s/^bpfprof: \(.*\): by its type$/\1/p' "$TMP/err" >"$TMP/named"
	plain <"$TMP/named" >"$TMP/$variant.names"
	guessed=$(grep -c '?' "$TMP/named")
	# No name more often than there are instances of that type.
	wrong=$(comm -13 "$TMP/types" "$TMP/$variant.names" | wc -l)
	echo "# $variant: $(wc -l <"$TMP/named") named of $(wc -l <"$TMP/types"), of which $guessed guessed; $wrong wrong"
	check "$variant: no name is wrong" test "$wrong" = 0
	check "$variant: nearly all are named" test "$(wc -l <"$TMP/named")" -ge $(($(wc -l <"$TMP/types") * 9 / 10))
	check_grep 'of spawn_blocking\(\) and of workers are left out' "$TMP/err"
done

check_status 2 "no target" "$BPFPROF" polls 1
check_grep 'which process\? Add -p PID' "$ERR"
check_status 2 "no program of Tokio" "$BPFPROF" polls 1 -- sleep 1
check_grep 'no program of Tokio: none of the 1 file of sleep has' "$ERR"
printf '#!/bin/sh\nexec sleep 1\n' >"$TMP/script"
chmod +x "$TMP/script"
check_status 2 "a script" "$BPFPROF" polls 1 -- "$TMP/script"
check_grep 'script is no program in machine code' "$ERR"
start sleep 30
check_status 2 "no process of Tokio" "$BPFPROF" polls -p "$PID" 1
check_grep 'no program of Tokio: none of the [0-9]+ files of these processes' "$ERR"
check_status 2 "tasks of runs" "$BPFPROF" polls --runs --tasks -p "$PID" 1
check_status 2 "offcpu --polls" "$BPFPROF" offcpu --polls -p "$PID" 1
check_grep 'type bpfprof polls -p PID' "$ERR"

build release
# cargo vendor copies sources into folders without a version.
sed 's#/tokio-1[.]#/tokio_1.#g' "$app" >"$TMP/vendored"
chmod +x "$TMP/vendored"
check "a program with copied sources" "$BPFPROF" polls -s -- "$TMP/vendored" 1 --polls 5
check_grep 'tokio_waits::polls::tasks::sleeper: 6 polls' "$OUT"
if strip -o "$TMP/stripped" "$app"; then
	check_status 2 "a stripped program" "$BPFPROF" polls -- "$TMP/stripped" 1 --polls 1
	check_grep 'has Tokio 1[.]54[.]1 and no names of its functions.*bpfprof offcpu, which goes by the form of stacks' "$ERR"
fi
finish
