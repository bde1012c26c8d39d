/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open waits for locks: their words, their owners, and the rings that these make. */
#include "collect/lock_holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "reader/peek.h"

#define CONFIRM_NS 20000000

/* A wait that has not ended. */
struct open_wait {
	uint32_t sample, owner; /* owner: a thread, 0 = not known */
	struct open_wait *held; /* by what its owner waits for itself, NULL = it does not wait */
	bool ring, lasts;
};

struct open_waits {
	struct profile *p;
	struct reader *reader;
	struct open_wait *v;
	size_t nr, cap;
};

/* What fn makes of the lines of a thread's status, in all; 0 = it is gone. */
static uint64_t sum_of_status(uint32_t pid, uint32_t tid, uint64_t (*fn)(const char *line))
{
	char path[64], line[256];
	uint64_t sum = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/status", pid, tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sum += fn(line);
	if (f)
		fclose(f);
	return sum;
}

static uint64_t innermost_number(const char *line)
{
	const char *last = strrchr(line, '\t');

	return !strncmp(line, "NSpid:", 6) && last ? strtoul(last + 1, NULL, 10) : 0;
}

static uint64_t switches(const char *line)
{
	const char *colon = strstr(line, "_ctxt_switches:");

	return colon ? strtoull(colon + strlen("_ctxt_switches:"), NULL, 10) : 0;
}

static uint64_t group(const char *line)
{
	return !strncmp(line, "Tgid:", 5) ? strtoul(line + 5, NULL, 10) : 0;
}

/* The process of any thread, 0 = it is gone. */
static uint32_t process_of(uint32_t tid)
{
	return sum_of_status(tid, tid, group);
}

/* The innermost number of a thread's PID namespaces; 0 = it is gone. */
static uint32_t number_inside(uint32_t pid, uint32_t tid)
{
	return sum_of_status(pid, tid, innermost_number);
}

/* How often a thread has left its CPU; 0 = it is gone. */
static uint64_t switches_of(uint32_t pid, uint32_t tid)
{
	return sum_of_status(pid, tid, switches);
}

/* The thread of a process that its namespace gives that number; 0 = there is none. */
static uint32_t thread_numbered(uint32_t pid, uint32_t number)
{
	char path[64];
	struct dirent *entry;
	uint32_t found = 0;
	DIR *dir;

	if (number_inside(pid, number) == number)
		return number;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		uint32_t tid = strtoul(entry->d_name, NULL, 10);

		if (tid && number_inside(pid, tid) == number)
			found = tid;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* The same of a lock that processes share, which name threads as we do. */
static uint32_t thread_anywhere(uint32_t pid, uint32_t number)
{
	bool alike = number_inside(pid, pid) == pid && number_inside(number, number) == number;

	return alike ? number : 0;
}

static const struct sample *sample_of(const struct open_waits *w, const struct open_wait *o)
{
	return &w->p->samples[o->sample];
}

static void take_word(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	uint32_t(*words)[LOCK_WORDS] = arg;

	/* At the end of a mapping there may be no more than the first word. */
	if (sz >= (ssize_t)sizeof(uint32_t) && sz <= (ssize_t)sizeof(words[i]))
		memcpy(words[i], bytes, sz);
}

/* Who owns what they wait for now: all are asked at once. */
static uint32_t *read_owners(const struct open_waits *w)
{
	uint32_t(*words)[LOCK_WORDS] = xcalloc(w->nr + 1, sizeof(*words));
	uint32_t *owners = xcalloc(w->nr + 1, sizeof(*owners));
	struct peek *rows = xcalloc(w->nr + 1, sizeof(*rows));

	for (size_t i = 0; i < w->nr; i++) {
		const struct sample *s = sample_of(w, &w->v[i]);

		rows[i] = (struct peek){ s->pid, sizeof(*words), w->p->locks[s->waker].word };
	}
	reader_ask_each(w->reader, READER_MEMORY, rows, w->nr, take_word, words);
	for (size_t i = 0; i < w->nr; i++) {
		const struct sample *s = sample_of(w, &w->v[i]);
		const struct lock *l = &w->p->locks[s->waker];
		uint32_t owner = lock_owner(l->kind, words[i]);

		owners[i] = owner ? thread_numbered(s->pid, owner) : 0;
		if (owner && !owners[i] && lock_may_be_shared(l->op, l->kind))
			owners[i] = thread_anywhere(s->pid, owner);
	}
	free(rows);
	free(words);
	return owners;
}

static void collect(struct open_waits *w)
{
	const struct profile *p = w->p;
	uint32_t *owners;

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		if (!(s->wait & PROF_WAIT_OPEN) || !s->waker || !s->tid || !p->nr_locks)
			continue;
		w->v = xgrow(w->v, w->nr, &w->cap, sizeof(*w->v));
		w->v[w->nr++] = (struct open_wait){ .sample = i };
	}
	owners = read_owners(w);
	for (size_t i = 0; i < w->nr; i++)
		w->v[i].owner = owners[i];
	free(owners);
}

