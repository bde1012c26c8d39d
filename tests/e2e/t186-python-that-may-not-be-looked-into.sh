#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Who lacks the capabilities to look into processes of others gets their stacks without functions of Python, and the summary
# says so, also from the saved recording; with them the functions are there, and nothing is said.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need setpriv setcap
python=$(readlink -f /usr/bin/python3)
"$python" -c 'import sys; assert (3, 8) <= sys.version_info[:2] <= (3, 14)' 2>/dev/null ||
	skip "needs /usr/bin/python3, 3.8 to 3.14"

cat >"$TMP/work.py" <<-'PY'
	def inner_py():
	    return sum(i for i in range(100000))


	while True:
	    inner_py()
PY
chmod 755 "$TMP"
mkdir -m 777 "$TMP/his"
cp "$BPFPROF" "$TMP/bpfprof"
setcap cap_bpf=ep "$TMP/bpfprof" 2>/dev/null || skip "files cannot have capabilities here"
recorded() { # DESC CAPABILITIES PIDS
	setcap "$2=ep" "$TMP/bpfprof"
	(cd "$TMP/his" && rm -f x.* && setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all env -u CACHE_DIRECTORY \
		"$TMP/bpfprof" oncpu -p "$3" -F 499 -o x.folded -o x.txt -o x.bpfprof 2 >"$OUT" 2>"$ERR") ||
		fail "$1: recorded"
	"$BPFPROF" report --summary "$TMP/his/x.bpfprof" >"$TMP/saved.txt"
}

start setpriv --reuid 1234 --regid 1234 --clear-groups "$python" "$TMP/work.py"
one=$PID
start "$python" "$TMP/work.py"
other=$PID
sleep 1

all=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search
recorded "with all" $all "$one,$other"
check_grep ';inner_py .work.py' "$TMP/his/x.folded" "with all: functions of Python"
check_no_grep 'functions of Python' "$TMP/his/x.txt" "with all: nothing is said"

for lacks in cap_dac_read_search cap_sys_ptrace; do
	recorded "without $lacks" "${all/,$lacks/}" "$one,$other"
	check_no_grep 'inner_py' "$TMP/his/x.folded" "without $lacks: no functions of Python"
	for file in "$TMP/his/x.txt" "$TMP/saved.txt"; do
		check_grep 'functions of Python of 2 processes are missing: it takes CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH' \
			"$file" "without $lacks: ${file##*/} says so"
	done
done
recorded "one of them" "${all/,cap_dac_read_search/}" "$one"
check_grep 'functions of Python of 1 process are missing' "$TMP/his/x.txt" "of one process"
finish
