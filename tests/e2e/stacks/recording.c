/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading perf.data, as far as --call-graph dwarf needs it. */
#include "tests/e2e/stacks/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static struct file **files;
static size_t nr_files, cap_files;

static void die(const char *name, const char *what)
{
	fprintf(stderr, "replay: %s: %s\n", name, what);
	exit(1);
}

/* --- files --- */

static int open_vdso(void)
{
	static int fd = -1;
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[256];

	while (fd < 0 && f && fgets(line, sizeof(line), f))
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &start, &end) == 2) {
			fd = memfd_create("vdso", MFD_CLOEXEC);
			if (write(fd, (void *)start, end - start) != (ssize_t)(end - start))
				die("vdso", strerror(errno));
		}
	if (f)
		fclose(f);
	return fd;
}

/* Files only: opening a device may do something. */
static int open_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) || !S_ISREG(st.st_mode) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

static int open_file(const char *root, const char *path)
{
	char *below;
	int fd;

	if (!strcmp(path, "[vdso]"))
		return root ? -1 : open_vdso();
	if (path[0] != '/')
		return -1;
	if (!root)
		return open_regular(path);
	below = xasprintf("%s%s", root, path);
	fd = open_regular(below);
	free(below);
	if (fd >= 0)
		return fd;
	below = xasprintf("%s%s", root, strrchr(path, '/'));
	fd = open_regular(below);
	free(below);
	return fd;
}

static struct file *file_get(const struct recording *r, const char *path)
{
	struct file *f;
	int err = 0;

	for (size_t i = 0; i < nr_files; i++)
		if (!strcmp(files[i]->path, path))
			return files[i];
	f = xcalloc(1, sizeof(*f));
	f->path = xstrdup(path);
	f->fd = open_file(r->root, path);
	if (f->fd >= 0)
		f->elf = elf_file_open(f->fd);
	if (f->elf)
		err = path[0] == '[' ? table_build_vdso(&f->table, f->elf, NULL)
				     : table_build(&f->table, f->elf, NULL);
	if (err && err != -ENODATA)
		die(path, strerror(-err));
	files = xgrow(files, nr_files, &cap_files, sizeof(struct file *));
	return files[nr_files++] = f;
}

/* --- processes --- */

static struct process *process_get(struct recording *r, uint32_t pid)
{
	struct process *p;

	for (size_t i = 0; i < r->nr_procs; i++)
		if (r->procs[i]->pid == pid)
			return r->procs[i];
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	r->procs = xgrow(r->procs, r->nr_procs, &r->cap_procs, sizeof(struct process *));
	return r->procs[r->nr_procs++] = p;
}

static void process_changed(struct process *p)
{
	static uint64_t last;

	p->version = ++last;
}

static void process_clear(struct process *p)
{
	process_changed(p);
	p->nr = 0;
}

static void add_mapping(struct process *p, struct mapping m)
{
	if (m.start >= m.end)
		return;
	p->list = xgrow(p->list, p->nr, &p->cap, sizeof(m));
	p->list[p->nr++] = m;
}

/* The new one takes what it covers from the others. */
static void process_map(struct process *p, struct mapping m)
{
	size_t nr = p->nr;

	process_changed(p);
	for (size_t i = 0; i < nr; i++) {
		struct mapping old = p->list[i], rest = old;

		if (old.end <= m.start || old.start >= m.end)
			continue;
		if (rest.end > m.end) {
			rest.start = m.end;
			rest.offset += m.end - old.start;
			add_mapping(p, rest);
		}
		p->list[i].end = old.start < m.start ? m.start : old.start;
	}
	add_mapping(p, m);
}

const struct mapping *process_find(const struct process *p, uint64_t pc)
{
	for (size_t i = 0; i < p->nr; i++)
		if (pc >= p->list[i].start && pc < p->list[i].end)
			return &p->list[i];
	return NULL;
}

/* --- the recording --- */

static const void *at(const struct recording *r, uint64_t offset, uint64_t sz)
{
	if (offset > r->sz || sz > r->sz - offset)
		die(r->name, "cut short");
	return r->bytes + offset;
}

