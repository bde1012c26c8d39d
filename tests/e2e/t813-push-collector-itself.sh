#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An OpenTelemetry Collector itself has written what recordings and windows of an agent hold, to the last unit (make
# check-engines).
# timeout: 3600
# shellcheck source=../engines/lib.sh
. "${0%/*}/../engines/lib.sh"
ENGINE=otlp
need_engine collector otelcol
cd "$TMP" || exit 1
engine=

begin() {
	local port

	[ -z "$engine" ] || stop "$engine"
	port=$(free_port)
	url=http://127.0.0.1:$port
	rm -f out.jsonl
	cat >collector.yaml <<-END
		receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:$port"}}}}
		exporters: {file: {path: out.jsonl, flush_interval: 50ms}}
		service:
		  telemetry: {metrics: {level: none}}
		  pipelines: {profiles: {receivers: [otlp], exporters: [file]}}
	END
	start "$program" --config=collector.yaml --feature-gates=service.profilesSupport
	engine=$PID
	wait_until 60 answers "$url" || fail "the Collector starts"
}
# When it ends, its lines are whole.
has() {
	stop "$engine"
	engine=
	read_back collector out.jsonl
}

check_recordings
check_agent
check_figures
finish
