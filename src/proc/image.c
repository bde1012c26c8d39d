/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one program of a process had mapped where, now and at earlier moments. */
#include "proc/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MIN_OLD 64	      /* replaced mappings that an image may have */
#define EXEC_NS 1000000000ull /* what an exec takes at most once the old program is gone */

void image_free(struct proc_image *image)
{
	struct proc_image *older;

	for (; image; image = older) {
		older = image->older;
		free(image->maps);
		free(image->old);
		free(image);
	}
}

void image_forget_older(struct proc_image *image, uint64_t settled_ns)
{
	while (image->older && image->from_ns + EXEC_NS > settled_ns)
		image = image->older;
	image_free(image->older);
	image->older = NULL;
}

struct proc_image *image_push(struct process *p, uint64_t from_ns)
{
	struct proc_image *image = xcalloc(1, sizeof(*image));

	image->from_ns = from_ns;
	image->older = p->image;
	p->image = image;
	p->changes++;
	return image;
}

/* Index of the first present mapping that ends above addr. */
static size_t image_lower(const struct proc_image *image, uint64_t addr)
{
	size_t lo = 0, hi = image->nr_maps, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (image->maps[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void image_retire(struct proc_image *image, struct proc_mapping m, uint64_t time_ns)
{
	m.to_ns = time_ns;
	image->old = xgrow(image->old, image->nr_old, &image->cap_old, sizeof(m));
	image->old[image->nr_old++] = m;
}

static void image_insert(struct proc_image *image, size_t at, const struct proc_mapping *m)
{
	image->maps = xgrow(image->maps, image->nr_maps, &image->cap_maps, sizeof(*m));
	memmove(image->maps + at + 1, image->maps + at, (image->nr_maps - at) * sizeof(*m));
	image->maps[at] = *m;
	image->nr_maps++;
}

/*
 * Cuts [m->start, m->end) out of the present mappings; what is cut stays known for earlier times.
 */
static void image_cut(struct proc_image *image, const struct proc_mapping *m)
{
	size_t i = image_lower(image, m->start);
	struct proc_mapping tail;

	while (i < image->nr_maps && image->maps[i].start < m->end) {
		struct proc_mapping *old = &image->maps[i];

		tail = *old;
		image_retire(image, *old, m->from_ns);
		if (old->start < m->start) {
			old->end = m->start;
			i++;
		} else {
			memmove(old, old + 1, (image->nr_maps - i - 1) * sizeof(*old));
			image->nr_maps--;
		}
		if (tail.end > m->end) {
			tail.file_offset += m->end - tail.start;
			tail.start = m->end;
			image_insert(image, i, &tail);
			break;
		}
	}
}

/* Is an address that lies in both the same place of the same file? */
static bool mapping_agrees(const struct proc_mapping *a, const struct proc_mapping *b)
{
	return a->file == b->file &&
	       (!a->file || a->file_offset - b->file_offset == a->start - b->start);
}

/* Does other code come to lie where that of a file was, of which the kernel has been told? */
static bool process_reuses(const struct process *p, const struct proc_mapping *m)
{
	const struct proc_image *image = p->image;

	for (size_t i = image_lower(image, m->start);
	     i < image->nr_maps && image->maps[i].start < m->end; i++)
		if (image->maps[i].file && image->maps[i].from_ns < p->listed_ns &&
		    !mapping_agrees(&image->maps[i], m))
			return true;
	return false;
}

/* In amortized constant time for each that was replaced. */
static void image_forget(struct proc_image *image, uint64_t settled_ns)
{
	size_t nr = 0;

	if (image->nr_old <= image->max_old)
		return;
	for (size_t i = 0; i < image->nr_old; i++)
		if (image->old[i].to_ns > settled_ns)
			image->old[nr++] = image->old[i];
	image->nr_old = nr;
	image->max_old = 2 * nr > MIN_OLD ? 2 * nr : MIN_OLD;
}

size_t image_cut_old(struct proc_image *image)
{
	size_t nr = 0, left;

	for (; image; image = image->older) {
		left = 0;
		for (size_t i = 0; i < image->nr_old; i++) {
			const struct proc_file *f = image->old[i].file;

			if (!f || f->module || f->users)
				image->old[left++] = image->old[i];
		}
		nr += image->nr_old - left;
		image->nr_old = left;
	}
	return nr;
}

void image_map(struct process *p, const struct proc_mapping *m, uint64_t settled_ns)
{
	struct proc_image *image = p->image;
	size_t i = image_lower(image, m->start);

	if (i < image->nr_maps && image->maps[i].start <= m->start &&
	    image->maps[i].end >= m->end && mapping_agrees(&image->maps[i], m))
		return;
	if (process_reuses(p, m))
		p->reused_ns = m->from_ns;
	image_cut(image, m);
	image_forget(image, settled_ns);
	image_insert(image, image_lower(image, m->start), m);
	p->changes++;
}

void image_copy(struct proc_image *to, const struct proc_image *from)
{
	to->python = from->python;
	to->python_row = from->python_row;
	to->nr_maps = to->cap_maps = from->nr_maps;
	to->maps = xcalloc(from->nr_maps, sizeof(*to->maps));
	if (from->nr_maps)
		memcpy(to->maps, from->maps, from->nr_maps * sizeof(*to->maps));
}

static bool mapping_holds(const struct proc_mapping *m, uint64_t addr, uint64_t time_ns)
{
	return addr >= m->start && addr < m->end && time_ns >= m->from_ns && time_ns < m->to_ns;
}

struct proc_image *proc_image_at(const struct process *p, uint64_t time_ns)
{
	struct proc_image *image = p->image;

	while (image->older && image->from_ns > time_ns)
		image = image->older;
	return image;
}

bool proc_was_replaced(const struct process *p, uint64_t addr, uint64_t time_ns)
{
	const struct proc_image *image = proc_image_at(p, time_ns);

	return image->older && time_ns - image->from_ns < EXEC_NS &&
	       !proc_mapping_at(p, addr, time_ns) && proc_mapping_at(p, addr, image->from_ns - 1);
}

const struct proc_mapping *proc_mapping_at(const struct process *p, uint64_t addr, uint64_t time_ns)
{
	const struct proc_image *image = proc_image_at(p, time_ns);
	size_t i;

	i = image_lower(image, addr);
	if (i < image->nr_maps && mapping_holds(&image->maps[i], addr, time_ns))
		return &image->maps[i];
	for (i = image->nr_old; i > 0; i--)
		if (mapping_holds(&image->old[i - 1], addr, time_ns))
			return &image->old[i - 1];
	return NULL;
}
