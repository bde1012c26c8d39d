#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A loop that takes as long as some samples do is seen as it is, and there are as many samples as the rate says.
# alone: it judges times
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog beats

# Three standard deviations of independent sampling, and a point for what others take away meanwhile.
near() { # SAMPLES SHARE
	awk -v n="$1" -v p="$2" 'BEGIN { printf "%.1f\n", 300 * sqrt(p * (1 - p) / n) + 1 }'
}

# A loop that others interrupt keeps step with nothing, so any profiler would be right: where it can, it goes before all.
first=()
if [ -z "${IN_GUEST:-}" ] && [ "$(nproc)" -gt 1 ] && chrt -f 1 true 2>/dev/null; then
	first=(chrt -f 1)
fi

beat() { # HZ MS SECONDS
	local nr f=$TMP/x.folded

	rm -f "$f"
	"$BPFPROF" oncpu -e cpu-clock -F "$1" -U -f -o "$f" "$3" -- "${first[@]}" "$PROGS/beats" 60 "$2" >"$OUT" 2>"$ERR"
	nr=$(folded_sum "$f")
	echo "# $1 Hz, $2 ms: $nr samples"
	check_near "$(folded_pct "$f" ';beat_a')" 50 "$(near "$nr" 0.5)" "$1 Hz, loops of $2 ms: beat_a"
	check_near "$(folded_pct "$f" ';beat_b')" 30 "$(near "$nr" 0.3)" "$1 Hz, loops of $2 ms: beat_b"
}

# By day the rates that would keep step.
[ -z "${NIGHTLY:-}" ] || beat 499 10 3
beat 500 10 3
beat 100 10 5
[ -z "${NIGHTLY:-}" ] || beat 99 10 5
[ -n "${IN_GUEST:-}" ] || beat 1000 1 3

# ms that the host has taken from CPU 0, when nothing ticks.
stolen_ms() {
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu0" { printf "%.0f\n", $9 * 1000 / hz }' /proc/stat
}

# Of a CPU that never sleeps.
stolen=$(stolen_ms)
"$BPFPROF" oncpu -e cpu-clock -F 499 -C 0 -f -o "$TMP/x.json" 5 -- taskset -c 0 "$PROGS/beats" 60 >"$OUT" 2>"$ERR"
slack=${IN_GUEST:+250}
slack=${slack:-25}
stolen=$(($(stolen_ms) - stolen))
seconds=$(json "$TMP/x.json" profile duration_s)
hz() { # OFF: samples of the CPU, but for what it was stolen
	awk -v s="$seconds" -v ms="$stolen" -v off="$1" 'BEGIN { printf "%.0f", 499 * (s - (off < 0 ? ms / 1000 : 0)) + off }'
}
check_between "$(json "$TMP/x.json" samples seen)" "$(hz -"$slack")" "$(hz "$slack")" \
	"samples at 499 Hz in $seconds s, of which the host took $stolen ms"
finish
