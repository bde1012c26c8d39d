/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof agent: always on, in windows that are kept in a folder, sent, or shown. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/agent_parts.h"
#include "symbol/kept.h"

#define RATE_HZ	     19
#define CLOSE_HZ     99
#define CLOSE_COST   4 /* times as much */
#define OVERHEAD     "0.5"
#define MAX_STACKS   (1u << 18)
#define MOST_STACKS  (1u << 19)
#define LEAST_WINDOW 1000000000ull
#define NAMES_BYTES  (12u << 20) /* kept from window to window, at most */
#define UNWIND_BYTES (24u << 20) /* of unwind tables, see --unwind-mem */

const struct opt agent_opts[] = {
	TARGET_ROWS,
	OPT_GROUP("Windows"),
	OPT_TIME('i', "interval", struct agent_args, interval_ns, 1000000000, LEAST_WINDOW,
		 3600 * 1000000000ull, "TIME", "length of a window (default 10s)"),
	OPT_STRING(0, "keep", struct agent_args, keep, "DIR",
		   "keep windows in this folder, for report DIR and diff DIR@A DIR@B"),
	OPT_SIZE(0, "max-disk", struct agent_args, max_disk, 1 << 20, 1 << 20, 1ull << 50, "MB",
		 "the oldest windows go when they take more (default 1G)"),
	OPT_STRINGS(0, "on", struct agent_args, on, "CONDITION",
		    "keep the windows around one that meets it apart: 'runq_p99>20ms', "
		    "'cpu>90%', 'lost>0', 'blocked>2'"),
	OPT_U32(0, "on-rate", struct agent_args, on_rate_hz, 1, 10000, "HZ",
		"samples a second from then on, until six windows after the last that meets it, "
		"at up to four times the cost (default 99, or --freq if that is more)"),
	OPT_STRING(0, "listen", struct agent_args, listen, "ADDRESS",
		   "serve metrics for Prometheus, profiles for go tool pprof and a page with the "
		   "last window at PORT (of this host), ADDR:PORT or unix:PATH"),
	OPT_STRING(0, "listen-token", struct agent_args, listen_token, "FILE",
		   "answer only who knows the token in this file; beyond this host a must"),
	OPT_STRING(0, "rules", struct agent_args, rules, "FILE",
		   "what processes are called in series: rules that keep, drop and label them"),
	OPT_GROUP("Windows to engines"),
	OPT_STRINGS(0, "push", struct agent_args, push, "ENGINE=URL",
		    "send them: pyroscope=URL, parca=URL or otlp=URL (repeatable)"),
	OPT_STRINGS(0, "label", struct agent_args, push_labels, "NAME=VALUE",
		    "of all series, e.g. region=eu (repeatable)"),
	OPT_STRING(0, "token-file", struct agent_args, push_token, "FILE",
		   "a bearer token: one word in a file that only its owner and group may read"),
	OPT_STRING(0, "tenant", struct agent_args, push_tenant, "ID", "X-Scope-OrgID of Pyroscope"),
	OPT_STRING(0, "ca", struct agent_args, push_ca, "FILE",
		   "certificates to trust instead of the system's"),
	OPT_FLAG(0, "insecure", struct agent_args, insecure, "http to other hosts: unencrypted"),
	OPT_STRING(0, "min-weight", struct agent_args, min_weight, "PCT",
		   "fold branches below this share of a series into callers (0)"),
	OPT_U32(0, "max-series", struct agent_args, max_series, 1, 100000, "N",
		"of a window, and sets of labels for them; the least become 'other' (1000, 500)"),
	OPT_STRING(0, "spool", struct agent_args, spool, "DIR",
		   "keep there what an engine does not take for now"),
	OPT_SIZE(0, "max-spool", struct agent_args, spool_bytes, 1 << 20, 1 << 20, 1ull << 40,
		 "SIZE", "of it, or of memory without one (256M)"),
	OPT_GROUP("How"),
	SAMPLING_ROWS_OF("19"),
	COST_ROWS_OF(OVERHEAD),
	OPT_STRING(
		0, "call-graph", struct recording_args, call_graph, "HOW",
		"walk user stacks by unwind tables (dwarf), by frame pointers (fp), or by tables "
		"and by frame pointers where there are none (auto, the default)"),
	OPT_SIZE(0, "unwind-mem", struct recording_args, record.unwind_bytes, 1 << 20, 4 << 20,
		 1ull << 30, "MB",
		 "kernel memory for unwind tables (default 24), and up to half as much again while "
		 "another recording takes over"),
	OPT_FLAG(0, "no-python", struct recording_args, record.no_python,
		 "show the interpreter of Python, not its functions"),
	OPT_U32(0, "max-stacks", struct recording_args, record.max_stacks, 1, 1 << 24, "N",
		"slots for distinct stacks, rounded up to a power of two (default 262144): when "
		"they are in use, another recording takes over"),
	MEMORY_ROW,
	OPT_U32(0, "walks", struct recording_args, record.waits.walks, 1, 1000000, "N",
		"walk at most N stacks per second and CPU (default 10000); other waits count as "
		"[not sampled]"),
	UNSAFE_ROW,
	/* Known, to say why not. */
	{ OPT_ROW(0, "strict", struct recording_args, strict, const char *, STRING, "PCT", ""),
	  .hidden = true },
	OPT_GROUP("Output"),
	OPT_COUNT('v', "verbose", struct recording_args, verbose,
		  "a line for each window on stderr (-vv: libbpf too)"),
	OPT_END,
};

