/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsing of arguments, and the tables of types and of registers. */
#include "collect/call_args.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "uprobe/usdt.h"

#if defined(__x86_64__)
#define MACHINE	  EM_X86_64
#define PC_OFFSET 128						       /* of ip in struct pt_regs */
static const uint8_t argument_registers[] = { 7, 6, 2, 1, 8, 9 };      /* rdi rsi rdx rcx r8 r9 */
static const uint8_t go_registers[] = { 0, 3, 1, 7, 6, 8, 9, 10, 11 }; /* rax rbx rcx rdi rsi r8… */
#else
#define MACHINE	  EM_AARCH64
#define PC_OFFSET 256 /* of pc in struct user_pt_regs */
static const uint8_t argument_registers[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const uint8_t go_registers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
#endif
#define RESULT_REGISTER 0 /* rax, x0; of Go as well */

static const struct type {
	const char *name;
	uint8_t bytes;
	bool is_signed, is_string;
} types[] = {
	{ "int", 4, true, false },    { "uint", 4, false, false }, { "long", 8, true, false },
	{ "ulong", 8, false, false }, { "str", 8, false, true },   { "ptr", 8, false, false },
	{ "i8", 1, true, false },     { "i16", 2, true, false },   { "i32", 4, true, false },
	{ "i64", 8, true, false },    { "u8", 1, false, false },   { "u16", 2, false, false },
	{ "u32", 4, false, false },   { "u64", 8, false, false },
};
#define NR_TYPES (sizeof(types) / sizeof(*types))

/* A word of --arg. */
struct wanted {
	unsigned int number;	 /* 0 = what is returned */
	const struct type *type; /* NULL = not given */
	const char *word;
};

static const struct type *find_type(const char *name)
{
	const char *names[NR_TYPES];
	char *hint;

	for (size_t i = 0; i < NR_TYPES; i++) {
		if (!strcmp(types[i].name, name))
			return &types[i];
		names[i] = types[i].name;
	}
	hint = text_meant("", text_nearest(name, names, NR_TYPES));
	log_err(0, "--arg: no type '%s'; use int, uint, long, ulong, ptr, str, i8 to u64%s", name,
		hint);
	free(hint);
	return NULL;
}

static int parse(struct wanted *w, const char *word)
{
	size_t len = strcspn(word, ":");
	char *end;

	*w = (struct wanted){ .word = word };
	if (word[len]) {
		w->type = find_type(word + len + 1);
		if (!w->type)
			return -EINVAL;
	}
	if (len == 3 && !strncmp(word, "ret", len))
		return 0;
	w->number = strtoul(word, &end, 10);
	if (w->number && (size_t)(end - word) == len && word[0] >= '1' && word[0] <= '9')
		return 0;
	log_err(0, "--arg '%s': use NUMBER or NUMBER:TYPE, the first argument being 1, or ret",
		word);
	return -EINVAL;
}

static int parse_all(struct wanted w[CALL_MAX_ARGS], const struct opt_strings *words)
{
	size_t nr_strings = 0;

	if (words && words->nr > CALL_MAX_ARGS)
		return log_as(-EINVAL, "--arg: at most %d", CALL_MAX_ARGS);
	for (size_t i = 0; words && i < words->nr; i++) {
		int err = parse(&w[i], words->v[i]);

		if (err)
			return err;
		nr_strings += w[i].type && w[i].type->is_string;
	}
	if (nr_strings > CALL_MAX_STRINGS)
		return log_as(-EINVAL, "--arg: at most %d strings", CALL_MAX_STRINGS);
	return 0;
}

static void set_type(struct call_arg *a, const struct type *type)
{
	a->bytes = type->bytes;
	a->is_signed = type->is_signed;
	a->is_string = type->is_string;
}

struct registers {
	const uint8_t *v;
	size_t nr;
};

static int of_register(struct call_arg *a, const struct wanted *w, const struct registers *r)
{
	if (w->number > r->nr)
		return log_as(-EINVAL, "--arg '%s': only the first %zu arguments are in registers",
			      w->word, r->nr);
	*a = (struct call_arg){ .kind = CALL_ARG_REGISTER, .index = CALL_NO_REGISTER };
	set_type(a, w->type ? w->type : &types[2]);
	a->reg = usdt_register_offset(MACHINE, w->number ? r->v[w->number - 1] : RESULT_REGISTER);
	return 0;
}

static int of_registers(struct call_args *a, const struct opt_strings *words,
			const struct registers *r)
{
	struct wanted w[CALL_MAX_ARGS];
	int err = parse_all(w, words);

	*a = (struct call_args){};
	for (size_t i = 0; words && i < words->nr && !err; i++) {
		err = of_register(&a->v[i], &w[i], r);
		a->at_return |= !w[i].number << i;
	}
	a->nr_args = words ? words->nr : 0;
	return err;
}

int call_args_of_function(struct call_args *a, const struct opt_strings *words)
{
	const struct registers r = { argument_registers, sizeof(argument_registers) };

	return of_registers(a, words, &r);
}

int call_args_of_go(struct call_args *a, const struct opt_strings *words)
{
	const struct registers r = { go_registers, sizeof(go_registers) };

	return of_registers(a, words, &r);
}

void call_args_of_tokio(struct call_args *a, uint64_t behind)
{
	const struct call_arg task = { .kind = CALL_ARG_TASK,
				       .bytes = 8,
				       .reg = usdt_register_offset(MACHINE, argument_registers[0]),
				       .index = PC_OFFSET,
				       .displacement = behind };

	*a = (struct call_args){ .nr_args = 2, .v = { task, task } };
	a->v[1].kind = CALL_ARG_SPAWN;
	a->v[1].is_string = true;
}

bool call_args_want_result(const struct opt_strings *words)
{
	for (size_t i = 0; i < words->nr; i++)
		if (strcspn(words->v[i], ":") == 3 && !strncmp(words->v[i], "ret", 3))
			return true;
	return false;
}

static uint16_t register_of(uint8_t number)
{
	int offset = usdt_register_offset(MACHINE, number);

	return offset < 0 ? CALL_NO_REGISTER : offset;
}

static uint8_t shift_of(uint8_t scale)
{
	uint8_t shift = 0;

	while (scale > 1) {
		scale /= 2;
		shift++;
	}
	return shift;
}

static void of_note(struct call_arg *a, const struct usdt_arg *from)
{
	static const uint8_t kinds[] = { [USDT_CONSTANT] = CALL_ARG_CONST,
					 [USDT_REGISTER] = CALL_ARG_REGISTER,
					 [USDT_MEMORY] = CALL_ARG_MEMORY,
					 [USDT_INDEXED] = CALL_ARG_MEMORY };

	*a = (struct call_arg){ .kind = kinds[from->kind],
				.bytes = from->size,
				.is_signed = from->is_signed,
				.reg = CALL_NO_REGISTER,
				.index = CALL_NO_REGISTER,
				.displacement = from->displacement };
	if (from->kind != USDT_CONSTANT)
		a->reg = register_of(from->base);
	if (from->kind == USDT_INDEXED) {
		a->index = register_of(from->index);
		a->scale = shift_of(from->scale);
	}
}

int call_args_of_usdt(struct call_args *a, const struct opt_strings *words,
		      const struct usdt_probe *u, size_t location)
{
	struct usdt_arg args[USDT_MAX_ARGS];
	struct wanted w[CALL_MAX_ARGS];
	char *why = NULL;
	size_t nr;
	int err = parse_all(w, words);

	*a = (struct call_args){};
	if (err || !words || !words->nr)
		return err;
	err = usdt_parse_args(MACHINE, u->locations[location].args, args, &nr, &why);
	if (err) {
		log_err(0, "%s:%s: %s", u->provider, u->name, why);
		free(why);
		return err;
	}
	for (size_t i = 0; i < words->nr; i++) {
		if (!w[i].number || w[i].number > nr)
			return log_as(-EINVAL, "--arg '%s': %s:%s has %zu arguments", w[i].word,
				      u->provider, u->name, nr);
		of_note(&a->v[i], &args[w[i].number - 1]);
		a->v[i].is_string = w[i].type && w[i].type->is_string;
	}
	a->nr_args = words->nr;
	return 0;
}

/* A line of a tracepoint's format: "field:const char * filename; offset:24; size:8; signed:0;". */
struct field {
	char name[64];
	bool is_dynamic, is_array;
	unsigned int offset, size, is_signed;
};

static bool parse_field(const char *line, struct field *f)
{
	const char *declaration = strstr(line, "field:"), *end, *at;
	const char *line_end = strchr(*line == '\n' ? line + 1 : line, '\n');
	size_t len;

	if (!declaration || (line_end && declaration > line_end))
		return false;
	declaration += strlen("field:");
	end = strchr(declaration, ';');
	if (!end || sscanf(end, "; offset:%u; size:%u; signed:%u;", &f->offset, &f->size,
			   &f->is_signed) != 3)
		return false;
	f->is_dynamic = !strncmp(declaration, "__data_loc", 10);
	f->is_array = !f->is_dynamic && end[-1] == ']';
	if (f->is_array)
		while (end > declaration && *end != '[')
			end--;
	for (at = end; at > declaration && at[-1] != ' ' && at[-1] != '*';)
		at--;
	len = end - at;
	if (!len || len >= sizeof(f->name))
		return false;
	memcpy(f->name, at, len);
	f->name[len] = '\0';
	return true;
}

/* The field of a name; NULL names those that there are. */
static bool find_field(const char *format, const char *name, size_t len, struct field *f)
{
	for (const char *line = format; line; line = strchr(line + 1, '\n'))
		if (parse_field(line, f) && strlen(f->name) == len && !strncmp(f->name, name, len))
			return true;
	return false;
}

static int no_such_field(const char *format, const char *word)
{
	char *known = xstrdup(""), *more;
	struct field f;

	for (const char *line = format; line; line = strchr(line + 1, '\n'))
		if (parse_field(line, &f) && strncmp(f.name, "common_", 7)) {
			more = xasprintf("%s%s%s", known, *known ? ", " : "", f.name);
			free(known);
			known = more;
		}
	log_err(0, "--arg '%s': the tracepoint has the fields %s", word, known);
	free(known);
	return -EINVAL;
}

static bool is_pointer_size(const struct field *f)
{
	return !f->is_dynamic && !f->is_array && f->size == 8;
}

static int of_field(struct call_arg *a, const struct field *f, const struct type *type,
		    const char *word)
{
	*a = (struct call_arg){ .kind = f->is_dynamic ? CALL_ARG_DYNAMIC
					: f->is_array ? CALL_ARG_TEXT
						      : CALL_ARG_FIELD,
				.bytes = f->size,
				.is_signed = f->is_signed,
				.is_string = f->is_dynamic || f->is_array,
				.reg = CALL_NO_REGISTER,
				.index = CALL_NO_REGISTER,
				.displacement = f->offset };
	if (!type)
		return 0;
	if (type->is_string && !a->is_string && !is_pointer_size(f))
		return log_as(-EINVAL, "--arg '%s': the field is a number of %u bytes", word,
			      f->size);
	a->is_string |= type->is_string;
	a->is_signed = type->is_signed;
	return 0;
}

int call_args_of_tracepoint(struct call_args *a, const struct opt_strings *words,
			    const char *format)
{
	const struct type *type;
	struct field f;
	size_t len, nr_strings = 0;
	int err = 0;

	*a = (struct call_args){};
	if (words && words->nr > CALL_MAX_ARGS)
		return log_as(-EINVAL, "--arg: at most %d", CALL_MAX_ARGS);
	for (size_t i = 0; words && i < words->nr && !err; i++) {
		len = strcspn(words->v[i], ":");
		type = words->v[i][len] ? find_type(words->v[i] + len + 1) : NULL;
		if (words->v[i][len] && !type)
			return -EINVAL;
		if (!find_field(format, words->v[i], len, &f))
			return no_such_field(format, words->v[i]);
		err = of_field(&a->v[a->nr_args], &f, type, words->v[i]);
		nr_strings += a->v[a->nr_args++].is_string;
	}
	if (!err && nr_strings > CALL_MAX_STRINGS)
		err = log_as(-EINVAL, "--arg: at most %d strings", CALL_MAX_STRINGS);
	return err;
}
