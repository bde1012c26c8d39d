/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values of arguments: read as user space says, built in the scratch, and interned. Calls with
 * equal values are one row of the result.
 */
#include "call_values.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call_args);
} call_args SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call_values);
} call_values SEC(".maps");

__hidden bool calls_by_goroutine(__u32 index)
{
	struct call_args *args = bpf_map_lookup_elem(&call_args, &index);

	return args && args->by_goroutine;
}

static __always_inline __u64 cut(__u64 value, const struct call_arg *arg)
{
	__u32 unused = 64 - 8 * (arg->bytes & 15);

	if (!unused || unused > 56)
		return value;
	return arg->is_signed ? (__u64)((__s64)(value << unused) >> unused)
			      : value << unused >> unused;
}

/* Addresses of the kernel have their highest bit set. */
static __always_inline bool is_kernel(__u64 address)
{
	return address >> 63;
}

static __always_inline __u64 read_word(__u64 at)
{
	__u64 word = 0;

	if (is_kernel(at))
		bpf_probe_read_kernel(&word, sizeof(word), (void *)at);
	else
		bpf_probe_read_user(&word, sizeof(word), (void *)at);
	return word;
}

/* The context is read by its address: which part of it is only known now. */
static __always_inline __u64 read_register(__u64 ctx, __u16 reg)
{
	return reg == CALL_NO_REGISTER ? 0 : read_word(ctx + reg);
}

/* The vtable of the task whose poll begins; 0 = what the register leads to is none. */
static __always_inline __u64 tokio_vtable(__u64 ctx, const struct call_arg *arg, __u64 header)
{
	__u64 vtable = read_word(header + TOKIO_VTABLE);
	__u64 poll = read_register(ctx, arg->index) - arg->displacement;

	return header && vtable && read_word(vtable) == poll ? vtable : 0;
}

static __always_inline __u64 tokio_id(__u64 ctx, const struct call_arg *arg)
{
	__u64 header = read_register(ctx, arg->reg);
	__u64 vtable = tokio_vtable(ctx, arg, header);
	__u64 at = vtable ? read_word(vtable + TOKIO_ID) : 0;

	return at && at < TOKIO_MOST_BYTES ? read_word(header + at) : 0;
}

/*
 * Where the task was spawned into scratch->values: the line as a value, the end of the file's path
 * as text. Separately verified.
 */
__noinline int calls_spawn(__u32 id, __u32 args, __u32 nr)
{
	struct scratch *s = scratch_get(id);
	struct call_args *a = bpf_map_lookup_elem(&call_args, &args);
	struct tokio_location l = {};
	__u64 header, vtable, at;
	char *text;

	if (!s || !a || nr >= CALL_MAX_ARGS)
		return 0;
	text = s->values.text[0];
	header = read_register(s->ctx_at, a->v[nr].reg);
	vtable = tokio_vtable(s->ctx_at, &a->v[nr], header);
	at = vtable ? read_word(vtable + TOKIO_ID) : TOKIO_MOST_BYTES;
	if (at >= TOKIO_MOST_BYTES || read_word(vtable + TOKIO_SPAWN) != at + 8)
		return 0;
	bpf_probe_read_user(&l, sizeof(l), (void *)read_word(header + at + 8));
	if (!l.file || l.len > TOKIO_MOST_BYTES)
		return 0;
	at = l.len < CALL_STRING ? l.len : CALL_STRING - 1;
	bpf_probe_read_user(text, at & (CALL_STRING - 1), (void *)(l.file + l.len - at));
	for (int i = 0; i < CALL_STRING / 8; i++)
		s->values.hash = hash_mix(s->values.hash, ((__u64 *)text)[i]);
	s->values.value[nr] = l.line;
	s->values.hash = hash_mix(s->values.hash, l.line);
	return 0;
}

static __always_inline __u64 value_of(__u64 ctx, const struct call_arg *arg)
{
	__u64 at;

	switch (arg->kind) {
	case CALL_ARG_CONST:
		return arg->displacement;
	case CALL_ARG_REGISTER:
		return cut(read_register(ctx, arg->reg), arg);
	case CALL_ARG_MEMORY:
		at = read_register(ctx, arg->reg) + arg->displacement;
		at += read_register(ctx, arg->index) << (arg->scale & 7);
		return cut(read_word(at), arg);
	case CALL_ARG_TASK:
		return tokio_id(ctx, arg);
	case CALL_ARG_TEXT:
		return ctx + arg->displacement;
	case CALL_ARG_DYNAMIC:
		return ctx + (read_word(ctx + arg->displacement) & 0xffff);
	default:
		return cut(read_word(ctx + arg->displacement), arg);
	}
}

