#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Fetches what guests are made of into the cache folder, as packages of Debian, and unpacks it. Nothing is
# installed, the machine's own package lists stay as they are, and root is not needed:
#
#	tools/fetch.sh kernel SUITE[-rt] ARCH	cache/kernel-SUITE-ARCH/vmlinuz and /version; -rt: the one with PREEMPT_RT
#	tools/fetch.sh userland ARCH		cache/userland-ARCH.cpio: shell, coreutils, python3 … of a guest
#	tools/fetch.sh perf ARCH		cache/perf-ARCH.cpio: perf and its libraries, to be laid over a userland
#	tools/fetch.sh sysroot ARCH		cache/sysroot-ARCH: what a program for ARCH is linked with
#	tools/fetch.sh corpus ARCH		cache/corpus-ARCH: large and odd libraries, to read their tables
#
# Each suite has an apt configuration of its own, so apt follows dependencies and checks signatures and
# checksums as ever. What is there is kept; REFRESH=1 asks the archive again.
#
# Environment: VM_CACHE (the folder, .cache), REFRESH. Exit status: 0 it is there, 77 it cannot be had.

set -u
cd "${BASH_SOURCE[0]%/*}/.." || exit 1
CACHE=${VM_CACHE:-.cache}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# What the end-to-end tests call, in a guest. The usr-is-merged package stands for a script that would want perl.
USERLAND="usr-is-merged bash dash coreutils mawk grep sed findutils util-linux mount procps diffutils libc-bin
	python3-minimal libpython3-stdlib strace libcap2-bin bpftool libbpf1 libelf1 libdw1 zlib1g libjson-c5 libncursesw6
	ncurses-base ripgrep"
# Those that the suite has: the name of a library changes with its interface.
USERLAND_ANY="libseccomp2 libcapstone4 libcapstone5"
PERF="linux-perf"
SYSROOT="libbpf-dev libbpf1 libelf-dev libelf1 libelf1t64 zlib1g-dev zlib1g libzstd-dev libzstd1 libjson-c-dev libjson-c5
	libcapstone-dev libcapstone4 libcapstone5
	libseccomp-dev libseccomp2 libncurses-dev libncursesw6 libtinfo6
	libiberty-dev libdw-dev libdw1 libdw1t64 liblzma-dev liblzma5 libbz2-dev libbz2-1.0"
CORPUS="libc6 libssl3 libssl3t64 libstdc++6 python3.11-minimal python3.13-minimal libllvm14 libllvm19 libnode108
	libnode115"

cannot() { # MESSAGE: nobody's mistake, but no guest can run
	echo "fetch: $*" >&2
	exit 77
}

host_suite() {
	local VERSION_CODENAME=

	# shellcheck source=/dev/null
	. /etc/os-release
	echo "${VERSION_CODENAME:-unknown}"
}

# The archive that this machine uses; elsewhere than on Debian, the one all mirrors come from.
archive() {
	local uri

	uri=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
		sed -En 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] *)?([^ ]+).*/\2/p' |
		grep -m 1 '/debian/*$')
	echo "${uri:-http://deb.debian.org/debian}"
}

# Runs an apt command on a suite alone, as if nothing were installed on a machine of that architecture.
apt() { # SUITE ARCH apt-get|apt-cache ARGS...
	local dir=$CACHE/apt/$1 arch=$2 command=$3

	shift 3
	"$command" -qq -oDir="$dir" -oDir::Etc=/etc/apt -oDir::Etc::SourceList=/dev/null \
		-oDir::Etc::SourceParts="$dir/sources" -oDir::State="$dir" -oDir::State::status="$dir/status" \
		-oDir::Cache="$dir/cache" -oDir::Etc::Preferences=/dev/null -oDir::Etc::PreferencesParts=/dev/null \
		-oAPT::Architecture="$arch" -oAPT::Architectures::="$arch" -oAcquire::Languages=none \
		-oAcquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false -oAcquire::Retries=3 \
		-oAPT::Sandbox::User= -oAPT::Install-Recommends=0 -oDebug::NoLocking=1 "$@"
}

apt_update() { # SUITE ARCH
	local dir=$CACHE/apt/$1

	mkdir -p "$dir/sources" "$dir/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/status"
	[ -r "$KEYRING" ] || cannot "no $KEYRING; sudo tools/install-deps.sh --cross installs it"
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nArchitectures: amd64 arm64\nSigned-By: %s\n' \
		"$(archive)" "$1" "$KEYRING" >"$dir/sources/$1.sources"
	[ -z "${REFRESH:-}" ] && [ -e "$dir/fresh-$2" ] && return
	echo "fetch: list of packages of $1 for $2" >&2
	apt "$1" "$2" apt-get update -o APT::Update::Error-Mode=any >"$dir/log" 2>&1 ||
		cannot "no list of packages of $1 from $(archive): $(grep -m 1 '^[EW]:' "$dir/log"); is there a network?"
	touch "$dir/fresh-$2"
}

