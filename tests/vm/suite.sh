#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a guest runs by default: the end-to-end tests that its line in tests/vm/guests, or TESTS, names.

parameter() { # NAME: from the kernel's command line
	sed -n "s/.*guest\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

scripts=()
IFS=, read -ra patterns <<<"$(parameter tests)"
for pattern in "${patterns[@]}"; do
	mapfile -t -O ${#scripts[@]} scripts < <(compgen -G "tests/e2e/${pattern%.sh}*.sh" | grep '/t[0-9]' | sort)
done
[ ${#scripts[@]} -gt 0 ] || {
	echo "no test is called ${patterns[*]}"
	exit 2
}
GUEST=$(parameter name) NIGHTLY=$(parameter nightly) AGAIN=$(parameter again) bash tests/run.sh --e2e "${scripts[@]}"
