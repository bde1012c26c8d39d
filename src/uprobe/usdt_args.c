/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments of USDT probes: "SIZE@OPERAND" in the assembler's syntax, with blanks between; on
 * aarch64 operands have blanks of their own in brackets.
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "uprobe/usdt.h"

#define NR(a) (sizeof(a) / sizeof(*(a)))

/* Names of x86-64's registers by number: 8, 4, 2, 1 bytes. r8 to r15 follow a rule. */
static const char *const x86_names[8][4] = {
	{ "rax", "eax", "ax", "al" },  { "rcx", "ecx", "cx", "cl" },  { "rdx", "edx", "dx", "dl" },
	{ "rbx", "ebx", "bx", "bl" },  { "rsp", "esp", "sp", "spl" }, { "rbp", "ebp", "bp", "bpl" },
	{ "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" },
};

/* Where the kernel's struct pt_regs of x86-64 has them. */
static const uint8_t x86_offsets[] = { 80, 88, 96, 40, 152, 32, 104, 112,
				       72, 64, 56, 48, 24,  16, 8,   0 };

int usdt_register_offset(uint16_t machine, uint8_t number)
{
	if (machine == EM_X86_64 && number < NR(x86_offsets))
		return x86_offsets[number];
	if (machine == EM_AARCH64 && number < 32)
		return number * 8; /* sp is behind x30 */
	return -1;
}

