# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
diff --by KEY --json against report --by KEY --json of both sides: tokio_diff.py KEY DIFF BEFORE AFTER. A line "ok ..." or
"not ok ..." for each check.
"""
import json
import sys

key, diff, *sides = sys.argv[1:]


def check(good, text):
    print("ok" if good else "not ok", f"--by {key}: {text}")


def load(path):
    with open(path, encoding="utf8") as f:
        return json.load(f)


diff = load(diff)
check(diff["by"] == key, "says so")
for side, path in zip(("before", "after"), sides):
    shares = {row["name"]: row["self"] for row in load(path)["rows"]}
    rows = {row["name"]: row[f"self_{side}"] for row in diff["rows"] if row[f"self_{side}"]}
    check(len(rows) > 1 and set(rows) == set(shares), f"{side} has {len(rows)} rows, those of report")
    scale = 1000 if max(rows.values()) > 100 * max(shares.values()) else 1
    off = max((abs(rows[name] - scale * shares[name]) for name in rows if name in shares), default=0)
    check(off <= scale, f"and their values, {off} off")
