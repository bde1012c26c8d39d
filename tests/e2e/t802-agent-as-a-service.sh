#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An agent tells a service manager when it is ready, alive, reloading and stopping; triggers keep the windows around them.
# timeout: 120
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf
need python3
need_prog spin_abc
cd "$TMP" || exit 1
export PYTHONPATH=$ROOT/tests/e2e PYTHONDONTWRITEBYTECODE=1 TZ=UTC
start "$PROGS/spin_abc" 100
SPIN=$PID
cat >manager.py <<'P'
import os, signal, socket, subprocess, sys, time
from windows import *
def run(address):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind("\0" + address[1:] if address[0] == "@" else address)
    s.settimeout(30)
    env = dict(os.environ, NOTIFY_SOCKET=address, WATCHDOG_USEC="1000000")
    env.pop("WATCHDOG_PID", None)
    agent = subprocess.Popen([os.environ["BPFPROF"], "agent", "-p", sys.argv[1], "--keep", "kept", "-i", "1s"], env=env)
    def until(word):
        seen = []
        while True:
            text = s.recv(4096).decode()
            seen.append((time.monotonic(), text))
            if text.startswith(word):
                return seen
    until("READY=1")
    alive = [at for at, text in until("STATUS=") + until("STATUS=") + until("STATUS=") if text == "WATCHDOG=1"]
    assert len(alive) >= 2, alive
    agent.send_signal(signal.SIGHUP)
    reloading = until("RELOADING=1")[-1][1]
    usec = int(reloading.split("MONOTONIC_USEC=")[1])
    assert abs(usec / 1e6 - time.monotonic()) < 5, reloading
    until("READY=1")
    assert agent.poll() is None
    # Of the window that it has begun, the part until now is kept.
    time.sleep(0.35)
    agent.send_signal(signal.SIGTERM)
    sent = time.time()
    until("STOPPING=1")
    assert agent.wait(30) == 0, agent.returncode
    begin, end = times(windows("kept")[-1])
    assert sent - 1.5 < end < time.time() + 0.1, (sent, begin, end)
run("@bpfprof-test-%d" % os.getpid())
run(os.getcwd() + "/socket")
P
check "what a manager is told" timeout -s KILL 100 python3 manager.py "$SPIN"

# A program that is busy trips it.
start_bpfprof agent -p "$SPIN" --keep ring -i 1s --on 'cpu>1%' --on 'lost>100000'
wait_until 30 compgen -G 'ring/trigger-*/*.bpfprof'
sleep 2
stop "$PID"
check_is "$STATUS" 0 "exit status"
check_is "$(grep -c 'cpu>1%: [0-9.]*%: windows around it are kept in ring/trigger-' "$ERR")" 1 "lines for one trigger"
trigger=$(compgen -G 'ring/trigger-*' | head -n 1)
check "more than one window is kept" test "$(find "$trigger" -name '*.bpfprof' | wc -l)" -ge 2
rm ring/*.bpfprof
check "they outlive the ring" "$BPFPROF" report --json "$trigger"
check_is "$(json "$OUT" profile command)" agent "command"

start_bpfprof agent -p "$SPIN" --keep quiet -i 1s --on 'runq_max>100s'
sleep 2.5
stop "$PID"
check "nothing trips without reason" test -z "$(compgen -G 'quiet/trigger-*')"
mistake 2 "unknown quantity 'runq_p9' .*did you mean 'runq_p9" agent --on 'runq_p9>20ms'
mistake 2 "'runq_p99' is compared with a time: 20ms" agent --on 'runq_p99>20%'
mistake 2 "compare by < or >" agent --on 'cpu=90%'
finish
