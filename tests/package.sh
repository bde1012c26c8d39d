#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Installs a Debian package, tries it, gives it to operators, installs it again and purges it:
#
#	tests/package.sh FILE.deb
#
# For a machine that may be thrown away (tests/distros.sh runs it in a clean chroot). Nothing may be left behind that was
# not there before, of the package and of what came along with it.
#
# Exit status: 0 all is well, 1 something is not, which the last line says.

set -u
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
program=/usr/sbin/bpfprof

die() {
	echo "package: $*" >&2
	exit 1
}

quietly() { # CMD...
	local log

	log=$("$@" 2>&1) || die "$*: $log"
}

# Files, groups and overrides; not what apt and dpkg write down of their work, nor copies of the files of users.
state() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /root -o -path /var/cache \
		-o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path '/etc/*-' \) -prune -o -print | sort
	getent group | sort
	dpkg-statoverride --list
}

file_caps() {
	getcap "$program" | sed 's/.* //; s/=ep$//' | tr ',' '\n' | sort
}

[ -f "${1:-}" ] || die "usage: tests/package.sh FILE.deb"
quietly apt-get update -qq
# adduser is of every system, and apt never takes it away again.
quietly apt-get install -qq -y --no-install-recommends libcap2-bin adduser
state >/tmp/before

quietly apt-get install -qq -y --no-install-recommends "$1"
bpfprof --version || die "it does not run"
[ "$(stat -c '%U:%G %a' $program)" = "root:root 755" ] || die "$program is $(stat -c '%U:%G %a' $program)"
[ -z "$(file_caps)" ] || die "$program has capabilities that nobody asked for"
getent group bpfprof >/dev/null || die "there is no group bpfprof"
bpfprof oncpu -f 1 >/tmp/folded || die "it cannot record"
[ -s /tmp/folded ] || die "it recorded nothing"

# As docs/install.md says.
dpkg-statoverride --update --add root bpfprof 0750 $program || die "no override"
quietly dpkg-reconfigure bpfprof
caps=$(file_caps)
[ "$(wc -l <<<"$caps")" -eq 6 ] || die "operators get: $caps"
quietly apt-get install -qq -y --reinstall "$1"
[ "$(file_caps)" = "$caps" ] || die "after another installation operators get: $(file_caps)"
[ "$(stat -c '%U:%G %a' $program)" = "root:bpfprof 750" ] || die "$program is $(stat -c '%U:%G %a' $program) for operators"

quietly apt-get purge -qq -y bpfprof
quietly apt-get autoremove -qq -y --purge
state >/tmp/after
diff /tmp/before /tmp/after || die "something is left, or gone"
echo "package: ${1##*/} was installed, tried and purged"
