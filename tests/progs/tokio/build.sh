#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the program in one of its variants, or servers, and prints its path: build.sh VARIANT [FOLDER]. Builds lie below
# FOLDER (build/tests/progs/tokio) and are used again, also where there is no cargo. Exit 77, with the reason on stderr, where
# it cannot be built here. TARGET=aarch64-unknown-linux-gnu builds for that. 1.28.2-fat is the variant fat with that Tokio, for
# those whose versions are locked in old/.
set -u
variant=${1:?which variant?}
folder=$(realpath -m "${2:-${0%/*}/../../../build/tests/progs/tokio}")
cd "${0%/*}" || exit 1
profile=release program=tokio_waits options=() flags='' version=${variant%%-*}
case $version in
1.*)
	[ -e "old/$version.lock" ] || { echo "no Tokio $version is locked in old" >&2 && exit 2; }
	here=$folder/manifests/$version main=$(realpath src/main.rs)
	mkdir -p "$here" && cp "old/$version.lock" "$here/Cargo.lock" || exit 1
	sed "s|=1[.]38[.]2|=$version|; s|[.][.]/src/main.rs|$main|" old/Cargo.toml >"$here/Cargo.toml.new" || exit 1
	cmp -s "$here/Cargo.toml.new" "$here/Cargo.toml" || mv "$here/Cargo.toml.new" "$here/Cargo.toml"
	cd "$here" || exit 1
	;;
*) version= ;;
esac

case ${variant#"$version"-} in
release) ;;
fp) flags='-C force-frame-pointers=yes' ;;
fat | reldebug | stripped) profile=${variant##*-} ;;
full) options=(--features full) ;;
fullfat) profile=fat options=(--features full) ;;
old) cd old || exit 1 ;; # an older Tokio
oldfat) cd old && profile=fat || exit 1 ;;
oldfull) cd old && options=(--features full) || exit 1 ;;
oldfullfat) cd old && profile=fat options=(--features full) || exit 1 ;;
servers) cd servers && program= || exit 1 ;; # several programs: the path of their folder
serversall) cd servers && program='' options=(--features redis) || exit 1 ;;
serversfat) cd servers && profile=fat program='' options=(--features redis) || exit 1 ;;
v0) flags='-C symbol-mangling-version=v0' ;;
v0fat) profile=fat flags='-C symbol-mangling-version=v0' ;;
*) echo "unknown variant $variant" >&2 && exit 2 ;;
esac

built=$folder/$variant/$profile${program:+/$program}
if ! command -v cargo >/dev/null; then
	[ -e "$built" ] || { echo "needs cargo" >&2 && exit 77; }
	echo "$built"
	exit
fi
if [ -n "${TARGET:-}" ]; then
	[ -d "$(rustc --print target-libdir --target "$TARGET" 2>/dev/null)" ] ||
		{ echo "needs Rust's library for $TARGET (rustup target add $TARGET)" >&2 && exit 77; }
	options+=(--target "$TARGET")
	export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
fi
mkdir -p "$folder" || exit 1
exec 9>"$folder/.lock"
flock 9
# What was downloaded once is enough; without it and without the registry there is no program.
build() {
	RUSTFLAGS=$flags cargo build --locked --quiet --profile "$profile" --target-dir "$folder/$variant" "${options[@]}" "$@"
}
if ! build --offline 2>/dev/null && ! build 2>"$folder/$variant.log"; then
	grep -q 'failed to \(download\|get\|fetch\)\|could not connect\|no matching package' "$folder/$variant.log" &&
		echo "the Rust package registry cannot be reached" >&2 && exit 77
	cat "$folder/$variant.log" >&2
	exit 1
fi
# What is built for another machine lies where that machine looks for it.
if [ -n "${TARGET:-}" ]; then
	mkdir -p "$folder/$variant/$profile" && cp "$folder/$variant/$TARGET/$profile/$program" "$folder/$variant/$profile/" || exit 1
fi
echo "$built"
