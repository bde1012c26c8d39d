/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading perf's side-band rings. */
#include "event/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/radix.h"
#include "event/perf.h"

#define RING_BYTES (128u << 10)
#define MANY_CPUS  32		/* from where on rings are half as large, */
#define MOST_CPUS  128		/* and from where on a quarter */
#define LATE_NS	   5000000ull	/* a record has its time before it is in the ring */
#define KEPT_BYTES (256u << 10) /* of the buffer, from turn to turn */
#define RECORD_MAX 4352u	/* bytes: a mapping with a path of PATH_MAX, and one of losses */

struct ring {
	uint32_t cpu;
	int fd;
	uint64_t enabled_ns;
	uint64_t read_ns; /* when it was last emptied */
	struct perf_event_mmap_page *page;
};

/* A record taken out of a ring, waiting for its turn; those of one time in order of arrival. */
struct pending {
	uint64_t time_ns; /* first: they are sorted by it */
	uint64_t offset;  /* into bytes */
};
_Static_assert(sizeof(struct pending) == sizeof(struct radix_row), "they are sorted as such rows");

/* An event that is throttled now. */
struct throttled {
	uint64_t id, since_ns;
};

struct sideband {
	struct ring *rings;
	size_t nr_rings, cap_rings;
	size_t ring_bytes;
	int epoll;
	uint64_t lost;
	uint64_t gap_ns; /* 0 = none */
	struct pending *pending;
	size_t nr_pending, cap_pending;
	char *bytes;
	size_t len, cap;
	struct throttled *throttled; /* few: events that the rings' CPUs have */
	size_t nr_throttled, cap_throttled;
	struct sideband_throttled sum; /* of those that are no longer */
};

struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};
struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};
struct record_task { /* fork and exit */
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};
struct record_throttle { /* and unthrottle: the kernel writes both without a sample id */
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};
struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

static int ring_open(struct sideband *s, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = s->ring_bytes / 2,
	};
	struct epoll_event ev = { .events = EPOLLIN };
	struct ring r = { .cpu = cpu, .read_ns = now_ns() };
	int err;

	r.fd = perf_open(&attr, -1, cpu, -1);
	if (r.fd < 0)
		return r.fd;
	r.page = mmap(NULL, s->ring_bytes + sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		      MAP_SHARED, r.fd, 0);
	if (r.page == MAP_FAILED || epoll_ctl(s->epoll, EPOLL_CTL_ADD, r.fd, &ev)) {
		err = -errno;
		if (r.page != MAP_FAILED)
			munmap(r.page, s->ring_bytes + sysconf(_SC_PAGESIZE));
		close(r.fd);
		return err;
	}
	s->rings = xgrow(s->rings, s->nr_rings, &s->cap_rings, sizeof(r));
	s->rings[s->nr_rings++] = r;
	return 0;
}

static bool ring_exists(const struct sideband *s, uint32_t cpu)
{
	for (size_t i = 0; i < s->nr_rings; i++)
		if (s->rings[i].cpu == cpu)
			return true;
	return false;
}

static int open_missing(struct sideband *s)
{
	struct cpus online = {};
	int err = cpus_online(&online);

	for (size_t i = 0; i < online.nr && !err; i++) {
		if (!ring_exists(s, online.v[i]))
			err = ring_open(s, online.v[i]);
		if (err == -ENODEV)
			err = 0;
	}
	cpus_release(&online);
	return err;
}

static size_t ring_bytes(uint32_t nr_cpus)
{
	size_t page = sysconf(_SC_PAGESIZE), bytes = RING_BYTES;

	if (nr_cpus > MANY_CPUS)
		bytes /= nr_cpus > MOST_CPUS ? 4 : 2;
	return bytes < page ? page : bytes;
}

uint64_t sideband_plan_bytes(uint32_t nr_cpus)
{
	return nr_cpus * (uint64_t)(ring_bytes(nr_cpus) + sysconf(_SC_PAGESIZE));
}

struct sideband *sideband_open(void)
{
	struct sideband *s = xcalloc(1, sizeof(*s));
	int err;

	s->ring_bytes = ring_bytes(cpus_possible());
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = open_missing(s);
	if (!err)
		return s;
	perf_refused(err, "open the event that reports processes and mappings");
	sideband_close(s);
	errno = -err;
	return NULL;
}

