#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --debuginfod asks a server for the debug file of a stripped program; without it nobody is asked, and no server is a mistake.
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3 objcopy
need_prog inlines
cd "$TMP" || exit 1
unset DEBUGINFOD_URLS

check_status 2 "no server" "$BPFPROF" oncpu --debuginfod 0.1
check_grep 'DEBUGINFOD_URLS names no server' "$ERR"
ldconfig -p | grep -q libdebuginfod.so.1 || skip "needs libdebuginfod"

objcopy --strip-all "$PROGS/inlines" stripped
id=$(readelf -n stripped | awk '/Build ID/ { print $3 }')
[ -n "$id" ] || skip "programs have no build-id here"
mkdir -p "www/buildid/$id"
objcopy --only-keep-debug "$PROGS/inlines" "www/buildid/$id/debuginfo"
cat >server.py <<-'EOT'
	import functools, http.server
	handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="www")
	server = http.server.HTTPServer(("127.0.0.1", 0), handler)
	with open("port", "w") as file:
	    file.write(f"{server.server_port}\n")
	server.serve_forever()
EOT
start python3 server.py
wait_until 5 test -s port
log=$LOG
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)
DEBUGINFOD_CACHE_PATH=$TMP/debuginfod
export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH

check "without the option" "$BPFPROF" oncpu -U -F 999 -f -- "$TMP/stripped" 0.3
check_no_grep 'inner|outer' "$OUT" "no name"
check_no_grep GET "$log" "nobody is asked"
check "with it" "$BPFPROF" oncpu --debuginfod -U -F 999 -f -- "$TMP/stripped" 0.5
check_near "$(folded_pct "$OUT" ';main;outer;middle;inner')" 66.7 8 "share of the inlined call"
check_grep "GET /buildid/$id/debuginfo.* 200" "$log" "the server was asked"
check_no_grep 'debuginfod (http|.*for [0-9]+ file)' <(cat "$OUT" "$ERR") "a server that has it: nothing to tell"

# What a server does not give is told: by what, of whom, for how many files; and nobody is told to try again.
summary() { # DESC FILE EXPECTED-OF-THE-FILE EXPECTED-OF-THE-SERVER
	DEBUGINFOD_CACHE_PATH=$TMP/cache-$((++nr)) check "$1" "$BPFPROF" oncpu --debuginfod -U -F 999 -o "$TMP/x.txt" \
		-o "$TMP/x.json" -o "$TMP/x.bpfprof" -- "$2" 0.3
	check_grep "% $2: stripped: .*$3" "$TMP/x.txt" "$1: the file"
	check_grep "debuginfod http://127.0.0.1:[0-9/]+: (.* )?$4 for [0-9]+ file" "$TMP/x.txt" "$1: the server"
	check_no_grep 'or --debuginfod|secret' "$TMP/x.txt" "$1: it is not advised again"
	check "$1, reported" "$BPFPROF" report -s "$TMP/x.bpfprof"
	check_grep "$4 for" "$OUT" "$1: reported"
}
nr=0
rm -r "www/buildid/$id"
summary "a server without it" "$TMP/stripped" "debuginfod gave no debug file" "not given"
check_grep 'debuginfod gave no debug file' "$TMP/x.json" "JSON"
DEBUGINFOD_URLS=http://user:secret@127.0.0.1:9/
summary "a dead port" "$TMP/stripped" "no debuginfod server was reached" "not reached"

cat >silent.py <<-'EOT'
	import socket, time
	s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(50)
	with open("silent", "w") as file:
	    file.write(f"{s.getsockname()[1]}\n")
	time.sleep(1000)
EOT
start python3 silent.py
wait_until 5 test -s silent
DEBUGINFOD_URLS=http://127.0.0.1:$(cat silent)/
export DEBUGINFOD_TIMEOUT=1
summary "a server that does not answer" "$TMP/stripped" "debuginfod did not answer in time" "no answer in time"

# One that fails may have it: that is not the same.
cat >failing.py <<-'EOT'
	import http.server
	class Handler(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.send_error(503)
	server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
	with open("failing", "w") as file:
	    file.write(f"{server.server_port}\n")
	server.serve_forever()
EOT
start python3 failing.py
wait_until 5 test -s failing
DEBUGINFOD_URLS=http://127.0.0.1:$(cat failing)/
summary "a server that fails" "$TMP/stripped" "a debuginfod server failed: HTTP 503" "an error for an answer"

# No server can have what has no build-id.
objcopy --strip-all --remove-section=.note.gnu.build-id "$PROGS/inlines" nameless
check "no build-id" "$BPFPROF" oncpu -U -F 999 -o x.txt -- "$TMP/nameless" 0.3
check_grep "% $TMP/nameless: stripped, without a build-id: build it without strip and -s$" x.txt "no build-id"
finish
