#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Boots guests under QEMU and runs the end-to-end tests in each:
#
#	tests/vm/run.sh [GUEST...]	names or patterns from tests/vm/guests; all without, and with DAY=1 those that run by day
#
# A guest passes when its tests do, when it ends by itself, and when its kernel complained of nothing. What it
# printed stays in build/tests/vm: GUEST.result, and GUEST.console from its kernel. Nothing is installed, root is
# not needed, and nothing but build*/ and the cache folder is written.
#
# Environment: DAY (=1: what runs by day), TESTS (patterns of tests, with commas), JOBS (guests at a time), VM_TIMEOUT (seconds per guest),
# VM_CACHE (.cache), REFRESH (ask the archive for newer kernels), NIGHTLY, AGAIN; for another purpose than the tests, RUN (a
# script), VM_LOGS (where results go), SHIFT (an instruction takes 2^SHIFT ns, 2), APPEND (to the kernel's command
# line). Exit status: 0 all passed, 1 a guest failed, 2 usage, 77 guests cannot run here.

set -u
export LC_ALL=C.UTF-8
cd "${BASH_SOURCE[0]%/*}/../.." || exit 1

CACHE=${VM_CACHE:-.cache}
LOGS=${VM_LOGS:-build/tests/vm}
JOBS=${JOBS:-$(nproc)}
LIMIT=${VM_TIMEOUT:-3300}
MAKE=${MAKE:-make}
CROSS=aarch64-linux-gnu-
# What no kernel may print: a WARN or BUG, an oops, a panic, a stall, a lock in the wrong order.
SPLAT='cut here|WARNING: (CPU|possible|suspicious|inconsistent|[^ ]*\.[ch]:[0-9])|BUG:|Oops|Kernel panic'
SPLAT+='|Unable to handle kernel|general protection|rcu: INFO|rcu_[a-z]+ (self-)?detected|soft lockup|hard LOCKUP'
SPLAT+='|UBSAN:|INFO: (possible|trying to register)|blocked for more than|[Cc]all [Tt]race:|sleeping function called'

cannot() {
	echo "check-vm: $*" >&2
	exit 77
}

guest_rows() { # PATTERN...: their lines of the table
	local name rest pattern

	while read -r name rest; do
		for pattern; do
			# shellcheck disable=SC2053
			if [[ $name == $pattern ]]; then
				echo "$name $rest"
				break
			fi
		done
	done < <(grep -v '^#' tests/vm/guests)
}

need_tools() { # ARCH...
	local arch

	for arch; do
		case $arch in
		amd64) command -v qemu-system-x86_64 >/dev/null || cannot "no qemu-system-x86_64; sudo tools/install-deps.sh --cross installs it" ;;
		arm64)
			command -v qemu-system-aarch64 >/dev/null || cannot "no qemu-system-aarch64; sudo tools/install-deps.sh --cross installs it"
			command -v ${CROSS}gcc >/dev/null || cannot "no ${CROSS}gcc; sudo tools/install-deps.sh --cross installs it"
			;;
		esac
	done
	[ "$(uname -m)" = x86_64 ] || cannot "guests are built on x86-64 only"
	command -v cpio >/dev/null || cannot "no cpio; sudo tools/install-deps.sh --cross installs it"
}

build() { # ARCH
	case $1 in
	amd64) $MAKE -s all progs || exit 1 ;;
	arm64) $MAKE -s CROSS_COMPILE=$CROSS || exit 1 ;;
	esac
	build_tokio "$1"
}

# Guests have no cargo, and need not have the program of Tokio: without it its tests are skipped.
build_tokio() { # ARCH
	case $1 in
	amd64) tests/progs/tokio/build.sh release ;;
	arm64) TARGET=aarch64-unknown-linux-gnu tests/progs/tokio/build.sh release build-arm64/tests/progs/tokio ;;
	esac >/dev/null || echo "vm: no program of Tokio for $1"
}

# A guest's files: the userland, and over it what was built, as the source tree has it.
make_initrd() { # ARCH
	local dir prog=bpfprof built=build

	if [ "$1" = arm64 ]; then
		prog=build-arm64/bpfprof
		built=build-arm64
	fi
	dir=$(mktemp -d) || exit 1
	chmod 755 "$dir"
	mkdir -p "$dir"/{guest,bpfprof/{tests/progs/tokio,tools,build/tests/{e2e,progs}}}
	cp tests/vm/init.sh "$dir/init"
	cp "${RUN:-tests/vm/suite.sh}" "$dir/guest/run"
	cp -r tests/run.sh tests/kept tests/e2e "$dir/bpfprof/tests"
	cp tools/find-bpftool.sh "$dir/bpfprof/tools"
	cp -r VERSION man README.md $prog "$dir/bpfprof"
	# Of Tokio the programs, and not the hundreds of megabytes that cargo keeps beside them.
	(cd $built/tests/progs && find . -path './tokio/*/*/*/*' -prune -o -print0 | cpio --quiet -0pdm "$dir/bpfprof/build/tests/progs")
	cp tests/progs/tokio/build.sh "$dir/bpfprof/tests/progs/tokio"
	find $built/tests/e2e -maxdepth 1 -type f -perm -u+x -exec cp -t "$dir/bpfprof/build/tests/e2e" {} +
	(cd "$dir" && find . | cpio --quiet -o -H newc -R 0:0) | cat "$CACHE/userland-$1.cpio" - >"$LOGS/initrd-$1" ||
		cannot "cannot write $LOGS/initrd-$1"
	rm -rf "$dir"
}

