# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Driver gaps against what tests/progs/tokio says of its timers: tokio_gaps.py NAME JSON TRUTH LEAST FUNCTION. With FUNCTION
"calls" each call of driver_hog is a gap. A line "ok ..." or "not ok ..." for each check.
"""
import json
import sys

name, summary, truth, least, function = sys.argv[1:]
least = int(least)
TICK_US = 5000


def check(good, text):
    print("ok" if good else "not ok", f"{name}: {text}")


with open(summary, encoding="utf8") as f:
    gaps = json.load(f)["runtime"]["driver_gaps"]
with open(truth, encoding="utf8") as f:
    truth = json.load(f)
late, nr, not_queued = truth["late_ns"] / 1000, truth["late"], truth["not_queued_ns"] / 1000
print(f"figure: {name}: {gaps['us'] / 1000:.0f} ms in {gaps['gaps']} gaps")
# A program that had little CPU time did less.
calls = sum(leaf["calls"] for leaf in truth["leaves"].values())
least = min(least, max(calls - 2, 1))
check(gaps["gaps"] >= least, f"{gaps['gaps']} gaps, {least} at least, in {calls} calls")
if function == "calls":
    # But for the first ones, when workers begin: each holds the worker that the driver has woken.
    hog = truth["leaves"]["driver_hog"]
    check(hog["calls"] - 2 <= gaps["gaps"] <= hog["calls"], f"{gaps['gaps']} gaps in {hog['calls']} calls")
    off = 100 * (gaps["us"] / gaps["gaps"] / (hog["ns"] / 1000 / hog["calls"]) - 1)
    check(abs(off) <= 2, f"a gap is as long as a call, {off:+.2f} %")
    check(gaps["ran_us"] <= 0.1 * gaps["us"], f"nobody runs meanwhile, but for {gaps['ran_us'] / 1000:.0f} ms")
    sys.exit()
# A timer is set up to 5 ms before the driver is left alone. A gap in which a worker runs has two parts, each of which may be
# too short; and a timer may be late since its worker waits for a CPU, which is no gap.
most = late * 1.02 + max(nr, gaps["gaps"]) * TICK_US + 2 * TICK_US
fewest = not_queued * 0.75 - nr * TICK_US / 5
check(
    fewest <= gaps["us"] <= most,
    f"{gaps['us'] / 1000:.0f} ms in {gaps['gaps']} gaps, timers were {late / 1000:.0f} ms late in {nr}, {not_queued / 1000:.0f} not for want of a CPU",
)
if function:
    fault = sum(c["us"] for c in gaps["culprits"] if c["function"].endswith("::" + function))
    check(fault >= 0.9 * gaps["us"], f"{100 * fault / gaps['us']:.1f} % are the fault of {function}")
