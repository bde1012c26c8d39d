/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Taking over what the kernel wrote, in the order of time: who lives and maps what, then stacks. */
#include "base/clock.h"
#include "collect/record_parts.h"
#include "profile/kind.h"

#define RECHECK_SHARE 10 /* a host that outruns us is looked at a tenth of the time */
#define HASTE_MS      5	 /* between turns: what is deferred has to be fetched soon, */
#define CALM_MS	      20 /* and this where few slots for it are taken, */
#define LIVE_MS	      50 /* and this in a live view; */
#define CALM_SLOTS    64 /* few: so many at most, or one in so many */
#define CALM_PART     8

static void on_mmap(void *arg, const struct sideband_mmap *m, uint64_t time_ns)
{
	struct proc_mmap pm = { .pid = m->pid,
				.start = m->start,
				.len = m->len,
				.file_offset = m->file_offset,
				.key = { m->ino, m->dev_major, m->dev_minor },
				.path = m->path };

	proc_on_mmap(&((struct record *)arg)->procs, &pm, time_ns);
}

static void on_comm(void *arg, uint32_t pid, uint32_t tid, const char *name, int exec,
		    uint64_t time_ns)
{
	struct record *r = arg;

	proc_on_comm(&r->procs, pid, tid, name, exec, time_ns);
	if (exec && pid == r->capture.own_child && !r->has_begun) {
		r->has_begun = true;
		lifetimes_begin_anew(r->lifetimes, pid, tid, time_ns);
	}
}

/* One that is born when threads are merged has no count of its own. */
static bool is_merged(const struct record *r, uint64_t born_ns)
{
	uint64_t since_ns = *(volatile const uint64_t *)session_maps(r->session)->merging_ns;

	return since_ns && born_ns >= since_ns;
}

static void on_fork(void *arg, uint32_t parent, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct record *r = arg;

	proc_on_fork(&r->procs, parent, pid, tid, time_ns);
	if (!is_merged(r, time_ns))
		lifetimes_begin(r->lifetimes, pid, tid, time_ns);
}

static void on_exit_record(void *arg, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct record *r = arg;

	proc_on_exit(&r->procs, pid, tid, time_ns);
	lifetimes_end(r->lifetimes, pid, tid, time_ns);
}

static const struct sideband_ops sideband_ops = { on_mmap, on_comm, on_fork, on_exit_record };

void record_look_again(struct record *r, uint64_t since_ns)
{
	uint64_t now = now_ns();

	proc_recheck(&r->procs, since_ns, now);
	r->recheck_ns = now + RECHECK_SHARE * (now_ns() - now);
}

/* When records were lost, /proc says what became of it all. */
static void fill_gap(struct record *r, bool last)
{
	uint64_t since = sideband_take_gap(r->sideband);

	if (!r->gap_ns)
		r->gap_ns = since;
	if (!r->gap_ns || (!last && now_ns() < r->recheck_ns))
		return;
	record_look_again(r, r->gap_ns);
	r->gap_ns = 0;
}

/* A stack's addresses are resolved once, so what is missing is looked up before. */
uint64_t record_fetch(struct record *r, bool last, bool *done)
{
	uint64_t horizon = sideband_drain(r->sideband, &sideband_ops, r, last);

	fill_gap(r, last);
	if (kind_of(r->opts->command)->timeline)
		timeline_mark(&r->marks, &r->opts->timeline, session_maps(r->session));
	*done = capture_drain(&r->capture, last ? UINT64_MAX : horizon);
	return horizon;
}

/*
 * What is always on, or a live view, samples seldom, and where processes come and go some stacks
 * are always deferred: turns would cost more than all else. What is always on has to get all.
 */
int record_haste_ms(const struct record *r)
{
	const struct defer *d = &r->capture.defer;
	size_t nr = defer_nr_taken(d);
	bool is_few = nr <= CALM_SLOTS || nr <= d->nr_slots / CALM_PART;

	if (r->opts->always_on)
		return is_few ? CALM_MS : HASTE_MS;
	if (r->opts->live.turn)
		return is_few ? LIVE_MS : CALM_MS;
	return HASTE_MS;
}
