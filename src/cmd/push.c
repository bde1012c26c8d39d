/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof push: saved recordings to engines that keep profiles. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "profile/kind.h"
#include "profile/save.h"
#include "push/push.h"

#define SECOND_NS    1000000000ull
#define DEFAULT_WAIT (30 * SECOND_NS)
#define MAX_WAIT     (24 * 3600 * SECOND_NS)

struct push_args {
	struct opt_strings to, labels;
	const char *min_weight;
	struct push_opts opts;
	uint64_t wait_ns;
	int verbose;
};

const struct opt push_opts[] = {
	OPT_GROUP("Where to"),
	OPT_STRINGS(0, "to", struct push_args, to, "ENGINE=URL",
		    "pyroscope=URL, parca=URL or otlp=URL (repeatable)"),
	OPT_STRING(0, "token-file", struct push_args, opts.token_file, "FILE",
		   "a bearer token: one word in a file that only its owner and group may read"),
	OPT_STRING(0, "tenant", struct push_args, opts.tenant, "ID", "X-Scope-OrgID of Pyroscope"),
	OPT_STRING(0, "ca", struct push_args, opts.ca_file, "FILE",
		   "certificates to trust instead of the system's"),
	OPT_STRING(0, "cert", struct push_args, opts.cert_file, "FILE", "certificate to show"),
	OPT_STRING(0, "key", struct push_args, opts.key_file, "FILE", "its key"),
	OPT_FLAG(0, "insecure", struct push_args, opts.insecure,
		 "http to other hosts: unencrypted"),
	OPT_GROUP("What"),
	OPT_STRINGS(0, "label", struct push_args, labels, "NAME=VALUE",
		    "of all series, e.g. service_name=web (repeatable)"),
	OPT_STRING(0, "min-weight", struct push_args, min_weight, "PCT",
		   "fold branches below this share into callers (0)"),
	OPT_U32(0, "max-series", struct push_args, opts.max_series, 1, 100000, "N",
		"of a recording; the least become 'other' (1000)"),
	OPT_FLAG(0, "now", struct push_args, opts.now,
		 "as if the recordings had just ended (Pyroscope takes one hour)"),
	OPT_GROUP("When it fails"),
	OPT_STRING(0, "spool", struct push_args, opts.spool, "DIR",
		   "keep there what was not delivered, and send it the next time"),
	OPT_SIZE(0, "max-spool", struct push_args, opts.spool_bytes, 1 << 20, 1 << 20, 1ull << 40,
		 "SIZE", "of it, or of memory without one (256M)"),
	OPT_TIME(0, "timeout", struct push_args, opts.timeout_ns, SECOND_NS, 1, MAX_WAIT, "TIME",
		 "of a request (10s)"),
	OPT_TIME(0, "retry", struct push_args, opts.retry_ns, SECOND_NS, 1, MAX_WAIT, "TIME",
		 "first wait before trying again (5s)"),
	OPT_TIME(0, "wait", struct push_args, wait_ns, SECOND_NS, 1, MAX_WAIT, "TIME",
		 "for all to be delivered (30s)"),
	OPT_COUNT('v', "verbose", struct push_args, verbose, "more messages"),
	OPT_END,
};

/* 0, -ENODATA when there is nothing in it to send, or another errno; logged. */
static int push_file(struct push *p, const char *path)
{
	struct profile *profile = profile_load(path);
	int err = 0;

	if (!profile)
		return -EIO;
	if (!profile->nr_samples)
		err = log_as(-ENODATA, "%s has no samples that an engine could keep%s", path,
			     kind_of_profile(profile)->histograms ? ": it has histograms" : "");
	if (!err)
		err = push_window(p, profile, NULL, NULL);
	profile_free(profile);
	return err;
}

static uint64_t dropped(const struct push_counts *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PUSH_NR_DROPS; i++)
		sum += c->dropped[i];
	return sum;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Whether all was delivered. */
static bool print_counts(const struct push_counts *c)
{
	printf("%s  %s\n", c->engine, c->url);
	printf("  sent      %" PRIu64 " request%s, %s, of %" PRIu64 " series\n", c->sent,
	       plural(c->sent), text_bytes(c->sent_bytes), c->series);
	if (c->folded)
		printf("  folded    %" PRIu64 " series into 'other'\n", c->folded);
	if (c->retried)
		printf("  retried   %" PRIu64 " time%s\n", c->retried, plural(c->retried));
	if (c->resumed)
		printf("  resumed   %" PRIu64 " from the spool\n", c->resumed);
	if (c->rejected)
		printf("  rejected  %" PRIu64 " profile%s\n", c->rejected, plural(c->rejected));
	for (size_t i = 0; i < PUSH_NR_DROPS; i++)
		if (c->dropped[i])
			printf("  dropped   %" PRIu64 ": %s\n", c->dropped[i], push_drops[i].text);
	if (c->waiting)
		printf("  waiting   %" PRIu64 " request%s, %s\n", c->waiting, plural(c->waiting),
		       text_bytes(c->waiting_bytes));
	if (c->trouble)
		printf("  last      %s\n", c->trouble);
	if (log_verbosity)
		printf("  time      %s to encode, %s to deliver the last\n", text_ns(c->encode_ns),
		       text_ns(c->last_ns));
	return !c->waiting && !c->rejected && !dropped(c);
}

static enum cmd_result send_all(struct push *p, const struct push_args *a, char **files, int nr)
{
	const struct push_counts *c;
	int windows = 0, err = 0;
	bool all = true;

	for (int i = 0; i < nr; i++) {
		int one = push_file(p, files[i]);

		windows += !one;
		if (one && one != -ENODATA)
			err = one;
	}
	push_flush(p, now_ns() + (a->wait_ns ? a->wait_ns : DEFAULT_WAIT));
	for (size_t i = 0; (c = push_counts(p, i)); i++)
		all &= print_counts(c);
	if (err || !all)
		return CMD_FAILED;
	return windows || !nr ? CMD_OK : CMD_EMPTY;
}

static enum cmd_result run(struct push_args *a, char **files, int nr)
{
	const struct opt_number share = { "--min-weight", 0, 50, "%" };
	double pct = 0;
	struct push *p;
	enum cmd_result result;

	if (!nr && !a->opts.spool) {
		log_err(0, "push: which recordings? bpfprof push --to ENGINE=URL FILE...");
		return CMD_USAGE;
	}
	if (opt_number(&share, a->min_weight, &pct))
		return CMD_USAGE;
	log_verbosity = a->verbose;
	a->opts.to = &a->to;
	a->opts.labels = &a->labels;
	a->opts.min_weight = pct / 100;
	p = push_open(&a->opts);
	if (!p)
		return errno == EINVAL ? CMD_USAGE : CMD_FAILED;
	result = send_all(p, a, files, nr);
	push_close(p);
	return result;
}

enum cmd_result cmd_push(const struct command *self, int argc, char **argv)
{
	enum cmd_result result = CMD_USAGE;
	struct push_args a = {};
	char **words;
	int nr, err;

	err = opt_parse("push", push_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	opt_release(push_opts, &a);
	return result;
}
