#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the README promises of a fresh machine, for each distribution that it names:
#
#	tests/distros.sh [NAME]...	debian-12, debian-13, ubuntu-22.04, ubuntu-24.04; without names, all
#
# Each gets a chroot with git and make only, and the tracked files as they are here. There "make demo" installs what is
# missing, builds and profiles; then come the unit tests and some quick end-to-end tests. On Debian "make deb" follows, and
# its package is installed and purged in a copy of the chroot as it was at first. The kernel is this machine's.
# Logs are in build/tests/distros. The last line is "N passed, N failed, N skipped".
#
# The mirror is the one that this machine's apt uses for that distribution; without one, it is skipped. A chroot takes
# 3 GB below $TMPDIR (/var/tmp) and some ten minutes on two cores.
#
# Exit status: 0 none failed, 1 some did, 77 none could be tried.

set -u
export LC_ALL=C.UTF-8
cd "${BASH_SOURCE[0]%/*}/.." || exit 1

# NAME SUITE ARCHIVE COMPONENTS SCRIPT: the last is debootstrap's where it does not know the suite yet.
DISTROS="
debian-12	bookworm	debian	main		sid
debian-13	trixie		debian	main		sid
ubuntu-22.04	jammy		ubuntu	main,universe	gutsy
ubuntu-24.04	noble		ubuntu	main,universe	gutsy
"
# One of each: without privileges, on CPU, memory of maps, off CPU, names, unwinding, outputs.
TESTS="t003 t101 t110 t201 t401 t420 t501"
LIMIT=2400 # seconds for what runs in a chroot
LOGS=build/tests/distros

skip() { # REASON
	echo "skip: $*"
	skipped=$((skipped + 1))
}

# Mounts are in a namespace of our own: whatever ends us takes them along.
if [ "$(id -u)" -eq 0 ] && [ -z "${DISTROS_HAS_MOUNTS:-}" ]; then
	DISTROS_HAS_MOUNTS=1 exec unshare --mount --propagation private bash "tests/${0##*/}" "$@"
fi

root=
child=
passed=0
failed=0
skipped=0

mirror_of() { # ARCHIVE: as apt has it; those of security updates lack the rest
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		awk -v path="/$1(-ports)?/*\$" '$1 !~ /-security/ && $2 ~ path { sub("/+$", "", $2); print $2; exit }'
}

has_suite() { # MIRROR SUITE
	/usr/lib/apt/apt-helper download-file "$1/dists/$2/Release" "$root.release" >/dev/null 2>&1
	local status=$?

	rm -f "$root.release"
	return $status
}

# In the background, so that a signal is heard at once; in a process group of its own, which timeout ends.
limited() { # CMD...
	timeout --kill-after=10 "$LIMIT" "$@" </dev/null &
	child=$!
	wait "$child"
	local status=$?

	child=
	return $status
}

nr_mounts() {
	awk -v root="$root" 'index($2, root) == 1 { n++ } END { print n + 0 }' /proc/self/mounts
}

