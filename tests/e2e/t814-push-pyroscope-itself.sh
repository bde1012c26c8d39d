#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Pyroscope itself, a binary that PYROSCOPE names, has what recordings and windows of an agent hold, to the last unit (make
# check-engines).
# timeout: 3600
# shellcheck source=../engines/lib.sh
. "${0%/*}/../engines/lib.sh"
ENGINE=pyroscope
need_nightly
need python3 curl jq
program=${PYROSCOPE:-}
[ -n "$program" ] || skip "Pyroscope is not built from modules: PYROSCOPE=FILE names its program"
[ -x "$program" ] || { fail "PYROSCOPE=$program can be run" && exit 1; }
PATH=$PATH:/sbin ldconfig -p | grep -q 'libcurl.*\.so\.4' || skip "no libcurl"
cd "$TMP" || exit 1
engine=
# It would talk to itself by the first interface.
here=()
for part in compactor.ring.instance-addr distributor.ring.instance-addr overrides-exporter.ring.instance-addr \
	query-frontend.instance-addr query-scheduler.ring.instance-addr store-gateway.sharding-ring.instance-addr \
	ingester.lifecycler.addr segment-writer.lifecycler.addr memberlist.advertise-addr; do
	here+=("-$part=127.0.0.1")
done

ready() { [ "$(curl -s -o /dev/null -w '%{http_code}' "$url/ready")" = 200 ]; }
begin() {
	local port grpc raft

	[ -z "$engine" ] || stop "$engine" KILL
	port=$(free_port)
	grpc=$(free_port)
	raft=127.0.0.1:$(free_port)
	url=http://127.0.0.1:$port
	rm -rf data data-shared
	cat >pyroscope.yaml <<-END
		target: all
		server: {http_listen_address: 127.0.0.1, http_listen_port: $port,
		  grpc_listen_address: 127.0.0.1, grpc_listen_port: $grpc}
		analytics: {reporting_enabled: false}
		memberlist: {bind_addr: [127.0.0.1], bind_port: $(free_port)}
		storage: {backend: filesystem, filesystem: {dir: ./data-shared}}
		pyroscopedb: {data_path: ./data}
		self_profiling: {disable_push: true}
	END
	start "$program" -config.file=pyroscope.yaml -architecture.storage=v2 "${here[@]}" \
		-segment-writer.min-ready-duration=0s -metastore.min-ready-duration=0s \
		-metastore.address=127.0.0.1:"$grpc" -query-backend.address=127.0.0.1:"$grpc" \
		-metastore.raft.bind-address="$raft" -metastore.raft.advertise-address="$raft" -metastore.raft.server-id="$raft"
	engine=$PID
	wait_until 60 ready || fail "Pyroscope starts"
}
# Readable some seconds after the answer.
has() {
	sleep 10
	read_back pyroscope "$url"
}

check_recordings
check_agent
check_figures
finish
