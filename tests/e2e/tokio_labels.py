# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Writes tests/data/tokio-stacks: waits of tests/progs/tokio as they were recorded, with what they are. tokio_labels.py
VARIANT:TRUTH:WAITS... >FILE, with WAITS of saved_stacks --waits. What a leaf waits for the program says itself; of parked
threads the innermost function of Tokio does. Of each leaf and of each way to park the longest stack of each variant is taken.

	frame NAME                                           the next number, from 0 on
	VARIANT WHAT CONTEXT KIND WAIT FRAME... | FRAME...   user | kernel, leaf first; KIND "-": none
"""
import json
import re
import sys

BLOCKED = 1  # PROF_BLOCKED
LEAF = re.compile(r"^tokio_waits::leaves::blocking::(\w+)$")
PARKS = [
    ("idle-driver", r"worker::Context::park\w*$", r"epoll_wait$|epoll_pwait$"),
    ("idle-park", r"worker::Context::park\w*$", r"syscall$"),
    ("idle-pool", r"blocking::pool::Inner::run$", r"syscall$"),
    ("idle-block_on", r"park::(CachedParkThread|Inner)::(park|block_on)$", r"syscall$"),
]
LOCK = re.compile(r"lock_contended|lock_slow|(read|write)_contended")
TASK = re.compile(r"task::(raw::poll|harness::Harness<T,S>::poll|core::Core<T,S>::poll)|Context::run_task")


def parked(frames):
    """Which way; None: not for these rules to say."""
    if any(map(LOCK.search, frames)):
        return None
    for context, marker, leaf in PARKS:
        at = next((i for i, f in enumerate(frames) if re.search(marker, f.replace("<", "").replace(">", ""))), None)
        if at is None or not re.search(leaf, frames[0]):
            continue
        inner = frames[:at]
        return None if any(map(TASK.search, inner)) else context
    return None


def rows(variant, truth, waits):
    longest = {}
    with open(truth, encoding="utf8") as f:
        truth = json.load(f)
    for line in open(waits, encoding="utf8"):
        wait, weight, _, user, kernel = line.rstrip("\n").split("\t")
        wait, weight, frames = int(wait), int(weight), user.split(";")
        if wait >> 12 & 15 != BLOCKED or len(frames) > 60:
            continue
        leaf = next((m.group(1) for m in map(LEAF.match, frames) if m), None)
        if leaf:
            row = truth["leaves"][leaf]
            what, context, kind = leaf, row["context"], row["kind"]
        else:
            what = context = parked(frames)
            kind = "-"
        if what and weight > longest.get(what, (0,))[0]:
            longest[what] = (weight, context, kind, wait, frames, kernel.split(";"))
    for what, (_, context, kind, wait, frames, kernel) in sorted(longest.items()):
        yield f"{variant} {what} {context} {kind} {wait}", frames, kernel


known = {}
out = []
for of in sys.argv[1:]:
    for head, *stacks in rows(*of.split(":")):
        numbers = [" ".join(str(known.setdefault(frame, len(known))) for frame in frames) for frames in stacks]
        out.append(f"{head} {' | '.join(numbers)}")
print("# Waits of tests/progs/tokio as recorded, and what they are: written by tests/e2e/tokio_labels.py, read by")
print("# tests/unit/test_context_recorded.c.")
for frame in known:
    print(f"frame {frame}")
print("\n".join(out))
