/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of a recording that is about allocations: what samples stand for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/record_parts.h"
#include "profile/kind.h"

#define PARTS	  1024	     /* of an object: one of those that are large stands for 1.58 */
#define IS_IN_USE (1u << 31) /* in prof_count.wait, until it is weighed */

/* Each size by itself. */
static void weigh_alloc(void *arg, struct tally *t, const struct prof_count *n)
{
	const struct alloc_opts *o = &((struct record *)arg)->opts->alloc;
	bool failed = n->wait == PROF_WAIT_OF_EVENT(ALLOC_FAILED_EVENT);
	uint32_t event = o->live && !(n->wait & IS_IN_USE) ? ALLOC_LIVE_EVENTS : 0;
	uint64_t size = ALLOC_BYTES(n->chain);
	double bytes = n->samples * alloc_weight(size, o->every);
	struct prof_count part = *n;

	if (failed) { /* taken off */
		bytes = -bytes;
		part.samples = -n->samples;
	}
	part.chain = 0;
	part.wait = PROF_WAIT_OF_EVENT(event);
	part.weight = llround(bytes);
	tally_add(t, &part, NULL, 0);
	part.wait = PROF_WAIT_OF_EVENT(event + 1);
	part.weight = llround(PARTS * bytes / size);
	tally_add(t, &part, NULL, 0);
}

/* A fault makes a process larger by a page. */
static void weigh_growth(void *arg, struct tally *t, const struct prof_count *n)
{
	struct prof_count pages = *n;

	pages.weight *= sysconf(_SC_PAGESIZE);
	tally_add(t, &pages, NULL, 0);
}

record_weigh_fn *record_weigher(const struct record_opts *o)
{
	if (kind_of(o->command)->grows)
		return weigh_growth;
	return o->alloc.every ? weigh_alloc : NULL;
}

void record_whole(void *arg, struct sample *s)
{
	const struct record *r = arg;
	double factor = duty_factor(&r->duty);

	if ((int64_t)s->weight < 0 || (int64_t)s->count < 0) /* parts of it were rounded */
		s->weight = s->count = 0;
	if (PROF_WAIT_EVENT(s->wait) % 2)
		factor /= PARTS;
	s->weight = llround(s->weight * factor);
}

struct live {
	struct record *record;
	uint64_t until_ns;
};

/* Its memory went with it. Of who was selected, what he left at his end is of interest. */
static bool is_gone_child(struct record *r, uint32_t pid)
{
	const struct process *p = proc_find(&r->procs, pid);

	return pid != r->capture.own_child && !opt_ids_has(&r->opts->pids, pid) &&
	       (!p || p->exit_ns);
}

static void add_live(void *arg, const struct alloc_live *a)
{
	const struct live *l = arg;
	struct prof_count n = { .pid = a->pid,
				.tid = a->tid,
				.ustack = a->ustack,
				.samples = 1,
				.wait = IS_IN_USE,
				.chain = a->size };

	memcpy(n.comm, a->comm, sizeof(n.comm));
	if (a->time_ns <= l->until_ns && !is_gone_child(l->record, a->pid))
		capture_add(&l->record->capture, &n);
}

void record_add_live(struct record *r, uint64_t end_ns)
{
	uint64_t older_ns = r->opts->alloc.older_ns;
	struct live l = { r, end_ns > older_ns ? end_ns - older_ns : 0 };

	session_live(r->session, add_live, &l);
}

/* The CPU time of a process by now; of one that has ended, by the last look. */
static uint64_t *cpu_of(struct record *r, uint32_t pid)
{
	for (size_t i = 0; i < r->nr_cpu_times; i++)
		if (r->cpu_times[i].pid == pid)
			return &r->cpu_times[i].ns;
	r->cpu_times =
		xgrow(r->cpu_times, r->nr_cpu_times, &r->cap_cpu_times, sizeof(*r->cpu_times));
	r->cpu_times[r->nr_cpu_times] = (struct cpu_time){ .pid = pid };
	return &r->cpu_times[r->nr_cpu_times++].ns;
}

static uint64_t cpu_of_processes(struct record *r)
{
	const struct process *p, *next;
	uint64_t sum = 0;
	struct timespec t;
	clockid_t clock;

	HASH_ITER (hh, r->procs.processes, p, next)
		if (!p->exit_ns && !clock_getcpuclockid(p->pid, &clock) &&
		    !clock_gettime(clock, &t))
			*cpu_of(r, p->pid) = t.tv_sec * 1000000000ull + t.tv_nsec;
	for (size_t i = 0; i < r->nr_cpu_times; i++)
		sum += r->cpu_times[i].ns;
	return sum;
}

static struct duty_mark mark(struct record *r)
{
	uint64_t counters[PROF_NR_COUNTERS];

	session_counters(r->session, counters);
	return (struct duty_mark){ .time_ns = now_ns(),
				   .cpu_ns = cpu_of_processes(r),
				   .hits = counters[PROF_SEEN],
				   .samples = counters[PROF_RECORDED] };
}

static void begin_window(struct record *r)
{
	struct duty_mark now = mark(r);

	duty_on(&r->duty, &now);
	session_pause_allocs(r->session, false);
}

void record_begin_duty(struct record *r)
{
	r->duty.share = r->opts->alloc.duty;
	if (r->duty.share <= 0)
		return;
	begin_window(r);
}