# What is laid over the files of an architecture in guests that are named for it.
overlay() { # NAME
	case $1 in
	*-perf) echo perf ;;
	esac
}

# The files of a guest: those of its architecture, or a copy of its own with more.
initrd() { # NAME ARCH
	local more

	more=$(overlay "$1")
	echo "$LOGS/initrd-$2${more:+-$more}"
}

# Runs QEMU until the guest leaves it; its exit status tells nothing but a time-out (124). The files of a guest, some 330 MB,
# are in its memory two times while they are unpacked, and may take half of it.
boot() { # NAME SUITE ARCH CPU CPUS TESTS [BY-DAY]
	local name=$1 suite=$2 arch=$3 tests=${TESTS:-${DAY:+${7:-}}} qemu serial append

	tests=${tests:-$6}

	case $arch in
	amd64)
		qemu="qemu-system-x86_64 -M q35"
		serial="-serial file:$LOGS/$name.console -serial file:$LOGS/$name.result"
		# The time stamp counter is as good as the emulator's clock; the kernel cannot know. Retpolines are slow
		# to emulate.
		append="console=ttyS0 tsc=reliable mitigations=off"
		;;
	arm64)
		qemu="qemu-system-aarch64 -M virt"
		serial="-serial file:$LOGS/$name.console -chardev file,id=result,path=$LOGS/$name.result
			-device pci-serial,chardev=result"
		# Page-table isolation would empty the emulator's TLB at each system call.
		append="console=ttyAMA0 kpti=off"
		;;
	esac
	rm -f "$LOGS/$name".{console,result,qemu}
	# One CPU: time is the count of instructions, and nobody waits when the guest sleeps.
	# shellcheck disable=SC2046,SC2086
	timeout --foreground --kill-after=5 "$LIMIT" $qemu -cpu "$4" -accel tcg -smp "$5" -m 2G -nodefaults -display none -no-reboot \
		$([ "$5" -gt 1 ] || echo -icount shift="${SHIFT:-2}",sleep=off) ${QEMU_EXTRA:-} -kernel "$CACHE/kernel-$suite-$arch/vmlinuz" \
		-initrd "$(initrd "$name" "$arch")" $serial \
		-append "$append panic=-1 ignore_loglevel cryptomgr.notests=1 guest.name=$name guest.tests=$tests guest.nightly=${NIGHTLY:-} guest.again=${AGAIN:-} ${APPEND:-}" \
		</dev/null >"$LOGS/$name.qemu" 2>&1
}

# Why the guest failed besides its tests, or nothing.
trouble() { # NAME STATUS-OF-QEMU
	local splat

	splat=$(grep -aEm 1 "$SPLAT" "$LOGS/$1.console" | tr -d '\r' | cut -c 1-120)
	if [ -n "$splat" ]; then
		echo "its kernel said: $splat"
	elif [ "$2" = 124 ] || [ "$2" = 137 ]; then
		echo "no end after $LIMIT s"
	elif ! grep -aq '^@@EXIT [0-9]' "$LOGS/$1.result" 2>/dev/null; then
		echo "it died: $(tail -n 1 "$LOGS/$1.qemu" | cut -c 1-120)"
	fi
}

# Boots a guest and leaves NAME.row: name, kernel, architecture, seconds, passed, failed, skipped, and what is wrong.
run_guest() { # NAME SUITE ARCH CPU CPUS TESTS [BY-DAY]
	local name=$1 from=$EPOCHREALTIME status=0 why seconds counts code

	boot "$@" || status=$?
	# Not even the first process ran, so nothing of ours did: that is the emulator's failure. Once.
	if [ $status -eq 0 ] && ! grep -aq '^@@BOOT' "$LOGS/$name.result" 2>/dev/null; then
		mv "$LOGS/$name.console" "$LOGS/$name.console-of-first-try"
		echo "check-vm: $name did not get to its first process; once more" >&2
		boot "$@" || status=$?
	fi
	seconds=$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", b - a }')
	tr -d '\r' <"$LOGS/$name.result" >"$LOGS/$name.text" 2>/dev/null
	why=$(trouble "$name" $status)
	code=$(sed -n 's/^@@EXIT \([0-9]*\)$/\1/p' "$LOGS/$name.text")
	counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$LOGS/$name.text" | tail -n 1)
	[ -n "$why" ] || [ "$code" = 0 ] || why=tests
	[ -n "$why" ] || [ "${counts%% *}" -gt 0 ] 2>/dev/null || why="no test passed"
	mv "$LOGS/$name.text" "$LOGS/$name.result"
	echo "$name $(cat "$CACHE/kernel-$2-$3/version") $3 $seconds ${counts:-0 0 0} ${why:--}" >"$LOGS/$name.row"
	tell "$name"
}

