#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Installs what bpfprof is built with, from the distribution's packages: Debian 12 and 13, Ubuntu 22.04 and
# 24.04. Elsewhere it names the packages. Says nothing and calls no package manager when all is there.
#
#	tools/install-deps.sh [--check] [--cross]
#
# --check: also what the tests and make lint use. --cross: also what builds for aarch64, boots guests and makes chroots
# (Debian only): QEMU, debootstrap and the cross compiler are installed; libraries for aarch64 are unpacked into the cache folder.
# Installed, they would draw the machine's own libraries to the same versions.
#
# Exit status: 0 all is there now, 1 something is missing.

set -u

# A release of libbpf for hosts whose own is too old; any 1.x will do.
LIBBPF_TAG=v1.5.0
LIBBPF_URL=https://github.com/libbpf/libbpf

die() {
	echo "install-deps: $*" >&2
	exit 1
}

check=
cross=
for arg; do
	case $arg in
	--check) check=1 ;;
	--cross) cross=1 ;;
	*) die "usage: tools/install-deps.sh [--check] [--cross]" ;;
	esac
done

ID=unknown
ID_LIKE=
VERSION_ID=
# shellcheck source=/dev/null
[ ! -r /etc/os-release ] || . /etc/os-release

packages=(gcc make clang pkg-config libc6-dev libelf-dev libdw-dev liblzma-dev zlib1g-dev libjson-c-dev
	libcapstone-dev libseccomp-dev libncurses-dev libiberty-dev uthash-dev libmicrohttpd-dev)
if [ -n "$check" ]; then
	packages+=(g++ libcmocka-dev python3 python3-jsonschema python3-yaml shellcheck codespell clang-format jq libxml2-utils
		xz-utils sqlite3 strace libcap2-bin gdb dwz groff-base tmux)
	# To be profiled: programs in C, Go and Rust as a distribution builds them. All three are small.
	packages+=(redis-tools gron ripgrep)
	# Load for servers of Tokio, which cargo builds (tests/progs/tokio); redis-tools brings redis-benchmark.
	packages+=(wrk)
	# Ubuntu 22.04 has the sanitizers of clang in clang itself.
	[ "$ID:$VERSION_ID" = ubuntu:22.04 ] || packages+=(libclang-rt-dev)
fi

if [ -n "$cross" ] && [ "$ID" = debian ]; then
	packages+=(qemu-system-x86 qemu-system-arm gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross cpio
		debian-archive-keyring debootstrap)
elif [ -n "$cross" ]; then
	echo "install-deps: --cross knows the packages of Debian only; this is $ID" >&2
	cross=
fi

case $ID:$VERSION_ID in
# Ubuntu has bpftool in the tools of each kernel; those of 22.04's first kernel (5.15) are older than we need.
ubuntu:22.04) packages+=(linux-tools-common linux-tools-generic-hwe-22.04) ;;
ubuntu:*) packages+=(linux-tools-common linux-tools-generic libbpf-dev) ;;
*)
	packages+=(bpftool libbpf-dev)
	[ -z "$check" ] || packages+=(chromium chromium-driver)
	;;
esac

missing() { # PACKAGE...: those that are not installed
	local package

	for package; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
			echo "$package"
	done
}

# Ubuntu 22.04 ships libbpf 0.5, and we need 1.0 for linked objects with SEC("?...") and for its error codes.
# There the library comes from its own source, as a static archive in /usr/local, where pkg-config and both
# compilers look first.
has_libbpf() {
	pkg-config --atleast-version=1.0 libbpf 2>/dev/null
}

build_libbpf() {
	local dir

	echo "install-deps: libbpf of $ID $VERSION_ID is too old: building $LIBBPF_TAG into /usr/local"
	dir=$(mktemp -d) || exit 1
	git clone -q --depth 1 --branch "$LIBBPF_TAG" "$LIBBPF_URL" "$dir/libbpf" ||
		{ rm -rf "$dir"; die "cannot fetch $LIBBPF_URL; is there a network?"; }
	make -s -C "$dir/libbpf/src" BUILD_STATIC_ONLY=y PREFIX=/usr/local LIBDIR=/usr/local/lib install \
		>"$dir/log" 2>&1 || { tail -n 20 "$dir/log" >&2; rm -rf "$dir"; die "building libbpf failed"; }
	rm -rf "$dir"
	has_libbpf || die "libbpf was installed to /usr/local, but pkg-config does not find it there"
}

