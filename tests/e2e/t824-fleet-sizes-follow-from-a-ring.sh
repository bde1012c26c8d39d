#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tools/fleet.py: what it says of a fleet follows from the windows of a ring and from the lines of /metrics, and by how many
# hosts it is asked for; a ring of one window says nothing.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
cd "$TMP" || exit 1
mkdir ring
"$ROOT/build/tests/e2e/gen_profile" wall wall.bpfprof || exit 1
for time in 140500 140510 140520; do
	cp wall.bpfprof "ring/20261125T$time.000Z-10000ms.bpfprof"
done
cp wall.bpfprof ring/20261125T140530.000Z-1500ms.bpfprof # the last one of an agent that was stopped
cp wall.bpfprof ring/other
cat >metrics <<'M'
# HELP a a
a{b="c"} 1
x_seconds_bucket{le="+Inf"} 3
x_seconds_sum{} 3
x_seconds_count{} 3
M
check "sizes" python3 "$ROOT/tools/fleet.py" --hosts 100 --days 2 --metrics metrics ring
cp "$OUT" sizes
sed 's/^/# /' "$OUT"
cat >judge.py <<'P'
import os, re, sys
text = open(sys.argv[1]).read()
rows = {m[1]: (m[2], m[3]) for m in re.finditer(r"^\| (.*?) \| (.*?) \| (.*?) \|$", text, re.M)}
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
def number(s):
    n, unit = re.fullmatch(r"([\d.]+) ?([kMGT]?)B?", s).groups()
    return float(n) * UNITS[unit]
def near(name, one, column=0):
    assert abs(number(rows[name][column]) / one - 1) < 0.01, (name, rows[name], one)
size = os.path.getsize("wall.bpfprof")
assert text.startswith("3 windows of 10.0 s, 100 hosts, 2 days"), text[:60]
near("kept, of a window", size)
near("kept, of a day", size * 8640)
near("kept, of a day", size * 864000, 1)
for engine in "Pyroscope", "Parca", "OpenTelemetry Collector":
    near(engine + ": requests a second", 0.1)
    a_second = number(rows[engine + ": sent a second"][0])
    near(engine + ": sent, of a day", a_second * 86400)
    near(engine + ": sent, of 2 days", a_second * 172800)
    assert 10 < a_second < size, (engine, a_second)
assert number(rows["series of a window"][0]) == number(rows["series of all these windows"][0]) > 1, rows
near("Prometheus: series", 4)
near("Prometheus: of these, of histograms", 3)
near("Prometheus: samples a second", 400 / 15, 1)
P
check "they follow from the ring" python3 judge.py sizes
rm ring/20261125T1405[123]*
check_fail "one window is not enough" python3 "$ROOT/tools/fleet.py" ring
finish
