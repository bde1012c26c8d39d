/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links of points, of one or of many. */
#include "collect/links.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/log.h"
#include "base/mem.h"
#include "event/refusal.h"

/*
 * kernel >= 6.6, libbpf >= 1.3: spelled out for older ones (linux/bpf.h: BPF_TRACE_UPROBE_MULTI,
 * BPF_F_UPROBE_MULTI_RETURN, link_create.uprobe_multi). Sessions: 6.13 and 1.5.
 */
#define UPROBE_MULTI	    LINKS_MANY
#define UPROBE_SESSION	    57
#define UPROBE_MULTI_RETURN 1u
struct create_uprobe_multi {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, semaphores, cookies; /* addresses of arrays */
	uint32_t nr, multi_flags, pid, pad;
};

struct links {
	const struct calls_opts *opts;
	struct links_programs programs;
	enum links_way way;
	/* Of links to many: at entries, and elsewhere. */
	struct link_fds {
		int *v;
		size_t nr, cap;
	} entries, others;
	struct bpf_link **v;
	size_t nr, cap;
	size_t nr_refused; /* places that the kernel takes no probe at */
	bool told_of_refused;
};

static int create(const struct create_uprobe_multi *c)
{
	return syscall(SYS_bpf, BPF_LINK_CREATE, c, sizeof(*c));
}

static int trial_program(uint32_t attach_type)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "trial", "GPL", insns, 2, &opts);
}

/*
 * Does the kernel have such links, and does their process mean all of its threads (6.10)? What it
 * answers to a path that is no file, and to a process that is none, tells.
 */
static bool kernel_has(uint32_t attach_type)
{
	uint64_t offset = 1;
	struct create_uprobe_multi c = { .attach_type = attach_type,
					 .path = (uintptr_t) "/",
					 .offsets = (uintptr_t)&offset,
					 .nr = 1 };
	int fd = trial_program(attach_type);
	bool yes;

	if (fd < 0)
		return false;
	c.prog_fd = fd;
	yes = create(&c) < 0 && errno == EBADF;
	c.pid = -1;
	yes = yes && create(&c) < 0 && errno == EINVAL;
	close(fd);
	return yes;
}

bool links_have_many(void)
{
	return kernel_has(UPROBE_MULTI);
}

bool links_have_sessions(void)
{
	return links_have_many() && kernel_has(UPROBE_SESSION);
}

int links_create_many(int program, const char *path, const uint64_t *offsets, size_t nr,
		      uint32_t pid)
{
	struct create_uprobe_multi c = { .prog_fd = program,
					 .attach_type = UPROBE_MULTI,
					 .path = (uintptr_t)path,
					 .offsets = (uintptr_t)offsets,
					 .nr = nr,
					 .pid = pid };
	int fd = create(&c);

	return fd < 0 ? -errno : fd;
}

static bool has_files(const struct calls_opts *o)
{
	return o->nr_points && o->points[0].kind == POINT_UPROBE;
}

/* The programs at points: what each sees. */
enum sight { SEES_ENTRY, SEES_RETURN, SEES_CALL, SEES_LEAVING };

static bool is_seen_by(const struct point *p, enum sight sight, enum links_way way)
{
	bool by_session = p->by_probe && way == LINKS_BY_SESSION;

	return sight == SEES_ENTRY    ? !p->is_return && !by_session
	       : sight == SEES_RETURN ? p->by_probe && !by_session
	       : sight == SEES_CALL   ? by_session
				      : p->is_return;
}

static bool sees_any(const struct calls_opts *o, enum sight sight, enum links_way way)
{
	for (size_t i = 0; i < o->nr_points; i++)
		if (is_seen_by(&o->points[i], sight, way))
			return true;
	return false;
}

static void prepare_sessions(const struct calls_opts *o, const struct links_programs *programs)
{
	bpf_program__set_expected_attach_type(programs->session, UPROBE_SESSION);
	bpf_program__set_autoload(programs->session, true);
	bpf_program__set_autoload(programs->back, false);
	bpf_program__set_autoload(programs->entry, sees_any(o, SEES_ENTRY, LINKS_BY_SESSION));
}