static bool take_char(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

static void skip_blanks(const char **s)
{
	*s += strspn(*s, " ");
}

/* A number in decimal or with 0x; false and nothing taken when there is none. */
static bool take_number(const char **s, int64_t *value)
{
	const char *digits = *s + (**s == '-' || **s == '+');
	bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	char *end;

	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	/* Constants of 64 bits may be written without a sign. */
	*value = **s == '-' ? strtoll(*s, &end, hex ? 16 : 10)
			    : (int64_t)strtoull(*s, &end, hex ? 16 : 10);
	if (errno)
		return false;
	*s = end;
	return true;
}

static size_t word_length(const char *s)
{
	size_t len = 0;

	while (isalnum((unsigned char)s[len]))
		len++;
	return len;
}

/* "r8" to "r15", with d, w or b for a part of it. */
static bool x86_numbered(const char *s, size_t len, uint8_t *number)
{
	char *end;
	unsigned long n;

	if (len < 2 || s[0] != 'r' || !isdigit((unsigned char)s[1]))
		return false;
	n = strtoul(s + 1, &end, 10);
	*number = n;
	return n >= 8 && n <= 15 && (end == s + len || (end + 1 == s + len && strchr("dwb", *end)));
}

/* "%rdi". Of the high bytes (%ah) no compiler makes arguments. */
static bool x86_register(const char **s, uint8_t *number)
{
	const char *name = *s + 1;
	size_t len = **s == '%' ? word_length(name) : 0;

	for (size_t i = 0; len && i < NR(x86_names); i++)
		for (size_t j = 0; j < NR(x86_names[i]); j++) {
			if (strlen(x86_names[i][j]) != len || strncmp(x86_names[i][j], name, len))
				continue;
			*number = i;
			*s = name + len;
			return true;
		}
	if (!len || !x86_numbered(name, len, number))
		return false;
	*s = name + len;
	return true;
}

/* The part in parentheses: "(%rbp)", "(%rax,%rbx,4)", "(,%rbx,8)" has no base and is refused. */
static bool x86_memory(const char **s, struct usdt_arg *arg)
{
	int64_t scale = 1;

	if (!take_char(s, '(') || !x86_register(s, &arg->base))
		return false;
	arg->kind = USDT_MEMORY;
	if (take_char(s, ',')) {
		arg->kind = USDT_INDEXED;
		if (!x86_register(s, &arg->index))
			return false;
		if (take_char(s, ',') && !take_number(s, &scale))
			return false;
	}
	arg->scale = scale;
	return take_char(s, ')') && (scale == 1 || scale == 2 || scale == 4 || scale == 8);
}

static bool x86_operand(const char **s, struct usdt_arg *arg)
{
	if (take_char(s, '$')) {
		arg->kind = USDT_CONSTANT;
		return take_number(s, &arg->displacement);
	}
	if (x86_register(s, &arg->base)) {
		arg->kind = USDT_REGISTER;
		return true;
	}
	take_number(s, &arg->displacement);
	return x86_memory(s, arg);
}

/* "x0", "w0", "sp". */
static bool arm64_register(const char **s, uint8_t *number)
{
	size_t len = word_length(*s);
	unsigned long n;
	char *end;

	if (len == 2 && !strncmp(*s, "sp", 2)) {
		*number = 31;
		*s += 2;
		return true;
	}
	if (len < 2 || (**s != 'x' && **s != 'w') || !isdigit((unsigned char)(*s)[1]))
		return false;
	n = strtoul(*s + 1, &end, 10);
	if (end != *s + len || n > 30)
		return false;
	*number = n;
	*s = end;
	return true;
}

/* What follows the base in brackets: ", 60", ", x2", ", x2, lsl 3". */
static bool arm64_offset(const char **s, struct usdt_arg *arg)
{
	int64_t shift = 0;

	skip_blanks(s);
	take_char(s, '#');
	if (take_number(s, &arg->displacement))
		return true;
	if (!arm64_register(s, &arg->index) || arg->index == 31)
		return false;
	arg->kind = USDT_INDEXED;
	if (take_char(s, ',')) {
		skip_blanks(s);
		if (strncmp(*s, "lsl ", 4))
			return false;
		*s += 4;
		take_char(s, '#');
		if (!take_number(s, &shift) || shift < 0 || shift > 3)
			return false;
	}
	arg->scale = 1 << shift;
	return true;
}

static bool arm64_operand(const char **s, struct usdt_arg *arg)
{
	if (take_number(s, &arg->displacement)) {
		arg->kind = USDT_CONSTANT;
		return true;
	}
	if (!take_char(s, '[')) {
		arg->kind = USDT_REGISTER;
		return arm64_register(s, &arg->base);
	}
	arg->kind = USDT_MEMORY;
	if (!arm64_register(s, &arg->base))
		return false;
	if (take_char(s, ',') && !arm64_offset(s, arg))
		return false;
	return take_char(s, ']');
}

static bool take_argument(uint16_t machine, const char **s, struct usdt_arg *arg)
{
	int64_t size;

	*arg = (struct usdt_arg){ .scale = 1 };
	if (!take_number(s, &size) || !take_char(s, '@') || size < -8 || size > 8)
		return false;
	arg->is_signed = size < 0;
	arg->size = size < 0 ? -size : size;
	if (!arg->size || (arg->size & (arg->size - 1)))
		return false;
	if (!(machine == EM_X86_64 ? x86_operand : arm64_operand)(s, arg))
		return false;
	return !**s || **s == ' ';
}

/* The length of the argument at s, for a message: to a blank outside of brackets. */
static int argument_length(const char *s)
{
	int len = 0;

	for (bool inside = false; s[len] && (s[len] != ' ' || inside); len++)
		inside = s[len] == '[' || (inside && s[len] != ']');
	return len;
}

int usdt_parse_args(uint16_t machine, const char *text, struct usdt_arg args[USDT_MAX_ARGS],
		    size_t *nr, char **why)
{
	const char *s = text, *begin;

	*nr = 0;
	*why = NULL;
	for (skip_blanks(&s); *s; skip_blanks(&s)) {
		begin = s;
		if (*nr == USDT_MAX_ARGS) {
			*why = xasprintf("a probe has at most %d arguments, this one more: '%s'",
					 USDT_MAX_ARGS, text);
			return -EINVAL;
		}
		if (!take_argument(machine, &s, &args[*nr])) {
			*why = xasprintf("argument %zu, '%.*s', is not understood", *nr + 1,
					 argument_length(begin), begin);
			return -EINVAL;
		}
		(*nr)++;
	}
	return 0;
}
