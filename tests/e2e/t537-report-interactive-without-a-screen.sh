#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# report -i where there is no screen says so in a sentence, and shows the report; hostile names can do nothing to a screen.
# timeout: 180
# long
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3
GEN=${PROGS%/progs}/e2e
for gen in gen_profile gen_runqlat gen_stat; do
	[ -x "$GEN/$gen" ] || lacks "$GEN/$gen is not built"
done
cd "$TMP" || exit 1
export TMP PYTHONPATH=$ROOT/tests/e2e
check "a profile" "$GEN/gen_profile" small x.bpfprof
check "one of runqlat" "$GEN/gen_runqlat" thread r.bpfprof
"$GEN/gen_stat" json >s.json

check "the summary" "$BPFPROF" report -s x.bpfprof
cp "$OUT" summary
plain() { # WHAT SENTENCE COMMAND...
	check "$1" "${@:3}"
	cp "$OUT" shown
	check_grep "$2" "$ERR" "... says so: $2"
	check "... in one line" test "$(wc -l <"$ERR")" -eq 1
	check "... and shows the report" cmp summary shown
}
plain "in a pipe" 'standard output is no terminal; this is the plain report' "$BPFPROF" report -i x.bpfprof
plain "in a pipe, by its long name" 'no terminal' "$BPFPROF" report --interactive x.bpfprof
check "a tree in a pipe" "$BPFPROF" report --tree x.bpfprof
cp "$OUT" summary
plain "-i --tree in a pipe" 'no terminal' "$BPFPROF" report -i --tree x.bpfprof
check "stat" "$BPFPROF" report -s s.json
cp "$OUT" summary
plain "a result of stat" 'results without stacks' "$BPFPROF" report -i s.json
check "runqlat" "$BPFPROF" report -s r.bpfprof
cp "$OUT" summary
plain "a recording of runqlat" 'results without stacks' "$BPFPROF" report -i r.bpfprof

shows() { # WHAT SENTENCE COMMAND...: on a terminal, where both streams are one
	check "$1" on_terminal 80 24 "${@:3}"
	check_grep "$2" "$OUT"
	check_grep '^ *SELF +TOTAL +FUNCTION' "$OUT" "... and the report"
	check_no_grep $'\x1b' "$OUT" "... without a sequence"
}
shows "TERM=dumb" 'TERM is dumb' env TERM=dumb "$BPFPROF" report -i x.bpfprof
shows "no TERM" 'TERM is not set' env -u TERM "$BPFPROF" report -i --color never x.bpfprof
shows "no terminal as input" 'standard input is no terminal' env NO_COLOR=1 bash -c '"$BPFPROF" report -i x.bpfprof </dev/null'
shows "no description of any terminal" 'no terminal is described' env HOME=/nowhere NO_COLOR=1 TERM=none-like-this \
	unshare -m bash -c 'for dir in /etc/terminfo /lib/terminfo /usr/share/terminfo /usr/lib/terminfo; do
		[ ! -d $dir ] || mount -t tmpfs none "$(realpath $dir)"; done; "$BPFPROF" report -i x.bpfprof'

refused() { # PATTERN OPTIONS...
	check_status 2 "${*:2} is refused" "$BPFPROF" report "${@:2}" x.bpfprof
	check_grep "$1" "$ERR"
}
refused 'exclude each other' -i -f
refused 'exclude each other' -i --json
refused "unknown mode 'x'" -i --by x

# What reaches the terminal of a program with hostile names: sequences of ncurses and text, no control byte besides.
cat >raw.py <<'P'
import fcntl, os, pty, re, select, struct, sys, termios, time
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    os.environ["TERM"] = sys.argv[2] if len(sys.argv) > 2 else "xterm"
    os.execvp(os.environ["BPFPROF"], ["bpfprof", "report", "-i", sys.argv[1]])
def drain(quiet=0.1):
    got = b""
    while select.select([fd], [], [], quiet)[0]:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        got += part
    return got
out = b""
end = time.monotonic() + 20
while b"FUNCTION" not in out and time.monotonic() < end:
    out += drain()
assert b"FUNCTION" in out, out
for key in b"]]]", b"[[[", b"G", b"g", b"t", b"jjje", b"G", b"z", b"b", b"e", b"G", b"T", b"p", b"m", b"\r", b"/\x1b[2J\x1b]0;x\x07\xff\xfe\xc3\xa4", b"\r\x1b", b"f", b"\r", b"u", b"Q":
    os.write(fd, key)
    out += drain(0.5 if key.endswith(b"\x1b") else 0.1) # an escape is a key of its own when nothing follows
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z@`]|\x1b[()][0AB]|\x1b[=>78M]|\x1b\[[0-9;]*t", b"", out)
text = re.sub(rb"[\r\n\b\t\x0e\x0f\x07]", b"", text)
assert not re.search(rb"[\x00-\x1f\x7f]", text), re.search(rb".{0,40}[\x00-\x1f\x7f].{0,40}", text).group()
decoded = text.decode("utf-8")
bad = re.search("[\x80-\x9f\u2028-\u202e\u2066-\u2069]", decoded)
assert not bad, hex(ord(bad.group()))
assert b"pwned" not in re.findall(rb"\x1b\][^\x07]*\x07", out)
print(len(out), "bytes")
P
check "what is sent for a profile of markup" timeout 60 python3 raw.py x.bpfprof
check "a terminal that nobody has described" timeout 60 python3 raw.py x.bpfprof new-terminal-of-2031
check "a terminal without colours and without a second screen" timeout 60 python3 raw.py x.bpfprof vt100
if [ "$(id -u)" -eq 0 ] && [ -x "$PROGS/hostile_comm" ] && "$BPFPROF" oncpu -F 999 -o comm.bpfprof -- "$PROGS/hostile_comm" 1 >/dev/null 2>&1; then
	check "what is sent for 64 hostile threads" timeout 60 python3 raw.py comm.bpfprof
	"$PROGS/hostile_sym" --patch hostile && chmod +x hostile
	check "a recording of hostile functions" "$BPFPROF" oncpu -U -F 1999 -o sym.bpfprof -- ./hostile 1
	check "what is sent for 65 hostile functions" timeout 60 python3 raw.py sym.bpfprof
fi
finish