# A package and all it depends on, or with download just itself, as files below DIR/debs.
fetch() { # DIR SUITE ARCH install|download PACKAGE...
	local dir=$1 suite=$2 arch=$3 how=$4 log=$CACHE/apt/$2/log

	shift 4
	apt_update "$suite" "$arch"
	rm -rf "$dir" && mkdir -p "$dir/debs"
	echo "fetch: $* ($suite, $arch)" | tr -s ' \n\t' ' ' | cut -c 1-100 >&2
	if [ "$how" = install ]; then
		apt "$suite" "$arch" apt-get install -y --download-only \
			-oDir::Cache::archives="$dir/debs" "$@" >"$log" 2>&1
	else
		(cd "$dir/debs" && apt "$suite" "$arch" apt-get download "$@") >"$log" 2>&1
	fi || cannot "cannot fetch $* of $suite for $arch: $(grep -m 1 '^E:' "$log")"
}

# Older packages hold /bin and /lib; since the merge these are links.
unpack() { # DIR
	local deb name

	for name in bin sbin lib lib64; do
		mkdir -p "$1/root/usr/$name"
		ln -s "usr/$name" "$1/root/$name"
	done
	for deb in "$1"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$1/root" ||
			cannot "cannot unpack $deb"
	done
	rm -rf "$1/debs"
}

kernel_package() { # SUITE ARCH FLAVOUR: the one that holds vmlinuz
	local package binary

	package=$(apt "$1" "$2" apt-cache show "linux-image-$3-$2" |
		sed -En 's/^Depends:.*(linux-image-[0-9][^ ,(]*).*/\1/p' | head -n 1)
	# Since 7.x the image's package is an empty one, and the image is in linux-binary-*.
	binary=$(apt "$1" "$2" apt-cache show "$package" |
		sed -En 's/^Depends:.*(linux-binary-[0-9][^ ,(]*).*/\1/p' | head -n 1)
	echo "${binary:-$package}"
}

fetch_kernel() { # SUITE ARCH
	local dir=$CACHE/kernel-$1-$2 suite=${1%-rt} flavour=cloud package image

	[ "$suite" = "$1" ] || flavour=rt
	[ -n "${REFRESH:-}" ] || [ ! -s "$dir/version" ] || return 0
	apt_update "$suite" "$2"
	package=$(kernel_package "$suite" "$2" $flavour)
	[ -n "$package" ] || cannot "$suite has no linux-image-$flavour-$2"
	fetch "$dir" "$suite" "$2" download "$package"
	unpack "$dir"
	image=$(find "$dir/root" -name 'vmlinuz*' -type f | head -n 1)
	[ -s "$image" ] || cannot "$package holds no vmlinuz"
	mv "$image" "$dir/vmlinuz"
	rm -rf "$dir/root"
	sed -E 's/^linux-(image|binary)-//; s/-cloud-.*//; s/-(rt)-.*/-\1/' <<<"$package" >"$dir/version"
}

