#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/fuzz/run.sh TARGET SECONDS|fixed|full: runs build-fuzz/TARGET on what was found before (tests/data/fuzz/TARGET),
# then on files made here and what becomes of them. What takes or allocates more than tests/fuzz/limits.c allows, and a
# report of a sanitizer, is a failure (exit status 1), and the input stays as build-fuzz/TARGET-*. A search for so many
# seconds goes its own way, and what it learnt is kept in build-fuzz/TARGET.corpus for the next one; a fixed one begins
# anew, and tries the same inputs on every machine. A full one is a fixed one of at least 200,000 inputs where these are
# ELF files, of 20,000 elsewhere: some of its parsers need an hour for that. Fewer than that many are a failure, too.

set -u
cd "${BASH_SOURCE[0]%/*}/../.." || exit 1
target=$1
seconds=$2
[ -x "build-fuzz/$target" ] || { echo "FAIL   fuzz $target: no build-fuzz/$target; make fuzzers builds it" && exit 1; }
corpus=build-fuzz/$target.corpus
seeds=build-fuzz/$target.seeds

program='
#include <alloca.h>
int leaf(int);
int use(void *);
int big(int n) { char room[70000]; return use(room) + leaf(n); }
int many(int a, int b, int c, int d) { return leaf(a) * leaf(b) + leaf(c) * leaf(d) + leaf(a + b); }
int moves(int n) { return n ? use(alloca(n)) : leaf(n); }
int aligned(int n) { char room[64] __attribute__((aligned(64))); return n ? use(room) + leaf(n) : n; }
int _start(void) { return big(1) + many(1, 2, 3, 4) + moves(5) + aligned(6); }
int leaf(int n) { return n; }
int use(void *p) { return p != 0; }
'

seed() { # NAME PREFIX MACHINE OPTIONS...: a program, and its sections alone (their first byte is for the target)
	local name=$1 prefix=$2 machine=$3

	shift 3
	command -v "${prefix}gcc" >/dev/null || return 0
	# Without room between segments, which would be most of each file.
	"${prefix}gcc" -x c - -O1 -fno-inline -nostdlib -Wl,-z,max-page-size=4096,-z,noseparate-code "$@" \
		-o "$seeds/$name" <<<"$program" || return 0
	section .eh_frame "$machine"
	section .debug_frame $((machine + 2))
	section .text "$machine"
}

section() { # SECTION FIRST-BYTE
	"${prefix}objcopy" --dump-section "$1=$seeds/part" "$seeds/$name" /dev/null 2>/dev/null
	[ -s "$seeds/part" ] || return 0
	{ printf '%b' "\\x$2"; cat "$seeds/part"; } >"$seeds/$name$1"
	rm -f "$seeds/part"
}

saved() { # NAME COMMAND...: a saved result that COMMAND writes into a file; its first byte says that it is a profile
	local gen=build/tests/e2e/$2

	"$gen" "${@:3}" "$seeds/part.bpfprof" || exit 1
	{ printf '\1'; cat "$seeds/part.bpfprof"; } >"$seeds/$1"
	rm -f "$seeds/part.bpfprof"
}

seed_saved() {
	local kind

	for kind in small broken offcpu wakeup wall; do
		saved "$kind" gen_profile $kind
	done
	saved pmu gen_pmu
	for kind in polls untimed gaps begins; do
		saved "$kind" gen_calls $kind
	done
	saved runqlat gen_runqlat thread
	saved timeline gen_timeline timeline
	for kind in runs=2 threads=2 hotspots=2; do
		{ printf '\0'; build/tests/e2e/gen_stat json $kind; } >"$seeds/$kind"
	done
}

without_symbols() { # FROM TO: its symbol table is there, and empty
	python3 - "$@" <<-'EOT'
		import struct, sys
		image = bytearray(open(sys.argv[1], "rb").read())
		at, = struct.unpack_from("<Q", image, 40)
		size, nr = struct.unpack_from("<HH", image, 58)
		for section in range(at, at + nr * size, size):
		    if struct.unpack_from("<I", image, section + 4) == (2,):
		        struct.pack_into("<Q", image, section + 32, 0)
		open(sys.argv[2], "wb").write(image)
	EOT
}

