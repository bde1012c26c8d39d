#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# --debuginfod asks a server for the debug file of a stripped program; without it nobody is asked, and no server is a mistake.
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
finish