enum links_way links_prepare(const struct calls_opts *o, const struct links_programs *programs)
{
	if (programs->session)
		bpf_program__set_autoload(programs->session, false);
	if (!has_files(o) || !links_have_many())
		return LINKS_EACH;
	bpf_program__set_expected_attach_type(programs->entry, UPROBE_MULTI);
	bpf_program__set_expected_attach_type(programs->back, UPROBE_MULTI);
	bpf_program__set_expected_attach_type(programs->leave, UPROBE_MULTI);
	if (!programs->session || !sees_any(o, SEES_CALL, LINKS_BY_SESSION) ||
	    !kernel_has(UPROBE_SESSION))
		return LINKS_BY_FILE;
	prepare_sessions(o, programs);
	return LINKS_BY_SESSION;
}

struct links *links_new(const struct calls_opts *o, const struct links_programs *programs,
			enum links_way way)
{
	struct links *l = xcalloc(1, sizeof(*l));

	*l = (struct links){ .opts = o, .programs = *programs, .way = way };
	return l;
}

/* Functions on which a probe could end the kernel; of several they are passed over. */
static bool is_forbidden(int err)
{
	return err == -EINVAL || err == -ENOENT || err == -EOPNOTSUPP || err == -EADDRNOTAVAIL;
}

/* What the kernel's decoder says of an instruction, and its reader of what is no code. */
#define ENOTSUPP 524 /* of the kernel only */
static bool is_refused_place(int err)
{
	return err == -ENOEXEC || err == -ENOTSUPP || err == -EIO || err == -EFAULT ||
	       err == -EINVAL;
}

/* Of several places, one may be left out. */
static int leave_out(struct links *l, int err, const char *where, uint64_t offset)
{
	if (l->opts->nr_points == 1)
		return log_as(-EIO,
			      "no probe can stand at byte 0x%" PRIx64 " of %s: the kernel takes "
			      "none on this instruction (%s)",
			      offset, where, err == -ENOTSUPP ? "ENOTSUPP" : strerror(-err));
	l->nr_refused++;
	log_info("the kernel takes no probe at byte 0x%" PRIx64 " of %s", offset, where);
	return 0;
}

/* Once, after the first process. */
static int tell_refused(struct links *l)
{
	if (!l->nr_refused || l->told_of_refused)
		return 0;
	l->told_of_refused = true;
	if (!l->entries.nr && !l->others.nr && !l->nr)
		return log_as(-EIO, "the kernel takes a probe at none of the %zu places",
			      l->opts->nr_points);
	log_warn("%zu of %zu places are left out, since the kernel takes no probe there (-v lists "
		 "them)",
		 l->nr_refused, l->opts->nr_points);
	return 0;
}

/* What an attach that failed means; where is what people called it. */
static int explain(struct links *l, int err, const struct point *p, uint32_t pid)
{
	if (pid && (err == -ESRCH || (kill(pid, 0) && errno == ESRCH)))
		return -ESRCH;
	if (!pid && err == -ESRCH)
		return log_as(-EIO,
			      "cannot attach to %s: the kernel says that there is no such process, "
			      "and none was named (-v shows why)",
			      p->where);
	if (p->kind == POINT_TRACEPOINT)
		return refusal_tell(err, "cannot attach to the tracepoint %s", p->where);
	if (p->kind == POINT_KPROBE && l->opts->nr_points > 1 && is_forbidden(err)) {
		log_info("the kernel takes no probe on %s", p->where);
		return 0;
	}
	if (p->kind == POINT_KPROBE)
		return refusal_tell(err, "cannot probe %s in the kernel", p->where);
	if (is_refused_place(err))
		return leave_out(l, err, p->where, p->offset);
	return refusal_tell(err, "cannot probe %s at 0x%" PRIx64, p->where, p->offset);
}

/* Points of one file, the same program and kind of return. */
struct batch {
	uint64_t *offsets, *semaphores, *cookies;
	size_t nr;
	bool any_semaphore;
};