seed_programs() {
	local debug=(-g1 "-ffile-prefix-map=$PWD=/src" -fno-asynchronous-unwind-tables -fno-unwind-tables -gz=none)

	seed x86 "" 0 -pie -fPIE
	seed x86-static "" 0 -static -Wl,--no-eh-frame-hdr
	seed x86-stripped "" 0 -shared -fPIC -s
	seed x86-debug "" 0 -pie -fPIE "${debug[@]}"
	seed x86-bare "" 0 -static "${debug[@]:1}"
	without_symbols "$seeds/x86-bare" "$seeds/x86-empty"
	seed arm64 aarch64-linux-gnu- 1 -pie -fPIE
	seed arm64-static aarch64-linux-gnu- 1 -static -mbranch-protection=standard
	seed arm64-debug aarch64-linux-gnu- 1 -pie -fPIE "${debug[@]}"
}

# Programs with the note of a USDT probe, their code, and arguments of probes.
seed_probes() {
	program+='
__asm__(".section .note.stapsdt,\"\",\"note\"\n .long 8, 2f - 1f, 3\n .asciz \"stapsdt\"\n"
	"1: .quad _start, 0, 0\n .asciz \"db\"\n .asciz \"query\"\n .asciz \"8@%rdi -4@-8(%rsp)\"\n"
	"2: .balign 4\n .previous\n");
'
	seed_programs
	printf '\4-4@-1204(%%rbp) 8@%%r10d 1@$5 8@8(%%rax,%%rbx,4)' >"$seeds/x86-args"
	printf '\5-4@[x1, 60] 8@x30 8@5 8@[sp, x2, lsl 3]' >"$seeds/arm64-args"
}

# Maps, and what a program of ours writes as jitdump.
seed_jit() {
	printf '\0001000 10 f\n2000 0x10 JS:*g /a b.js:1:2\nx\n' >"$seeds/map"
	(cd "$seeds" && ../../build/tests/progs/generates dump 1 && { printf '\1'; cat jit-*.dump; } >dump && rm jit-*.dump)
}

# shellcheck disable=SC2059 # zero is part of the format
# A table of one function: its name, its file, its line, and a frame that grows to 8 bytes and back.
seed_go() {
	local zero='\0\0\0\0\0\0\0'

	{
		printf '\361\377\377\377\0\0\1\10'			# the header: Go 1.20, x86-64
		printf "\\1$zero\\1$zero\\0\\20\\100\\0\\0\\0\\0\\0"	# functions, files, where code begins
		printf "\\110$zero\\120$zero\\124$zero\\130$zero\\140$zero"	# names, units, files, numbers, rows
		printf 'main.f\0\0\0\0\0\0a.go\0\2\1\20\10\17\7\0'		# from 72 on, up to 96
		printf '\0\0\0\0\20\0\0\0\20\0\0\0\0\0\0\0'		# rows
		printf "\\0$zero\\0$zero\\1\\0\\0\\0\\1\\0\\0\\0"		# what is known: name, frame, file,
		printf "\\1\\0\\0\\0\\3\\0\\0\\0\\0$zero\\0\\0\\0\\4"	# line, three numbers and four data
		printf "\\0$zero\\1\\0\\0\\0\\0$zero\\0$zero"
	} >"$seeds/go"
}

# Programs with inlined calls in the forms of DWARF, and line tables of their own.
seed_dwarf() {
	local form

	program+='
static inline __attribute__((always_inline)) int once(int n) { return leaf(n) + 1; }
static inline __attribute__((always_inline)) int twice(int n) { return once(n) * once(n + 1); }
int all(int n) { return twice(n) + big(n); }
'
	for form in "dwarf-5 -gz=none" "dwarf-4 -gz=none" dwarf-2 "dwarf-5 -gz" "dwarf-5 -ffunction-sections"; do
		# shellcheck disable=SC2086
		gcc -x c - -O2 -nostdlib -g$form "-ffile-prefix-map=$PWD=/src" -o "$seeds/x86-${form// /}" <<<"$program" || exit 1
		objcopy --dump-section ".debug_line=$seeds/line-${form// /}" "$seeds/x86-${form// /}" /dev/null 2>/dev/null
	done
	for form in gcc-4 gcc-5 clang-4 clang-5; do
		seed_package "$form"
	done
}

