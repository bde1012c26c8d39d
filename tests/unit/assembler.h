/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small assembler of call frame information, for tests: CIEs and FDEs with any augmentation,
 * encoding and length, whose programs are given as bytes.
 */
#ifndef BPFPROF_TESTS_ASSEMBLER_H
#define BPFPROF_TESTS_ASSEMBLER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define X86_FP 6
#define X86_SP 7
#define X86_RA 16

#define NOP		   0x00
#define SET_LOC		   0x01
#define ADVANCE1(n)	   0x02, n
#define ADVANCE2(n)	   0x03, (uint8_t)(n), (uint8_t)((n) >> 8)
#define ADVANCE4(n)	   0x04, (uint8_t)(n), (uint8_t)((n) >> 8), (uint8_t)((n) >> 16), 0
#define ADVANCE(n)	   (0x40 | (n))
#define OFFSET(reg, n)	   (0x80 | (reg)), n
#define RESTORE(reg)	   (0xc0 | (reg))
#define UNDEFINED(reg)	   0x07, reg
#define SAME_VALUE(reg)	   0x08, reg
#define REGISTER(reg, in)  0x09, reg, in
#define REMEMBER	   0x0a
#define RESTORE_STATE	   0x0b
#define DEF_CFA(reg, off)  0x0c, reg, off
#define CFA_REGISTER(reg)  0x0d, reg
#define CFA_OFFSET(off)	   0x0e, off
#define ULEB2(n)	   (uint8_t)((n) | 0x80), (n) >> 7
#define ULEB3(n)	   (uint8_t)((n) | 0x80), (uint8_t)((n) >> 7 | 0x80), (n) >> 14
#define CFA_EXPRESSION(n)  0x0f, n
#define EXPRESSION(reg, n) 0x10, reg, n
#define PLT_EXPRESSION(n)                                                                          \
	CFA_EXPRESSION(11), 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30 + (n), 0x2a, 0x33, 0x24, 0x22

struct bytes {
	uint8_t *data;
	size_t sz, cap;
	uint64_t vaddr;
	bool is_debug, is_64; /* .debug_frame; DWARF64 */
};

/* What begins a CIE; zeros stand for the usual. */
struct cie {
	const char *augmentation; /* "zR" */
	uint8_t version;	  /* 1 */
	uint8_t code_align;	  /* 1 */
	int8_t data_align;	  /* -8 */
	uint8_t ra_reg;		  /* 16 */
	uint8_t encoding;	  /* of 'R'; 0 = absolute */
	uint8_t address_sz, segment_sz;
	const uint8_t *data; /* of the augmentation; NULL: encoding */
	size_t data_sz;
};

static inline void put(struct bytes *b, const void *data, size_t sz)
{
	if (b->sz + sz > b->cap) {
		b->cap = 2 * (b->sz + sz) + 64;
		b->data = realloc(b->data, b->cap);
	}
	if (sz)
		memcpy(b->data + b->sz, data, sz);
	b->sz += sz;
}

static inline void put_number(struct bytes *b, uint64_t n, size_t sz)
{
	put(b, &n, sz);
}

static inline void put_uleb(struct bytes *b, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		put_number(b, n | 0x80, 1);
	put_number(b, n, 1);
}

static inline void put_sleb(struct bytes *b, int64_t n)
{
	for (; n < -64 || n > 63; n >>= 7)
		put_number(b, n | 0x80, 1);
	put_number(b, n & 0x7f, 1);
}

/* A pointer to an address, as DW_EH_PE_... has it; base: what it counts from unless pcrel. */
static inline void put_pointer(struct bytes *b, uint8_t encoding, uint64_t to, uint64_t base)
{
	static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0 };

	to -= (encoding & 0x70) == 0x10 ? b->vaddr + b->sz : base;
	if ((encoding & 0xf) == 1)
		put_uleb(b, to);
	else if ((encoding & 0xf) == 9)
		put_sleb(b, (int64_t)to);
	else
		put_number(b, to, sizes[encoding & 0xf]);
}

static inline size_t begin_entry(struct bytes *b)
{
	size_t at = b->sz;

	put_number(b, b->is_64 ? 0xffffffff : 0, 4);
	if (b->is_64)
		put_number(b, 0, 8);
	return at;
}

static inline void end_entry(struct bytes *b, size_t at)
{
	size_t field = b->is_64 ? 8 : 4, start = at + (b->is_64 ? 12 : 4);
	uint64_t length;

	while ((b->sz - start) % field)
		put_number(b, NOP, 1);
	length = b->sz - start;
	memcpy(b->data + start - field, &length, field);
}

static inline size_t put_cie(struct bytes *b, const struct cie *c, const void *program, size_t sz)
{
	const char *augmentation = c->augmentation ?: b->is_debug ? "" : "zR";
	size_t at = begin_entry(b), field = b->is_64 ? 8 : 4;

	put_number(b, b->is_debug ? UINT64_MAX : 0, field);
	put_number(b, c->version ?: 1, 1);
	put(b, augmentation, strlen(augmentation) + 1);
	if (c->version == 4) {
		put_number(b, c->address_sz ?: 8, 1);
		put_number(b, c->segment_sz, 1);
	}
	put_uleb(b, c->code_align ?: 1);
	put_sleb(b, c->data_align ?: -8);
	put_number(b, c->ra_reg ?: X86_RA, 1);
	if (*augmentation == 'z')
		put_uleb(b, c->data ? c->data_sz : 1);
	if (c->data)
		put(b, c->data, c->data_sz);
	else if (*augmentation == 'z')
		put(b, &c->encoding, 1);
	put(b, program, sz);
	end_entry(b, at);
	return at;
}

/* Up to where the addresses stand. */
static inline size_t begin_fde(struct bytes *b, size_t cie)
{
	size_t at = begin_entry(b), field = b->is_64 ? 8 : 4;

	put_number(b, b->is_debug ? cie : b->sz - cie, field);
	return at;
}

/* Of a CIE with "zR" and absolute addresses, or without augmentation in .debug_frame. */
static inline size_t put_fde(struct bytes *b, size_t cie, uint64_t start, uint64_t range,
			     const void *program, size_t sz)
{
	size_t at = begin_fde(b, cie);

	put_number(b, start, 8);
	put_number(b, range, 8);
	if (!b->is_debug)
		put_uleb(b, 0);
	put(b, program, sz);
	end_entry(b, at);
	return at;
}

#define PUT_CIE(b, c, ...)                                                                         \
	put_cie(b, c, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))
#define PUT_FDE(b, cie, start, range, ...)                                                         \
	put_fde(b, cie, start, range, (const uint8_t[]){ __VA_ARGS__ },                            \
		sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* What compilers begin with on x86-64. */
#define USUAL DEF_CFA(X86_SP, 8), OFFSET(X86_RA, 1)

static inline size_t put_usual_cie(struct bytes *b)
{
	return PUT_CIE(b, &(struct cie){}, USUAL);
}

static inline void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){};
}

#endif