static void slurp(struct recording *r)
{
	struct stat st;
	int fd = open(r->name, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) || st.st_size < 104)
		die(r->name, "no recording");
	r->sz = st.st_size;
	r->bytes = mmap(NULL, r->sz, PROT_READ, MAP_PRIVATE, fd, 0);
	if (r->bytes == MAP_FAILED)
		die(r->name, strerror(errno));
	close(fd);
}

/* Of an event that is no sample: it ends with the sample's time and more, if asked for. */
static uint64_t time_of_other(const struct recording *r, const struct perf_event_header *h)
{
	uint64_t type = r->attr.sample_type, time, from_end = 8;

	if (!r->attr.sample_id_all || !(type & PERF_SAMPLE_TIME))
		return 0;
	from_end += 8 * !!(type & PERF_SAMPLE_ID) + 8 * !!(type & PERF_SAMPLE_STREAM_ID);
	from_end += 8 * !!(type & PERF_SAMPLE_CPU) + 8 * !!(type & PERF_SAMPLE_IDENTIFIER);
	memcpy(&time, (uint8_t *)h + h->size - from_end, sizeof(time));
	return time;
}

static uint64_t take(const uint8_t **p, const uint8_t *end)
{
	uint64_t v;

	if (end - *p < 8)
		die("sample", "cut short");
	memcpy(&v, *p, sizeof(v));
	*p += sizeof(v);
	return v;
}

static void skip(const uint8_t **p, const uint8_t *end, uint64_t sz)
{
	if (sz > (uint64_t)(end - *p))
		die("sample", "cut short");
	*p += sz;
}

static void read_user(const struct recording *r, struct sample *s, const uint8_t *p,
		      const uint8_t *end)
{
	uint64_t sz, mask = r->attr.sample_regs_user;

	memset(s->regs, 0, sizeof(s->regs));
	s->has_user = take(&p, end) == PERF_SAMPLE_REGS_ABI_64;
	if (!s->has_user)
		return;
	for (int i = 0; i < MAX_REGS; i++)
		if (mask >> i & 1)
			s->regs[i] = take(&p, end);
	sz = take(&p, end);
	s->stack = p;
	skip(&p, end, sz);
	s->stack_bytes = sz ? take(&p, end) : 0;
}

static void read_sample(const struct recording *r, const struct perf_event_header *h,
			struct sample *s)
{
	const uint8_t *p = (const uint8_t *)(h + 1), *end = (const uint8_t *)h + h->size;
	uint64_t type = r->attr.sample_type, v;

	skip(&p, end, 8 * !!(type & PERF_SAMPLE_IDENTIFIER) + 8 * !!(type & PERF_SAMPLE_IP));
	v = type & PERF_SAMPLE_TID ? take(&p, end) : 0;
	s->pid = v;
	s->tid = v >> 32;
	s->time = type & PERF_SAMPLE_TIME ? take(&p, end) : 0;
	skip(&p, end, 8 * !!(type & PERF_SAMPLE_ADDR) + 8 * !!(type & PERF_SAMPLE_ID));
	skip(&p, end, 8 * !!(type & PERF_SAMPLE_STREAM_ID) + 8 * !!(type & PERF_SAMPLE_CPU));
	skip(&p, end, 8 * !!(type & PERF_SAMPLE_PERIOD));
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip(&p, end, 8 * take(&p, end));
	read_user(r, s, p, end);
}

static void add_event(struct recording *r, const struct perf_event_header *h)
{
	struct sample s;
	struct event e = { .head = h };

	if (h->type == PERF_RECORD_SAMPLE) {
		read_sample(r, h, &s);
		e.time = s.time;
	} else {
		e.time = time_of_other(r, h);
	}
	r->events = xgrow(r->events, r->nr_events, &r->cap_events, sizeof(e));
	r->events[r->nr_events++] = e;
}

/* Events of each CPU ascend, but not those of all. The order in the file breaks ties. */
static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->head < y->head ? -1 : x->head > y->head;
}

