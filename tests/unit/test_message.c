/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes of messages, by the examples of protobuf's own description and at the limits of numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/message.h"
#include "output/numbered.h"

#define assert_bytes(m, ...)                                                                       \
	do {                                                                                       \
		static const uint8_t want[] = { __VA_ARGS__ };                                     \
		assert_int_equal((m)->nr, sizeof(want));                                           \
		assert_memory_equal((m)->bytes, want, sizeof(want));                               \
		message_clear(m);                                                                  \
	} while (0)

static void numbers_have_seven_bits_to_a_byte(void **state)
{
	struct message m = {};

	message_number(&m, 1, 150);
	assert_bytes(&m, 0x08, 0x96, 0x01);
	message_number(&m, 1, 127);
	assert_bytes(&m, 0x08, 0x7f);
	message_number(&m, 1, 128);
	assert_bytes(&m, 0x08, 0x80, 0x01);
	message_number(&m, 16, UINT64_MAX);
	assert_bytes(&m, 0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
	message_release(&m);
}

static void what_says_nothing_is_left_out(void **state)
{
	struct message m = {};

	message_number(&m, 1, 0);
	message_bytes(&m, 2, "", 0);
	message_numbers(&m, 3, NULL, 0);
	assert_int_equal(m.nr, 0);
	message_element(&m, 6, "", 0);
	assert_bytes(&m, 0x32, 0x00);
	message_release(&m);
}

static void bytes_and_lists_have_their_length(void **state)
{
	static const uint64_t list[] = { 3, 270, 86942, 0 };
	struct message m = {};

	message_bytes(&m, 2, "testing", 7);
	assert_bytes(&m, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g');
	message_numbers(&m, 6, list, 4);
	assert_bytes(&m, 0x32, 0x07, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05, 0x00);
	message_release(&m);
}

static void a_long_one_has_a_long_length(void **state)
{
	struct message m = {};
	uint8_t *bytes = calloc(300000, 1);

	message_bytes(&m, 1, bytes, 300000);
	assert_int_equal(m.nr, 300004);
	assert_int_equal(m.bytes[1] | m.bytes[2] << 8 | m.bytes[3] << 16, 0x12a7e0);
	message_release(&m);
	free(bytes);
}

static void strings_are_numbered_as_they_come(void **state)
{
	struct numbered n;

	numbered_init(&n);
	assert_int_equal(numbered_add(&n, ""), 0);
	assert_int_equal(numbered_add(&n, "main"), 1);
	assert_int_equal(numbered_add(&n, "read"), 2);
	assert_int_equal(numbered_add(&n, "main"), 1);
	assert_int_equal(numbered_add_cleaned(&n, "re\nad"), 3);
	assert_int_equal(n.nr, 4);
	assert_string_equal(numbered_at(&n, 2), "read");
	assert_string_equal(numbered_at(&n, 3), "re?ad");
	numbered_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_seven_bits_to_a_byte),
		cmocka_unit_test(what_says_nothing_is_left_out),
		cmocka_unit_test(bytes_and_lists_have_their_length),
		cmocka_unit_test(a_long_one_has_a_long_length),
		cmocka_unit_test(strings_are_numbered_as_they_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
