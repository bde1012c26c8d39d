/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long the names of one file are waited for, and what the files of all may cost. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "reader/fork.h"
#include "symbol/symbolizer_parts.h"

#define LEFT_OF_OTHERS 2 /* hang on in files of file systems that are not the kernel's */
#define TIRED	       3 /* files that were not read in time: others have less */
#define HUNG_NS	       2000000000ull /* lost to files that are not the kernel's: no more are read */
#define WEARY_NS       500000000ull  /* lost to readers that somebody ended: none is tried again */
#define ENDED_NS       1200000000ull /* so much, and no more files are read */

static bool is_of_kernel(const struct symbol_file *file)
{
	return file->fd >= 0 && file_id_is_known(&file->id);
}

static uint64_t idle_until(uint64_t until_ns)
{
	const uint64_t least = 200000000, most = 500000000;
	uint64_t now = now_ns(), ns = until_ns > now ? until_ns - now : 0;

	return ns < least ? least : ns < most ? ns : most;
}

/*
 * A file system of the kernel's answers some time, however busy its disk is; others may never. Who
 * names again and again has no time to wait, and gets what is missing later. After Ctrl-C they may
 * be idle as long as ever, but all of them together.
 */
struct patience symbolizer_patience(const struct symbolizer *s, const struct symbol_file *file)
{
	bool answers = !s->kept && is_of_kernel(file);

	if (s->nr_hung >= TIRED)
		return answers ? (struct patience){ 1000000000, 500000000 }
			       : (struct patience){ 100000000, 100000000 };
	if (answers)
		return (struct patience){ 10000000000, 3000000000 };
	if (!s->until_ns)
		return (struct patience){ 3000000000, 500000000 };
	return (struct patience){ idle_until(s->until_ns) + 200000000, idle_until(s->until_ns) };
}

uint64_t symbolizer_time(const struct symbolizer *s, const struct symbol_module *m, uint64_t ns)
{
	uint64_t now = now_ns();

	if (m->kind != FRAME_USER)
		return ns;
	if (s->lines && s->lines->deadline_ns > now)
		ns += s->lines->deadline_ns - now;
	if (s->servers_ns > now)
		ns += s->servers_ns - now;
	return ns;
}

/* Nobody else's files go without names for that of file systems which are programs. */
static bool must_wait(const struct symbolizer *s, const struct symbol_file *file)
{
	return !is_of_kernel(file) &&
	       (s->hung_ns > HUNG_NS || reader_left_count(s->left) >= LEFT_OF_OTHERS);
}

void symbolizer_tell_hung(struct symbolizer *s, const char *path, int err)
{
	const char *why = err == -ETIMEDOUT   ? "reading it took too long"
			  : err == -EBUSY     ? "others that read such files hang"
			  : err == -ECANCELED ? "too many that read files were ended"
			  : err == -EPIPE     ? "the process that read it died"
			  : err == -ENOMEM    ? "too little memory was left for it"
					      : strerror(-err);

	s->nr_hung += err == -ETIMEDOUT;
	lacks_add(&s->lacks, LACK_READ, path, why);
	if (reader_tells(&s->nr_told))
		log_warn("%s: no names: %s", path, why);
}

static int run_once(struct symbolizer *s, const struct reader_copy *c,
		    const struct symbol_file *file, struct reader_answer *got)
{
	uint64_t begin_ns = now_ns();
	int err = reader_copy_run(c, s->left, got, &s->cost);

	if (err == -EPIPE)
		s->ended_ns += now_ns() - begin_ns;
	if (err == -ETIMEDOUT && !is_of_kernel(file))
		s->hung_ns += now_ns() - begin_ns;
	return err;
}

/*
 * Somebody may have killed it, or it fell over what it read: then most likely over debug
 * information.
 */
int symbolizer_run_copy(struct symbolizer *s, const struct reader_copy *c, struct symbol_module *m,
			const struct symbol_file *file, struct reader_answer *got)
{
	enum lack what;
	bool had_lines;
	int err;

	if (must_wait(s, file))
		return -EBUSY;
	if (s->ended_ns > ENDED_NS)
		return -ECANCELED;
	err = run_once(s, c, file, got);
	if (err == -EPIPE && s->ended_ns < WEARY_NS)
		err = run_once(s, c, file, got);
	if ((err != -EPIPE && err != -ENOMEM) || s->ended_ns > WEARY_NS)
		return err;
	what = err == -ENOMEM ? LACK_DWARF_MEMORY : LACK_DWARF_DIED;
	had_lines = m->lines != NULL;
	m->lines = NULL;
	err = run_once(s, c, file, got);
	if (!err && had_lines)
		lacks_add(&s->lacks, what, m->path, NULL);
	return err;
}
