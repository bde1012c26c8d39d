#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every command that README and docs show has the options that it is shown with.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3

cat >"$TMP/commands.py" <<'E2'
import re, subprocess, sys
tool, help_of, wrong, nr = sys.argv[1], {}, [], 0
for path in sys.argv[2:]:
    text = open(path, encoding="utf-8").read()
    spans = re.findall(r"`(bpfprof [^`]+)`", text) + re.findall(r"^(?:sudo )?(bpfprof .+)$", text, re.M)
    for span in spans:
        for part in re.split(r"\\?\||&&|;", span):
            words = part.split()
            if len(words) < 2 or words[0] != "bpfprof" or not words[1].isalpha() or words[1].isupper():
                continue
            command, words = words[1], words[2:]
            if command not in help_of:
                run = subprocess.run([tool, command, "--help"], capture_output=True, text=True)
                help_of[command] = run.stdout if run.returncode == 0 else ""
            words = words[:words.index("--")] if "--" in words else words
            options = [w.split("=")[0] for w in words if re.match(r"-[A-Za-z]$|--[a-z]", w)]
            nr += 1
            for option in options:
                if not re.search(r"(^|[\s,(])" + re.escape(option) + r"([\s,=)]|$)", help_of[command], re.M):
                    wrong.append(f"{path}: {command} has no {option}: {span}")
print(nr, "commands")
print("\n".join(wrong))
sys.exit(bool(wrong) or nr < 60)
E2
cd "$ROOT" || exit 1
check "README and docs" python3 "$TMP/commands.py" "$BPFPROF" README.md docs/*.md
cat "$OUT"
echo '`bpfprof oncpu --no-such 3`' >"$TMP/wrong.md"
check_fail "one that does not exist is seen" python3 "$TMP/commands.py" "$BPFPROF" README.md "$TMP/wrong.md"
# What SECURITY.md promises is shown by each run of all tests, or it says that it is not.
for test in "$ROOT"/tests/e2e/t*.sh; do
	name=${test##*/}
	if grep -q '^need_nightly' "$test" && grep -qF "/${name%%-*}-" "$ROOT/SECURITY.md"; then
		check "$name is nightly, as SECURITY.md says" grep -qF "/${name%%-*}-*.sh\` (nightly" "$ROOT/SECURITY.md"
	fi
done
finish
