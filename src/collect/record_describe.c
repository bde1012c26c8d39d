/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording says of itself. */
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "collect/command_lines.h"
#include "collect/memory_fit.h"
#include "collect/record_parts.h"
#include "collect/suspend.h"
#include "profile/audit.h"
#include "profile/bpf_cost.h"
#include "profile/kind.h"
#include "reader/jail.h"

#define LONG_NS	   1000000000ull /* to wait without a word */
#define FREED_US   20000
#define INSTANT_NS 600000000ull /* for names, when Ctrl-C shall give a result within a second */

static int ask_kernel(void *session, struct prof_ksym *questions, size_t nr)
{
	return session_ask_kernel(session, questions, nr);
}

void record_name_by(struct record *r, const struct symbol_options *o)
{
	struct symbol_kernel kernel = { ask_kernel, r->session };
	struct memory_given given = { .max_bytes = r->opts->max_bytes };

	if (given.max_bytes && !r->map_bytes)
		given.map_bytes = session_map_bytes(r->session);
	jail_allow_bytes(memory_for_reader(&given));
	symbolizer_run(r->profile, r->capture.sources, &kernel, o);
	audit_settle(r->profile);
}

/*
 * The next Ctrl-C leaves out of the names what takes long; from then on one ends bpfprof the usual
 * way.
 */
static bool hurries(void *record)
{
	struct record *r = record;
	struct signalfd_siginfo info;

	if (read(r->signals, &info, sizeof(info)) != sizeof(info)) {
		if (now_ns() > r->end_ns + LONG_NS)
			log_progress("names are looked up%s: Ctrl-C leaves out source lines",
				     r->opts->symbols.debuginfod ? ", debuginfod is asked" : "");
		return false;
	}
	log_progress(NULL);
	log_warn("names are those of functions only: source lines and inlined calls are left out");
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	return true;
}

/* What is given back is free after a grace period, when a thread of the kernel has come to it. */
static void await_kernel(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	usleep(FREED_US);
}

/* All is read: in a cgroup with little memory, names need what the kernel's tables had. */
static void give_back(struct record *r)
{
	r->map_bytes = session_map_bytes(r->session);
	r->had_store = r->store != NULL;
	if (r->store)
		r->store_stats = store_stats(r->store);
	store_free(r->store);
	r->store = NULL;
	session_reduce(r->session);
	if (r->is_tight || r->opts->max_bytes)
		await_kernel();
}

void record_name(struct record *r)
{
	struct symbol_options o = r->opts->symbols;
	struct signalfd_siginfo info;

	give_back(r);
	o.late = r->is_tight || r->opts->max_bytes ? NULL : &r->late;
	o.hurry = hurries;
	o.arg = r;
	if (r->interrupted && !o.time_given && !o.debuginfod)
		o.until_ns = r->end_ns + INSTANT_NS;
	record_name_by(r, &o);
	log_progress(NULL);
	/* One that came too late for that shall not cost the result. */
	while (read(r->signals, &info, sizeof(info)) == sizeof(info))
		;
}

bool record_has_target(const struct record_opts *o)
{
	return o->pids.nr || o->tids.nr || o->comm || o->cgroup || (o->program && !o->all);
}

enum profile_end record_ended_by(const struct record *r)
{
	return r->ended_by;
}

char *record_target(struct record *r)
{
	const struct record_opts *o = r->opts;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (char **a = o->program; a && *a && !o->all; a++)
		fprintf(f, "%s%s", a == o->program ? "" : " ", *a);
	if (!record_has_target(o))
		fputs("the whole machine", f);
	for (size_t i = 0; i < o->pids.nr && i < 8; i++) {
		const char *name = proc_name(&r->procs, o->pids.v[i]);

		fprintf(f, "%s%u%s%s%s", i ? ", " : "process ", o->pids.v[i], name ? " (" : "",
			name ? name : "", name ? ")" : "");
	}
	if (o->pids.nr > 8)
		fprintf(f, " and %zu more", o->pids.nr - 8);
	for (size_t i = 0; i < o->tids.nr && i < 8; i++)
		fprintf(f, "%s%u", i ? ", " : "thread ", o->tids.v[i]);
	if (o->comm)
		fprintf(f, "%snamed %s", ftell(f) ? ", " : "threads ", o->comm);
	if (o->cgroup)
		fprintf(f, "%scgroup %s", ftell(f) ? ", " : "", o->cgroup);
	fclose(f);
	return text;
}

static uint32_t describe_target(struct record *r)
{
	char *text = record_target(r);
	uint32_t id = profile_string(r->profile, text);

	free(text);
	return id;
}

static void describe_host(struct profile *p)
{
	struct utsname u;

	if (uname(&u))
		return;
	p->meta.host = profile_string(p, u.nodename);
	p->meta.kernel = profile_string(p, u.release);
	p->meta.arch = profile_string(p, u.machine);
}

static uint64_t since_start(const struct record *r, uint64_t time_ns)
{
	return time_ns > r->opts->start_ns ? time_ns - r->opts->start_ns : 0;
}

