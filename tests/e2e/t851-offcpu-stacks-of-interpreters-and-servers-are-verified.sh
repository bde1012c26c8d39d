#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Of programs that nobody here wrote, each as it is used: a node HTTP server under load, threads of Java and of Python that hand
# things over by queues, redis, nginx and PostgreSQL under their own benchmarks, as far as they are there. At least 9 of 10
# stacks of what they wait for by themselves are verified instead of walked, and the audit finds none wrong. By day Java,
# Python and redis.
# alone: it needs the CPUs for itself
# timeout: 300
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=waits.sh
. "${0%/*}/waits.sh"
need_bpf
need python3
[ -z "${IN_GUEST:-}" ] || skip "guests have none of them"

cd "$TMP" || exit 1
tried=0
seconds=${NIGHTLY:+6}
seconds=${seconds:-2}

has() { # TOOL...
	local tool

	for tool; do
		command -v "$tool" >/dev/null || { echo "# without $1: needs $tool" && return 1; }
	done
}

# Who is preempted is so at any instruction: that is left out (--state=S).
verified() { # NAME PID [LEAST]
	local v w

	tried=$((tried + 1))
	check "$1" "$BPFPROF" offcpu --state=S -p "$2" -o x.json -o x.folded "$seconds"
	v=$(ledger x.json verified)
	w=$(ledger x.json walked)
	echo "# figure: $1: $v of $((v + w)) stacks verified"
	check_between "$((v + w))" 200 100000000 "$1: stacks"
	check_between "$(pct_of "$v" $((v + w)))" "${3:-90}" 100 "$1: % of stacks verified"
	check_near "$(ledger x.json not-sampled)" 0 0 "$1: stacks not taken"
	check_ledger_closes x.json
	check "$1: audit" "$BPFPROF" offcpu --audit --state=S -p "$2" -o x.json 1
	check_between "$(ledger x.json verified)" 100 100000000 "$1: stacks that were compared"
	check_near "$(ledger x.json audit-wrong)" 0 0 "$1: stacks that the audit found wrong"
	check "$1: it lives" kill -0 "$2"
}

over() { # ends what was started
	local pid

	for pid in "${pids[@]}"; do
		stop "$pid" KILL
	done
	pids=()
}

if [ -n "${NIGHTLY:-}" ] && has node wrk; then
	cat >serve.js <<-'JS'
		const http = require('http');
		const server = http.createServer((q, a) => a.end(JSON.stringify({ path: q.url, at: Date.now() })));
		server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
	JS
	start node serve.js
	server=$PID
	wait_until 10 grep -q '^port' "$LOG"
	start wrk -t1 -c8 -d300s "http://127.0.0.1:$(awk '/^port/ { print $2 }' "$LOG")/a"
	sleep 3 # its code is compiled meanwhile
	verified node "$server"
	over
fi

if has java javac; then
	cat >Hands.java <<-'JAVA'
		import java.util.concurrent.*;
		public class Hands {
			public static void main(String[] a) throws Exception {
				BlockingQueue<Integer> there = new ArrayBlockingQueue<>(8), back = new ArrayBlockingQueue<>(8);
				Thread t = new Thread(() -> {
					try {
						for (;;) back.put(there.take() + 1);
					} catch (InterruptedException e) { }
				}, "answers");
				t.setDaemon(true);
				t.start();
				System.out.println("begun");
				for (int n = 0;;) { there.put(n); n = back.take(); }
			}
		}
	JAVA
	check "javac" javac Hands.java
	start java -cp . Hands
	wait_until 20 grep -q begun "$LOG"
	sleep 4
	verified java "$PID"
	over
fi

cat >hands.py <<'PY'
import queue, threading
there, back = queue.Queue(), queue.Queue()
def answers():
    while True:
        back.put(there.get() + 1)
threading.Thread(target=answers, daemon=True).start()
n = 0
while True:
    there.put(n)
    n = back.get()
PY
start python3 hands.py
sleep 1
verified python "$PID"
over

if has redis-benchmark redis-check-rdb; then
	ln -s "$(readlink -f "$(command -v redis-check-rdb)")" redis-server
	start ./redis-server --port 0 --unixsocket "$TMP/redis.sock" --save '' --appendonly no --dir "$TMP"
	server=$PID
	wait_until 5 test -S redis.sock
	start redis-benchmark -s "$TMP/redis.sock" -n 100000000 -c 8 -q -t set,get
	sleep 1
	verified redis "$server"
	over
fi

if [ -n "${NIGHTLY:-}" ] && has nginx wrk; then
	mkdir nginx
	printf '%s\n' 'daemon off; master_process off; worker_processes 1; pid nginx/pid; error_log nginx/error;' \
		'events { }' 'http { access_log off; server { listen unix:nginx.sock; listen 127.0.0.1:18851; return 200 hello; } }' >nginx/conf
	start nginx -p "$TMP" -c nginx/conf -e nginx/error
	server=$PID
	start wrk -t1 -c8 -d300s http://127.0.0.1:18851/
	sleep 1
	verified nginx "$server"
	over
fi

bin=$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | tail -n 1)
bin=${bin%/*}
if [ -n "$bin" ] && [ -n "${NIGHTLY:-}" ] && has "$bin/pgbench" && id nobody >/dev/null 2>&1; then
	mkdir pg
	chmod 711 "$TMP"
	chown nobody pg
	as() { setpriv --reuid=nobody --clear-groups --inh-caps=-all env HOME="$TMP/pg" "$@"; }
	if as "$bin/initdb" -D "$TMP/pg/data" -A trust -U me >initdb.log 2>&1; then
		as "$bin/postgres" -D "$TMP/pg/data" -k "$TMP/pg" -h '' >pg.log 2>&1 &
		pids+=($!)
		wait_until 20 test -S pg/.s.PGSQL.5432
		sleep 1
		as "$bin/pgbench" -h "$TMP/pg" -U me -i -q postgres >initdb.log 2>&1
		as "$bin/pgbench" -h "$TMP/pg" -U me -S -c 2 -T 300 postgres >pgbench.log 2>&1 &
		pids+=($!)
		sleep 2
		verified postgres "$(pgrep -f 'postgres: me postgres \[local\]' | head -n 1)"
		over
	else
		echo "# without postgres: $(tail -n 1 initdb.log)"
	fi
fi

check_between $tried "$(by_day 1 2)" 6 "programs of six that were there"
finish
