# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What tests of real engines share (make check-engines): each is started on this host alone, gets recordings and windows
# of an agent, and is asked for what it has. A test sets ENGINE, and has two functions of its own:
#
#	begin			starts the engine with nothing in it; sets $url
#	has			what it has, by tests/engines/readback.py
#
# shellcheck source=../e2e/lib.sh
. "${BASH_SOURCE[0]%/*}/../e2e/lib.sh"

READBACK=$ROOT/tests/engines/readback.py
HOUR=360 # windows of 10 s
program=""
url=""
export PYTHONDONTWRITEBYTECODE=1
# Waits of several classes, for so many seconds.
WAITS='import os, sys, threading, time
lock, end = threading.Lock(), time.monotonic() + float(sys.argv[1])
def work():
    while time.monotonic() < end:
        with lock:
            sum(range(20000))
            time.sleep(0.002)
        with open("x", "wb") as f:
            f.write(b"x" * 4096)
            os.fsync(f.fileno())
for _ in range(3):
    threading.Thread(target=work).start()'

need_engine() { # NAME PROGRAM; sets $program
	local status=0

	need_nightly
	need python3 curl jq
	PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
	"$ROOT/tests/engines/build.sh" "$1" >"$OUT" 2>"$ERR" || status=$?
	[ "$status" -ne 77 ] || skip "$(sed -n 's/^skip: //p' "$ERR")"
	[ "$status" -eq 0 ] || { fail "$1 is built" && show && exit 1; }
	# shellcheck disable=SC2034 # by the test
	program=$(cat "$OUT")/$2
}

free_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

answers() { # URL
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$1")" != 000 ]
}

read_back() { # WHAT ARGS...
	python3 "$READBACK" "$@"
}

no_classes() {
	awk '{ sum[$1 " " $2] += $4 } END { for (key in sum) printf "%s %.0f\n", key, sum[key] }' | sort
}

of_services() { grep -v ' bpfprof ' || true; }

# All that it has is what FILEs of `wall` hold, so many times: by class as bpfprof reports them, by service as their tables say.
check_has() { # DESC TIMES FILE...
	local desc=$1 times=$2 file reported=()

	shift 2
	for file; do
		reported+=("$TMP/reported-${#reported[@]}.pb.gz")
		"$BPFPROF" report --idle show -o "${reported[-1]}" "$file" 2>/dev/null
	done
	has >its.sums || fail "$ENGINE can be asked"
	read_back classes "$times" "${reported[@]}" >classes.sums
	read_back kept "$times" "$@" >kept.sums
	check "$desc, by class" diff classes.sums <(of_services <its.sums)
	check "$desc, by service, and the ledger and the cost" diff <(no_classes <kept.sums) <(no_classes <its.sums)
	check_between "$(awk '$1 == "off_cpu:nanoseconds" { print $3 }' its.sums | sort -u | wc -l)" 2 100 "classes of waits"
}

push() { "$BPFPROF" push -v --now --wait 300s --to "$ENGINE=$url" "$@"; }

# A recording of a real program; windows of an hour; windows with many stacks, for the figures.
check_recordings() {
	need_bpf
	check "a recording" "$BPFPROF" wall -o real.bpfprof -- python3 -c "$WAITS" 2
	begin
	check "$ENGINE takes a recording" push real.bpfprof
	check_has "$ENGINE has it" 1 real.bpfprof

	"$ROOT/build/tests/e2e/gen_profile" wall wall.bpfprof || exit 1
	mapfile -t hour < <(yes wall.bpfprof | head -n "$HOUR")
	begin
	check "$ENGINE takes $HOUR windows" push "${hour[@]}"
	check_has "$ENGINE has an hour" "$HOUR" wall.bpfprof
	begin
}

# Windows as they come: what the agent keeps is what the engine has, and services have the names that they gave themselves.
check_agent() {
	begin
	start env OTEL_SERVICE_NAME=checkout python3 -c 'while True: sum(range(10**6))'
	local one=$PID
	start env OTEL_SERVICE_NAME=cart python3 -c "$WAITS" 60
	local other=$PID
	check "an agent" "$BPFPROF" agent -p "$one,$other" --keep windows -i 2s -d 7 --push "$ENGINE=$url"
	stop "$one"
	stop "$other"
	check_between "$(find windows -name '*.bpfprof' | wc -l)" 3 5 "windows"
	SERVICES="$one=checkout $other=cart" check_has "$ENGINE has them" 1 windows/*.bpfprof
	check_is "$(awk '$2 != "bpfprof" { print $2 }' its.sums | sort -u | xargs)" "cart checkout" "services"
}

check_figures() {
	local n took=()

	"$ROOT/build/tests/e2e/gen_profile" 5000 large.bpfprof || exit 1
	begin
	while [ ${#took[@]} -lt 9 ]; do
		check "a window of 5,000 stacks" push large.bpfprof
		took+=("$(sed -n 's/.*encode, \(.*\) to deliver.*/\1/p' "$OUT" |
			awk '{ printf "%.0f", $1 * ($2 == "s" ? 1000 : $2 == "us" ? 0.001 : 1) }')")
	done
	mapfile -t took < <(printf '%s\n' "${took[@]}" | sort -n)
	n=$(sed -n 's/.*request[s]*, \(.*\), of .*/\1/p' "$OUT")
	echo "# figure: $ENGINE: a window of 5,000 stacks is $n, delivered in ${took[4]} ms (median of ${#took[@]}; ${took[0]} to ${took[-1]})"
}
