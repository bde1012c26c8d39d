/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What children answer about points: what was put comes back, what makes no sense is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/points_files.h"
#include "collect/points_parts.h"

#define MAX 8192

static struct points_told told = { .found = 2, .near = "near", .nr_jobs = 3, .tokio = "1.2.3" };

/* Two functions, the second with a return; and a point that was known before. */
static ssize_t put(void *to, size_t max)
{
	static const struct points_opts opts;
	struct points p;
	struct call_args args = { .nr_args = 1,
				  .v[0] = { .kind = CALL_ARG_REGISTER,
					    .bytes = 8,
					    .reg = 16,
					    .index = CALL_NO_REGISTER } };
	ssize_t len;

	points_init(&p, &opts);
	points_add(&p, &(struct point){ .offset = 1 });
	for (uint32_t i = 0; i < 2; i++) {
		struct point point = { .offset = 0x1000 + i, .by_probe = !i };

		point.event = points_add_event(
			&p, &(struct call_event){ .name = i ? "second" : "first" });
		point.args = points_add_args(&p, &args);
		points_add(&p, &point);
	}
	points_add(&p,
		   &(struct point){ .offset = 0x2000, .is_return = true, .event = 1, .args = 1 });
	len = points_answer_put(&p, 1, &told, 0, "bpfprof: warning: x\n", to, max);
	points_release(&p);
	return len;
}

static void comes_back(void **state)
{
	_Alignas(16) static char bytes[MAX];
	ssize_t len = put(bytes, sizeof(bytes));
	struct points_view v;

	assert_true(len > 0);
	assert_int_equal(points_view_read(&v, POINTS_SPEC, bytes, len), 0);
	assert_int_equal(v.head->nr_events, 2);
	assert_int_equal(v.head->nr_rows, 3);
	assert_int_equal(v.head->found, 2);
	assert_string_equal(v.text + v.names[0], "first");
	assert_string_equal(v.text + v.names[1], "second");
	assert_string_equal(v.text + v.head->near, "near");
	assert_string_equal(v.text + v.head->refused, "");
	assert_string_equal(v.text + v.head->messages, "bpfprof: warning: x\n");
	assert_int_equal(v.rows[0].offset, 0x1000);
	assert_true(v.rows[0].by_probe && !v.rows[0].is_return);
	assert_true(v.rows[2].is_return && v.rows[2].event == 1 && v.rows[2].args == 1);
	assert_int_equal(v.args[1].v[0].reg, 16);
	for (ssize_t room = 0; room < len; room++)
		assert_int_equal(put(bytes, room), -E2BIG);
}

/* A change of an answer, and for whom it makes no sense. */
static void spoil_head(int how, struct points_head *h)
{
	struct call_args *args = (struct call_args *)(h + 1);
	struct points_row *rows = (struct points_row *)(args + h->nr_args);
	uint32_t *names = (uint32_t *)(rows + h->nr_rows);
	char *text = (char *)(names + h->nr_events);

	switch (how) {
	case 0:
		h->err = 1;
		break;
	case 1:
		h->err = INT32_MIN;
		break;
	case 2:
		h->wants = 1;
		break;
	case 3:
		h->nr_events++;
		break;
	case 4:
		h->nr_events = UINT32_MAX;
		break;
	case 5:
		h->nr_args = UINT32_MAX;
		break;
	case 6:
		h->nr_rows = UINT32_MAX;
		break;
	case 7:
		h->text_sz = 0;
		break;
	case 8:
		h->text_sz++;
		break;
	case 9:
		h->messages = h->text_sz;
		break;
	case 10:
		h->near = UINT32_MAX;
		break;
	case 11:
		memset(h->tokio, 'x', sizeof(h->tokio));
		break;
	case 12:
		text[h->text_sz - 1] = 'x';
		break;
	case 13:
		text[0] = 'x';
		break;
	case 14:
		names[1] = h->text_sz;
		break;
	}
}