# A program without its split unit, which is in the package behind it.
seed_package() { # COMPILER-VERSION
	local at=$seeds/split

	"${1%-*}" -x c - -O2 -ffunction-sections -c "-gdwarf-${1#*-}" -gsplit-dwarf "-ffile-prefix-map=$PWD=/src" -o "$at.o" \
		<<<"$program" && gcc -nostdlib "$at.o" -o "$at" || exit 1
	command -v llvm-dwp >/dev/null && llvm-dwp "$at.dwo" -o "$at.dwp" &&
		python3 - "$at" "$at.dwp" >"$seeds/package-$1" <<-'EOT'
			import struct, sys
			parts = [open(path, "rb").read() for path in sys.argv[1:]]
			sys.stdout.buffer.write(b"dwp\0" + struct.pack("<I", len(parts[0])) + b"".join(parts))
		EOT
	rm -f "$at" "$at".*
}

# Two units with a function and a call in it, as they are kept: checksums are made right by the target.
seed_cache() {
	python3 - >"$seeds/units" <<-'EOT'
		import struct, sys
		strings = b"\0outer\0inner\0/src/a.c\0"
		def unit():
		    ranges = struct.pack("<" + "QII" * 4, 100, 0, 0, 120, 1, 20, 130, 0, 30, 180, 0xffffffff, 0)
		    nodes = struct.pack("<" + "IIII" * 2, 0xffffffff, 1, 0, 0, 0, 7, 13, 5)
		    rows = struct.pack("<" + "QII" * 3, 100, 13, 3, 120, 13, 9, 180, 0xffffffff, 0)
		    return struct.pack("<QQQQ", 4, 2, 3, len(strings)) + ranges + nodes + rows + strings
		body = unit() + unit()
		places = struct.pack("<" + "QQQ" * 2, 100, 180, 1, 100, 180, 2)
		size = len(unit())
		table = struct.pack("<" + "QQQII" * 2, 1, 40, size, 0, 0, 2, 40 + size, size, 0, 0)
		head = struct.pack("<8sQQQII", b"bpfpdwf1", 40 + len(body), 2, 2, 0, 0)
		sys.stdout.buffer.write(head + body + places + table)
	EOT
}

# A code object of 3.11 with its strings and its lines, and one of 3.13 behind the offsets that its runtime tells.
seed_python() {
	python3 - "$seeds" <<-'EOT'
		import struct, sys
		TYPE = 0x4141414141414141
		def string(text):
		    return struct.pack("<QQQQI", 1, TYPE, len(text), 0, 1 << 2 | 1 << 5 | 1 << 6).ljust(48, b"\0") + text + b"\0"
		def memory(at, first, file, name, qualname, lines, ascii):
		    m = bytearray(4096)
		    m[0:8] = struct.pack("<Q", TYPE)
		    m[at + 8:at + 16] = struct.pack("<Q", TYPE)
		    m[at + first:at + first + 4] = struct.pack("<I", 7)
		    for k, (field, value) in enumerate(((file, b"/a/b.py"), (name, b"f"), (qualname, b"A.f"))):
		        m[at + field:at + field + 8] = struct.pack("<Q", 2048 + 256 * k)
		        s = string(value)[:ascii] + string(value)[48:]
		        m[2048 + 256 * k:2048 + 256 * k + len(s)] = s
		    table = b"\x80\x00\xe0\x08\x09\x80\x41\xe5\x0d\x12\x90\x31"
		    m[at + lines:at + lines + 8] = struct.pack("<Q", 3072)
		    m[3072:3072 + 32 + len(table)] = struct.pack("<QQQQ", 1, TYPE, len(table), 0) + table
		    return m
		open(sys.argv[1] + "/3.11", "wb").write(b"\3" + memory(128, 72, 112, 120, 128, 136, 48))
		m = memory(1024, 68, 112, 120, 128, 136, 40)
		m[0:64 * 8] = struct.pack("<64Q", 0x7970677562656478, 0x030d00f0, 0, 2000, 8, 632, *[64] * 3, 72, *[64] * 9,
		    256, 0, 8, 16, 72, 152, 160, 168, 176, 80, 8, 0, 56, 72, 70, 200, 112, 120, 128, 136, 68, 52, 96, 104, 200,
		    *[16] * 20)
		open(sys.argv[1] + "/3.13", "wb").write(b"\5" + m)
	EOT
}

