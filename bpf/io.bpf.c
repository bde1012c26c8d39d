/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * I/O, from where it began until it completed. Of the block layer that is a bio, not a request: the
 * kernel traces it in the thread that submits it, before it is merged with others, queued (perhaps
 * by another thread) or passed on to a device below. What a driver makes of a bio meanwhile is part
 * of it. Of io_uring it is a request, of TCP a connection that is being made.
 *
 * Limit: of a bio that the kernel splits, the part that is queued last counts; of a write with a
 * flush behind it, the write.
 */
#include "ops.bpf.h"
#include <bpf/bpf_core_read.h>

/* Of sockets. */
#define TCP_SYN_SENT 2
#define TCP_CLOSE    7

/* verifier: an argument that is known to point to something is no number, and keys are. */
static __always_inline __u64 number(const __u64 *arg)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), arg);
	return word;
}

static __always_inline void begins(__u64 *ctx, __u32 event)
{
	struct op_begin b = { .key = number(&ctx[0]), .event = event };

	ops_begin(ctx, &b);
}

/* verifier: apart, or it looks at all that follows once for each event. */
__noinline int io_event_of(__u32 flags, __u32 bytes, __u32 task_flags)
{
	return io_block_event(flags, bytes, (task_flags & PF_WQ_WORKER) != 0);
}

/* ctx: bio. */
SEC("?tp_btf/block_bio_queue")
int io_bioqueue(__u64 *ctx)
{
	const struct bio *bio = (const struct bio *)ctx[0];
	const struct task_struct *task = bpf_get_current_task_btf();

	if (!task->bio_list)
		begins(ctx, io_event_of(bio->bi_opf, bio->bi_iter.bi_size, task->flags));
	return 0;
}

#define MAX_BIOS 512 /* of a request; Linux makes them of up to 256 segments */

/* Those of a request that are done with so many bytes of it, as blk_update_request() finds them. */
static __always_inline void end_bios(const struct request *rq, __u32 bytes)
{
	struct bio *bio = rq->bio;
	__u64 key = number((const __u64 *)&rq->bio);

	for (int i = 0; bio && i < MAX_BIOS; i++) {
		__u32 size = bio->bi_iter.bi_size;

		if (size > bytes)
			break;
		bytes -= size;
		ops_end(key);
		if (!bytes)
			break;
		key = number((const __u64 *)&bio->bi_next);
		bio = bio->bi_next;
	}
}

/* ctx: request, error, bytes. */
SEC("?tp_btf/block_rq_complete")
int io_rqdone(__u64 *ctx)
{
	end_bios((const struct request *)ctx[0], ctx[2]);
	return 0;
}

/* ctx: queue, bio. Only drivers without requests end bios so. */
SEC("?tp_btf/block_bio_complete")
int io_biodone(__u64 *ctx)
{
	ops_end(number(&ctx[1]));
	return 0;
}

/* ctx: request. kernel < 6.3 calls it by another name. */
SEC("?tp_btf/io_uring_submit_req")
int io_request(__u64 *ctx)
{
	begins(ctx, IO_URING_INLINE);
	return 0;
}

SEC("?tp_btf/io_uring_submit_sqe")
int io_sqe(__u64 *ctx)
{
	begins(ctx, IO_URING_INLINE);
	return 0;
}

/* The same. Who is punted may be polled as well: the worker counts. */
SEC("?tp_btf/io_uring_queue_async_work")
int io_punted(__u64 *ctx)
{
	ops_change(number(&ctx[0]), IO_URING_PUNTED);
	return 0;
}

SEC("?tp_btf/io_uring_poll_arm")
int io_polled(__u64 *ctx)
{
	ops_change(number(&ctx[0]), IO_URING_POLLED);
	return 0;
}

/* ctx: ring, request, or NULL where a request completes several times. */
SEC("?tp_btf/io_uring_complete")
int io_completed(__u64 *ctx)
{
	__u64 request = number(&ctx[1]);

	if (request)
		ops_end(request);
	return 0;
}

/* ctx: socket, old state, new state. */
SEC("?tp_btf/inet_sock_set_state")
int io_sockstate(__u64 *ctx)
{
	if ((__u32)ctx[2] == TCP_SYN_SENT)
		begins(ctx, IO_CONNECT);
	return 0;
}

/* The same. An answer may interrupt the program above, which the kernel runs once on a CPU. */
SEC("?tp_btf/inet_sock_set_state")
int io_sockdone(__u64 *ctx)
{
	__u32 from = ctx[1], to = ctx[2];

	if (from != TCP_SYN_SENT || to == TCP_SYN_SENT)
		return 0;
	if (to == TCP_CLOSE)
		ops_change(number(&ctx[0]), IO_CONNECT_FAILED);
	ops_end(number(&ctx[0]));
	return 0;
}