static void ring_read(struct sideband *s, struct ring *r);

/* A ring of a CPU that left keeps its descriptor dead; it is replaced when the CPU is back. */
bool sideband_refresh(struct sideband *s)
{
	struct cpus online = {};
	size_t nr;

	if (!cpus_online(&online))
		for (size_t i = 0; i < s->nr_rings; i++) {
			if (cpus_has(&online, s->rings[i].cpu) &&
			    !perf_is_dead(s->rings[i].fd, &s->rings[i].enabled_ns))
				continue;
			ring_read(s, &s->rings[i]);
			munmap(s->rings[i].page, s->ring_bytes + sysconf(_SC_PAGESIZE));
			close(s->rings[i].fd);
			s->rings[i--] = s->rings[--s->nr_rings];
		}
	cpus_release(&online);
	nr = s->nr_rings;
	open_missing(s);
	return s->nr_rings > nr;
}

int sideband_fd(const struct sideband *s)
{
	return s->epoll;
}

static void *reserve(struct sideband *s, size_t len)
{
	while (s->len + len > s->cap) {
		s->cap = s->cap < 32768 ? 65536 : s->cap * 2;
		s->bytes = xreallocarray(s->bytes, s->cap, 1);
	}
	return s->bytes + s->len;
}

static void copy_out(const struct sideband *s, const struct ring *r, uint64_t at, void *to,
		     size_t len)
{
	const char *data = (const char *)r->page + r->page->data_offset;
	size_t from = at & (s->ring_bytes - 1), first = s->ring_bytes - from;

	if (first > len)
		first = len;
	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, len - first);
}

/*
 * One that is throttled twice was freed in between, in a record that was lost: it is not known
 * when.
 */
static void note_throttled(struct sideband *s, const struct record_throttle *t)
{
	size_t i = 0;

	while (i < s->nr_throttled && s->throttled[i].id != t->id)
		i++;
	if (t->header.type == PERF_RECORD_THROTTLE) {
		s->sum.times++;
		if (i == s->nr_throttled) {
			s->throttled = xgrow(s->throttled, s->nr_throttled, &s->cap_throttled,
					     sizeof(*s->throttled));
			s->throttled[s->nr_throttled++].id = t->id;
		}
		s->throttled[i].since_ns = t->time;
	} else if (i < s->nr_throttled) {
		s->sum.ns += t->time - s->throttled[i].since_ns;
		s->throttled[i] = s->throttled[--s->nr_throttled];
	}
}

/*
 * The sample id at the end of each record is the time alone. Lost records are counted, others
 * queued.
 */
static void take(struct sideband *s, const struct perf_event_header *h)
{
	struct pending p = { .offset = s->len };

	if (h->type == PERF_RECORD_LOST) {
		s->lost += ((const struct record_lost *)h)->lost;
		return;
	}
	if (h->type == PERF_RECORD_THROTTLE || h->type == PERF_RECORD_UNTHROTTLE) {
		note_throttled(s, (const void *)h);
		return;
	}
	memcpy(&p.time_ns, (const char *)h + h->size - sizeof(p.time_ns), sizeof(p.time_ns));
	s->pending = xgrow(s->pending, s->nr_pending, &s->cap_pending, sizeof(p));
	s->pending[s->nr_pending++] = p;
	s->len += (h->size + 7) & ~7u;
}

static void note_gap(struct sideband *s, const struct ring *r)
{
	if (!s->gap_ns || r->read_ns < s->gap_ns)
		s->gap_ns = r->read_ns;
}

/*
 * The kernel says that records were lost when it writes the next one, which may be much later. But
 * a ring that has room for one more has lost none.
 */
static void ring_read(struct sideband *s, struct ring *r)
{
	uint64_t now = now_ns(), head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE),
		 tail = r->page->data_tail, lost = s->lost;
	bool full = head - tail + RECORD_MAX > s->ring_bytes;
	struct perf_event_header h;
	void *to;

	while (tail < head) {
		copy_out(s, r, tail, &h, sizeof(h));
		if (h.size < sizeof(h) + sizeof(uint64_t))
			break;
		to = reserve(s, h.size + 8);
		copy_out(s, r, tail, to, h.size);
		take(s, to);
		tail += h.size;
	}
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	if (full || s->lost > lost)
		note_gap(s, r);
	r->read_ns = now;
}