static void batch_add(struct batch *b, const struct point *p)
{
	b->offsets[b->nr] = p->offset;
	b->semaphores[b->nr] = p->semaphore;
	b->cookies[b->nr++] = CALL_COOKIE(p->event, p->args);
	b->any_semaphore |= p->semaphore != 0;
}

static struct bpf_program *program_of(const struct links *l, enum sight sight)
{
	return sight == SEES_ENTRY    ? l->programs.entry
	       : sight == SEES_RETURN ? l->programs.back
	       : sight == SEES_CALL   ? l->programs.session
				      : l->programs.leave;
}

/* nr of them, from number from on. */
static int create_batch(const struct links *l, const struct batch *b, size_t from, size_t nr,
			const char *at, enum sight sight, uint32_t pid)
{
	struct create_uprobe_multi c = {
		.prog_fd = bpf_program__fd(program_of(l, sight)),
		.attach_type = sight == SEES_CALL ? UPROBE_SESSION : UPROBE_MULTI,
		.path = (uintptr_t)at,
		.offsets = (uintptr_t)(b->offsets + from),
		.semaphores = b->any_semaphore ? (uintptr_t)(b->semaphores + from) : 0,
		.cookies = (uintptr_t)(b->cookies + from),
		.nr = nr,
		.multi_flags = sight == SEES_RETURN ? UPROBE_MULTI_RETURN : 0,
		.pid = pid,
	};
	int fd = create(&c);

	return fd < 0 ? -errno : fd;
}

/* The kernel takes all of them or none: if none, the halves are tried. */
static int attach_batch(struct links *l, const struct batch *b, size_t from, size_t nr,
			const struct point *first, enum sight sight, uint32_t pid)
{
	bool begins = sight == SEES_ENTRY || sight == SEES_CALL;
	struct link_fds *to = begins ? &l->entries : &l->others;
	int fd = create_batch(l, b, from, nr, first->file->at, sight, pid), err;
	struct point refused = *first;

	if (fd < 0 && nr > 1 && is_refused_place(fd) && !(pid && kill(pid, 0))) {
		err = attach_batch(l, b, from, nr / 2, first, sight, pid);
		return err ? err
			   : attach_batch(l, b, from + nr / 2, nr - nr / 2, first, sight, pid);
	}
	refused.offset = b->offsets[from];
	if (fd < 0)
		return explain(l, fd, &refused, pid);
	to->v = xgrow(to->v, to->nr, &to->cap, sizeof(*to->v));
	to->v[to->nr++] = fd;
	return 0;
}

/* The points of the file of point first, which is the first one of it. */
static int attach_file(struct links *l, size_t first, enum sight sight, uint32_t pid)
{
	const struct calls_opts *o = l->opts;
	uint64_t *words = xcalloc(3 * o->nr_points, sizeof(*words));
	struct batch b = { words, words + o->nr_points, words + 2 * o->nr_points, 0, false };
	int err = 0;

	for (size_t i = first; i < o->nr_points; i++)
		if (is_seen_by(&o->points[i], sight, l->way) &&
		    !strcmp(o->points[i].where, o->points[first].where))
			batch_add(&b, &o->points[i]);
	if (b.nr)
		err = attach_batch(l, &b, 0, b.nr, &o->points[first], sight, pid);
	free(words);
	return err;
}

static bool is_first_of_file(const struct calls_opts *o, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(o->points[k].where, o->points[i].where))
			return false;
	return true;
}

/*
 * Returns are seen before entries are, so that the first call that is seen to begin is seen to end.
 */
static int attach_files(struct links *l, uint32_t pid)
{
	const struct calls_opts *o = l->opts;
	static const enum sight order[] = { SEES_RETURN, SEES_LEAVING, SEES_ENTRY, SEES_CALL };
	int err = 0;

	for (size_t i = 0; i < o->nr_points && !err; i++)
		for (size_t k = 0; k < 4 && !err && is_first_of_file(o, i); k++)
			err = attach_file(l, i, order[k], pid);
	return err;
}