# Each in its own form; an id of a container is 64 digits.
seed_who() {
	local id

	id=$(printf '0123456789abcdef%.0s' 1 2 3 4)
	printf '\0# ours\ndrop comm=~"bash|ssh.*"\nkeep namespace=~"prod-.*"\nlabel team="p-$1" if service_name=~"pay-(.*)" namespace!="test"\n\0comm\0x\0namespace\0prod-1\0service_name\0pay-a\0' >"$seeds/rules"
	printf '\1013::/kubepods.slice/kubepods-pod12345678_1234_1234_1234_123456789abc.slice/cri-containerd-%s.scope\n' "$id" \
		>"$seeds/cgroup"
	printf '\1011:name=systemd:/system.slice/docker-%s.scope\n0::/system.slice/a\\x2db.service\n' "$id" >"$seeds/units"
	printf '\2PATH=/bin\0OTEL_SERVICE_NAME=shop\0OTEL_RESOURCE_ATTRIBUTES=service.name=a%%20b,service.version=1\0DD_SERVICE=c\0' \
		>"$seeds/environment"
	printf '\3service.name=a%%20b,deployment.environment.name=prod' >"$seeds/attributes"
	# resource { attributes { key "service.name" value { string_value "shop" } } }
	printf '\4\12\30\12\26\12\14service.name\22\6\12\4shop' >"$seeds/context"
	printf '\0057f0000000000-7f0000001000 r--p 00000000 00:01 7 /memfd:OTEL_CTX (deleted)\n' >"$seeds/maps"
	printf '\6shop_pod-1_12345678-1234-1234-1234-123456789abc\00012345678-1234-1234-1234-123456789abc' >"$seeds/folder"
	printf '\7{"annotations":{"io.kubernetes.cri.container-name":"c","io.kubernetes.cri.image-name":"i:1","nerdctl/name":"n"}}' >"$seeds/cri"
	printf '\047{"Name":"/n","Config":{"Image":"i","Labels":{"com.docker.compose.service":"web"}}}' >"$seeds/docker"
}

seed_words() {
	printf '\0-t\n1,7\n-C0-3,5\n--output=a\n-F\n99\n--max-mem\n64M\n-m1ms\n-Ivv\n--mode\n640\n--\nprogram' >"$seeds/options"
	printf '\1cpu/event=0x3c,umask=1/u' >"$seeds/event"
	printf '\1sched:sched_*' >"$seeds/tracepoint"
	printf '\030net::Listener::accept(int)+return' >"$seeds/function"
	printf '\2libc:/^m.*c$/' >"$seeds/expression"
	printf '\2./server:usdt:db:query*' >"$seeds/usdt"
	printf '\3100 * max(a, b - 1.5e3) / (@c + min(d, 2))' >"$seeds/formula"
	printf '\4runq_p99>20ms' >"$seeds/on"
	printf '\4ipc<-5%%,time>10%%' >"$seeds/fail-on"
	printf '\5_ZN3net8Listener6acceptERKSt6vectorIiSaIiEE.cold' >"$seeds/c++"
	printf '\6_RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar3baz' >"$seeds/rust"
	printf '\6_ZN4core3fmt9Formatter3pad17h0123456789abcdefE' >"$seeds/rust-old"
	printf '\00755d0c0a00000-55d0c0b00000 r-xp 00001000 fe:01 1234 /usr/bin/a b (deleted)\n' >"$seeds/maps"
	printf '\10nginx,worker-[0-9]*,gc?[!a-c]\\*' >"$seeds/glob"
	printf '\11start_s,label,host,cpu,target,kind,name,unit,value,stderr,runs\n1.5,a,h,"c, 2",-- x,metric,ipc,,1.5,0.1,3\n' \
		>"$seeds/history"
	printf '\01210.5ms' >"$seeds/number"
}

