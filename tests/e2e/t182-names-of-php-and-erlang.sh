#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions that PHP, Erlang and LuaJIT generate have their names, or the summary says what would give them these.
# alone: it removes maps of generated code from /tmp, of whomever
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need_bpf

cd "$TMP" || exit 1
touch begin

php_jit() {
	cat >burns.php <<-'PHP'
		<?php
		function seldom($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s += ($i * 7) % 13; return $s; }
		function often($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s += ($i * 7) % 13; return $s; }
		$end = microtime(true) + 3;
		while (microtime(true) < $end) { often(300000); seldom(100000); }
	PHP
	local jit=(php -d opcache.enable_cli=1 -d opcache.file_update_protection=0 \
		-d opcache.jit_buffer_size=64M -d opcache.jit=1205)

	if [ "$("${jit[@]}" -r 'echo opcache_get_status()["jit"]["on"] ?? "";' 2>/dev/null)" != 1 ]; then
		echo "# skip: this PHP does not generate code"
		return
	fi
	check "php" "$BPFPROF" oncpu -U -F 499 -o x.folded -o x.txt -- "${jit[@]}" -d opcache.jit_debug=0x10 burns.php
	check_pct x.folded 'JIT\$often' 75 6
	check_pct x.folded 'JIT\$seldom' 25 6
	check "php without" "$BPFPROF" oncpu -U -F 499 -o x.folded -o x.txt 1 -- "${jit[@]}" burns.php
	check_grep 'php.*: PHP code: run it with -d opcache.jit_debug=0x10' x.txt "what would help"
}

erlang() {
	cat >burns.erl <<-'ERL'
		-module(burns).
		-export([main/0, often/2, seldom/2]).
		often(0, A) -> A;
		often(N, A) -> often(N - 1, (A * 7 + N) rem 1000003).
		seldom(0, A) -> A;
		seldom(N, A) -> seldom(N - 1, (A * 7 + N) rem 1000003).
		main() -> loop(erlang:monotonic_time(millisecond) + 3000).
		loop(T) ->
			often(300000, 1), seldom(100000, 1),
			case erlang:monotonic_time(millisecond) < T of true -> loop(T); false -> ok end.
	ERL
	check "erlc" erlc burns.erl
	local run=(erl -noshell -pa . -eval 'burns:main(), halt().')

	if [ "$(erl -noshell -eval 'io:format("~w", [erlang:system_info(emu_flavor)]), halt().')" != jit ]; then
		echo "# skip: this Erlang does not generate code"
		return
	fi
	check "erlang" "$BPFPROF" oncpu -U -F 499 -o x.folded -o x.txt -- env ERL_FLAGS="+JPperf true" "${run[@]}"
	check_pct x.folded '[$]?burns:often/2' 75 9
	check_pct x.folded '[$]?burns:seldom/2' 25 9
	check "erlang without" "$BPFPROF" oncpu -U -F 499 -o x.folded -o x.txt 2 -- "${run[@]}"
	check_grep ': Erlang code: run it with erl [+]JPperf true' x.txt "what would help"
}

lua() {
	cat >burns.lua <<-'LUA'
		local function burn(n) local s = 0 for i = 1, n do s = (s * 7 + i) % 1000003 end return s end
		local e = os.clock() + 2 while os.clock() < e do burn(1000000) end
	LUA
	check "luajit" "$BPFPROF" oncpu -U -F 499 -o x.folded -o x.txt -- luajit burns.lua
	check_grep 'Lua code: LuaJIT writes a map when it is built with|^names  *(100|9[89])' x.txt "what would help"
}

nr=0
for runtime in php:php_jit erlc:erlang luajit:lua; do
	! command -v "${runtime%:*}" >/dev/null || { "${runtime#*:}" && nr=$((nr + 1)); }
done
find /tmp -maxdepth 1 -name 'perf-*.map' -newer begin -delete
[ "$nr" -gt 0 ] || skip "no php, no erlc, no luajit"
finish