static void spoil_rows(int how, struct points_head *h)
{
	struct call_args *args = (struct call_args *)(h + 1);
	struct points_row *rows = (struct points_row *)(args + h->nr_args);

	switch (how) {
	case 15:
		rows[0].event = 2;
		break;
	case 16:
		rows[0].args = 2;
		break;
	case 17:
		rows[0].offset = UINT64_MAX;
		break;
	case 18:
		rows[0].semaphore = 1ull << 63;
		break;
	case 19:
		rows[0].is_return = 1;
		break; /* by_probe as well */
	case 20:
		rows[1].is_dear = 2;
		break;
	case 21:
		args[0].nr_args = CALL_MAX_ARGS + 1;
		break;
	case 22:
		args[0].at_return = 0x80;
		break;
	case 23:
		args[0].v[0].kind = CALL_ARG_FIELD;
		break; /* memory of the kernel */
	case 24:
		args[0].v[0].kind = CALL_ARG_DYNAMIC;
		break;
	case 25:
		args[0].v[0].kind = CALL_ARG_TASK;
		break;
	case 26:
		args[0].v[0].kind = 255;
		break;
	case 27:
		args[0].v[0].reg = 34 * 8;
		break; /* behind the registers */
	case 28:
		args[0].v[0].reg = 17;
		break;
	case 29:
		args[0].v[0].index = 0xfffe;
		break;
	case 30:
		args[0].v[0].scale = 4;
		break;
	case 31:
		args[0].v[0].is_error = 1;
		break;
	case 32:
		args[1].by_goroutine = 2;
		break;
	}
}
#define NR_SPOILED 33

static void nonsense_is_refused(void **state)
{
	_Alignas(16) static char bytes[MAX];
	struct points_view v;

	for (int how = 0; how < NR_SPOILED; how++) {
		ssize_t len = put(bytes, sizeof(bytes));

		assert_int_equal(points_view_read(&v, POINTS_SPEC, bytes, len), 0);
		spoil_head(how, (struct points_head *)bytes);
		spoil_rows(how, (struct points_head *)bytes);
		if (points_view_read(&v, POINTS_SPEC, bytes, len) != -EBADMSG)
			fail_msg("answer %d was believed", how);
	}
}

static void parts_are_refused(void **state)
{
	_Alignas(16) static char bytes[MAX];
	ssize_t len = put(bytes, sizeof(bytes));
	struct points_view v;

	for (ssize_t part = 0; part < len; part++) {
		char *copy = malloc(part + 1);

		memcpy(copy, bytes, part);
		assert_int_equal(points_view_read(&v, POINTS_SPEC, copy, part), -EBADMSG);
		free(copy);
	}
	assert_int_equal(points_view_read(&v, POINTS_SPEC, bytes, len + 1), -EBADMSG);
	/* Words of cookies instead of numbers of arguments. */
	assert_int_equal(points_view_read(&v, POINTS_ALLOCATORS, bytes, len), 0);
}

/* A file that was read, and is written to before probes are placed. */
static void written_file_takes_no_probe(void **state)
{
	char path[] = "/var/tmp/bpfprof-points-XXXXXX";
	int fd = mkstemp(path);
	struct point_file f = { .path = path, .shown = path, .fd = fd };
	const struct point point = { .kind = POINT_UPROBE, .file = &f };
	const struct calls_opts o = { .points = &point, .nr_points = 1 };

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "before", 6), 6);
	f.id = file_id_read(fd);
	if (!file_id_is_known(&f.id)) {
		unlink(path);
		close(fd);
		skip();
	}
	assert_int_equal(points_check_files(NULL, &o), 0);
	usleep(20000); /* a tick of the file system's clock */
	assert_int_equal(write(fd, "after", 5), 5);
	assert_int_equal(points_check_files(NULL, &o), -EIO);
	unlink(path);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(parts_are_refused),
		cmocka_unit_test(written_file_takes_no_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
