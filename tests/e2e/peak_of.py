#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs a command in a cgroup of its own and prints the most memory that was there at a time, in bytes, without cached files;
# then the command's exit status. Exit status 77: no such cgroup can be made.
#
#	peak_of.py [--until FOLDER] COMMAND...	(SIGINT when three files are in it)
import os
import signal
import subprocess
import sys
import time


def find_group():
    for line in open("/proc/mounts"):
        _, mount, kind, options = line.split()[:4]
        group = f"{mount}/bpfprof-peak-{os.getpid()}"
        try:
            if kind == "cgroup" and "memory" in options.split(","):
                os.mkdir(group)
                return group, "memory.usage_in_bytes", "cache"
            if kind == "cgroup2" and "memory" in open(f"{mount}/cgroup.controllers").read().split():
                open(f"{mount}/cgroup.subtree_control", "w").write("+memory")
                os.mkdir(group)
                return group, "memory.current", "file"
        except OSError:
            continue
    sys.exit(77)


def taken(group, usage, cached):
    stat = dict(line.split() for line in open(f"{group}/memory.stat"))
    return int(open(f"{group}/{usage}").read()) - int(stat[cached]) + int(stat["shmem"])


def main():
    words = sys.argv[1:]
    folder = None
    if words[0] == "--until":
        folder = words[1]
        words = words[2:]
    group, usage, cached = find_group()
    try:
        child = subprocess.Popen(
            words,
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: open(f"{group}/cgroup.procs", "w").write(str(os.getpid())),
        )
        peak = 0
        while child.poll() is None:
            peak = max(peak, taken(group, usage, cached))
            if folder and os.path.isdir(folder) and len(os.listdir(folder)) >= 3:
                child.send_signal(signal.SIGINT)
                folder = None
            time.sleep(0.005)
        print(peak, child.returncode)
    finally:
        for _ in range(50):
            try:
                os.rmdir(group)
                break
            except OSError:
                time.sleep(0.1)


main()
