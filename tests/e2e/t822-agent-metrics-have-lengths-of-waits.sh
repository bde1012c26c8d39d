#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Histograms of an agent's /metrics are those of a program's own list of its waits, by service and class: as many, in each
# bucket, and their sum, though windows end in the middle of waits. Its child, which ends long before it is waited for, is of
# that service in all of its windows, or in none if no window ended while it ran.
# timeout: 150
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog waits_lengths
PATH=$PATH:/sbin ldconfig -p | grep -q 'libmicrohttpd\.so\.12' || skip "no libmicrohttpd"
cd "$TMP" || exit 1
cat >judge.py <<'P'
import re, sys
log, metrics = sys.argv[1], open(sys.argv[2]).read()
lines = [l.split() for l in open(log) if l.startswith("wait ")]
waits = [(int(l[3]), int(l[4])) for l in lines if l[2] == "naps"]
SERIES = re.compile(r'bpfprof_(offcpu_wait|runqueue_delay)_seconds_(bucket|sum|count)\{(.*)\} (\S+)$')
rows, child = {}, {}
for line in metrics.splitlines():
    m = SERIES.match(line)
    labels = dict(re.findall(r'(\w+)="([^"]*)"', m[3])) if m else {}
    of = {"waiter": rows, "unknown_service:others": child}.get(labels.get("service_name"))
    if of is not None:
        of[m[1], labels.get("class", ""), m[2], labels.get("le", "")] = float(m[4])
lost = sum(float(l.split()[-1]) for l in metrics.splitlines() if l.startswith('bpfprof_events_total{result="lost"'))
# The child polls 40 times, and the thread that answers it naps 30 x 5 ms and 20 x 8 ms.
polls = sum(l[2] == "polls" for l in lines)
known = rows.get(("offcpu_wait", "poll", "count", ""), 0)
unknown = child.get(("offcpu_wait", "poll", "count", ""), 0)
print(f"# {polls} polls of its child: {known:.0f} are of the service, {unknown:.0f} are not")
assert polls == 40 and not (known and unknown), (polls, known, unknown)
if known:
    waits += 30 * [(5000000, 15000000)] + 20 * [(8000000, 24000000)]
# It may sleep as it begins and ends, too, which is not in its list; and who loses the CPU on its way to sleep for longer than
# that does not sleep. What the agent says that it lost, on the whole machine, may be missing.
nr, more = len(waits), 3
runnable = rows["runqueue_delay", "", "count", ""]
less = runnable - sum(v for k, v in rows.items() if k[0] == "offcpu_wait" and k[2] == "count")
assert less >= 0, rows
less += lost
count, total = rows["offcpu_wait", "sleep", "count", ""], rows["offcpu_wait", "sleep", "sum", ""]
print(f"# {nr} waits, {lost:.0f} of all that there were are lost, {count:.0f} in the histogram, {less:.0f} times without a CPU; {total:.3f} s of {sum(t for _, t in waits) / 1e9:.3f}")
assert nr - less <= count <= nr + more, (count, nr)
assert sum(l for l, _ in waits) / 1e9 * (1 - less / nr) - 0.2 <= total <= sum(t for _, t in waits) / 1e9 + more, total
buckets = [(float(k[3]) * 1e9, v) for k, v in rows.items() if k[:3] == ("offcpu_wait", "sleep", "bucket") and k[3] != "+Inf"]
assert len(buckets) == 11, buckets
for ns, value in buckets:
    short, long = sum(t < ns for _, t in waits), sum(l < ns for l, _ in waits)
    assert short - less <= value <= long + more, (ns, short, value, long)
P
start_bpfprof agent -i 1s --listen "unix:$TMP/socket" -v
AGENT=$PID
wait_until 20 test -S socket || fail "the agent listens"
start env OTEL_SERVICE_NAME=waiter "$PROGS/waits_lengths" 20
WAITER=$PID log=$LOG
over() { ! kill -0 "$WAITER" 2>/dev/null; }
wait_until 60 over || fail "the program ends"
windows() { python3 - <<'P'
import http.client, socket
c = http.client.HTTPConnection("localhost", timeout=30)
c.sock = socket.socket(socket.AF_UNIX)
c.sock.connect("socket")
c.request("GET", "/metrics")
text = c.getresponse().read().decode()
open("metrics", "w").write(text)
print(next(int(float(l.split()[1])) for l in text.splitlines() if l.startswith("bpfprof_windows_total ")))
P
}
now=$(windows)
later() { [ "$(windows)" -ge $((now + 2)) ]; }
check "windows end" wait_until 30 later
check "histograms are those of the program" python3 judge.py "$log" metrics
grep -a "^#" "$OUT"
stop "$AGENT"
check_is "$STATUS" 0 "exit status"
finish