fetch_userland() { # ARCH
	local dir=$CACHE/userland-$1 suite list

	suite=$(host_suite)
	list=$(cksum <<<"$suite $USERLAND $USERLAND_ANY" | cut -d ' ' -f 1)
	[ -n "${REFRESH:-}" ] || [ ! -s "$CACHE/userland-$1.cpio" ] ||
		[ "$(cat "$CACHE/userland-$1.list" 2>/dev/null)" != "$list" ] || return 0
	apt_update "$suite" "$1"
	# shellcheck disable=SC2046,SC2086
	fetch "$dir" "$suite" "$1" install $USERLAND $(known "$suite" "$1" $USERLAND_ANY)
	unpack "$dir"
	ln -sf mawk "$dir/root/usr/bin/awk" && ln -sf dash "$dir/root/usr/bin/sh"
	rm -rf "$dir"/root/usr/share/{doc,man,locale,i18n,info,bash-completion,zsh} "$dir"/root/var \
		"$dir"/root/usr/lib/*-linux-gnu/{gconv,perl-base,libicu*} "$dir"/root/usr/{bin,lib,share}/perl*
	# Compiled once here, rather than at each start of python3 in a guest.
	python3 -m compileall -q --invalidation-mode unchecked-hash "$dir"/root/usr/lib/python3* >/dev/null 2>&1
	mkdir -p "$dir"/root/{dev,proc,sys,tmp,run,root}
	printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$dir/root/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$dir/root/etc/group"
	echo '127.0.0.1 localhost' >"$dir/root/etc/hosts"
	(cd "$dir/root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) >"$CACHE/userland-$1.cpio" ||
		cannot "cannot pack $CACHE/userland-$1.cpio"
	rm -rf "$dir"
	echo "$list" >"$CACHE/userland-$1.list"
}

# Of perf and all it depends on: the program and those libraries that the userland lacks.
fetch_perf() { # ARCH
	local dir=$CACHE/perf-$1 suite list

	REFRESH='' fetch_userland "$1"
	suite=$(host_suite)
	list=$(cksum <<<"$suite $PERF $(cat "$CACHE/userland-$1.list")" | cut -d ' ' -f 1)
	[ -n "${REFRESH:-}" ] || [ ! -s "$CACHE/perf-$1.cpio" ] ||
		[ "$(cat "$CACHE/perf-$1.list" 2>/dev/null)" != "$list" ] || return 0
	# shellcheck disable=SC2086
	fetch "$dir" "$suite" "$1" install $PERF
	unpack "$dir"
	[ -s "$dir/root/usr/bin/perf" ] || cannot "$PERF of $suite holds no usr/bin/perf"
	(cd "$dir/root" && {
		echo usr/bin/perf
		find usr/lib/*-linux-gnu -maxdepth 1 -name '*.so*'
	} | LC_ALL=C sort | comm -23 - <(cpio --quiet -t <"$CACHE/userland-$1.cpio" | sed 's|^[.]/||' | LC_ALL=C sort) |
		cpio --quiet -o -H newc -R 0:0) >"$CACHE/perf-$1.cpio" || cannot "cannot pack $CACHE/perf-$1.cpio"
	rm -rf "$dir"
	echo "$list" >"$CACHE/perf-$1.list"
}

known() { # SUITE ARCH PACKAGE...: those that the suite has; the name of a library changes with its interface
	local suite=$1 arch=$2

	shift 2
	apt "$suite" "$arch" apt-cache show "$@" 2>/dev/null | sed -n 's/^Package: //p' | sort -u
}

# The packages of a list that the suite has, unpacked into one folder.
fetch_folder() { # DIR ARCH PACKAGE...
	local dir=$1 arch=$2 suite

	shift 2
	suite=$(host_suite)
	[ -n "${REFRESH:-}" ] || [ ! -e "$dir/complete" ] || [ "$(cat "$dir/complete" 2>/dev/null)" != "$suite $*" ] || return 0
	apt_update "$suite" "$arch"
	# shellcheck disable=SC2046
	fetch "$dir" "$suite" "$arch" download $(known "$suite" "$arch" "$@")
	unpack "$dir"
	mv "$dir"/root/* "$dir" && rmdir "$dir/root"
	echo "$suite $*" >"$dir/complete"
}

fetch_sysroot() { # ARCH
	local dir=$CACHE/sysroot-$1 link

	# shellcheck disable=SC2086
	fetch_folder "$dir" "$1" $SYSROOT
	# Links for the linker that name a file of the running system.
	find "$dir/usr/lib" -name '*.so' -lname '/*' | while read -r link; do
		ln -sf "$(basename "$(readlink "$link")")" "$link"
	done
}

fetch_corpus() { # ARCH
	# shellcheck disable=SC2086
	fetch_folder "$CACHE/corpus-$1" "$1" $CORPUS
}

for tool in apt-get dpkg-deb tar cpio; do
	command -v "$tool" >/dev/null || cannot "needs $tool; guests are made of Debian's packages"
done
mkdir -p "$CACHE" || exit 1
CACHE=$(realpath "$CACHE")
case ${1:-} in
kernel) fetch_kernel "$2" "$3" ;;
userland) fetch_userland "$2" ;;
perf) fetch_perf "$2" ;;
sysroot) fetch_sysroot "$2" ;;
corpus) fetch_corpus "$2" ;;
*)
	echo "usage: tools/fetch.sh kernel SUITE[-rt] ARCH | userland ARCH | perf ARCH | sysroot ARCH | corpus ARCH" >&2
	exit 2
	;;
esac
# Root fetches for whoever owns the source tree.
[ "$(id -u)" -ne 0 ] || chown -R --reference=. "$CACHE"
