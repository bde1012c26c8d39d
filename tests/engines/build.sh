#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds what make check-engines sends to, once, and prints the folder that has it:
#
#	tests/engines/build.sh [parca|collector]...	without names, both
#
# parca is of the version in parca/go.mod, otelcol of collector/builder.yaml; go.sum locks all that they are made of.
# With empty caches of Go the two take ten minutes of CPU, 3 GB of memory and 6 GB of disk; what stays is 200 MB in
# ${XDG_CACHE_HOME:-~/.cache}/bpfprof-engines, until a file of theirs changes. Go's own caches are Go's business.
#
# Exit status: 0 built, 77 cannot be had here (no Go, no module proxy): the last line on stderr says why; 1 otherwise.

set -u
export LC_ALL=C.UTF-8 GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOWORK=off
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd) || exit 1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/bpfprof-engines
BUILDER=go.opentelemetry.io/collector/cmd/builder@v0.159.0
MIN_GO=1.25
# What Go says when it gets no answer, or the answer that a module is not given here.
NO_PROXY='dial tcp|i/o timeout|no such host|connection re(fused|set)|TLS handshake|: 40[34] |: 410 |: 429 |: 5[0-9][0-9] |module lookup disabled|unexpected EOF'

skip() { # REASON
	echo "skip: $*" >&2
	exit 77
}

# Runs Go; without the registry that is no failure of ours.
go_or_skip() { # ARGS...
	local status=0 line

	go "$@" >"$work/log" 2>&1 || status=$?
	[ "$status" -ne 0 ] || return 0
	line=$(grep -m 1 -E "$NO_PROXY" "$work/log")
	[ -z "$line" ] || skip "modules cannot be fetched: ${line:0:200}"
	tail -n 25 "$work/log" >&2
	exit 1
}

build_parca() {
	cp "$here"/parca/go.* "$work" && cd "$work" || exit 1
	go_or_skip list -deps github.com/parca-dev/parca/cmd/parca
	go_or_skip build -ldflags='-s -w' -o "$work/parca" github.com/parca-dev/parca/cmd/parca
}

# The builder writes main packages, and takes no newer version of anything.
build_collector() {
	cp "$here/collector/builder.yaml" "$work" && cd "$work" || exit 1
	GOFLAGS='' go_or_skip run "$BUILDER" --config=builder.yaml --skip-compilation --skip-get-modules
	cp "$here"/collector/go.* otelcol && cd otelcol || exit 1
	export CGO_ENABLED=0
	go_or_skip list -deps .
	go_or_skip build -trimpath -ldflags='-s -w' -o "$work/otelcol.new" .
	cd .. && rm -r otelcol && mv otelcol.new otelcol
}

build() { # NAME PROGRAM
	local key

	# What it is made of is its name: a change makes another one.
	key=$(cat "$here/$1"/* | sha256sum | cut -c 1-16)
	if [ ! -x "$cache/$1-$key/$2" ]; then
		command -v go >/dev/null || skip "Go is not installed"
		printf '%s\n' "$MIN_GO" "$(go env GOVERSION | sed 's/^go//')" | sort -VC ||
			skip "$1 needs Go $MIN_GO, this is $(go env GOVERSION)"
		echo "building $1 (once; some minutes)" >&2
		work=$(mktemp -d "$cache/.build.XXXXXX") || exit 1
		trap 'rm -rf "$work"' EXIT
		("build_$1") || exit
		rm -rf "$cache/$1"-*
		mkdir "$cache/$1-$key" && mv "$work/$2" "$cache/$1-$key" || exit 1
		rm -rf "$work"
	fi
	ln -sfn "$1-$key/$2" "$cache/$2"
}

mkdir -p "$cache" || exit 1
exec 9>"$cache/.lock" && flock 9 || exit 1
[ $# -gt 0 ] || set -- parca collector
for name; do
	case $name in
	parca) build parca parca ;;
	collector) build collector otelcol ;;
	*)
		echo "usage: tests/engines/build.sh [parca|collector]..." >&2
		exit 1
		;;
	esac
done
echo "$cache"