/* One event that samples, or several alike; see perf.data-file-format of perf. */
static void read_attrs(struct recording *r, uint64_t offset, uint64_t sz, uint64_t each)
{
	const uint64_t unknown = PERF_SAMPLE_READ | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK;
	const uint64_t needed = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_TID;
	struct perf_event_attr attr;

	if (each < PERF_ATTR_SIZE_VER3 + 16 || sz < each)
		die(r->name, "no event");
	for (uint64_t i = 0; i < sz / each; i++) {
		memset(&attr, 0, sizeof(attr));
		memcpy(&attr, at(r, offset + i * each, each),
		       each - 16 < sizeof(attr) ? each - 16 : sizeof(attr));
		if (i && attr.sample_type != r->attr.sample_type)
			die(r->name, "events of several kinds");
		r->attr = attr;
	}
	if (attr.sample_type & unknown || (attr.sample_type & needed) != needed)
		die(r->name, "recorded otherwise than with --call-graph dwarf");
	r->arch = attr.sample_regs_user >> ARM64_PC & 1 ? TABLE_ARM64 : TABLE_X86;
}

/* Magic, size, size of an attr, then offset and size: of attrs, of events. */
void recording_open(struct recording *r)
{
	const struct perf_event_header *h;
	uint64_t head[7];

	slurp(r);
	memcpy(head, at(r, 0, sizeof(head)), sizeof(head));
	if (memcmp(r->bytes, "PERFILE2", 8))
		die(r->name, "no recording");
	read_attrs(r, head[3], head[4], head[2]);
	for (uint64_t i = head[5], end = head[5] + head[6]; i < end; i += h->size) {
		h = at(r, i, sizeof(*h));
		if (h->size < sizeof(*h) || h->size % 8)
			die(r->name, "an event of odd size");
		at(r, i, h->size);
		if (h->type < 64)
			add_event(r, h);
	}
	qsort(r->events, r->nr_events, sizeof(*r->events), by_time);
}

/* pid, tid, start, size, offset, 24 bytes that tell the file (MMAP2), its name. */
static void on_mmap(struct recording *r, const struct perf_event_header *h)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	const char *path = (const char *)body + (h->type == PERF_RECORD_MMAP2 ? 64 : 32);
	uint64_t v[4];

	memcpy(v, body, sizeof(v));
	if (h->misc & PERF_RECORD_MISC_MMAP_DATA ||
	    (h->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return;
	process_map(process_get(r, v[0]),
		    (struct mapping){ v[1], v[1] + v[2], v[3],
				      path[0] == '/' || !strcmp(path, "[vdso]") ? file_get(r, path)
										: NULL });
}

static void on_fork(struct recording *r, const uint32_t *pid_ppid)
{
	struct process *child, *parent;

	if (pid_ppid[0] == pid_ppid[1])
		return;
	child = process_get(r, pid_ppid[0]);
	parent = process_get(r, pid_ppid[1]);
	process_clear(child);
	for (size_t i = 0; i < parent->nr; i++)
		add_mapping(child, parent->list[i]);
}

static void on_event(struct recording *r, const struct event *e,
		     void (*fn)(struct recording *r, void *arg), void *arg)
{
	const uint32_t *body = (const uint32_t *)(e->head + 1);

	switch (e->head->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		on_mmap(r, e->head);
		break;
	case PERF_RECORD_COMM:
		if (e->head->misc & PERF_RECORD_MISC_COMM_EXEC)
			process_clear(process_get(r, body[0]));
		break;
	case PERF_RECORD_FORK:
		on_fork(r, body);
		break;
	case PERF_RECORD_SAMPLE:
		read_sample(r, e->head, &r->sample);
		r->proc = process_get(r, r->sample.pid);
		if (r->sample.has_user)
			fn(r, arg);
		break;
	}
}

void recording_for_each(struct recording *r, void (*fn)(struct recording *r, void *arg), void *arg)
{
	for (size_t i = 0; i < r->nr_events; i++)
		on_event(r, &r->events[i], fn, arg);
}

uint64_t recording_reg(const struct recording *r, int x86, int arm64)
{
	return r->sample.regs[r->arch == TABLE_X86 ? x86 : arm64];
}

void recording_close(struct recording *r)
{
	for (size_t i = 0; i < r->nr_procs; i++) {
		free(r->procs[i]->list);
		free(r->procs[i]);
	}
	free(r->procs);
	free(r->events);
	munmap(r->bytes, r->sz);
}
