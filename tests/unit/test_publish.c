/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows that the kernel reads: found, free again, used again, full. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unwind/publish.h"

#define NR_PIDS 2000u

/* As bpf/tables.bpf.c looks for it. */
static const struct table_proc *find(const struct table_proc *rows, uint32_t pid)
{
	const struct table_proc *row = &rows[TABLE_PROC_HOME(pid)];

	for (uint32_t i = 0; i < TABLE_PROC_PROBES && row->pid; i++, row++)
		if (row->pid == pid)
			return row;
	return NULL;
}

static int put(struct table_proc *rows, uint32_t pid, uint32_t list)
{
	const struct table_proc row = { .pid = pid, .list = list };

	return publish_proc(rows, &row);
}

static void processes_come_and_go(void **state)
{
	struct table_proc *rows = calloc(TABLE_PROC_ROWS, sizeof(*rows));

	(void)state;
	for (uint32_t pid = 1; pid <= NR_PIDS; pid++)
		assert_int_equal(put(rows, pid, pid * 3), 0);
	for (uint32_t pid = 2; pid <= NR_PIDS; pid += 2)
		publish_proc_gone(rows, pid);
	publish_proc_gone(rows, NR_PIDS + 1); /* never there */
	assert_int_equal(put(rows, 1, 7), 0);
	for (uint32_t pid = 1; pid <= NR_PIDS; pid++) {
		const struct table_proc *row = find(rows, pid);

		assert_int_equal(row != NULL, pid % 2);
		if (row)
			assert_int_equal(row->list, pid == 1 ? 7 : pid * 3);
	}
	for (uint32_t i = 0; i < TABLE_PROC_ROWS; i++)
		assert_false(rows[i].seq & 1);
	free(rows);
}

/* Those of one home: each once, until it is full; a free row is used again. */
static void a_home_fills_up(void **state)
{
	struct table_proc *rows = calloc(TABLE_PROC_ROWS, sizeof(*rows));
	uint32_t pids[TABLE_PROC_PROBES + 1], nr = 0, pid, seq;

	(void)state;
	for (pid = 1; nr <= TABLE_PROC_PROBES; pid++)
		if (TABLE_PROC_HOME(pid) == TABLE_PROC_HOME(1))
			pids[nr++] = pid;
	for (uint32_t i = 0; i < TABLE_PROC_PROBES; i++)
		assert_int_equal(put(rows, pids[i], i), 0);
	assert_int_equal(put(rows, pids[TABLE_PROC_PROBES], 9), -ENOSPC);
	assert_int_equal(put(rows, pids[3], 33), 0);
	seq = find(rows, pids[2])->seq;
	publish_proc_gone(rows, pids[2]);
	assert_null(find(rows, pids[2]));
	assert_int_equal(put(rows, pids[TABLE_PROC_PROBES], 9), 0);
	assert_int_equal(find(rows, pids[TABLE_PROC_PROBES])->seq, seq + 4);
	assert_int_equal(find(rows, pids[3])->list, 33);
	free(rows);
}

static void an_executable_is_written_whole(void **state)
{
	struct table_exe row = { .seq = 4, .wanted = 1 };
	const struct table_exe from = { .state = TABLE_READY, .base = 1, .delta = 2 };

	(void)state;
	publish_exe(&row, &from);
	assert_int_equal(row.seq, 6);
	assert_int_equal(row.wanted, 1);
	assert_int_equal(row.state, TABLE_READY);
	assert_int_equal(row.delta, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_come_and_go),
		cmocka_unit_test(a_home_fills_up),
		cmocka_unit_test(an_executable_is_written_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
