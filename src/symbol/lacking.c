/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bits of the head one way, and the other. */
#include "symbol/lacking.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proc/jit_files.h"

void lacking_tell(struct answers_head *head, const struct elf_file *f, const struct debug_files *d,
		  bool was_given)
{
	if (!f) {
		head->lacks = was_given ? ANSWERS_NO_ELF : 0;
		return;
	}
	if (!f->header.e_shoff)
		head->lacks |= ANSWERS_NO_TABLE;
	if (f->header.e_shnum && !f->nr_sections)
		head->lacks |= ANSWERS_NO_SECTIONS;
	if (f->build_id_len < 2)
		head->lacks |= ANSWERS_NO_BUILD_ID;
	if (d->link_is_other)
		head->lacks |= ANSWERS_LINK_IS_OTHER;
	head->server = d->answer;
	head->server_status = d->status;
	memcpy(head->link, d->link, strnlen(d->link, sizeof(head->link) - 1));
}

void lacking_note(struct lacks *to, const struct answers_head *head, const char *path)
{
	static const enum lack of_answer[] = { [DEBUGINFOD_FOUND] = LACK_SERVER_NAMES,
					       [DEBUGINFOD_NONE] = LACK_SERVER_FILE,
					       [DEBUGINFOD_NOBODY] = LACK_SERVER,
					       [DEBUGINFOD_TIMEOUT] = LACK_SERVER_TIME,
					       [DEBUGINFOD_ERROR] = LACK_SERVER_ERROR };
	char status[16];

	snprintf(status, sizeof(status), "%u", head->server_status);
	if (head->lacks & ANSWERS_NO_ELF)
		lacks_add(to, LACK_ELF, path, NULL);
	if (head->lacks & ANSWERS_NO_SECTIONS)
		lacks_add(to, LACK_SECTIONS, path, NULL);
	if (head->lacks & ANSWERS_NO_TABLE)
		lacks_add(to, LACK_NO_TABLE, path, NULL);
	if (head->lacks & ANSWERS_NO_BUILD_ID)
		lacks_add(to, LACK_BUILD_ID, path, NULL);
	if (*head->link)
		lacks_add(to, head->lacks & ANSWERS_LINK_IS_OTHER ? LACK_LINKED_BUILD : LACK_LINKED,
			  path, head->link);
	if (head->server != DEBUGINFOD_NOT_ASKED &&
	    head->server < sizeof(of_answer) / sizeof(*of_answer))
		lacks_add(to, of_answer[head->server], path,
			  head->server == DEBUGINFOD_ERROR ? status : NULL);
}

void lacking_note_map(struct lacks *to, const struct answers_head *head, const struct jit_files *j)
{
	char key[LACKS_KEY_MAX], map[32];

	snprintf(map, sizeof(map), "/tmp/perf-%" PRIu32 ".map", j->place.own_pid);
	lacks_key(j->place.pid, key);
	if (head->lacks & ANSWERS_MAP_LINES)
		lacks_add(to, LACK_MAP_LINES, key, map);
	if (head->lacks & ANSWERS_MAP_LARGE)
		lacks_add(to, LACK_MAP_LARGE, key, map);
}
