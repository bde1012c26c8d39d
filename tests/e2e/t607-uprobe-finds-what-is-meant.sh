#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Addresses in stripped files; patterns with functions that the kernel takes no probe on, and that are chosen at the start;
# overloads and templates; a file that was replaced while it runs; calls that cannot be timed are refused.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 g++ strip nm objdump
[ -r /sys/bus/event_source/devices/uprobe/type ] || lacks "the kernel has no uprobes"

cat >"$TMP/over.cc" <<'C'
#include <unistd.h>
#include <cstdio>
__attribute__((noinline)) void over(int a) { asm volatile("nop" ::"r"(a)); asm volatile("nop"); }
__attribute__((noinline)) void over(double a) { asm volatile("nop" ::"x"(a)); }
template <class T> __attribute__((noinline)) T foo(T a) { asm volatile("nop"); return a; }
namespace n {
template <class T> struct Box { __attribute__((noinline)) void get(int) { asm volatile("nop"); } };
}
extern "C" void strange(void);
#ifdef __x86_64__ // an instruction that kernels do not know: vpxorq %xmm16,%xmm16,%xmm16, jumped over
__asm__(".text\n.globl strange\n.type strange, @function\nstrange:\n"
	".byte 0x62,0xa1,0xfd,0x00,0xef,0xc0\nret\n.size strange, . - strange\n");
#endif
int main(int argc, char **argv)
{
	for (int i = 0; i < 10; i++) {
		over(1);
		if (i < 3)
			over(2.0);
		foo(1);
		foo(2.0);
		n::Box<int>().get(1);
		n::Box<long>().get(1);
		if (argc > 1)
			usleep(500000);
	}
	return argc > 5 ? (strange(), 0) : 0;
}
C
g++ -O1 -o "$TMP/over" "$TMP/over.cc" 2>"$ERR" || skip "g++ cannot make a program"
strip -o "$TMP/stripped" "$TMP/over"
calls() { # FUNCTION
	python3 -c 'import csv, sys
print(sum(int(r["calls"]) for r in csv.DictReader(open(sys.argv[1])) if r["function"] == sys.argv[2]))' "$TMP/x.csv" "$1"
}
count() { # WORD...
	check "uprobe $*" "$BPFPROF" uprobe -o "$TMP/x.csv" "$@" -- "$TMP/over"
}

# Names.
count "$TMP/over:over"
check_near "$(calls 'over(int)')" 10 0 "calls of one overload"
check_near "$(calls 'over(double)')" 3 0 "calls of the other one"
count "$TMP/over:foo"
check_near "$(calls 'foo<int>')" 10 0 "calls of a function of a template, by its bare name"
count "$TMP/over:n::Box::get"
check_near "$(calls 'n::Box<long>::get')" 10 0 "the same of a member"
count "$TMP/over:over(int)+0x1" "$TMP/over:over(int)"
check_near "$(calls 'over(int)+0x1')" 10 0 "an instruction inside is another row"

# Stripped.
address=$(nm "$TMP/over" | awk '$3 == "_Z4overi" { print $1 }')
inside=$(printf '%x' $((0x$address + 1)))
check "an address in a stripped file" "$BPFPROF" uprobe -l -o "$TMP/x.csv" "$TMP/stripped:+0x$address" -- "$TMP/stripped"
check_near "$(python3 -c 'import csv, sys
print(sum(int(r["calls"]) for r in csv.DictReader(open(sys.argv[1]))))' "$TMP/x.csv")" 10 0 "calls of it, timed"
check "one inside" "$BPFPROF" uprobe -o "$TMP/x.csv" "$TMP/stripped:+0x$inside" -- "$TMP/stripped"
check_near "$(calls "+0x$inside")" 10 0 "times it is passed"
says() { # PATTERN STATUS ARGUMENTS...
	local pattern=$1 status=$2

	shift 2
	check_status "$status" "uprobe $*" "$BPFPROF" uprobe "$@" -- "$TMP/over"
	check_grep "$pattern" "$ERR" "it says what is wrong"
}
main=$(nm "$TMP/over" | awk '$3 == "main" { print $1 }')
bad=$(objdump -d --no-show-raw-insn --start-address="0x$main" "$TMP/stripped" | awk '/^ +[0-9a-f]+:/ { sub(":", "", $1)
	if (last && strtonum("0x" $1) - strtonum("0x" last) > 1) { printf "%x\n", strtonum("0x" last) + 1; exit }
	last = $1 }' 2>/dev/null)
[ -z "$bad" ] || says 'no instruction of .* begins at' 2 "$TMP/stripped:+0x$bad"
says 'it is stripped.*debug file.*an address' 2 "$TMP/stripped:over"
says 'has no code at' 2 "$TMP/stripped:+0x99999999"
says 'is inside of a function.*leave out --latency' 2 -l "$TMP/over:over(int)+0x1"
says 'is inside of a function.*leave out --latency' 2 -l "$TMP/stripped:+0x$inside"

says 'has no functions that can be found: it is stripped' 2 "$TMP/stripped"

