#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
# The peaks of a roofline, measured: they lie where a program that shares no code with bpfprof finds them, and where
# others use the CPUs there are none, with the reason.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=stat.sh
. "${0%/*}/stat.sh"
need_root
need_prog roof spin_abc

check "another program" "$PROGS/roof"
read -r bytes operations <"$OUT"

# The CPUs may be others' for a while; in the end these have to wait.
measured=
for try in 1 2 3 4; do
	((try < 3)) && first=(env) || first=(chrt -f 1)
	"${first[@]}" "$BPFPROF" stat -s -M roofline -e task-clock --measure-peaks -- true >"$OUT" 2>"$ERR" && measured=yes && break
	echo "# try $try: $(cat "$ERR")"
done
if [ -n "$measured" ]; then
	tr -s ' \n' ' ' <"$OUT" >"$TMP/line"
	check_grep "peaks measured on $(nproc) CPUs? for 2 s: [0-9.e+]+ GFLOP/s \(.*double precision, spread [0-9.]+ %\), [0-9.e+]+ GB/s" "$TMP/line"
	read -r gflops gbps < <(sed -E 's/.*for 2 s: ([0-9.e+]+) GFLOP.*, ([0-9.e+]+) GB.*/\1 \2/' "$TMP/line")
	# A copy reads and writes as a triad does. Single numbers go through the same units, 1 to 8 of them at a time, and
	# its four chains wait for each other where the probe's do not.
	check_is "$(awk -v g="$gbps" -v b="$bytes" 'BEGIN { print(g * 1e9 > b / 6 && g * 1e9 < b * 6 ? "near" : "far") }')" \
		near "$gbps GB/s, beside $bytes bytes a second of memcpy,"
	check_is "$(awk -v g="$gflops" -v o="$operations" 'BEGIN { print(g * 1e9 > o / 2 && g * 1e9 < o * 64 ? "near" : "far") }')" \
		near "$gflops GFLOP/s, beside $operations operations a second,"
else
	check_grep "this host is busy: the probe had [0-9]+ % of the time" "$ERR"
fi

# Three others on each CPU, with the niceness of this test.
for ((i = 0; i < 3 * $(nproc); i++)); do
	start nice -n "$niceness" "$PROGS/spin_abc" 60
done
mistake 1 "this host is busy: the probe had [0-9]+ % of the time of $(nproc) CPUs?, so the [0-9.e+]+ GFLOP/s and [0-9.e+]+ GB/s" \
	stat -M roofline --measure-peaks -- true
check_is "$(awk '{ for (i = 1; i < NF; i++) if ($i == "%") print($(i - 1) < 80 ? "less" : $(i - 1)); exit }' "$ERR")" less "the share that is left, beside others,"
check_is "$(wc -l <"$OUT")" 0 "lines of a run that did not begin"

mistake 2 "--measure-peaks is of -M roofline" stat --measure-peaks -M cache 1
mistake 2 "give one" stat -M roofline --measure-peaks --peak-gflops 1 --peak-gbps 1 1
finish
