#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints the first bpftool that runs: on Ubuntu the one in PATH is a wrapper that wants the running kernel's own package.
for b in bpftool /usr/sbin/bpftool /usr/local/sbin/bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do
	if "$b" version >/dev/null 2>&1; then
		echo "$b"
		exit 0
	fi
done
echo bpftool
