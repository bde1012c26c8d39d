#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Parca itself, asked by its own queries, has what recordings and windows of an agent hold, to the last unit (make check-engines).
# timeout: 3600
# shellcheck source=../engines/lib.sh
. "${0%/*}/../engines/lib.sh"
ENGINE=parca
need_engine parca parca
cd "$TMP" || exit 1
engine=
echo 'object_storage: {bucket: {type: FILESYSTEM, config: {directory: ./data}}}' >parca.yaml

begin() {
	local port

	[ -z "$engine" ] || stop "$engine"
	port=$(free_port)
	url=http://127.0.0.1:$port
	start "$program" --config-path=parca.yaml --http-address="127.0.0.1:$port" --debuginfod-upstream-servers=http://127.0.0.1:1
	engine=$PID
	wait_until 60 answers "$url/api/profiles/types" || fail "Parca starts"
}
has() { read_back parca "$url"; }

check_recordings
check_agent
check_figures
finish
