#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What keeps a command from running is found before anything is loaded, in one sentence that names the layer: the one that
# doctor has for it. Where all is well, nothing is said.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 setpriv unshare
need_prog denies spin_abc waits_sleeper

chmod 755 "$TMP"
install -m 755 "$BPFPROF" "$TMP/bpfprof"

same() { # WHAT PATTERN CMD...: CMD runs bpfprof with further arguments
	local what=$1 pattern=$2

	shift 2
	check_status 77 "$what: runqlat is refused" "$@" runqlat 0.1 1
	check_near "$(wc -l <"$ERR")" 1 0 "lines on stderr"
	check_near "$(wc -c <"$OUT")" 0 0 "bytes on stdout"
	check_grep "^bpfprof: $pattern" "$ERR"
	cp "$ERR" "$TMP/refusal"
	"$@" doctor runqlat --json >"$TMP/doctor.json"
	check_near $? 1 0 "exit status of doctor"
	check "$what: doctor has the same sentence" python3 - "$TMP/doctor.json" "$TMP/refusal" <<'PY'
import json, sys
said = open(sys.argv[2]).read().removeprefix("bpfprof: ").rstrip("\n")
rows = [r for r in json.load(open(sys.argv[1]))["checks"] if r["state"] == "missing"]
assert said in [f'{r["consequence"]}: {r["remedy"]}' for r in rows], (said, rows)
PY
}

same nobody 'CAP_BPF is missing' setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/bpfprof"
same "a missing capability" 'CAP_PERFMON is missing' setpriv --bounding-set -sys_admin,-perfmon "$TMP/bpfprof"
for how in eperm enosys kill; do
	same "bpf, $how" 'a seccomp filter denies bpf\(\)' "$PROGS/denies" bpf $how "$BPFPROF"
	same "perf events, $how" 'a seccomp filter denies perf_event_open\(\)' \
		"$PROGS/denies" perf_event_open $how "$BPFPROF"
done
same "no type information" 'no kernel type information' \
	unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" "$@"' "$BPFPROF"
# What says that it is longer than it is; and what only libbpf can tell from type information.
head -c 1000 /sys/kernel/btf/vmlinux >"$TMP/short"
same "type information that is cut off" "the kernel's type information is cut off or damaged" \
	unshare -m sh -c 'mount --bind "$0" /sys/kernel/btf/vmlinux && exec "$@"' "$TMP/short" "$BPFPROF"
{ head -c 24 /sys/kernel/btf/vmlinux; tail -c +25 /sys/kernel/btf/vmlinux | tr '\0\1\2' '\7\3\0'; } >"$TMP/damaged"
check_status 77 "damaged type information" unshare -m sh -c 'mount --bind "$0" /sys/kernel/btf/vmlinux && exec "$@"' \
	"$TMP/damaged" "$BPFPROF" oncpu -o "$TMP/x.folded" 0.3
check_grep "^bpfprof: the kernel's type information, /sys/kernel/btf/vmlinux, is damaged: " "$ERR"
check_is "$(grep -c '^bpfprof: ' "$ERR")" 1 "sentences,"
same "a PID namespace" 'bpfprof runs inside a PID namespace' unshare --pid --fork --mount-proc "$BPFPROF"
if unshare --user --map-root-user true 2>/dev/null; then
	same "a user namespace" 'bpfprof runs inside a user namespace' unshare --user --map-root-user "$BPFPROF"
	unshare --user --map-root-user "$PROGS/denies" none kill "$BPFPROF" doctor >"$TMP/users" 2>&1
	check_no_grep 'security module|seccomp filter denies' "$TMP/users" "nobody else is accused"
fi
if mkdir -p "$TMP/security" && [ -d /sys/kernel/security ]; then
	same lockdown 'lockdown=confidentiality' unshare -m sh -c 'mount -t tmpfs none /sys/kernel/security &&
		echo "none integrity [confidentiality]" >/sys/kernel/security/lockdown && exec "$0" "$@"' "$BPFPROF"
fi

# stat counts by perf events alone: it is refused by what denies these, and not by what denies programs.
check_status 77 "stat without perf events" "$PROGS/denies" perf_event_open eperm "$BPFPROF" stat 0.1
check_grep 'a seccomp filter denies perf_event_open' "$ERR"
check "stat without BPF" "$PROGS/denies" bpf kill "$BPFPROF" stat -e task-clock 0.1
check_status 77 "by threads it needs it" "$PROGS/denies" bpf kill "$BPFPROF" stat --per-thread -e task-clock 0.1

# Somebody who waits for a CPU now and then.
start "$PROGS/waits_sleeper" often 100000 1000
# A filter that denies neither is no reason for a word; a kernel that is well needs no --unsafe-kernel.
check "runqlat, with a filter that denies neither" "$PROGS/denies" none kill "$BPFPROF" runqlat 0.1 1
check "nothing on stderr" test ! -s "$ERR"
check "runqlat" "$BPFPROF" runqlat 0.1 1
check "nothing on stderr" test ! -s "$ERR"
"$BPFPROF" doctor --json oncpu >"$TMP/oncpu.json"
if grep -q '"found": "none known"' "$TMP/oncpu.json"; then
	check "--unsafe-kernel changes nothing" "$BPFPROF" oncpu --unsafe-kernel -e cpu-clock -f -- "$PROGS/spin_abc" 0.5
	check_no_grep 'kernel can' "$ERR" "no warning"
fi
finish