# --- other distributions: is everything there, and what would the packages be called ---

has_all() {
	local tool

	for tool in gcc make clang pkg-config; do
		command -v "$tool" >/dev/null 2>&1 || return 1
	done
	"$("${BASH_SOURCE[0]%/*}/find-bpftool.sh")" version >/dev/null 2>&1 || return 1
	has_libbpf && pkg-config --exists libelf libdw liblzma libseccomp zlib json-c capstone ncursesw 2>/dev/null || return 1
	printf '#include <microhttpd.h>\n' | gcc -E -x c - >/dev/null 2>&1 || return 1
	printf '#include <uthash.h>\n#include <libiberty/demangle.h>\n' | gcc -E -x c - >/dev/null 2>&1 ||
		printf '#include <uthash.h>\n#include <demangle.h>\n' | gcc -E -x c - >/dev/null 2>&1
}

has_check_tools() {
	local tool

	for tool in g++ python3 shellcheck codespell clang-format jq xmllint xz sqlite3 strace capsh gdb tmux; do
		command -v "$tool" >/dev/null 2>&1 || return 1
	done
	pkg-config --exists cmocka 2>/dev/null
}

name_packages() {
	case " $ID $ID_LIKE " in
	*' fedora '* | *' rhel '*)
		echo "install-deps: something is missing; install it with:"
		echo "  dnf install gcc make clang bpftool pkgconf-pkg-config glibc-devel libbpf-devel \\"
		echo "      elfutils-libelf-devel elfutils-devel xz-devel libseccomp-devel zlib-devel json-c-devel capstone-devel ncurses-devel binutils-devel uthash-devel libmicrohttpd-devel"
		[ -z "$check" ] ||
			echo "  dnf install gcc-c++ libasan libubsan libcmocka-devel python3 python3-jsonschema python3-pyyaml ShellCheck codespell \\
      clang-tools-extra jq libxml2 xz sqlite strace libcap gdb dwz tmux \\
      compiler-rt chromium chromedriver"
		;;
	*)
		echo "install-deps: something is missing, and the packages of '$ID' are not known here."
		echo "  Needed: gcc make clang bpftool pkg-config, and the development files of libbpf (1.0 or"
		echo "  newer), libelf, libdw, liblzma, libseccomp, zlib, json-c, capstone, ncurses (wide), libiberty (binutils), uthash and libmicrohttpd."
		[ -z "$check" ] || echo "  For the tests: cmocka shellcheck codespell clang-format jq xmllint sqlite3 tmux."
		;;
	esac >&2
}

if ! command -v dpkg-query >/dev/null 2>&1; then
	if has_all && { [ -z "$check" ] || has_check_tools; }; then
		exit 0
	fi
	name_packages
	exit 1
fi

# --- Debian and Ubuntu ---

needs_libbpf=
if [ "$ID:$VERSION_ID" = ubuntu:22.04 ] && ! has_libbpf; then
	needs_libbpf=1
	packages+=(git ca-certificates)
fi
libraries_for_cross() {
	[ -z "$cross" ] || "${BASH_SOURCE[0]%/*}/fetch.sh" sysroot arm64
}

mapfile -t todo < <(missing "${packages[@]}")
if [ ${#todo[@]} -eq 0 ] && [ -z "$needs_libbpf" ]; then
	libraries_for_cross
	exit
fi

[ "$(id -u)" -eq 0 ] ||
	die "missing: ${todo[*]}${needs_libbpf:+ libbpf-1.x}; run it as root: sudo tools/install-deps.sh${*:+ $*}"

if [ ${#todo[@]} -gt 0 ]; then
	echo "install-deps: installing ${todo[*]}"
	export DEBIAN_FRONTEND=noninteractive
	# An index that is too old or missing shows as a failure to install; an index that cannot be had as
	# another one.
	if ! apt-get install -qq -y --no-install-recommends "${todo[@]}" >/dev/null 2>&1; then
		apt-get update -qq >/dev/null 2>&1
		apt-get install -qq -y --no-install-recommends "${todo[@]}" >/dev/null ||
			die "cannot install: ${todo[*]}; is there a network, and is 'universe' enabled on Ubuntu?"
	fi
fi
[ -z "$needs_libbpf" ] || build_libbpf
if [ -n "$check" ] && [ "$ID" = ubuntu ] && ! command -v chromium >/dev/null 2>&1; then
	echo "install-deps: Ubuntu has chromium as a snap only; without it the browser tests are skipped"
fi
libraries_for_cross
