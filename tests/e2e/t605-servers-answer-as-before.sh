#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 600
# Servers that nobody here wrote give the same answers while hundreds of their functions, and those of the C library that
# they use most, are probed at entry and return, with stacks: one minute each. Every call is in the ledger. Of one function
# each, as many calls are counted as the server makes for known questions.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_nightly
need_bpf
need python3
seconds=${SERVER_SECONDS:-60}

lost_and_calls() { # FILE
	python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))["samples"]
left = s["lost_by"]["no-return"]
print(s["seen"] - s["recorded"] - s["filtered"] - s["lost"], s["recorded"], s["lost"] - left, left)' "$1"
}

# The answers to the same questions, before and all the time during the recording.
during() { # NAME ASK... -- BPFPROF_ARGUMENTS
	local name=$1 asked=0 wrong=0 before answer
	local ask=()

	shift
	while [ "$1" != -- ]; do
		ask+=("$1")
		shift
	done
	shift
	before=$("${ask[@]}" 2>&1 | sha256sum)
	check "$name: answers" test "$("${ask[@]}" 2>/dev/null | wc -c)" -gt 1000
	"$BPFPROF" "$@" -o "$TMP/$name.json" -d "$seconds" >"$TMP/$name.out" 2>"$TMP/$name.err" &
	recorder=$!
	pids+=("$recorder")
	while kill -0 "$recorder" 2>/dev/null; do
		answer=$("${ask[@]}" 2>&1 | sha256sum)
		asked=$((asked + 1))
		[ "$answer" = "$before" ] || wrong=$((wrong + 1))
	done
	wait_for "$recorder"
	check_near "$STATUS" 0 0 "$name: status of the recording"
	[ "$STATUS" -eq 0 ] || cat "$TMP/$name.err"
	check_near "$wrong" 0 0 "$name: other answers than before, of $asked"
	check "$name: asked more than once" test "$asked" -gt 1
	read -r gap calls lost left < <(lost_and_calls "$TMP/$name.json")
	check_near "$gap" 0 0 "$name: the ledger closes"
	check "$name: $calls calls" test "$calls" -gt 10000
	check_near "$lost" 0 0 "$name: lost, but for calls that were left"
	# Conditional jumps to other functions are not seen, nor what longjmp() leaves.
	check "$name: $left of $calls calls were left where no probe stands" test "$left" -le $((calls / 20))
	echo "# figure: $name: $asked answers, $calls calls, $left left elsewhere"
}

# It has placed its probes: those, and programs that follow processes, are links; and a second later there are no more.
placed() { # PID
	local nr

	nr=$(nr_links "$1")
	[ "$nr" -ge 2 ] && sleep 1 && [ "$(nr_links "$1")" -eq "$nr" ]
}

