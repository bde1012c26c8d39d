/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of operations, and what of them this kernel shows. */
#include "collect/ops.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "bpf/ops.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static const struct call_event io_events[IO_NR_EVENTS] = {
	[IO_BLOCK_READ] = { "block read", "" },
	[IO_BLOCK_WRITE] = { "block write", "" },
	[IO_BLOCK_WRITEBACK] = { "block writeback", "" },
	[IO_BLOCK_FLUSH] = { "block flush", "" },
	[IO_BLOCK_DISCARD] = { "block discard", "" },
	[IO_URING_INLINE] = { "uring inline", "" },
	[IO_URING_POLLED] = { "uring polled", "" },
	[IO_URING_PUNTED] = { "uring punted", "" },
	[IO_CONNECT] = { "connect", "" },
	[IO_CONNECT_FAILED] = { "connect failed", "" },
};

static const struct call_event klock_events[KLOCK_NR_EVENTS] = {
	[KLOCK_SPINLOCK] = { "spinlock", "" },
	[KLOCK_RWLOCK_READ] = { "rwlock (read)", "" },
	[KLOCK_RWLOCK_WRITE] = { "rwlock (write)", "" },
	[KLOCK_MUTEX] = { "mutex", "" },
	[KLOCK_RWSEM_READ] = { "rwsem (read)", "" },
	[KLOCK_RWSEM_WRITE] = { "rwsem (write)", "" },
	[KLOCK_PERCPU_READ] = { "percpu rwsem (read)", "" },
	[KLOCK_PERCPU_WRITE] = { "percpu rwsem (write)", "" },
	[KLOCK_RTMUTEX] = { "rtmutex", "" },
	[KLOCK_SEMAPHORE] = { "semaphore", "" },
};

/* What people ask for, and what the kernel must have for it. */
static const struct io_kind {
	const char *name;
	uint32_t parts;
	const char *tracepoints[4];
} io_kinds[] = {
	{ "block", OPS_BLOCK, { "block_bio_queue", "block_bio_complete", "block_rq_complete" } },
	{ "uring",
	  OPS_URING | OPS_URING_REQUEST,
	  { "io_uring_submit_req", "io_uring_queue_async_work", "io_uring_poll_arm",
	    "io_uring_complete" } },
	{ "uring", /* kernel < 6.3 */
	  OPS_URING | OPS_URING_SQE,
	  { "io_uring_submit_sqe", "io_uring_queue_async_work", "io_uring_poll_arm",
	    "io_uring_complete" } },
	{ "connect", OPS_CONNECT, { "inet_sock_set_state" } },
};

/* What the tracepoint gives first must be what we take it for. */
static bool begins_with(const struct btf *btf, const struct btf_type *proto,
			const char *struct_name)
{
	const struct btf_type *t;

	if (btf_vlen(proto) < 2)
		return false;
	t = btf__type_by_id(btf, btf_params(proto)[1].type);
	while (t && (btf_is_ptr(t) || btf_is_mod(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_struct(t) && !strcmp(btf__name_by_offset(btf, t->name_off), struct_name);
}

/* kernel < 6.0: those of io_uring do not name the request, but for its number of the program. */
static bool btf_has(void *arg, const char *tracepoint)
{
	const struct btf *btf = arg;
	char *name = xasprintf("btf_trace_%s", tracepoint);
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	free(name);
	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_func_proto(t))
		return false;
	return strncmp(tracepoint, "io_uring_submit_", 16) || begins_with(btf, t, "io_kiocb");
}

static bool has_all(const struct io_kind *k, bool (*has)(void *arg, const char *tracepoint),
		    void *arg)
{
	for (size_t i = 0; i < NR(k->tracepoints) && k->tracepoints[i]; i++)
		if (!has(arg, k->tracepoints[i]))
			return false;
	return true;
}

/* Of kinds that are there twice the first one counts. */
uint32_t ops_io_parts(bool (*has)(void *arg, const char *tracepoint), void *arg)
{
	uint32_t parts = 0;

	for (size_t i = 0; i < NR(io_kinds); i++)
		if (!(parts & io_kinds[i].parts) && has_all(&io_kinds[i], has, arg))
			parts |= io_kinds[i].parts;
	return parts;
}

static const struct io_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < NR(io_kinds); i++)
		if (!strcmp(io_kinds[i].name, name))
			return &io_kinds[i];
	return NULL;
}

static int unknown_kind(const char *name)
{
	const char *names[NR(io_kinds)];
	char *meant;

	for (size_t i = 0; i < NR(io_kinds); i++)
		names[i] = io_kinds[i].name;
	meant = text_meant("", text_nearest(name, names, NR(names)));
	log_err(0, "--kind: unknown kind '%s'%s (there are block, uring and connect)", name, meant);
	free(meant);
	return -EINVAL;
}

/* All parts that a list asks for, by either name of the kernel. */
static int wanted_parts(const char *list, uint32_t *parts)
{
	char *copy = xstrdup(list), *rest = copy, *name;
	int err = 0;

	*parts = 0;
	while (!err && (name = strsep(&rest, ", "))) {
		if (*name && !find_kind(name))
			err = unknown_kind(name);
		for (size_t i = 0; i < NR(io_kinds); i++)
			if (!strcmp(io_kinds[i].name, name))
				*parts |= io_kinds[i].parts;
	}
	if (!err && !*parts)
		err = log_as(-EINVAL, "--kind: no kind is given (there are block, uring, connect)");
	free(copy);
	return err;
}

/* Says which of the wanted kinds the kernel does not show; returns how many. */
static size_t tell_missing(uint32_t wanted, uint32_t parts)
{
	const char *last = "";
	size_t nr = 0;

	for (size_t i = 0; i < NR(io_kinds); i++) {
		const struct io_kind *k = &io_kinds[i];

		if (!(wanted & k->parts) || parts & k->parts || !strcmp(k->name, last))
			continue;
		last = k->name;
		log_warn("%s: not recorded: this kernel lacks the tracepoint %s, or one that goes "
			 "with it, or has an older form that does not say what it is about",
			 k->name, k->tracepoints[0]);
		nr++;
	}
	return nr;
}

int ops_choose_io(struct ops_opts *o, struct calls_opts *calls, const char *kinds)
{
	struct btf *btf = btf__load_vmlinux_btf();
	uint32_t wanted = UINT32_MAX;
	int err = kinds ? wanted_parts(kinds, &wanted) : 0;

	o->parts = btf && !err ? ops_io_parts(btf_has, btf) & wanted : 0;
	btf__free(btf);
	if (err)
		return err;
	if ((tell_missing(wanted, o->parts) && kinds) || !o->parts)
		return log_as(-EOPNOTSUPP, "this kernel does not show that I/O");
	calls->events = io_events;
	calls->nr_events = NR(io_events);
	return 0;
}

int ops_choose_locks(struct calls_opts *calls)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool has = btf && btf_has(btf, "contention_begin") && btf_has(btf, "contention_end");

	btf__free(btf);
	if (!has)
		return log_as(-EOPNOTSUPP, "--kernel: this kernel does not show who waits for its "
					   "locks (it has no tracepoint contention_begin, which "
					   "came with Linux 5.19)");
	calls->events = klock_events;
	calls->nr_events = NR(klock_events);
	calls->values = true;
	return 0;
}