/* Our own, and that of those who read for us: names are read one file after the other. */
static void describe_cost(struct record *r)
{
	struct profile_meta *m = &r->profile->meta;
	struct reader_cost readers = { m->readers_ns, m->readers_bytes }, tables;
	struct rusage usage;

	command_lines_read(r->profile, r->reading->reader);
	tables = reader_end(r->reading->reader);
	reader_cost_add(&readers, &tables);
	getrusage(RUSAGE_SELF, &usage);
	m->readers_ns = readers.cpu_ns;
	m->readers_bytes = readers.bytes;
	m->cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
		    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull + m->readers_ns;
	m->rss_bytes = usage.ru_maxrss * 1024ull + m->readers_bytes;
}

static const char *const call_graphs[] = { "auto", "fp", "dwarf" }; /* enum prof_call_graph */

void record_describe_what(struct record *r, uint64_t begin_ns, uint64_t end_ns,
			  uint64_t end_real_ns)
{
	struct profile *p = r->profile;
	struct profile_meta *m = &p->meta;
	struct sideband_throttled throttled;

	describe_host(p);
	record_describe_overhead(r, end_ns);
	record_describe_expected(r);
	m->map_bytes = r->map_bytes ? r->map_bytes : session_map_bytes(r->session);
	m->command = profile_string(p, r->opts->command);
	if (!m->event)
		m->event = m->command;
	m->by_weight |= r->opts->sampling.nr_events != 0;
	sampling_describe(&r->sampling, p);
	m->target = describe_target(r);
	m->version = profile_string(p, BPFPROF_VERSION);
	m->call_graph = profile_string(p, call_graphs[record_config(r->opts).call_graph]);
	m->max_depth = r->opts->max_depth;
	m->is_time = kind_of(r->opts->command)->is_time;
	m->duration_ns = end_ns - begin_ns;
	m->ended_by = r->ended_by;
	m->start_ns = end_real_ns - m->duration_ns;
	m->nr_cpus = r->nr_cpus;
	m->suspended_ns = suspend_between_ns(r->asleep_ns, suspend_read_ns());
	m->missed = session_missed(r->session);
	m->sideband_lost = sideband_lost(r->sideband);
	throttled = sideband_throttled(r->sideband, end_ns);
	m->throttles = throttled.times;
	m->throttled_ns = throttled.ns;
	m->first_sample_ns = since_start(r, r->capture.first_ns);
	m->first_root_ns = since_start(r, r->capture.first_root_ns);
	m->bpf_ns = counters_bpf_ns(p->counters);
}

void record_describe(struct record *r, uint64_t end_ns, uint64_t end_real_ns)
{
	describe_cost(r);
	record_describe_what(r, r->begin_ns, end_ns, end_real_ns);
}

static void tell_tables(const struct record *r)
{
	struct store_stats s = r->store_stats;

	if (!r->had_store)
		return;
	log_info("unwind tables: %zu of %s in %s, built in %s, %zu evicted, "
		 "%zu without room, %zu not to be had; "
		 "%zu processes; %s stacks deferred, %s found no room, %zu slots not given back",
		 s.nr_tables, text_count(s.nr_rows), text_bytes(s.segment_bytes),
		 text_ns(s.build_ns), s.nr_evicted, s.nr_no_room, s.nr_failed, s.nr_processes,
		 text_count(r->profile->counters[PROF_DEFERRED]),
		 text_count(r->profile->counters[PROF_DEFER_FULL]),
		 defer_nr_taken(&r->capture.defer));
}

static void tell_python(const struct capture_python *p)
{
	if (p->nr_stacks)
		log_info("Python: %s stacks, of which %s could not be followed to the oldest frame",
			 text_count(p->nr_stacks), text_count(p->nr_cut));
}

static void tell_waits(const struct record *r)
{
	const uint64_t *c = r->profile->counters;
	const struct capture *k = &r->capture;

	if (k->sleepers_ns)
		log_info("%zu threads were asleep at the start: their stacks were read within %s",
			 k->defer.nr_sleepers, text_ns(k->sleepers_ns - r->begin_ns));

	if (r->profile->meta.is_time)
		log_info("waits: %s switches; %s stacks verified, %s but for the kernel's half, "
			 "%s walked, %s not sampled, %s wrong by the audit; %s counts merged",
			 text_count(c[PROF_SWITCHES]), text_count(c[PROF_VERIFIED]),
			 text_count(c[PROF_HALF_WALKED]), text_count(c[PROF_WALKED]),
			 text_count(c[PROF_NOT_SAMPLED]), text_count(c[PROF_AUDIT_WRONG]),
			 text_count(c[PROF_MERGED]));
	else if (r->opts->audit)
		log_info("kernel stacks: %s walked by its tables, %s by the kernel, %s wrong",
			 text_count(c[PROF_VERIFIED]), text_count(c[PROF_WALKED]),
			 text_count(c[PROF_AUDIT_WRONG]));
}

static void tell_generations(const struct record *r)
{
	if (r->capture.generations.nr_turns)
		log_info("stack tables emptied while recording: %s times",
			 text_count(r->capture.generations.nr_turns));
}

static void tell_forgotten(const struct record *r)
{
	if (r->procs.nr_cut)
		log_info("%s mappings that were over were forgotten for want of room",
			 text_count(r->procs.nr_cut));
}

void record_tell(const struct record *r)
{
	tell_forgotten(r);
	tell_tables(r);
	tell_python(&r->capture.python);
	tell_generations(r);
	tell_waits(r);
}