static int keep(struct links *l, struct bpf_link *link, const struct point *p, uint32_t pid)
{
	if (!link)
		return explain(l, -errno, p, pid);
	l->v = xgrow(l->v, l->nr, &l->cap, sizeof(*l->v));
	l->v[l->nr++] = link;
	return 0;
}

static struct bpf_link *attach_as(const struct point *p, struct bpf_program *program,
				  bool at_return, uint32_t pid)
{
	const uint64_t cookie = CALL_COOKIE(p->event, p->args);
	LIBBPF_OPTS(bpf_uprobe_opts, file, .ref_ctr_offset = p->semaphore, .bpf_cookie = cookie,
		    .retprobe = at_return);
	LIBBPF_OPTS(bpf_kprobe_opts, kernel, .bpf_cookie = cookie, .offset = p->offset,
		    .retprobe = at_return);

	if (p->kind == POINT_UPROBE)
		return bpf_program__attach_uprobe_opts(program, pid ? (pid_t)pid : -1, p->file->at,
						       p->offset, &file);
	return bpf_program__attach_kprobe_opts(program, p->where, &kernel);
}

/* Without tracefs, which need not be mounted. One event stands for all CPUs. */
static struct bpf_link *attach_tracepoint(const struct links *l, const struct point *p)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = CALL_COOKIE(p->event, p->args));
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_TRACEPOINT,
					.config = p->id,
					.sample_period = 1,
					.wakeup_events = 1 };
	struct bpf_program *program = p->is_return ? l->programs.until : l->programs.event;
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event_opts(program, fd, &opts);
	if (!link)
		close(fd);
	return link;
}

static int attach_point(struct links *l, const struct point *p, uint32_t pid)
{
	int err = 0;

	if (p->kind == POINT_TRACEPOINT)
		return keep(l, attach_tracepoint(l, p), p, pid);
	if (p->is_return)
		return keep(l, attach_as(p, l->programs.leave, false, pid), p, pid);
	if (p->by_probe)
		err = keep(l, attach_as(p, l->programs.back, true, pid), p, pid);
	return err ? err : keep(l, attach_as(p, l->programs.entry, false, pid), p, pid);
}

/* Ends before beginnings, as above; they are detached the other way round. */
static int attach_points(struct links *l, bool ends, uint32_t pid)
{
	int err = 0;

	for (size_t i = 0; i < l->opts->nr_points && !err; i++)
		if (l->opts->points[i].is_return == ends)
			err = attach_point(l, &l->opts->points[i], pid);
	return err;
}

int links_attach(struct links *l, uint32_t pid)
{
	int err;

	if (l->way != LINKS_EACH)
		err = attach_files(l, pid);
	else
		err = attach_points(l, true, pid);
	if (!err && l->way == LINKS_EACH)
		err = attach_points(l, false, pid);
	return err ? err : tell_refused(l);
}

static void *close_one(void *arg)
{
	close((int)(intptr_t)arg);
	return NULL;
}

/* The kernel waits for programs that run with each, some 50 ms: for all at a time. */
static void close_all(struct link_fds *fds)
{
	pthread_t *threads = xcalloc(fds->nr, sizeof(*threads));
	size_t nr_threads = 0;

	while (nr_threads < fds->nr && !pthread_create(&threads[nr_threads], NULL, close_one,
						       (void *)(intptr_t)fds->v[nr_threads]))
		nr_threads++;
	for (size_t i = nr_threads; i < fds->nr; i++)
		close(fds->v[i]);
	for (size_t i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	fds->nr = 0;
}

void links_detach(struct links *l)
{
	if (!l)
		return;
	/* Entries first: no call is seen to begin whose end is not. */
	close_all(&l->entries);
	close_all(&l->others);
	for (size_t i = l->nr; i-- > 0;)
		bpf_link__destroy(l->v[i]);
	l->nr = 0;
}

void links_free(struct links *l)
{
	if (!l)
		return;
	links_detach(l);
	free(l->entries.v);
	free(l->others.v);
	free(l->v);
	free(l);
}