nr_links() { # PID
	local fd nr=0

	for fd in /proc/"$1"/fd/*; do
		case $(readlink "$fd") in *bpf_link*) nr=$((nr + 1)) ;; esac
	done
	echo "$nr"
}

# How often FUNCTION was called, at entry and return, while TIMES the questions were asked: $calls.
count() { # NAME PID FUNCTION TIMES ASK
	start_bpfprof uprobe --force -l -p "$2" -o "$TMP/$1-count.json" "$3"
	recorder=$PID
	check "$1: $3 is probed" wait_until 20 placed "$recorder"
	for _ in $(seq "$4"); do
		"$5" >/dev/null 2>&1
	done
	stop "$recorder" INT
	calls=$(json "$TMP/$1-count.json" samples recorded)
}

if command -v redis-server >/dev/null; then
	start redis-server --port 0 --unixsocket "$TMP/redis" --save '' --appendonly no --dir "$TMP"
	redis=$PID
	wait_until 10 test -S "$TMP/redis"
	python3 - >"$TMP/redis.commands" <<-'END'
		for i in range(4000):
		    print(f"SET key{i % 500} {'x' * (i % 300)}{i}\nGET key{(i * 7) % 500}\nAPPEND s{i % 50} {i}")
		    print(f"LPUSH l{i % 20} {i}\nLRANGE l{i % 20} 0 9\nZADD z {i * 37 % 1001} m{i}\nZRANGE z 0 5\nHSET h f{i % 99} {i}")
		print("SORT l3 LIMIT 0 100\nFLUSHALL")
	END
	ask_redis() { redis-cli -s "$TMP/redis" <"$TMP/redis.commands"; }
	during redis ask_redis -- uprobe --force --all -l -g -p "$redis" libc.so.6:malloc libc.so.6:free \
		libc.so.6:epoll_wait libc.so.6:write 'redis-server:RM_*'
	processed() { redis-cli -s "$TMP/redis" info stats | tr -d '\r' | awk -F : '$1 == "total_commands_processed" { print $2 }'; }
	before=$(processed)
	count redis "$redis" redis-server:processCommand 1 ask_redis
	# It counts an INFO behind its answer, and the first one came before the probe.
	check_near "$calls" $(($(processed) - before - 1)) 0 "redis: calls of processCommand() in $calls commands"
	check "redis lives" kill -0 "$redis"
	stop "$redis"
else
	echo "# redis-server is not installed"
fi

if command -v nginx >/dev/null && command -v curl >/dev/null; then
	head -c 300000 /dev/urandom >"$TMP/file"
	chmod 755 "$TMP"
	cat >"$TMP/nginx.conf" <<-END
		daemon off; worker_processes 2; error_log $TMP/error.log; pid $TMP/nginx.pid; user root;
		events { worker_connections 64; }
		http { access_log off; gzip on; gzip_types *; client_body_temp_path $TMP/b; proxy_temp_path $TMP/p;
		fastcgi_temp_path $TMP/f; uwsgi_temp_path $TMP/u; scgi_temp_path $TMP/s;
		server { listen unix:$TMP/nginx; root $TMP; } }
	END
	start nginx -c "$TMP/nginx.conf" -p "$TMP"
	nginx=$PID
	wait_until 10 test -S "$TMP/nginx"
	ask_nginx() {
		for _ in 1 2 3 4 5 6 7 8; do
			curl -s --unix-socket "$TMP/nginx" http://x/file http://x/missing
			curl -s --compressed --unix-socket "$TMP/nginx" http://x/file
		done
	}
	during nginx ask_nginx -- uprobe --force --all -l -g -p "$nginx" 'nginx:ngx_http_*' 'nginx:ngx_*alloc*' \
		libc.so.6:malloc libc.so.6:memcpy
	count nginx "$nginx" nginx:ngx_http_process_request 2 ask_nginx
	check_near "$calls" 48 0 "nginx: calls of ngx_http_process_request() in 48 requests"
	check "nginx lives" kill -0 "$nginx"
	stop "$nginx" QUIT
else
	echo "# nginx or curl is not installed"
fi

postgres=$(find /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -1)
if [ -n "$postgres" ] && id postgres >/dev/null 2>&1; then
	mkdir "$TMP/pg"
	chmod 755 "$TMP"
	chown postgres "$TMP/pg"
	as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
	as_postgres "${postgres%/*}/initdb" -D "$TMP/pg/data" -A trust >"$TMP/initdb" 2>&1
	start setpriv --reuid postgres --regid postgres --clear-groups "$postgres" -D "$TMP/pg/data" -k "$TMP/pg" -c listen_addresses=
	pg=$PID
	ask_postgres() {
		psql -X -U postgres -h "$TMP/pg" -c "select i, md5(i::text), sum(i) over (order by i % 7, i) from generate_series(1, 3000) i" \
			-c "select a % 10, count(*), string_agg(b::text, ',' order by b) from generate_series(1, 40) a, generate_series(1, 30) b group by 1 order by 1" \
			-c "select 1/0"
	}
	wait_until 20 psql -X -U postgres -h "$TMP/pg" -c 'select 1' >/dev/null 2>&1
	during postgres ask_postgres -- uprobe --force --all -l -g -p "$pg" 'postgres:Exec*' 'postgres:palloc*' \
		'postgres:pfree' 'postgres:*_recv' 'postgres:errstart*'
	count postgres "$pg" postgres:pg_parse_query 10 ask_postgres
	check_near "$calls" 30 0 "postgres: calls of pg_parse_query() in 30 queries, of processes that began later"
	check "postgres lives" kill -0 "$pg"
	stop "$pg" INT
else
	echo "# postgres is not installed"
fi

cat >"$TMP/ask.py" <<-'END'
	import hashlib, json, re, sys
	state = {}
	for line in sys.stdin:
	    n = int(line)
	    words = [hashlib.sha256(f"{n}:{i}".encode()).hexdigest() for i in range(400)]
	    state[n] = json.dumps(sorted(words, key=lambda w: w[::-1]))
	    try:
	        state[n] += str(1 // (n % 3))
	    except ZeroDivisionError as e:
	        state[n] += str(e)
	    print(len(state), re.sub("[0-9]+", lambda m: str(int(m.group()) % 97), state[n]), flush=True)
	    state.pop(n)
END
mkfifo "$TMP/in" "$TMP/out"
start bash -c "exec python3 '$TMP/ask.py' <'$TMP/in' >'$TMP/out'"
python=$PID
exec 8>"$TMP/in" 9<"$TMP/out"
ask_python() {
	local line

	for n in $(seq 20); do
		echo "$n" >&8
		read -r -u 9 line
		printf '%s\n' "$line"
	done
}
ask_python >"$TMP/first"
name=$(grep -o 'libpython[^/]*$' "/proc/$python/maps" | head -1)
name=${name:-$(basename "$(readlink -f "/proc/$python/exe")")}
during python3 ask_python -- uprobe --force --all -l -g -p "$python" "$name:PyObject_*" "$name:PyUnicode_*" "$name:PyErr_*" \
	libc.so.6:malloc libc.so.6:memcpy
# One for each digest, in a library that the interpreter has loaded by itself.
if grep -q 'libcrypto\.so' "/proc/$python/maps"; then
	count python3 "$python" "$(grep -o 'libcrypto\.so[^/]*$' "/proc/$python/maps" | head -1):EVP_DigestFinal" 2 ask_python
	check_near "$calls" 16000 0 "python3: calls of EVP_DigestFinal() in 16,000 digests"
fi
check "python3 lives" kill -0 "$python"
finish