rm -rf "$seeds"
case $seconds in
fixed | full) corpus+=.$seconds && rm -rf "$corpus" ;;
esac
mkdir -p "$seeds" "$corpus"
# How many inputs are a fixed search: all together, what two CPUs try in five minutes. A full one has the number behind it.
full=0
case $target in
# A name may be on every frame of every stack, so what is made of a large file is large: small ones have it all, too.
saved) seed_saved; runs=20000 len=16384 ;;
jit) seed_jit; runs=600000 len=16384 ;;
go) seed_go; runs=400000 len=65536 ;;
python) seed_python; runs=400000 len=8192 ;;
cache) seed_cache; runs=40000 len=4096 ;;
dwarf) seed_dwarf; runs=200000 len=65536 ;;
probes) seed_probes; runs=80000 full=200000 len=65536 ;;
who) seed_who; runs=100000 len=4096 ;;
words) seed_words; runs=200000 len=1024 ;;
points) seed_programs; runs=100000 len=65536 ;;
*) seed_programs; runs=6000 full=200000 len=65536 ;;
esac
[ "$seconds" != full ] || [ "$full" -eq 0 ] || runs=$full
# -timeout is for what comes to no end, by the clock; tests/fuzz/limits.c has the limit of CPU time.
limits=(-timeout=20 -malloc_limit_mb=64 "-max_len=$len" -rss_limit_mb=1024 "-artifact_prefix=build-fuzz/$target-")

failed() { # WHY
	local input

	tail -n 40 "$log"
	input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	[ -z "$input" ] || echo "keep $input as $found/WHAT-WAS-WRONG: each run of this target tries what is there first"
	echo "FAIL   fuzz $target: $1, see $log"
	exit 1
}

log=build-fuzz/$target.log
found=tests/data/fuzz/$target
nr_found=0
if [ -d "$found" ]; then
	nr_found=$(find "$found" -type f | wc -l)
	"build-fuzz/$target" "${limits[@]}" "$found"/* >"$log" 2>&1 || failed "what was found before fails again"
	[ "$(grep -c '^Executed ' "$log")" -eq "$nr_found" ] || failed "not all of $nr_found inputs of $found were tried"
	cp "$found"/* "$seeds"
fi

# Whoever compares addresses (an environment moves the stack's), and reads what others found, goes another way each time.
if [ "$seconds" = fixed ] || [ "$seconds" = full ]; then
	search=(env -i setarch -R "build-fuzz/$target" -seed=1 -reload=0 -runs="$runs")
else
	runs=0
	search=("build-fuzz/$target" -max_total_time="$seconds")
fi

"${search[@]}" "${limits[@]}" -len_control=0 -use_value_profile=1 "$corpus" "$seeds" >"$log" 2>&1 || failed "an input fails"
tried=$(sed -n 's/^Done \([0-9]*\) runs in .*/\1/p' "$log")
if [ "${tried:-0}" -eq 0 ] || [ "$tried" -lt "$runs" ]; then
	failed "${tried:-no} inputs tried, $runs were to be"
fi
echo "ok     fuzz $target: $(grep -oE '^Done [0-9]+ runs in [0-9]+ second' "$log"), $nr_found found before," \
	"$(find "$corpus" -type f | wc -l) inputs kept, $(grep '^most of one input' "$log")"