static void deliver(const struct perf_event_header *h, uint64_t time_ns,
		    const struct sideband_ops *ops, void *arg)
{
	const struct record_mmap2 *m = (const void *)h;
	const struct record_comm *c = (const void *)h;
	const struct record_task *t = (const void *)h;

	switch (h->type) {
	case PERF_RECORD_MMAP2:
		ops->mmap(arg,
			  &(struct sideband_mmap){ .pid = m->pid,
						   .start = m->addr,
						   .len = m->len,
						   .file_offset = m->pgoff,
						   .ino = m->ino,
						   .dev_major = m->maj,
						   .dev_minor = m->min,
						   .path = m->filename },
			  time_ns);
		break;
	case PERF_RECORD_COMM:
		ops->comm(arg, c->pid, c->tid, c->comm, h->misc & PERF_RECORD_MISC_COMM_EXEC,
			  time_ns);
		break;
	case PERF_RECORD_FORK:
		ops->fork(arg, t->ppid, t->pid, t->tid, time_ns);
		break;
	case PERF_RECORD_EXIT:
		ops->exit(arg, t->pid, t->tid, time_ns);
		break;
	}
}

static size_t record_size(const struct sideband *s, const struct pending *p)
{
	const struct perf_event_header *h = (const void *)(s->bytes + p->offset);

	return (h->size + 7) & ~7u;
}

/*
 * Drops what was delivered; the few records that must wait move to the front. Their order in the
 * buffer is not that of time, so they go by way of a copy. The buffer stays, unless it is large.
 */
static void keep_from(struct sideband *s, size_t first)
{
	size_t nr = s->nr_pending - first, len = 0;
	char *bytes;

	for (size_t i = 0; i < nr; i++)
		len += record_size(s, &s->pending[first + i]);
	bytes = xmalloc(len);
	len = 0;
	for (size_t i = 0; i < nr; i++) {
		struct pending *p = &s->pending[first + i];
		size_t sz = record_size(s, p);

		memcpy(bytes + len, s->bytes + p->offset, sz);
		s->pending[i] = (struct pending){ p->time_ns, len };
		len += sz;
	}
	if (s->cap > KEPT_BYTES) {
		free(s->bytes);
		s->bytes = bytes;
		s->cap = len;
	} else {
		if (len) /* there may be no memory yet */
			memcpy(s->bytes, bytes, len);
		free(bytes);
	}
	s->len = len;
	s->nr_pending = nr;
}

uint64_t sideband_drain(struct sideband *s, const struct sideband_ops *ops, void *arg, bool last)
{
	uint64_t horizon = now_ns() - (last ? 0 : LATE_NS);
	size_t done = 0;

	for (size_t i = 0; i < s->nr_rings; i++)
		ring_read(s, &s->rings[i]);
	radix_sort((struct radix_row *)s->pending, s->nr_pending, 0);
	for (; done < s->nr_pending && s->pending[done].time_ns <= horizon; done++)
		deliver((void *)(s->bytes + s->pending[done].offset), s->pending[done].time_ns, ops,
			arg);
	keep_from(s, done);
	return horizon;
}

int sideband_ring(const struct sideband *s, uint32_t cpu)
{
	for (size_t i = 0; i < s->nr_rings; i++)
		if (s->rings[i].cpu == cpu)
			return s->rings[i].fd;
	return -1;
}

struct sideband_throttled sideband_throttled(const struct sideband *s, uint64_t now_ns)
{
	struct sideband_throttled sum = s->sum;

	for (size_t i = 0; i < s->nr_throttled; i++)
		if (now_ns > s->throttled[i].since_ns)
			sum.ns += now_ns - s->throttled[i].since_ns;
	return sum;
}

uint64_t sideband_lost(const struct sideband *s)
{
	return s->lost;
}

uint64_t sideband_take_gap(struct sideband *s)
{
	uint64_t since = s->gap_ns;

	s->gap_ns = 0;
	return since;
}

void sideband_close(struct sideband *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_rings; i++) {
		munmap(s->rings[i].page, s->ring_bytes + sysconf(_SC_PAGESIZE));
		close(s->rings[i].fd);
	}
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->rings);
	free(s->pending);
	free(s->throttled);
	free(s->bytes);
	free(s);
}
