/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages of protobuf, as much of it as a writer needs: fields with numbers, with bytes, and with
 * messages, which are made first. A field that is 0 or empty is left out, as the format has it.
 */
#ifndef BPFPROF_OUTPUT_MESSAGE_H
#define BPFPROF_OUTPUT_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

struct message {
	uint8_t *bytes;
	size_t nr, cap;
};

void message_number(struct message *m, uint32_t field, uint64_t n);
/* The same in eight bytes. */
void message_fixed64(struct message *m, uint32_t field, uint64_t n);
void message_bytes(struct message *m, uint32_t field, const void *bytes, size_t len);
/* The same where being there is what it says: of a list each element, even if it is empty. */
void message_element(struct message *m, uint32_t field, const void *bytes, size_t len);
/* A list of numbers, packed; zeros stay. */
void message_numbers(struct message *m, uint32_t field, const uint64_t *v, size_t nr);

/* Begins another message in the same memory. */
static inline void message_clear(struct message *m)
{
	m->nr = 0;
}
void message_release(struct message *m);

#endif