static struct agent_looks looks_closely(const struct agent_args *a)
{
	const struct record_opts *o = &a->common.record;
	uint32_t usual = o->sampling.rate_hz < CLOSE_HZ ? CLOSE_HZ : o->sampling.rate_hz;

	return (struct agent_looks){ a->on_rate_hz ? a->on_rate_hz : usual,
				     o->max_overhead * CLOSE_COST };
}

static enum cmd_result run(struct recording_args *common)
{
	struct service s = { .args = (struct agent_args *)common };
	struct record_opts *o = &common->record;
	struct agent_opts opts = { .record = o,
				   .interval_ns = s.args->interval_ns,
				   .duration_ns = o->duration_ns,
				   .most_stacks = o->max_stacks ? o->max_stacks : MOST_STACKS,
				   .is_close = s.args->on.nr ? service_is_close : NULL,
				   .close_arg = &s,
				   .closely = looks_closely(s.args),
				   .sinks = s.sinks };
	struct kept *kept = kept_new(NAMES_BYTES);
	int err = service_open(&s);

	o->max_stacks = o->max_stacks ? o->max_stacks : MAX_STACKS;
	o->unwind_bytes = o->unwind_bytes ? o->unwind_bytes : UNWIND_BYTES;
	o->duration_ns = 0;
	o->symbols.time_ns = 0;
	o->symbols.kept = kept;
	o->always_on = true;
	o->waits.lengths = s.args->listen != NULL;
	o->foreign_folder = s.args->keep || s.args->spool; /* somebody may own them */
	opts.nr_sinks = s.nr_sinks;
	if (!err)
		err = agent_run(&opts);
	service_close(&s);
	kept_free(kept);
	return err ? cmd_failed(err) : CMD_OK;
}

/* They are of what goes to engines; series are also those of metrics. */
static int check_series(struct agent_args *a)
{
	static const struct opt_number share = { "--min-weight", 0, 50, "%" };
	double pct = 0;

	if (a->min_weight && !a->push.nr)
		return log_as(-EINVAL, "--min-weight goes with --push ENGINE=URL");
	if (a->max_series && !a->listen && !a->push.nr)
		return log_as(-EINVAL, "--max-series goes with --listen ADDRESS or --push "
				       "ENGINE=URL");
	if (opt_number(&share, a->min_weight, &pct))
		return -EINVAL;
	a->min_share = pct / 100;
	return 0;
}

/* There are no words but a duration, and nobody to show anything to without a sink. */
static int parse_words(struct recording_args *common, char **words, int nr)
{
	struct agent_args *a = (struct agent_args *)common;

	if (!a->interval_ns)
		a->interval_ns = 10000000000ull;
	if (common->strict)
		return log_as(-EINVAL, "--strict is a verdict at the end, and an agent has none: "
				       "--on 'lost>0' keeps windows that lost something, and "
				       "--listen counts what was lost");
	if (a->max_disk && !a->keep)
		return log_as(-EINVAL, "--max-disk goes with --keep DIR");
	if (a->on_rate_hz && !a->on.nr)
		return log_as(-EINVAL, "--on-rate goes with --on CONDITION");
	if (a->listen_token && !a->listen)
		return log_as(-EINVAL, "--listen-token goes with --listen ADDRESS");
	if (a->rules && !a->listen && !a->push.nr)
		return log_as(-EINVAL, "--rules goes with --listen ADDRESS or --push ENGINE=URL");
	if (check_series(a))
		return -EINVAL;
	if (a->spool && !a->push.nr)
		return log_as(-EINVAL, "--spool goes with --push ENGINE=URL");
	if (!a->keep && !a->on.nr && !a->listen && !a->push.nr)
		return log_as(-EINVAL, "windows go nowhere: say --keep DIR, --listen ADDRESS or "
				       "--push ENGINE=URL");
	return recording_duration(common, words, nr);
}

enum cmd_result cmd_agent(const struct command *self, int argc, char **argv)
{
	struct agent_args a = { .common = { .parse_words = parse_words,
					    .record.sampling.rate_hz = RATE_HZ } };

	/* By a write to an engine that is gone: libcurl leaves signals to us, and its TLS raises it. */
	signal(SIGPIPE, SIG_IGN);
	if (!getenv("BPFPROF_MAX_OVERHEAD"))
		a.common.max_overhead = OVERHEAD;
	return recording_main(self, argc, argv, &a.common, run);
}