# Near names, of files too.
says "no library or program 'libstdc.'; did you mean 'libstdc..'" 2 libstdc+:malloc
says "no library or program 'bahs'; did you mean 'bash'\?" 2 bahs:main
says "no library or program 'zzzz-qqqq-zzzz'; type its path" 2 zzzz-qqqq-zzzz:main
says "cannot open $TMP/ovre: No such file.*; did you mean '$TMP/over'\?" 2 "$TMP/ovre:over"
: >"$TMP/stripped.c"
says "did you mean '$TMP/stripped'\?" 2 "$TMP/strippd.c:over"

# Libraries where only the dynamic linker's cache tells, as ldconfig writes it today.
if mkdir "$TMP/lib" && gcc -shared -fPIC -Wl,-soname,libbeside.so.1 -o "$TMP/lib/libbeside.so.1" -xc - <<<'int beside(void) { return 1; }' &&
	echo "$TMP/lib" >"$TMP/ld.conf" && PATH=$PATH:/sbin:/usr/sbin ldconfig -X -f "$TMP/ld.conf" -C "$TMP/ld.cache" 2>/dev/null &&
	unshare -m mount --bind "$TMP/ld.cache" /etc/ld.so.cache 2>/dev/null; then
	check_status 3 "a library that only the cache knows" unshare -m sh -c "mount --bind '$TMP/ld.cache' /etc/ld.so.cache && exec '$BPFPROF' \
		uprobe -v libbeside:beside 0.2"
	check_grep "beside.* $TMP/lib/libbeside\\.so\\.1" "$ERR" "it is that file"
fi

# Patterns of files, of those that a process has mapped.
start "$TMP/over" slow
check "a pattern of files" "$BPFPROF" uprobe -p "$PID" -o "$TMP/x.csv" '*ove?:over(int)' 0.7
check "calls: $(calls 'over(int)')" test "$(calls 'over(int)')" -ge 1
check "one without its lib" "$BPFPROF" uprobe -v -p "$PID" -o "$TMP/x.csv" 'c.so*:usleep' "$TMP/o*:over(int)" 0.7
check "calls of usleep: $(calls usleep)" test "$(calls usleep)" -ge 1
check_status 2 "one that fits nothing" "$BPFPROF" uprobe -p "$PID" 'libssl*:SSL_read' 0.2
check_grep "none of these processes has a file 'libssl\*' mapped" "$ERR"
check_status 2 "one without that function" "$BPFPROF" uprobe -p "$PID" 'libc.*:usleeep' 0.2
check_grep "libc\.\* has no function 'usleeep'; did you mean 'usleep'\?" "$ERR"
says "a pattern of files needs -p" 2 'libssl*:SSL_read'
stop "$PID"

# Patterns.
if [ "$(uname -m)" = x86_64 ]; then
	start "$TMP/over" slow
	check "a pattern with a function that the kernel knows no instruction of" "$BPFPROF" uprobe -p "$PID" -o "$TMP/x.csv" \
		"$TMP/over:strange" "$TMP/over:over" 0.6
	check_grep '1 of 3 places are left out, since the kernel takes no probe there' "$ERR"
	check "the others are seen: $(calls 'over(int)')" test "$(calls 'over(int)')" -ge 1
	check_status 1 "alone it is refused" "$BPFPROF" uprobe -p "$PID" "$TMP/over:strange" 0.2
	check_grep 'the kernel takes none on this instruction' "$ERR"
	check_no_grep 'ulimit|seccomp' "$ERR" "nothing else is blamed"
fi
libm=$(ldd "$(command -v python3)" "$TMP/over" 2>/dev/null | awk '/libm\.so/ { print $3; exit }')
if [ -r "${libm:-}" ] && readelf -sW --dyn-syms "$libm" | grep -q ' IFUNC '; then
	"$BPFPROF" uprobe --all --force -o "$TMP/x.csv" "$libm:*" 1 -- true >"$OUT" 2>"$ERR"
	check_grep 'are left out, since they are chosen when the program starts \(IFUNC\)' "$ERR"
	check "in one line" test "$(grep -c IFUNC "$ERR")" -eq 1
fi

# Replaced.
cp "$TMP/over" "$TMP/runs"
start "$TMP/runs" slow
cp "$(type -P true)" "$TMP/new"
mv "$TMP/new" "$TMP/runs"
check "a file that was replaced, by its path" "$BPFPROF" uprobe -p "$PID" -o "$TMP/x.csv" "$TMP/runs:over(int)" 0.7
check "calls in the file that runs: $(calls 'over(int)')" test "$(calls 'over(int)')" -ge 1
check "the same by its name" "$BPFPROF" uprobe -p "$PID" -o "$TMP/x.csv" "runs:over(int)" 0.7
check "calls: $(calls 'over(int)')" test "$(calls 'over(int)')" -ge 1
check_status 3 "a file that it does not run" "$BPFPROF" uprobe -p "$PID" -o "$TMP/x.csv" "$TMP/over:over(int)" 0.2
check_grep 'none of these processes has .* mapped' "$ERR" "it says why nothing is seen"
finish
