#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# By https a recording goes to who has a certificate of the authority that was named, in the name that was called, and to
# nobody else, --insecure or not; an engine that wants a certificate gets one.
# shellcheck source=lib.sh
. "${0%/*}/lib.sh"
need python3 openssl
PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
STUB=$ROOT/tests/e2e/engine_stub.py
cd "$TMP" || exit 1
"$ROOT/build/tests/e2e/gen_profile" wall wall.bpfprof || exit 1

authority() { # NAME
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
		-keyout "$1.key" -out "$1.pem" 2>>openssl.log || fail "openssl makes $1"
}
certificate() { # NAME AUTHORITY SUBJECT-ALTERNATIVE-NAME [DAYS]
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.req" 2>>openssl.log
	openssl x509 -req -in "$1.req" -CA "$2.pem" -CAkey "$2.key" -set_serial "$RANDOM$RANDOM" -days "${4:-2}" \
		-extfile <(echo "subjectAltName=$3") -out "$1.pem" 2>>openssl.log || fail "openssl makes $1"
}
authority ours
authority theirs
certificate engine ours DNS:localhost,IP:127.0.0.1
certificate elsewhere ours DNS:elsewhere.example
certificate agent ours DNS:agent.example
certificate stranger theirs DNS:agent.example

serve() { # CERTIFICATE [AUTHORITY-OF-CLIENTS]; sets $url
	rm -rf kept
	mkdir kept
	start env TLS_CERT="$1.pem" TLS_KEY="$1.key" TLS_CA="${2:+$2.pem}" python3 "$STUB" serve kept
	wait_until 10 test -s kept/port || fail "the stub starts"
	url=https://localhost:$(cat kept/port)
}
push() { "$BPFPROF" push --now --wait 1s --retry 0.2s --to parca="$url" "$@" wall.bpfprof; }
refused() { # DESC ARGS...
	local desc=$1

	shift
	check_status 1 "$desc" push "$@"
	check_grep "${PATTERN:-certificate}" "$OUT"
	check_fail "and nothing was sent" test -e kept/taken
}

serve engine
check "the authority that was named" push --ca ours.pem
check_is "$(wc -l <kept/taken)" 1 "requests that came"
rm -f kept/taken
refused "an authority that the system does not know"
refused "--insecure checks certificates all the same" --insecure
refused "another authority than the one that was named" --ca theirs.pem
url=https://127.0.0.1:${url##*:}
check "an address by number that the certificate has" push --ca ours.pem

serve elsewhere
PATTERN="host name|certificate subject name" refused "a certificate in another's name" --ca ours.pem

serve engine ours
check_status 1 "an engine that wants a certificate" push --ca ours.pem
check_fail "gets nothing without" test -e kept/taken
check_status 1 "a stranger's certificate" push --ca ours.pem --cert stranger.pem --key stranger.key
check_fail "is none" test -e kept/taken
check "one of its authority" push --ca ours.pem --cert agent.pem --key agent.key
check_is "$(wc -l <kept/taken)" 1 "requests that came"

# Files that are not there are told before anything is made.
for option in --ca --cert --key; do
	check_fail "no such file of $option" push "$option" none.pem
	check_grep '^bpfprof: cannot open none.pem: No such file' "$ERR"
	check_is "$(wc -l <"$ERR")" 1 "lines on stderr"
done
echo text >none.pem
check_status 1 "a file that has no certificate" push --ca none.pem
check_grep 'none.pem' "$OUT"
finish