# Only what we have put there: processes whose root it is, its mounts, its files.
remove_root() {
	local proc

	[ -n "$root" ] || return 0
	for proc in /proc/[0-9]*; do
		[[ $(readlink "$proc/root") != "$root"?(/clean) ]] || kill -KILL "${proc#/proc/}" 2>/dev/null
	done
	while [ "$(nr_mounts)" -gt 0 ]; do
		umount --recursive --lazy "$root" 2>/dev/null || umount --recursive --lazy "$root"/* 2>/dev/null || break
	done
	if [ "$(nr_mounts)" -eq 0 ]; then
		rm -rf --one-file-system "$root"
	else
		echo "distros: $root is still mounted; it stays" >&2
	fi
	root=
}

interrupted() { # STATUS
	[ -z "$child" ] || { kill -TERM "$child" && wait "$child"; } 2>/dev/null
	exit "$1" # which removes the chroot
}
trap remove_root EXIT
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
trap 'interrupted 129' HUP

make_root() { # SUITE MIRROR COMPONENTS SCRIPT KEYRING
	local script=

	[ -e "/usr/share/debootstrap/scripts/$1" ] || script=$4
	chmod 755 "$root" && mount --bind "$root" "$root" || return 1 # tests that unshare want their root to be a mount
	limited debootstrap --variant=minbase --force-check-gpg --keyring="$5" --components="$3" --include=git,make \
		"$1" "$root" "$2" ${script:+"$script"} || return 1
	printf 'deb %s %s %s\n' "$2" "$1" "${3//,/ }" "$2" "$1-updates" "${3//,/ }" >"$root/etc/apt/sources.list"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	mkdir "$root/clean" && tar -C "$root" --exclude=./clean -c . | tar -C "$root/clean" -x || return 1
	mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" || return 1
	mkdir "$root/root/bpfprof" &&
		git -c safe.directory='*' ls-files -z | tar --null --ignore-failed-read -T - -c | tar -x -C "$root/root/bpfprof"
}

in_root() { # COMMAND
	limited env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} \
		chroot "$root" bash -c "cd /root/bpfprof && $1"
}

# Each is what somebody would type.
try_all() {
	in_root "make -j$(nproc) demo && test -s demo.html && test -s demo.folded" &&
		in_root "tools/install-deps.sh --check" &&
		in_root "make -j$(nproc) check-unit" &&
		in_root "make -j$(nproc) progs" &&
		in_root "tests/run.sh $(for test in $TESTS; do echo "tests/e2e/$test-*.sh"; done | tr '\n' ' ')"
}

# It is built here, and brings what it needs where nothing was built.
try_package() {
	in_root "apt-get install -qq -y --no-install-recommends build-essential debhelper lintian >/dev/null && make deb" &&
		in_root "cp build/deb/bpfprof_*.deb tests/package.sh /clean/root" &&
		in_root "for fs in proc sys dev; do mount --rbind /\$fs /clean/\$fs || exit; done" &&
		in_root "chroot /clean bash -c '/root/package.sh /root/bpfprof_*.deb'"
}

try_distro() { # NAME SUITE ARCHIVE COMPONENTS SCRIPT
	local log=$LOGS/$1.log mirror from=$SECONDS keyring=/usr/share/keyrings/$3-archive-keyring.gpg

	root=$(realpath "$(mktemp -d "${TMPDIR:-/var/tmp}/bpfprof-$1.XXXXXX")") && [ -d "$root" ] || exit 1
	mirror=$(mirror_of "$3")
	if [ -z "$mirror" ] || ! has_suite "$mirror" "$2"; then
		skip "no mirror for $1"
	elif [ ! -r "$keyring" ]; then
		skip "no $keyring to check $1 with"
	elif { make_root "$2" "$mirror" "$4" "$5" "$keyring" && try_all && { [ "$3" != debian ] || try_package; }; } \
		>"$log" 2>&1; then
		echo "ok     $1 ($((SECONDS - from)) s): $(tail -n 1 "$log")"
		passed=$((passed + 1))
	else
		echo "not ok $1 ($((SECONDS - from)) s)"
		echo "       log: $log"
		tail -n 25 "$log" | cut -c 1-200 | sed 's/^/       | /'
		failed=$((failed + 1))
	fi
	remove_root
}

mkdir -p "$LOGS" || exit 1
if [ "$(id -u)" -ne 0 ]; then
	skip "chroots need root"
elif ! command -v debootstrap >/dev/null || ! command -v apt-get >/dev/null; then
	skip "needs debootstrap and apt-get"
else
	eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
	export http_proxy="${http_proxy:-}"
	[ -n "$http_proxy" ] || unset http_proxy
	names=" ${*:-$(awk '{ print $1 }' <<<"$DISTROS" | tr '\n' ' ')} "
	while read -r name row <&3; do
		# shellcheck disable=SC2086
		[ -z "$name" ] || [[ $names != *" $name "* ]] || try_distro "$name" $row
	done 3<<<"$DISTROS"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