/* Text of an argument into scratch->values; where it lies tells nothing. */
static __always_inline void put_text(struct scratch *s, __u64 at)
{
	struct call_values *v = &s->values;
	char *text = v->text[s->nr_texts++ & (CALL_MAX_STRINGS - 1)];

	long len = is_kernel(at) ? bpf_probe_read_kernel_str(text, CALL_STRING, (void *)at)
				 : bpf_probe_read_user_str(text, CALL_STRING, (void *)at);

	if (len < 0) /* nobody has touched its page yet, or it is no string */
		__builtin_memcpy(text, CALL_UNREADABLE, sizeof(CALL_UNREADABLE));
	for (int i = 0; i < CALL_STRING / 8; i++)
		v->hash = hash_mix(v->hash, ((__u64 *)text)[i]);
}

/* Puts argument number nr of the current call into scratch->values. Separately verified. */
__noinline int calls_value(__u32 id, __u32 args, __u32 nr)
{
	struct scratch *s = scratch_get(id);
	struct call_args *a = bpf_map_lookup_elem(&call_args, &args);
	__u64 value;

	if (!s || !a || nr >= CALL_MAX_ARGS)
		return 0;
	if (a->v[nr].kind == CALL_ARG_SPAWN)
		return calls_spawn(id, args, nr);
	value = value_of(s->ctx_at, &a->v[nr]);
	if (a->v[nr].is_string) {
		put_text(s, value);
		return 0;
	}
	if (a->v[nr].is_error && value < -(__u64)CALL_MAX_ERROR)
		value = 0;
	s->values.value[nr] = value;
	s->values.hash = hash_mix(s->values.hash, value);
	return 0;
}

static __always_inline void begin_values(struct scratch *s, __u32 args, __u32 known)
{
	__u32 slot = known - 1;
	struct call_values *v = known ? bpf_map_lookup_elem(&call_values, &slot) : NULL;

	if (v)
		s->values = *v;
	else
		__builtin_memset(&s->values, 0, sizeof(s->values));
	s->values.args = args;
	s->values.hash = v ? v->hash : hash_mix(prof_cfg.seed, args);
	s->nr_texts = 0;
}

/* Interns scratch->values: slot + 1, 0 when the table is full. Separately verified. */
__noinline int calls_keep_values(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct call_values *v;
	bool mine;
	__u32 slot;

	if (!s || !call_cfg.value_slots)
		return 0;
	s->values.hash += !s->values.hash;
	v = arena_find(&call_values, call_cfg.value_slots, s->values.hash, &slot, &mine);
	if (!v)
		return 0;
	if (mine) {
		v->args = s->values.args;
		__builtin_memcpy(v->value, s->values.value, sizeof(v->value));
		__builtin_memcpy(v->text, s->values.text, sizeof(v->text));
		__sync_lock_test_and_set(&v->ready, 1);
	}
	return slot;
}

__noinline int calls_values(__u32 id, __u32 args, __u32 at_return, __u32 known)
{
	struct scratch *s = scratch_get(id);
	struct call_args *a = bpf_map_lookup_elem(&call_args, &args);
	bool any = false;

	if (!s || !a || !call_cfg.value_slots)
		return 0;
	begin_values(s, args, known);
	for (__u32 i = 0; i < CALL_MAX_ARGS && i < a->nr_args; i++) {
		if ((a->at_return >> i & 1) == at_return) {
			calls_value(id, args, i);
			any = true;
		} else if (a->v[i].is_string) {
			s->nr_texts++;
		}
	}
	return any ? calls_keep_values(id) : known;
}

__noinline int calls_word(__u64 word, __u32 what)
{
	__u64 hash = hash_mix(hash_mix(prof_cfg.seed, what), word);
	struct call_values *v;
	bool mine;
	__u32 slot;

	if (!call_cfg.value_slots)
		return 0;
	v = arena_find(&call_values, call_cfg.value_slots, hash + !hash, &slot, &mine);
	if (!v)
		return 0;
	if (mine) {
		v->args = what;
		v->value[0] = word;
		__sync_lock_test_and_set(&v->ready, 1);
	}
	return slot;
}