# One guest's part of the report, in one piece.
tell() { # NAME
	local name kernel arch seconds passed failed skipped why

	read -r name kernel arch seconds passed failed skipped why <"$LOGS/$1.row"
	{
		grep -aE '^(not ok|again|flaky|skip|       [|l])' "$LOGS/$name.result" | sed "s/^/$name: /"
		[ "$why" = - ] || [ "$why" = tests ] || {
			echo "$name: FAILED: $why"
			echo "$name: console: $LOGS/$name.console"
			tail -n 12 "$LOGS/$name.console" 2>/dev/null | tr -d '\r' | cut -c 1-160 | sed "s/^/$name: | /"
		}
		echo "$name: $passed passed, $failed failed, $skipped skipped (kernel $kernel, $seconds s)"
	} >"$LOGS/$name.report"
	cat "$LOGS/$name.report"
}

# The matrix as docs/tests.md shows it.
table() { # NAME...
	local name

	printf '\n| guest | kernel | architecture | seconds | passed | failed | skipped |\n|---|---|---|---|---|---|---|\n'
	for name; do
		awk '{ printf "| %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6, $7 }' "$LOGS/$name.row"
	done
}

# Figures that the guests measured, a column each.
figures() { # NAME...
	local name

	for name; do
		sed -nE "s/^[|# ]*figure: ([^ ]+) [^ ]+ [^ ]+ ([0-9]+) .*/$name \\1 \\2/p" "$LOGS/$name.result"
	done | awk '
		!($1 in guest) { guest[$1]; guests[++nr] = $1 }
		!($2 in figure) { figure[$2]; names[++rows] = $2 }
		{ value[$1, $2] = $3 }
		END {
			if (!nr)
				exit
			printf "\n| figure |"
			for (i = 1; i <= nr; i++)
				printf " %s |", guests[i]
			printf "\n|---|"
			for (i = 1; i <= nr; i++)
				printf "---|"
			for (r = 1; r <= rows; r++) {
				printf "\n| %s |", names[r]
				for (i = 1; i <= nr; i++)
					printf " %s |", value[guests[i], names[r]]
			}
			print ""
		}'
}

[ $# -gt 0 ] || [ -z "${DAY:-}" ] || mapfile -t by_day < <(awk '!/^#/ && NF > 6 { print $1 }' tests/vm/guests)
[ $# -gt 0 ] || set -- "${by_day[@]:-*}"
for pattern; do
	[ -n "$(guest_rows "$pattern")" ] || {
		echo "check-vm: no guest '$pattern'; there are: $(guest_rows '*' | cut -d ' ' -f 1 | tr '\n' ' ')" >&2
		exit 2
	}
done
mapfile -t rows < <(guest_rows "$@")
mapfile -t arches < <(printf '%s\n' "${rows[@]}" | awk '{ print $3 }' | sort -u)
need_tools "${arches[@]}"
mkdir -p "$LOGS" || exit 1
for arch in "${arches[@]}"; do
	tools/fetch.sh userland "$arch" || exit
	[ "$arch" != arm64 ] || tools/fetch.sh sysroot "$arch" || exit
done
for row in "${rows[@]}"; do
	read -r name suite arch _ <<<"$row"
	tools/fetch.sh kernel "$suite" "$arch" || exit
	more=$(overlay "$name")
	[ -z "$more" ] || tools/fetch.sh "$more" "$arch" || exit
done
for arch in "${arches[@]}"; do
	build "$arch"
	make_initrd "$arch"
done
for row in "${rows[@]}"; do
	read -r name _ arch _ <<<"$row"
	more=$(overlay "$name")
	[ -z "$more" ] || cat "$LOGS/initrd-$arch" "$CACHE/$more-$arch.cpio" >"$(initrd "$name" "$arch")" ||
		cannot "cannot write $(initrd "$name" "$arch")"
done

# Each guest is a process group, so that none outlives an interrupted run.
set -m
stop_all() {
	local group

	trap - INT TERM HUP
	for group in $(jobs -p); do
		kill -- "-$group" 2>/dev/null
	done
	exit 130
}
trap stop_all INT TERM HUP
names=()
for row in "${rows[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do
		wait -n
	done
	read -r name suite arch cpu cpus tests day <<<"$row"
	rm -f "$LOGS/$name.row"
	run_guest "$name" "$suite" "$arch" "$cpu" "$cpus" "$tests" "$day" &
	names+=("$name")
done
wait
table "${names[@]}"
figures "${names[@]}"
passed=0
for name in "${names[@]}"; do
	[ "$(cut -d ' ' -f 8- "$LOGS/$name.row" 2>/dev/null)" = - ] && passed=$((passed + 1))
done
echo
# Last, so that they are seen where only the end of a log is kept.
for name in "${names[@]}"; do
	grep -aE -A 4 '^not ok' "$LOGS/$name.result" 2>/dev/null | sed "s/^/$name: /" | cut -c 1-200
done
echo "$passed guests passed, $((${#names[@]} - passed)) failed"
[ "$passed" -eq ${#names[@]} ]