/* Threads wait for one thing at a time. O(n * n): of waits for locks that never ended. */
static void link_owners(struct open_waits *w)
{
	for (size_t i = 0; i < w->nr; i++)
		for (size_t k = 0; k < w->nr && w->v[i].owner; k++)
			if (sample_of(w, &w->v[k])->tid == w->v[i].owner)
				w->v[i].held = &w->v[k];
}

static void find_rings(struct open_waits *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		const struct open_wait *at = w->v[i].held;

		for (size_t steps = 0; at && at != &w->v[i] && steps < w->nr; steps++)
			at = at->held;
		w->v[i].ring = at == &w->v[i];
	}
}

/*
 * The owners were read one after the other, long after the waits were noted. What is a ring for
 * ever has none of its threads run while nobody looks, and the same owners afterwards.
 */
static void confirm_rings(struct open_waits *w)
{
	uint64_t *before = xcalloc(w->nr + 1, sizeof(*before));
	uint32_t *owners = NULL;
	bool any = false;

	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].ring) {
			const struct sample *s = sample_of(w, &w->v[i]);

			before[i] = switches_of(s->pid, s->tid);
			any = true;
		}
	if (any) {
		nanosleep(&(struct timespec){ .tv_nsec = CONFIRM_NS }, NULL);
		owners = read_owners(w);
	}
	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].ring) {
			const struct sample *s = sample_of(w, &w->v[i]);

			w->v[i].lasts = before[i] && switches_of(s->pid, s->tid) == before[i] &&
					owners[i] == w->v[i].owner;
		}
	free(owners);
	free(before);
}

/* All of whom it goes by have to last. */
static void drop_rings(struct open_waits *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		const struct open_wait *at = &w->v[i];
		bool lasts = at->lasts;

		for (size_t steps = 0; w->v[i].ring && lasts && steps < w->nr; steps++) {
			at = at->held;
			lasts = at->lasts;
		}
		w->v[i].ring &= lasts;
	}
}

static uint32_t thread_name(struct profile *p, uint32_t pid, uint32_t tid)
{
	char path[64], name[PROF_COMM_LEN + 1] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/comm", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, name, PROF_COMM_LEN) < 0)
			name[0] = '\0';
		close(fd);
	}
	return profile_string_n(p, name, strcspn(name, "\n"));
}

/* Who holds what o waits for; next: who holds what that one waits for. */
static uint32_t add_holder(const struct open_waits *w, const struct open_wait *o, uint32_t next)
{
	const struct sample s = *sample_of(w, o);
	struct waker was = w->p->wakers[s.waker];
	struct lock l = w->p->locks[s.waker];
	struct waker holder = { .pid = s.pid, .tid = o->owner, .process = s.process, .next = next };
	uint32_t pid = process_of(o->owner);

	if (pid && pid != s.pid) {
		holder.pid = pid;
		holder.process = thread_name(w->p, pid, pid);
	}
	l.flags |= o->ring ? LOCK_DEADLOCK : 0;
	if (o->held) {
		const struct sample *h = sample_of(w, o->held);

		holder.ustack = h->ustack;
		holder.kstack = h->kstack;
		holder.thread = h->thread;
		l.role = LOCK_HOLDS;
		l.wait = h->wait;
	} else if (was.tid == o->owner) {
		holder = was;
	} else {
		holder.thread = thread_name(w->p, holder.pid, o->owner);
		l.role = LOCK_RUNS;
		l.wait = PROF_WAIT(PROF_RUNNING, 0, -1);
	}
	return profile_add_holder(w->p, &holder, &l);
}

/* From the far end: who is waited for has the smaller id. */
static uint32_t add_chain(const struct open_waits *w, const struct open_wait *first)
{
	const struct open_wait *chain[LOCK_HOLDERS_SHOWN], *at = first;
	uint32_t nr = 0, next = 0;
	bool again = false;

	for (; at && at->owner && !again && nr < LOCK_HOLDERS_SHOWN; at = at->held) {
		for (uint32_t i = 0; i < nr; i++)
			again |= chain[i] == at;
		if (!again)
			chain[nr++] = at;
	}
	if (at && !at->owner)
		next = sample_of(w, at)->waker;
	while (nr)
		next = add_holder(w, chain[--nr], next);
	return next;
}

void lock_holders_find(struct profile *p, struct reader *r)
{
	struct open_waits w = { .p = p, .reader = r };
	uint32_t *holders;

	collect(&w);
	link_owners(&w);
	find_rings(&w);
	confirm_rings(&w);
	drop_rings(&w);
	holders = xcalloc(w.nr + 1, sizeof(*holders));
	for (size_t i = 0; i < w.nr; i++)
		if (w.v[i].owner)
			holders[i] = add_chain(&w, &w.v[i]);
	for (size_t i = 0; i < w.nr; i++)
		if (holders[i])
			p->samples[w.v[i].sample].waker = holders[i];
	free(holders);
	free(w.v);
}
