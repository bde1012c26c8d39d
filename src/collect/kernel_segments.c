/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Segments in a map of maps. */
#include "collect/kernel_segments.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/log.h"
#include "event/refusal.h"

enum { SEGMENT_NONE, SEGMENT_MAKING, SEGMENT_READY, SEGMENT_MADE };

/*
 * The kernel waits until all programs that run now have ended before a changed map of maps is
 * believed to be so: some ten milliseconds, which we spend better.
 */
static void *insert_segment(void *arg)
{
	struct kernel_segment *g = arg;
	int err = 0;

	if (bpf_map_update_elem(g->all->fd, &g->index, &g->fd, BPF_ANY))
		err = -errno;
	__atomic_store_n(&g->state, err ? err : SEGMENT_READY, __ATOMIC_RELEASE);
	return NULL;
}

static int create(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(uint32_t),
				TABLE_SEGMENT_BYTES, 1, &opts);

	return fd < 0 ? -errno : fd;
}

static int insert(struct kernel_segments *s, uint32_t index, int fd)
{
	struct kernel_segment *g = &s->v[index];
	int err;

	*g = (struct kernel_segment){ s, index, fd, SEGMENT_MAKING, 0 };
	err = pthread_create(&g->thread, NULL, insert_segment, g);
	if (!err)
		return 0;
	close(fd);
	g->state = SEGMENT_NONE;
	s->no_thread = true;
	return log_err(-err, "cannot start a thread (ulimit -a lists limits)");
}

/* The first segment is also what the map is told that all of them will look like. */
int kernel_segments_open(struct kernel_segments *s, struct bpf_map *map)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int fd = create(), err;

	if (fd < 0)
		return fd;
	opts.inner_map_fd = fd;
	s->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "segments", sizeof(uint32_t),
			       sizeof(uint32_t), TABLE_MAX_SEGMENTS, &opts);
	err = s->fd < 0 ? -errno : bpf_map__reuse_fd(map, s->fd);
	if (!err)
		return insert(s, 0, fd);
	close(fd);
	return err;
}

static int map_at(const struct kernel_segment *g, void *at)
{
	if (mmap(at, TABLE_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, g->fd,
		 0) == MAP_FAILED)
		return log_err(-errno, "cannot map memory for unwind tables");
	/* As of all maps: who reads a file for us would begin with a copy of their page tables. */
	madvise(at, TABLE_SEGMENT_BYTES, MADV_DONTFORK);
	return 0;
}

/* Once: it is asked for again and again. */
static int tell_missing(struct kernel_segments *s, int err)
{
	if (!s->told_memory++)
		log_warn("the kernel refused memory for unwind tables (%s; %s): some stacks will "
			 "end early",
			 strerror(-err), refusal_way_out(err));
	return err;
}

static int begin(struct kernel_segments *s, uint32_t index)
{
	int fd = create(), err = fd < 0 ? fd : insert(s, index, fd);

	if (fd < 0)
		tell_missing(s, fd);
	return err ? err : -EINPROGRESS;
}

int kernel_segments_make(void *segments, uint32_t index, void *at)
{
	struct kernel_segments *s = segments;
	struct kernel_segment *g = &s->v[index];
	int state = __atomic_load_n(&g->state, __ATOMIC_ACQUIRE), err;

	if (state == SEGMENT_NONE)
		return begin(s, index);
	if (state == SEGMENT_MAKING)
		return -EINPROGRESS;
	pthread_join(g->thread, NULL);
	err = state == SEGMENT_READY ? map_at(g, at) : tell_missing(s, state);
	if (!err) {
		g->state = SEGMENT_MADE;
		s->nr++;
		return 0;
	}
	close(g->fd);
	g->state = SEGMENT_NONE;
	return err;
}

void kernel_segments_drop(void *segments, uint32_t index, void *at)
{
	struct kernel_segments *s = segments;

	bpf_map_delete_elem(s->fd, &index);
	mmap(at, TABLE_SEGMENT_BYTES, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	close(s->v[index].fd);
	s->v[index].state = SEGMENT_NONE;
	s->nr--;
}

void kernel_segments_close(struct kernel_segments *s)
{
	for (size_t i = 0; i < TABLE_MAX_SEGMENTS; i++) {
		if (s->v[i].state == SEGMENT_NONE)
			continue;
		if (s->v[i].state != SEGMENT_MADE)
			pthread_join(s->v[i].thread, NULL);
		close(s->v[i].fd);
	}
	if (s->fd > 0)
		close(s->fd);
}
