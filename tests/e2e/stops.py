# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Stops a process at random moments, and compares the stacks that gdb sees then with walks of the stacks that the
# kernel copied when the threads left their CPUs for it (tests/e2e/recorder.c with HZ 0, replay frames):
#
#	PID=… STOPS=… gdb -batch -x stops.py >GDB		"stack NANOSECONDS TID PC..." of each thread
#	python3 stops.py GDB FRAMES
#
# The second prints "stops N equal M stacks S frames F cut C guessed G unpaired U": a stop is equal when the stacks of
# all threads are. Cut are those that are equal as far as bpfprof goes: code without unwind data begins there (generated
# code), the copy of the stack ended, or it says that it does not know the way on. Guessed are cut ones that are equal
# as far as gdb knows: it marks a PC with "?" where it has no unwind data, and what it shows above that is a guess from
# the frame pointer (of V8's builtins, which have none, and which V8 maps a second time where gdb sees no program: just
# after "leave" it skips the caller). Before that the first different ones are shown. Exit status 1 when any is.
import os
import random
import signal
import sys
import time

MAX_SHOWN = 3
# How walks end that are as long as the stack, and those that may be shorter.
WHOLE = ("root",)
CUT = ("no-unwind-data", "no-code", "unreadable", "lost-register", "bad-frame")


def is_stopped(pid):
    """All of its threads, and none of them still on its way there."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8", errors="replace") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] not in "TZX":
                return False
    return True


def program_counters():
    """Of the selected thread, leaf first; not those of calls that the compiler made go away."""
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            name = frame.name()
            yield hex(frame.pc()) + ("?" if name is None or name.startswith("Builtins_") else "")
        frame = frame.older()


def look(pid):
    os.kill(pid, signal.SIGSTOP)
    while not is_stopped(pid):
        time.sleep(0.001)
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    gdb.execute(f"attach {pid}", to_string=True)
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        print("stack", now, thread.ptid[1], *program_counters())
    sys.stdout.flush()
    gdb.execute("detach", to_string=True)
    os.kill(pid, signal.SIGCONT)


def gather():
    pid = int(os.environ["PID"])
    settings = ("pagination off", "confirm off", "debuginfod enabled off", "backtrace past-main on",
                "backtrace past-entry on", "backtrace limit unlimited", "print thread-events off",
                "auto-load off")
    for setting in settings:
        gdb.execute(f"set {setting}")
    for _ in range(int(os.environ["STOPS"])):
        time.sleep(random.uniform(0.005, 0.05))
        look(pid)


def read_walks(path):
    """The walks of each thread as (time, end, pcs), ascending."""
    walks = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            when, tid, end, *pcs = line.split()
            walks.setdefault(tid, []).append((int(when), end, pcs))
    return walks


def last_before(walks, when):
    return next((walk for walk in reversed(walks) if walk[0] <= when), None)


def nr_same(ours, theirs):
    return next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))


def compare_stack(walk, theirs, known):
    """Whether they are equal, whether the walk was cut, and whether that is as far as gdb knows."""
    _, end, ours = walk
    same = nr_same(ours, theirs)
    if end in CUT:
        is_guess = 0 < same < len(ours) and not known[same - 1]
        return same == len(ours) or is_guess, True, is_guess
    # Above the entry of a process lie argc and the arguments, which gdb may take for callers of ld.so's _start.
    beyond = next((i for i, pc in enumerate(theirs) if int(str(pc), 0) < 4096), len(theirs))
    return end in WHOLE and ours == theirs[:beyond], False, False


def show(when, tid, walk, theirs):
    _, end, ours = walk
    same = nr_same(ours, theirs)
    print(f"thread {tid} at {when}: ours {len(ours)} frames, {end}; gdb {len(theirs)}; different from #{same}")
    print("   ours ", *ours[max(same - 1, 0):same + 4])
    print("   gdb  ", *theirs[max(same - 1, 0):same + 4])


def compare(gdb_path, walks_path):
    walks = read_walks(walks_path)
    stops, different = set(), set()
    nr = {"stacks": 0, "frames": 0, "cut": 0, "guessed": 0, "unpaired": 0}
    with open(gdb_path, encoding="ascii", errors="replace") as lines:
        stacks = [line.split()[1:] for line in lines if line.startswith("stack ")]
    for when, tid, *marked in stacks:
        theirs = [pc.rstrip("?") for pc in marked]
        known = ["?" not in pc for pc in marked]
        stops.add(when)
        walk = last_before(walks.get(tid, []), int(when))
        if walk is None:
            nr["unpaired"] += 1
            different.add(when)
            continue
        is_equal, is_cut, is_guess = compare_stack(walk, theirs, known)
        nr["stacks"] += 1
        nr["frames"] += len(walk[2])
        nr["cut"] += is_cut
        nr["guessed"] += is_guess
        if not is_equal:
            different.add(when)
            if len(different) <= MAX_SHOWN:
                show(when, tid, walk, theirs)
    print("stops", len(stops), "equal", len(stops) - len(different), *(f"{key} {value}" for key, value in nr.items()))
    return 1 if different or not stops else 0


try:
    import gdb
except ImportError:
    sys.exit(compare(*sys.argv[1:]))
gather()