/* Of a hit: what the kernel takes, which depends on the place, and what our program does there. */
static double hit_ns(const struct record *r)
{
	uint64_t c[PROF_NR_COUNTERS];
	double dear;

	session_counters(r->session, c);
	dear = c[PROF_RUNS] ? (double)c[PROF_DEAR_RUNS] / c[PROF_RUNS] : 0;
	return (1 - dear) * r->price.emulated_ns + dear * r->price.stepped_ns +
	       (c[PROF_TIMED_RUNS] ? (double)c[PROF_TIMED_NS] / c[PROF_TIMED_RUNS] : 0);
}

void record_end_duty(struct record *r)
{
	struct duty_mark now;

	if (r->duty.share <= 0)
		return;
	session_pause_allocs(r->session, true);
	now = mark(r);
	duty_end(&r->duty, &now);
	r->duty.price_ns = hit_ns(r);
}

int record_turn_duty(struct record *r)
{
	struct duty_mark now;
	int err;

	if (!duty_is_due(&r->duty, now_ns()))
		return 0;
	session_pause_allocs(r->session, true);
	if (r->duty.on) {
		now = mark(r);
		duty_off(&r->duty, &now);
		record_unprobe(r);
		return 0;
	}
	err = record_probe_again(r);
	if (!err)
		begin_window(r);
	return err;
}

#define WORTH_SAYING 0.05

/* "probed for 9.8% of the time, in 57 windows: sums are within 12% by chance, 95 of 100 times" */
static uint32_t duty_note(struct record *r)
{
	const struct duty *d = &r->duty;
	double error = duty_error(d), burden = duty_burden(d);
	char *text = NULL;
	uint32_t note;
	size_t len;
	FILE *f;

	if (d->share <= 0)
		return 0;
	f = open_memstream(&text, &len);
	fprintf(f, "probed for %.1f%% of the time, in %zu windows: ",
		100 * d->on_ns / (r->end_ns - r->begin_ns), d->nr);
	if (isfinite(error))
		fprintf(f, "sums are within %.0f%% by chance, 95 of 100 times", 100 * error);
	else
		fputs("too few to say how far off sums are", f);
	if (burden > DUTY_MOST_BURDEN)
		fputs("; there probes took nearly all its CPU time: sums are far too small", f);
	else if (duty_price_error(d) >= WORTH_SAYING)
		fprintf(f,
			"; there probes took %.0f%% of its CPU time, which is known to a third: "
			"another %.0f%%",
			100 * burden, 100 * duty_price_error(d));
	fclose(f);
	note = profile_string(r->profile, text);
	free(text);
	return note;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Names that allocators have for what is inside of them: linked into a program, too. */
static bool is_inside(const char *linkage)
{
	static const char *const begins[] = {
		"je_", "_rjem_", "mi_", "_mi_", "tc_", "_ZN8tcmalloc"
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(linkage, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Two names of a library that is nothing but an allocator: links leave parts of its version out. */
static bool is_allocator_library(const char *a, const char *b)
{
	const char *end = strstr(a, ".so");
	size_t len = end ? end - a + strlen(".so") : 0;

	return len && strstr(a, "alloc") && !strncmp(a, b, len);
}

/*
 * Is a frame of a function that was probed, or of a library that is nothing but an allocator? Files
 * by their last name: a process may see them under another root.
 */
static bool is_of_event(const struct profile *p, uint32_t frame, const struct call_event *e)
{
	const char *module =
		base_name(profile_str(p, p->modules[profile_frame_module(p, frame)].path));
	const char *file = base_name(e->where);

	return is_allocator_library(file, module) ||
	       (!strcmp(module, file) && !strcmp(profile_frame_linkage(p, frame), e->name));
}

/* Frames of allocators. To be freed. */
static bool *find_allocators(const struct record *r)
{
	const struct calls_opts *o = &r->opts->calls;
	const struct profile *p = r->profile;
	bool *is = xcalloc(p->nr_frames, sizeof(*is));

	for (size_t i = 1; i < p->nr_frames; i++) {
		is[i] = is_inside(profile_frame_linkage(p, i));
		for (size_t k = 0; k < o->nr_events && !is[i]; k++)
			is[i] = is_of_event(p, i, &o->events[k]);
	}
	return is;
}

/* Called by another one, where it counts; or an allocator maps memory for what it gives out. */
static bool is_nested(const struct profile *p, const struct sample *s, const bool *is_allocator)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(p, s->ustack, &nr);

	for (uint32_t i = 1; i < nr; i++)
		if (is_allocator[frames[i]])
			return true;
	return false;
}

static void leave_out_nested(struct record *r)
{
	uint32_t event = r->opts->alloc.live ? ALLOC_LIVE_EVENTS : 0;
	bool *is_allocator = find_allocators(r);
	struct profile *p = r->profile;
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		if (!s->weight && !s->count)
			continue; /* all of them failed */
		if (!is_nested(p, s, is_allocator)) {
			p->samples[nr++] = *s;
		} else if (PROF_WAIT_EVENT(s->wait) == event) {
			p->counters[PROF_FILTER_NESTED] += s->count;
			p->counters[PROF_RECORDED] -= s->count;
		}
	}
	p->nr_samples = nr;
	free(is_allocator);
}

void record_describe_allocs(struct record *r)
{
	static const char *const names[] = { "live-bytes", "live-objects", "bytes", "objects" };
	const struct alloc_opts *o = &r->opts->alloc;
	struct profile *p = r->profile;
	uint32_t note = duty_note(r);

	for (size_t i = o->live ? 0 : ALLOC_LIVE_EVENTS; i < 4; i++)
		profile_add_event(p, &(struct sampled_event){
					     .name = profile_string(p, names[i]),
					     .period = i % 2 ? 0 : o->every,
					     .note = p->nr_events ? 0 : note,
				     });
	p->meta.event = p->events[0].name;
	p->meta.by_weight = true;
	leave_out_nested(r);
}
