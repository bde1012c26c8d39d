#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Whoever gets a result learns no address of the kernel, in whatever form: neither in text, nor in words of eight bytes at any
# place, nor in protobuf's numbers.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog waits_sleeper

cat >"$TMP/leaks.py" <<'P'
import gzip, re, sys

def is_kernel(word):  # what the kernel maps in itself; not small negative numbers
    return 0xFFFF800000000000 <= word < 0xFFFFFFFFF0000000

def varints(data):
    for m in re.finditer(rb"[\x80-\xff]{9}\x01", data):
        yield sum((b & 0x7F) << 7 * i for i, b in enumerate(m.group())), m.start()

def words(data):
    for m in re.finditer(rb"(?=([\x00-\xff]{5}[\x80-\xff]\xff\xff))", data, re.S):
        yield int.from_bytes(m.group(1), "little"), m.start()

found = []
for path in sys.argv[1:]:
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    found += [(path, hex(w), at) for w, at in varints(data) if is_kernel(w)]
    if path.endswith(".bpfprof"):
        found += [(path, hex(w), at) for w, at in words(data) if is_kernel(w)]
    found += [(path, m.group(), m.start()) for m in re.finditer(rb"ffff[89a-f][0-9a-f]{11}", data)]
for f in found[:10]:
    print(*f)
sys.exit(bool(found))
P
start "$PROGS/waits_sleeper" often 1000 100000
outputs=()
for form in folded txt json html svg pprof speedscope.json firefox.json bpfprof; do
	outputs+=(-o "$TMP/x.$form")
done
for command in oncpu offcpu wall wakeup faults syscalls timeline; do
	forms=("${outputs[@]}")
	[ "$command" != timeline ] || forms=(-o "$TMP/x.txt" -o "$TMP/x.json" -o "$TMP/x.trace.json" -o "$TMP/x.bpfprof")
	rm -f "$TMP"/x.*
	check "$command" "$BPFPROF" "$command" "${forms[@]}" 1
	check "$command: no kernel addresses" python3 "$TMP/leaks.py" "$TMP"/x.*
done
# It can fail.
address=$(awk '$3 == "schedule" { print $1; exit }' /proc/kallsyms)
echo "at 0x$address" >"$TMP/leaks.txt"
printf 'BPFPROF\0\1%b' "$(printf %016x "0x$address" | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\\x\8\\x\7\\x\6\\x\5\\x\4\\x\3\\x\2\\x\1/')" >"$TMP/leaks.bpfprof"
for form in txt bpfprof; do
	check_status 1 "an address in .$form is found" python3 "$TMP/leaks.py" "$TMP/leaks.$form"
done
finish
